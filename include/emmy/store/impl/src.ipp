#pragma once
// All bodies of store/, compiled once.
#include <emmy/store/impl/check.ipp>
#include <emmy/store/impl/environment.ipp>
#include <emmy/store/impl/tables.ipp>
