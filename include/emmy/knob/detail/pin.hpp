#pragma once
#include <emmy/knob/pin.hpp>

#include <algorithm>

// Bodies of pin.hpp: knob/ is headers only.
namespace emmy::knob {

namespace detail {

inline bool is_token(std::string_view text) {
    for (char c : text)
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '#' || c == '-')) return false;
    return !text.empty();
}
inline result<void> bad_address(std::string_view key, std::string_view found, std::string_view expected) {
    return emmy::refuse(refusal{key, found, expected, 0}.as(fault_kind::user));
}
/// What follows @ in a pin: a buffer's name as written, anything else already lower-cased.
inline result<void> read_address(pin& out, std::string_view key, std::string_view address) {
    if (out.family->where == scope::buffer) {  // a constant may be called place_0: its name is never a kernel's
        if (!is_buffer_name(address)) return bad_address(key, address, "the name of a constant buffer");
        out.address = address;
        return {};
    }
    std::string_view rest = address;
    const auto until_slash = [&] {
        const std::string_view head = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(head.size() + 1, rest.size()));
        return head;
    };
    const bool place = out.family->name == PLACE::name;
    bool scoped = true;
    if (rest.starts_with("place_")) {
        rest.remove_prefix(6);
        const std::string_view token = until_slash();
        out.where = reach::piece;
        out.kernel = token;
        if (!is_token(token)) return bad_address(key, address, "place_ and the token of a cut piece");
    } else if (rest.starts_with("node_")) {
        out.where = reach::node;
        out.kernel = rest.substr(5);
        rest = {};
        if (!is_token(out.kernel)) return bad_address(key, address, "node_ and the id of a graph node");
    } else if (place && rest.starts_with("step.")) {
        rest.remove_prefix(5);
        const std::string_view number = until_slash();
        std::uint16_t step = 0;
        scanner in(key, number);
        if (!in.number(step) || !in.end("the end or / and a route")) return bad_address(key, address, "step. and a number from 1 up");
        out.where = reach::step;
        out.step = step;
    } else {
        scoped = false;
    }
    if (scoped && address.ends_with('/')) return bad_address(key, address, "a route after /");
    if (rest.empty()) return scoped ? result<void>() : bad_address(key, address, "a route, place_<token> or node_<id> after @");
    if (scoped && !place) return bad_address(key, address, "no route behind a kernel (PLACE alone takes one)");
    if (out.family->where == scope::kernel) return bad_address(key, address, "the bare key, place_<token> or node_<id>");
    if (const auto site = route::parse(rest, key); !site) return emmy::refuse(site.error().as(fault_kind::user));
    out.address = rest;
    return {};
}

}  // namespace detail

template <class Registry>
result<pin> parse_pin(std::string_view key, std::string_view value) {
    std::string written(key);
    const std::size_t at = std::min(written.find('@'), written.size());
    for (std::size_t i = 0; i < at; ++i)
        if (written[i] >= 'a' && written[i] <= 'z') written[i] = static_cast<char>(written[i] - 'a' + 'A');
    pin out;
    out.family = Registry::find(std::string_view(written).substr(0, at));
    if (out.family == nullptr || out.family->where != scope::buffer)
        for (std::size_t i = at; i < written.size(); ++i)
            if (written[i] >= 'A' && written[i] <= 'Z') written[i] = static_cast<char>(written[i] - 'A' + 'a');
    const split_key name(written);
    if (!out.family) {
        return emmy::refuse(refusal{"pins", key, Registry::one_of_them.view()}.as(fault_kind::user));
    }
    if (name.addressed) EMMY_CHECK_OK(detail::read_address(out, written, name.address));
    const auto text = out.family->canonical(value);
    if (!text) {
        refusal why = text.error();
        why.place = written;
        return emmy::refuse(why.as(fault_kind::user));
    }
    out.value = text->view();
    return out;
}

inline result<void> pin_list::add(pin p) {
    for (const pin& known : pins_) {
        if (known.key() != p.key()) continue;
        if (known.value == p.value) return {};
        return emmy::refuse(refusal{p.key(), p.value, "one value (it is pinned to " + (known.value.empty() ? "no text" : known.value) + " before)"}.as(fault_kind::user));
    }
    pins_.push_back(std::move(p));
    return {};
}

