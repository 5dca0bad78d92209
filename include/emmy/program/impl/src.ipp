#pragma once
// All bodies of program/, compiled once.
#include <emmy/program/impl/check.ipp>
#include <emmy/program/impl/compose.ipp>
#include <emmy/program/impl/evaluate.ipp>
#include <emmy/program/impl/extent.ipp>
#include <emmy/program/impl/graph.ipp>
#include <emmy/program/impl/op_text.ipp>
#include <emmy/program/impl/pointwise.ipp>
#include <emmy/program/impl/product.ipp>
#include <emmy/program/impl/specialise.ipp>
#include <emmy/program/impl/wire.ipp>
#include <emmy/program/import/impl/import.ipp>
#include <emmy/program/lower/impl/bind.ipp>
#include <emmy/program/lower/impl/lower.ipp>
