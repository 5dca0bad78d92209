#pragma once
#include <emmy/fold/access.hpp>
#include <emmy/fold/order.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/loop/op_table.hpp>
#include <emmy/loop/validate.hpp>

#include <algorithm>

namespace emmy::fork {

struct cpu_schedules::state : cpu_part {
    cpu_target target;
    cpu_stages steps;
    std::vector<cpu_row> part_rows;      ///< staged: the default row of every part
    std::vector<std::string> fold_keys;  ///< keys of REDUCE
    std::vector<cpu_row> rows;
};

namespace detail {

/// Tables of a staged kernel beyond this (symbols by their hints) are not made: the kernel stays whole.
inline constexpr double most_table_bytes = 4e9;

inline std::int64_t extent(const fold::tree& t, std::uint32_t axis) {  // symbolic: its hint
    const dim& d = t.axes[axis].extent;
    if (d.kind == dim::form::number) return d.number;
    return d.has_hint ? d.number : default_hint;
}
inline bool is_static(const fold::tree& t, std::uint32_t axis) { return t.axes[axis].extent.kind == dim::form::number; }

/// A statement whose value is made lane by lane where it varies along a vector: integers, doubles, gathers, codes.
inline bool lane_by_lane(const loop::kernel& k, const fold::tree& t, std::uint32_t s, std::uint32_t axis, int lanes) {
    const loop::body& b = k.body;
    const loop::stmt& st = b.stmts[s];
    const auto varies = [&](fold::value_id v) { return (t.depends[v] >> axis & 1) != 0; };
    if (reads_as_integer(t.types[s]) || t.types[s] == dtype::f64) return true;
    switch (st.kind) {
        case loop::stmt_kind::load: {
            for (const auto& g : t.gathers[s])
                if (varies(g.second)) return true;
            const loop::buffer* buffer = fold::find_buffer(k, st.buffer);
            const auto offset = fold::flatten(k, buffer->shape, b.expressions(st.index));
            const auto stride = offset ? fold::lane_stride(k, *offset, t.axes[axis].name, lanes) : std::nullopt;
            return !stride || (*stride != 0 && *stride != 1);
        }
        case loop::stmt_kind::assign:
            // What an integer is to a vector is its value as a real; operators that read its bits run on it alone.
            for (fold::value_id v : t.args[s])
                if (varies(v) && reads_as_integer(t.types[v]) && (st.op == loop::op::from_f8e4m3 || st.op == loop::op::from_f8e5m2 || st.op == loop::op::from_f4e2m1 || st.op == loop::op::bitcast || st.op == loop::op::where)) return true;
            return st.op == loop::op::bitcast;
        case loop::stmt_kind::select:
            for (expr_id e : b.expressions(st.index))
                if (fold::names(b, e, t.axes[axis].name) && !fold::lanes_evaluate(b, e)) return true;
            for (const auto& g : t.gathers[s])
                if (varies(g.second)) return true;
            return false;
        default: return st.kind != loop::stmt_kind::accum;
    }
}

/// Vectors of up to `lanes` neighbours of `axis` can stand for single values of it, in every statement that `among` selects. Strict: none
/// of them lane by lane, strides of 0 and 1 only.
template <class Among>
bool lanes_work(const loop::kernel& k, const fold::tree& t, std::uint32_t axis, int lanes, Among&& among, bool strict = true) {
    const loop::body& b = k.body;
    for (std::uint32_t s = 0; s < b.stmts.size(); ++s) {
        const loop::stmt& st = b.stmts[s];
        if ((t.depends[s] >> axis & 1) == 0 || !among(s)) continue;
        if (st.kind == loop::stmt_kind::write) {
            const loop::buffer* buffer = fold::find_buffer(k, st.buffer);
            if (buffer == nullptr || reads_as_integer(buffer->type) || buffer->type == dtype::f64) return false;
            for (const auto& g : t.gathers[s])
                if ((t.depends[g.second] >> axis & 1) != 0) return false;
            const auto offset = fold::flatten(k, buffer->shape, b.expressions(st.index));
            if (!offset || fold::lane_stride(k, *offset, t.axes[axis].name, lanes) != 1) return false;
            continue;
        }
        if (st.kind == loop::stmt_kind::accum) {
            const bool whole = reads_as_integer(t.types[s]) || t.types[s] == dtype::f64;
            if (whole || (strict && (reads_as_integer(t.types[t.args[s][0]]) || t.types[t.args[s][0]] == dtype::f64))) return false;
            continue;
        }
        if (strict && lane_by_lane(k, t, s, axis, lanes)) return false;
        if (strict)
            for (fold::value_id v : t.args[s])
                if (reads_as_integer(t.types[v]) || t.types[v] == dtype::f64) return false;
    }
    return true;
}

/// Statements of a term and of the terms inside it.
inline void collect(const fold::tree& t, fold::term_id id, std::vector<char>& in) {
    for (const fold::step& s : t.terms[id].steps) {
        if (s.is_term) collect(t, s.id, in);
        else in[s.id] = 1;
    }
}

inline bool find_contraction(const loop::kernel& k, const fold::tree& t, int lanes, cpu_facts& out) {
    const fold::term& root = t.terms[t.root];
    fold::term_id product = fold::none;
    for (const fold::step& s : root.steps)
        if (s.is_term) {
            if (product != fold::none) return false;
            product = s.id;
        }
    if (product == fold::none || t.grid.empty()) return false;
    const fold::term& p = t.terms[product];
    if (p.kind != fold::term_kind::inner || p.states.size() != 1) return false;
    for (const fold::step& s : p.steps)
        if (s.is_term) return false;
    const fold::value_id value = t.args[p.states[0]][0];
    if (t.types[value] != dtype::f32 || t.types[p.states[0]] != dtype::f32) return false;
    fold::value_id a = t.args[value][0], b = t.args[value][1];
    for (fold::value_id v : {a, b})
        if (reads_as_integer(t.types[v]) || t.types[v] == dtype::f64) return false;
    const std::uint32_t n = t.grid.back();
    const auto varies = [&](fold::value_id v, std::uint32_t axis) { return (t.depends[v] >> axis & 1) != 0; };
    if (varies(a, n)) std::swap(a, b);
    if (varies(a, n) || !varies(b, n)) return false;
    std::uint32_t m = fold::none;
    for (std::uint32_t g : t.grid)
        if (g != n && varies(a, g) && !varies(b, g)) m = g;
    if (m == fold::none) return false;
    std::vector<char> in_product(k.body.stmts.size(), 0), all(k.body.stmts.size(), 1);
    collect(t, product, in_product);
    // The epilogue along n in vectors; the factors may be anything that can be computed element by element.
    if (!lanes_work(k, t, n, lanes, [&](std::uint32_t s) { return !in_product[s]; }, false)) return false;
    out.form = cpu_form::contraction;
    out.vectors = true;
    out.product = product, out.a = a, out.b = b;
    out.lane_axis = n, out.m_axis = m, out.k_axis = p.axes[0];
    out.b_adjacent = lanes_work(k, t, n, lanes, [&](std::uint32_t s) { return in_product[s] != 0; });
    // Along the reduced axis, for packing what is adjacent there.
    const auto cone = [&](fold::value_id top) {
        std::vector<char> in(k.body.stmts.size(), 0);
        std::vector<fold::value_id> open{top};
        while (!open.empty()) {
            const fold::value_id v = open.back();
            open.pop_back();
            if (in[v]++ != 0) continue;
            for (fold::value_id x : t.args[v]) open.push_back(x);
            for (const auto& g : t.gathers[v]) open.push_back(g.second);
        }
        return in;
    };
    const auto along_k = [&](fold::value_id v) {
        const std::vector<char> in = cone(v);
        return lanes_work(k, t, p.axes[0], lanes, [&](std::uint32_t s) { return in[s] != 0 && s != p.states[0] && s != value; });
    };
    out.a_along_k = along_k(a), out.b_along_k = along_k(b);
    return true;
}

inline bool find_rows(const loop::kernel& k, const fold::tree& t, int lanes, cpu_facts& out, bool strict) {
    const fold::term& root = t.terms[t.root];
    for (const fold::step& s : root.steps) {
        if (!s.is_term) continue;
        const fold::term& child = t.terms[s.id];
        for (const fold::step& inner : child.steps)
            if (inner.is_term) return false;
        // A state does not vary along its own axis, but the vector that gathers it has its type.
        for (const fold::value_id state : child.states)
            if (reads_as_integer(t.types[state]) || t.types[state] == dtype::f64) return false;
        if (!lanes_work(k, t, child.axes.back(), lanes, [](std::uint32_t) { return true; }, strict)) return false;
    }
    out.form = cpu_form::rows;
    out.vectors = true;
    for (const fold::step& s : root.steps) out.sweeps = out.sweeps || (s.is_term && !t.terms[s.id].is_fold() && t.terms[s.id].axes.size() == 1 && !t.grid.empty());
    // A twist's exponentials, computed again by a sweep over as many elements.
    for (const fold::step& s : root.steps) {
        if (!s.is_term || t.terms[s.id].kind != fold::term_kind::twist) continue;
        const fold::term& twist = t.terms[s.id];
        const fold::value_id kept = t.args[twist.states[1]][0];
        if (!is_static(t, twist.axes[0])) continue;
        for (const fold::step& later : root.steps) {
            if (!later.is_term || t.terms[later.id].is_fold() || t.terms[later.id].axes.size() != 1) continue;
            const std::uint32_t axis = t.terms[later.id].axes[0];
            if (!is_static(t, axis) || extent(t, axis) != extent(t, twist.axes[0])) continue;
            for (const fold::step& x : t.terms[later.id].steps)
                if (!x.is_term && fold::equal_under(k, t, kept, x.id, t.axes[twist.axes[0]].name, t.axes[axis].name)) out.kept = kept, out.kept_again = x.id;
        }
    }
    return true;
}

inline result<cpu_facts> analyse(const loop::kernel& k, const fold::tree& t, const cpu_target& target) {
    cpu_facts out;
    for (const fold::term& term : t.terms) {
        out.has_fold = out.has_fold || term.is_fold();
        for (const fold::step& s : term.steps) out.nested = out.nested || (term.is_fold() && s.is_term);
    }
    const fold::term& root = t.terms[t.root];
    const bool flat = std::none_of(root.steps.begin(), root.steps.end(), [](const fold::step& s) { return s.is_term; });
    const bool only_folds = std::all_of(root.steps.begin(), root.steps.end(), [&](const fold::step& s) { return !s.is_term || t.terms[s.id].is_fold(); });
    const auto every = [](std::uint32_t) { return true; };
    if (flat) {
        out.form = cpu_form::map;
        if (!t.grid.empty()) {
            out.lane_axis = t.grid.back();
            out.vectors = lanes_work(k, t, out.lane_axis, target.lanes(), every);
        }
        return out;
    }
    if (find_contraction(k, t, target.lanes(), out) || find_rows(k, t, target.lanes(), out, true)) return out;
    const bool columns = !t.grid.empty() && only_folds && lanes_work(k, t, t.grid.back(), target.lanes(), every);
    if (!columns && find_rows(k, t, target.lanes(), out, false)) return out;
    if (columns || (!t.grid.empty() && only_folds && lanes_work(k, t, t.grid.back(), target.lanes(), every, false))) {
        out.form = cpu_form::columns;
        out.lane_axis = t.grid.back();
        out.vectors = true;
        return out;
    }
    out.form = cpu_form::cells;
    return out;
}

inline result<void> check_shapes(const loop::kernel& k) {
    for (std::uint32_t s = 0; s < k.body.stmts.size(); ++s) {
        const loop::stmt& st = k.body.stmts[s];
        if (st.kind != loop::stmt_kind::load && st.kind != loop::stmt_kind::write) continue;
        const loop::buffer* buffer = fold::find_buffer(k, st.buffer);
        if (buffer == nullptr || !fold::flatten(k, buffer->shape, k.body.expressions(st.index))) return refuse(fault_kind::device_limit, "no CPU lowering for a buffer whose shape is an expression");
    }
    return {};
}

inline fault illegal(std::string_view knob, const std::string& found, const std::string& expected) {
    return fault(fault_kind::user, "found " + found + ", expected " + expected, std::string(knob));
}
template <class F>
std::string spelled(const typename F::value_type& v) {
    std::string out(1, '\'');
    out.append(F::spell(v).view());
    out.push_back('\'');
    return out;
}

inline bool in(int x, std::initializer_list<int> list) { return std::find(list.begin(), list.end(), x) != list.end(); }

/// Bytes of one member's panels under a contraction row.
inline std::uint64_t panel_bytes(const cpu_part& s, const cpu_target& target, const cpu_row& r) {
    const std::uint64_t columns = std::uint64_t{r.work.n} * r.tile.fn * static_cast<std::uint64_t>(target.lanes()), rows = std::uint64_t{r.work.m} * r.tile.fm;
    std::uint64_t kc = 128u * r.stage.depth, bytes = columns * kc;
    if (r.stage.by != knob::transport::smem) bytes += rows * kc;
    const bool one_chunk = is_static(s.tree, s.facts.k_axis) && extent(s.tree, s.facts.k_axis) <= static_cast<std::int64_t>(kc);
    return (bytes + (one_chunk ? 0 : rows * columns)) * 4;
}

/// The rules, each once: enumeration and refusal both ask here.
inline result<void> legal(const cpu_part& s, const cpu_target& target, const cpu_row& r) {
    using knob::coop_mode, knob::raster_axis, knob::tile_form, knob::transport, knob::work_form;
    const cpu_facts& f = s.facts;
    const fold::tree& t = s.tree;
    const auto work = [&](const std::string& expected) { return refuse(illegal("WORK", spelled<knob::WORK>(r.work), expected)); };
    const auto tile = [&](const std::string& expected) { return refuse(illegal("TILE", spelled<knob::TILE>(r.tile), expected)); };
    const auto reduce = [&](const std::string& expected) { return refuse(illegal("REDUCE", spelled<knob::REDUCE>(r.reduce), expected)); };
    const auto stage = [&](const std::string& expected) { return refuse(illegal("STAGE", spelled<knob::STAGE>(r.stage), expected)); };
    const bool threads = r.work.form == work_form::threads;
    if (r.work.form == work_form::warps) return work("t<n>x<m> or no text: a CPU has no warps");
    if (r.tile.is_warp()) return tile("f<fn>x<fm> or no text: a CPU has no tensor-core atoms");
    if (r.reduce.crosses_ctas()) return reduce("no g: a split is a choice of kernels");
    if (const char* wrong = knob::TILE::misfit(r.tile, r.work)) return tile(wrong);
    if (const char* wrong = knob::REDUCE::misfit(r.reduce, r.work)) return reduce(wrong);
    if (r.stage.pipeline != 1) return stage("no p: a CPU has no shared-to-register copies");
    if (r.stage.by == transport::registers) return stage("a smem transport or no text");
    if (f.form != cpu_form::contraction && r.raster.along != raster_axis::none) return refuse(illegal("RASTER", spelled<knob::RASTER>(r.raster), "no text: only a contraction has blocks to order"));
    const bool tiled = r.tile.form == tile_form::scalar, coop = r.reduce.coop != coop_mode::none;
    if (!f.has_fold && !(r.reduce == knob::reduce{})) return reduce("no text: the kernel reduces nothing");
    const std::int64_t inner = f.lane_axis != fold::none ? extent(t, f.lane_axis) : 1;
    const bool inner_static = f.lane_axis != fold::none && is_static(t, f.lane_axis);

    switch (f.form) {
        case cpu_form::map:
            if (r.stage.by != transport::direct) return stage("no text: a kernel without contraction keeps no panels");
            if (tiled && !f.vectors) return tile("no text: the inner axis is not adjacent in memory");
            if (r.tile.fm != 1 || !in(r.tile.fn, {1, 2, 3, 4, 8})) return tile("f1, f2, f3, f4, f8 or no text");
            if (threads && (r.work.m != 1 || !in(r.work.n, {8, 64, 512}))) return work("t8, t64, t512 or no text");
            if (threads && inner_static && r.work.n > 8 && std::int64_t{r.work.n} / 8 * (tiled ? r.tile.fn * target.lanes() : 1) >= inner) return work("a smaller t: one item would hold the whole inner axis");
            return {};
        case cpu_form::rows:
            if (tiled) return tile("no text: the kernel has no output tile");
            if (r.reduce.coop == coop_mode::transposed || r.reduce.vector != 1) return reduce("coop, coop/r<n>, r<n> or no text");
            if (!in(r.reduce.accumulators, {1, 2, 4, 8})) return reduce("r2, r4 or r8");
            if (!coop) {
                if (threads) return work("no text: without coop there are no lanes");
            } else {
                if (!in(r.work.n, {4, 8, 16}) || r.work.n > target.lanes()) return work("t4, t8 or t16 lanes, at most " + std::to_string(target.lanes()));
                if (!in(r.work.m, {1, 4, 16, 64})) return work("items of 1, 4, 16 or 64 rows");
            }
            if (r.stage.by != transport::direct) {
                if (!coop) return stage("no text without coop");
                if (r.stage.by == transport::smem && f.kept == fold::none) return stage("smem-async or no text: no sweep repeats what a fold computed");
                if (r.stage.by == transport::async && !f.sweeps) return stage("no text: no sweep of the row follows its folds");
                if (!(r.stage.by == transport::smem && r.stage.depth <= 2) && !(r.stage.by == transport::async && r.stage.depth == 2)) return stage("d1/smem, d2/smem, d2/smem-async or no text");
            }
            return {};
        case cpu_form::columns:
            if (tiled) return tile("no text: the kernel has no output tile");
            if (r.stage.by != transport::direct) return stage("no text: a kernel without contraction keeps no panels");
            if (r.reduce.coop == coop_mode::interleaved) return reduce("coop-t: the reduced axis is not adjacent in memory");
            if (coop) {
                if (r.reduce.lanes != 32 || r.reduce.accumulators != 1 || !in(r.reduce.vector, {1, 2, 4, 8})) return reduce("coop-t, coop-t/v2, /v4 or /v8");
                if (!in(r.work.n, {32, 64, 128}) || !in(r.work.m, {1, 4})) return work("t32, t64 or t128, alone or x4");
            } else {
                if (threads) return work("no text: without coop-t there are no lanes");
                if (!in(r.reduce.accumulators, {1, 2, 4, 8})) return reduce("r2, r4 or r8");
            }
            return {};
        case cpu_form::cells:
            if (tiled) return tile("no text: the kernel has no output tile");
            if (coop) return reduce("r<n> or no text: cells run one at a time");
            if (r.stage.by != transport::direct) return stage("no text: cells run one at a time");
            if (threads && (r.work.m != 1 || !in(r.work.n, {8, 64}))) return work("t8, t64 or no text");
            if (!in(r.reduce.accumulators, {1, 2, 4})) return reduce("r2, r4 or no text");
            return {};
        case cpu_form::ordered:
            if (tiled) return tile("no text: statements run one after another");
            if (coop || r.reduce.accumulators != 1) return reduce("no text: statements run one after another");
            if (r.stage.by != transport::direct) return stage("no text: statements run one after another");
            if (threads && !f.deals) return work("no text: nothing can run side by side");
            if (threads && (r.work.m != 1 || !in(r.work.n, {8, 64}))) return work("t8, t64 or no text");
            return {};
        case cpu_form::contraction:
        case cpu_form::staged: break;
    }
    // Contraction.
    if (coop) return reduce("r<n> or no text: a contraction folds in its register tile");
    if (!tiled) {
        if (threads) return work("no text: one cell at a time has no macro tile");
        if (r.stage.by != transport::direct) return stage("no text: one cell at a time packs nothing");
        if (r.raster.along != raster_axis::none) return refuse(illegal("RASTER", spelled<knob::RASTER>(r.raster), "no text without a tile"));
        if (!in(r.reduce.accumulators, {1, 2, 4})) return reduce("r2, r4 or no text");
        return {};
    }
    if (!(r.reduce == knob::reduce{})) return reduce("no text beside a tile");
    if (!in(r.tile.fn, {1, 2, 3, 4}) || !in(r.tile.fm, {1, 2, 4, 6, 8, 10, 12, 14})) return tile("fn of 1 to 4, fm of 1, 2, 4, 6, 8, 10, 12, 14");
    if (r.tile.fn * r.tile.fm + r.tile.fn + 1 > target.vector_registers) return tile("fn * fm + fn + 1 <= " + std::to_string(target.vector_registers) + " vector registers");
    const std::int64_t columns = std::int64_t{r.tile.fn} * target.lanes(), M = extent(t, f.m_axis), K = extent(t, f.k_axis);
    const bool m_static = is_static(t, f.m_axis), k_static = is_static(t, f.k_axis);
    if (m_static && r.tile.fm > 1 && r.tile.fm >= 2 * M) return tile("fewer rows than twice the outer extent " + std::to_string(M));
    if (inner_static && r.tile.fn > 1 && columns >= 2 * inner) return tile("fewer columns than twice the inner extent " + std::to_string(inner));
    if (threads) {
        if (!in(r.work.n, {4, 8, 16, 32}) || !in(r.work.m, {4, 8, 11, 16, 22, 32, 43, 64, 86})) return work("t<n>x<m> with n of 4, 8, 16, 32 and m of 4, 8, 11, 16, 22, 32, 43, 64, 86 register tiles");
        if (inner_static && r.work.n > 4 && r.work.n / 2 * columns >= inner) return work("a smaller n: half of it covers the inner extent " + std::to_string(inner));
        if (m_static && r.work.m > 4 && r.work.m * std::int64_t{r.tile.fm} * 3 >= 4 * M + 12 * r.tile.fm) return work("a smaller m: the outer extent is " + std::to_string(M));
    }
    if (r.stage.by == transport::direct) {
        if (!inner_static || inner % columns != 0) return stage("packed panels: the inner extent is no multiple of " + std::to_string(columns));
        if (!f.b_adjacent) return stage("packed panels: the inner operand is not adjacent along the inner axis");
    } else {
        if (!threads) return work("t<n>x<m>: packed panels serve a macro tile");
        if (r.stage.by == transport::tma) return stage("smem or smem-async: shared panels are not offered");
        if (!in(r.stage.depth, {1, 2, 3, 4, 8})) return stage("d1, d2, d3, d4 or d8");
        const int before = r.stage.depth == 8 ? 4 : r.stage.depth - 1;
        if (k_static && r.stage.depth > 1 && std::int64_t{before} * 128 >= K) return stage("a smaller depth: the reduced extent is " + std::to_string(K));
        if (panel_bytes(s, target, r) > 4 * target.l2_bytes) return work("panels of at most " + std::to_string(4 * target.l2_bytes) + " bytes (four times the second cache)");
    }
    if (r.raster.along != raster_axis::none) {
        if (r.raster.along != raster_axis::m || r.raster.group != 8) return refuse(illegal("RASTER", spelled<knob::RASTER>(r.raster), "gm8 or no text"));
        const std::int64_t tn = columns * (threads ? r.work.n : 1), tm = std::int64_t{r.tile.fm} * (threads ? r.work.m : 1);
        if ((inner_static && tn >= inner) || (m_static && tm >= M)) return refuse(illegal("RASTER", "'gm8'", "no text: one block along an axis leaves nothing to order"));
    }
    return {};
}

inline cpu_row default_row(const cpu_part& s, const cpu_target& target) {
    using knob::coop_mode, knob::tile_form, knob::transport, knob::work_form;
    const auto t = [](int n, int m = 1) { return knob::work{work_form::threads, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(n)}; };
    cpu_row r;
    const cpu_facts& f = s.facts;
    const int lanes = target.lanes();
    switch (f.form) {
        case cpu_form::map:
            if (f.vectors) r.tile.form = tile_form::scalar, r.tile.fn = 4;
            break;
        case cpu_form::rows:
            if (!f.has_fold) break;  // sweeps side by side: nothing to share lanes for
            r.work = t(lanes);
            r.reduce.coop = coop_mode::interleaved, r.reduce.accumulators = f.kept != fold::none ? 8 : 4;
            if (f.sweeps && f.kept != fold::none) r.stage = {transport::smem, 2, 1};
            break;
        case cpu_form::columns:
            r.work = t(32);
            r.reduce.coop = coop_mode::transposed, r.reduce.vector = 4;
            break;
        case cpu_form::cells:
        case cpu_form::ordered:
        case cpu_form::staged: break;
        case cpu_form::contraction: {
            const std::int64_t M = extent(s.tree, f.m_axis), N = extent(s.tree, f.lane_axis), K = extent(s.tree, f.k_axis);
            r.tile.form = tile_form::scalar;
            r.tile.fn = 2, r.tile.fm = static_cast<std::uint16_t>(target.vector_registers >= 32 ? 12 : 4);
            for (int fm : {8, 6, 4, 2, 1})
                if (r.tile.fm > M && fm < r.tile.fm) r.tile.fm = static_cast<std::uint16_t>(fm);
            if (lanes >= N) r.tile.fn = 1;
            if (r.tile.fn == 1 && r.tile.fm == 1) r.tile.fm = 2;
            const std::int64_t columns = std::int64_t{r.tile.fn} * lanes;
            r.stage = {transport::async, static_cast<std::uint16_t>(K <= 128 ? 1 : 2), 1};
            int n = 4, m = 4;
            while (n < 16 && n * columns < N) n *= 2;
            const std::int64_t share = std::min<std::int64_t>(512, (M + target.cores - 1) / target.cores);
            for (int x : {8, 11, 16, 22, 32, 43})
                if (std::int64_t{m} * r.tile.fm < share) m = x;
            r.work = t(n, m);
            for (int x : {32, 22, 16, 11, 8, 4})
                if (!legal(s, target, r) && x < r.work.m) r.work.m = static_cast<std::uint16_t>(x);
            if (!legal(s, target, r)) r = cpu_row{};
            break;
        }
    }
    return r;
}

inline std::vector<cpu_row> enumerate(const cpu_part& s, const cpu_target& target) {
    using knob::coop_mode, knob::raster_axis, knob::tile_form, knob::transport, knob::work_form;
    std::vector<cpu_row> out{default_row(s, target)};
    const auto offer = [&](const cpu_row& r) {
        if (!(r == out.front()) && legal(s, target, r)) out.push_back(r);
    };
    const auto t = [](int n, int m = 1) { return knob::work{work_form::threads, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(n)}; };
    const auto f = [](int fn, int fm = 1) {
        knob::tile x;
        x.form = tile_form::scalar, x.fn = static_cast<std::uint16_t>(fn), x.fm = static_cast<std::uint16_t>(fm);
        return x;
    };
    const auto coop = [](coop_mode mode, int accumulators, int vector = 1) {
        knob::reduce x;
        x.coop = mode, x.accumulators = static_cast<std::uint16_t>(accumulators), x.vector = static_cast<std::uint16_t>(vector);
        return x;
    };
    switch (s.facts.form) {
        case cpu_form::map:
            for (const knob::work& w : {knob::work{}, t(8), t(64), t(512)}) {
                offer({w, {}, {}, {}, {}});
                for (int fn : {1, 2, 3, 4, 8}) offer({w, f(fn), {}, {}, {}});
            }
            break;
        case cpu_form::rows:
            for (int r : {1, 2, 4, 8}) offer({{}, {}, coop(coop_mode::none, r), {}, {}});
            for (int w : {4, 8, 16})
                for (int q : {1, 4, 16, 64})
                    for (int r : {1, 2, 4, 8})
                        for (const knob::stage& st : {knob::stage{}, knob::stage{transport::smem, 1, 1}, knob::stage{transport::smem, 2, 1}, knob::stage{transport::async, 2, 1}}) offer({t(w, q), {}, coop(coop_mode::interleaved, r), st, {}});
            break;
        case cpu_form::columns:
            for (int r : {1, 2, 4, 8}) offer({{}, {}, coop(coop_mode::none, r), {}, {}});
            for (int w : {32, 64, 128})
                for (int q : {1, 4})
                    for (int v : {1, 2, 4, 8}) offer({t(w, q), {}, coop(coop_mode::transposed, 1, v), {}, {}});
            break;
        case cpu_form::cells:
            for (const knob::work& w : {knob::work{}, t(8), t(64)})
                for (int r : {1, 2, 4}) offer({w, {}, coop(coop_mode::none, r), {}, {}});
            break;
        case cpu_form::staged: break;
        case cpu_form::ordered:
            for (const knob::work& w : {t(8), t(64)}) offer({w, {}, {}, {}, {}});
            break;
        case cpu_form::contraction: {
            for (int r : {1, 2, 4}) offer({{}, {}, coop(coop_mode::none, r), {}, {}});
            std::vector<knob::stage> stages{{}};
            for (transport by : {transport::smem, transport::async})
                for (int d : {1, 2, 3, 4, 8}) stages.push_back({by, static_cast<std::uint16_t>(d), 1});
            std::vector<knob::work> works{{}};
            for (int n : {4, 8, 16, 32})
                for (int m : {4, 8, 11, 16, 22, 32, 43, 64, 86}) works.push_back(t(n, m));
            for (int fn : {1, 2, 3, 4})
                for (int fm : {1, 2, 4, 6, 8, 10, 12, 14}) {
                    if (fn * fm + fn + 1 > target.vector_registers) continue;
                    for (const knob::work& w : works)
                        for (const knob::stage& st : stages)
                            for (const knob::raster& ra : {knob::raster{}, knob::raster{raster_axis::m, 8}}) offer({w, f(fn, fm), {}, st, ra});
                }
        }
    }
    return out;
}

/// A part's row: its default with the fields that a row of the whole kernel states, where they are legal for it.
inline cpu_row part_row(const cpu_part& part, const cpu_target& target, const cpu_row& base, const cpu_row& row) {
    using knob::transport, knob::work_form, knob::tile_form;
    cpu_row out = base;
    const auto take = [&](auto field, const auto& off) {
        if (row.*field == off) return;
        cpu_row changed = out;
        changed.*field = row.*field;
        if (legal(part, target, changed)) out = changed;
    };
    if (part.facts.form == cpu_form::contraction && base.tile.form == tile_form::scalar) {
        take(&cpu_row::tile, knob::tile{});
        take(&cpu_row::work, knob::work{});
        take(&cpu_row::stage, knob::stage{});
        // A block that is taller than the outer extent is the smallest that covers it.
        if (is_static(part.tree, part.facts.m_axis))
            for (int m : {32, 22, 16, 11, 8, 4})
                if (m < out.work.m && std::int64_t{m} * out.tile.fm >= extent(part.tree, part.facts.m_axis)) out.work.m = static_cast<std::uint16_t>(m);
    } else if (part.facts.form == cpu_form::rows && row.reduce.accumulators > 1) {
        cpu_row changed = out;
        changed.reduce.accumulators = row.reduce.accumulators;
        if (legal(part, target, changed)) out = changed;
    }
    return out;
}

/// Rows of the staged form: fields for all parts of a kind; a row that changes no part is none.
inline std::vector<cpu_row> enumerate_staged(const cpu_schedules::state& s) {
    using knob::transport, knob::work_form, knob::tile_form;
    std::vector<cpu_row> out;
    std::vector<std::vector<cpu_row>> seen;
    for (const auto& [fn, fm] : {std::pair{0, 0}, {1, 8}, {1, 14}, {2, 4}, {2, 8}, {2, 14}, {4, 6}})
        for (const auto& [n, m] : {std::pair{0, 0}, {4, 8}, {8, 22}, {16, 43}})
            for (int depth : {0, 1, 4})
                for (int chains : {1, 2, 8}) {
                    cpu_row row;
                    if (fn > 0) row.tile.form = tile_form::scalar, row.tile.fn = static_cast<std::uint16_t>(fn), row.tile.fm = static_cast<std::uint16_t>(fm);
                    if (n > 0) row.work = {work_form::threads, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(n)};
                    if (depth > 0) row.stage = {transport::async, static_cast<std::uint16_t>(depth), 1};
                    row.reduce.accumulators = static_cast<std::uint16_t>(chains);
                    std::vector<cpu_row> meant;
                    for (std::size_t i = 0; i < s.steps.parts.size(); ++i) meant.push_back(part_row(s.steps.parts[i], s.target, s.part_rows[i], row));
                    if (std::find(seen.begin(), seen.end(), meant) != seen.end()) continue;
                    seen.push_back(std::move(meant));
                    out.push_back(row);
                }
    return out;
}
/// Whether a row of the staged form is one of its rows; else which knob has a value that none of them has.
inline result<void> legal_staged(const cpu_schedules::state& s, const cpu_row& r) {
    if (std::find(s.rows.begin(), s.rows.end(), r) != s.rows.end()) return {};
    const auto judge = [&]<class F>(F, auto field) -> result<void> {
        std::string known;
        for (const cpu_row& row : s.rows) {
            if (row.*field == r.*field) return {};
            if (const std::string text = spelled<F>(row.*field); known.find(text) == std::string::npos) known += (known.empty() ? "" : ", ") + text;
        }
        return refuse(illegal(F::name, spelled<F>(r.*field), "one of " + known + ": others change no step"));
    };
    EMMY_CHECK_OK(judge(knob::RASTER{}, &cpu_row::raster));
    EMMY_CHECK_OK(judge(knob::REDUCE{}, &cpu_row::reduce));
    EMMY_CHECK_OK(judge(knob::STAGE{}, &cpu_row::stage));
    EMMY_CHECK_OK(judge(knob::TILE{}, &cpu_row::tile));
    EMMY_CHECK_OK(judge(knob::WORK{}, &cpu_row::work));
    return refuse(illegal("TILE", spelled<knob::TILE>(r.tile), "a tile that the other fields do not make impossible: this row means what a shorter one means"));
}

/// Takes the kernel apart: false where it stays whole.
inline bool take_apart(cpu_schedules::state& s, bool lifted) {
    std::optional<fold::staging> made = fold::stages(s.kernel);
    if (!made || (lifted && made->stages.size() < 2)) return false;
    double bytes = 0;
    for (const fold::table& t : made->tables) {
        double own = static_cast<double>(byte_size(t.type));
        for (const dim& d : t.shape) own *= static_cast<double>(d.kind == dim::form::number || d.has_hint ? d.number : default_hint);
        bytes += own;
    }
    if (bytes > most_table_bytes) return false;
    cpu_stages out;
    for (fold::stage& step : made->stages) {
        cpu_part part;
        part.kernel = std::move(step.kernel);
        result<fold::tree> tree = fold::lift(part.kernel);
        if (!tree || !check_shapes(part.kernel)) return false;
        part.tree = std::move(*tree);
        const auto facts = analyse(part.kernel, part.tree, s.target);
        if (!facts) return false;
        part.facts = *facts;
        out.parts.push_back(std::move(part));
        out.levels.push_back(step.level);
    }
    out.tables = std::move(made->tables);
    for (const cpu_part& part : out.parts) s.part_rows.push_back(default_row(part, s.target));
    s.steps = std::move(out);
    s.facts = {};
    s.facts.form = cpu_form::staged;
    for (const cpu_part& part : s.steps.parts) s.facts.has_fold = s.facts.has_fold || part.facts.has_fold;
    return true;
}

}  // namespace detail

EMMY_DECL result<cpu_schedules> cpu_schedules::make(const loop::kernel& k, const cpu_target& target) {
    EMMY_CHECK_OK(loop::validate(k));  // everything behind this line assumes it
    auto made = std::make_shared<state>();
    made->kernel = k;
    made->target = target;
    result<fold::tree> tree = fold::lift(k);
    const bool lifted = tree && detail::check_shapes(k);
    if (lifted) {
        made->tree = std::move(*tree);
        EMMY_TRY(facts, detail::analyse(made->kernel, made->tree, target));
        made->facts = facts;
        if (facts.form == cpu_form::cells || facts.nested) detail::take_apart(*made, true);
    } else if (!detail::take_apart(*made, false)) {
        EMMY_CHECK_OK(fold::check_order(k));
        made->facts.form = cpu_form::ordered;
        made->facts.deals = fold::body_order(k.body).deals();
    }
    if (made->facts.form == cpu_form::staged) {
        made->fold_keys.assign(1, "REDUCE");
        made->rows = detail::enumerate_staged(*made);
        cpu_schedules out;
        out.state_ = std::move(made);
        return out;
    }
    std::vector<fold::term_id> folds;
    for (fold::term_id id = 0; id < made->tree.terms.size(); ++id)
        if (made->tree.terms[id].is_fold()) folds.push_back(id);
    for (fold::term_id id : folds) made->fold_keys.push_back(folds.size() == 1 ? "REDUCE" : "REDUCE@" + made->tree.route(id));
    made->rows = detail::enumerate(*made, target);
    cpu_schedules out;
    out.state_ = std::move(made);
    return out;
}

EMMY_DECL const loop::kernel& cpu_schedules::kernel() const { return state_->kernel; }
EMMY_DECL const fold::tree& cpu_schedules::tree() const { return state_->tree; }
EMMY_DECL const cpu_target& cpu_schedules::target() const { return state_->target; }
EMMY_DECL const cpu_facts& cpu_schedules::facts() const { return state_->facts; }
EMMY_DECL const cpu_part& cpu_schedules::whole() const { return *state_; }
EMMY_DECL std::span<const cpu_row> cpu_schedules::rows() const { return state_->rows; }
EMMY_DECL result<void> cpu_schedules::check(const cpu_row& row) const {
    return state_->facts.form == cpu_form::staged ? detail::legal_staged(*state_, row) : detail::legal(*state_, state_->target, row);
}
EMMY_DECL const cpu_stages& cpu_schedules::stages() const { return state_->steps; }
EMMY_DECL bool cpu_schedules::lane_by_lane(const cpu_part& part, fold::value_id v, std::uint32_t axis, int lanes) { return detail::lane_by_lane(part.kernel, part.tree, v, axis, lanes); }
EMMY_DECL cpu_row cpu_schedules::part_row(std::size_t part, const cpu_row& row) const {
    return detail::part_row(state_->steps.parts[part], state_->target, state_->part_rows[part], row);
}

EMMY_DECL knob_pairs cpu_schedules::pairs(const cpu_row& row) const {
    knob_pairs out;
    const cpu_form form = state_->facts.form;
    const auto add = [&]<class F>(F, const std::string& key, const typename F::value_type& v) { out.emplace_back(key, std::string(F::spell(v).view())); };
    add(knob::RASTER{}, "RASTER", row.raster);
    for (const std::string& key : state_->fold_keys) add(knob::REDUCE{}, key, row.reduce);
    const bool staged = form == cpu_form::contraction || form == cpu_form::staged || (form == cpu_form::rows && state_->facts.sweeps);
    if (staged) add(knob::STAGE{}, "STAGE", row.stage);
    if (form == cpu_form::contraction || form == cpu_form::map || form == cpu_form::staged) add(knob::TILE{}, "TILE", row.tile);
    add(knob::WORK{}, "WORK", row.work);
    return out;
}

EMMY_DECL result<cpu_row> cpu_schedules::row(std::span<const std::pair<std::string, std::string>> pairs) const {
    cpu_row out;
    const std::string* first_reduce = nullptr;
    const auto read = [&]<class F>(F, const std::string& text, typename F::value_type& to) -> result<void> {
        const auto value = F::parse(text);
        if (!value) return refuse(value.error().as(fault_kind::user));
        to = *value;
        return {};
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [key, text] = pairs[i];
        for (std::size_t j = 0; j < i; ++j)
            if (pairs[j].first == key) return refuse(fault_kind::user, "found the key twice ('" + pairs[j].second + "' and '" + text + "'), expected it once", key);
        if (key == "WORK") EMMY_CHECK_OK(read(knob::WORK{}, text, out.work));
        else if (key == "TILE") EMMY_CHECK_OK(read(knob::TILE{}, text, out.tile));
        else if (key == "STAGE") EMMY_CHECK_OK(read(knob::STAGE{}, text, out.stage));
        else if (key == "RASTER") EMMY_CHECK_OK(read(knob::RASTER{}, text, out.raster));
        else if (std::find(state_->fold_keys.begin(), state_->fold_keys.end(), key) != state_->fold_keys.end() || (key == "REDUCE" && text.empty())) {
            EMMY_CHECK_OK(read(knob::REDUCE{}, text, out.reduce));
            if (first_reduce != nullptr && *first_reduce != text) return refuse(detail::illegal(key, "'" + text + "'", "one REDUCE for every fold of the kernel"));
            first_reduce = &text;
        } else if ((key == "LOOPIFY" || key == "SHARED_CARRY") && text == "0") {
            continue;  // recorded in every row, says nothing here
        } else {
            return refuse(fault_kind::user, "found key '" + key + "', expected one of the kernel's families", key);
        }
    }
    EMMY_CHECK_OK(check(out));
    return out;
}

}  // namespace emmy::fork
