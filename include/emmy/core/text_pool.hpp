#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace emmy {

/// Number of a name in a text_pool; 0 is the empty text.
using name_id = std::uint32_t;
constexpr name_id no_name = 0;

/// Names by number, each stored once. Usable in constant expressions (its vectors are transient there).
class text_pool {
public:
    constexpr text_pool() : ends_(1, 0u), slots_(16, no_name) {}  // value-initialised growth is no constant expression on clang 16

    constexpr name_id intern(std::string_view text) {
        if (text.empty()) return no_name;
        if ((ends_.size() + 1) * 2 > slots_.size()) grow();
        std::size_t slot = hash(text) & (slots_.size() - 1);
        for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
            if (this->text(slots_[slot]) == text) return slots_[slot];
        for (char c : text) chars_.push_back(c);
        ends_.push_back(static_cast<std::uint32_t>(chars_.size()));
        return slots_[slot] = static_cast<name_id>(ends_.size() - 1);
    }
    /// The number of a text already interned; 0 when it is not (or is empty).
    constexpr name_id find(std::string_view text) const {
        if (text.empty()) return no_name;
        for (std::size_t slot = hash(text) & (slots_.size() - 1); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
            if (this->text(slots_[slot]) == text) return slots_[slot];
        return no_name;
    }
    /// Valid until the next intern().
    constexpr std::string_view text(name_id id) const {
        if (id == 0) return {};
        return {chars_.data() + ends_[id - 1], ends_[id] - ends_[id - 1]};
    }
    constexpr std::size_t size() const { return ends_.size(); }  ///< ids are 0 … size()-1

private:
    static constexpr std::uint32_t hash(std::string_view text) {
        std::uint32_t h = 2166136261u;
        for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
        return h ^ h >> 15;
    }
    constexpr void grow() {
        std::vector<name_id> bigger(slots_.size() * 2, no_name);
        for (name_id id = 1; id < ends_.size(); ++id) {
            std::size_t slot = hash(text(id)) & (bigger.size() - 1);
            while (bigger[slot] != 0) slot = (slot + 1) & (bigger.size() - 1);
            bigger[slot] = id;
        }
        slots_ = std::move(bigger);
    }
    std::vector<char> chars_;
    std::vector<std::uint32_t> ends_;  // ends_[id] closes text id; ends_[0] = 0
    std::vector<name_id> slots_;       // open addressing, power of two
};

}  // namespace emmy
