#pragma once
#include <emmy/prior/impl/cpu_work.ipp>
#include <emmy/prior/impl/whole.ipp>

namespace emmy::prior::detail {

/// Cycles of one part under each row of its form; what does not depend on the row is computed once.
class part_time {
public:
    part_time(const fork::cpu_part& part, const cpu_machine& machine, const cpu_terms& terms, const store::binding_list& sizes) : w_(part, machine, terms, sizes), m_(machine), t_(terms), f_(part.facts), tree_(part.tree) {
        const fold::term& root = tree_.terms[tree_.root];
        root_ = w_.steps(root, fold::none, f_.lane_axis);
        for (std::uint32_t id = 0; id < tree_.terms.size(); ++id) {
            const fold::term& term = tree_.terms[id];
            const std::uint32_t own = term.axes.empty() ? fold::none : term.axes.back();
            // Rows run vectors along each term's own axis, columns along the inner axis of the grid.
            terms_.push_back({w_.steps(term, own, f_.form == fork::cpu_form::rows ? own : f_.lane_axis), term.is_fold() ? w_.latency(term) : 0});
            if (term.kind == fold::term_kind::twist && term.states.size() > 1) {
                const fold::value_id pivot = term.states[0], sum = term.states[1];
                first_pass_ = w_.cone(tree_.args[pivot][0], own, own), first_pass_ += w_.operation(loop::op::maximum);
                second_pass_ = w_.cone(tree_.args[sum][0], own, own), second_pass_ += w_.operation(loop::op::add);
            }
            if (f_.kept_again != fold::none && own != fold::none && w_.varies(f_.kept_again, own)) again_ = w_.cone(f_.kept_again, own, own);
        }
        if (f_.form == fork::cpu_form::contraction) {
            a_along_k_ = w_.cone(f_.a, f_.k_axis, f_.k_axis), b_along_k_ = w_.cone(f_.b, f_.k_axis, f_.k_axis);
            b_along_n_ = w_.cone(f_.b, f_.k_axis, f_.lane_axis);
            a_bytes_ = w_.loaded(f_.a), b_bytes_ = w_.loaded(f_.b);
        }
    }

    double cycles(const fork::cpu_row& row) const {
        switch (f_.form) {
            case fork::cpu_form::map: return map(row);
            case fork::cpu_form::rows: return rows(row);
            case fork::cpu_form::columns: return columns(row);
            case fork::cpu_form::contraction: return row.tile.form == knob::tile_form::scalar ? tiles(row) : cells(row);
            default: return cells(row);
        }
    }

private:
    struct term_time {
        cost element;        ///< its steps at one coordinate of its axis
        double latency = 0;  ///< folds
    };

    /// Both at once, not quite hidden behind each other.
    double beside(double compute, double move) const { return std::max(compute, move) + t_.overlap * std::min(compute, move); }
    /// The longest share of the team over the mean one.
    double imbalance(double items) const { return m_.team == 1 || items <= 0 ? 1 : ceiling(items / m_.team) * m_.team / items; }
    double shared(double cycles, double items) const { return cycles / m_.team * imbalance(items); }
    double decode() const { return tree_.grid.size() > 1 ? t_.item : 0.2 * t_.item; }

    /// `n` elements of a fold or sweep: groups of `chains` vectors, single vectors, single elements.
    double run(const cost& element, double n, int lanes, int chains, double latency, double chains_wait = 0) const {
        const double vector = element.of(lanes), group = double(lanes) * chains;
        double out = whole(n / group) * std::max(chains * vector + t_.iteration, latency + chains_wait);
        double left = rest(n, group);
        if (lanes > 1) {
            out += whole(left / lanes) * std::max(vector + t_.iteration, latency);
            left = rest(left, lanes);
        }
        return out + left * std::max(element.scalar + t_.iteration, latency);
    }

    /// A step that goes on by `stride` bytes: how often it comes to a page that it has not touched lately.
    double pages(double stride) const { return t_.page * std::min(1.0, stride / 4096); }

