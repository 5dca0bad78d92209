#pragma once
#include <emmy/evidence/resolve.hpp>

#include <emmy/evidence/impl/evidence_of.hpp>
#include <emmy/evidence/price.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/evidence/stored_forks.hpp>
#include <emmy/loop/body.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace emmy::evidence {
namespace detail {

constexpr std::size_t deepest_decision = 64;
constexpr std::uint32_t most_attempts = 8;

/// An option that a device refused: rows by kernel, arms by kernel.
struct blocked_options {
    std::map<digest128, std::vector<store::knob_list>> rows;
    std::set<std::pair<digest128, std::string>> arms;  // canonical text of the arm
    bool row(const digest128& kernel, const store::knob_list& r) {
        auto& list = rows[kernel];
        if (std::find(list.begin(), list.end(), r) != list.end()) return false;
        list.push_back(r);
        return true;
    }
    bool arm(const digest128& kernel, const store::knob_list& a) { return arms.emplace(kernel, store::row_text(a)).second; }
};

/// One way to answer a kernel-set fork by measured rows.
struct arm_candidate {
    std::size_t arm = 0;              // place in fork.arms
    double us = 0;
    std::string key;                  // canonical, of the arm
    std::optional<row_evidence> row;
    std::optional<arm_evidence> pieces;
    std::vector<digest128> stored;    // what the route says the arm leaves
};

inline bool before(const arm_candidate& a, const arm_candidate& b) {
    if (a.us != b.us) return a.us < b.us;
    if (a.key != b.key) return a.key < b.key;
    return a.row.has_value() && !b.row.has_value();
}

/// One attempt: every fork decided once.
class attempt {
public:
    attempt(const snapshot* evidence, fork_source& forks, const resolve_options& options, const blocked_options& blocked, const prior_hook* schedule_prior)
        : evidence_(evidence), forks_(forks), options_(options), blocked_(blocked), schedule_prior_(schedule_prior) {
        if (evidence)
            for (const producer_rank rank : {producer_rank::own, producer_rank::other}) books_.emplace_back(*evidence, rank);
    }

    result<void> target(const subject& what) {
        EMMY_TRY(at, visit(what, resolved_kernel::none, false));
        out_.roots.push_back(at);
        return {};
    }
    resolution take() { return std::move(out_); }

private:
    using children_list = realised;

    /// Decides what is open at a kernel, then what that leaves. `by_hand`: it is what a pinned arm left, and only pins go on cutting it.
    result<std::uint32_t> visit(subject what, std::uint32_t parent, bool by_hand) {
        EMMY_CHECK_OK(fit_sizes(evidence_, what));
        const auto at = static_cast<std::uint32_t>(out_.kernels.size());
        out_.kernels.push_back({});
        out_.kernels[at].what = what, out_.kernels[at].parent = parent;
        ancestors_.push_back(what.identity);
        if (ancestors_.size() > deepest_decision)
            return refuse(fault_kind::user, "found decisions nested more than " + std::to_string(deepest_decision) + " deep, expected fewer", what.name);
        std::vector<store::knob_list> recorded;
        if (evidence_) {
            EMMY_TRY(arms, stored_arms(evidence_->transaction(), what.identity));
            recorded = std::move(arms);
        }
        EMMY_TRY(open, forks_.structural(what, recorded));
        for (kernel_set_fork& fork : open) {
            std::map<std::size_t, children_list> left;
            EMMY_TRY(choice, decide(what, fork, by_hand, left));
            if (!choice) continue;
            const std::size_t arm = choice->first;
            const bool pinned = choice->second.decided == tier::pin;
            strict(choice->second);
            out_.kernels[at].forks.push_back(std::move(choice->second));
            if (arm == 0) continue;
            out_.kernels[at].set = left.at(arm).set;
            for (const subject& child : left.at(arm).pieces) {
                EMMY_TRY(place, visit(child, at, by_hand || pinned));
                out_.kernels[at].children.push_back(place);
            }
            out_.kernels[at].from_store = from_store_.contains(at_key(what, fork.arms[arm]));
            ancestors_.pop_back();
            return at;
        }
        EMMY_CHECK_OK(schedule(at));
        out_.leaves.push_back(at);
        ancestors_.pop_back();
        return at;
    }

    static std::string at_key(const subject& what, const store::knob_list& arm) { return to_hex(what.identity) + store::row_text(arm); }

