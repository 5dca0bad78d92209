#pragma once
#include <emmy/evidence/import.hpp>

#include <emmy/core/card.hpp>
#include <emmy/core/dim_wire.hpp>
#include <emmy/core/file.hpp>
#include <emmy/evidence/impl/digest.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/store/tables.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <tuple>

namespace emmy::evidence {
namespace detail {

/// A symbol of a kernel's buffers and the size it has when nothing says otherwise.
struct symbol {
    std::string name;
    std::int64_t hint = default_hint;
};
inline void collect_symbols(expr_id id, const expr_pool& pool, const text_pool& names, std::vector<symbol>& out) {
    const expr& e = pool[id];
    if (e.kind == expr_kind::name) {
        const std::string_view text = names.text(e.name);
        if (std::none_of(out.begin(), out.end(), [&](const symbol& s) { return s.name == text; })) out.push_back({std::string(text), default_hint});
    }
    if (e.kind == expr_kind::call)
        for (expr_id arg : pool.args(e)) collect_symbols(arg, pool, names, out);
    else
        for (expr_id part : {e.a, e.b, e.c})
            if (part != no_expr) collect_symbols(part, pool, names, out);
}
/// Symbols that the shapes of a stored body name; reads shapes only.
inline std::vector<symbol> symbols_of(const json::value& loop_ir) {
    std::vector<symbol> out;
    const json::value* nodes = loop_ir.find("nodes");
    if (!nodes) return out;
    for (const json::value& node : nodes->items()) {
        const json::value* outputs = node.find("outputs");
        if (!outputs) continue;
        for (const json::value& port : outputs->items()) {
            if (port.items().size() < 3) continue;
            for (const json::value& d : port.items()[2].items()) {
                if (d.is(json::kind::integer)) continue;
                expr_pool exprs;
                text_pool names;
                const json::path root;
                const auto read = read_dim(d, root, exprs, names);
                if (!read) continue;
                if (read->kind == dim::form::expression) collect_symbols(read->value, exprs, names, out);
                if (read->kind != dim::form::symbol) continue;
                const std::string_view name = names.text(read->symbol);
                if (std::none_of(out.begin(), out.end(), [&](const symbol& s) { return s.name == name; }))
                    out.push_back({std::string(name), read->has_hint ? read->number : default_hint});
            }
        }
    }
    return out;
}

/// A file's kernel on its way into a store.
struct incoming_kernel {
    std::string body;
    digest128 body_digest, key, check;
    bool stale = false, digested = false;
    std::vector<symbol> symbols;
};

inline result<std::vector<incoming_kernel>> digest_kernels(const store::read_transaction& txn, const golden::document& file, import_report& report) {
    std::vector<incoming_kernel> out(file.kernels().size());
    for (golden::kernel_index i = 0; i < out.size(); ++i) {
        incoming_kernel& k = out[i];
        const golden::kernel_entry& entry = file.kernels()[i];
        json::writer(k.body).copy(entry.loop_ir);
        k.body_digest = sha_digest(k.body);
        k.symbols = symbols_of(entry.loop_ir);
        EMMY_TRY(known, store::find_identity(txn, k.body_digest));
        if (known) {
            k.key = *known;
            continue;
        }
        const auto body = file.body(i);
        if (!body) {
            k.stale = true;
            report.warnings.push_back(std::string(entry.ref()) + ": its body is not understood, its rows and decisions are left out (" + body.error().line() + ")");
            continue;
        }
        const std::vector<char> bytes = loop::canonical_bytes(body->body, body->inputs, body->outputs);
        k.key = xxh3_128({bytes.data(), bytes.size()});
        k.check = sha_digest({bytes.data(), bytes.size()});
        k.digested = true;
        ++report.digested;
    }
    return out;
}

inline store::knob_list texts(golden::map_view map) {
    store::knob_list out;
    out.reserve(map.size());
    for (const json::member& m : map) out.emplace_back(std::string(m.key), m.item.is(json::kind::boolean) ? (m.item.boolean() ? "true" : "false") : std::string(m.item.text()));
    return out;
}
inline std::int64_t size_of(const json::value& v) {
    const auto n = v.integer();
    return n ? *n : 0;  // the loader took positive integers only
}

inline fault no_card(std::size_t row, const std::string& file) {
    return fault(fault_kind::input, "found a measured row in a file without gpu_name, expected the card's name", "rows[" + std::to_string(row) + "]", file);
}

/// One import inside its transaction.
class importer {
public:
    importer(store::write_transaction& txn, const golden::document& file, const std::vector<incoming_kernel>& kernels, import_report& report, std::string sha)
        : txn_(txn), file_(file), kernels_(kernels), report_(report), sha_(std::move(sha)) {}

