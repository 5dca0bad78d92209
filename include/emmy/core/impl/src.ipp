#pragma once
// All bodies of core/, compiled once.
#include <emmy/core/impl/digest.ipp>
#include <emmy/core/impl/dim_wire.ipp>
#include <emmy/core/impl/expr.ipp>
#include <emmy/core/impl/file.ipp>
#include <emmy/core/impl/json.ipp>
