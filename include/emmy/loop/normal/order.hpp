#pragma once
#include <emmy/loop/normal/simplify.hpp>

/// One spelling for equal expressions: applied after simplification.
namespace emmy::loop::normal {

/// `>` and `>=` become `<` and `<=` with sides swapped; operands of + * == != && || & | ^ stand in structural order, variables by the rank
/// of their range; every sum and product over axes alone that is affine becomes `c * a + … + k`: terms by rank, constant last. A sum that
/// holds `/` or `%` keeps its tree. `thorough`: it does not; every sum is terms in structural order, factors first, constant last.
/// Remembers per expression; ranges must outlive it and stay as they are.
class canonical_order {
public:
    constexpr canonical_order(expr_pool& pool, const ranges& known, strength how = strength::as_stored) : pool_(pool), ranges_(known), thorough_(how == strength::thorough) {}

    constexpr expr_id operator()(expr_id id) {
        if (id == no_expr) return id;
        if (id < memo_.size() && memo_[id] != no_expr) return memo_[id];
        const expr_id out = ordered(id);
        if (id >= memo_.size()) memo_.resize(pool_.size(), no_expr);
        return memo_[id] = out;
    }

    /// Negative: a stands first. Operators before variables before literals; operators by spelling, variables by rank.
    constexpr int compare(expr_id a, expr_id b) const {
        if (a == b) return 0;
        const expr &x = pool_[a], &y = pool_[b];
        if (group(x.kind) != group(y.kind)) return group(x.kind) < group(y.kind) ? -1 : 1;
        switch (x.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return x.integer < y.integer ? -1 : x.integer > y.integer ? 1 : x.kind < y.kind ? -1 : 1;
            case expr_kind::real: return x.real_bits < y.real_bits ? -1 : 1;
            case expr_kind::name: {
                const std::uint32_t left = ranges_[x.name].rank, right = ranges_[y.name].rank;
                return left != right ? (left < right ? -1 : 1) : (x.name < y.name ? -1 : 1);
            }
            case expr_kind::builtin: return x.name < y.name ? -1 : 1;
            case expr_kind::binary:
                if (x.op != y.op) return facts(x.op).text < facts(y.op).text ? -1 : 1;
                if (const int first = compare(x.a, y.a); first != 0) return first;
                return compare(x.b, y.b);
            case expr_kind::ternary:
                if (const int first = compare(x.a, y.a); first != 0) return first;
                if (const int second = compare(x.b, y.b); second != 0) return second;
                return compare(x.c, y.c);
            case expr_kind::cast:
                if (x.name != y.name) return x.name < y.name ? -1 : 1;
                return compare(x.a, y.a);
            case expr_kind::call:
                if (x.name != y.name || x.arg_count != y.arg_count) return x.name != y.name ? (x.name < y.name ? -1 : 1) : (x.arg_count < y.arg_count ? -1 : 1);
                for (std::size_t i = 0; i < x.arg_count; ++i)
                    if (const int at = compare(pool_.args(x)[i], pool_.args(y)[i]); at != 0) return at;
                return 0;
        }
        return 0;
    }

private:
    struct affine_term {
        name_id variable = no_name;
        std::int64_t factor = 0;
    };
    struct sum_term {
        expr_id atom = no_expr;
        std::int64_t factor = 0;
    };
    struct affine {
        std::vector<affine_term> terms;
        std::int64_t constant = 0;
        bool valid = true;
    };

    static constexpr int group(expr_kind k) {
        switch (k) {
            case expr_kind::binary: return 0;
            case expr_kind::ternary: return 1;
            case expr_kind::call: return 2;
            case expr_kind::cast: return 3;
            case expr_kind::builtin: return 4;
            case expr_kind::name: return 5;
            case expr_kind::real: return 6;
            default: return 7;
        }
    }
    static constexpr bool is_ring(binary_op op) { return op == binary_op::add || op == binary_op::subtract || op == binary_op::multiply; }

