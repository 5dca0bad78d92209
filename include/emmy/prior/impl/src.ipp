#pragma once
// All bodies of prior/, compiled once.
#include <emmy/prior/impl/analytic.ipp>
#include <emmy/prior/impl/cpu.ipp>
#include <emmy/prior/impl/gpu.ipp>
#include <emmy/prior/impl/machine.ipp>
#include <emmy/prior/impl/model.ipp>
