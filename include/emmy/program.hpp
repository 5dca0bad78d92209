#pragma once
/// Traced programs: graph, wire, reference evaluation, one operator by hand.
#include <emmy/program/check.hpp>
#include <emmy/program/compose.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/extent.hpp>
#include <emmy/program/graph.hpp>
#include <emmy/program/lower/bind.hpp>
#include <emmy/program/lower/lower.hpp>
#include <emmy/program/op.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/pointwise.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>
