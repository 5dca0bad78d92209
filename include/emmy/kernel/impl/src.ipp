#pragma once
#include <emmy/kernel/impl/print_cpu.ipp>
#include <emmy/kernel/impl/text.ipp>
