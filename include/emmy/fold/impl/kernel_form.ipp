#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/kernel_form.hpp>

namespace emmy::fold {

EMMY_DECL result<kernel_form> form_of(loop::kernel k, closed::spelling how) {
    EMMY_TRY(terms, closed::lift_terms(k, how));
    closed::bind_row(terms);
    return kernel_form{std::move(k), std::move(terms), true};
}

}  // namespace emmy::fold