template <class Registry>
result<pin_list> pin_list::parse(std::string_view text) {
    pin_list out;
    detail::entry_list entries(text);
    while (const auto entry = entries.next()) {
        const parsed<knob_pair> pair = detail::key_and_value(*entry, "pins");
        if (!pair) return emmy::refuse(pair.error().as(fault_kind::user));
        EMMY_TRY(one, parse_pin<Registry>(pair->key, pair->value));
        EMMY_CHECK_OK(out.add(std::move(one)));
    }
    return out;
}

inline schedule_row pin_list::schedule_for(std::string_view kernel_name, std::string_view node_id) const {
    std::string node(node_id);
    for (char& c : node)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto reaches = [&](const pin& p) {
        if (p.where == reach::node) return p.kernel == node;
        if (p.where != reach::piece) return false;
        const std::string token = "__place_" + p.kernel;
        for (std::size_t at = kernel_name.find(token); at != std::string_view::npos; at = kernel_name.find(token, at + 1)) {
            const std::string_view after = kernel_name.substr(at + token.size());
            if (after.empty() || after.starts_with('_') || after.starts_with('#')) return true;
        }
        return false;
    };
    schedule_row out;
    const auto put = [&](const pin& p) {
        built_in::visit(p.family->name, [&]<class F>() {
            if constexpr (schedule_family<F>) {
                auto value = *F::parse(p.value);
                if constexpr (std::is_same_v<F, REDUCE>) {
                    const bool split_only = value.crosses_ctas() && value.inside() == REDUCE::off;
                    if (split_only) return;
                    value = value.inside();
                }
                out.set<F>(value, p.address.empty() ? route{} : *route::parse(p.address));
            }
        });
    };
    for (const pin& p : pins_)
        if (p.where == reach::all) put(p);
    for (const pin& p : pins_)
        if (p.where != reach::all && reaches(p)) put(p);
    return out;
}

namespace detail {
template <class F>
void unrealised_of(const schedule_row& row, const schedule_row& pinned, std::vector<std::string>& out) {
    if (const auto wanted = pinned.get<F>()) {
        bool good;
        if constexpr (F::where == scope::node) {
            over_sites<typename F::value_type> seen(*wanted, F::off);
            if (const auto bare = row.get<F>()) seen.see(*bare);
            for (std::size_t i = 0; i < row.sites(); ++i)
                if (const auto there = row.get<F>(row.site(i))) seen.see(*there);
            good = seen.sites() == 0 ? *wanted == F::off : seen.holds();
        } else {
            good = row.value<F>() == *wanted;
        }
        if (!good) out.push_back(std::string(F::name));
    }
    if constexpr (F::where == scope::node)
        for (std::size_t i = 0; i < pinned.sites(); ++i)
            if (const auto wanted = pinned.get<F>(pinned.site(i)); wanted && !(row.value<F>(pinned.site(i)) == *wanted))
                out.push_back(std::string(F::name) + "@" + std::string(pinned.site(i).spell().view()));
}
template <class F>
result<void> apply_of(schedule_row& row, const schedule_row& pinned) {
    if (const auto wanted = pinned.get<F>()) {
        std::size_t sites = 0;
        route only;
        if constexpr (F::where == scope::node)
            for (std::size_t i = 0; i < row.sites(); ++i)
                if (row.get<F>(row.site(i))) only = row.site(i), ++sites;
        if (sites > 1)
            return emmy::refuse(refusal{F::name, F::spell(*wanted).view(), "a route in the key (the family has " + std::to_string(sites) + " sites here)"}.as(fault_kind::user));
        row.set<F>(*wanted, sites == 1 ? only : route{});
    }
    if constexpr (F::where == scope::node)
        for (std::size_t i = 0; i < pinned.sites(); ++i)
            if (const auto wanted = pinned.get<F>(pinned.site(i))) row.set<F>(*wanted, pinned.site(i));
    return {};
}
}  // namespace detail

inline std::vector<std::string> unrealised(const schedule_row& row, const schedule_row& pinned) {
    std::vector<std::string> out;
    built_in::each([&]<class F>() {
        if constexpr (schedule_family<F>) detail::unrealised_of<F>(row, pinned, out);
    });
    return out;
}

inline result<schedule_row> with_pins(schedule_row row, const schedule_row& pinned) {
    result<void> ok;
    built_in::each([&]<class F>() {
        if constexpr (schedule_family<F>)
            if (ok) ok = detail::apply_of<F>(row, pinned);
    });
    EMMY_CHECK_OK(ok);
    return row;
}

}  // namespace emmy::knob
