#pragma once
// Kernels compared without order and without names of values and axes: what must be equal when two programs form the same kernel.
#include <emmy/loop/body.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace emmy::test {

/// One statement of a scope tree: equal hashes, equal statements with all they are made of.
struct scope_node {
    std::uint64_t hash = 0;
    loop::stmt_id statement = 0;
    std::vector<scope_node> members;  ///< of a loop
};

/// Hash of the scope tree: a leaf is its operator, dtype and the hashes of its operands, with axes spelled by the depth of their loop; a scope is its
/// extent and the sorted hashes of its members. Buffers count by name, dtypes as written. Declared inputs do not count.
/// `unread`: values that nothing reads count too (bodies of the peer keep the reads of branches that it has dropped).
class scope_tree {
public:
    explicit scope_tree(const loop::kernel& k, bool unread = false) : b_(k.body), unread_(unread) {
        const auto written = [&](name_id name) {
            for (const loop::stmt& s : k.body.stmts)
                if (s.kind == loop::stmt_kind::write && s.buffer == name) return true;
            return false;
        };
        for (const loop::buffer& o : k.outputs)  // the port of a carried state is declared or not, nothing writes it
            if (written(o.name)) outputs_.push_back(text(o.name));
        if (!unread_) find_read(b_.top);
        top_ = scope(b_.top, 0);
    }
    std::uint64_t hash() const {
        std::uint64_t h = 17;
        for (const std::uint64_t o : outputs_) h = mix(h, o);
        return mix(h, together(top_));
    }
    const std::vector<scope_node>& top() const { return top_; }

private:
    static std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        h *= 0xc4ceb9fe1a85ec53u;
        return h ^ h >> 29;
    }
    std::uint64_t text(name_id n) const {
        std::uint64_t h = 0xcbf29ce484222325u;
        for (const char c : b_.text(n)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        return h;
    }
    std::uint64_t name(name_id n) const {
        const auto known = names_.find(n);
        return known == names_.end() ? mix(3, text(n)) : known->second;
    }
    void flatten(expr_id id, binary_op op, std::vector<std::uint64_t>& terms) const {
        const expr& e = b_.exprs[id];
        if (e.kind == expr_kind::binary && e.op == op) {
            flatten(e.a, op, terms), flatten(e.b, op, terms);
            return;
        }
        terms.push_back(expression(id));
    }
    std::uint64_t expression(expr_id id) const {
        const expr& e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return mix(5, static_cast<std::uint64_t>(e.integer));
            case expr_kind::real: return mix(6, e.real_bits);
            case expr_kind::name: return name(e.name);
            case expr_kind::cast: return mix(mix(7, text(e.name)), expression(e.a));
            case expr_kind::ternary: return mix(mix(mix(8, expression(e.a)), expression(e.b)), expression(e.c));
            case expr_kind::binary: {
                if (e.op == binary_op::greater || e.op == binary_op::greater_equal)
                    return mix(mix(mix(9, static_cast<std::uint64_t>(e.op == binary_op::greater ? binary_op::less : binary_op::less_equal)), expression(e.b)), expression(e.a));
                std::uint64_t h = mix(9, static_cast<std::uint64_t>(e.op));
                if (!facts(e.op).commutative) return mix(mix(h, expression(e.a)), expression(e.b));
                std::vector<std::uint64_t> terms;
                flatten(id, e.op, terms);
                std::sort(terms.begin(), terms.end());
                for (const std::uint64_t t : terms) h = mix(h, t);
                return h;
            }
            default: return mix(10, text(e.name));
        }
    }
    std::uint64_t index(std::uint64_t h, loop::run r) const {
        for (const expr_id e : b_.expressions(r)) h = mix(h, expression(e));
        return h;
    }
    std::uint64_t extent(const dim& d) const {
        if (d.kind == dim::form::number) return mix(1, static_cast<std::uint64_t>(d.number));
        return d.kind == dim::form::symbol ? mix(2, text(d.symbol)) : expression(d.value);
    }
    static std::uint64_t together(const std::vector<scope_node>& members) {
        std::vector<std::uint64_t> all;
        for (const scope_node& m : members) all.push_back(m.hash);
        std::sort(all.begin(), all.end());
        std::uint64_t h = 11;
        for (const std::uint64_t m : all) h = mix(h, m);
        return h;
    }
    void note(expr_id id) {
        const expr& e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: read_[e.name] = true; break;
            case expr_kind::binary: note(e.a), note(e.b); break;
            case expr_kind::ternary: note(e.a), note(e.b), note(e.c); break;
            case expr_kind::cast: note(e.a); break;
            default: break;
        }
    }
    /// Names that some effect needs, users after definitions: backwards.
    bool find_read(loop::run r) {
        const auto list = b_.statements(r);
        bool any = false;
        for (std::size_t i = list.size(); i-- > 0;) {
            const loop::stmt& s = b_.stmts[list[i]];
            bool needed = s.kind == loop::stmt_kind::write || s.kind == loop::stmt_kind::carry || read_[s.name];
            if (s.kind == loop::stmt_kind::loop) {
                needed = find_read(s.body);
                // a sum may be read before its update
                if (needed) find_read(s.body);
            } else if (needed) {
                for (const name_id a : b_.name_list(s.args)) read_[a] = true;
                for (const expr_id e : b_.expressions(s.index)) note(e);
            }
            if (needed) needed_[list[i]] = true;
            any = any || needed;
        }
        return any;
    }
    std::vector<scope_node> scope(loop::run r, std::uint32_t depth) {
        std::vector<scope_node> all;
        for (const loop::stmt_id id : b_.statements(r)) {
            if (!unread_ && !needed_[id]) continue;
            scope_node n{.hash = 0, .statement = id, .members = {}};
            n.hash = statement(b_.stmts[id], depth, n.members);
            all.push_back(std::move(n));
        }
        return all;
    }
    std::uint64_t statement(const loop::stmt& s, std::uint32_t depth, std::vector<scope_node>& inside) {
        const std::uint64_t kind = mix(12 + static_cast<std::uint64_t>(s.kind), static_cast<std::uint64_t>(s.type));
        const auto args = b_.name_list(s.args);
        switch (s.kind) {
            case loop::stmt_kind::loop: {
                const auto outer = names_.find(s.axis.name);
                const std::uint64_t before = outer == names_.end() ? 0 : outer->second;
                names_[s.axis.name] = mix(4, depth);
                inside = scope(s.body, depth + 1);
                const std::uint64_t inner = together(inside);
                if (before != 0) names_[s.axis.name] = before;
                return mix(mix(kind, extent(s.axis.extent)), inner);
            }
            case loop::stmt_kind::load: return names_[s.name] = index(mix(kind, text(s.buffer)), s.index);
            case loop::stmt_kind::assign: {
                std::vector<std::uint64_t> operands;
                for (const name_id a : args) operands.push_back(name(a));
                if (loop::facts(s.op).commutative) std::sort(operands.begin(), operands.end());
                std::uint64_t h = mix(kind, static_cast<std::uint64_t>(s.op));
                for (const std::uint64_t o : operands) h = mix(h, o);
                return names_[s.name] = h;
            }
            case loop::stmt_kind::accum: return names_[s.name] = mix(mix(mix(kind, static_cast<std::uint64_t>(s.op)), name(args[0])), depth);
            case loop::stmt_kind::select: {
                std::uint64_t h = kind;
                for (std::size_t i = 0; i < args.size(); ++i) h = mix(mix(h, name(args[i])), expression(b_.expressions(s.index)[i]));
                return names_[s.name] = h;
            }
            case loop::stmt_kind::write: return mix(index(mix(kind, text(s.buffer)), s.index), name(args[0]));
            case loop::stmt_kind::let: return names_[s.name] = mix(kind, expression(s.value));
            case loop::stmt_kind::pre: return names_[s.name] = index(kind, s.index);
            case loop::stmt_kind::carry: return mix(mix(index(kind, s.index), name(args[0])), s.seed_is_buffer ? text(s.buffer) : std::bit_cast<std::uint64_t>(s.seed_number));
            default: return kind;
        }
    }

    const loop::body& b_;
    bool unread_;
    std::map<name_id, bool> read_;
    std::map<loop::stmt_id, bool> needed_;
    std::vector<scope_node> top_;
    std::vector<std::uint64_t> outputs_;
    std::map<name_id, std::uint64_t> names_;
};

inline std::uint64_t scope_tree_hash(const loop::kernel& k, bool unread = false) { return scope_tree(k, unread).hash(); }

}  // namespace emmy::test
