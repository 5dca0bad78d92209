#pragma once
// The typed Loop IR: kernels as ordinary constexpr functions whose misuse does not compile. Apart: loop/typed/kernels.hpp, kernels every
// model has, written with it.
#include <emmy/loop/typed/builder.hpp>
#include <emmy/loop/typed/identity.hpp>
