#pragma once
#include <emmy/golden/document.hpp>
#include <emmy/golden/impl/read.ipp>

#include <algorithm>

namespace emmy::golden {
namespace detail {

inline bool same_map(map_view a, map_view b) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const json::member& m) {
        const json::value* other = find(b, m.key);
        return other && other->type() == m.item.type() && other->text() == m.item.text();
    });
}

/// Text of a caller as a JSON string, checked to be UTF-8 by the parser.
inline result<json::document> owned_string(std::string_view text) {
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            (quoted += '\\') += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            static constexpr char hex[] = "0123456789abcdef";
            ((quoted += "\\u00") += hex[static_cast<unsigned char>(c) >> 4]) += hex[c & 15];
        } else {
            quoted += c;
        }
    }
    return json::document::parse(quoted += '"');
}
}  // namespace detail

EMMY_DECL document document::create(std::string_view gpu_name, int compute_major, int compute_minor) {
    document out;
    out.head_.compute_major = compute_major;
    out.head_.compute_minor = compute_minor;
    if (!gpu_name.empty()) {
        out.own_.push_back(std::make_shared<const std::string>(gpu_name));
        out.head_.gpu_name = *out.own_.back();
    }
    return out;
}

EMMY_DECL result<void> document::set_header(std::optional<std::string_view> header::*field, std::string_view text) {
    EMMY_TRY(owned, detail::owned_string(text));
    head_.*field = owned.root().text();
    sources_.push_back(std::move(owned));
    return {};
}
EMMY_DECL result<void> document::set_note(std::string_view note) { return set_header(&header::note, note); }
EMMY_DECL result<void> document::set_model(std::string_view model) { return set_header(&header::model, model); }
EMMY_DECL result<void> document::set_producer(std::string_view producer) {
    head_.format = 1;
    return set_header(&header::producer, producer);
}

EMMY_DECL result<json::value> document::own(std::string_view json) {
    EMMY_TRY(parsed, json::document::parse(json, file_));
    sources_.push_back(std::move(parsed));
    return sources_.back().root();
}

EMMY_DECL result<program_index> document::add_program(std::string_view json) {
    EMMY_TRY(v, own(json));
    const json::path root{}, table = root / "programs";
    EMMY_CHECK_OK(reader{*this, {}}.program(v, table / programs_.size()));
    return static_cast<program_index>(programs_.size() - 1);
}

EMMY_DECL result<kernel_index> document::add_kernel(std::string_view json) {
    EMMY_TRY(v, own(json));
    const json::path root{}, table = root / "kernels", at = table / kernels_.size();
    EMMY_TRY(entry, reader{*this, {}}.kernel(v, at));
    if (!entry.key.empty()) return refuse(json::problem(at / "key", "found a key, expected none (it is given when the kernel is added)").in_file(file_));

    for (; identified_ < kernels_.size(); ++identified_)
        if (const auto id = identity(identified_)) by_identity_.emplace(*id, identified_);  // a body that is none equals nothing
    kernels_.push_back(entry);
    minter_.push_back(none);
    const auto fresh = static_cast<kernel_index>(kernels_.size() - 1);
    const auto id = identity(fresh);
    kernels_.pop_back();
    minter_.pop_back();
    if (!id) return refuse(id.error());
    if (const auto same = by_identity_.find(*id); same != by_identity_.end()) {
        kernel_entry& stored = kernels_[same->second];
        if (!stored.target() && entry.target()) {
            stored.traced = entry.traced;
            stored.origins = entry.origins;
            stored.bindings = entry.bindings;
        }
        return same->second;
    }
    for (int ordinal = 2; refs_.count(entry.ref()) != 0; ++ordinal) {
        own_.push_back(std::make_shared<const std::string>(std::string(entry.name) + '#' + std::to_string(ordinal)));
        entry.key = *own_.back();
    }
    EMMY_CHECK_OK(reader{*this, {}}.place(entry, at));
    by_identity_.emplace(*id, fresh);
    return fresh;
}

EMMY_DECL result<decision_index> document::add_decision(std::string_view json) {
    EMMY_TRY(v, own(json));
    const json::path root{}, table = root / "routing";
    reader in{*this, {}};
    EMMY_TRY(fresh, in.routing(v, table / routing_.size()));
    for (decision_index i = 0; i < routing_.size(); ++i) {
        if (routing_[i].parent != fresh.parent || !detail::same_map(routing_[i].arm, fresh.arm)) continue;
        routing_[i] = std::move(fresh);
        std::fill(minter_.begin(), minter_.end(), none);
        for (decision_index d = 0; d < routing_.size(); ++d)
            for (kernel_index child : routing_[d].children)
                if (minter_[child] == none) minter_[child] = d;
        return i;
    }
    in.place(std::move(fresh));
    return static_cast<decision_index>(routing_.size() - 1);
}

EMMY_DECL result<row_index> document::add_row(std::string_view json) {
    EMMY_TRY(v, own(json));
    const json::path root{}, table = root / "rows";
    EMMY_TRY(fresh, reader{*this, {}}.row(v, table / rows_.size()));
    rows_.push_back(std::move(fresh));
    return static_cast<row_index>(rows_.size() - 1);
}

EMMY_DECL result<void> document::replace_row(row_index at, std::string_view json) {
    EMMY_TRY(v, own(json));
    const json::path root{}, table = root / "rows";
    EMMY_TRY(fresh, reader{*this, {}}.row(v, table / std::size_t{at}));
    rows_[at] = std::move(fresh);
    return {};
}

EMMY_DECL void document::remove_row(row_index at) { rows_.erase(rows_.begin() + at); }

}  // namespace emmy::golden