    void strict(const record& r) {
        if (std::string why = strict_refusal(r, options_.strict); !why.empty()) out_.unmeasured.push_back(r.kernel + " " + r.fork + ": " + why);
    }

    /// What an arm leaves, once.
    result<const children_list*> realise(const subject& what, const kernel_set_fork& fork, std::size_t arm, std::map<std::size_t, children_list>& left) {
        if (const auto known = left.find(arm); known != left.end()) return &known->second;
        children_list made;
        if (arm == 0) {
            made.pieces.push_back(what);
        } else {
            EMMY_TRY(pieces, forks_.realise(what, fork.arms[arm]));
            made = std::move(pieces);
        }
        return &left.emplace(arm, std::move(made)).first->second;
    }

    static bool leaves(const children_list& made, const std::vector<digest128>& stored) {
        return std::equal(made.pieces.begin(), made.pieces.end(), stored.begin(), stored.end(), [](const subject& s, const digest128& d) { return s.identity == d; });
    }
    static bool leaves_in_any_order(const children_list& made, std::vector<digest128> stored) {
        std::vector<digest128> own;
        for (const subject& s : made.pieces) own.push_back(s.identity);
        std::sort(own.begin(), own.end()), std::sort(stored.begin(), stored.end());
        return own == stored;
    }

    /// The kernels of a stored decision: by its arm on this kernel; by another arm that leaves the same kernels (routes are positions of
    /// operands, and those move between compilers); else as the store has them. Which arm it was.
    result<std::size_t> take_route(const subject& what, kernel_set_fork& fork, const arm_candidate& c, std::map<std::size_t, children_list>& left, record& note) {
        const auto fits = [&](std::size_t arm) {
            const auto made = realise(what, fork, arm, left);
            return made && (leaves(**made, c.stored) || leaves_in_any_order(**made, c.stored));
        };
        if (c.arm < fork.arms.size() && fits(c.arm)) return c.arm;
        if (auto other = forks_.realise(what, c.pieces->arm, c.stored)) {  // in another reading of the body
            const std::size_t arm = c.arm < fork.arms.size() ? c.arm : fork.arms.size();
            if (arm == fork.arms.size()) fork.arms.push_back(c.pieces->arm);
            left[arm] = std::move(*other);
            return arm;
        }
        for (std::size_t arm = 1; arm < fork.arms.size(); ++arm)
            if (arm != c.arm && fits(arm)) {
                note.notes.push_back("the stored arm " + knobs_text(c.pieces->arm) + " leaves these kernels as " + knobs_text(fork.arms[arm]) + " here");
                return arm;
            }
        EMMY_TRY(pieces, stored_pieces(evidence_->transaction(), what, c.stored, what.body != nullptr));
        note.notes.push_back("no arm of this kernel leaves the stored pieces of " + knobs_text(c.pieces->arm) + ": they are taken from the store, without the buffers between them");
        const std::size_t arm = c.arm < fork.arms.size() ? c.arm : fork.arms.size();
        if (arm == fork.arms.size()) fork.arms.push_back(c.pieces->arm);
        left[arm] = {std::move(pieces), {}};
        from_store_.insert(at_key(what, fork.arms[arm]));
        return arm;
    }

    /// Ways of one rank, fastest first.
    result<std::vector<arm_candidate>> candidates(const subject& what, const kernel_set_fork& fork, const std::vector<std::size_t>& allowed, producer_rank rank, bool stored, bool built,
                                                  record& note, std::map<std::size_t, children_list>& left) {
        std::vector<arm_candidate> out;
        price_book& book = books_[rank == producer_rank::own ? 0 : 1];
        if (stored) EMMY_CHECK_OK(stored_ways(what, fork, allowed, rank, book, note, out));
        // Arms that no route prices: their pieces may be measured all the same. What a route prices already is not built again.
        if (built && evidence_->any(rank))
            for (const std::size_t arm : allowed) {
                if (arm == 0 || std::any_of(out.begin(), out.end(), [&](const auto& c) { return c.arm == arm; })) continue;
                const auto made = realise(what, fork, arm, left);
                if (!made) continue;  // refused where it is chosen
                arm_evidence pieces{fork.arms[arm], 0, {}, false};
                for (const subject& s : (*made)->pieces) {
                    if (std::find(ancestors_.begin(), ancestors_.end(), s.identity) != ancestors_.end()) break;
                    EMMY_TRY(part, book.price(s.identity, what.bindings));
                    if (!part->best()) break;
                    pieces.parts.push_back({s.identity, *part->best()});
                    pieces.us += *part->best();
                }
                if (pieces.parts.size() != (*made)->pieces.size()) continue;
                const double us = pieces.us;
                out.push_back({arm, us, store::canonical_row_key(fork.arms[arm]), {}, std::move(pieces), {}});
            }
        std::sort(out.begin(), out.end(), before);
        return out;
    }

