#pragma once
// The public header of plan/: which kernels and buffers, a row for each kernel, memory, runs.
#include <emmy/plan/bind.hpp>
#include <emmy/plan/check.hpp>
#include <emmy/plan/decided.hpp>
#include <emmy/plan/network.hpp>
#include <emmy/plan/packing.hpp>
#include <emmy/plan/plan.hpp>
#include <emmy/plan/print.hpp>
#include <emmy/plan/run.hpp>
