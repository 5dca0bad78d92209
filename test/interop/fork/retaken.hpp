#pragma once
// The routing rows of the peer's files, taken again on their parents: children compared with the stored ones by identity.
#include "interop/loop/files.hpp"

#include <emmy/fork/structure.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace emmy::test {

/// By which reading of the parent a row gave its children.
enum class reading { stored, products, states, loops, minted, fresh, respelled, none };
constexpr const char* reading_names[] = {"stored order", "products reversed", "accumulators reversed", "loops reversed", "minted tree", "formed anew", "respelled", "none"};

struct routing_case {
    std::string parent;
    knob::routing_row arm;
    std::vector<std::string> children;
    std::string_view family() const { return arm[0].family(); }
};

/// One golden file: its kernels on demand, its routing rows.
class routes {
public:
    explicit routes(const stored_file& file) : path(file.path), document_(file.document) {
        for (const stored_kernel& k : file.kernels) kernels_.emplace(k.reference, &k);
        for (const json::value* entries = file.document.root().find("kernels"); const json::value& e : entries->items()) {
            const json::value* key = e.find("key");
            if (const json::value* t = e.find("traced"); t && t->is(json::kind::integer))
                targets_[std::string(key && !key->text().empty() ? key->text() : e.find("name")->text())] = static_cast<std::size_t>(*t->integer());
        }
        const json::value* routing = file.document.root().find("routing");
        if (!routing) return;
        for (const json::value& d : routing->items()) {
            routing_case c;
            std::vector<knob::knob_pair> pairs;
            c.parent = d.find("parent")->text();
            for (const json::member& m : d.find("arm")->members()) pairs.push_back({m.key, m.item.text()});
            auto arm = knob::routing_row::parse(pairs);
            BOOST_REQUIRE(arm);
            c.arm = *arm;
            for (const json::value& child : d.find("children")->items()) c.children.push_back(std::string(child.text()));
            rows.push_back(std::move(c));
        }
    }
    const stored_kernel& stored(const std::string& ref) const { return *kernels_.at(ref); }
    const loop::kernel& kernel(const std::string& ref) {
        auto at = read_.find(ref);
        if (at == read_.end()) {
            auto k = loop::read_kernel(stored(ref).loop_ir);
            BOOST_REQUIRE(k);
            at = read_.emplace(ref, std::move(*k)).first;
        }
        return at->second;
    }
    digest128 identity(const std::string& ref) {
        auto at = ids_.find(ref);
        if (at == ids_.end()) at = ids_.emplace(ref, loop::identity(kernel(ref))).first;
        return at->second;
    }
    std::vector<digest128> identities(const std::vector<std::string>& refs) {
        std::vector<digest128> out;
        for (const std::string& r : refs) out.push_back(identity(r));
        return out;
    }
    bool target(const std::string& ref) const { return targets_.count(ref) > 0; }
    /// The kernel of a target as its traced program forms it today; nullptr for pieces, or where none has the target's outputs.
    const loop::kernel* fresh(const std::string& ref) {
        const auto at = targets_.find(ref);
        if (at == targets_.end()) return nullptr;
        auto& formed = formed_[at->second];
        if (formed.empty()) {
            const auto g = program::read_program(document_.root().find("programs")->items()[at->second]);
            BOOST_REQUIRE(g);
            const auto lowered = program::lower(*g);
            BOOST_REQUIRE(lowered);
            auto kernels = loop::fuse(*lowered);
            BOOST_REQUIRE(kernels);
            formed = std::move(*kernels);
        }
        const loop::kernel& old = kernel(ref);
        for (const loop::formed& k : formed) {
            bool same = k.kernel.outputs.size() == old.outputs.size();
            for (const loop::buffer& b : k.kernel.outputs)
                same = same && std::any_of(old.outputs.begin(), old.outputs.end(), [&](const loop::buffer& o) { return old.body.text(o.name) == k.kernel.body.text(b.name); });
            if (same) return &k.kernel;
        }
        return nullptr;
    }

    std::string path;
    std::vector<routing_case> rows;

private:
    std::map<std::string, const stored_kernel*, std::less<>> kernels_;
    std::map<std::string, std::size_t> targets_;  // -> program
    std::map<std::size_t, std::vector<loop::formed>> formed_;
    json::document document_;
    std::map<std::string, loop::kernel> read_;
    std::map<std::string, digest128> ids_;
};

