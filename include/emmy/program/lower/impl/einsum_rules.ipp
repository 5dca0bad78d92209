#pragma once
#include <emmy/program/lower/impl/convolution_rules.ipp>

namespace emmy::program::detail {

/// Letters of each operand, then of the result.
inline std::vector<std::string> einsum_letters(std::string_view equation) {
    std::vector<std::string> out(1);
    for (const char c : equation) {
        if (c == ' ' || c == '>') continue;
        if (c == ',' || c == '-') out.emplace_back();
        else out.back() += c;
    }
    return out;
}

/// One letter summed, one of its own on each side, nothing else: operands turned, a matmul, the result turned. What is more is spread over all
/// letters, multiplied, and summed letter by letter from the last.
inline result<void> lower_einsum(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const auto letters = einsum_letters(w.g.text(w.g.nodes[n], attr::equation));
    const std::string& kept = letters.back();
    std::string order = kept;
    const std::size_t operands = letters.size() - 1;
    for (std::size_t i = 0; i < operands; ++i)
        for (const char c : letters[i])
            if (order.find(c) == std::string::npos) order += c;
    if (operands == 2 && kept.size() == 2 && order.size() == 3 && letters[0].size() == 2 && letters[1].size() == 2) {
        const char inner = order[2];
        const auto has = [](const std::string& s, char c) { return s.find(c) != std::string::npos; };
        const bool plain = has(letters[0], inner) && has(letters[1], inner) && letters[0][0] != letters[0][1] && letters[1][0] != letters[1][1];
        if (plain) {
            const std::array<std::int64_t, 2> swap{1, 0};
            node_id a = w.input(n, 0), b = w.input(n, 1);
            const char row = letters[0][0] == inner ? letters[0][1] : letters[0][0];
            if (letters[0][0] == inner) a = turned_weight(r, o + "_a", a, swap);
            if (letters[1][1] == inner) b = turned_weight(r, o + "_b", b, swap);
            if (kept[0] == row) {
                w.become(n, op::matmul, {}, {a, b});
                return {};
            }
            std::vector<dim> back = w.sizes(n);
            std::swap(back[0], back[1]);
            const range turned = w.make_shape(back);
            const node_id product = w.add(o + "_mm", op::matmul, {}, {a, b}, w.type(n), turned);
            w.become(n, op::transpose, w.axes_attrs(swap), {product});
            return {};
        }
    }
    std::vector<dim> sizes;
    for (const char c : order)
        for (std::size_t i = 0; i < operands; ++i)
            if (const std::size_t axis = letters[i].find(c); axis != std::string::npos) {
                sizes.push_back(w.dims(w.input(n, i))[axis]);
                break;
            }
    range whole = w.make_shape(sizes);
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    node_id product = no_node;
    for (std::size_t i = 0; i < operands; ++i) {
        std::vector<expr_id> coordinates;
        for (const char c : letters[i]) coordinates.push_back(r.c.at(order.find(c)));
        const node_id spread = r.map(o + "_op" + std::to_string(i), w.input(n, i), whole, std::move(coordinates));
        product = product == no_node ? spread : w.pointwise(o + "_ew" + std::to_string(i), "multiply", {product, spread}, math, whole);
    }
    for (std::size_t i = order.size(); i-- > kept.size();) {
        sizes[i] = number_dim(1);
        const std::int64_t axis = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(order.size());
        product = w.add(o + "_reduce" + std::to_string(i), op::reduce, w.fold_attrs("sum", axis), {product}, w.type(n), w.make_shape(sizes));
    }
    if (order.size() == kept.size() && w.type(product) != w.type(n)) {  // nothing is summed
        w.become_pointwise(n, "copy", {product});
        return {};
    }
    std::vector<expr_id> coordinates = r.identity(kept.size());
    coordinates.resize(order.size(), r.c.number(0));
    r.become_map(n, product, std::move(coordinates));
    return {};
}

}  // namespace emmy::program::detail
