#pragma once
/// Public header of kernel/: text of a kernel for a device.
#include <emmy/kernel/ir.hpp>
#include <emmy/kernel/prelude_cpu.hpp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/kernel/text.hpp>