    double map(const fork::cpu_row& row) const {
        const bool tiled = row.tile.form == knob::tile_form::scalar;
        const int lanes = tiled ? w_.lanes() : 1, vectors = tiled ? row.tile.fn : 1;
        const double strip = double(lanes) * vectors;
        double compute = 0, items = w_.outer;
        if (row.work.form == knob::work_form::threads) {
            const double chunk = strip * row.work.n;
            items = w_.outer * ceiling(w_.inner / chunk);
            compute = items * t_.item + w_.outer * run(root_, w_.inner, lanes, vectors, 0);
        } else if (w_.outer == 1 && tree_.grid.size() == 1) {
            items = ceiling(w_.inner / strip);
            compute = run(root_, w_.inner, lanes, vectors, 0) + items * t_.iteration;
        } else {
            compute = w_.outer * (run(root_, w_.inner, lanes, vectors, 0) + decode());
        }
        const bool around = tiled && w_.bytes_out > static_cast<double>(m_.target.last_cache_bytes);
        return shared(beside(compute, moved(w_.bytes_in + (around ? 1.2 : 2) * w_.bytes_out)), items);
    }

    double moved(double bytes) const { return bytes / m_.holding(w_.footprint() / m_.team).per_cycle; }

    double rows(const fork::cpu_row& row) const {
        const bool coop = row.reduce.coop != knob::coop_mode::none;
        const int lanes = coop ? row.work.n : 1, chains = row.reduce.accumulators;
        const bool kept = row.stage.by == knob::transport::smem && f_.kept != fold::none;
        double one = root_.scalar + decode(), passes = 0;
        const fold::term& root = tree_.terms[tree_.root];
        for (const fold::step& s : root.steps) {
            if (!s.is_term) continue;
            const fold::term& term = tree_.terms[s.id];
            const term_time& time = terms_[s.id];
            double n = 1;
            for (std::uint32_t a : term.axes) n *= w_.extents[a];
            ++passes;
            one += t_.row;
            if (term.kind == fold::term_kind::twist) {
                if (kept) {
                    cost second = second_pass_;
                    second.vector += t_.store, second.scalar += t_.scalar_memory;
                    one += run(first_pass_, n, lanes, chains, t_.maximum_latency) + run(second, n, lanes, chains, t_.latency) + t_.row;
                    one += lanes > 1 ? 2 * t_.across : 0;
                } else {
                    cost both = first_pass_;
                    both += second_pass_;
                    // One rescaling of the sum a group.
                    const double rescale = lanes > 1 ? t_.exponential + 2 * t_.arithmetic : t_.library + 2 * t_.scalar_operation;
                    one += run(both, n, lanes, chains, t_.maximum_latency, t_.latency * (chains + 1)) + whole(n / (double(lanes) * chains)) * rescale;
                    one += lanes > 1 ? 3 * t_.across : 0;
                }
            } else if (term.is_fold()) {
                one += run(time.element, n, lanes, chains, time.latency) + (lanes > 1 ? t_.across * term.states.size() : 0) + (chains - 1) * t_.latency;
            } else {
                cost element = time.element;
                if (kept && f_.kept_again != fold::none) {
                    element.vector = std::max(0.0, element.vector - again_.vector) + t_.load;
                    element.scalar = std::max(0.0, element.scalar - again_.scalar) + t_.scalar_memory;
                    element.lane = std::max(0.0, element.lane - again_.lane);
                }
                one += run(element, n, lanes, chains, 0);
            }
        }
        const double bytes = w_.footprint() / std::max(w_.cells, 1.0);
        one += (passes - 1) * bytes / m_.holding(2 * bytes).per_cycle * t_.overlap;
        double move = moved(w_.bytes_in + 2 * w_.bytes_out);
        if (row.stage.depth == 2) {
            one += bytes / 64 * t_.load;
            if (w_.footprint() > m_.l2.bytes) move *= t_.fetched;
        }
        const double items = ceiling(w_.cells / (coop ? row.work.m : 1));
        return shared(beside(w_.cells * one + (coop && row.work.m > 1 ? items * 2 : 0), move), items);
    }

