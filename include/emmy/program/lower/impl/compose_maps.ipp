#pragma once
#include <emmy/program/lower/impl/map_rules.ipp>

#include <algorithm>

namespace emmy::program::detail {

/// A map that converts becomes a copy at its input's shape (`<o>_cast`) and a map that keeps the type.
inline void split_casts(rewriter& r) {
    workspace& w = r.w;
    for (const node_id n : w.take(op::index_map)) {
        if (!w.alive(n) || w.kind(n) != op::index_map) continue;
        std::vector<node_id> inputs;
        bool changed = false;
        w.enter(n);
        for (std::size_t i = 0; i < w.input_count(n); ++i) {
            node_id x = w.input(n, i);
            if (w.type(x) != w.type(n)) x = w.pointwise(w.id(n) + "_cast", "copy", {x}, w.type(n), w.shape(x)), changed = true;
            inputs.push_back(x);
        }
        if (changed) w.become(n, op::index_map, w.g.nodes[n].attrs, inputs);
    }
    w.take(op::index_map);
}

/// A map of one source that only one map reads is read through: coordinates put into coordinates, nothing simplified.
class map_composition {
public:
    explicit map_composition(rewriter& r) : r_(r), w_(r.w) {}

    void run() {
        std::vector<node_id> todo = order();
        while (!todo.empty()) {
            std::vector<node_id> again;
            for (const node_id n : todo)
                if (const node_id reader = reader_of(n); reader != no_node) {
                    put(n, reader);
                    for (std::size_t i = 0; i < w_.input_count(reader); ++i) again.push_back(w_.input(reader, i));  // may have lost its other reader
                }
            todo.swap(again);
        }
    }

private:
    /// Living maps, producers first.
    std::vector<node_id> order() const {
        std::vector<std::uint32_t> waiting(w_.size(), 0);
        std::vector<node_id> all, out;
        for (node_id n = 0; n < w_.size(); ++n)
            if (w_.alive(n) && (waiting[n] = static_cast<std::uint32_t>(w_.input_count(n))) == 0) all.push_back(n);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (w_.kind(all[i]) == op::index_map) out.push_back(all[i]);
            for (const node_id reader : w_.readers(all[i]))
                if (--waiting[reader] == 0) all.push_back(reader);
        }
        return out;
    }
    range sources(node_id n) const { return w_.g.find(w_.g.nodes[n], attr::sources)->list; }
    node_id reader_of(node_id n) const {
        if (!w_.alive(n) || w_.kind(n) != op::index_map || w_.wanted(n) || sources(n).count != 1) return no_node;
        const auto& readers = w_.readers(n);
        if (readers.empty() || w_.kind(readers[0]) != op::index_map) return no_node;
        return std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == readers[0]; }) ? readers[0] : no_node;
    }
    void put(node_id producer, node_id reader) {
        const map_source inner = w_.g.sources[sources(producer).first];
        const node_id x = w_.input(producer, static_cast<std::size_t>(inner.input_idx));
        std::vector<node_id> inputs;
        const auto slot = [&](node_id n) {
            const auto at = std::find(inputs.begin(), inputs.end(), n);
            if (at != inputs.end()) return at - inputs.begin();
            inputs.push_back(n);
            return static_cast<std::ptrdiff_t>(inputs.size() - 1);
        };
        std::vector<rewriter::source> made;
        const range list = sources(reader);
        for (std::uint32_t i = 0; i < list.count; ++i) {
            const map_source s = w_.g.sources[list.first + i];
            std::vector<expr_id> coordinates(w_.g.coordinates.begin() + s.coord_map.first, w_.g.coordinates.begin() + s.coord_map.first + s.coord_map.count);
            const node_id read = w_.input(reader, static_cast<std::size_t>(s.input_idx));
            if (read == producer) {
                std::vector<expr_id> through;
                for (std::uint32_t k = 0; k < inner.coord_map.count; ++k) through.push_back(r_.c.substitute(w_.g.coordinates[inner.coord_map.first + k], coordinates));
                coordinates = std::move(through);
            }
            made.push_back({slot(read == producer ? x : read), std::move(coordinates), s.select});
        }
        if (!w_.transient(producer) && w_.transient(x) && w_.transient(reader) && w_.type(x) == w_.type(producer)) w_.set_transient(x, false);  // the rounding point stays
        auto& origins = w_.origins(reader);
        for (const node_id o : w_.origins(producer))
            if (std::find(origins.begin(), origins.end(), o) == origins.end()) origins.push_back(o);
        w_.become(reader, op::index_map, r_.map_attrs(w_.shape(reader), made), inputs);
    }

    rewriter& r_;
    workspace& w_;
};

}  // namespace emmy::program::detail
