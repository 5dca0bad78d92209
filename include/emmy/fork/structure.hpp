#pragma once
/// Structural forks: cuts, cross-CTA splits, layouts of constants, and the kernels that they leave.
#include <emmy/fork/structure/kernel_set.hpp>
#include <emmy/fork/structure/options.hpp>
#include <emmy/fork/structure/realise.hpp>
