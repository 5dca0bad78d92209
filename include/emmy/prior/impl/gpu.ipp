#pragma once
#include <emmy/prior/gpu.hpp>

#include <emmy/fold/access.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/loop/op_table.hpp>
#include <emmy/prior/impl/whole.ipp>

#include <algorithm>

namespace emmy::prior {
namespace detail {

/// A kernel's numbers from its fold tree, or from its loops where it has none.
class gpu_reader {
public:
    gpu_reader(const loop::kernel& k, const store::binding_list& sizes) : k_(k), sizes_(sizes) {
        for (const loop::buffer& b : k.inputs) out.bytes_in += bytes_of(b);
        for (const loop::buffer& b : k.outputs) out.bytes_out += bytes_of(b);
        if (const auto tree = fold::lift(k)) from_tree(*tree);
        else from_loops();
        out.cells = std::max(out.cells, 1.0), out.reduced = std::max(out.reduced, 1.0);
    }
    gpu_estimate::work out;

private:
    double size_of(const dim& d) const {
        if (d.kind == dim::form::number) return static_cast<double>(d.number);
        if (d.kind == dim::form::symbol)
            for (const auto& [symbol, size] : sizes_)
                if (symbol == k_.body.text(d.symbol)) return static_cast<double>(size);
        return static_cast<double>(d.has_hint ? d.number : default_hint);
    }
    double bytes_of(const loop::buffer& b) const {
        double bytes = static_cast<double>(byte_size(b.type));
        for (const dim& d : b.shape) bytes *= size_of(d);
        return bytes;
    }
    void count(const loop::stmt& s, double times) {
        if (s.kind != loop::stmt_kind::assign && s.kind != loop::stmt_kind::accum && s.kind != loop::stmt_kind::select) return;
        if (s.kind == loop::stmt_kind::assign && loop::facts(s.op).unit == loop::op_unit::exp) out.exponentials += times;
        else out.operations += times * (s.kind == loop::stmt_kind::assign && loop::facts(s.op).unit == loop::op_unit::divide ? 6 : 1);
    }

    void from_tree(const fold::tree& t) {
        const loop::body& b = k_.body;
        std::vector<double> extents;
        for (const fold::axis& a : t.axes) extents.push_back(size_of(a.extent));
        for (std::uint32_t g : t.grid) out.cells *= extents[g];
        if (!t.grid.empty()) out.inner = extents[t.grid.back()];
        const auto has = [&](fold::value_id v, std::uint32_t axis) { return (t.depends[v] >> axis & 1) != 0; };
        for (std::uint32_t s = 0; s < b.stmts.size(); ++s) {
            double times = 1;
            for (std::uint32_t a = 0; a < extents.size(); ++a)
                if (has(s, a)) times *= extents[a];
            if (b.stmts[s].kind == loop::stmt_kind::accum && t.state_of[s] != fold::none) times *= extents[t.terms[t.state_of[s]].axes[0]];
            count(b.stmts[s], times);
        }
        for (std::uint32_t id = 0; id < t.terms.size(); ++id) {
            const fold::term& term = t.terms[id];
            if (!term.is_fold()) {
                double swept = 1;
                for (std::uint32_t a : term.axes) swept *= extents[a];
                if (id != t.root) out.reduced = std::max(out.reduced, swept);
                continue;
            }
            out.reduced = std::max(out.reduced, extents[term.axes[0]]);
            out.twist = out.twist || term.kind == fold::term_kind::twist;
            for (const fold::step& s : term.steps)
                if (!s.is_term && b.stmts[s.id].kind == loop::stmt_kind::load && has(s.id, term.axes[0])) {
                    const auto index = b.expressions(b.stmts[s.id].index);
                    if (!index.empty() && !fold::names(b, index.back(), t.axes[term.axes[0]].name) && byte_size(fold::find_buffer(k_, b.stmts[s.id].buffer)->type) > 0 && fold::find_buffer(k_, b.stmts[s.id].buffer)->shape.size() > 1)
                        out.along = false;
                }
            const bool summed = term.kind == fold::term_kind::inner || term.kind == fold::term_kind::twist;
            if (!summed || term.operands.size() < 2) continue;
            ++out.products;
            const fold::value_id first = term.operands[0].value, second = term.operands[1].value;
            double m = 1, n = 1, batch = 1;
            for (std::uint32_t g = 0; g < t.axes.size(); ++g) {
                if (g == term.axes[0]) continue;
                const bool in_first = has(first, g), in_second = has(second, g);
                if (in_first && in_second) batch *= extents[g];
                else if (in_first) m *= extents[g];
                else if (in_second) n *= extents[g];
            }
            // The product and its sum are the matrix units' work, not the vector units'.
            out.operations = std::max(0.0, out.operations - 2 * m * n * batch * extents[term.axes[0]]);
            const bool swapped = !t.grid.empty() && has(first, t.grid.back()) && !has(second, t.grid.back());
            if (swapped) std::swap(m, n);
            if (m * n * batch * extents[term.axes[0]] > out.m * out.n * out.batch * out.k) {
                out.m = m, out.n = n, out.batch = batch, out.k = extents[term.axes[0]];
                out.a_bytes = loaded(t, swapped ? second : first), out.b_bytes = loaded(t, swapped ? first : second);
            }
        }
    }
    double loaded(const fold::tree& t, fold::value_id v) const {
        if (k_.body.stmts[v].kind == loop::stmt_kind::load) return static_cast<double>(byte_size(fold::find_buffer(k_, k_.body.stmts[v].buffer)->type));
        double bytes = 0;
        for (fold::value_id x : t.args[v])
            if (k_.body.stmts[x].kind != loop::stmt_kind::accum) bytes = std::max(bytes, loaded(t, x));
        return bytes;
    }

