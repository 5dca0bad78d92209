// Every archive in test/data/pt2 (real torch.export; make.py there wrote them) as a program: what PyTorch answered, the evaluator answers.
#include <emmy/program/check.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/import.hpp>

#include <emmy/core/archive.hpp>
#include <emmy/core/file.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

using namespace emmy;
using namespace emmy::program;

BOOST_AUTO_TEST_SUITE(exported_programs)

namespace {

std::vector<std::string> archives() {
    std::vector<std::string> out;
    const std::filesystem::path folder = std::filesystem::path(EMMY_TEST_DATA) / "pt2";
    if (std::filesystem::exists(folder))
        for (const auto& f : std::filesystem::directory_iterator(folder))
            if (f.path().extension() == ".pt2") out.push_back(f.path().string());
    std::sort(out.begin(), out.end());
    return out;
}
bool must_be_refused(const std::string& path) { return std::filesystem::path(path).filename().string().starts_with("refused_"); }

/// Relative error that rounding in this type explains, over a chain of operators.
double tolerance(dtype t) {
    switch (t) {
        case dtype::f32: return 1.0 / (1 << 18);
        case dtype::f16: return 1.0 / (1 << 9);
        case dtype::bf16: return 1.0 / (1 << 6);
        case dtype::f64: return 1e-10;
        default: return 0;
    }
}

struct run {
    archive::object inputs, outputs, after;
};

/// What one run of a fixture must give; the largest error in units of the tolerance.
double compare(const std::string& name, const pt2::pt2_archive& file, const pt2::imported& made, const archive::pt_file& answers, const run& r) {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<named_bytes> given;
    std::vector<bound_size> sizes;
    std::vector<std::string> ids;
    const auto weights = pt2::read_weights(file, made);
    BOOST_REQUIRE_MESSAGE(weights, name << ": " << (weights ? "" : weights.error().line()));
    for (std::size_t i = 0; i < weights->size(); ++i) given.push_back({made.weights[i].id, (*weights)[i]});
    bytes.reserve(made.inputs.size());
    for (const pt2::port& p : made.inputs) {
        if (p.role == pt2::port_role::state && file.find(p.name)) {  // a buffer that calls change: as the archive holds it
            auto before = file.read(*file.find(p.name));
            BOOST_REQUIRE(before);
            bytes.push_back(std::move(*before));
            given.push_back({p.id, bytes.back()});
            continue;
        }
        BOOST_REQUIRE_LT(p.position, r.inputs.size());
        const archive::object x = r.inputs[p.position];
        auto read = answers.read(x);
        BOOST_REQUIRE_MESSAGE(read, name << ": " << (read ? "" : read.error().line()));
        bytes.push_back(std::move(*read));
        given.push_back({p.id, bytes.back()});
        const auto shape = made.g.shape({made.g.find_node(p.id), 0});
        BOOST_REQUIRE_EQUAL(shape.size(), x.shape().size());
        for (std::size_t i = 0; i < shape.size(); ++i) {
            if (shape[i].kind == dim::form::symbol) sizes = {{made.symbol.name, x.shape()[i]}};
            else if (shape[i].kind == dim::form::number) BOOST_REQUIRE_EQUAL(shape[i].number, x.shape()[i]);
        }
    }
    const auto got = evaluate(made.g, given, sizes);
    BOOST_REQUIRE_MESSAGE(got, name << ": " << (got ? "" : got.error().line()));
    BOOST_REQUIRE_EQUAL(got->size(), made.outputs.size());
    double worst = 0;
    for (std::size_t i = 0; i < got->size(); ++i) {
        const pt2::port& p = made.outputs[i];
        archive::object wanted;
        if (p.role == pt2::port_role::user) {
            BOOST_REQUIRE_LT(p.position, r.outputs.size());
            wanted = r.outputs[p.position];
        } else {
            const auto in = std::find_if(made.inputs.begin(), made.inputs.end(), [&](const pt2::port& q) { return q.name == p.name; });
            if (in == made.inputs.end() || !r.after.is(archive::object_kind::list) || file.find(p.name)) continue;  // of a buffer: PyTorch's results read it
            wanted = r.after[in->position];
        }
        const auto right = answers.read(wanted);
        BOOST_REQUIRE_MESSAGE(right, name << ": " << (right ? "" : right.error().line()));
        const dtype type = made.g.at(made.g.outputs[i]).type;
        BOOST_CHECK_MESSAGE(archive::dtype_of(wanted.type()) == type, name << ": output " << i << " is " << token(type));
        BOOST_CHECK_MESSAGE((*got)[i].shape == wanted.shape(), name << ": output " << i << " has another shape");
        const std::vector<double> want = from_bytes(type, *right);
        BOOST_REQUIRE_EQUAL(want.size(), (*got)[i].values.size());
        double scale = 0;
        for (const double v : want)
            if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
        for (std::size_t k = 0; k < want.size(); ++k) {
            const double a = round_to(type, (*got)[i].values[k]), b = want[k];
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            const double allowed = tolerance(type) * (std::abs(b) + 0.25 * scale);
            const double error = std::isfinite(a) && std::isfinite(b) && allowed > 0 ? std::abs(a - b) / allowed : 1e9;
            if (error > 1 && worst <= 1) BOOST_TEST_MESSAGE(name << ": output " << i << " cell " << k << ": " << a << ", PyTorch " << b);
            worst = std::max(worst, error);
        }
    }
    return worst;
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers) {
    std::size_t archives_read = 0, runs = 0;
    for (const std::string& path : archives()) {
        if (must_be_refused(path)) continue;
        const std::string name = std::filesystem::path(path).stem().string();
        const auto file = pt2::pt2_archive::open(path);
        BOOST_CHECK_MESSAGE(file, name << ": " << (file ? "" : file.error().line()));
        if (!file) continue;
        const auto made = pt2::import_program(file->program());
        BOOST_CHECK_MESSAGE(made, name << ": " << (made ? "" : made.error().line()));
        if (!made) continue;
        const auto fits = check_program(made->g);
        BOOST_CHECK_MESSAGE(fits, name << ": " << (fits ? "" : fits.error().line()));
        const auto answers = archive::pt_file::open(std::filesystem::path(path).replace_extension(".pt").string());
        BOOST_CHECK_MESSAGE(answers, name << ": " << (answers ? "" : answers.error().line()));
        if (!answers) continue;
        const archive::object list = answers->root().find("runs");
        BOOST_REQUIRE_GE(list.size(), 1);
        double worst = 0;
        for (std::size_t i = 0; i < list.size(); ++i, ++runs)
            worst = std::max(worst, compare(name, *file, *made, *answers, {list[i].find("inputs"), list[i].find("outputs"), list[i].find("after")}));
        BOOST_CHECK_MESSAGE(worst <= 1, name << ": the largest error is " << worst << " times the tolerance");
        BOOST_TEST_MESSAGE(name << ": " << made->g.nodes.size() << " nodes, " << list.size() << " runs, largest error " << worst << " of the tolerance");
        ++archives_read;
    }
    if (archives_read == 0) std::cout << "pt2: no archives in test/data/pt2\n";
    BOOST_TEST_MESSAGE(archives_read << " archives, " << runs << " runs");
}

/// Each line of refused.txt: an archive, and words of the message.
BOOST_AUTO_TEST_CASE(refused) {
    const auto text = read_file(std::string(EMMY_TEST_DATA) + "/pt2/refused.txt");
    if (!text) {
        std::cout << "pt2: no refused.txt in test/data/pt2\n";
        return;
    }
    for (std::string_view rest = *text; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        const std::size_t blank = line.find(' ');
        if (blank == std::string_view::npos) continue;
        const std::string path = std::string(EMMY_TEST_DATA) + "/pt2/" + std::string(line.substr(0, blank));
        const std::string words(line.substr(blank + 1));
        std::string said;
        if (const auto file = pt2::pt2_archive::open(path); !file) {
            said = file.error().line();
        } else {
            std::vector<pt2::refusal> all;
            const auto made = pt2::import_program(file->program(), {}, &all);
            said = made ? "nothing" : made.error().line();
            for (const pt2::refusal& r : all) said += "\n" + r.line();
        }
        BOOST_CHECK_MESSAGE(said.find(words) != std::string::npos, path << ": found " << said << ", expected the words " << words);
        BOOST_CHECK_MESSAGE(said.find(path) != std::string::npos, path << " is not named by: " << said);
    }
}

BOOST_AUTO_TEST_SUITE_END()
