#pragma once
#include <emmy/core/file.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/golden/knob_check.hpp>

#include <unordered_set>

namespace emmy::golden {

/// The loader rules (L1-L9, R1-R4), one function an entry. Edits read their new entries with the same functions.
struct reader {
    document& doc;
    std::vector<std::unordered_set<std::string_view>> program_nodes;  // filled when an origin asks

    static result<std::string_view> filled_string(const json::value& v, const json::path& where) {
        if (!v.is(json::kind::string) || v.text().empty()) return refuse(json::expected(where, v, "a non-empty string"));
        return v.text();
    }
    static result<std::int64_t> integer_from(const json::value& v, const json::path& where, std::int64_t least, std::string_view wanted) {
        if (!v.is(json::kind::integer)) return refuse(json::expected(where, v, wanted));
        EMMY_TRY(number, json::read_integer(v, where));
        if (number < least) return refuse(json::expected(where, v, wanted));
        return number;
    }
    static result<quantity> time(const json::value& v, const json::path& where) {
        if (!v.is(json::kind::integer) && !v.is(json::kind::real)) return refuse(json::expected(where, v, "a time in µs above 0"));
        EMMY_TRY(number, json::read_real(v, where));
        if (!(number > 0)) return refuse(json::expected(where, v, "a time in µs above 0"));
        return quantity{number, v};
    }
    static result<void> optional_time(json::fields& f, std::string_view key, quantity& into) {
        const json::value* v = f.may(key);
        if (!v) return {};
        EMMY_TRY(read, time(*v, f.at(key)));
        into = read;
        return {};
    }
    /// A field of the documented type "string or null".
    static result<void> optional_string(json::fields& f, std::string_view key, std::optional<std::string_view>& into) {
        const json::value* v = f.may(key);
        if (!v || v->is(json::kind::null)) return {};
        EMMY_TRY(read, json::read_string(*v, f.at(key)));
        into = read;
        return {};
    }
    static result<map_view> sizes(json::fields& f, std::string_view key, std::int64_t least) {
        const json::value* v = f.may(key);
        if (!v) return map_view{};
        const json::path where = f.at(key);
        EMMY_TRY(map, json::read_object(*v, where));
        for (const json::member& m : map) EMMY_CHECK_OK(integer_from(m.item, where / m.key, least, least > 0 ? "a size of at least 1" : "an integer"));
        return map;
    }
    static std::string quoted(std::string_view text) { return '"' + std::string(text.substr(0, 80)) + '"'; }

    result<void> head(json::fields& f) {
        EMMY_CHECK_OK(optional_string(f, "gpu_name", doc.head_.gpu_name));
        EMMY_TRY(cap, f.need("compute_cap"));
        const json::path where = f.at("compute_cap");
        if (!cap->is(json::kind::array) || cap->size() != 2) return refuse(json::expected(where, *cap, "[major, minor]"));
        EMMY_TRY(major, integer_from(cap->items()[0], where / std::size_t{0}, 0, "an integer of at least 0"));
        EMMY_TRY(minor, integer_from(cap->items()[1], where / std::size_t{1}, 0, "an integer of at least 0"));
        if (major > 1000 || minor > 1000) return refuse(json::problem(where, "found a number above 1000, expected a compute capability"));
        doc.head_.compute_major = static_cast<int>(major);
        doc.head_.compute_minor = static_cast<int>(minor);
        EMMY_CHECK_OK(optional_string(f, "model", doc.head_.model));
        EMMY_CHECK_OK(optional_string(f, "model_quant_digest", doc.head_.model_quant_digest));
        if (doc.head_.model_quant_digest) {
            const std::string_view d = *doc.head_.model_quant_digest;
            if (d.size() != 16 || d.find_first_not_of("0123456789abcdef") != d.npos)
                return refuse(json::expected(f.at("model_quant_digest"), *f.may("model_quant_digest"), "16 lowercase hex digits"));
        }
        EMMY_CHECK_OK(optional_string(f, "note", doc.head_.note));
        if (const json::value* v = f.may("format")) {
            if (!v->is(json::kind::integer) || v->text() != "1") return refuse(json::expected(f.at("format"), *v, "1"));
            doc.head_.format = 1;
        }
        if (const json::value* v = f.may("producer")) {
            EMMY_TRY(producer, filled_string(*v, f.at("producer")));
            doc.head_.producer = producer;
        }
        return {};
    }

