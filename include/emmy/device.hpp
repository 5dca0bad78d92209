#pragma once
// The public header of device/: the concept, the processor, workers, measurement and its gates.
#include <emmy/device/concept.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/worker.hpp>
