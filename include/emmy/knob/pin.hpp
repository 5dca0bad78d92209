#pragma once
#include <emmy/knob/agree.hpp>
#include <emmy/knob/detail/entries.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/routing_row.hpp>
#include <emmy/knob/schedule_row.hpp>
#include <emmy/knob/space/text_pin.hpp>

#include <string>
#include <vector>

namespace emmy::knob {

/// Which kernels a pin reaches.
enum class reach : std::uint8_t {
    all,    ///< FAMILY, FAMILY@route, LAYOUT@buffer
    piece,  ///< FAMILY@place_<token>, PLACE@place_<token>/route: the piece of a cut with this token in its name
    node,   ///< FAMILY@node_<id>: the kernel of this graph node
    step    ///< PLACE@step.<n>, PLACE@step.<n>/route: the n-th remainder of successive cuts
};

/// One wish of the user: this family takes this value.
struct pin {
    const family_info* family = nullptr;
    reach where = reach::all;
    std::string kernel;  ///< token of a piece or id of a node
    int step = 0;        ///< of reach::step, from 1
    std::string address;  ///< route or buffer; empty = bare
    std::string value;    ///< canonical

    std::string key() const {
        std::string out(family->name), at;
        if (where == reach::piece) at = "place_" + kernel;
        if (where == reach::node) at = "node_" + kernel;
        if (where == reach::step) at = "step." + std::to_string(step);
        if (!address.empty()) at += (at.empty() ? "" : "/") + address;
        return at.empty() ? out : out + "@" + at;
    }
    bool structural() const { return family->meaning == role::structural || is_structural(family->name, value); }
    bool operator==(const pin&) const = default;
};

/// A pin from a key and a value, as command lines and environments give them: the family in any case; what follows @ is
/// lower-cased, but a buffer's name (LAYOUT@Linear_W) is kept as written and never read as the scope of a kernel.
/// Of a registry with families of your own: parse_pin<built_in::with<VEC>>(key, value), pin_list::parse<…>(text).
/// Errors (user): no such family, an address that its scope does not take, a value that is not canonical.
template <class Registry = built_in>
result<pin> parse_pin(std::string_view key, std::string_view value);

/// KEY=VALUE{,KEY=VALUE}; blanks separate entries too, as tools print rows; no text = no pins. A repeated pin counts once.
class pin_list {
public:
    /// Errors (user): as parse_pin; an entry without =; one key with two values.
    template <class Registry = built_in>
    static result<pin_list> parse(std::string_view text);
    result<void> add(pin p);

    bool empty() const { return pins_.empty(); }
    std::size_t size() const { return pins_.size(); }
    auto begin() const { return pins_.begin(); }
    auto end() const { return pins_.end(); }

    /// Value of a regime family (bare), if pinned.
    const pin* find(std::string_view family) const {
        for (const pin& p : pins_)
            if (p.family->name == family && p.where == reach::all && p.address.empty()) return &p;
        return nullptr;
    }
    /// The schedule pins that reach a kernel, by its C name and its graph node's id (either may be empty), as a row; the cross-CTA
    /// half of a REDUCE is left out. A pin scoped to the kernel shadows the unscoped one of its key.
    schedule_row schedule_for(std::string_view kernel_name, std::string_view node_id = {}) const;

private:
    std::vector<pin> pins_;
};

/// Keys of pinned choices that a row does not realise, as texts. A bare pin over several sites: some site carries the value, every
/// other one carries it too or is OFF. An OFF pin is realised by absence. Empty = the row honours the pins.
std::vector<std::string> unrealised(const schedule_row& row, const schedule_row& pinned);
inline bool honours(const schedule_row& row, const schedule_row& pinned) { return unrealised(row, pinned).empty(); }

/// The row with pinned values put in their places. Error (user): a bare pin where the row has the family at several sites.
result<schedule_row> with_pins(schedule_row row, const schedule_row& pinned);

/// A space pinned by the entries of a list that reach every kernel and name a family of its rows; the others are not its concern.
/// Error (user): a value that the family of the rows does not take (the list may have been read with another registry).
template <row_space S>
auto pin_by(const S& s, const pin_list& pins) -> result<decltype(detail::push_pins(s, pinned<row_of<S>>{}))> {
    pinned<row_of<S>> out;
    std::optional<refusal> why;
    for (const pin& p : pins) {
        if (p.where != reach::all) continue;
        const std::string key = p.key();
        out.read(key, p.value, why);
        if (why) return emmy::refuse(why->as(fault_kind::user));
    }
    return detail::push_pins(s, out);
}

}  // namespace emmy::knob

#include <emmy/knob/detail/pin.hpp>