    double columns(const fork::cpu_row& row) const {
        const fold::term& root = tree_.terms[tree_.root];
        const bool coop = row.reduce.coop == knob::coop_mode::transposed;
        const int vectors = row.reduce.vector, chains = coop ? row.work.n / 32 : row.reduce.accumulators;
        const double strip = double(w_.lanes()) * vectors;
        const double whole_strips = coop ? whole(w_.inner / strip) : 0, single = w_.inner - whole_strips * strip;
        double one = 0, scalar = root_.scalar, reads = 0, steps = 0;  // one strip; one column alone
        for (const fold::step& s : root.steps) {
            if (!s.is_term) continue;
            const fold::term& term = tree_.terms[s.id];
            const term_time& time = terms_[s.id];
            const double n = w_.extents[term.axes[0]];
            const double vector = vectors * time.element.of(w_.lanes());
            steps += n;
            one += t_.row + whole(n / chains) * std::max(chains * vector + t_.iteration, time.latency) + rest(n, chains) * std::max(vector + t_.iteration, time.latency) + (chains - 1) * vectors * t_.arithmetic;
            scalar += t_.row + whole(n / chains) * std::max(chains * time.element.scalar + t_.iteration, time.latency) + rest(n, chains) * std::max(time.element.scalar + t_.iteration, time.latency);
            // Every element of a column alone is a line of its own, kept for the neighbours while all lines of the column fit.
            reads += n * (64 / m_.holding(n * 64).per_cycle - 64 / m_.l1.per_cycle);
        }
        one += vectors * root_.of(w_.lanes());
        const double element = w_.bytes_in / std::max(1.0, w_.outer * w_.inner * std::max(steps, 1.0));
        const double row_bytes = w_.inner * element, run_bytes = strip * element;
        double waste = 1;
        if (coop && run_bytes < row_bytes && run_bytes < 512) waste = t_.strip_waste + (1 - t_.strip_waste) * run_bytes / 512;
        if (coop && steps > 64) one += steps * pages(row_bytes);
        const double items = coop ? w_.outer * ceiling(w_.inner / (strip * row.work.m)) : w_.cells / std::max(1.0, w_.inner);
        const double compute = w_.outer * (whole_strips * one + single * (scalar + reads)) + items * t_.item;
        return shared(beside(compute, moved(w_.bytes_in + 2 * w_.bytes_out) / waste), items);
    }

    /// One cell at a time: terms inside terms.
    double term_cycles(const fold::term& term, std::uint32_t id, int chains) const {
        double n = 1, inside = id == tree_.root ? root_.scalar : terms_[id].element.scalar;
        for (std::uint32_t a : term.axes) n *= w_.extents[a];
        for (const fold::step& s : term.steps)
            if (s.is_term) inside += t_.row + term_cycles(tree_.terms[s.id], s.id, chains);
        if (!term.is_fold()) return n * (inside + (id == tree_.root ? 0 : t_.iteration));
        return n * std::max(inside + t_.iteration / chains, terms_[id].latency / chains);
    }
    double cells(const fork::cpu_row& row) const {
        const int chains = row.reduce.accumulators;
        double one = tree_.terms.empty() ? 1 : term_cycles(tree_.terms[tree_.root], tree_.root, chains);
        if (f_.form == fork::cpu_form::contraction && !f_.b_along_k) {
            const double k = w_.extents[f_.k_axis];
            one += k * (64 / m_.holding(k * 64).per_cycle - 64 / m_.l1.per_cycle);
        }
        const double items = row.work.form == knob::work_form::threads ? w_.outer * ceiling(w_.inner / row.work.n) : w_.outer;
        return shared(beside(w_.cells * one + items * t_.item, moved(w_.bytes_in + w_.bytes_out)), items);
    }

