#pragma once
#include <emmy/evidence/formed_forks.hpp>

#include <emmy/evidence/stored_forks.hpp>
#include <emmy/fork/structure.hpp>
#include <emmy/loop/identity.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace emmy::evidence {
namespace detail {

/// A piece as it was minted: routes of it are positions in this tree, not in what its body lifts to.
struct minted_form final : minted_state {
    std::shared_ptr<const fork::kernel_set> set;
    const fork::piece* piece = nullptr;  // of the set
};

inline result<knob::routing_row> routing_of(const store::knob_list& arm) {
    std::vector<knob::knob_pair> pairs;
    for (const auto& [key, value] : arm) pairs.push_back({key, value});
    return knob::routing_row::parse(pairs);
}
inline store::knob_list texts_of(const knob::routing_row& row) {
    store::knob_list out;
    row.each([&](std::string_view key, std::string_view value) { out.emplace_back(key, value); });
    return out;
}
inline structural_family family_named(std::string_view name) {
    return name == "PLACE" ? structural_family::place : name == "LAYOUT" ? structural_family::layout : structural_family::reduce;
}
}  // namespace detail

struct formed_forks::forms {
    struct lifted {
        std::shared_ptr<const loop::kernel> body;  // kept: its address is the key
        std::map<fold::closed::spelling, std::optional<fold::kernel_form>> as;
        std::string why;                           // of the stored order, where it does not lift
    };
    std::map<const loop::kernel*, lifted> of;
    std::vector<std::string> transposed;

    const fold::kernel_form* form(const subject& whole, fold::closed::spelling how = fold::closed::spelling::stored) {
        if (const auto* minted = dynamic_cast<const detail::minted_form*>(whole.minted.get())) return how == fold::closed::spelling::stored ? &minted->piece->form : nullptr;
        if (!whole.body) return nullptr;
        lifted& l = of[whole.body.get()];
        l.body = whole.body;
        auto at = l.as.find(how);
        if (at == l.as.end()) {
            at = l.as.emplace(how, std::nullopt).first;
            auto made = fold::form_of(*whole.body, how);
            if (made) at->second = std::move(*made);
            else if (l.why.empty()) l.why = made.error().line();
        }
        return at->second ? &*at->second : nullptr;
    }
    std::string why(const subject& whole) { return whole.body ? of[whole.body.get()].why : "only its identity is known"; }
};

EMMY_DECL formed_forks::formed_forks() : forms_(std::make_unique<forms>()) {}
EMMY_DECL formed_forks::~formed_forks() = default;
EMMY_DECL void formed_forks::transposed_constants(std::vector<std::string> names) { forms_->transposed = std::move(names); }

EMMY_DECL const fold::kernel_form* formed_forks::form_of(const subject& what) { return forms_->form(what); }

EMMY_DECL result<std::vector<kernel_set_fork>> formed_forks::structural(const subject& whole, std::span<const store::knob_list> recorded) {
    std::vector<kernel_set_fork> out;
    const fold::kernel_form* form = forms_->form(whole);
    if (form) {
        const auto* minted = dynamic_cast<const detail::minted_form*>(whole.minted.get());
        std::vector<knob::routing_row> routes;
        for (const store::knob_list& arm : recorded)
            if (auto row = detail::routing_of(arm)) routes.push_back(std::move(*row));
        std::vector<std::string_view> transposed(forms_->transposed.begin(), forms_->transposed.end());
        fork::structural_request request;
        request.routes = routes, request.transposed = transposed, request.splits = !minted || minted->piece->splits;
        const auto offered = fork::structural_options(*form, request);
        if (!offered && offered.error().kind() == fault_kind::internal) return refuse(offered.error());
        for (const fork::structural_fork& f : offered ? std::span<const fork::structural_fork>(*offered) : std::span<const fork::structural_fork>()) {  // without a term of the right form: none
            kernel_set_fork one;
            one.family = detail::family_named(f.family);
            for (const fork::structural_arm& a : f.arms) {
                one.arms.push_back(detail::texts_of(a.row));
                for (const auto& k : one.arms.back())
                    if (std::none_of(one.places.begin(), one.places.end(), [&](const auto& p) { return p.key == k.first; })) one.places.push_back({k.first, {}});
            }
            // Other names of the same seams matter where a stored arm uses one.
            const bool other_names = one.family == structural_family::place && std::any_of(recorded.begin(), recorded.end(), [&](const store::knob_list& arm) {
                return std::any_of(arm.begin(), arm.end(), [&](const auto& k) { return std::none_of(one.places.begin(), one.places.end(), [&](const auto& p) { return p.key == k.first; }); });
            });
            if (other_names)
                for (const fold::closed::seam& s : fold::closed::seams(form->terms))
                    for (place_of_choice& p : one.places)
                        if (p.key == "PLACE@" + s.address)
                            for (const std::string& alias : s.aliases) p.aliases.push_back("PLACE@" + alias);
            out.push_back(std::move(one));
        }
    }
    // What only the store knows of this kernel is asked about all the same.
    for (const structural_family family : {structural_family::place, structural_family::layout, structural_family::reduce}) {
        if (std::any_of(out.begin(), out.end(), [&](const auto& f) { return f.family == family; })) continue;
        if (std::none_of(recorded.begin(), recorded.end(), [&](const auto& arm) { return family_of(arm) == family; })) continue;
        kernel_set_fork only;
        only.family = family;
        only.arms.emplace_back();
        out.push_back(std::move(only));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.family < b.family; });
    return out;
}

EMMY_DECL result<realised> formed_forks::realise(const subject& whole, const store::knob_list& arm, std::span<const digest128> expected) {
    EMMY_TRY(row, detail::routing_of(arm));
    std::vector<digest128> wanted(expected.begin(), expected.end());
    std::sort(wanted.begin(), wanted.end());
    std::optional<fault> why;
    for (const auto how : fold::closed::spellings) {
        const fold::kernel_form* form = forms_->form(whole, how);
        if (!form) continue;
        auto made = fork::realise(*form, row);
        if (!made) {
            if (!why) why = made.error();
            if (expected.empty()) break;
            continue;
        }
        const auto set = std::make_shared<const fork::kernel_set>(std::move(*made));
        realised out;
        out.set = set;
        std::vector<digest128> own;
        for (const fork::piece& p : set->pieces) {
            subject s;
            s.name = p.form.kernel.name, s.node_id = p.form.kernel.node_id, s.bindings = whole.bindings;
            s.identity = loop::identity(p.form.kernel);
            s.body = std::shared_ptr<const loop::kernel>(set, &p.form.kernel);
            auto state = std::make_shared<detail::minted_form>();
            state->set = set, state->piece = &p;
            s.minted = std::move(state);
            own.push_back(s.identity);
            out.pieces.push_back(std::move(s));
        }
        std::sort(own.begin(), own.end());
        if (expected.empty() || own == wanted) return out;
    }
    if (why) return refuse(std::move(*why));
    return refuse(fault_kind::user, expected.empty() ? "found no term of it: " + forms_->why(whole) : "found no reading of it in which the arm leaves these kernels", whole.name);
}

}  // namespace emmy::evidence
