#pragma once
/// Public header of fork/: the choices a kernel offers.
#include <emmy/fork/schedule.hpp>
