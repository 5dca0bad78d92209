#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

/// Interning tables: equal contents, equal numbers.
namespace emmy::loop::fusion {

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/// Open addressing over numbers whose contents live elsewhere.
class slot_table {
public:
    /// `same(number)` compares contents, `make()` adds them and gives their number.
    template <class Same, class Make>
    std::uint32_t find_or_add(std::uint64_t hash, Same&& same, Make&& make) {
        if ((used_ + 1) * 2 > slots_.size()) grow();
        std::size_t at = hash & (slots_.size() - 1);
        for (; slots_[at].number != empty; at = (at + 1) & (slots_.size() - 1))
            if (slots_[at].hash == hash && same(slots_[at].number)) return slots_[at].number;
        const std::uint32_t number = make();
        slots_[at] = {hash, number};
        ++used_;
        return number;
    }

private:
    static constexpr std::uint32_t empty = 0xffffffffu;
    struct slot {
        std::uint64_t hash = 0;
        std::uint32_t number = empty;
    };
    void grow() {
        std::vector<slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const slot& s : old) {
            if (s.number == empty) continue;
            std::size_t at = s.hash & (slots_.size() - 1);
            while (slots_[at].number != empty) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = s;
        }
    }
    std::vector<slot> slots_;
    std::size_t used_ = 0;
};

/// Lists of numbers. Number 0 is the empty list. A list's place is stable until the next intern().
class list_table {
public:
    list_table() : ends_(1, 0u) {}
    std::span<const std::uint32_t> at(std::uint32_t id) const {
        const std::uint32_t first = id == 0 ? 0 : ends_[id - 1];
        return {items_.data() + first, ends_[id] - first};
    }
    std::uint32_t intern(std::span<const std::uint32_t> list) {
        if (list.empty()) return 0;
        std::uint64_t h = list.size();
        for (std::uint32_t i : list) h = mix(h, i);
        return table_.find_or_add(
            h,
            [&](std::uint32_t id) {
                const auto known = at(id);
                if (known.size() != list.size()) return false;
                for (std::size_t i = 0; i < list.size(); ++i)
                    if (known[i] != list[i]) return false;
                return true;
            },
            [&] {
                const std::vector<std::uint32_t> copy(list.begin(), list.end());  // the list may be a view of this very table
                items_.insert(items_.end(), copy.begin(), copy.end());
                ends_.push_back(static_cast<std::uint32_t>(items_.size()));
                return static_cast<std::uint32_t>(ends_.size() - 1);
            });
    }

private:
    std::vector<std::uint32_t> items_;
    std::vector<std::uint32_t> ends_;
    slot_table table_;
};

/// Memo of pairs of numbers to a number.
class pair_memo {
public:
    static constexpr std::uint32_t absent = 0xffffffffu;
    std::uint32_t find(std::uint32_t a, std::uint32_t b) const {
        if (slots_.empty()) return absent;
        const std::uint64_t key = static_cast<std::uint64_t>(a) << 32 | b;
        for (std::size_t at = mix(0x9e3779b97f4a7c15u, key) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].value == absent) return absent;
            if (slots_[at].key == key) return slots_[at].value;
        }
    }
    void set(std::uint32_t a, std::uint32_t b, std::uint32_t value) {
        if ((used_ + 1) * 2 > slots_.size()) grow();
        put({static_cast<std::uint64_t>(a) << 32 | b, value});
    }

private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t value = absent;
    };
    void put(const slot& s) {
        std::size_t at = mix(0x9e3779b97f4a7c15u, s.key) & (slots_.size() - 1);
        while (slots_[at].value != absent && slots_[at].key != s.key) at = (at + 1) & (slots_.size() - 1);
        used_ += slots_[at].value == absent;
        slots_[at] = s;
    }
    void grow() {
        std::vector<slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        used_ = 0;
        for (const slot& s : old)
            if (s.value != absent) put(s);
    }
    std::vector<slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace emmy::loop::fusion
