#pragma once
#include <emmy/program/impl/infer_context.ipp>

namespace emmy::program {

EMMY_DECL std::uint32_t sdpa_mask(const graph& g, const node& n) {
    const detail::inference at(g, n);
    for (std::uint32_t i = 3; i < n.inputs.count; ++i)
        if (!at.literal_input(i)) return i;
    return 0;
}
EMMY_DECL std::int64_t sdpa_groups(const graph& g, const node& n) {
    const detail::inference at(g, n);
    const auto q = at.input(0), k = at.input(1);
    if (q.size() < 3) return 1;
    const extent &heads = q[q.size() - 3], &shared = k[k.size() - 3];
    return heads.is_number() && shared.is_number() && shared.number() > 0 ? heads.number() / shared.number() : 1;
}

namespace detail {

inline result<shape_list> inference::linear() const {
    const shape_list x = input(0), w = input(1);
    if (x.empty() || w.size() != 2 || !(w[1] == x.back()))
        return wrong("inputs", "found " + text(x) + " times the weight " + text(w) + ", expected [..,K] and [N,K]");
    if (n.inputs.count == 3)
        if (const shape_list b = input(2); b.size() != 1 || !(b[0] == w[0]))
            return wrong("inputs", "found the bias " + text(b) + ", expected [" + text(w[0]) + "]");
    shape_list out = x;
    out.back() = w[0];
    return out;
}

inline result<shape_list> inference::matmul() const {
    const shape_list a = input(0), b = input(1);
    const bool row = a.size() == 1, column = b.size() == 1;  // vectors: a leading, a trailing axis that the result drops
    const auto misfit = [&] { return wrong("inputs", "found " + text(a) + " times " + text(b) + ", expected [..,M,K] and [..,K,N]"); };
    if (a.empty() || b.empty()) return misfit();
    const extent& inner = column ? b[0] : b[b.size() - 2];
    if (!(a.back() == inner)) return misfit();
    const shape_list a_batch(a.begin(), a.end() - (row ? 1 : 2)), b_batch(b.begin(), b.end() - (column ? 1 : 2));
    EMMY_TRY(out, broadcast(a_batch, b_batch, "inputs"));
    if (!row) out.push_back(a[a.size() - 2]);
    if (!column) out.push_back(b.back());
    if (n.inputs.count == 3) {
        const shape_list bias = input(2);
        EMMY_TRY(whole, broadcast(out, bias, "inputs"));
        if (whole != out) return wrong("inputs", "found the bias " + text(bias) + ", expected one that broadcasts to " + text(out));
    }
    return out;
}

inline result<shape_list> inference::attention() const {
    const shape_list q = input(0), k = input(1), v = input(2);
    const auto misfit = [&](std::string_view wanted) {
        return wrong("inputs", "found q " + text(q) + ", k " + text(k) + ", v " + text(v) + ", expected " + std::string(wanted));
    };
    const std::size_t rank = q.size();
    if (rank < 2 || k.size() != rank || v.size() != rank) return misfit("equal ranks of at least 2");
    if (!(q[rank - 1] == k[rank - 1])) return misfit("q and k of one width");
    if (!(k[rank - 2] == v[rank - 2])) return misfit("as many values as keys");
    for (std::size_t i = 0; i + 2 < rank; ++i) {
        if (!(k[i] == v[i])) return misfit("k and v of equal batches");
        if (q[i] == k[i]) continue;
        const bool grouped = i + 3 == rank && q[i].is_number() && k[i].is_number() && q[i].number() % k[i].number() == 0;
        if (!grouped) return misfit("equal batches, or a multiple of the key heads as query heads");
    }
    if (const attribute* window = g.find(n, attr::sliding_window); window && window->number.integer < 1)
        return wrong("attrs.sliding_window", "found " + std::to_string(window->number.integer) + ", expected at least 1");
    std::size_t masks = 0;
    for (std::size_t i = 3; i < n.inputs.count; ++i) masks += !literal_input(i);
    if (masks > 1) return wrong("inputs", "found " + std::to_string(masks) + " masks, expected one at most");
    if (const std::uint32_t place = sdpa_mask(g, n)) {
        const shape_list mask = input(place);
        shape_list scores = q;
        scores[rank - 1] = k[rank - 2];
        EMMY_TRY(whole, broadcast(scores, mask, "inputs"));
        if (whole != scores) return wrong("inputs", "found the mask " + text(mask) + ", expected one that broadcasts to " + text(scores));
    }
    shape_list out = q;
    out[rank - 1] = v[rank - 1];
    return out;
}

/// x [N,C,spatial..], weight [O,C/groups,taps..] ([C,O/groups,taps..] when transposed), bias [O].
inline result<shape_list> inference::convolution(std::size_t spatial, bool transposed) const {
    const shape_list x = input(0), w = input(1);
    const auto misfit = [&](std::string_view wanted) {
        return wrong("inputs", "found x " + text(x) + ", weight " + text(w) + ", expected " + std::string(wanted));
    };
    if (x.size() != spatial + 2 || w.size() != spatial + 2) return misfit("ranks " + std::to_string(spatial + 2));
    const std::int64_t stride = g.integer(n, attr::stride), padding = g.integer(n, attr::padding), dilation = g.integer(n, attr::dilation),
                       groups = g.integer(n, attr::groups);
    constexpr std::int64_t most = 1 << 20;
    if (stride < 1 || stride > most) return wrong("attrs.stride", "found " + std::to_string(stride) + ", expected at least 1");
    if (padding < 0 || padding > most) return wrong("attrs.padding", "found " + std::to_string(padding) + ", expected at least 0");
    if (dilation < 1 || dilation > most) return wrong("attrs.dilation", "found " + std::to_string(dilation) + ", expected at least 1");
    EMMY_TRY(in_channels, fixed(x[1], "the channels"));
    EMMY_TRY(first, fixed(w[0], "the weight's channels"));
    EMMY_TRY(second, fixed(w[1], "the weight's channels"));
    if (groups < 1 || in_channels % groups != 0)
        return wrong("attrs.groups", "found " + std::to_string(groups) + " groups of " + std::to_string(in_channels) + " channels, expected a divisor");
    const std::int64_t out_channels = transposed ? second * groups : first;
    if (out_channels % groups != 0)
        return wrong("attrs.groups", "found " + std::to_string(groups) + " groups of " + std::to_string(out_channels) + " results, expected a divisor");
    if (transposed ? first != in_channels : second != in_channels / groups)
        return misfit(transposed ? "a weight [C,O/groups,taps]" : "a weight [O,C/groups,taps]");
    shape_list out{x[0], extent(out_channels)};
    for (std::size_t i = 0; i < spatial; ++i) {
        EMMY_TRY(taps, fixed(w[2 + i], "the taps"));
        const extent reach(dilation * (taps - 1) + 1);
        if (transposed) {
            extent length = (x[2 + i] - extent(1)) * extent(stride) + reach - extent(2 * padding);
            const shape_list declared = extents_of(g, g.shape_of(g.outputs_of(n)[0].shape));
            if (declared.size() == spatial + 2)
                if (const extent more = declared[2 + i] - length; more.is_number() && more.number() > 0 && more.number() < std::max(stride, dilation))
                    length = declared[2 + i];
            out.push_back(length);
        } else {
            out.push_back((x[2 + i] + extent(2 * padding) - reach) / extent(stride) + extent(1));
        }
        if (out.back().bad() || out.back().at(largest_symbol_size) < 1) return misfit("taps that fit inside the padded input");
    }
    if (n.inputs.count == 3)
        if (const shape_list b = input(2); b.size() != 1 || !(b[0] == extent(out_channels)))
            return wrong("inputs", "found the bias " + text(b) + ", expected [" + std::to_string(out_channels) + "]");
    return out;
}

/// "ij,jk->ik": a letter is an axis, equal letters have equal sizes, letters absent from the result are summed.
inline result<shape_list> inference::einsum() const {
    const std::string_view equation = g.text(n, attr::equation);
    const auto wrong_text = [&](std::string_view wanted) {
        return wrong("attrs.equation", "found \"" + std::string(equation) + "\", expected " + std::string(wanted));
    };
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string_view::npos) return wrong_text("operands -> result");
    const extent none(-1);
    std::vector<extent> sizes(128, none);
    std::size_t operand = 0, axis = 0;
    shape_list in = input(0);
    for (std::size_t i = 0; i <= arrow; ++i) {
        const char c = i == arrow ? ',' : equation[i];
        if (c == ' ') continue;
        if (c == ',') {
            if (axis != in.size())
                return wrong("inputs", "found " + std::to_string(in.size()) + " axes of operand " + std::to_string(operand) + ", expected the " +
                                           std::to_string(axis) + " of \"" + std::string(equation) + "\"");
            ++operand;
            axis = 0;
            if (i < arrow) {
                if (operand >= n.inputs.count) return wrong_text("as many operands as inputs, " + std::to_string(n.inputs.count));
                in = input(operand);
            }
            continue;
        }
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return wrong_text("letters, commas and ->");
        if (axis >= in.size())
            return wrong("inputs", "found " + std::to_string(in.size()) + " axes of operand " + std::to_string(operand) + ", expected those of \"" +
                                       std::string(equation) + "\"");
        extent& size = sizes[static_cast<unsigned char>(c)];
        if (size == none) size = in[axis];
        else if (!(size == in[axis]))
            return wrong("inputs", "found the sizes " + text(size) + " and " + text(in[axis]) + " for '" + c + "', expected equal ones");
        ++axis;
    }
    if (operand != n.inputs.count) return wrong_text("as many operands as inputs, " + std::to_string(n.inputs.count));
    shape_list out;
    std::string seen;
    for (const char c : equation.substr(arrow + 2)) {
        if (c == ' ') continue;
        if (static_cast<unsigned char>(c) >= 128 || sizes[static_cast<unsigned char>(c)] == none || seen.find(c) != std::string::npos)
            return wrong_text("a result of the operands' letters, each once");
        seen += c;
        out.push_back(sizes[static_cast<unsigned char>(c)]);
    }
    return out;
}

}  // namespace detail
}  // namespace emmy::program