    result<void> run() {
        const std::string producer(file_.head().producer ? *file_.head().producer : golden::peer_producer);
        source_ = {report_.label, producer, sha_, static_cast<std::uint32_t>(std::time(nullptr)), 0, 0, 0, 0};
        EMMY_TRY(src, store::put_source(txn_, source_));
        own_ = src;
        EMMY_CHECK_OK(put_kernels());
        EMMY_CHECK_OK(put_routes());
        for (golden::row_index i = 0; i < file_.rows().size(); ++i) EMMY_CHECK_OK(put_row(i));
        source_.kernels = report_.kernels, source_.routes = report_.routes, source_.taken = report_.taken, source_.offered = report_.offered;
        return store::put_source(txn_, source_).map([](auto) {});
    }

private:
    result<void> put_kernels() {
        for (golden::kernel_index i = 0; i < kernels_.size(); ++i) {
            const incoming_kernel& k = kernels_[i];
            if (k.stale) continue;
            ++report_.kernels;
            if (!k.digested) continue;  // its body is stored already
            const golden::kernel_entry& entry = file_.kernels()[i];
            EMMY_CHECK_OK(store::put_kernel(txn_, {k.key, k.check, std::string(entry.name), k.body, entry.formed}));
            EMMY_CHECK_OK(store::put_identity(txn_, k.body_digest, k.key));
        }
        return {};
    }
    result<void> put_routes() {
        arms_.assign(file_.routing().size(), 0);
        for (golden::decision_index i = 0; i < file_.routing().size(); ++i) {
            const golden::decision& d = file_.routing()[i];
            const bool stale = kernels_[d.parent].stale || std::any_of(d.children.begin(), d.children.end(), [&](auto c) { return kernels_[c].stale; });
            if (stale) continue;
            std::vector<digest128> children;
            for (golden::kernel_index c : d.children) children.push_back(kernels_[c].key);
            EMMY_TRY(arm, store::put_row(txn_, store::row_kind::placement, texts(d.arm)));
            arms_[i] = arm;
            EMMY_CHECK_OK(store::put_route(txn_, kernels_[d.parent].key, arm, children));
            ++report_.routes;
        }
        return {};
    }
    /// Context of a row's pins on the file's card.
    result<store::context_id> context_of(const golden::row& row, golden::row_index at) {
        if (!file_.head().gpu_name) return refuse(no_card(at, file_.file()));
        auto setting = regime_of_pins(row.pins);
        if (!setting) return refuse(std::move(setting).error().at("rows[" + std::to_string(at) + "].pins").in_file(file_.file()));
        for (const auto& [known, id] : contexts_)
            if (known == *setting) return id;
        EMMY_TRY(id, store::put_context(txn_, make_context(*file_.head().gpu_name, file_.head().compute_major, file_.head().compute_minor, *setting)));
        contexts_.emplace_back(*setting, id);
        return id;
    }
    result<store::source_id> source_of(const golden::row& row) {
        const std::string producer(file_.producer(row));
        if (producer == source_.producer) return own_;
        for (const auto& [known, id] : others_)
            if (known == producer) return id;
        EMMY_TRY(id, store::put_source(txn_, {report_.label + ":" + producer, producer, sha_, source_.unix_time, 0, 0, 0, 0}));
        others_.emplace_back(producer, id);
        return id;
    }
    /// Sizes of a kernel's own symbols; nothing when one is missing.
    static std::optional<store::binding_list> project(golden::map_view sizes, const std::vector<symbol>& symbols) {
        store::binding_list out;
        for (const symbol& s : symbols) {
            const json::value* size = golden::find(sizes, s.name);
            if (!size) return {};
            out.emplace_back(s.name, size_of(*size));
        }
        return out;
    }
    result<void> put_row(golden::row_index i) {
        const golden::row& row = file_.rows()[i];
        const incoming_kernel& kernel = kernels_[row.kernel];
        const bool measured = row.measurements && row.has_knobs;
        if (measured) ++report_.offered;
        if (kernel.stale || (!measured && !file_.head().gpu_name)) return {};
        if (file_.minted_by(row.kernel) != golden::none || measured) {
            EMMY_TRY(ctx, context_of(row, i));
            EMMY_TRY(src, source_of(row));
            for (golden::decision_index d : file_.path(row.kernel)) EMMY_CHECK_OK(put_taken(d, row, ctx, src));
            if (measured) EMMY_CHECK_OK(put_measurement(row, kernel, ctx, src));
        }
        return {};
    }
    result<void> put_taken(golden::decision_index d, const golden::row& row, store::context_id ctx, store::source_id src) {
        const incoming_kernel& parent = kernels_[file_.routing()[d].parent];
        if (arms_[d] == 0) return {};
        const auto sizes = project(row.bindings, parent.symbols);
        if (!sizes) return {};
        EMMY_TRY(bind, store::put_bindings(txn_, *sizes));
        auto& seen = taken_[{ctx, d, bind}];
        if (!seen) {
            seen = true;
            ++report_.taken;
        }
        return store::put_taken(txn_, ctx, parent.key, bind, arms_[d], src);
    }
    result<void> put_measurement(const golden::row& row, const incoming_kernel& kernel, store::context_id ctx, store::source_id src) {
        store::binding_list sizes;
        for (const json::member& m : row.bindings) sizes.emplace_back(std::string(m.key), size_of(m.item));
        for (const symbol& s : kernel.symbols)
            if (std::none_of(sizes.begin(), sizes.end(), [&](const auto& b) { return b.first == s.name; })) {
                sizes.emplace_back(s.name, s.hint);
                report_.warnings.push_back(std::string(row.name) + ": no size for " + s.name + ", filed under " + std::to_string(s.hint));
            }
        EMMY_TRY(bind, store::put_bindings(txn_, sizes));
        EMMY_TRY(id, store::put_row(txn_, store::row_kind::schedule, texts(row.knobs)));
        const double us = row.measurements->emmy_us.value;
        EMMY_TRY(stored, store::put_measurement(txn_, ctx, kernel.key, bind, id, src, {us, us, us, us, 0, 0, 0, store::outcome::captured}));
        report_.stored += stored;
        return {};
    }