    result<void> stored_ways(const subject& what, const kernel_set_fork& fork, const std::vector<std::size_t>& allowed, producer_rank rank, price_book& book, record& note,
                             std::vector<arm_candidate>& out) {
        const auto may = [&](std::size_t arm) { return std::find(allowed.begin(), allowed.end(), arm) != allowed.end(); };
        EMMY_TRY(rows, evidence_->rows_at(what.identity, store::bind_key(what.bindings)));
        note.rows_seen = static_cast<std::uint32_t>(rows.rows.size());
        for (const merged_row& m : rows.rows) {
            if (m.rank != rank) continue;
            EMMY_TRY(row, store::read_row(evidence_->transaction(), m.row));
            ++note.rows_tried;
            const auto arm = spelled_arm(fork, row);
            if (!arm || !may(*arm) || std::any_of(out.begin(), out.end(), [&](const auto& c) { return c.arm == *arm; })) continue;
            out.push_back({*arm, m.time.median, store::canonical_row_key(fork.arms[*arm]), shown(*evidence_, m, std::move(row), rows.bindings), {}, {}});
            break;  // rows spell no structural knob: the slower ones say the same
        }
        EMMY_TRY(priced, book.price(what.identity, what.bindings));
        for (const priced_arm& p : priced->arms) {
            const structural_family family = family_of(p.arm);
            if (family < fork.family) continue;  // decided before this fork
            std::size_t arm = 0;                 // a later fork's decision: this one leaves the kernel as it is
            if (family == fork.family) {
                const auto spelled = spelled_arm(fork, p.arm);
                // What nobody offers here is still known from the store, unless pins speak.
                if (!spelled && allowed.size() != fork.arms.size()) continue;
                arm = spelled.value_or(fork.arms.size());
            }
            if (arm < fork.arms.size() && !may(arm)) continue;
            if (blocked_.arms.contains({what.identity, store::row_text(p.arm)})) continue;
            if (std::any_of(p.pieces.begin(), p.pieces.end(), [&](const digest128& d) { return std::find(ancestors_.begin(), ancestors_.end(), d) != ancestors_.end(); })) continue;
            arm_evidence pieces{p.arm, p.us, {}, true};
            for (const digest128& d : p.pieces) {
                EMMY_TRY(part, book.price(d, what.bindings));
                pieces.parts.push_back({d, *part->best()});
            }
            out.push_back({arm, p.us, store::canonical_row_key(p.arm), {}, std::move(pieces), p.pieces});
        }
        return {};
    }

