#pragma once
// Spaces: ordered sequences of distinct rows, as expressions. doc/algebra.md is the guide.
#include <emmy/knob/space/frozen.hpp>
#include <emmy/knob/space/indexed.hpp>
#include <emmy/knob/space/listed.hpp>
#include <emmy/knob/space/mapped.hpp>
#include <emmy/knob/space/operators.hpp>
