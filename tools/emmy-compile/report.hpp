#pragma once
#include <emmy-compile/compile.hpp>
#include <emmy-compile/listing.hpp>

#include <emmy/core/dim_wire.hpp>
#include <emmy/evidence/explain.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>

namespace emmy::compile {

/// A time for people: µs with two decimals at most, never an exponent.
inline std::string time_text(double us) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f", us);
    std::string out = text;
    if (out.find('.') != out.npos) out.erase(out.find_last_not_of('0') + 1);
    if (!out.empty() && out.back() == '.') out.pop_back();
    return out;
}
inline std::string number(double value, int digits) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}
inline std::string sizes_text(const tools::subject& s) {
    std::string out;
    for (const auto& [symbol, size] : s.bindings) out += "  " + symbol + "=" + std::to_string(size);
    return out;
}

/// What --stage shows: one text a kernel. For machines one JSON object, an array when there are several kernels: the wire format where
/// the stage has one (program, primitive, loop, fold, fork), else {"schema": "emmy.stage/1", "kernel", "stage", "text"}.
class stage_texts {
public:
    stage_texts(const settings& asked) : json_(asked.common.format == tools::format::json), stage_(asked.stage) {}
    bool json() const { return json_; }
    void add(std::string kernel, std::string text) { texts_.emplace_back(std::move(kernel), std::move(text)); }
    /// A wire document of its own.
    void add_wire(std::string kernel, std::string spelled) { texts_.emplace_back(std::move(kernel), std::move(spelled)), wire_ = true; }
    std::string render() const {
        std::string out;
        if (!json_) {
            for (const auto& [kernel, text] : texts_) out += text;
            return out;
        }
        if (wire_) {
            for (const auto& [kernel, text] : texts_) out += (out.empty() ? "" : ",\n") + text.substr(0, text.find_last_not_of('\n') + 1);
            return (texts_.size() == 1 ? out : "[" + out + "]") + "\n";
        }
        json::writer w(out);
        if (texts_.size() != 1) w.begin_array();
        for (const auto& [kernel, text] : texts_) w.begin_object().key("schema").string("emmy.stage/1").key("kernel").string(kernel).key("stage").string(stage_).key("text").string(text).end_object();
        if (texts_.size() != 1) w.end_array();
        return out + "\n";
    }

private:
    bool json_, wire_ = false;
    std::string stage_;
    std::vector<std::pair<std::string, std::string>> texts_;
};

/// One term with what it holds: {"kind", "route", "axes": [name, extent] pairs, "states": [name, dtype] pairs, "operands", "stores", "terms"}.
/// An operand is {"slab": buffer}, {"state": name, "route": of its term} or {"value": name}.
inline void write_term(json::writer& w, const loop::kernel& k, const fold::tree& t, fold::term_id id) {
    const fold::term& x = t.terms[id];
    const auto text = [&](name_id n) { return std::string(k.body.text(n)); };
    w.begin_object().key("kind").string(fold::kind_word(x.kind)).key("route").string(t.route(id)).key("axes").begin_array();
    for (std::uint32_t a : x.axes) w.begin_array().string(text(t.axes[a].name)).string(dim_text(t.axes[a].extent, k.body.exprs, k.body.names)).end_array();
    w.end_array().key("states").begin_array();
    for (fold::value_id s : x.states) w.begin_array().string(text(k.body.stmts[s].name)).string(token(t.types[s])).end_array();
    w.end_array().key("operands").begin_array();
    for (const fold::operand& o : x.operands) {
        const loop::stmt& s = k.body.stmts[o.value];
        w.begin_object();
        if (o.from == fold::operand::form::slab) w.key("slab").string(text(s.buffer));
        else if (o.from == fold::operand::form::state) w.key("state").string(text(s.name)).key("route").string(t.route(o.term));
        else w.key("value").string(text(s.name));
        w.end_object();
    }
    w.end_array().key("stores").begin_array();
    for (const fold::step& s : x.steps)
        if (!s.is_term && k.body.stmts[s.id].kind == loop::stmt_kind::write) w.string(text(k.body.stmts[s.id].buffer));
    w.end_array().key("terms").begin_array();
    for (const fold::step& s : x.steps)
        if (s.is_term) write_term(w, k, t, s.id);
    w.end_array().end_object();
}
inline result<std::string> fold_stage(const tools::subject& s, bool json) {
    EMMY_TRY(tree, fold::lift(s.kernel));
    if (!json) return fold::print(s.kernel, tree);
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string("emmy.compile.fold/1").key("kernel").string(s.kernel.name).key("identity").string(to_hex(s.identity)).key("grid").begin_array();
    for (std::uint32_t a : tree.grid) w.begin_array().string(s.kernel.body.text(tree.axes[a].name)).string(dim_text(tree.axes[a].extent, s.kernel.body.exprs, s.kernel.body.names)).end_array();
    w.end_array().key("root");
    write_term(w, s.kernel, tree, tree.root);
    w.end_object();
    return out + "\n";
}

