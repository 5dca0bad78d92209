// Every operator on every element type, one cell and whole vectors, against the interpreter; codes of f8 and f4 against core/numeric.
#include "../loop/interpret_support.hpp"
#include "support/sampled_rows.hpp"

#include <emmy/loop/op_table.hpp>

#include <iostream>

using namespace emmy;
using namespace emmy::test;

namespace {

constexpr dtype all_types[] = {dtype::f64, dtype::f32, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2, dtype::i64, dtype::i32, dtype::i16, dtype::u64, dtype::u32, dtype::u16, dtype::u8, dtype::boolean};

/// y[o, i] = op(x[i], w[i], z[i]) for every operator that takes such arguments, written as `out`.
loop::kernel every_operator(dtype in, dtype out, std::size_t& count) {
    std::string body = join({load("a", "x", {"i"}), load("b", "w", {"i"}), load("c", "z", {"i"})});
    count = 0;
    for (const loop::op_facts& f : loop::op_table) {
        if (f.op == loop::op::none || f.op == loop::op::next || f.op == loop::op::bitcast || f.op == loop::op::nextafter || f.op == loop::op::spacing) continue;
        const std::string name = "r" + std::to_string(count);
        const std::string text(f.text);
        body += "," + (f.arity == 1 ? assign(name, text, {"a"}) : f.arity == 2 ? assign(name, text, {"a", "b"}) : assign(name, text, {"a", "b", "c"}));
        body += "," + write("y", {std::to_string(count), "i"}, name);
        ++count;
    }
    const std::string t(token(in)), n = std::to_string(count);
    return kernel_of({{"x", t, "[23]"}, {"w", t, "[23]"}, {"z", t, "[23]"}}, {{"y", std::string(token(out)), "[" + n + ",23]"}}, over("i", 23, body));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_element_types)

BOOST_AUTO_TEST_CASE(every_operator_on_every_type) {
    std::size_t pairs = 0, cells = 0;
    for (dtype in : all_types)
        for (dtype out : {dtype::f32, dtype::f64, dtype::i32, dtype::u64}) {
            if (out != dtype::f32 && in != dtype::f32 && in != dtype::i64 && in != dtype::u64) continue;
            std::size_t operators = 0;
            const loop::kernel k = every_operator(in, out, operators);
            sampled_options options;
            options.cells = 40 * operators, options.rows = 3, options.bound = 1e-5;
            const sampled seen = check_sampled_rows(k, options);
            BOOST_CHECK_MESSAGE(seen.wrong == 0, token(in) << " to " << token(out) << ": " << seen.wrong << " of " << seen.cells << ", first " << seen.first_wrong);
            pairs += operators, cells += seen.cells;
        }
    std::cout << pairs << " operators on types, " << cells << " cells\n";
}
BOOST_AUTO_TEST_CASE(every_conversion) {
    std::size_t conversions = 0;
    for (dtype in : all_types) {
        std::string body = load("a", "x", {"i"});
        std::vector<port> outputs;
        for (dtype to : all_types) {
            const std::string name(token(to));
            body += "," + assign("v_" + name, "copy", {"a"}, name) + "," + write("y_" + name, {"i"}, "v_" + name);
            outputs.push_back({"y_" + name, name, "[40]"});
            ++conversions;
        }
        sampled_options options;
        options.cells = 40 * outputs.size(), options.bound = 1e-12;
        const sampled seen = check_sampled_rows(kernel_of({{"x", std::string(token(in)), "[40]"}}, outputs, over("i", 40, body)), options);
        BOOST_CHECK_MESSAGE(seen.wrong == 0, token(in) << ": " << seen.wrong << " of " << seen.cells << ", first " << seen.first_wrong);
    }
    BOOST_CHECK_EQUAL(conversions, std::size(all_types) * std::size(all_types));
}
BOOST_AUTO_TEST_CASE(codes_of_f8_are_those_of_core_numeric) {
    constexpr std::size_t n = 1 << 16;
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) << 16 | (i % 3 == 0 ? 0u : i % 3 == 1 ? 0x8000u : 0x7fffu));
    for (const std::string type : {"f8e4m3", "f8e5m2"}) {
        const dtype t = dtype_from_token(type);
        const loop::kernel k = kernel_of({{"x", "f32", "[65536]"}}, {{"y", type, "[65536]"}}, over("i", 65536, join({load("a", "x", {"i"}), assign("b", "to_" + type, {"a"}), write("y", {"i"}, "b")})));
        const loop::kernel back = kernel_of({{"x", type, "[256]"}}, {{"y", "f32", "[256]"}}, over("i", 256, join({load("a", "x", {"i"}), assign("b", "from_" + type, {"a"}), write("y", {"i"}, "b")})));
        for (const loop::kernel* one : {&k, &back}) {
            auto schedules = fork::cpu_schedules::make(*one, host_target());
            BOOST_REQUIRE(schedules);
            std::vector<kernel::cpu_text> texts;
            for (const fork::cpu_row& row : schedules->rows()) texts.push_back(*kernel::lower_cpu(*schedules, row));
            const compiled_texts code(texts);
            for (std::size_t r = 0; r < texts.size(); ++r) {
                std::vector<std::uint8_t> codes(n), all(256);
                std::vector<float> values(256);
                for (std::size_t c = 0; c < 256; ++c) all[c] = static_cast<std::uint8_t>(c);
                run_text(code[r], texts[r], one == &k ? std::vector<void*>{x.data(), codes.data()} : std::vector<void*>{all.data(), values.data()}, {}, 1);
                std::size_t wrong = 0;
                if (one == &k)
                    for (std::size_t i = 0; i < n; ++i) {
                        unsigned char want = 0;
                        store_real(t, &want, 0, static_cast<double>(x[i]));
                        wrong += codes[i] != want;
                    }
                else
                    for (std::size_t c = 0; c < 256; ++c) {
                        const double want = load_real(t, all.data(), c);
                        wrong += !(values[c] == static_cast<float>(want) || (std::isnan(want) && std::isnan(values[c])));
                    }
                BOOST_CHECK_MESSAGE(wrong == 0, type << (one == &k ? " encode " : " decode ") << "row " << r << ": " << wrong << " codes");
            }
        }
    }
}
BOOST_AUTO_TEST_CASE(four_bit_codes) {
    const std::string body = join({load("a", "x", {"i"}), assign("c", "to_f4e2m1", {"a"}), write("code", {"i"}, "c"), load("p", "packed", {"i"}), R"({"Let":{"name":"four","value":"4","dtype":"i32"}})",
                                   assign("w", "copy", {"p"}, "i32"), assign("h", "right_shift", {"w", "four"}), assign("low", "from_f4e2m1", {"w"}), assign("high", "from_f4e2m1", {"h"}), assign("s", "add", {"low", "high"}), write("sum", {"i"}, "s")});
    sampled_options options;
    options.cells = 400;
    const sampled seen = check_sampled_rows(kernel_of({{"x", "f32", "[200]"}, {"packed", "f4e2m1x2", "[200]"}}, {{"code", "u8", "[200]"}, {"sum", "f32", "[200]"}}, over("i", 200, body)), options);
    BOOST_CHECK_MESSAGE(seen.wrong == 0, seen.first_wrong);
}

BOOST_AUTO_TEST_SUITE_END()