    static constexpr void add_term(affine& to, name_id variable, std::int64_t factor) {
        for (affine_term& t : to.terms)
            if (t.variable == variable) return void(to.valid = !__builtin_add_overflow(t.factor, factor, &t.factor));
        to.terms.push_back({variable, factor});
    }
    /// Adds scale * expression to `to`; not valid where it is not affine over axes or a coefficient overflows.
    constexpr void gather(expr_id id, std::int64_t scale, affine& to) const {
        if (!to.valid) return;
        const expr& e = pool_[id];
        std::int64_t v = 0;
        if (e.kind == expr_kind::integer) {
            to.valid = !__builtin_mul_overflow(e.integer, scale, &v) && !__builtin_add_overflow(to.constant, v, &to.constant);
        } else if (e.kind == expr_kind::name && ranges_[e.name].axis) {
            add_term(to, e.name, scale);
        } else if (e.kind == expr_kind::binary && is_ring(e.op)) {
            if (e.op == binary_op::multiply) {
                affine left, right;
                gather(e.a, 1, left), gather(e.b, 1, right);
                to.valid = left.valid && right.valid && (left.terms.empty() || right.terms.empty());
                if (!to.valid) return;
                const affine& whole = left.terms.empty() ? right : left;
                const std::int64_t by = left.terms.empty() ? left.constant : right.constant;
                to.valid = !__builtin_mul_overflow(scale, by, &v);
                for (const affine_term& t : whole.terms) {
                    std::int64_t scaled = 0;
                    if (!to.valid || __builtin_mul_overflow(t.factor, v, &scaled)) return void(to.valid = false);
                    add_term(to, t.variable, scaled);
                }
                std::int64_t constant = 0;
                to.valid = to.valid && !__builtin_mul_overflow(whole.constant, v, &constant) && !__builtin_add_overflow(to.constant, constant, &to.constant);
                return;
            }
            gather(e.a, scale, to);
            to.valid = to.valid && !(e.op == binary_op::subtract && __builtin_sub_overflow(std::int64_t{0}, scale, &scale));
            gather(e.b, scale, to);
        } else {
            to.valid = false;
        }
    }

