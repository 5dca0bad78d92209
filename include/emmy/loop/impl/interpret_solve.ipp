#pragma once
#include <emmy/loop/impl/interpret_model.ipp>

#include <algorithm>
#include <optional>
#include <tuple>

/// From a cell to the loop axes that write it: index expressions read backwards by narrowing intervals, then by search.
namespace emmy::loop::interp {

class axis_solver {
public:
    explicit axis_solver(const model& m) : m_(m), value_(m.loops.size(), 0), low_(m.loops.size(), 0), high_(m.loops.size(), 0) {}

    /// Axes of `w`'s loops, outermost first, that write `at`; the last such iteration in program order. Nothing when there is none.
    /// Errors (user): an index that is computed from data, a search of more than 10^6 candidates.
    result<std::optional<std::vector<std::int64_t>>> solve(const write& w, std::span<const std::int64_t> at) {
        loops_.clear(), tried_ = 0;
        for (loop_id l : m_.chain(w.loop))
            if (!m_.loops[l].is_branch()) loops_.push_back(l), low_[l] = 0, high_[l] = m_.loops[l].extent - 1;
        for (value_id v : w.index)
            if (!pure(v)) return refuse(fault_kind::user, "the index is computed from data: run the whole kernel instead", statement_text(m_.body, w.stmt));
        for (loop_id l : loops_)
            if (m_.loops[l].is_strided()) return refuse(fault_kind::user, "a strided loop encloses the write: run the whole kernel instead", statement_text(m_.body, w.stmt));
        w_ = &w, at_ = at;
        const bool found = search();
        if (tried_ > limit) return refuse(fault_kind::user, "the cell's axes are not found among 10^6 candidates", statement_text(m_.body, w.stmt));
        if (!found) return std::optional<std::vector<std::int64_t>>();
        std::vector<std::int64_t> out;
        for (loop_id l : loops_) out.push_back(value_[l]);
        return std::optional(std::move(out));
    }

    /// Value of an index expression under given axes.
    std::int64_t evaluate(value_id v, std::span<const std::int64_t> axis_of_loop) const {
        const value& x = m_.values[v];
        switch (x.kind) {
            case value_kind::integer: return x.imm;
            case value_kind::axis: return axis_of_loop[x.aux];
            case value_kind::integer_op: return apply(x.bop, evaluate(x.a, axis_of_loop), evaluate(x.b, axis_of_loop));
            case value_kind::choose: return evaluate(evaluate(x.a, axis_of_loop) != 0 ? x.b : x.c, axis_of_loop);
            default: return 0;
        }
    }
    bool pure(value_id v) const {
        const value& x = m_.values[v];
        switch (x.kind) {
            case value_kind::integer:
            case value_kind::axis: return true;
            case value_kind::integer_op: return pure(x.a) && pure(x.b);
            case value_kind::choose: return x.is_integer && pure(x.a) && pure(x.b) && pure(x.c);
            default: return false;
        }
    }

private:
    static constexpr std::uint64_t limit = 1000000;

