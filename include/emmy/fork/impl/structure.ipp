#pragma once
#include <emmy/fork/structure.hpp>