inline std::vector<digest128> identities(const fork::kernel_set& set) {
    std::vector<digest128> out;
    for (const fork::piece& p : set.pieces) out.push_back(loop::identity(p.form.kernel));
    return out;
}
inline bool same_set(std::vector<digest128> a, std::vector<digest128> b) {
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    return a == b;
}

/// A row taken again.
struct retaken {
    reading how = reading::none;
    bool in_order = false;
    std::string why;                          // of the stored order, where it fails
    std::optional<fork::kernel_set> set;      // of the reading that gave the children, else of the stored order
};

class retaker {
public:
    explicit retaker(routes& r) : r_(r) {}

    retaken take(const routing_case& c) {
        retaken out;
        const std::vector<digest128> wanted = r_.identities(c.children);
        for (const auto how : fold::closed::spellings) {
            auto form = fold::form_of(r_.kernel(c.parent), how);
            if (!form) {
                if (out.why.empty()) out.why = form.error().line();
                continue;
            }
            if (attempt(out, *form, c.arm, wanted, static_cast<reading>(how))) return out;
            if (c.family() == "LAYOUT") return out;
        }
        if (const fold::kernel_form* minted = tree(c.parent))
            if (attempt(out, *minted, c.arm, wanted, reading::minted)) return out;
        if (const loop::kernel* formed = r_.fresh(c.parent))
            for (const auto how : fold::closed::spellings)
                if (auto form = fold::form_of(*formed, how); form && attempt(out, *form, c.arm, wanted, reading::fresh)) return out;
        if (c.family() == "PLACE" && c.arm.size() == 1) respell(out, c, wanted);
        return out;
    }

    /// The parent as its own route from its root leaves it; nullptr where that gives no such piece.
    const fold::kernel_form* tree(const std::string& ref, int depth = 0) {
        if (const auto at = trees_.find(ref); at != trees_.end()) return at->second ? &*at->second : nullptr;
        trees_[ref];
        if (depth > 16) return nullptr;
        const routing_case* by = nullptr;
        for (const routing_case& c : r_.rows)
            if (!by && std::find(c.children.begin(), c.children.end(), ref) != c.children.end()) by = &c;
        if (!by || r_.target(ref)) return nullptr;
        const digest128 wanted = r_.identity(ref);
        const auto from = [&](const fold::kernel_form& parent) {
            auto set = fork::realise(parent, by->arm);
            if (!set) return false;
            for (fork::piece& p : set->pieces)
                if (loop::identity(p.form.kernel) == wanted) {
                    trees_[ref] = std::move(p.form);
                    return true;
                }
            return false;
        };
        if (const fold::kernel_form* parent = tree(by->parent, depth + 1); parent && from(*parent)) return &*trees_[ref];
        for (const auto how : fold::closed::spellings)
            if (auto form = fold::form_of(r_.kernel(by->parent), how); form && from(*form)) return &*trees_[ref];
        return nullptr;
    }

private:
    bool attempt(retaken& out, const fold::kernel_form& parent, const knob::routing_row& arm, const std::vector<digest128>& wanted, reading how) {
        auto set = fork::realise(parent, arm);
        if (!set) {
            if (out.why.empty()) out.why = set.error().line();
            return false;
        }
        const std::vector<digest128> made = identities(*set);
        if (!same_set(made, wanted)) {
            if (out.why.empty()) {
                std::size_t equal = 0;
                for (const digest128& d : wanted) equal += std::find(made.begin(), made.end(), d) != made.end();
                out.why = std::to_string(made.size()) + " pieces, " + std::to_string(wanted.size()) + " stored, " + std::to_string(equal) + " equal";
            }
            if (!out.set) out.set = std::move(*set);
            return false;
        }
        out.how = how, out.in_order = made == wanted, out.set = std::move(*set);
        return true;
    }
    void respell(retaken& out, const routing_case& c, const std::vector<digest128>& wanted) {
        for (const auto how : fold::closed::spellings) {
            auto form = fold::form_of(r_.kernel(c.parent), how);
            if (!form) continue;
            auto options = fork::structural_options(*form);
            if (!options) continue;
            for (const fork::structural_fork& f : *options)
                for (const fork::structural_arm& a : f.arms)
                    if (f.family == "PLACE" && a.row.size() == 1 && attempt(out, *form, a.row, wanted, reading::respelled)) return;
        }
    }

    routes& r_;
    std::map<std::string, std::optional<fold::kernel_form>> trees_;
};

}  // namespace emmy::test
