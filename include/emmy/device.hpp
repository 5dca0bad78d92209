#pragma once
// The public header of device/: the concept, the processor, workers, measurement and its gates.
#include <emmy/device/answer.hpp>
#include <emmy/device/concept.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/gate.hpp>
#include <emmy/device/worker.hpp>
