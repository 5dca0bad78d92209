#pragma once
/// Public header of fold/: the fold tree of a kernel, its closed terms, and the affine form of its accesses.
#include <emmy/fold/access.hpp>
#include <emmy/fold/form.hpp>
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/kernel_form.hpp>
#include <emmy/fold/lower_terms.hpp>
#include <emmy/fold/order.hpp>
#include <emmy/fold/seams.hpp>
#include <emmy/fold/sites.hpp>
#include <emmy/fold/stages.hpp>
#include <emmy/fold/term.hpp>
#include <emmy/fold/tree.hpp>
