#pragma once
// The pure part of the library: from programs to schedule forks, without devices, stores and files.
#include <emmy/core.hpp>
#include <emmy/fold.hpp>
#include <emmy/fork.hpp>
#include <emmy/knob.hpp>
#include <emmy/loop.hpp>
#include <emmy/program.hpp>