    /// Nothing where the fork is not asked.
    result<std::optional<std::pair<std::size_t, record>>> decide(const subject& what, kernel_set_fork& fork, bool by_hand, std::map<std::size_t, children_list>& left) {
        using answer = std::optional<std::pair<std::size_t, record>>;
        record out;
        out.kernel = what.name, out.identity = what.identity, out.fork = name(fork.family), out.bindings = what.bindings;
        std::vector<std::size_t> allowed = options_.pins ? pinned_arms(fork, what, *options_.pins, !by_hand || fork.family != structural_family::place) : std::vector<std::size_t>();
        if (!options_.pins)
            for (std::size_t i = 0; i < fork.arms.size(); ++i) allowed.push_back(i);
        const bool pinned = allowed.size() != fork.arms.size();
        if (allowed.empty()) return refuse(fault_kind::user, "found pins that no arm of this fork has together, expected fewer", what.name + " " + out.fork);
        if (by_hand && fork.family == structural_family::place && !pinned) return answer();  // after a cut by hand only pins cut on
        if (options_.explain) out.options = fork.arms.size();
        std::erase_if(allowed, [&](std::size_t i) { return i != 0 && blocked_.arms.contains({what.identity, store::row_text(fork.arms[i])}); });
        if (allowed.empty()) return refuse(fault_kind::device_limit, "found no arm that the device does not refuse", what.name + " " + out.fork);
        const auto finish = [&](std::size_t arm) -> result<answer> {
            if (arm != 0) EMMY_CHECK_OK(realise(what, fork, arm, left));
            if (out.chosen.empty() && arm != 0) out.chosen = fork.arms[arm];
            if (!options_.pins || options_.pins->empty()) first_[{what.identity, store::bind_key(what.bindings), fork.family}] = out;
            return answer(std::pair(arm, std::move(out)));
        };
        const bool only_stored = fork.arms.size() == 1;  // nothing is formed here; a stored route may still say what it was taken apart into
        if (allowed.size() == 1 && !only_stored) {
            out.decided = pinned ? tier::pin : tier::only_option;
            return finish(allowed.front());
        }
        if (const auto earlier = first_.find({what.identity, store::bind_key(what.bindings), fork.family}); earlier != first_.end()) {
            const record& as = earlier->second;
            const auto at = std::find(fork.arms.begin(), fork.arms.end(), as.chosen);
            const bool known = as.chosen.empty() || (at != fork.arms.end() && realise(what, fork, static_cast<std::size_t>(at - fork.arms.begin()), left));
            if (known) {
                const std::string own = std::move(out.kernel);
                out = as;
                out.notes.push_back("decided as for the equal kernel " + as.kernel);
                out.kernel = own;
                return answer(std::pair(as.chosen.empty() ? std::size_t{0} : static_cast<std::size_t>(at - fork.arms.begin()), std::move(out)));
            }
        }
        std::uint32_t unpriced = 0;
        if (evidence_)
            for (const auto& [rank, stored] : {std::pair(producer_rank::own, true), std::pair(producer_rank::other, true), std::pair(producer_rank::own, false), std::pair(producer_rank::other, false)}) {
                EMMY_TRY(ways, candidates(what, fork, allowed, rank, stored, !stored || options_.every_arm, out, left));
                EMMY_TRY(priced, books_[rank == producer_rank::own ? 0 : 1].price(what.identity, what.bindings));
                unpriced = priced->unpriced;
                if (ways.empty()) continue;
                const arm_candidate& best = ways.front();
                const bool own = rank == producer_rank::own;
                std::size_t arm = best.arm;
                const std::size_t offered = fork.arms.size();  // the place of what only the store knows
                out.decided = best.row ? (own ? tier::own_row : tier::other_row) : (own ? tier::own_pieces : tier::other_pieces);
                out.by = best.row, out.by_arm = best.pieces;
                if (arm != 0 && !best.stored.empty()) {
                    EMMY_TRY(taken, take_route(what, fork, best, left, out));
                    arm = taken;
                }
                for (const arm_candidate& c : ways)
                    if (c.arm != best.arm || (c.arm == offered && c.key != best.key)) {
                        out.runner_up = c.row, out.runner_up_arm = c.pieces;
                        out.margin = c.us / best.us - 1;
                        break;
                    }
                if (arm != 0) out.chosen = fork.arms[arm];
                return finish(arm);
            }
        // Nothing measured: say what there would have been.
        if (evidence_) {
            if (unpriced > 0) EMMY_CHECK_OK(note_other_lanes(what, out));
            if (unpriced > 0) out.notes.push_back(std::to_string(unpriced) + " stored decisions, none with all its pieces measured at these sizes by one producer");
            EMMY_TRY(lanes, evidence_->other_lanes(what.identity));
            for (const auto& [lane, rows] : lanes) out.notes.push_back(std::to_string(rows) + " measured rows of it whole in the " + lane + " lane, none in the " + lane_text(evidence_->live()) + " lane");
        }
        if (options_.arm_prior) {
            EMMY_TRY(judged, by_prior(what, fork, allowed, left, out));
            if (judged) return finish(*judged);
        }
        out.decided = tier::first_option;
        // Arms that leave a kernel which only ever failed come last.
        for (const std::size_t arm : allowed) {
            EMMY_TRY(failing, leaves_failures(what, fork, arm, left));
            if (!failing) return finish(arm);
            out.notes.push_back((arm == 0 ? std::string("whole") : knobs_text(fork.arms[arm])) + " leaves a kernel that only ever failed");
        }
        return finish(allowed.front());
    }

