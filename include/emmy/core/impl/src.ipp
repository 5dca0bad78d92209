#pragma once
// All bodies of core/, compiled once.
#include <emmy/core/impl/digest.ipp>
#include <emmy/core/impl/file.ipp>
#include <emmy/core/impl/json.ipp>
