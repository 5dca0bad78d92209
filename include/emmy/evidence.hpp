#pragma once
// The public header of evidence/: what is measured, and what a compile makes of it.
#include <emmy/evidence/compile.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/evidence/explain.hpp>
#include <emmy/evidence/gpu_options.hpp>
#include <emmy/evidence/import.hpp>
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/evidence/price.hpp>
#include <emmy/evidence/record.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/evidence/report.hpp>
#include <emmy/evidence/resolve.hpp>
#include <emmy/evidence/scope.hpp>
#include <emmy/evidence/space_options.hpp>
#include <emmy/evidence/stored_forks.hpp>
#include <emmy/evidence/structure.hpp>
