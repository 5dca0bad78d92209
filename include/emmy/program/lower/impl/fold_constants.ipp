#pragma once
#include <emmy/program/lower/impl/map_rules.ipp>
#include <emmy/program/lower/impl/transplant.ipp>

#include <algorithm>

/// Constant folding: what follows from constants alone becomes one constant with a source graph, evaluated when it is bound.
namespace emmy::program::detail {

class constant_folding {
public:
    explicit constant_folding(rewriter& r) : w_(r.w) {}

    void run() {
        classify();
        for (std::size_t i = order_.size(); i-- > 0;) {  // readers first: the largest cone swallows what is inside
            const node_id n = order_[i];
            if (!w_.alive(n) || !closed_[n] || w_.is_leaf(n)) continue;
            if (free_[n] ? one_reader_in(n, free_) : only_readers_in(n, closed_)) continue;  // the cone goes on
            if (collect(n); allowed(n)) fold(n);
        }
        for (const node_id n : order_)  // no loop counts: a range is always a constant
            if (w_.alive(n) && w_.kind(n) == op::range && closed_[n]) collect(n), fold(n);
    }

private:
    /// Producers before readers; which nodes follow from constants alone (closed), which from no checkpoint tensor (free).
    void classify() {
        const std::size_t size = w_.size();
        closed_.assign(size, false);
        free_.assign(size, false);
        mark_.assign(size, 0);
        std::vector<std::uint32_t> waiting(size, 0);
        order_.clear();
        for (node_id n = 0; n < size; ++n)
            if (w_.alive(n) && (waiting[n] = static_cast<std::uint32_t>(w_.input_count(n))) == 0) order_.push_back(n);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const node_id n = order_[i];
            bool all_closed = w_.kind(n) != op::input && (w_.kind(n) == op::constant ? bound_constant(n) : interior(n)), all_free = all_closed && (w_.kind(n) != op::constant || !has_checkpoint(w_.g, w_.g.nodes[n]));
            for (std::size_t k = 0; k < w_.input_count(n); ++k) {
                all_closed = all_closed && closed_[w_.input(n, k)];
                all_free = all_free && free_[w_.input(n, k)];
            }
            closed_[n] = all_closed;
            free_[n] = all_free && all_closed;
            for (const node_id reader : w_.readers(n))
                if (--waiting[reader] == 0) order_.push_back(reader);
        }
    }
    bool bound_constant(node_id n) const { return w_.g.find(w_.g.nodes[n], attr::context_value) == nullptr; }
    bool interior(node_id n) const {
        switch (w_.kind(n)) {
            case op::elementwise: case op::matmul: case op::reshape: case op::slice: case op::transpose: case op::gather: case op::index_map: case op::cast:
            case op::bitcast: case op::range: return rewriter::is_static(w_.dims(n));
            default: return false;
        }
    }
    static bool has_checkpoint(const graph& g, const node& n) {
        if (g.find(n, attr::source_path) || g.find(n, attr::source_parts)) return true;
        const attribute* inner = g.find(n, attr::source_graph);
        if (inner == nullptr) return false;
        const graph& nested = g.nested[inner->graph];
        return std::any_of(nested.nodes.begin(), nested.nodes.end(), [&](const node& m) { return m.op == op::constant && has_checkpoint(nested, m); });
    }
    bool only_readers_in(node_id n, const std::vector<bool>& in) const {
        const auto& readers = w_.readers(n);
        return !w_.wanted(n) && !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](node_id r) { return in[r]; });
    }
    /// What no checkpoint feeds is folded where it branches.
    bool one_reader_in(node_id n, const std::vector<bool>& in) const {
        const auto& readers = w_.readers(n);
        return only_readers_in(n, in) && std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == readers[0]; });
    }

    void collect(node_id root) {
        ++round_;
        cone_.assign(1, root);
        mark_[root] = round_;
        for (std::size_t i = 0; i < cone_.size(); ++i)
            for (std::size_t k = 0; k < w_.input_count(cone_[i]); ++k)
                if (const node_id x = w_.input(cone_[i], k); mark_[x] != round_) mark_[x] = round_, cone_.push_back(x);
    }
    static double elements(std::span<const dim> dims) {
        double out = 1;
        for (const dim& d : dims) out *= static_cast<double>(d.number);
        return out;
    }
    static double checkpoint_bytes(const graph& g, const node& n) {
        if (const attribute* inner = g.find(n, attr::source_graph)) {
            double sum = 0;
            for (const node& m : g.nested[inner->graph].nodes)
                if (m.op == op::constant) sum += checkpoint_bytes(g.nested[inner->graph], m);
            return sum;
        }
        if (!g.find(n, attr::source_path) && !g.find(n, attr::source_parts)) return 0;
        const attribute *shape = g.find(n, attr::source_shape), *type = g.find(n, attr::source_dtype);
        const dtype stored = type ? dtype_from_alias(g.text(type->text)) : dtype::none;
        return elements(shape ? g.shape_of(shape->list) : g.shape_of(g.outputs_of(n)[0].shape)) * static_cast<double>(byte_size(stored == dtype::none ? g.outputs_of(n)[0].type : stored));
    }
    bool allowed(node_id root) const {
        bool works = false, checkpoint = false;
        double stored = 0;
        for (const node_id n : cone_) {
            const op kind = w_.kind(n);
            if (kind == op::constant) {
                if (w_.type(n) == dtype::f4e2m1x2) return false;  // a storage decode stays with its reader
                const bool from_file = has_checkpoint(w_.g, w_.g.nodes[n]);
                checkpoint = checkpoint || from_file;
                stored += checkpoint_bytes(w_.g, w_.g.nodes[n]);
                if (!from_file) continue;  // copied freely
            } else {
                if (kind == op::elementwise && w_.g.text(w_.g.nodes[n], attr::op).starts_with("from_f8")) return false;
                works = works || !(kind == op::reshape || kind == op::slice || kind == op::transpose || kind == op::index_map);
            }
            if (n == root) continue;
            if (w_.wanted(n)) return false;
            for (const node_id reader : w_.readers(n))
                if (mark_[reader] != round_) return false;  // somebody else needs it as it is
        }
        if (!works) return false;
        if (w_.kind(root) == op::index_map && elements(w_.dims(root)) > elements(w_.dims(w_.input(root, 0)))) return false;  // a spread scalar stays a scalar
        return !checkpoint || elements(w_.dims(root)) * static_cast<double>(byte_size(w_.type(root))) <= stored;            // packed stays packed
    }
    void fold(node_id root) {
        graph inner;
        transplant move(w_.g, inner, true);
        for (std::size_t i = cone_.size(); i-- > 0;) move.copy(cone_[i]);
        move.finish();
        inner.outputs.push_back({move.place(root), 0});
        w_.g.nested.push_back(std::move(inner));
        const attribute name = w_.text_attr(attr::name, w_.id(root)), type = w_.text_attr(attr::source_dtype, token(w_.type(root)));
        const range attrs = w_.make_attrs({name, {.key = attr::source_shape, .kind = attr_kind::dims, .list = w_.shape(root)}, type,
            {.key = attr::source_graph, .kind = attr_kind::graph, .graph = static_cast<std::uint32_t>(w_.g.nested.size() - 1)}});
        w_.become(root, op::constant, attrs, edges{});
        w_.origins(root).clear();
    }

    workspace& w_;
    std::vector<node_id> order_, cone_;
    std::vector<bool> closed_, free_;
    std::vector<std::uint32_t> mark_;
    std::uint32_t round_ = 0;
};