    double tiles(const fork::cpu_row& row) const {
        const int W = w_.lanes(), fn = row.tile.fn, fm = row.tile.fm;
        const bool threads = row.work.form == knob::work_form::threads, pack_b = row.stage.by != knob::transport::direct, pack_a = row.stage.by == knob::transport::async;
        const double Tn = threads ? row.work.n : 1, Tm = threads ? row.work.m : 1, NR = double(fn) * W;
        const double M = w_.extents[f_.m_axis], N = w_.extents[f_.lane_axis], K = w_.extents[f_.k_axis], batch = w_.cells / (M * N);
        const double nm = ceiling(M / (Tm * fm)), nn = ceiling(N / (Tn * NR)), mt = ceiling(M / fm), nt = ceiling(N / NR);
        const double chunk = pack_b ? std::min(K, 128.0 * row.stage.depth) : K, chunks = ceiling(K / chunk);

        // One step of k of a register tile.
        double a = fm * t_.load, b = fn * t_.load;
        if (!pack_a) a = fm * std::max(t_.load, a_along_k_.scalar);
        if (!pack_b) b = fn * std::max(t_.load, b_along_n_.of(W));
        double step = std::max({fn * fm * t_.arithmetic, a + b, t_.latency}) + 0.3 * t_.iteration;
        if (!pack_a && a_along_k_.scalar > 2) step = std::max(step, fn * fm * t_.arithmetic + a);
        // Where its operands come from: panels of the macro tile, or the buffers themselves.
        const double panel_a = Tm * fm * chunk * 4, strip_b = NR * chunk * 4, panel_b = Tn * strip_b;
        double feed = 0;
        if (pack_a) feed += fm * 4 / m_.holding(std::max(panel_a, strip_b)).per_cycle;
        else feed += fm * a_bytes_ / m_.holding(Tm * fm * chunk * a_bytes_).per_cycle;
        if (pack_b) feed += NR * 4 / m_.holding(Tm > 1 ? 2 * strip_b : panel_b).per_cycle;
        else {
            feed += NR * b_bytes_ / m_.holding(threads ? NR * K * b_bytes_ : std::min(w_.bytes_in, N * K * b_bytes_)).per_cycle;
            if (K > 64) feed += 2 * pages(N * b_bytes_);  // the products wait for them
        }
        double compute = batch * mt * nt * (K * beside(step, feed) + chunks * (t_.row + fn * fm * t_.arithmetic));
        if (chunks > 1) compute += batch * mt * nt * (chunks - 1) * fn * fm * 2 * 64 / m_.holding(Tn * NR * Tm * fm * 4 + panel_a + panel_b).per_cycle;

        // Packing: the inner operand once a block of rows, the outer one once a block of columns.
        if (pack_b) {
            double element = b_along_n_.of(W) / W + t_.store / W;
            if (!f_.b_adjacent) {
                element = f_.b_along_k ? b_along_k_.of(W) / W + t_.pack_scatter : b_along_k_.scalar + t_.pack_scatter + t_.iteration;
                // Column after column down the chunk: a line a step, met again by the neighbouring columns if it is still there. Lines a panel's
                // width apart share few sets.
                if (chunk * NR * 4 > static_cast<double>(m_.target.l1_bytes)) element += 2 * 64 / m_.l2.per_cycle;
            }
            double move = b_bytes_ / m_.holding(w_.footprint()).per_cycle + 4 / m_.l2.per_cycle;
            if (f_.b_adjacent && K > 64) move += pages(N * b_bytes_) / NR;
            compute += batch * nm * nt * NR * K * beside(element, move);
        }
        if (pack_a) {
            const double element = f_.a_along_k ? a_along_k_.of(W) / W + t_.pack_scatter : a_along_k_.scalar + t_.pack_scatter + t_.iteration;
            compute += batch * nn * mt * fm * K * beside(element, a_bytes_ / m_.holding(w_.footprint()).per_cycle + 4 / m_.l2.per_cycle);
        }
        // Stores: whole tiles in vectors, the cells of ragged tiles one by one.
        const double whole_cells = whole(M / fm) * fm * whole(N / NR) * NR, ragged = M * N - whole_cells;
        compute += batch * (whole_cells / W * root_.of(W) + ragged * (root_.scalar + t_.edge_cell));
        const double items = batch * nm * nn;
        compute += items * t_.item;
        return shared(beside(compute, moved(w_.footprint())), items);
    }

    part_work w_;
    const cpu_machine& m_;
    const cpu_terms& t_;
    const fork::cpu_facts& f_;
    const fold::tree& tree_;
    cost root_, first_pass_, second_pass_, again_, a_along_k_, b_along_k_, b_along_n_;
    std::vector<term_time> terms_;
    double a_bytes_ = 4, b_bytes_ = 4;
};

}  // namespace emmy::prior::detail
