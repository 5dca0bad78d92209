#pragma once
#include <emmy-restamp/files.hpp>
#include <emmy/evidence/row_findings.hpp>

namespace emmy::restamp {

/// Fields and order of a listed row are those of the peer's tools: a bare JSON array.
inline tools::table list_table(const files& in, const golden::list_filter& filter) {
    using tools::cell;
    tools::table out("", {{"file"}, {"card"}, {"row"}, {"kernel", false}, {"pins", false}, {"knobs", false}, {"emmy_us"}, {"reference_us", true, true, "ref_us"}, {"reference_backend", false},
                          {"tried"}, {"whole_us"}, {"tcompile_us"}, {"eager_us", false}, {"vs_tcompile", true, true, "x_tc"}, {"note"}});
    for (const golden::list_entry& e : golden::list(in.views(), filter)) {
        const golden::document& file = *e.file;
        const golden::row& r = file.rows()[e.row];
        std::vector<cell> line{file_cell(in, file), cell::text(e.card), cell::text(r.name), cell::text(file.kernels()[r.kernel].ref()), map_cell(r.pins), r.has_knobs ? map_cell(r.knobs) : cell()};
        if (e.own_card) {
            const golden::measurement& m = *r.measurements;
            line.insert(line.end(), {time_cell(m.emmy_us), time_cell(m.reference_us), text_cell(m.reference_backend), m.tried ? cell::integer(*m.tried) : cell()});
        } else {
            line.resize(line.size() + 4);
        }
        if (e.whole) {
            line.insert(line.end(), {time_cell(e.whole->emmy_us), time_cell(e.whole->tcompile_us), time_cell(e.whole->eager_us), e.vs_tcompile() > 0 ? cell::real(e.vs_tcompile(), 2, "x") : cell()});
        } else {
            line.resize(line.size() + 4);
        }
        line.push_back(text_cell(r.note));
        out.add(std::move(line));
    }
    out.footer(counted(out.size(), "row"));
    return out;
}

inline tools::table missing_table(const files& in, const golden::list_filter& filter) {
    using tools::cell;
    tools::table out("", {{"file"}, {"gpu"}, {"row"}, {"kernel", false}, {"pins", false}, {"knobs", false}, {"missing"}, {"piece"}});
    for (const golden::missing_entry& e : golden::missing(in.views(), filter)) {
        const golden::row& r = e.file->rows()[e.row];
        out.add({file_cell(in, *e.file), text_cell(e.file->head().gpu_name), cell::text(r.name), cell::text(e.file->kernels()[r.kernel].ref()), map_cell(r.pins), r.has_knobs ? map_cell(r.knobs) : cell(),
                 cell::text(e.tcompile ? "tcompile" : "emmy"), cell::boolean(e.piece)});
    }
    out.footer(counted(out.size(), "row"));
    return out;
}

/// ref, name, identity, formed, role, rows of every kernel of one file: a bare JSON array.
inline tools::table kernels_table(const golden::document& file) {
    using tools::cell;
    std::vector<std::int64_t> rows(file.kernels().size());
    for (const golden::row& r : file.rows()) ++rows[r.kernel];
    tools::table out("", {{"ref"}, {"name"}, {"identity"}, {"formed"}, {"role"}, {"rows"}});
    for (golden::kernel_index k = 0; k < file.kernels().size(); ++k) {
        const golden::kernel_entry& entry = file.kernels()[k];
        const auto identity = file.identity(k);
        out.add({cell::text(entry.ref()), cell::text(entry.name), identity ? cell::text(to_hex(*identity)) : cell(), cell::boolean(entry.formed), cell::text(entry.target() ? "target" : "piece"), cell::integer(rows[k])});
    }
    out.footer(counted(out.size(), "kernel"));
    return out;
}

inline tools::table lint_table(const files& in, const std::string& only) {
    using tools::cell;
    tools::table out("emmy.restamp.lint/1", {{"file"}, {"rule"}, {"place"}, {"message"}});
    for (const golden::document& file : in.documents)
        for (const golden::finding& f : golden::lint(file))
            if (only.empty() || f.rule == only) out.add({file_cell(in, file), cell::text(f.rule), cell::text(f.place), cell::text(f.message)});
    if (only.empty() || only == evidence::row_rule.name)
        for (const golden::document& file : in.documents)
            for (const golden::finding& f : evidence::row_findings(file)) out.add({file_cell(in, file), cell::text(f.rule), cell::text(f.place), cell::text(f.message)});
    out.footer(counted(out.size(), "finding"));
    return out;
}

}  // namespace emmy::restamp
