#pragma once
// Catalogs: what all<F> lists, and what a card is offered.
#include <emmy/knob/catalog/gpu.hpp>
#include <emmy/knob/catalog/built_in.hpp>
