#pragma once
#include <emmy/fork/gpu/kernel.hpp>
#include <emmy/knob/stage.hpp>
#include <emmy/knob/target.hpp>
#include <emmy/knob/tile.hpp>
#include <emmy/knob/work.hpp>

#include <algorithm>

/// How the operands of a tile travel, and the bytes of shared memory that they take there. Every formula is monotone in every size of a row, so
/// that the deepest ring follows from a budget without trying depths.
namespace emmy::fork::gpu {

/// Which mechanism a stage names; it follows from the site, the tile and the card.
enum class path : std::uint8_t {
    none,     ///< no text: global to registers
    copy,     ///< stored operands as they are: cp.async, TMA, or blocking where the card has no cp.async
    fill,     ///< threads evaluate computed or converted operands into the slab, stored ones are copied beside
    chunk,    ///< the values (and keys) of a rescaled fold, chunk by chunk
    bytes,    ///< packed weights of a byte or less an element, decoded on the way into 16-bit fragments
    packed,   ///< pairs of 4-bit floats with block scales
    scalar    ///< operands of a tile of threads
};

/// 16-bit weights that are stored in bytes.
constexpr bool is_byte_weight(const operand& o) { return o.raw != dtype::none && byte_size(o.type) == 2; }
/// Neither a copy nor a weight in bytes: threads have to look at its elements.
constexpr bool is_filled(const operand& o) { return !is_byte_weight(o) && (!o.stored || o.converts || !o.unit_stride); }

constexpr path path_of(const site& s, const knob::tile& t) {
    if (!t.is_warp()) return path::scalar;
    const knob::atom_facts& atom = knob::facts(t.atom);
    if (atom.operand == dtype::f4e2m1x2) return path::packed;
    if (s.chunked) return path::chunk;
    if (byte_size(atom.operand) == 2 && (is_byte_weight(s.a) || is_byte_weight(s.b))) return path::bytes;
    return is_filled(s.a) || is_filled(s.b) ? path::fill : path::copy;
}

/// Bytes of shared memory: depth times `slot`, and `once`.
struct slab {
    std::int64_t slot = 0, once = 0;
    constexpr std::int64_t bytes(std::int64_t depth) const { return depth * slot + once; }
    /// The deepest ring within a budget; 0 where not even one slot fits.
    constexpr std::int64_t deepest(std::int64_t budget) const { return once > budget ? 0 : slot == 0 ? 8 : (budget - once) / slot; }
};

/// Elements of k that a scalar tile takes at a time: the largest of 128, 64, ..., 4 that divides K and whose ring of `depth` fits.
constexpr std::int64_t scalar_chunk(const site& s, const knob::tile& t, const knob::work& w, std::int64_t depth, std::int64_t budget) {
    const std::int64_t row = t.rows(w) * std::max<std::int64_t>(1, byte_size(s.a.storage)) + s.channels * t.columns(w) * std::max<std::int64_t>(1, byte_size(s.b.storage));
    for (std::int64_t chunk = 128; chunk >= 4; chunk /= 2)
        if (s.k != 0 && s.k % chunk == 0 && depth * chunk * row <= budget) return chunk;
    return 0;
}

/// The slab of a tile at a site; `score`: the contraction whose results a chunked one rescales.
constexpr slab slab_of(const site& s, const knob::tile& t, const knob::work& w, knob::transport by, const site* score) {
    const std::int64_t rows = t.rows(w), columns = t.columns(w), chunk = t.chunk();
    const std::int64_t e = t.is_warp() ? static_cast<std::int64_t>(byte_size(knob::facts(t.atom).operand)) : 0;
    switch (path_of(s, t)) {
        case path::none: return {};
        case path::copy: {
            const std::int64_t pad = by == knob::transport::async && e == 1 ? 16 : 0;
            const std::int64_t b = s.b.k_last ? columns * (chunk + pad) : chunk * (columns + pad);
            return {rows * (chunk + pad) * e + s.channels * b * e, 0};
        }
        case path::fill: {
            const std::int64_t a = rows * chunk * e, b = chunk * columns * e;
            slab out;
            (is_filled(s.a) ? out.once : out.slot) += a;
            (is_filled(s.b) ? out.once : out.slot) += s.channels * b;
            if (s.a.per_row) out.once += 4 * rows;
            return out;
        }
        case path::chunk: {
            slab out{chunk * columns * e, 0};
            if (score != nullptr && score->b.stored && score->k > 0) out.slot += chunk * score->k * e;
            return out;
        }
        case path::bytes: {
            const std::int64_t pad = by == knob::transport::async ? 16 : 0;
            return {(is_filled(s.a) ? 0 : rows * chunk * 2) + s.channels * columns * (chunk + pad) / (s.b.raw == dtype::f4e2m1x2 ? 2 : 1), is_filled(s.a) ? rows * chunk * 2 : 0};
        }
        case path::packed: {
            const std::int64_t pad = by == knob::transport::async ? 16 : 0, row = chunk / 2 + chunk / 16 + 2 * pad;
            return {(rows + s.channels * columns) * row + (by == knob::transport::tma ? 8 : 0), 0};
        }
        case path::scalar: return {};  // by scalar_chunk: the chunk gives way to the ring
    }
    return {};
}

}  // namespace emmy::fork::gpu
