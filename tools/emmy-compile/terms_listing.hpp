#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/core/json.hpp>
#include <emmy/fold/seams.hpp>
#include <emmy/fold/sites.hpp>
#include <emmy/loop/identity.hpp>

#include <algorithm>
#include <string>

namespace emmy::compile {

/// The closed terms of a kernel: what addresses mean, where it may be cut. JSON: {"schema": "emmy.compile.terms/1", "kernel", "identity", "grid":
/// [name, extent] pairs (a unit row has the name ""), "sites": {"address", "kind", "components", "axes", "tiles"}, "seams": {"key", "aliases",
/// "owned", "buffers": {"value", "dtype", "axes"}}}.
inline result<std::string> terms_stage(const loop::kernel& k, bool json) {
    EMMY_TRY(f, fold::closed::lift_terms(k));
    const fold::closed::site_model model = fold::closed::site_model_of(f);
    const std::vector<fold::closed::seam> seams = fold::closed::seams(f);
    const auto text = [&](name_id n) { return std::string(f.text(n)); };
    if (!json) {
        std::string out = k.name + "\n" + fold::closed::print(f);
        for (const fold::closed::seam& s : seams) {
            out += "PLACE@" + s.address + (s.owned ? "  writes outputs" : "  buffers");
            for (std::size_t i = 0; i < s.components.size() && !s.owned; ++i) {
                out += (i ? ", " : " ") + text(s.components[i]) + " " + std::string(token(s.types[i])) + "[";
                for (std::size_t a = 0; a < s.axes.size(); ++a) out += (a ? ", " : "") + (s.axes[a] == no_name ? "1" : text(s.axes[a]));
                out += "]";
            }
            for (const std::string& a : s.aliases) out += "  = " + a;
            out += "\n";
        }
        return out;
    }
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string("emmy.compile.terms/1").key("kernel").string(k.name).key("identity").string(to_hex(loop::identity(k))).key("grid").begin_array();
    for (const loop::axis& a : model.geometry.grid) w.begin_array().string(text(a.name)).string(dim_text(a.extent, f.exprs, f.names)).end_array();
    w.end_array().key("sites").begin_array();
    for (const fold::closed::site_facts& s : model.sites) {
        w.begin_object().key("address").string(s.address).key("kind").string(fold::kind_word(s.kind)).key("components").begin_array();
        for (const name_id n : f.components(f[s.term])) w.string(text(n));
        w.end_array().key("axes").begin_array();
        for (const name_id n : f[s.term].free) w.string(text(n));
        w.end_array().key("tiles").boolean(s.tiles || s.pointwise).end_object();
    }
    w.end_array().key("seams").begin_array();
    for (const fold::closed::seam& s : seams) {
        w.begin_object().key("key").string("PLACE@" + s.address).key("aliases").begin_array();
        for (const std::string& a : s.aliases) w.string(a);
        w.end_array().key("owned").boolean(s.owned).key("buffers").begin_array();
        for (std::size_t i = 0; i < s.components.size() && !s.owned; ++i) {
            w.begin_object().key("value").string(text(s.components[i])).key("dtype").string(token(s.types[i])).key("axes").begin_array();
            for (const name_id n : s.axes) w.string(text(n));
            w.end_array().end_object();
        }
        w.end_array().end_object();
    }
    w.end_array().end_object();
    return out + "\n";
}

}  // namespace emmy::compile