    result<void> program(const json::value& v, const json::path& where) {
        if (!v.is(json::kind::object)) return refuse(json::expected(where, v, "a program object"));
        doc.programs_.push_back(v);
        return {};
    }

    bool program_has(program_index program, std::string_view node) {
        if (program_nodes.size() <= program) program_nodes.resize(doc.programs_.size());
        auto& known = program_nodes[program];
        if (known.empty()) {
            known.insert(std::string_view{});  // marks it as filled
            if (const json::value* nodes = doc.programs_[program].find("nodes"))
                for (const json::value& n : nodes->items())
                    if (const json::value* id = n.find("id")) known.insert(id->text());
        }
        return !node.empty() && known.count(node) != 0;
    }

    result<kernel_entry> kernel(const json::value& v, const json::path& where) {
        kernel_entry k;
        json::fields f(v, where);
        EMMY_TRY(loop_ir, f.need("loop_ir"));
        if (!loop_ir->is(json::kind::object)) return refuse(json::expected(f.at("loop_ir"), *loop_ir, "an object"));
        k.loop_ir = *loop_ir;
        EMMY_TRY(name, f.need("name"));
        EMMY_TRY(name_text, filled_string(*name, f.at("name")));
        k.name = name_text;
        EMMY_TRY(formed, f.need("formed"));
        EMMY_TRY(formed_value, json::read_boolean(*formed, f.at("formed")));
        k.formed = formed_value;
        if (const json::value* key = f.may("key")) {
            EMMY_TRY(text, json::read_string(*key, f.at("key")));
            k.key = text;
        }
        if (const json::value* traced = f.may("traced")) {
            EMMY_TRY(at, json::read_integer(*traced, f.at("traced")));
            if (at < 0 || static_cast<std::uint64_t>(at) >= doc.programs_.size())
                return refuse(json::expected(f.at("traced"), *traced, "an index below " + std::to_string(doc.programs_.size()) + ", the number of programs"));
            k.traced = static_cast<program_index>(at);
        }
        if (const json::value* origins = f.may("origins")) {
            const json::path at = f.at("origins");
            EMMY_TRY(list, json::read_array(*origins, at));
            if (!list.empty() && !k.target()) return refuse(json::problem(at, "found origins without traced, expected none"));
            for (std::size_t i = 0; i < list.size(); ++i) {
                EMMY_TRY(node, json::read_string(list[i], at / i));
                if (!program_has(k.traced, node))
                    return refuse(json::problem(at / i, "found " + quoted(node) + ", expected a node id of programs[" + std::to_string(k.traced) + "]"));
            }
            k.origins = list;
        }
        EMMY_TRY(bindings, sizes(f, "bindings", INT64_MIN));
        k.bindings = bindings;
        EMMY_CHECK_OK(f.done());
        return k;
    }
    result<void> place(const kernel_entry& k, const json::path& where) {
        const auto at = static_cast<kernel_index>(doc.kernels_.size());
        if (const auto [it, fresh] = doc.refs_.emplace(k.ref(), at); !fresh)
            return refuse(json::problem(where, "found a second kernel of the reference " + quoted(k.ref()) + ", the first is kernels[" + std::to_string(it->second) + "], expected distinct references"));
        doc.kernels_.push_back(k);
        doc.minter_.push_back(none);
        return {};
    }

    result<kernel_index> reference(const json::value& v, const json::path& where) {
        EMMY_TRY(ref, filled_string(v, where));
        const kernel_index k = doc.find_kernel(ref);
        if (k == none) return refuse(json::problem(where, "found " + quoted(ref) + ", expected the reference of a kernel of this file"));
        return k;
    }

