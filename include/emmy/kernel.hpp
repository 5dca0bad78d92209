#pragma once
/// Public header of kernel/: text of a kernel for a device.
#include <emmy/kernel/text.hpp>
