#pragma once
#include <emmy/kernel/impl/cuda_prelude.ipp>
#include <emmy/kernel/impl/print_cpu.ipp>
#include <emmy/kernel/impl/text.ipp>