/// A layout operator on a checkpoint tensor or a computed one becomes a step of its binding; the result is the constant. Literals stay.
inline bool bind_layout(rewriter& r, node_id n) {
    workspace& w = r.w;
    const node_id x = w.input(n, 0);
    if (w.kind(x) != op::constant) return false;
    const std::vector<attribute> old(w.g.attrs_of(w.g.nodes[x].attrs).begin(), w.g.attrs_of(w.g.nodes[x].attrs).end());
    std::vector<load_op> steps;
    bool stored = false;
    for (const attribute& a : old) {
        stored = stored || a.key == attr::source_path || a.key == attr::source_parts || a.key == attr::source_graph;
        if (a.key == attr::load_ops)
            for (std::uint32_t i = 0; i < a.list.count; ++i) steps.push_back(w.g.load_ops[a.list.first + i]);
    }
    if (!stored) return false;
    steps.push_back({w.kind(n), w.g.nodes[n].attrs});
    const attribute added{.key = attr::load_ops, .kind = attr_kind::load_ops, .list = {static_cast<std::uint32_t>(w.g.load_ops.size()), static_cast<std::uint32_t>(steps.size())}};
    w.g.load_ops.insert(w.g.load_ops.end(), steps.begin(), steps.end());
    std::vector<attribute> attrs;
    attrs.push_back(w.text_attr(attr::name, w.id(n)));
    attrs.push_back(added);
    for (const attribute& a : old)
        if (a.key != attr::name && a.key != attr::load_ops) attrs.push_back(a);
    const range list{static_cast<std::uint32_t>(w.g.attributes.size()), static_cast<std::uint32_t>(attrs.size())};
    w.g.attributes.insert(w.g.attributes.end(), attrs.begin(), attrs.end());
    w.become(n, op::constant, list, edges{});
    w.origins(n).clear();
    return true;
}

}  // namespace emmy::program::detail
