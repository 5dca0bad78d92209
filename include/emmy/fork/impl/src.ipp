#pragma once
#include <emmy/fork/impl/gpu_kernel.ipp>
#include <emmy/fork/impl/gpu_schedules.ipp>
#include <emmy/fork/impl/schedule.ipp>
#include <emmy/fork/structure/impl/structure.ipp>