    constexpr expr_id ordered(expr_id id) {
        const expr e = pool_[id];
        switch (e.kind) {
            case expr_kind::binary: break;
            case expr_kind::ternary: {
                const expr_id condition = (*this)(e.a), a = (*this)(e.b), b = (*this)(e.c);
                return pool_.ternary(condition, a, b);
            }
            case expr_kind::cast: {
                const expr_id a = (*this)(e.a);
                return pool_.cast(e.name, a);
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (std::size_t i = 0; i < e.arg_count; ++i) args.push_back((*this)(pool_.args(e)[i]));
                return pool_.call(e.name, args);
            }
            default: return id;
        }
        if (is_ring(e.op) && thorough_) {
            std::vector<sum_term> terms;
            std::int64_t constant = 0;
            if (terms_of(id, 1, terms, constant)) return spelled(terms, constant);
        } else if (is_ring(e.op)) {
            affine sum;
            gather(id, 1, sum);
            if (sum.valid) return spelled(sum);
        }
        expr_id a = (*this)(e.a), b = (*this)(e.b);
        binary_op op = e.op;
        if (op == binary_op::greater || op == binary_op::greater_equal) {
            op = op == binary_op::greater ? binary_op::less : binary_op::less_equal;
            return pool_.binary(op, b, a);
        }
        if (facts(op).commutative && compare(b, a) < 0) return pool_.binary(op, b, a);
        return pool_.binary(op, a, b);
    }
    /// Adds scale * expression; false where a factor overflows.
    constexpr bool terms_of(expr_id id, std::int64_t scale, std::vector<sum_term>& terms, std::int64_t& constant) {
        const expr e = pool_[id];
        std::int64_t n = 0;
        if (e.kind == expr_kind::integer) return !__builtin_mul_overflow(e.integer, scale, &n) && !__builtin_add_overflow(constant, n, &constant);
        expr_id atom = id;
        if (e.kind == expr_kind::binary && is_ring(e.op)) {
            if (e.op == binary_op::add) return terms_of(e.a, scale, terms, constant) && terms_of(e.b, scale, terms, constant);
            if (e.op == binary_op::subtract) return terms_of(e.a, scale, terms, constant) && !__builtin_sub_overflow(std::int64_t{0}, scale, &n) && terms_of(e.b, n, terms, constant);
            const expr_id a = (*this)(e.a), b = (*this)(e.b);
            if (pool_[a].kind == expr_kind::integer) return !__builtin_mul_overflow(scale, pool_[a].integer, &n) && terms_of(b, n, terms, constant);
            if (pool_[b].kind == expr_kind::integer) return !__builtin_mul_overflow(scale, pool_[b].integer, &n) && terms_of(a, n, terms, constant);
            atom = compare(b, a) < 0 ? pool_.binary(e.op, b, a) : pool_.binary(e.op, a, b);
        } else {
            atom = (*this)(id);
        }
        for (sum_term& t : terms)
            if (t.atom == atom) return !__builtin_add_overflow(t.factor, scale, &t.factor);
        terms.push_back({atom, scale});
        return true;
    }
    constexpr expr_id spelled(std::vector<sum_term>& terms, std::int64_t constant) {
        for (std::size_t i = 1; i < terms.size(); ++i)
            for (std::size_t j = i; j > 0 && compare(terms[j].atom, terms[j - 1].atom) < 0; --j) std::swap(terms[j], terms[j - 1]);
        expr_id out = no_expr;
        for (const sum_term& t : terms) {
            if (t.factor == 0) continue;
            const expr_id scaled = t.factor == 1 ? t.atom : pool_.binary(binary_op::multiply, pool_.integer(t.factor), t.atom);
            out = out == no_expr ? scaled : pool_.binary(binary_op::add, out, scaled);
        }
        if (out == no_expr) return pool_.integer(constant);
        return constant == 0 ? out : pool_.binary(binary_op::add, out, pool_.integer(constant));
    }
    constexpr expr_id spelled(affine& sum) {
        for (std::size_t i = 1; i < sum.terms.size(); ++i)
            for (std::size_t j = i; j > 0 && before(sum.terms[j].variable, sum.terms[j - 1].variable); --j) {
                const affine_term t = sum.terms[j];
                sum.terms[j] = sum.terms[j - 1], sum.terms[j - 1] = t;
            }
        expr_id out = no_expr;
        for (const affine_term& t : sum.terms) {
            if (t.factor == 0) continue;
            const expr_id axis = pool_.name(t.variable);
            const expr_id scaled = t.factor == 1 ? axis : pool_.binary(binary_op::multiply, pool_.integer(t.factor), axis);
            out = out == no_expr ? scaled : pool_.binary(binary_op::add, out, scaled);
        }
        if (out == no_expr) return pool_.integer(sum.constant);
        return sum.constant == 0 ? out : pool_.binary(binary_op::add, out, pool_.integer(sum.constant));
    }
    constexpr bool before(name_id a, name_id b) const {
        const std::uint32_t left = ranges_[a].rank, right = ranges_[b].rank;
        return left != right ? left < right : a < b;
    }

    expr_pool& pool_;
    const ranges& ranges_;
    bool thorough_ = false;
    std::vector<expr_id> memo_;
};

/// Both, thoroughly and twice: what one of them brings together the other may see through.
class normalizer {
public:
    constexpr normalizer(expr_pool& pool, const ranges& known) : simplify_(pool, known, strength::thorough), order_(pool, known, strength::thorough) {}
    constexpr expr_id operator()(expr_id id) {
        const expr_id simple = simplify_.simplify(id), ordered = order_(simple);
        return ordered == simple ? ordered : order_(simplify_.simplify(ordered));
    }
    constexpr const simplifier& look() const { return simplify_; }

private:
    simplifier simplify_;
    canonical_order order_;
};

}  // namespace emmy::loop::normal
