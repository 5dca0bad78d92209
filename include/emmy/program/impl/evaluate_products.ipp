#pragma once
#include <emmy/program/impl/evaluation.ipp>
#include <emmy/program/impl/pointwise.ipp>
#include <emmy/program/impl/product.ipp>

#include <algorithm>

namespace emmy::program::detail {

inline evaluation::product_shape evaluation::product_of(const node& n, const sizes_list& left, const sizes_list& right) const {
    product_shape p;
    p.transposed = n.op == op::linear;
    sizes_list a = left, b = right;
    if (!p.transposed && a.size() == 1) a.insert(a.begin(), 1);  // vectors: a leading, a trailing axis that the result drops
    if (!p.transposed && b.size() == 1) b.push_back(1);
    p.k = a.back();
    p.n = p.transposed ? b[0] : b.back();
    if (p.transposed) {
        p.m = count_of(a) / p.k;
        return p;
    }
    p.m = a[a.size() - 2];
    const std::size_t rank = std::max(a.size(), b.size()) - 2;
    p.a_batch.assign(rank, 1);
    p.b_batch.assign(rank, 1);
    std::copy(a.begin(), a.end() - 2, p.a_batch.end() - static_cast<std::ptrdiff_t>(a.size() - 2));
    std::copy(b.begin(), b.end() - 2, p.b_batch.end() - static_cast<std::ptrdiff_t>(b.size() - 2));
    for (std::size_t i = 0; i < rank; ++i) p.batch.push_back(std::max(p.a_batch[i], p.b_batch[i]));
    return p;
}

inline std::int64_t evaluation::batch_place(const sizes_list& batch, const sizes_list& operand, std::int64_t index) {
    std::int64_t place = 0, step = 1;
    for (std::size_t i = batch.size(); i-- > 0;) {
        const std::int64_t c = index % batch[i];
        index /= batch[i];
        if (operand[i] != 1) place += c * step;
        step *= operand[i];
    }
    return place;
}

/// Element of a tensor that broadcasts to `shape`, for the result's position c.
inline std::size_t broadcast_place(const sizes_list& shape, const sizes_list& strides, const sizes_list& c) {
    std::int64_t place = 0;
    for (std::size_t i = 1; i <= shape.size(); ++i)
        if (shape[shape.size() - i] != 1) place += c[c.size() - i] * strides[shape.size() - i];
    return static_cast<std::size_t>(place);
}

inline result<evaluated> evaluation::product_node(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated &a = input(n, 0), &b = input(n, 1);
    const product_shape p = product_of(n, a.shape, b.shape);
    allocate(out);
    const std::int64_t batches = count_of(p.batch);
    for (std::int64_t i = 0; i < batches; ++i) {
        const std::int64_t left = batch_place(p.batch, p.a_batch, i) * p.m * p.k, right = batch_place(p.batch, p.b_batch, i) * p.k * p.n, to = i * p.m * p.n;
        if (!reads_as_integer(out.type)) {
            product(a.values.data() + left, b.values.data() + right, out.values.data() + to, p.m, p.n, p.k, p.transposed);
            continue;
        }
        for (std::int64_t r = 0; r < p.m; ++r)
            for (std::int64_t c = 0; c < p.n; ++c) {
                std::uint64_t sum = 0;
                for (std::int64_t k = 0; k < p.k; ++k)
                    sum += bits(a.integers[static_cast<std::size_t>(left + r * p.k + k)]) *
                           bits(b.integers[static_cast<std::size_t>(right + (p.transposed ? c * p.k + k : k * p.n + c))]);
                out.integers[static_cast<std::size_t>(to + r * p.n + c)] = wrap_to(out.type, held(sum));
            }
    }
    if (n.inputs.count == 3) {
        const evaluated& bias = input(n, 2);
        const sizes_list strides = strides_of(bias.shape);
        sizes_list c(out.shape.size(), 0);
        for (std::size_t i = 0; i < std::max(out.values.size(), out.integers.size()); ++i, advance(c, out.shape)) {
            const std::size_t from = broadcast_place(bias.shape, strides, c);
            if (reads_as_integer(out.type)) out.integers[i] = wrap_to(out.type, out.integers[i] + bias.integers[from]);
            else out.values[i] += bias.values[from];
        }
    }
    return std::move(out);
}

/// The sum over all letters that the result lacks of the product of the operands.
inline result<evaluated> evaluation::einsum(const node& n) const {
    EMMY_TRY(out, blank(n));
    const std::string_view equation = g.text(n, attr::equation);
    const std::size_t arrow = equation.find("->");
    std::string letters;  // result first, then what is summed
    for (const char c : equation.substr(arrow + 2))
        if (c != ' ') letters += c;
    const std::size_t kept = letters.size();
    for (const char c : equation.substr(0, arrow))
        if (c != ' ' && c != ',' && letters.find(c) == std::string::npos) letters += c;
    sizes_list sizes(letters.size(), 1);
    struct operand {
        std::vector<double> values;
        sizes_list per_letter;
    };
    std::vector<operand> operands;
    std::size_t at = 0;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
        const evaluated& x = input(n, i);
        operand o{reals_of(x), sizes_list(letters.size(), 0)};
        const sizes_list strides = strides_of(x.shape);
        std::size_t axis = 0;
        for (; at < arrow && equation[at] != ','; ++at) {
            if (equation[at] == ' ') continue;
            const std::size_t letter = letters.find(equation[at]);
            sizes[letter] = x.shape[axis];
            o.per_letter[letter] += strides[axis++];
        }
        ++at;
        operands.push_back(std::move(o));
    }
    evaluated sums{.type = dtype::f64, .shape = out.shape};
    allocate(sums);
    const std::int64_t inner = count_of(sizes_list(sizes.begin() + static_cast<std::ptrdiff_t>(kept), sizes.end()));
    sizes_list c(sizes.size(), 0);
    for (double& v : sums.values)
        for (std::int64_t k = 0; k < inner; ++k, advance(c, sizes)) {
            double term = 1;
            for (const operand& o : operands) {
                std::int64_t place = 0;
                for (std::size_t i = 0; i < c.size(); ++i) place += c[i] * o.per_letter[i];
                term *= o.values[static_cast<std::size_t>(place)];
            }
            v += term;
        }
    return converted(sums, out.type);
}

}  // namespace emmy::program::detail
