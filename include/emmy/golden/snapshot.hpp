#pragma once
// Save and replay of golden data: what a run started from and what it had to give. Not part of golden.hpp, which is about documents.
#include <emmy/golden/snapshot/compare.hpp>
#include <emmy/golden/snapshot/files.hpp>
#include <emmy/golden/snapshot/inspect.hpp>
#include <emmy/golden/snapshot/run.hpp>
#include <emmy/golden/snapshot/spec.hpp>
