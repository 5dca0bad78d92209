#pragma once
// Rules: legality as types with an id, a sentence and a constexpr test. doc/rules.md lists the built-in ones.
#include <emmy/knob/rule/finding.hpp>
#include <emmy/knob/rule/holds.hpp>
#include <emmy/knob/rule/rule.hpp>