    store::write_transaction& txn_;
    const golden::document& file_;
    const std::vector<incoming_kernel>& kernels_;
    import_report& report_;
    std::string sha_;
    store::source_record source_;
    store::source_id own_ = 0;
    std::vector<store::row_id> arms_;
    std::vector<std::pair<regime, store::context_id>> contexts_;
    std::vector<std::pair<std::string, store::source_id>> others_;
    std::map<std::tuple<store::context_id, golden::decision_index, std::uint64_t>, bool> taken_;
};

}  // namespace detail

EMMY_DECL result<store::environment> open_store(const std::string& path, store::access mode, std::optional<store::store_kind> kind) {
    return store::environment::open(path, {.mode = mode, .kind = kind, .identity_version = static_cast<std::uint32_t>(loop::identity_version)});
}
EMMY_DECL result<store::environment> temporary_store(store::store_kind kind) { return store::environment::temporary(kind, static_cast<std::uint32_t>(loop::identity_version)); }

EMMY_DECL std::string default_store_path() {
    if (const char* named = std::getenv("EMMY_DB"); named && *named) return named;
    if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return std::string(data) + "/emmy/tune.db";
    if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.local/share/emmy/tune.db";
    return {};
}

EMMY_DECL result<store::environment> open_tuning_store(const std::string& path, std::vector<std::string>& notes) {
    if (path.empty()) {
        notes.push_back("no tuning store named: evidence is kept in memory for this run only");
        return temporary_store();
    }
    auto opened = open_store(path, store::access::write, store::store_kind::tuning);
    if (opened) {
        for (std::string& n : opened->notes()) notes.push_back(std::move(n));
        return opened;
    }
    if (auto readable = open_store(path, store::access::read)) {
        if (readable->kind() != store::store_kind::tuning) return opened;  // the refusal names the kinds
        notes.push_back("the tuning store is read only (" + opened.error().line() + ")");
        for (std::string& n : readable->notes()) notes.push_back(std::move(n));
        return readable;
    }
    return opened;
}

EMMY_DECL result<import_report> import_document(const store::environment& into, const golden::document& file, std::string_view bytes, std::string_view prefix) {
    import_report report;
    report.file = file.file();
    const std::string sha = sha256_hex(bytes);
    report.label = store::file_label(prefix, sha);
    std::vector<detail::incoming_kernel> kernels;
    {
        EMMY_TRY(txn, into.read());
        EMMY_TRY(known, store::find_source(txn, report.label));
        if (known) {
            report.skipped = true;
            return report;
        }
        EMMY_TRY(digested, detail::digest_kernels(txn, file, report));
        kernels = std::move(digested);
    }
    if (file.head().gpu_name && !is_known_card(*file.head().gpu_name)) report.warnings.push_back("\"" + std::string(*file.head().gpu_name) + "\" is no card of the registry");
    import_report done;
    EMMY_CHECK_OK(into.write([&](store::write_transaction& txn) {
        done = report;
        return detail::importer(txn, file, kernels, done, sha).run();
    }));
    return done;
}

namespace detail {
struct read_golden {
    std::string bytes;
    golden::document file;
};
inline result<read_golden> read_golden_file(const std::string& path) {
    EMMY_TRY(bytes, read_file(path));
    if (bytes.starts_with("version https://git-lfs")) return refuse(fault_kind::input, "found a Git LFS pointer, expected the file itself (git lfs pull)", {}, path);
    EMMY_TRY(file, golden::document::parse(bytes, path));
    return read_golden{std::move(bytes), std::move(file)};
}
}  // namespace detail

EMMY_DECL result<void> check_file(const std::string& path) {
    EMMY_TRY(read, detail::read_golden_file(path));
    if (read.file.head().gpu_name) return {};
    for (std::size_t i = 0; i < read.file.rows().size(); ++i)
        if (read.file.rows()[i].measurements) return refuse(detail::no_card(i, path));
    return {};
}

EMMY_DECL result<import_report> import_file(const store::environment& into, const std::string& path, std::string_view prefix, bool dry_run) {
    EMMY_TRY(read, detail::read_golden_file(path));
    if (!dry_run) return import_document(into, read.file, read.bytes, prefix);
    EMMY_TRY(scratch, temporary_store(store::store_kind::dataset));
    EMMY_TRY(report, import_document(scratch, read.file, read.bytes, prefix));
    EMMY_TRY(txn, into.read());
    EMMY_TRY(known, store::find_source(txn, report.label));
    report.skipped = known.has_value();
    return report;
}

EMMY_DECL result<std::string> golden_label(const std::string& path) {
    EMMY_TRY(bytes, read_file(path));
    return store::file_label("golden", sha256_hex(bytes));
}

}  // namespace emmy::evidence
