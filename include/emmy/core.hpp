#pragma once
// The public header of core/: what every other folder may use.
#include <emmy/core/config.hpp>
#include <emmy/core/digest.hpp>
#include <emmy/core/fault.hpp>
#include <emmy/core/fixed_string.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/core/result.hpp>