/// Every row the kernel has, the pick marked.
inline std::string fork_stage(const compiled_kernel& k, bool json) {
    if (json) {
        std::string out;
        json::writer w(out);
        w.begin_object().key("schema").string("emmy.compile.fork/1").key("kernel").string(k.what.kernel.name).key("identity").string(to_hex(k.what.identity)).key("options").begin_array();
        for (const fork::cpu_row& row : k.offered) {
            w.begin_object();
            for (const auto& [key, value] : k.space->pairs(row)) w.key(key).string(value);
            w.end_object();
        }
        w.end_array().key("chosen");
        evidence::write_json(w, *k.record);
        w.end_object();
        return out + "\n";
    }
    std::string out = k.what.kernel.name + sizes_text(k.what) + "  schedule: " + std::to_string(k.offered.size()) + " options\n";
    for (const fork::cpu_row& row : k.offered) out += (row == *k.row ? " * " : "   ") + evidence::knobs_text(k.space->pairs(row)) + "\n";
    return out;
}

/// Why this row: what a person reads.
inline std::string people(const compiled_kernel& k, const settings& asked) {
    std::string out;
    for (const evidence::record& r : k.sets) out += evidence::line(r) + "\n" + (asked.explain ? evidence::explain_record(r) : "");
    if (k.record) {
        const evidence::record& r = *k.record;
        out += evidence::line(r) + "\n";
        if (asked.explain) out += evidence::explain_record(r);
    } else if (!k.refused.empty()) {
        out += k.what.kernel.name + ": " + k.refused + "\n";
        if (k.interpreted.empty()) out += "    (--interpret computes some cells without a lowering)\n";
    } else {
        out += k.what.kernel.name + "\n";
    }
    for (const auto& [cell, value] : k.interpreted) out += "    interpreted " + cell + " = " + number(value, 7) + "\n";
    return out;
}

/// All kernels of a unit and what came of running them.
inline std::string people(const compiled_unit& u, const settings& asked) {
    std::string out;
    for (const compiled_kernel& k : u.kernels)
        if (k.unmeasured.empty() || asked.common.format == tools::format::json) out += people(k, asked);
    if (u.kernels.empty()) out += u.what.name + ": no kernel: every output is an input or a constant\n";
    if (u.ran.empty()) return out;
    return out + (u.kernels.size() > 1 ? u.what.name + ": " + std::to_string(u.kernels.size()) + " kernels\n" : "") + "    ran once  " + u.ran + "\n";
}

inline std::string machines(const std::vector<compiled_unit>& all, const tools::target& target, const environment& env) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string("emmy.compile/1").key("target").string(target.text()).key("lane").string(evidence::lane_text(env.setting.regime)).key("kernels").begin_array();
    for (const compiled_unit& u : all) for (const compiled_kernel& k : u.kernels) {
        w.begin_object().key("name").string(k.what.name).key("kernel").string(k.what.kernel.name).key("identity").string(to_hex(k.what.identity));
        if (k.record) evidence::write_json(w.key("record"), *k.record);
        if (!k.refused.empty()) w.key("refused").string(k.refused);
        if (!u.ran.empty() && u.kernels.size() == 1) w.key("ran").string(u.ran).key("right").boolean(!u.wrong);
        if (!k.interpreted.empty()) {
            w.key("interpreted").begin_object();
            for (const auto& [cell, value] : k.interpreted) w.key(cell).real(value);
            w.end_object();
        }
        w.end_object();
    }
    w.end_array();
    if (std::any_of(all.begin(), all.end(), [](const compiled_unit& u) { return u.kernels.size() > 1; })) {
        w.key("programs").begin_array();
        for (const compiled_unit& u : all) {
            if (u.kernels.size() < 2) continue;
            w.begin_object().key("name").string(u.what.name).key("kernels").begin_array();
            for (const compiled_kernel& k : u.kernels) w.string(k.what.kernel.name);
            w.end_array();
            if (!u.ran.empty()) w.key("ran").string(u.ran).key("right").boolean(!u.wrong);
            w.end_object();
        }
        w.end_array();
    }
    w.end_object();
    return out + "\n";
}

/// The plan of a unit at its sizes.
inline result<std::string> plan_stage(const environment& env, const compiled_unit& u, bool json) {
    EMMY_TRY(at, plan::bind(*u.plan, u.what.sizes(), env.setting.team));
    if (!json) return plan::text(u.what.name, *u.plan, at);
    std::string out;
    json::writer w(out);
    plan::write_json(w, u.what.name, *u.plan, at);
    return out + "\n";
}

}  // namespace emmy::compile
