#pragma once
// Bodies built by ordinary constexpr code: the same function runs in a static_assert and in a unit test.
#include <emmy/loop/identity.hpp>

#include <vector>

namespace emmy::test {

struct built {
    loop::body body;
    std::vector<loop::buffer> inputs, outputs;
    constexpr digest128 identity() const { return loop::identity(body, inputs, outputs); }
};

/// y[m, n] = sum over k of a[m, k] * b[k, n]; every name can be chosen, none counts.
struct matmul_names {
    std::string_view a = "x0", b = "x1", y = "matmul", row = "a0", column = "a1", inner = "a2", left = "in0", right = "in1", product = "v0", sum = "acc0";
};
constexpr built matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, matmul_names n = {}, dtype type = dtype::f32) {
    built out;
    loop::body& b = out.body;
    auto name = [&](std::string_view text) { return b.names.intern(text); };
    auto size = [](std::int64_t v) { return dim{.number = v}; };
    auto buffer = [&](std::string_view text, std::int64_t first, std::int64_t second) {
        loop::buffer made{.name = name(text), .type = type};
        made.shape.push_back(size(first));
        made.shape.push_back(size(second));
        return made;
    };
    auto index = [&](std::string_view first, std::string_view second) {
        const expr_id list[] = {b.exprs.name(name(first)), b.exprs.name(name(second))};
        return b.add_expressions(list);
    };
    auto load = [&](std::string_view value, std::string_view from, loop::run at) {
        return b.add({.kind = loop::stmt_kind::load, .name = name(value), .buffer = name(from), .index = at});
    };
    auto loop_over = [&](std::string_view axis, std::int64_t extent, std::vector<loop::stmt_id> body) {
        return b.add({.kind = loop::stmt_kind::loop, .body = b.add_statements(body), .axis = {.name = name(axis), .extent = size(extent)}});
    };
    out.inputs.push_back(buffer(n.a, rows, inner));
    out.inputs.push_back(buffer(n.b, inner, columns));
    out.outputs.push_back(buffer(n.y, rows, columns));

    std::vector<loop::stmt_id> step;
    step.push_back(load(n.left, n.a, index(n.row, n.inner)));
    step.push_back(load(n.right, n.b, index(n.inner, n.column)));
    const name_id factors[] = {name(n.left), name(n.right)}, product[] = {name(n.product)}, axes[] = {name(n.inner)}, sum[] = {name(n.sum)};
    step.push_back(b.add({.kind = loop::stmt_kind::assign, .op = loop::op::multiply, .name = name(n.product), .args = b.add_names(factors)}));
    step.push_back(b.add({.kind = loop::stmt_kind::accum, .op = loop::op::add, .name = name(n.sum), .args = b.add_names(product), .axes = b.add_names(axes)}));
    std::vector<loop::stmt_id> cell;
    cell.push_back(loop_over(n.inner, inner, step));
    cell.push_back(b.add({.kind = loop::stmt_kind::write, .buffer = name(n.y), .args = b.add_names(sum), .index = index(n.row, n.column)}));
    std::vector<loop::stmt_id> row, top;
    row.push_back(loop_over(n.column, columns, cell));
    top.push_back(loop_over(n.row, rows, row));
    b.top = b.add_statements(top);
    return out;
}

}  // namespace emmy::test
