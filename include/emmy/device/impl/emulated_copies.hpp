#pragma once
#include <emmy/device/impl/emulated_cluster.hpp>

/// Copies that go on while threads work: cp.async, tensor and bulk copies.
namespace emmy::device::emulated::detail {

/// cp.async: shared address, pointer, bytes, bytes that are read (the rest are zeros). What is read is read now; when it arrives is the setting's business.
inline void cluster::copy(const std::uint64_t* a, int line) {
    const auto bytes = static_cast<std::uint32_t>(a[2]), reads = static_cast<std::uint32_t>(std::min(a[3], a[2]));
    if (bytes != 4 && bytes != 8 && bytes != 16) return find(defect::misaligned, "a copy of " + std::to_string(bytes) + " bytes, expected 4, 8 or 16", line);
    std::byte* to = shared(a[0], bytes, bytes, line);
    const std::byte* from = reads == 0 ? nowhere_ : global(a[1], reads, false, line);
    if (!to || !from) return;
    const auto address = static_cast<std::uint32_t>(a[0]);
    shared_space& space = memory_[address >> 24];
    judge(space.may_write(address & 0xffffffu, bytes, me().known, defect::stale_slot), address, "a copy", line);
    thread_state::copied c{address, bytes, std::vector<std::byte>(bytes)};
    std::memcpy(c.data.data(), from, reads);
    space.begin_copy(address & 0xffffffu, bytes);
    if (how_.copies == landing::early || (how_.copies == landing::random && draw() % 2 == 0)) std::memcpy(to, c.data.data(), bytes);
    me().open.push_back(std::move(c));
}

/// The thread knows its copies from here on; others learn of them from it.
inline void cluster::land_group(std::vector<thread_state::copied>& group) {
    for (thread_state::copied& c : group) {
        shared_space& space = memory_[c.to >> 24];
        std::memcpy(space.at(c.to & 0xffffffu), c.data.data(), c.bytes);
        space.end_copy(c.to & 0xffffffu, c.bytes);
        space.set_writer(c.to & 0xffffffu, c.bytes, self(), me().known[current_]);
        ++out_.landed_copies;
    }
}

inline void cluster::copy_wait(std::size_t left) {
    thread_state& t = me();
    while (t.groups.size() > left) {
        land_group(t.groups.front());
        t.groups.pop_front();
    }
    // What was not committed is waited for only where nothing may be left.
    if (left == 0) land_group(t.open), t.open.clear();
}

/// Checks the places a copy will write, marks them, and keeps it until it lands.
inline void cluster::begin(async_copy c, int line) {
    for (const async_copy::piece& piece : c.pieces) {
        shared_space& space = memory_[piece.to >> 24];
        judge(space.may_write(piece.to & 0xffffffu, piece.bytes, me().known, defect::stale_slot), piece.to, "a copy", line);
        space.begin_copy(piece.to & 0xffffffu, piece.bytes);
    }
    copies_.push_back(std::move(c));
    if (how_.copies == landing::early) land(copies_.size() - 1);
}

inline void cluster::land(std::size_t which) {
    async_copy c = std::move(copies_[which]);
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto found = phases_.find(c.phase);
    if (found == phases_.end()) return;
    phase_barrier& p = found->second;
    p.collected[p.number] = ++p.landed;
    for (const async_copy::piece& piece : c.pieces) {
        shared_space& space = memory_[piece.to >> 24];
        std::memcpy(space.at(piece.to & 0xffffffu), piece.data.data(), piece.bytes);
        space.end_copy(piece.to & 0xffffffu, piece.bytes);
        space.set_writer(piece.to & 0xffffffu, piece.bytes, p.number, p.landed);
        ++out_.landed_copies;
    }
    if (c.arrival) {
        if (p.missing > 0) --p.missing;
    } else {
        p.bytes -= c.bytes;
    }
    phase_step(p);
}

/// map, shared address, phase address, dimensions, coordinates: the box, zeros where it leaves the tensor; the bytes of the whole box arrive.
inline void cluster::tensor_load(const std::uint64_t* a, int line) {
    const auto& map = *reinterpret_cast<const tensor_map*>(a[0]);
    phase_barrier* p = phase(a[2], line);
    if (!p) return;
    if (map.dimensions != a[3] || map.dimensions == 0 || map.dimensions > 5)
        return find(defect::barrier_misuse, "a box of " + std::to_string(a[3]) + " dimensions of a map with " + std::to_string(map.dimensions), line);
    const std::uint32_t width = map.box[0] * map.element_bytes, pitch = map.swizzle != 0 ? std::max(width, map.swizzle) : width;
    std::uint64_t rows = 1;
    for (std::uint32_t d = 1; d < map.dimensions; ++d) rows *= map.box[d];
    if (!shared(a[1], pitch * rows, 128, line)) return;
    async_copy c;
    c.phase = static_cast<std::uint32_t>(a[2]), c.bytes = static_cast<std::int64_t>(width * rows);
    const auto base = static_cast<std::uint32_t>(a[1]);
    for (std::uint64_t row = 0; row < rows; ++row) {
        const std::byte* line_of = static_cast<const std::byte*>(map.base);
        bool inside = true;
        std::uint64_t rest = row;
        for (std::uint32_t d = 1; d < map.dimensions; ++d) {
            const std::int64_t at = static_cast<std::int64_t>(a[4 + d]) + static_cast<std::int64_t>(rest % map.box[d]);
            rest /= map.box[d];
            inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map.size[d];
            line_of += at * static_cast<std::int64_t>(map.stride[d]);
        }
        for (std::uint32_t piece = 0; piece < width; piece += 16) {
            const std::uint32_t bytes = std::min(16u, width - piece);
            std::vector<std::byte> data(bytes);
            for (std::uint32_t e = 0; inside && e < bytes; e += map.element_bytes) {
                const std::int64_t at = static_cast<std::int64_t>(a[4]) + (piece + e) / map.element_bytes;
                if (at >= 0 && static_cast<std::uint64_t>(at) < map.size[0]) std::memcpy(&data[e], line_of + at * map.element_bytes, map.element_bytes);
            }
            c.pieces.push_back({kernel::emulated::swizzled(static_cast<std::uint32_t>(base + row * pitch + piece), map.swizzle), bytes, std::move(data)});
        }
    }
    begin(std::move(c), line);
}

inline void cluster::bulk_load(const std::uint64_t* a, int line) {
    phase_barrier* p = phase(a[3], line);
    if (!p) return;
    const auto bytes = static_cast<std::uint32_t>(a[2]);
    if (bytes % 16 != 0) return find(defect::misaligned, "a bulk copy of " + std::to_string(bytes) + " bytes, expected a multiple of 16", line);
    const std::byte* from = global(a[1], bytes, false, line);
    if (!shared(a[0], bytes, 16, line) || !from) return;
    async_copy c;
    c.phase = static_cast<std::uint32_t>(a[3]), c.bytes = bytes;
    c.pieces.push_back({static_cast<std::uint32_t>(a[0]), bytes, std::vector<std::byte>(from, from + bytes)});
    begin(std::move(c), line);
}

}  // namespace emmy::device::emulated::detail
