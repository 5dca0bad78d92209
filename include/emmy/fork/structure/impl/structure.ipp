#pragma once
#include <emmy/fork/structure.hpp>
#include <emmy/fork/structure/impl/options.ipp>
#include <emmy/fork/structure/impl/realise.ipp>