    result<golden::decision> routing(const json::value& v, const json::path& where) {
        golden::decision d;
        json::fields f(v, where);
        EMMY_TRY(parent, f.need("parent"));
        EMMY_TRY(parent_index, reference(*parent, f.at("parent")));
        d.parent = parent_index;
        EMMY_TRY(arm, f.need("arm"));
        const json::path arm_at = f.at("arm");
        EMMY_TRY(map, json::read_object(*arm, arm_at));
        if (map.empty()) return refuse(json::problem(arm_at, "found an empty arm, expected at least one decision"));
        for (const json::member& m : map) {
            const json::path at = arm_at / m.key;
            EMMY_TRY(text, json::read_string(m.item, at));
            if (const std::string problem = check_arm(m.key, text); !problem.empty()) return refuse(json::problem(at, problem));
        }
        d.arm = map;
        EMMY_TRY(children, f.need("children"));
        const json::path children_at = f.at("children");
        EMMY_TRY(list, json::read_array(*children, children_at));
        d.children.reserve(list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            EMMY_TRY(child, reference(list[i], children_at / i));
            d.children.push_back(child);
        }
        EMMY_CHECK_OK(f.done());
        return d;
    }
    void place(golden::decision d) {
        const auto at = static_cast<decision_index>(doc.routing_.size());
        for (kernel_index child : d.children)
            if (doc.minter_[child] == none) doc.minter_[child] = at;
        doc.routing_.push_back(std::move(d));
    }

    result<golden::row> row(const json::value& v, const json::path& where) {
        golden::row r;
        json::fields f(v, where);
        EMMY_TRY(name, f.need("name"));
        EMMY_TRY(name_text, filled_string(*name, f.at("name")));
        r.name = name_text;
        EMMY_TRY(kernel, f.need("kernel"));
        EMMY_TRY(kernel_at, reference(*kernel, f.at("kernel")));
        r.kernel = kernel_at;
        EMMY_TRY(bindings, sizes(f, "bindings", 1));
        r.bindings = bindings;
        if (const json::value* pins = f.may("pins")) {
            const json::path at = f.at("pins");
            EMMY_TRY(map, json::read_object(*pins, at));
            for (const json::member& m : map)
                if (const std::string problem = check_pin(m.key, m.item); !problem.empty()) return refuse(json::problem(at / m.key, problem));
            r.pins = map;
        }
        if (const json::value* knobs = f.may("knobs"); knobs && !knobs->is(json::kind::null)) {
            const json::path at = f.at("knobs");
            EMMY_TRY(map, json::read_object(*knobs, at));
            for (const json::member& m : map)
                if (const std::string problem = check_row_knob(m.key, m.item); !problem.empty()) return refuse(json::problem(at / m.key, problem));
            r.knobs = map;
            r.has_knobs = true;
        }
        if (const json::value* v = f.may("measurements")) {
            const json::path at = f.at("measurements");
            if (!r.has_knobs) return refuse(json::problem(at, "found measurements without knobs, expected the schedule that was measured"));
            EMMY_TRY(read, measurements(*v, at));
            r.measurements = read;
        }
        if (const json::value* v = f.may("latency")) {
            const json::path at = f.at("latency");
            EMMY_TRY(cards, json::read_object(*v, at));
            for (const json::member& m : cards) {
                const json::path card_at = at / m.key;
                golden::latency block;
                block.card = m.key;
                json::fields g(m.item, card_at);
                EMMY_TRY(emmy_us, g.need("emmy_us"));
                EMMY_TRY(read, time(*emmy_us, g.at("emmy_us")));
                block.emmy_us = read;
                EMMY_CHECK_OK(optional_time(g, "tcompile_us", block.tcompile_us));
                EMMY_CHECK_OK(optional_time(g, "eager_us", block.eager_us));
                EMMY_CHECK_OK(g.done());
                r.latency.push_back(block);
            }
        }
        if (const json::value* v = f.may("note")) {
            EMMY_TRY(note, json::read_string(*v, f.at("note")));
            r.note = note;
        }
        if (const json::value* v = f.may("producer")) {
            EMMY_TRY(producer, filled_string(*v, f.at("producer")));
            r.producer = producer;
        }
        EMMY_CHECK_OK(f.done());
        return r;
    }
    static result<measurement> measurements(const json::value& v, const json::path& where) {
        measurement m;
        json::fields f(v, where);
        EMMY_TRY(emmy_us, f.need("emmy_us"));
        EMMY_TRY(read, time(*emmy_us, f.at("emmy_us")));
        m.emmy_us = read;
        EMMY_CHECK_OK(optional_time(f, "reference_us", m.reference_us));
        if (const json::value* backend = f.may("reference_backend")) {
            EMMY_TRY(text, filled_string(*backend, f.at("reference_backend")));
            m.reference_backend = text;
        }
        if (const json::value* tried = f.may("tried")) {
            EMMY_TRY(count, integer_from(*tried, f.at("tried"), 1, "an integer of at least 1"));
            m.tried = count;
        }
        EMMY_CHECK_OK(f.done());
        return m;
    }