    /// Which lanes have measured what the stored decisions of this kernel leave.
    result<void> note_other_lanes(const subject& what, record& out) {
        EMMY_TRY(routes, store::routes_of(evidence_->transaction(), what.identity));
        std::map<std::string, std::uint32_t> lanes;
        for (const store::route& r : routes)
            for (const digest128& piece : r.children) {
                EMMY_TRY(there, evidence_->other_lanes(piece));
                for (const auto& [lane, rows] : there) lanes[lane] += rows;
            }
        for (const auto& [lane, rows] : lanes) out.notes.push_back(std::to_string(rows) + " measured rows of its pieces in the " + lane + " lane, not all of them in the " + lane_text(evidence_->live()) + " lane");
        return {};
    }

    result<bool> leaves_failures(const subject& what, const kernel_set_fork& fork, std::size_t arm, std::map<std::size_t, children_list>& left) {
        if (!evidence_) return false;
        const auto made = realise(what, fork, arm, left);
        if (!made) return true;  // cannot be taken at all
        for (const subject& s : (*made)->pieces) {
            EMMY_TRY(failed, evidence_->only_failed(s.identity));
            if (failed) return true;
        }
        return false;
    }

    /// The arm whose kernels cost the least together by the model; of equal ones the canonical first.
    result<std::optional<std::size_t>> by_prior(const subject& what, const kernel_set_fork& fork, const std::vector<std::size_t>& allowed, std::map<std::size_t, children_list>& left, record& out) {
        std::optional<std::size_t> best;
        double least = 0;
        for (const std::size_t arm : allowed) {
            const auto made = realise(what, fork, arm, left);
            if (!made) continue;
            EMMY_TRY(failing, leaves_failures(what, fork, arm, left));
            if (failing) continue;
            double us = 0;
            bool judged = true;
            for (const subject& s : (*made)->pieces) {
                const auto one = s.body ? options_.arm_prior->kernel_us(*s.body, s.bindings) : std::nullopt;
                judged = judged && one.has_value();
                us += one.value_or(0);
            }
            if (!judged) continue;
            if (!best || us < least || (us == least && store::canonical_row_key(fork.arms[arm]) < store::canonical_row_key(fork.arms[*best]))) best = arm, least = us;
        }
        if (best) out.decided = tier::prior, out.prior = options_.arm_prior->stamp(), out.predicted_us = least;
        return best;
    }

    result<void> schedule(std::uint32_t at) {
        const subject& what = out_.kernels[at].what;
        const bool free_of_pins = !options_.pins || options_.pins->empty();
        const std::pair known(what.identity, store::bind_key(what.bindings));
        if (const auto earlier = schedules_.find(known); free_of_pins && earlier != schedules_.end()) {
            const resolved_kernel& as = out_.kernels[earlier->second];
            out_.kernels[at].refused = as.refused;
            if (as.schedule) {
                record again = *as.schedule;
                again.kernel = what.name;
                strict(again);
                out_.kernels[at].schedule = std::move(again);
            }
            return {};
        }
        schedules_.emplace(known, at);
        static const knob::pin_list no_pins;
        const auto blocked = blocked_.rows.find(what.identity);
        auto options = forks_.schedules(what, options_.pins ? *options_.pins : no_pins,
                                        blocked == blocked_.rows.end() ? std::span<const store::knob_list>() : std::span<const store::knob_list>(blocked->second));
        if (!options) {
            if (options.error().kind() != fault_kind::device_limit) return refuse(options.error());
            out_.kernels[at].refused = options.error().line();
            return {};
        }
        if (!*options) {
            out_.kernels[at].refused = "every row of it is refused by the device";
            return {};
        }
        schedule_fork fork;
        fork.kernel = what.name, fork.identity = what.identity, fork.bindings = what.bindings, fork.options = options->get(), fork.body = what.body.get();
        auto picked = pick_schedule(evidence_, fork, strictness::off, schedule_prior_);
        if (!picked) {
            // A kernel of the store whose rows nobody enumerates has no first option.
            if (picked.error().kind() != fault_kind::device_limit) return refuse(picked.error());
            out_.kernels[at].refused = std::string(picked.error().message());
            record none;
            none.kernel = what.name, none.identity = what.identity, none.fork = "schedule", none.bindings = what.bindings, none.decided = tier::first_option;
            none.notes.push_back("no row of it in scope, and no options known on this target");
            strict(none);
            out_.kernels[at].schedule = std::move(none);
            return {};
        }
        if (options_.explain) picked->options = (*options)->size();
        strict(*picked);
        out_.kernels[at].schedule = std::move(*picked);
        return {};
    }

