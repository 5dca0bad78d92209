#pragma once
#include <emmy/fork/structure.hpp>
#include <emmy/fork/structure/impl/cut.ipp>
#include <emmy/fork/structure/impl/options.ipp>
#include <emmy/fork/structure/impl/relay.ipp>
#include <emmy/fork/structure/impl/split.ipp>