    template <class Read>
    static result<void> table(json::fields& f, std::string_view key, Read&& read) {
        const json::value* v = f.may(key);
        if (!v) return {};
        const json::path at = f.at(key);
        EMMY_TRY(items, json::read_array(*v, at));
        for (std::size_t i = 0; i < items.size(); ++i) EMMY_CHECK_OK(read(items[i], at / i));
        return {};
    }
    result<void> everything(const json::value& v) {
        const json::path root{};
        json::fields f(v, root);
        EMMY_CHECK_OK(head(f));
        EMMY_CHECK_OK(table(f, "programs", [&](const json::value& item, const json::path& at) { return program(item, at); }));
        EMMY_CHECK_OK(table(f, "kernels", [&](const json::value& item, const json::path& at) -> result<void> {
            EMMY_TRY(k, kernel(item, at));
            return place(k, at);
        }));
        EMMY_CHECK_OK(table(f, "routing", [&](const json::value& item, const json::path& at) -> result<void> {
            EMMY_TRY(d, routing(item, at));
            place(std::move(d));
            return {};
        }));
        EMMY_CHECK_OK(table(f, "rows", [&](const json::value& item, const json::path& at) -> result<void> {
            EMMY_TRY(r, row(item, at));
            doc.rows_.push_back(std::move(r));
            return {};
        }));
        return f.done();
    }
};

EMMY_DECL result<document> document::parse(std::string_view text, std::string_view file, golden::rules rules) {
    auto parsed = json::document::parse(text, file);
    if (!parsed) return refuse(std::move(parsed).error());
    document out;
    out.file_ = file;
    out.sources_.push_back(*std::move(parsed));
    auto read = reader{out, {}}.everything(out.sources_.front().root());
    if (read && rules == rules::repository) read = out.check_repository();
    if (!read) return refuse(std::move(read).error().in_file(file));
    return out;
}

EMMY_DECL result<document> document::load(const std::string& path, golden::rules rules) {
    EMMY_TRY(text, read_file(path));
    return parse(text, path, rules);
}

EMMY_DECL result<void> document::check_repository() const {
    const json::path root{};
    const json::path rows = root / "rows";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const golden::row& r = rows_[i];
        const json::path at = rows / i;
        if (!r.has_knobs) return refuse(json::problem(at, "found no knobs, expected a schedule (an empty map at least) in a repository file").in_file(file_));
        if (!r.measurements) continue;
        if (!head_.gpu_name) return refuse(json::problem(root / "gpu_name", "found none, expected the card of the measurements in a repository file").in_file(file_));
        const json::path measured = at / "measurements";
        if (!r.measurements->reference_us) return refuse(json::problem(measured, "found no reference_us, expected one in a repository file").in_file(file_));
        if (!r.measurements->reference_backend) return refuse(json::problem(measured, "found no reference_backend, expected one in a repository file").in_file(file_));
    }
    return {};
}

}  // namespace emmy::golden
