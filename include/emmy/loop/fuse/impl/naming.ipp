#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/loop/fuse/impl/lifted.hpp>
#include <emmy/loop/wire.hpp>

#include <map>

namespace emmy::loop::fusion {

/// Labels of kernels: what they implement, for people. Never part of an identity.
class naming {
public:
    explicit naming(const program::primitive_graph& program) : program_(program) {
        for (program::node_id n = 0; n < program.g.nodes.size(); ++n) {
            if (!computes(n)) continue;
            for (const program::origin& o : program.origins_of(n)) ++pieces_[o.traced];
        }
    }

    /// Origins of the primitives, and `k_<operators>[_reduce|_pointwise]_<6 digits>`: operators by the number of their primitives in the kernel, most
    /// first; layout operators only where there is no other; no suffix where the kernel is one operator, whole. Where no operator of the framework
    /// names it: `k_<first output>_<reduce|pointwise>`.
    /// `also`: primitives of a recurrence whose states the kernel reads: origins, no pieces of its own.
    void name(formed& k, std::span<const program::node_id> nodes, std::span<const program::node_id> also) const {
        struct share {
            std::size_t count = 0;
            program::op op = program::op::input;
            name_id id = no_name;
        };
        std::map<program::node_id, share> origins;
        for (const program::node_id n : nodes)
            for (const program::origin& o : program_.origins_of(n)) {
                share& s = origins[o.traced];
                ++s.count, s.op = o.op, s.id = o.id;
            }
        k.origins.clear();
        for (const auto& [traced, s] : origins) k.origins.emplace_back(program_.g.text(s.id));
        for (const program::node_id n : also)
            for (const program::origin& o : program_.origins_of(n)) k.origins.emplace_back(program_.g.text(o.id));
        std::sort(k.origins.begin(), k.origins.end());
        k.origins.erase(std::unique(k.origins.begin(), k.origins.end()), k.origins.end());

        std::vector<std::pair<std::size_t, std::string>> labels;
        bool whole = false;  // of the last one
        for (const bool layout : {false, true}) {
            if (!labels.empty()) break;
            for (const auto& [traced, s] : origins)
                if (!is_glue(s.op) && is_layout(s.op) == layout) labels.emplace_back(s.count, label(s.op)), whole = s.count == pieces_.at(traced);
        }
        std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
        bool folds = false;
        for (const stmt& s : k.kernel.body.stmts) folds = folds || s.kind == stmt_kind::accum;
        const std::string suffix = folds ? "_reduce" : "_pointwise";
        if (labels.empty()) {
            k.kernel.name = "k_" + identifier(std::string(k.kernel.body.text(k.kernel.outputs[0].name))) + suffix;
            return;
        }
        std::string name = "k";
        std::vector<std::string> used;
        for (const auto& [count, text] : labels)
            if (std::find(used.begin(), used.end(), text) == used.end()) used.push_back(text), name += "_" + text;
        if (labels.size() != 1 || !whole) name += suffix;
        k.kernel.name.clear();
        k.kernel.name = name + "_" + to_hex(xxh3_128(kernel_text(k.kernel))).substr(0, 6);
    }

private:
    bool computes(program::node_id n) const { return program_.g.nodes[n].op != program::op::input && program_.g.nodes[n].op != program::op::constant; }
    static bool is_glue(program::op o) {
        switch (o) {
            case program::op::elementwise:
            case program::op::reduce:
            case program::op::scan:
            case program::op::index_map:
            case program::op::gather:
            case program::op::scatter:
            case program::op::bitcast:
            case program::op::cast:
            case program::op::range:
            case program::op::constant:
            case program::op::input: return true;
            default: return false;
        }
    }
    static bool is_layout(program::op o) {
        return o == program::op::transpose || o == program::op::reshape || o == program::op::unsqueeze || o == program::op::cat || o == program::op::slice;
    }
    static std::string label(program::op o) {
        if (o == program::op::einsum) return "einsum";
        const std::string_view text = program::text(o);  // torch.rms_norm
        return std::string(text.substr(text.find('.') + 1));
    }
    /// Letters, digits and single underscores.
    static std::string identifier(const std::string& text) {
        std::string out;
        for (const char c : text) {
            const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (word) out += c;
            else if (!out.empty() && out.back() != '_') out += '_';
        }
        while (!out.empty() && out.back() == '_') out.pop_back();
        return out;
    }
    const program::primitive_graph& program_;
    std::map<program::node_id, std::size_t> pieces_;
};

}  // namespace emmy::loop::fusion
