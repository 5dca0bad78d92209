#pragma once
// The public header of prior/: predictions where nothing was measured.
#include <emmy/prior/analytic.hpp>
#include <emmy/prior/cpu.hpp>
#include <emmy/prior/gpu.hpp>
#include <emmy/prior/machine.hpp>
#include <emmy/prior/model.hpp>
