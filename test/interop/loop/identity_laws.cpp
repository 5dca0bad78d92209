// Laws of the identity on every stored body: what never changes a digest, and what always does.
#include "files.hpp"

#include <emmy/loop/op_table.hpp>
#include <emmy/loop/sample.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace emmy;
using namespace emmy::test;
using loop::stmt;
using loop::stmt_id;
using loop::stmt_kind;

namespace {
using generator = std::mt19937_64;

std::vector<name_id> names_in(const loop::body& b, expr_id id) {
    std::vector<name_id> out;
    std::function<void(expr_id)> walk = [&](expr_id at) {
        if (at == no_expr) return;
        const expr& e = b.exprs[at];
        switch (e.kind) {
            case expr_kind::name: out.push_back(e.name); return;
            case expr_kind::binary: walk(e.a), walk(e.b); return;
            case expr_kind::ternary: walk(e.a), walk(e.b), walk(e.c); return;
            case expr_kind::cast: walk(e.a); return;
            case expr_kind::call:
                for (expr_id a : b.exprs.args(e)) walk(a);
                return;
            default: return;
        }
    };
    walk(id);
    return out;
}

/// Every name that the body or its declarations define has another text; symbols, casts and ids stay.
loop::kernel renamed(loop::kernel k) {
    std::set<name_id> own;
    for (const stmt& s : k.body.stmts) {
        own.insert(s.kind == stmt_kind::loop ? s.axis.name : s.name);
        if (s.kind == stmt_kind::loop && s.axis.has_window()) own.insert(k.body.windows[s.axis.window].parent);
    }
    for (const auto* list : {&k.inputs, &k.outputs})
        for (const loop::buffer& x : *list) own.insert(x.name);
    text_pool fresh;
    for (name_id id = 1; id < k.body.names.size(); ++id) {
        const std::string text = own.contains(id) ? "zz" + std::to_string(7919u * (k.body.names.size() - id)) : std::string(k.body.names.text(id));
        BOOST_REQUIRE_EQUAL(fresh.intern(text), id);
    }
    k.body.names = fresh;
    return k;
}

loop::kernel permuted(loop::kernel k, generator& r) {
    std::shuffle(k.inputs.begin(), k.inputs.end(), r);
    std::shuffle(k.outputs.begin(), k.outputs.end(), r);
    k.node_order.clear();
    return k;
}

loop::kernel operands_swapped(loop::kernel k, generator& r, long& swapped) {
    for (stmt& s : k.body.stmts)
        if (s.kind == stmt_kind::assign && loop::facts(s.op).commutative && r() % 2 == 0) {
            const auto args = k.body.name_list(s.args);
            const name_id other[] = {args[1], args[0]};
            s.args = k.body.add_names(other);
            ++swapped;
        }
    return k;
}

struct touched {
    std::set<name_id> defines, uses, writes;
};
touched touch(const loop::body& b, stmt_id id) {
    touched out;
    const stmt& s = b.stmts[id];
    for (name_id n : b.name_list(s.args)) out.uses.insert(n);
    for (expr_id e : b.expressions(s.index))
        for (name_id n : names_in(b, e)) out.uses.insert(n);
    for (name_id n : names_in(b, s.value)) out.uses.insert(n);
    if (s.base != no_name) out.uses.insert(s.base);
    if (s.kind == stmt_kind::pre) out.uses.insert(s.buffer);
    if (s.kind == stmt_kind::write) out.writes.insert(s.buffer);
    if (s.kind == stmt_kind::loop) {
        for (stmt_id inner : b.statements(s.body)) {
            const touched t = touch(b, inner);
            out.defines.insert(t.defines.begin(), t.defines.end());
            out.uses.insert(t.uses.begin(), t.uses.end());
            out.writes.insert(t.writes.begin(), t.writes.end());
        }
    } else if (s.name != no_name) {
        out.defines.insert(s.name);
    }
    return out;
}
bool meet(const std::set<name_id>& a, const std::set<name_id>& b) {
    return std::any_of(a.begin(), a.end(), [&](name_id n) { return b.contains(n); });
}
/// Siblings in another order, where no definition, use or store to one buffer passes another.
loop::run reordered(loop::body& b, loop::run list, generator& r, long& moved) {
    std::vector<stmt_id> ids(b.statements(list).begin(), b.statements(list).end());
    for (stmt_id id : ids)
        if (b.stmts[id].kind == stmt_kind::loop) {
            const loop::run inner = reordered(b, b.stmts[id].body, r, moved);
            b.stmts[id].body = inner;
        }
    std::vector<touched> t;
    for (stmt_id id : ids) t.push_back(touch(b, id));
    std::vector<std::vector<std::size_t>> before(ids.size());
    for (std::size_t j = 0; j < ids.size(); ++j)
        for (std::size_t i = 0; i < j; ++i)
            if (meet(t[i].defines, t[j].uses) || meet(t[i].defines, t[j].defines) || meet(t[i].uses, t[j].defines) || meet(t[i].writes, t[j].writes)) before[j].push_back(i);
    std::vector<bool> done(ids.size());
    std::vector<stmt_id> out;
    while (out.size() < ids.size()) {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (!done[i] && std::all_of(before[i].begin(), before[i].end(), [&](std::size_t p) { return done[p]; })) ready.push_back(i);
        const std::size_t next = ready[r() % ready.size()];
        moved += next != out.size();
        done[next] = true;
        out.push_back(ids[next]);
    }
    return b.add_statements(out);
}

// Mutants.
enum class mutation { operation, result_type, buffer_type, extent, index, predicate, sharing, scalar, count_ };
constexpr const char* mutation_names[] = {"operator", "dtype of a value", "dtype of a buffer", "extent", "index", "predicate", "buffer sharing", "scalar"};

template <class T>
T other(const std::vector<T>& of, T than, generator& r) {
    for (;;)
        if (const T one = of[r() % of.size()]; one != than) return one;
}
/// One literal or one comparison of an expression changed; no_expr when there is nothing to change.
expr_id expression_mutant(loop::body& b, expr_id id, generator& r) {
    std::vector<expr_id> sites;
    std::function<void(expr_id)> walk = [&](expr_id at) {
        const expr& e = b.exprs[at];
        if (e.kind == expr_kind::integer || e.kind == expr_kind::name || (e.kind == expr_kind::binary && e.op >= binary_op::less && e.op <= binary_op::greater_equal)) sites.push_back(at);
        if (e.kind == expr_kind::binary) walk(e.a), walk(e.b);
        if (e.kind == expr_kind::ternary) walk(e.a), walk(e.b), walk(e.c);
    };
    walk(id);
    if (sites.empty()) return no_expr;
    const expr_id site = sites[r() % sites.size()];
    std::function<expr_id(expr_id)> rebuild = [&](expr_id at) -> expr_id {
        const expr e = b.exprs[at];
        if (at == site) {
            if (e.kind == expr_kind::integer) return b.exprs.integer(e.integer + 1);
            if (e.kind == expr_kind::name) return r() % 2 == 0 ? b.exprs.binary(binary_op::multiply, at, b.exprs.integer(3)) : b.exprs.binary(binary_op::add, at, b.exprs.integer(1));
            return b.exprs.binary(e.op == binary_op::less ? binary_op::less_equal : e.op == binary_op::less_equal ? binary_op::less : binary_op::equal, e.a, e.b);
        }
        if (e.kind == expr_kind::binary) {
            const expr_id left = rebuild(e.a), right = rebuild(e.b);
            return b.exprs.binary(e.op, left, right);
        }
        if (e.kind == expr_kind::ternary) {
            const expr_id c = rebuild(e.a), left = rebuild(e.b), right = rebuild(e.c);
            return b.exprs.ternary(c, left, right);
        }
        return at;
    };
    return rebuild(id);
}
struct site {
    stmt_id id = 0;
    bool last_branch = false;
};
std::optional<site> mutate(loop::kernel& k, mutation how, generator& r) {
    loop::body& b = k.body;
    std::vector<stmt_id> all;
    for (stmt_id i = 0; i < b.stmts.size(); ++i) all.push_back(i);
    std::shuffle(all.begin(), all.end(), r);
    std::map<name_id, int> read;
    for (const stmt& s : b.stmts)
        if (s.kind == stmt_kind::load) ++read[s.buffer];
    auto declaration = [&](name_id name) -> loop::buffer* {
        for (auto* list : {&k.inputs, &k.outputs})
            for (loop::buffer& x : *list)
                if (x.name == name) return &x;
        return nullptr;
    };
    static const std::vector<loop::op> unary = {loop::op::exp, loop::op::negative, loop::op::relu, loop::op::tanh, loop::op::rsqrt}, binary = {loop::op::add, loop::op::subtract, loop::op::multiply, loop::op::divide, loop::op::minimum},
                                       folds = {loop::op::add, loop::op::maximum, loop::op::multiply};
    static const std::vector<dtype> types = {dtype::none, dtype::f16, dtype::f32, dtype::bf16}, stored = {dtype::f16, dtype::f32, dtype::bf16, dtype::i32};
    for (stmt_id id : all) {
        stmt& s = b.stmts[id];
        switch (how) {
            case mutation::operation:
                if (s.kind == stmt_kind::accum) return s.op = other(folds, s.op, r), site{id};
                if (s.kind != stmt_kind::assign || s.args.count > 2) break;
                return s.op = other(s.args.count == 1 ? unary : binary, s.op, r), site{id};
            case mutation::result_type:
                if (s.kind != stmt_kind::assign || (s.op == loop::op::copy && s.type == dtype::none)) break;
                return s.type = other(s.op == loop::op::copy ? stored : types, s.type, r), site{id};
            case mutation::buffer_type:
                if (s.kind != stmt_kind::load && s.kind != stmt_kind::write) break;
                if (loop::buffer* x = declaration(s.buffer)) return x->type = other(stored, x->type, r), site{id};
                break;
            case mutation::extent:
                if (s.kind != stmt_kind::loop) break;
                if (s.axis.extent.kind == dim::form::number) return s.axis.extent.number += 1, site{id};
                return s.axis.extent = dim{.number = 7}, site{id};
            case mutation::index: {
                if ((s.kind != stmt_kind::load && s.kind != stmt_kind::write && s.kind != stmt_kind::pre) || s.index.count == 0) break;
                std::vector<expr_id> list(b.expressions(s.index).begin(), b.expressions(s.index).end());
                expr_id& one = list[r() % list.size()];
                one = expression_mutant(b, one, r);
                if (one == no_expr) break;
                return s.index = b.add_expressions(list), site{id};
            }
            case mutation::predicate: {
                if (s.kind != stmt_kind::select) break;
                std::vector<expr_id> list(b.expressions(s.index).begin(), b.expressions(s.index).end());
                const std::size_t branch = r() % list.size();
                list[branch] = expression_mutant(b, list[branch], r);
                if (list[branch] == no_expr) break;
                return s.index = b.add_expressions(list), site{id, branch + 1 == list.size()};
            }
            case mutation::sharing: {
                if (s.kind != stmt_kind::load) break;
                const loop::buffer from = *declaration(s.buffer);
                if (read[s.buffer] > 1 && r() % 2 == 0) {  // one of several reads gets a buffer of its own
                    loop::buffer own = from;
                    own.name = b.names.intern("own_of_its_read");
                    k.inputs.push_back(own), k.node_order.clear();
                    return s.buffer = own.name, site{id};
                }
                for (const loop::buffer& x : k.inputs)  // this read shares another's buffer
                    if (x.name != from.name && x.type == from.type && x.shape == from.shape && read[x.name] > 0) return s.buffer = x.name, site{id};
                break;
            }
            case mutation::scalar:
                if (s.kind == stmt_kind::let) return s.value = b.exprs.real(b.exprs[s.value].real() + 0.5), site{id};
                if (s.kind == stmt_kind::carry && !s.seed_is_buffer) return s.seed_number += 1, site{id};
                break;
            default: break;
        }
    }
    return std::nullopt;
}

/// Sampled cells of both, fed alike, have the same values. Empty: they do; else what differs or why it cannot be seen.
std::string differ(const loop::kernel& a, const loop::kernel& b) {
    auto x = loop::interpreter::make(a, {.reduce_steps = 3}), y = loop::interpreter::make(b, {.reduce_steps = 3});
    if (!x) return "first is refused: " + x.error().line();
    if (!y) return "second is refused: " + y.error().line();
    // A mutant may have one input more: the last, seeded by its place.
    if (!x->bind(loop::seeded_inputs(a, 5)) || !y->bind(loop::seeded_inputs(b, 5))) return "inputs are refused";
    for (const loop::sampled_cell& c : loop::sample_cells(*x, 11, 6)) {
        const auto p = x->cell(c.output, c.at), q = y->cell(c.output, c.at);
        if (!p || !q) return !p ? p.error().line() : q.error().line();
        if (!(*p == *q || (std::isnan(*p) && std::isnan(*q)))) return std::to_string(*p) + " against " + std::to_string(*q);
    }
    return {};
}
}  // namespace

