#pragma once
// The public header of knob/: families, values and their spellings, rows, spaces, rules, catalogs, pins, literals. Needs the standard library
// and tl::expected only. Apart: knob/row_digest.hpp (SHA-256, needs the library), knob/registry_map.hpp (the registry as a Hana map).
#include <emmy/knob/agree.hpp>
#include <emmy/knob/catalog.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/literal.hpp>
#include <emmy/knob/own/choice.hpp>
#include <emmy/knob/own/grammar.hpp>
#include <emmy/knob/pin.hpp>
#include <emmy/knob/routing_row.hpp>
#include <emmy/knob/row.hpp>
#include <emmy/knob/row_parse.hpp>
#include <emmy/knob/row_text.hpp>
#include <emmy/knob/rule.hpp>
#include <emmy/knob/schedule_row.hpp>
#include <emmy/knob/site.hpp>
#include <emmy/knob/space.hpp>
#include <emmy/knob/target.hpp>