    void from_loops() {
        double outputs = 0;
        for (const loop::buffer& b : k_.outputs) outputs = std::max(outputs, bytes_of(b) / std::max<double>(1, static_cast<double>(byte_size(b.type))));
        double evaluations = 0;
        walk(k_.body.top, 1, evaluations);
        out.cells = std::max(outputs, 1.0);
        out.reduced = evaluations / out.cells;
    }
    void walk(loop::run list, double times, double& most) {
        for (loop::stmt_id s : k_.body.statements(list)) {
            const loop::stmt& st = k_.body.stmts[s];
            const bool loop = st.kind == loop::stmt_kind::loop || st.kind == loop::stmt_kind::strided_loop;
            const double inside = times * (loop ? size_of(st.axis.extent) : 1);
            most = std::max(most, inside);
            count(st, times);
            if (st.body.count > 0) walk(st.body, inside, most);
            if (st.else_body.count > 0) walk(st.else_body, times, most);
        }
    }

    const loop::kernel& k_;
    const store::binding_list& sizes_;
};
}  // namespace detail

EMMY_DECL gpu_machine make_gpu_machine(const card& c, const gpu_terms& terms) {
    gpu_machine out;
    out.cc = c.cc;
    out.sms = c.facts && c.facts->sms > 0 ? c.facts->sms : 100;
    out.clocks = terms.clock_ghz * 1000;
    card_ceilings peak = c.peak();
    if (peak.f32_flops <= 0) peak.f32_flops = out.sms * (c.cc < capability{8, 6} ? 128.0 : 256.0) * terms.clock_ghz * 1e9;
    if (peak.f16_flops <= 0) peak.f16_flops = 8 * peak.f32_flops;
    if (peak.bytes_per_second <= 0) peak.bytes_per_second = 900e9;
    out.vector_flops = peak.f32_flops / out.sms * 1e-6, out.matrix_flops = peak.f16_flops / out.sms * 1e-6;
    out.memory = peak.bytes_per_second * 1e-6;
    const capability cc = c.cc;
    out.cache_bytes = (cc < capability{8, 0} ? 6 : cc == capability{8, 0} ? 40 : cc == capability{8, 6} ? 6 : cc == capability{8, 9} ? 72 : cc == capability{9, 0} ? 50 : 96) * 1048576.0;
    out.shared_bytes = cc == capability{7, 0} ? 98304 : cc == capability{7, 5} ? 65536 : cc == capability{8, 0} ? 167936 : cc >= capability{9, 0} && cc < capability{12, 0} ? 233472 : 102400;
    return out;
}

EMMY_DECL gpu_estimate::gpu_estimate(const loop::kernel& k, const gpu_machine& machine, const gpu_terms& terms, const store::binding_list& sizes) : machine_(machine), terms_(terms), work_(detail::gpu_reader(k, sizes).out) {}

EMMY_DECL double gpu_estimate::us(const knob::schedule_row& row) const {
    const work& w = work_;
    const gpu_machine& m = machine_;
    const knob::work threads_of = row.value<knob::WORK>();
    // The site with the largest tile is the kernel's; scores of attention share its blocks.
    knob::tile tile = row.value<knob::TILE>();
    knob::reduce reduce = row.value<knob::REDUCE>();
    knob::stage stage = row.value<knob::STAGE>();
    double score_columns = 0;
    for (std::size_t i = 0; i < row.sites(); ++i) {
        const knob::tile t = row.value<knob::TILE>(row.site(i));
        const knob::reduce r = row.value<knob::REDUCE>(row.site(i));
        const knob::stage s = row.value<knob::STAGE>(row.site(i));
        if (t.is_warp() && (!tile.is_warp() || t.columns(threads_of) * t.chunk() >= tile.columns(threads_of) * tile.chunk())) {
            if (tile.is_warp()) score_columns = static_cast<double>(tile.columns(threads_of));
            tile = t;
        } else if (t.is_warp()) {
            score_columns = static_cast<double>(t.columns(threads_of));
        } else if (t.form == knob::tile_form::scalar && tile.form == knob::tile_form::cell) {
            tile = t;
        }
        if (r.coop != knob::coop_mode::none || r.accumulators > reduce.accumulators) reduce = r;
        if (s.depth > stage.depth || stage.by == knob::transport::direct) stage = s;
    }
    const double bytes = w.bytes_in + w.bytes_out;
    const double rate = m.memory * (bytes < 0.7 * m.cache_bytes ? terms_.cache : terms_.memory);
    const double most_threads = m.cc >= capability{8, 6} && m.cc < capability{9, 0} ? 1536 : m.cc >= capability{12, 0} ? 1536 : m.cc == capability{7, 5} ? 1024 : 2048;
    const double other = w.operations * 1.0 / (m.vector_flops * 0.5 * m.sms * terms_.scalar) + w.exponentials / (m.clocks * 16 * m.sms);

    if (tile.form != knob::tile_form::cell && w.products > 0 && reduce.coop == knob::coop_mode::none) {
        const bool warp = tile.is_warp(), whole_group = warp && knob::facts(tile.atom).wgmma_n > 0;
        const double BM = std::max(1.0, static_cast<double>(tile.rows(threads_of))), BN = std::max(1.0, static_cast<double>(tile.columns(threads_of)));
        const double threads = std::max(32.0, static_cast<double>(threads_of.threads()));
        const double kc = warp ? static_cast<double>(tile.chunk()) : std::min(32.0, w.k), chunks = detail::ceiling(w.k / kc);
        const double depth = stage.by == knob::transport::direct ? 1 : stage.depth;
        const double a_bytes = std::max(w.a_bytes, warp ? 1.0 : 4.0), b_bytes = std::max(w.b_bytes, warp ? 0.5 : 4.0);
        const double slot = stage.by == knob::transport::direct ? 0 : BM * kc * a_bytes + BN * kc * b_bytes * (w.twist ? 2 : std::max(1.0, w.products));
        const double channels = w.twist ? 1 : std::max(1.0, w.products);
        const double registers = (warp ? channels * tile.fm * tile.fn * knob::facts(tile.atom).registers + (w.twist ? score_columns / 2 : 0) : channels * tile.fm * tile.fn) + 48;
        double resident = std::min({most_threads / threads, 65536 / (threads * std::min(registers, 255.0)), slot > 0 ? m.shared_bytes / (slot * depth + 1024) : 32.0, 24.0});
        resident = std::max(1.0, detail::whole(resident));
        const double ctas = w.batch * detail::ceiling(w.m / BM) * detail::ceiling(w.n / BN);
        const double busy = std::min(resident, detail::ceiling(ctas / m.sms));  // CTAs that share a multiprocessor

        // One chunk of one CTA alone on its multiprocessor: products, their operands from shared memory, the fill.
        const double atoms = w.twist ? 2 : channels;
        const double precision = !warp ? 1 : knob::facts(tile.atom).operand == dtype::f4e2m1x2 ? 4 : byte_size(knob::facts(tile.atom).operand) == 1 && (m.cc != capability{9, 0}) ? 2 : 1;
        const double narrow = warp && knob::facts(tile.atom).result == dtype::f32 && m.cc >= capability{8, 6} && m.cc != capability{9, 0} && m.cc != capability{10, 0} && !whole_group ? 0.5 : 1;  // consumer dies halve f32 accumulation
        const double warps = threads / 32;
        const double unit = warp ? m.matrix_flops * precision * narrow * (whole_group ? terms_.wgmma : terms_.matrix) : m.vector_flops * terms_.scalar;
        // Few warps and small fragments do not fill the pipes of a multiprocessor.
        const double fragments = warp ? double(tile.fm) * tile.fn * atoms : double(tile.fm) * tile.fn;
        const double filled = whole_group ? 1 : std::min(1.0, busy * warps * std::min(fragments, 8.0) / 32);
        const double products = 2 * BM * BN * kc * atoms / unit / std::max(filled, 0.05);
        double shared = 0;
        if (warp && !whole_group) shared = (threads_of.m * threads_of.n) * (double(tile.fm) * knob::facts(tile.atom).m * a_bytes + double(tile.fn) * knob::facts(tile.atom).n * b_bytes * atoms) * kc / (terms_.shared_per_clock * m.clocks);
        if (!warp) shared = threads * (double(tile.fm) + tile.fn) * kc * 4 / (terms_.shared_per_clock * m.clocks);
        const double share = std::min(double(m.sms), std::max(1.0, ctas));  // multiprocessors that fill at once
        double fill = (BM * a_bytes + BN * b_bytes * atoms) * kc / (terms_.fill_per_clock * m.clocks);
        fill = std::max(fill, (BM * a_bytes + BN * b_bytes * atoms) * kc * share / (m.memory * terms_.cache));
        // A ring hides the latency of depth - 1 chunks under the products of all that share the multiprocessor.
        const double latency = stage.by == knob::transport::direct ? terms_.latency_us : terms_.latency_us * (stage.by == knob::transport::tma ? 1.1 : 1);
        const double chunk = std::max({products, shared, fill}) * busy;
        const double hidden = (stage.by == knob::transport::direct ? busy : depth + busy - 1) * std::max(chunk / busy, terms_.barrier_us);
        const double waited = std::max(0.0, latency - hidden) / (stage.by == knob::transport::smem ? std::max(1.0, std::min(2.0, depth)) : std::max(1.0, depth - 1));
        const double step = (stage.depth > 1 && stage.by != knob::transport::direct && stage.by != knob::transport::smem ? chunk : std::max({products, shared, fill}) * busy + 0.5 * std::min(products, fill)) + waited + terms_.barrier_us;
        const double rounds = ctas / (m.sms * busy), waves = rounds <= 1 ? 1 : 0.5 * (detail::ceiling(rounds) + rounds);
        const double one = chunks * step + 2 * terms_.latency_us + BM * BN * 4 / (terms_.fill_per_clock * m.clocks);
        const double computing = waves * one + other * 0.3;
        const double moved = bytes / rate;
        return terms_.launch_us + std::max(computing, moved) + 0.2 * std::min(computing, moved);
    }

    // Folds and maps: latency of a thread's own steps against what the memory gives.
    const bool coop = reduce.coop != knob::coop_mode::none;
    const double lanes = coop ? std::max(1.0, double(threads_of.n)) : 1, beside = coop ? std::max(1.0, double(threads_of.m)) : 1;
    const double strip = tile.form == knob::tile_form::scalar ? tile.fn * tile.fm : 1;
    const bool transposed = reduce.coop == knob::coop_mode::transposed;
    const double cells_of_block = transposed ? reduce.lanes * reduce.vector : coop ? beside : 256 * strip;
    const double block = coop ? lanes * beside : 256;
    const double slices = transposed ? std::max(1.0, lanes / reduce.lanes) : lanes;
    const double ctas = detail::ceiling(w.cells / cells_of_block);
    const double chains = std::max<double>(reduce.accumulators, reduce.vector);
    const double resident = std::max(1.0, detail::whole(std::min(most_threads / std::max(32.0, block), 24.0)));
    const double busy = std::min(resident, detail::ceiling(ctas / m.sms));
    const double steps = detail::ceiling(w.reduced / slices);
    // Loads of several chains are under way together; so are those of a strip.
    const double flight = std::max(1.0, std::min(8.0, chains * 2)) * (coop ? 1 : std::min(4.0, strip));
    const double serial = detail::ceiling(steps / flight) * terms_.latency_us * (busy * block / 32 > terms_.warps_to_hide ? 0.6 : 1.0);
    double combine = 0;
    for (double width = slices; width > 1; width /= 2) combine += width > 32 ? 0.06 : 0.02;
    const double work = (w.operations / (m.vector_flops * 0.5) + w.exponentials / (m.clocks * 16)) / std::max(1.0, std::min(double(m.sms), ctas)) / terms_.scalar;
    const double rounds = ctas / (m.sms * resident), waves = rounds <= 1 ? 1 : 0.5 * (detail::ceiling(rounds) + rounds);
    // Bytes in flight of a half empty card do not fill the memory.
    const double in_flight = std::min(ctas, m.sms * resident) * block * flight * 4;
    const double filled = std::min(1.0, in_flight / (m.memory * terms_.cache * terms_.latency_us));
    const double waste = !coop && w.reduced > 1 && w.along ? 0.5 : coop && !transposed && !w.along ? 0.3 : 1;
    const double moved = bytes / (rate * std::max(0.02, filled) * waste);
    const double one = serial + combine + terms_.latency_us * 0.5;
    return terms_.launch_us + std::max({waves * one, moved, work}) + 0.25 * std::min(waves * one, moved);
}

}  // namespace emmy::prior