BOOST_AUTO_TEST_CASE(names_and_order_never_change_an_identity) {
    if (stored_files().empty()) return;
    generator r(20240607);
    long bodies = 0, swapped = 0, moved = 0;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            const digest128 id = loop::identity(*k);
            const std::string where = file.path + " " + stored.reference;
            BOOST_CHECK_MESSAGE(loop::identity(renamed(*k)) == id, where << ": renaming");
            BOOST_CHECK_MESSAGE(loop::identity(permuted(*k, r)) == id, where << ": buffer order");
            BOOST_CHECK_MESSAGE(loop::identity(operands_swapped(*k, r, swapped)) == id, where << ": operands");
            for (int i = 0; i < 2; ++i) {
                loop::kernel other = i == 0 ? *k : renamed(permuted(operands_swapped(*k, r, swapped), r));
                other.body.top = reordered(other.body, other.body.top, r, moved);
                BOOST_CHECK_MESSAGE(loop::identity(other) == id, where << ": statements" << (i == 0 ? "" : ", names, operands and buffers"));
            }
            ++bodies;
        }
    std::cout << bodies << " bodies: renamed, buffers permuted, " << swapped << " operand pairs swapped, " << moved << " statements moved: every digest stayed\n";
    BOOST_CHECK_EQUAL(bodies, 1324);
}

