#pragma once
#include <common/exit.hpp>

#include <emmy/core/file.hpp>
#include <emmy/core/json.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/normal/diff.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// --diff A B: where the normal forms of two kernels part.
namespace emmy::compile {

/// The one kernel that a program becomes.
inline result<loop::kernel> kernel_of_program(const program::graph& g, const std::string& side) {
    EMMY_TRY(lowered, program::lower(g));
    EMMY_TRY(kernels, loop::fuse(lowered));
    if (kernels.size() != 1) return refuse(fault_kind::user, "found a program of " + std::to_string(kernels.size()) + " kernels, expected one", "--diff", side);
    return std::move(kernels[0].kernel);
}

/// A side of the comparison: an operator with its shapes, the file of a kernel (--stage loop --json) or of a program, or GOLDEN:KERNEL.
inline result<loop::kernel> diff_side(const std::string& side) {
    std::string path = side, name;
    if (!std::filesystem::exists(path)) {
        if (side.find('(') != side.npos) {
            EMMY_TRY(graph, program::parse_op(side));
            return kernel_of_program(graph, side);
        }
        if (const std::size_t colon = side.rfind(':'); colon != side.npos) path = side.substr(0, colon), name = side.substr(colon + 1);
    }
    EMMY_TRY(bytes, read_file(path));
    auto document = json::document::parse(bytes, path);
    if (!document) return refuse(document.error());
    if (document->root().find("compute_cap")) {
        EMMY_TRY(file, golden::document::load(path));
        const golden::kernel_index k = file.find_kernel(name);
        if (k == golden::none) return refuse(fault_kind::user, "found no kernel \"" + name + "\", expected GOLDEN:KERNEL with a kernel of the file", "--diff", path);
        return file.body(k);
    }
    if (!name.empty()) return refuse(fault_kind::user, "found a kernel's name \"" + name + "\" beside a file that is no golden file", "--diff", path);
    bool kernel = false;
    if (const json::value* nodes = document->root().find("nodes"); nodes && nodes->is(json::kind::array))
        for (const json::value& n : nodes->items()) {
            const json::value* op = n.is(json::kind::object) ? n.find("op") : nullptr;
            kernel = kernel || (op && op->is(json::kind::string) && op->text() == "loop");
        }
    if (kernel) {
        auto read = loop::read_kernel(document->root());
        if (!read) return refuse(std::move(read).error().in_file(path));
        return std::move(*read);
    }
    auto graph = program::read_program(document->root());
    if (!graph) return refuse(std::move(graph).error().in_file(path));
    return kernel_of_program(*graph, path);
}

/// Exit code: fine when the two are one kernel, a finding when they are not.
inline result<int> diff(const std::vector<std::string>& sides, bool machine, std::string& out) {
    EMMY_TRY(a, diff_side(sides[0]));
    EMMY_TRY(b, diff_side(sides[1]));
    const std::string first = to_hex(loop::identity(a)), second = to_hex(loop::identity(b));
    const auto d = loop::first_difference(a, b);
    if (machine) {
        json::writer w(out);
        w.begin_object().key("schema").string("emmy.compile.diff/1").key("same").boolean(!d);
        w.key("first").begin_object().key("kernel").string(a.name).key("identity").string(first).end_object();
        w.key("second").begin_object().key("kernel").string(b.name).key("identity").string(second).end_object();
        if (d) {
            w.key("difference").begin_object().key("what").string(d->what).key("path").string(d->path);
            w.key("second_path").string(d->other_path.empty() ? d->path : d->other_path).key("first").string(d->first).key("second").string(d->second).end_object();
        }
        w.end_object();
        out += "\n";
    } else if (!d) {
        out = "one kernel: " + a.name + " and " + b.name + "  " + first + "\n";
    } else {
        out = a.name + "  " + first + "\n" + b.name + "  " + second + "\n";
        out += d->what + (d->path.empty() ? "" : " at " + d->path) + (d->other_path.empty() ? "" : "\n  in the second: " + d->other_path) + "\n";
        out += "  first:  " + d->first + "\n  second: " + d->second + "\n";
    }
    return d ? tools::exit_finding : tools::exit_fine;
}

}  // namespace emmy::compile
