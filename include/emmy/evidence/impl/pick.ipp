#pragma once
#include <emmy/evidence/pick.hpp>

#include <emmy/evidence/impl/evidence_of.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/knob/agree.hpp>

#include <algorithm>
#include <cmath>

namespace emmy::evidence {
namespace detail {

inline std::optional<knob::schedule_row> typed(const store::knob_list& row) {
    knob::schedule_row out;
    for (const auto& [name, value] : row)
        if (out.put(name, value)) return {};
    return out;
}

/// Rows of one rank and size, fastest first, asked until one is offered; then the next one offered.
inline result<bool> try_rows(const snapshot& evidence, const option_space& options, const size_rows& at, producer_rank rank, record& out) {
    bool decided = false;
    for (const merged_row& m : at.rows) {
        if (m.rank != rank) continue;
        EMMY_TRY(row, store::read_row(evidence.transaction(), m.row));
        if (!decided) ++out.rows_tried;
        auto option = options.option_for(row);
        if (!option) continue;
        if (!decided) {
            out.chosen = std::move(*option);
            out.by = shown(evidence, m, std::move(row), at.bindings);
            decided = true;
        } else if (*option != out.chosen) {
            out.runner_up = shown(evidence, m, std::move(row), at.bindings);
            out.margin = m.time.median / out.by->us - 1;
            break;
        }
    }
    return decided;
}

}  // namespace detail

EMMY_DECL std::optional<store::knob_list> listed_options::option_for(const store::knob_list& measured) const {
    for (const store::knob_list& option : options_)
        if (option == measured) return option;
    const auto row = detail::typed(measured);
    if (!row) return {};
    for (const store::knob_list& option : options_)
        if (const auto candidate = detail::typed(option); candidate && knob::agrees(*candidate, *row)) return option;
    return {};
}
EMMY_DECL result<store::knob_list> listed_options::first() const {
    if (options_.empty()) return refuse(fault_kind::user, "found no option, expected at least one under the pins in force");
    return options_.front();
}

EMMY_DECL std::string strict_refusal(const record& r, strictness strict) {
    if (strict == strictness::off || r.decided == tier::only_option || r.decided == tier::pin) return {};
    const bool own = r.decided == tier::own_row || r.decided == tier::own_pieces || r.decided == tier::nearest_own;
    if (strict == strictness::own_only ? own : measured(r.decided)) return {};
    std::string out = "decided by ";
    if (r.by) out += "a row of " + r.by->producer + " (" + r.by->source + "), expected one of this producer";
    else if (measured(r.decided)) out += std::string(name(r.decided)) + ", expected rows of this producer";
    else out += std::string(name(r.decided)) + ", expected a measured row";
    out += strict == strictness::own_only ? " or a pin (--own-only)" : " or a pin (--strict-evidence)";
    for (const std::string& note : r.notes) out += "; " + note;
    return out;
}

EMMY_DECL std::optional<double> size_distance(const store::binding_list& here, const store::binding_list& there) {
    constexpr std::int64_t decode = 16;
    if (here.size() != there.size()) return {};
    double out = 0;
    for (const auto& [symbol, size] : here) {
        const auto match = std::find_if(there.begin(), there.end(), [&](const auto& b) { return b.first == symbol; });
        if (match == there.end() || size <= 0 || match->second <= 0) return {};
        if ((size <= decode) != (match->second <= decode)) return {};
        const double ratio = std::abs(std::log2(static_cast<double>(match->second) / static_cast<double>(size)));
        if (ratio > 1) return {};
        out += ratio;
    }
    return out;
}

EMMY_DECL result<record> pick_schedule(const snapshot* evidence, const schedule_fork& fork, strictness strict, const prior_hook* prior) {
    if (fork.options == nullptr) return refuse(fault_kind::internal, "found no option space, expected schedule_fork::options to be set", fork.kernel + " " + fork.fork);
    const option_space& options = *fork.options;
    record out;
    out.kernel = fork.kernel;
    out.identity = fork.identity;
    out.fork = fork.fork;
    out.bindings = fork.bindings;
    const auto first_option = [&]() -> result<void> {
        auto first = options.first();
        if (!first) return refuse(std::move(first).error().at(fork.kernel + " " + fork.fork));
        out.chosen = std::move(*first);
        return {};
    };
    if (options.single()) {
        EMMY_CHECK_OK(first_option());
        out.decided = options.pinned() ? tier::pin : tier::only_option;
        return out;
    }

    bool decided = false;
    if (evidence) {
        const std::uint64_t bind = store::bind_key(fork.bindings);
        EMMY_TRY(exact, evidence->rows_at(fork.identity, bind));
        out.rows_seen = static_cast<std::uint32_t>(exact.rows.size());
        for (const auto& [rank, decides] : {std::pair(producer_rank::own, tier::own_row), std::pair(producer_rank::other, tier::other_row)}) {
            if (decided) break;
            EMMY_TRY(found, detail::try_rows(*evidence, options, exact, rank, out));
            decided = found;
            if (found) out.decided = decides;
        }
        if (!decided && !fork.bindings.empty()) {
            struct near {
                double distance, size;  // size: product, by its logarithm
                size_rows rows;
            };
            std::vector<near> sizes;
            EMMY_TRY(binds, evidence->sizes_of(fork.identity));
            for (const std::uint64_t other : binds) {
                if (other == bind || other == 0) continue;
                EMMY_TRY(bindings, store::read_bindings(evidence->transaction(), other));
                const auto distance = size_distance(fork.bindings, bindings);
                if (!distance) continue;
                EMMY_TRY(rows, evidence->rows_at(fork.identity, other));
                out.rows_seen += static_cast<std::uint32_t>(rows.rows.size());
                double size = 0;
                for (const auto& b : bindings) size += std::log2(static_cast<double>(b.second));
                sizes.push_back({*distance, size, std::move(rows)});
            }
            std::sort(sizes.begin(), sizes.end(), [](const near& a, const near& b) {
                if (a.distance != b.distance) return a.distance < b.distance;
                return a.size != b.size ? a.size > b.size : store::bind_text(a.rows.bindings) < store::bind_text(b.rows.bindings);
            });
            for (const auto& [rank, decides] : {std::pair(producer_rank::own, tier::nearest_own), std::pair(producer_rank::other, tier::nearest_other)})
                for (const near& at : sizes) {
                    if (decided) break;
                    EMMY_TRY(found, detail::try_rows(*evidence, options, at.rows, rank, out));
                    decided = found;
                    if (found) out.decided = decides;
                }
        }
        if (!decided) {
            if (out.rows_seen > 0) out.notes.push_back(std::to_string(out.rows_seen) + " measured rows, none of them offered here");
            EMMY_TRY(lanes, evidence->other_lanes(fork.identity));
            for (const auto& [lane, rows] : lanes)
                out.notes.push_back(std::to_string(rows) + " measured rows in the " + lane + " lane, " + (out.rows_seen > 0 ? "none of use" : "none") + " in the " + lane_text(evidence->live()) + " lane");
        }
    }
    if (!decided && prior)
        if (auto choice = prior->best(fork)) {
            out.chosen = std::move(choice->row);
            out.prior = prior->stamp(), out.predicted_us = choice->us;
            out.decided = tier::prior;
            decided = true;
        }
    if (!decided) {
        EMMY_CHECK_OK(first_option());
        out.decided = tier::first_option;
    }
    if (std::string why = strict_refusal(out, strict); !why.empty()) return refuse(fault_kind::user, std::move(why), fork.kernel + " " + fork.fork);
    return out;
}

}  // namespace emmy::evidence