    const snapshot* evidence_;
    fork_source& forks_;
    const resolve_options& options_;
    const blocked_options& blocked_;
    const prior_hook* schedule_prior_;
    std::vector<price_book> books_;  // own, other
    std::map<std::tuple<digest128, std::uint64_t, structural_family>, record> first_;     // by kernel, sizes
    std::map<std::pair<digest128, std::uint64_t>, std::uint32_t> schedules_;
    std::set<std::string> from_store_;
    std::vector<digest128> ancestors_;
    resolution out_;
};

/// Blocks what the device refused: the row, or where that was blocked before, the cut that minted the kernel. Whether anything new was.
inline bool block_refused(const resolution& r, const lowering_check& device, blocked_options& blocked, std::vector<std::string>& notes, std::vector<std::string>& stuck) {
    bool fresh = false;
    for (const std::uint32_t leaf : r.leaves) {
        const resolved_kernel& k = r.kernels[leaf];
        const bool no_row = !k.schedule || !k.refused.empty();
        const std::string why = no_row ? k.refused : device.refuses(k.what, k.schedule->chosen);
        if (why.empty()) continue;
        stuck.push_back(k.what.name + " schedule: " + why);
        if (!no_row && blocked.row(k.what.identity, k.schedule->chosen)) {
            notes.push_back(k.what.name + ": the device refuses " + knobs_text(k.schedule->chosen) + " (" + why + "): next row");
            fresh = true;
            continue;
        }
        if (k.parent == resolved_kernel::none) continue;
        const resolved_kernel& parent = r.kernels[k.parent];
        if (!blocked.arm(parent.what.identity, parent.forks.back().chosen)) continue;
        for (const std::uint32_t c : parent.children) blocked.rows.erase(r.kernels[c].what.identity);
        notes.push_back(parent.what.name + ": " + knobs_text(parent.forks.back().chosen) + " is given up, " + k.what.name + " has no row that the device takes (" + why + ")");
        fresh = true;
    }
    return fresh;
}

}  // namespace detail

EMMY_DECL std::vector<const record*> resolution::decisions() const {
    std::vector<const record*> out;
    for (const resolved_kernel& k : kernels) {
        for (const record& r : k.forks) out.push_back(&r);
        if (k.schedule) out.push_back(&*k.schedule);
    }
    return out;
}

EMMY_DECL std::optional<double> resolution::expected_us(bool by_own) const {
    double out = 0;
    for (const std::uint32_t leaf : leaves) {
        const auto& s = kernels[leaf].schedule;
        if (!s || !s->by || s->decided != (by_own ? tier::own_row : tier::other_row)) return {};
        out += s->by->us;
    }
    return out;
}

EMMY_DECL result<resolution> resolve(std::span<const subject> targets, const snapshot* evidence, fork_source& forks, const resolve_options& options) {
    detail::blocked_options blocked;
    std::vector<std::string> notes;
    for (std::uint32_t number = 1;; ++number) {
        const bool last = number > detail::most_attempts;
        detail::attempt run(evidence, forks, options, blocked, last ? nullptr : options.prior);
        for (const subject& t : targets) EMMY_CHECK_OK(run.target(t));
        resolution out = run.take();
        out.attempts = number;
        if (options.device) {
            std::vector<std::string> stuck;
            const bool more = detail::block_refused(out, *options.device, blocked, notes, stuck);
            if (!stuck.empty() && more && !last) continue;
            if (!stuck.empty()) {
                std::string all;
                for (const std::string& s : stuck) (all += all.empty() ? "" : "; ") += s;
                return refuse(fault_kind::device_limit, "found " + std::to_string(stuck.size()) + " kernels that the device refuses after " + std::to_string(number) + " attempts: " + all, "--target");
            }
        }
        out.notes = std::move(notes);
        if (options.strict != strictness::off && options.strict_fails && !out.unmeasured.empty())
            return refuse(fault_kind::user, out.unmeasured.front() + (out.unmeasured.size() > 1 ? "; and " + std::to_string(out.unmeasured.size() - 1) + " more forks" : ""));
        return out;
    }
}

}  // namespace emmy::evidence
