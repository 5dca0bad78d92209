#pragma once
/// Public header of fork/: the choices a kernel offers.
#include <emmy/fork/cpu_knobs.hpp>
#include <emmy/fork/gpu/kernel.hpp>
#include <emmy/fork/gpu/kernel_rules.hpp>
#include <emmy/fork/gpu/schedules.hpp>
#include <emmy/fork/gpu/site_rules.hpp>
#include <emmy/fork/gpu/staging.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/fork/structure.hpp>
#include <emmy/fork/target.hpp>
