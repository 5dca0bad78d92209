#pragma once
#include <emmy/loop/fuse/impl/values.hpp>
#include <emmy/loop/normal/order.hpp>
#include <emmy/loop/normal/simplify.hpp>

/// Index and predicate expressions of one program, simplified once each: an axis has one range wherever it stands.
namespace emmy::loop::fusion {

class index_rules {
public:
    explicit index_rules(value_graph& values) : v_(values), narrow_(v_.exprs, narrow_ranges_), open_(v_.exprs, open_ranges_), full_(v_.exprs, ranges_), order_(v_.exprs, ranges_) {
        narrow_ranges_.integer_cast = open_ranges_.integer_cast = ranges_.integer_cast = v_.names.intern("int");
    }
    index_rules(const index_rules&) = delete;
    index_rules& operator=(const index_rules&) = delete;

    /// A symbolic size of the program: at least 1. Before any expression that holds it.
    void symbol(name_id name) { narrow_ranges_.symbol(name), open_ranges_.symbol(name), ranges_.symbol(name); }

    /// Simplified under the ranges of static axes only: what splicing does between one operator and the next.
    expr_id simplify_static(expr_id e) { return learn(), narrow_.simplify(e); }
    /// Simplified under all ranges (0 … 2^30 for a symbolic axis, which is less than its extent), then in canonical order.
    expr_id simplify(expr_id e) { return learn(), order_(full_.simplify(e)); }
    /// In a reduction's cone: its free axes are parameters without a range, and sums stay as they were made.
    expr_id simplify_open(expr_id e) { return learn(), open_.simplify(e); }

private:
    void learn() {
        for (; known_ < v_.axes.size(); ++known_) {
            const axis_facts& a = v_.axes[known_];
            if (a.role == axis_role::own) open_ranges_.unknown_axis(a.name, a.rank());
            else if (a.is_static()) open_ranges_.axis(a.name, a.extent.number, a.rank());
            else open_ranges_.symbolic_axis(a.name, v_.extent_expr(a.extent), a.rank());
            if (a.is_static()) {
                narrow_ranges_.axis(a.name, a.extent.number, a.rank());
                ranges_.axis(a.name, a.extent.number, a.rank());
            } else {
                narrow_ranges_.unknown_axis(a.name, a.rank());
                ranges_.symbolic_axis(a.name, v_.extent_expr(a.extent), a.rank());
            }
        }
    }
    value_graph& v_;
    normal::ranges narrow_ranges_, open_ranges_, ranges_;
    normal::simplifier narrow_, open_, full_;
    normal::canonical_order order_;
    std::size_t known_ = 0;
};

}  // namespace emmy::loop::fusion
