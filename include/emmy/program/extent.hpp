#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/graph.hpp>

#include <array>
#include <vector>

/// Sizes as exact functions of the program's one symbol.
namespace emmy::program {

/// A polynomial with integer coefficients where there is one (numbers, the symbol, sums and products of them), else all values of the
/// function at the symbol's 4096 legal sizes: what is equal here is equal for every size that the program can run at.
/// Arithmetic that leaves 62 bits makes a bad extent, equal to nothing.
class extent {
public:
    extent(std::int64_t number = 0) { coefficients_[0] = number; }
    EMMY_DECL static extent symbol();
    /// Of a dim whose names are the graph's one symbol; bad when it does not evaluate at some legal size.
    EMMY_DECL static extent of(const graph& g, const dim& d);

    EMMY_DECL friend extent operator+(const extent& a, const extent& b);
    EMMY_DECL friend extent operator-(const extent& a, const extent& b);
    EMMY_DECL friend extent operator*(const extent& a, const extent& b);
    /// Rounded down; bad where the divisor is not positive.
    EMMY_DECL friend extent operator/(const extent& a, const extent& b);
    EMMY_DECL friend bool operator==(const extent& a, const extent& b);

    bool bad() const { return bad_; }
    bool is_number() const { return !bad_ && table_.empty() && degree() == 0; }
    std::int64_t number() const { return coefficients_[0]; }
    /// Whether it is the symbol itself.
    bool is_symbol() const { return !bad_ && table_.empty() && degree() == 1 && coefficients_[0] == 0 && coefficients_[1] == 1; }
    EMMY_DECL std::int64_t at(std::int64_t size) const;
    /// Over the legal sizes of the symbol.
    EMMY_DECL std::int64_t least() const;
    EMMY_DECL std::int64_t largest() const;
    /// "seq_len * 8 + 1"; a function without a polynomial: its value at the hint.
    EMMY_DECL std::string text(std::string_view symbol) const;
    /// As a dim of `g`. Errors (user): a function without a polynomial, or a bad extent.
    EMMY_DECL result<dim> as_dim(graph& g, std::string_view symbol, std::int64_t hint) const;

private:
    static constexpr std::size_t most = 6;
    std::size_t degree() const {
        std::size_t d = most - 1;
        while (d > 0 && coefficients_[d] == 0) --d;
        return d;
    }
    EMMY_DECL static extent from_expression(const graph& g, expr_id e);
    template <class F>
    static extent tabulated(F f);
    std::array<std::int64_t, most> coefficients_{};
    std::vector<std::int64_t> table_;  ///< empty, or the value at size 1, 2, … 4096
    bool bad_ = false;
};

/// Product of all; 1 of none.
EMMY_DECL extent count_of(std::span<const extent> shape);
/// The shape of a node's output.
EMMY_DECL std::vector<extent> extents_of(const graph& g, std::span<const dim> shape);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/extent.ipp>
#endif
