#pragma once
#include <emmy/device/emulated/machine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

/// Shared memory that knows who touched every byte, and when, by vector clocks: an access is ordered after another when the thread has learned of the other's
/// time through barriers. Threads are numbered through the cluster; behind them come the phases (mbarriers) as writers of what copies bring.
namespace emmy::device::emulated::detail {

using times = std::vector<std::uint32_t>;  ///< by thread or phase: the latest time known of it
inline void join(times& to, const times& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

constexpr std::uint16_t nobody = 0xffff;

struct shadow {
    std::uint32_t written_at = 0, read_at = 0;
    std::uint16_t writer = nobody, reader = nobody;
    std::uint16_t readers = 0;                         ///< place in the pool of reader lists, 0: at most one reader
    std::uint8_t copies = 0, products = 0;             ///< copies under way to it, matrix products that still read it
};

/// What is wrong with an access; none: nothing.
struct conflict {
    bool found = false;
    defect kind = defect::race;
    std::uint16_t other = nobody;
    const char* what = "";
};

class shared_space {
public:
    shared_space(std::size_t bytes, std::size_t clocks) : size_(bytes), storage_(bytes + 1024), shadow_(bytes), clocks_(clocks) {
        void* at = storage_.data();
        std::size_t room = storage_.size();
        base_ = static_cast<std::byte*>(std::align(1024, bytes, at, room));
        std::memset(base_, 0xff, bytes);  // a NaN in every floating type
        pool_.emplace_back();
    }
    std::byte* at(std::uint32_t address) { return base_ + address; }
    bool holds(std::uint32_t address, std::uint64_t bytes) const { return address <= size_ && bytes <= size_ - address; }

    /// A read by `who`, who knows `known`.
    conflict read(std::uint32_t address, std::uint32_t bytes, std::uint16_t who, const times& known) {
        conflict out;
        for (std::uint32_t i = address; i < address + bytes; ++i) {
            shadow& s = shadow_[i];
            if (!out.found) out = read_conflict(s, known);
            note_read(s, who, known[who]);
        }
        return out;
    }
    conflict may_read(std::uint32_t address, std::uint32_t bytes, const times& known) const {
        conflict out;
        for (std::uint32_t i = address; i < address + bytes && !out.found; ++i) out = read_conflict(shadow_[i], known);
        return out;
    }
    conflict write(std::uint32_t address, std::uint32_t bytes, std::uint16_t who, const times& known) {
        const conflict out = may_write(address, bytes, known, defect::race);
        set_writer(address, bytes, who, known[who]);
        return out;
    }
    /// Atomic operations do not race with each other: they count as one writer that everybody knows of the moment it has written.
    conflict atomic(std::uint32_t address, std::uint32_t bytes, const times& known) {
        conflict out;
        for (std::uint32_t i = address; i < address + bytes && !out.found; ++i) out = read_conflict(shadow_[i], known);
        return out;
    }
    /// May the bytes be overwritten by someone who knows `known`? `kind`: what it is called where it may not.
    conflict may_write(std::uint32_t address, std::uint32_t bytes, const times& known, defect kind) const {
        for (std::uint32_t i = address; i < address + bytes; ++i) {
            const shadow& s = shadow_[i];
            if (s.copies != 0) return {true, defect::pending_access, s.writer, "a copy is under way to it"};
            if (s.products != 0) return {true, defect::stale_slot, s.reader, "matrix products that were not waited for still read it"};
            if (s.writer != nobody && s.written_at > known[s.writer]) return {true, kind, s.writer, "was written by"};
            if (s.readers != 0) {
                const times& all = pool_[s.readers];
                for (std::size_t t = 0; t < all.size(); ++t)
                    if (all[t] > known[t]) return {true, kind, static_cast<std::uint16_t>(t), "may still be read by"};
            } else if (s.reader != nobody && s.read_at > known[s.reader]) {
                return {true, kind, s.reader, "may still be read by"};
            }
        }
        return {};
    }
    void set_writer(std::uint32_t address, std::uint32_t bytes, std::uint16_t who, std::uint32_t when) {
        for (std::uint32_t i = address; i < address + bytes; ++i) {
            shadow& s = shadow_[i];
            s.writer = who, s.written_at = when;
            if (s.readers != 0) free_.push_back(s.readers);
            s.readers = 0, s.reader = nobody;
        }
    }
    void begin_copy(std::uint32_t address, std::uint32_t bytes) {
        for (std::uint32_t i = address; i < address + bytes; ++i) ++shadow_[i].copies;
    }
    void end_copy(std::uint32_t address, std::uint32_t bytes) {
        for (std::uint32_t i = address; i < address + bytes; ++i) --shadow_[i].copies;
    }
    void begin_product(std::uint32_t address, std::uint32_t bytes, std::uint16_t who) {
        for (std::uint32_t i = address; i < address + bytes; ++i) {
            if (shadow_[i].products < 255) ++shadow_[i].products;
            if (shadow_[i].reader == nobody) shadow_[i].reader = who, shadow_[i].read_at = 0;
        }
    }
    void end_product(std::uint32_t address, std::uint32_t bytes) {
        for (std::uint32_t i = address; i < address + bytes; ++i)
            if (shadow_[i].products > 0) --shadow_[i].products;
    }
    void note_read(std::uint32_t address, std::uint32_t bytes, std::uint16_t who, std::uint32_t when) {
        for (std::uint32_t i = address; i < address + bytes; ++i) note_read(shadow_[i], who, when);
    }
    const shadow& of(std::uint32_t address) const { return shadow_[address]; }

private:
    static conflict read_conflict(const shadow& s, const times& known) {
        if (s.copies != 0) return {true, defect::pending_access, s.writer, "a copy is under way to it"};
        if (s.writer == nobody) return {true, defect::unwritten_read, nobody, "nobody wrote it"};
        if (s.written_at > known[s.writer]) return {true, defect::race, s.writer, "was written by"};
        return {};
    }
    void note_read(shadow& s, std::uint16_t who, std::uint32_t when) {
        if (s.readers != 0) {
            pool_[s.readers][who] = when;
            return;
        }
        if (s.reader == nobody || s.reader == who || s.read_at == 0) {
            s.reader = who, s.read_at = when;
            return;
        }
        if (free_.empty()) {
            if (pool_.size() >= 65535) {  // more lists than can be told apart: the latest reader stands for all
                s.reader = who, s.read_at = when;
                return;
            }
            free_.push_back(static_cast<std::uint16_t>(pool_.size()));
            pool_.emplace_back();
        }
        s.readers = free_.back();
        free_.pop_back();
        times& all = pool_[s.readers];
        all.assign(clocks_, 0);
        all[s.reader] = s.read_at, all[who] = when;
    }

    std::size_t size_;
    std::vector<std::byte> storage_;
    std::byte* base_ = nullptr;
    std::vector<shadow> shadow_;
    std::size_t clocks_;
    std::vector<times> pool_;          // [0] unused
    std::vector<std::uint16_t> free_;
};

}  // namespace emmy::device::emulated::detail