BOOST_AUTO_TEST_CASE(every_mutant_has_another_identity) {
    if (stored_files().empty()) return;
    constexpr std::size_t kinds = static_cast<std::size_t>(mutation::count_);
    constexpr long per_body = 24;
    generator r(19991231);
    long mutants[kinds] = {}, same[kinds] = {}, bodies = 0, fewest = 1000;
    std::map<std::string, long> rules;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            const digest128 id = loop::identity(*k);
            long made = 0;
            for (long round = 0; made < per_body && round < 4 * per_body; ++round) {
                const std::size_t how = static_cast<std::size_t>(round) % kinds;
                loop::kernel m = *k;
                const auto at = mutate(m, static_cast<mutation>(how), r);
                if (!at) continue;
                ++made, ++mutants[how];
                if (loop::identity(m) != id) continue;
                ++same[how];
                // Under which rule: a statement whose dtype may be anything computes nothing that is stored.
                loop::kernel other_type = m;
                other_type.body.stmts[at->id].type = other_type.body.stmts[at->id].type == dtype::f16 ? dtype::bf16 : dtype::f16;
                loop::normal::graph g;
                BOOST_REQUIRE(loop::normal::from_body(g, m.body, m.inputs, m.outputs));
                const char* rule = at->last_branch                                                           ? "the last branch of a Select stands whatever its predicate"
                                   : how == static_cast<std::size_t>(mutation::predicate)                    ? "a predicate decided by the ranges of its axes"
                                   : g.fired[static_cast<std::size_t>(loop::normal::rule::unit_factor)] > 0  ? "unit factor"
                                   : loop::identity(other_type) == id                                        ? "a value that no store needs"
                                                                                                             : "exact simplification of an expression";
                ++rules[std::string(mutation_names[how]) + ": " + rule];
                const std::string why = differ(*k, m);
                BOOST_CHECK_MESSAGE(why.empty(), file.path << ' ' << stored.reference << ": a mutant (" << mutation_names[how] << ") has the same identity and " << why);
            }
            fewest = std::min(fewest, made);
            ++bodies;
        }
    long all = 0;
    for (std::size_t i = 0; i < kinds; ++i) {
        std::cout << "  " << mutation_names[i] << ": " << mutants[i] << " mutants, " << same[i] << " with the same normal form\n";
        all += mutants[i];
    }
    for (const auto& [rule, count] : rules) std::cout << "  same under: " << rule << " (" << count << ", equal in the interpreter)\n";
    std::cout << bodies << " bodies, " << all << " mutants, at least " << fewest << " a body\n";
    BOOST_CHECK_GE(fewest, 20);
}