    struct affine {
        std::vector<std::pair<loop_id, std::int64_t>> terms;
        std::int64_t constant = 0;
    };
    bool linear(value_id v, std::int64_t factor, affine& out) const {
        const value& x = m_.values[v];
        if (x.kind == value_kind::integer) return out.constant += factor * x.imm, true;
        if (x.kind == value_kind::axis) {
            for (auto& [l, k] : out.terms)
                if (l == x.aux) return k += factor, true;
            out.terms.emplace_back(x.aux, factor);
            return true;
        }
        if (x.kind != value_kind::integer_op) return false;
        if (x.bop == binary_op::add) return linear(x.a, factor, out) && linear(x.b, factor, out);
        if (x.bop == binary_op::subtract) return linear(x.a, factor, out) && linear(x.b, -factor, out);
        if (x.bop != binary_op::multiply) return false;
        const bool left = m_.values[x.a].kind == value_kind::integer, right = m_.values[x.b].kind == value_kind::integer;
        if (!left && !right) return false;
        const std::int64_t k = m_.values[left ? x.a : x.b].imm;
        return k > -(1ll << 40) && k < 1ll << 40 && factor > -(1ll << 20) && factor < 1ll << 20 && linear(left ? x.b : x.a, factor * k, out);
    }
    std::pair<std::int64_t, std::int64_t> range(const affine& f) const {
        std::int64_t lo = f.constant, hi = f.constant;
        for (const auto& [l, k] : f.terms) lo += k * (k < 0 ? high_[l] : low_[l]), hi += k * (k < 0 ? low_[l] : high_[l]);
        return {lo, hi};
    }
    /// lo <= f <= hi narrows every axis of f. False when nothing is left.
    bool narrow(const affine& f, std::int64_t lo, std::int64_t hi, bool& changed) {
        const auto [least, most] = range(f);
        if (least > hi || most < lo) return false;
        for (const auto& [l, k] : f.terms) {
            if (k == 0) continue;
            const std::int64_t rest_low = least - k * (k < 0 ? high_[l] : low_[l]), rest_high = most - k * (k < 0 ? low_[l] : high_[l]);
            std::int64_t a = lo - rest_high, b = hi - rest_low;  // a <= k * axis <= b
            if (k < 0) std::tie(a, b) = std::pair(-b, -a);
            const std::int64_t magnitude = k < 0 ? -k : k;
            const std::int64_t first = std::max(low_[l], -floor_divide(-a, magnitude)), last = std::min(high_[l], floor_divide(b, magnitude));
            if (first > last) return false;
            changed = changed || first > low_[l] || last < high_[l];
            low_[l] = first, high_[l] = last;
            if (changed) return true;  // ranges of the other terms are stale: the caller comes again
        }
        return true;
    }
    bool narrow(value_id v, std::int64_t wanted, bool& changed) {
        const value& x = m_.values[v];
        affine f;
        if (linear(v, 1, f)) return narrow(f, wanted, wanted, changed);
        if (x.kind != value_kind::integer_op || m_.values[x.b].kind != value_kind::integer) return true;
        const std::int64_t k = m_.values[x.b].imm;
        if (k <= 0 || !linear(x.a, 1, f)) return true;
        if (x.bop == binary_op::divide || x.bop == binary_op::floor_divide) return narrow(f, wanted * k, wanted * k + k - 1, changed);
        if (x.bop == binary_op::remainder) {
            if (wanted < 0 || wanted >= k) return false;
            const auto [least, most] = range(f);
            const std::int64_t first = least + floor_remainder(wanted - least, k), last = most - floor_remainder(most - wanted, k);
            return first <= last && narrow(f, first, last, changed);
        }
        return true;
    }
    bool search() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < w_->index.size(); ++i)
                if (!narrow(w_->index[i], at_[i], changed)) return false;
        }
        loop_id open = none;
        for (loop_id l : loops_)
            if (low_[l] != high_[l] && open == none) open = l;
        if (open == none) {
            if (++tried_ > limit) return false;
            for (loop_id l : loops_) value_[l] = low_[l];
            for (std::size_t i = 0; i < w_->index.size(); ++i)
                if (evaluate(w_->index[i], value_) != at_[i]) return false;
            return true;
        }
        const std::vector<std::int64_t> low = low_, high = high_;
        for (std::int64_t x = high[open]; x >= low[open] && tried_ <= limit; --x) {
            low_ = low, high_ = high;
            low_[open] = high_[open] = x;
            ++tried_;
            if (search()) return true;
        }
        return false;
    }

    const model& m_;
    const write* w_ = nullptr;
    std::span<const std::int64_t> at_;
    std::vector<loop_id> loops_;
    std::vector<std::int64_t> value_, low_, high_;
    std::uint64_t tried_ = 0;
};

}  // namespace emmy::loop::interp
