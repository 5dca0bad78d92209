// Linked with main.cpp: the same headers with inline bodies in two translation units (one definition rule).
#include <emmy/core.hpp>
#include <emmy/core/json.hpp>
#include <emmy/knob.hpp>

std::string second_unit() { return emmy::json::spell_real(1.5) + emmy::to_hex(emmy::xxh3_128("two")); }
