#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/kernel/prelude_cpu.hpp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/op_table.hpp>

#include <charconv>

namespace emmy::kernel {
namespace detail {

constexpr int lane_counts[] = {1, 4, 8, 16};

inline std::string float_literal(double x) {
    const float f = static_cast<float>(x);
    if (f != f) return "__builtin_nanf(\"\")";
    if (f == __builtin_huge_valf()) return "__builtin_huge_valf()";
    if (f == -__builtin_huge_valf()) return "-__builtin_huge_valf()";
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, f).ptr;
    std::string out(text, end);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out + "f";
}

inline std::string double_literal(double x) {
    if (x != x) return "__builtin_nan(\"\")";
    if (x == __builtin_huge_val()) return "__builtin_huge_val()";
    if (x == -__builtin_huge_val()) return "-__builtin_huge_val()";
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, x).ptr;
    std::string out(text, end);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
}

class cpu_printer {
public:
    explicit cpu_printer(const program& p) : p_(p), places_(p.memories.size(), 0) {}

    printed print() {
        printed out;
        for (std::size_t i = 0; i < p_.memories.size(); ++i) {
            const memory& m = p_.memories[i];
            if (m.where != space::part_slab && m.where != space::shared_slab) continue;
            std::vector<slab_size>& sizes = m.where == space::shared_slab ? out.shared : out.part;
            places_[i] = sizes.size();
            sizes.push_back({m.elements * byte_size(m.type), m.symbols});
        }
        slabs_ = &out;
        depth_ = 1;
        list(p_.body);
        out.source = head();
        out.source += "extern \"C\" void " + p_.entry + "(const emmy_launch* launch) {\n";
        for (std::size_t i = 0; i < p_.memories.size(); ++i) {
            const memory& m = p_.memories[i];
            if (m.where != space::input && m.where != space::output) continue;
            const std::string type = std::string(m.where == space::input ? "const " : "") + c_type(m.type) + "*";
            if (used(name(static_cast<memory_id>(i)))) out.source += "    " + type + " __restrict const " + name(static_cast<memory_id>(i)) + " = (" + type + ")launch->buffers[" + std::to_string(i) + "];\n";
        }
        for (std::size_t i = 0; i < p_.symbols.size(); ++i)
            if (used("n" + std::to_string(i))) out.source += "    const long long n" + std::to_string(i) + " = launch->sizes[" + std::to_string(i) + "];\n";
        for (std::size_t i = 0; i < p_.memories.size(); ++i)
            if (const std::string flag = name(static_cast<memory_id>(i)) + "_aligned"; used(flag)) out.source += "    const bool " + flag + " = ((unsigned long long)" + name(static_cast<memory_id>(i)) + " & 63) == 0;\n";
        out.source += text_;
        if (text_.find("stream_") != std::string::npos) out.source += "#if defined(__x86_64__)\n    __builtin_ia32_sfence();\n#endif\n";
        out.source += "}\n";
        return out;
    }

private:
    static bool word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
    /// `word` stands in the body as a whole word.
    bool used(const std::string& word) const { return holds(text_, word); }
    static bool holds(std::string_view text, std::string_view word) {
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
            const std::size_t end = at + word.size();
            if ((at == 0 || !word_char(text[at - 1])) && (end == text.size() || !word_char(text[end]))) return true;
        }
        return false;
    }

    static std::string instance(std::string_view text, int lanes) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '$') out += std::to_string(lanes);
            else if (text[i] == '@') out += std::to_string(lanes * 4);
            else if (text[i] == '~' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') {
                const int by = lanes >> (text[++i] - '0');
                for (int l = 0; l < lanes; ++l) out += (l == 0 ? "" : ", ") + std::to_string((l + by) % lanes);
            } else out += text[i];
        }
        return out;
    }
    static std::string definition(std::size_t place, int lanes) {
        if (place < std::size(cpu_prelude)) {
            const prelude_function& f = cpu_prelude[place];
            return instance(lanes == 1 && !f.scalar.empty() ? f.scalar : f.vector, lanes);
        }
        if (place >= std::size(cpu_prelude) + std::size(cpu_library)) {
            const scalar_formula& f = cpu_formulas[place - std::size(cpu_prelude) - std::size(cpu_library)];
            const std::string n = std::to_string(lanes), type = "f32x" + n, own = "f_" + std::string(loop::text(f.op)) + "_";
            const int arity = loop::facts(f.op).arity;
            std::string parameters, lane, text;
            for (int i = 0; i < arity; ++i) {
                const std::string x(1, static_cast<char>('a' + i));
                parameters += (i == 0 ? "" : ", ") + type + " " + x, lane += (i == 0 ? "" : ", ") + x + "[i]";
            }
            if (lanes > 1) return "SI " + type + " " + own + n + "(" + parameters + ") { " + type + " r = a; for (int i = 0; i < " + n + "; ++i) r[i] = " + own + "1(" + lane + "); return r; }";
            for (std::size_t i = 0; i < f.text.size(); ++i) {
                if (f.text[i] == '$') text += "((double)" + std::string(1, f.text[++i]) + ")";
                else text += f.text[i];
            }
            return "SI float " + own + "1(" + parameters + ") { return (float)(" + text + "); }";
        }
        const library_function& f = cpu_library[place - std::size(cpu_prelude)];
        const std::string n = std::to_string(lanes), type = "f32x" + n, call = std::string(f.builtin);
        std::string out = "SI " + type + " " + std::string(f.name) + "_" + n + "(" + type + " a" + (f.arity == 2 ? ", " + type + " b" : "") + ") { ";
        if (lanes == 1) return out + "return " + call + (f.arity == 2 ? "(a, b); }" : "(a); }");
        return out + type + " r = a; for (int i = 0; i < " + n + "; ++i) r[i] = " + call + (f.arity == 2 ? "(a[i], b[i])" : "(a[i])") + "; return r; }";
    }
    static std::string function_name(std::size_t place) {
        if (place >= std::size(cpu_prelude) + std::size(cpu_library)) return "f_" + std::string(loop::text(cpu_formulas[place - std::size(cpu_prelude) - std::size(cpu_library)].op));
        return std::string(place < std::size(cpu_prelude) ? cpu_prelude[place].name : cpu_library[place - std::size(cpu_prelude)].name);
    }

    /// Types and the prelude functions in use, callees before callers.
    std::string head() const {
        constexpr std::size_t count = std::size(cpu_prelude) + std::size(cpu_library) + std::size(cpu_formulas);
        std::string functions;
        std::vector<char> done(count * std::size(lane_counts), 0);
        bool any[std::size(lane_counts)] = {true, false, false, false};
        const auto require = [&](const auto& self, std::string_view text) -> void {
            for (std::size_t f = 0; f < count; ++f)
                for (std::size_t l = 0; l < std::size(lane_counts); ++l) {
                    char& mark = done[f * std::size(lane_counts) + l];
                    if (mark || !holds(text, function_name(f) + "_" + std::to_string(lane_counts[l]))) continue;
                    mark = 1;
                    any[l] = true;
                    const std::string body = definition(f, lane_counts[l]);
                    self(self, body);
                    functions += body + "\n";
                }
        };
        require(require, text_);
        for (std::size_t l = 1; l < std::size(lane_counts); ++l) any[l] = any[l] || used("f32x" + std::to_string(lane_counts[l])) || functions.find("stream_f32") != std::string::npos || (l > 1 && functions.find("_f16_") != std::string::npos) || (l > 1 && functions.find("u8x" + std::to_string(lane_counts[l])) != std::string::npos);
        std::string out = "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n"
                          "#define SI static inline __attribute__((always_inline))\n"
                          "typedef float f32x1;\ntypedef int i32x1;\ntypedef unsigned u32x1;\ntypedef unsigned short u16x1;\ntypedef unsigned char u8x1;\n";
        for (std::size_t l = 1; l < std::size(lane_counts); ++l) {
            if (!any[l]) continue;
            out += instance("typedef float f32x$ __attribute__((vector_size(@)));\ntypedef float f32x$u __attribute__((vector_size(@), aligned(4), may_alias));\n"
                            "typedef int i32x$ __attribute__((vector_size(@)));\ntypedef unsigned u32x$ __attribute__((vector_size(@)));\n", lane_counts[l]);
            const std::string half = std::to_string(lane_counts[l] * 2), n = std::to_string(lane_counts[l]);
            out += "typedef unsigned short u16x" + n + " __attribute__((vector_size(" + half + ")));\ntypedef short s16x" + n + " __attribute__((vector_size(" + half + ")));\n";
            out += instance("typedef unsigned char u8x$ __attribute__((vector_size($)));\ntypedef unsigned char u8x$u __attribute__((vector_size($), aligned(1), may_alias));\n", lane_counts[l]);
            out += "typedef unsigned short u16x" + n + "u __attribute__((vector_size(" + half + "), aligned(2), may_alias));\n";
        }
        return out + functions;
    }

    std::string name(memory_id m) const {
        return (p_.memories[m].where == space::input || p_.memories[m].where == space::output ? "b" : "s") + std::to_string(m);
    }
    std::string v(value_id id) const { return "v" + std::to_string(id); }
    std::string type_of(const value& x) const { return reads_as_integer(x.type) ? "long long" : x.type == dtype::f64 ? "double" : "f32x" + std::to_string(x.lanes); }
    std::string e(expr_id id) const {
        std::string out;
        spell_expr(out, id, p_.exprs, p_.names);
        return out;
    }
    /// Names `lane`: one truth a lane.
    bool by_lane(expr_id id) const {
        const expr& x = p_.exprs[id];
        switch (x.kind) {
            case expr_kind::name: return p_.names.text(x.name) == "lane";
            case expr_kind::binary: return by_lane(x.a) || by_lane(x.b);
            case expr_kind::ternary: return by_lane(x.a) || by_lane(x.b) || by_lane(x.c);
            default: return false;
        }
    }
    /// An expression as a vector of 32-bit integers.
    std::string lanes_of(expr_id id, int w) const {
        const expr& x = p_.exprs[id];
        const std::string suffix = "_" + std::to_string(w);
        if (!by_lane(id)) return "isplat" + suffix + "((int)(" + e(id) + "))";
        if (x.kind == expr_kind::name) return "lane" + suffix;
        if (x.kind == expr_kind::ternary) return "(" + mask(x.a, w) + " ? " + lanes_of(x.b, w) + " : " + lanes_of(x.c, w) + ")";
        if (emmy::facts(x.op).level < 5) return "(" + mask(id, w) + " & isplat" + suffix + "(1))";
        return "(" + lanes_of(x.a, w) + " " + std::string(emmy::facts(x.op).text) + " " + lanes_of(x.b, w) + ")";
    }
    /// A predicate as a vector of masks.
    std::string mask(expr_id id, int w) const {
        const expr& x = p_.exprs[id];
        const std::string suffix = "_" + std::to_string(w);
        if (!by_lane(id)) return "isplat" + suffix + "(-(int)((" + e(id) + ") != 0))";
        if (x.kind == expr_kind::binary && (x.op == binary_op::logical_and || x.op == binary_op::logical_or))
            return "(" + mask(x.a, w) + (x.op == binary_op::logical_and ? " & " : " | ") + mask(x.b, w) + ")";
        if (x.kind == expr_kind::binary && emmy::facts(x.op).level < 5) return "(" + lanes_of(x.a, w) + " " + std::string(emmy::facts(x.op).text) + " " + lanes_of(x.b, w) + ")";
        return "(" + lanes_of(id, w) + " != isplat" + suffix + "(0))";
    }
    /// As an operand of + or <.
    std::string term(expr_id id) const {
        const expr& x = p_.exprs[id];
        const bool loose = x.kind == expr_kind::ternary || (x.kind == expr_kind::binary && facts(x.op).level < 5);
        return loose ? "(" + e(id) + ")" : e(id);
    }
    void line(const std::string& text) { text_ += std::string(static_cast<std::size_t>(depth_) * 4, ' ') + text + "\n"; }

    static const char* integer_as(dtype t) { return t == dtype::u64 ? "(unsigned long long)" : ""; }
    /// An argument as an operand of a result with these lanes, in f32.
    std::string arg(value_id id, int lanes) const {
        const value& x = p_.values[id];
        std::string out = reads_as_integer(x.type) ? "(float)" + std::string(integer_as(x.type)) + v(id) : x.type == dtype::f64 ? "(float)" + v(id) : v(id);
        if (x.lanes != lanes) out = "splat_" + std::to_string(lanes) + "(" + out + ")";
        return out;
    }
    /// A one-lane argument in double.
    std::string wide_arg(value_id id) const {
        const dtype t = p_.values[id].type;
        return t == dtype::f64 ? v(id) : "(double)" + std::string(integer_as(t)) + v(id);
    }
    /// A one-lane argument as an integer.
    std::string whole_arg(value_id id) const { return reads_as_integer(p_.values[id].type) ? v(id) : truncated(dtype::i64, v(id)); }

    /// An integer in the range of a type, modulo its width.
    static std::string wrapped(dtype t, const std::string& x) {
        if (t == dtype::i64 || t == dtype::u64) return x;
        if (t == dtype::boolean) return "(" + x + ") != 0";
        return "(" + std::string(c_type(t)) + ")(" + x + ")";
    }
    /// A real as a value of an integer type: truncated, saturated.
    static std::string truncated(dtype t, const std::string& x) {
        if (t == dtype::boolean) return "(" + x + ") != 0";
        if (t == dtype::u64) return "to_u64_1(" + x + ")";
        if (t == dtype::i64) return "to_i64_1(" + x + ")";
        if (t == dtype::f4e2m1x2 || t == dtype::f16x2) return wrapped(t, "to_i64_1(" + x + ")");
        const int bits = emmy::facts(t).bits - (emmy::facts(t).is_signed ? 1 : 0);
        const long long high = (1ll << bits) - 1, low = emmy::facts(t).is_signed ? -high - 1 : 0;
        return "to_range_1(" + x + ", " + std::to_string(low) + "ll, " + std::to_string(high) + "ll)";
    }
    static std::string f8_name(loop::op o) { return o == loop::op::from_f8e4m3 || o == loop::op::to_f8e4m3 ? "f8e4m3" : "f8e5m2"; }

    /// A value as it is assigned to its name: computed, converted, rounded.
    std::string assigned(const node& n) const {
        const value& to = p_.values[n.dst];
        using loop::op;
        const bool to_integer = reads_as_integer(to.type);
        if (n.op == op::none || (to.lanes > 1 && !to_integer)) return rounded(n, operation(n));
        std::vector<dtype> types;
        bool integers = loop::facts(n.op).integer_capable, any_integer = to.type == dtype::f64, all_f32 = true;
        for (std::size_t i = 0; i < n.args.size(); ++i) {
            const dtype t = p_.values[n.args[i]].type;
            types.push_back(t);
            if (i > 0 || n.op != op::where) integers = integers && reads_as_integer(t);
            any_integer = any_integer || reads_as_integer(t) || t == dtype::f64;
            all_f32 = all_f32 && !reads_as_integer(t) && t != dtype::f64;
        }
        const auto converted = [&](const std::string& x, bool whole, dtype from) {  // a one-lane result as the destination's type
            if (to_integer) return whole ? (from == to.type ? x : wrapped(to.type, x)) : truncated(to.type, x);
            if (!whole) return to.type == dtype::f64 ? x : rounded_to(to.type, "(float)(" + x + ")", 1);
            const std::string real = "(double)" + std::string(integer_as(from)) + "(" + x + ")";
            return to.type == dtype::f64 ? real : rounded_to(to.type, "(float)" + real, 1);
        };
        const auto plain = [&](value_id a) { return converted(v(a), reads_as_integer(p_.values[a].type), p_.values[a].type); };
        switch (n.op) {
            case op::copy:
            case op::pad:
            case op::positive:
            case op::conjugate:
                if (!any_integer && !to_integer) break;
                return plain(n.args[0]);
            case op::next: return plain(n.args[1]);
            case op::from_f8e4m3:
            case op::from_f8e5m2:
                if (!reads_as_integer(types[0])) {  // an f8 value is held decoded
                    if (any_integer || to_integer) return plain(n.args[0]);
                    break;
                }
                return converted("widen_" + f8_name(n.op) + "_1((unsigned char)" + v(n.args[0]) + ")", false, dtype::f32);
            case op::to_f8e4m3:
            case op::to_f8e5m2:
                if (to_integer) return wrapped(to.type, "(long long)narrow_" + f8_name(n.op) + "_1(" + arg(n.args[0], 1) + ")");
                return converted("round_" + f8_name(n.op) + "_1(" + arg(n.args[0], 1) + ")", false, dtype::f32);
            case op::from_f4e2m1: return converted("decode_f4e2m1_1(" + whole_arg(n.args[0]) + ")", false, dtype::f32);
            case op::to_f4e2m1: return converted("encode_f4e2m1_1(" + wide_arg(n.args[0]) + ")", true, dtype::i32);
            case op::bitcast: return bitcast(n, to);
            default: break;
        }
        if (integers) {
            const dtype inferred = loop::infer_assign(n.op, types, false), held = is_integer(to.type) ? to.type : inferred;
            return converted(wrapped(held, integer_operation(n, held)), true, held);
        }
        if (!any_integer && !to_integer) return rounded(n, operation(n));
        if (all_f32 && to_integer && to.lanes == 1) {  // in f32, then whole
            node real = n;
            return converted(operation(real, 1), false, dtype::f32);
        }
        return converted(to.type == dtype::f64 ? formula(n) : "(float)(" + formula(n) + ")", false, dtype::f32);
    }
    std::string bitcast(const node& n, const value& to) const {
        const dtype from = p_.values[n.args[0]].type;
        std::string bits;
        switch (from) {
            case dtype::f64: bits = "__builtin_bit_cast(long long, " + v(n.args[0]) + ")"; break;
            case dtype::f32: bits = "(long long)__builtin_bit_cast(unsigned, " + v(n.args[0]) + ")"; break;
            case dtype::f16:
            case dtype::bf16:
            case dtype::f8e4m3:
            case dtype::f8e5m2: bits = "(long long)narrow_" + std::string(token(from)) + "_1(" + v(n.args[0]) + ")"; break;
            default: bits = v(n.args[0]);
        }
        switch (to.type) {
            case dtype::f64: return "__builtin_bit_cast(double, " + bits + ")";
            case dtype::f32: return "__builtin_bit_cast(float, (unsigned)(" + bits + "))";
            case dtype::f16:
            case dtype::bf16:
            case dtype::f8e4m3:
            case dtype::f8e5m2: return "widen_" + std::string(token(to.type)) + "_1((" + std::string(c_type(to.type)) + ")(" + bits + "))";
            default: return wrapped(to.type, bits);
        }
    }
    /// The operator's formula in double.
    std::string formula(const node& n) const {
        std::string out;
        const std::string_view text = cpu_formula(n.op);
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '$') out += "(" + wide_arg(n.args[static_cast<std::size_t>(text[++i] - 'a')]) + ")";
            else out += text[i];
        }
        return out;
    }
    static std::string rounded_to(dtype t, const std::string& x, int lanes) {
        if (t == dtype::f16 || t == dtype::bf16 || t == dtype::f8e4m3 || t == dtype::f8e5m2) return "round_" + std::string(token(t)) + "_" + std::to_string(lanes) + "(" + x + ")";
        return x;
    }

    std::string operation(const node& n) const { return operation(n, p_.values[n.dst].lanes); }
    /// In f32, `w` lanes.
    std::string operation(const node& n, int w) const {
        const value& to = p_.values[n.dst];
        using loop::op;
        if (n.op == op::none && reads_as_integer(to.type)) {
            if (n.condition != no_expr) return "(" + e(n.condition) + ") ? " + v(n.args[0]) + " : " + v(n.args[1]);
            if (n.at != no_expr) return e(n.at);
            return std::to_string(static_cast<long long>(n.number)) + "ll";
        }
        if (n.op == op::none && to.type == dtype::f64) {
            if (n.condition != no_expr) return "(" + e(n.condition) + ") ? " + wide_arg(n.args[0]) + " : " + wide_arg(n.args[1]);
            return n.at != no_expr ? e(n.at) : double_literal(n.number);
        }
        const std::string suffix = "_" + std::to_string(w);
        const auto a = [&](std::size_t i) { return arg(n.args[i], w); };
        const auto infix = [&](const char* text) { return a(0) + text + a(1); };
        const auto call = [&](std::string_view f) {
            std::string out = std::string(f) + suffix + "(";
            for (std::size_t i = 0; i < n.args.size(); ++i) out += (i == 0 ? "" : ", ") + a(i);
            return out + ")";
        };
        const auto truth = [&](const std::string& test) { return "(" + test + ") ? " + "splat" + suffix + "(1.0f) : splat" + suffix + "(0.0f)"; };
        const std::string zero = "splat" + suffix + "(0.0f)";
        switch (n.op) {
            case op::none:
                if (n.condition != no_expr) return (by_lane(n.condition) ? mask(n.condition, w) : "(" + e(n.condition) + ")") + " ? " + a(0) + " : " + a(1);
                if (n.args.size() > 1) {  // lane by lane
                    std::string out = type_of(to) + "{";
                    for (std::size_t i = 0; i < n.args.size(); ++i) out += (i == 0 ? "" : ", ") + arg(n.args[i], 1);
                    return out + "}";
                }
                if (n.at != no_expr) return "(float)(" + e(n.at) + ")";
                return w == 1 ? float_literal(n.number) : "splat" + suffix + "(" + float_literal(n.number) + ")";
            case op::add: return infix(" + ");
            case op::subtract: return infix(" - ");
            case op::multiply: return infix(" * ");
            case op::divide:
            case op::divide_rn_f32:
                if (n.args.size() == 3) return "divide_by" + suffix + "(" + a(0) + ", " + arg(n.args[1], 1) + ", " + arg(n.args[2], 1) + ")";
                return infix(" / ");
            case op::reciprocal: return "1.0f / " + a(0);
            case op::negative: return "-" + a(0);
            case op::square: return a(0) + " * " + a(0);
            case op::rsqrt: return "1.0f / sqrt" + suffix + "(" + a(0) + ")";
            case op::maximum:
            case op::fmax: return call("max");
            case op::minimum:
            case op::fmin: return call("min");
            case op::copy:
            case op::pad:
            case op::positive:
            case op::conjugate: return a(0);
            case op::absolute: return call("abs");
            case op::exp_fast: return call("exp");
            case op::where: return call("where");
            case op::equal: return truth(infix(" == "));
            case op::not_equal: return truth(infix(" != "));
            case op::less: return truth(infix(" < "));
            case op::less_equal: return truth(infix(" <= "));
            case op::greater: return truth(infix(" > "));
            case op::greater_equal: return truth(infix(" >= "));
            case op::isnan: return truth(a(0) + " != " + a(0));
            case op::logical_not: return truth(a(0) + " == " + zero);
            case op::logical_and:
            case op::bitwise_and: return "where" + suffix + "(" + a(0) + ", where" + suffix + "(" + a(1) + ", splat" + suffix + "(1.0f), " + zero + "), " + zero + ")";
            case op::logical_or:
            case op::bitwise_or: return "where" + suffix + "(" + a(0) + ", splat" + suffix + "(1.0f), where" + suffix + "(" + a(1) + ", splat" + suffix + "(1.0f), " + zero + "))";
            case op::sign: return a(0) + " > " + zero + " ? splat" + suffix + "(1.0f) : " + a(0) + " < " + zero + " ? splat" + suffix + "(-1.0f) : " + a(0);
            case op::from_f8e4m3:
            case op::from_f8e5m2: return a(0);
            case op::to_f8e4m3:
            case op::to_f8e5m2: return "round_" + f8_name(n.op) + suffix + "(" + a(0) + ")";
            default: return call(is_named(loop::text(n.op)) ? std::string(loop::text(n.op)) : "f_" + std::string(loop::text(n.op)));
        }
    }
    static bool is_named(std::string_view name) {
        for (const prelude_function& f : cpu_prelude)
            if (f.name == name && !f.vector.empty()) return true;
        for (const library_function& f : cpu_library)
            if (f.name == name) return true;
        return false;
    }
    /// On integers, in 64 bits; the caller wraps. `type`: of the result.
    std::string integer_operation(const node& n, dtype type) const {
        using loop::op;
        const bool is_unsigned = type == dtype::u64;
        const auto a = [&](std::size_t i) { return v(n.args[i]); };
        const auto u = [&](std::size_t i) { return "(unsigned long long)" + v(n.args[i]); };
        const auto infix = [&](const char* text) { return a(0) + text + a(1); };
        const auto modular = [&](const char* text) { return byte_size(type) < 8 ? infix(text) : "(long long)(" + u(0) + text + u(1) + ")"; };
        const auto compare = [&](const char* text) { return is_unsigned ? u(0) + text + u(1) : infix(text); };
        const auto call = [&](const char* f) { return std::string(f) + "(" + a(0) + ", " + a(1) + ")"; };
        const auto unsigned_or = [&](const char* text, const std::string& signed_one) { return is_unsigned ? "(" + a(1) + " == 0 ? 0ll : (long long)(" + u(0) + text + u(1) + "))" : signed_one; };
        switch (n.op) {
            case op::add: return modular(" + ");
            case op::subtract: return modular(" - ");
            case op::multiply: return modular(" * ");
            case op::square: return byte_size(type) < 8 ? a(0) + " * " + a(0) : "(long long)(" + u(0) + " * " + u(0) + ")";
            case op::floor_divide: return unsigned_or(" / ", call("floor_div_1"));
            case op::remainder:
            case op::mod: return unsigned_or(" % ", call("floor_mod_1"));
            case op::fmod: return unsigned_or(" % ", "(" + a(1) + " == 0 || " + a(1) + " == -1 ? 0ll : " + infix(" % ") + ")");
            case op::negative: return "(long long)(0ull - " + a(0) + ")";
            case op::absolute: return is_unsigned ? a(0) : "(" + a(0) + " < 0 ? (long long)(0ull - " + a(0) + ") : " + a(0) + ")";
            case op::relu: return is_unsigned ? a(0) : "(" + a(0) + " > 0 ? " + a(0) + " : 0ll)";
            case op::sign: return is_unsigned ? "(long long)(" + a(0) + " != 0)" : "(long long)((" + a(0) + " > 0) - (" + a(0) + " < 0))";
            case op::maximum:
            case op::fmax: return "(" + compare(" < ") + " ? " + a(1) + " : " + a(0) + ")";
            case op::minimum:
            case op::fmin: return "(" + compare(" > ") + " ? " + a(1) + " : " + a(0) + ")";
            case op::left_shift: return call("shift_left_1");
            case op::right_shift: return is_unsigned ? call("shift_right_u64_1") : call("shift_right_1");
            case op::bitwise_and: return infix(" & ");
            case op::bitwise_or: return infix(" | ");
            case op::bitwise_xor: return infix(" ^ ");
            case op::bitwise_count: return "(long long)__builtin_popcountll(" + (is_unsigned ? u(0) : a(0) + " < 0 ? 0ull - " + a(0) + " : " + u(0)) + ")";
            case op::invert: return type == dtype::boolean ? "(long long)(" + a(0) + " == 0)" : "~" + a(0);
            case op::equal: return infix(" == ");
            case op::not_equal: return infix(" != ");
            case op::less: return compare(" < ");
            case op::less_equal: return compare(" <= ");
            case op::greater: return compare(" > ");
            case op::greater_equal: return compare(" >= ");
            case op::logical_and: return a(0) + " != 0 && " + a(1) + " != 0";
            case op::logical_or: return a(0) + " != 0 || " + a(1) + " != 0";
            case op::logical_xor: return "(" + a(0) + " != 0) != (" + a(1) + " != 0)";
            case op::logical_not: return a(0) + " == 0";
            case op::gcd: return call("gcd_1");
            case op::lcm: return call("lcm_1");
            case op::where: return "(" + v(n.args[0]) + " != 0 ? " + a(1) + " : " + a(2) + ")";
            default: return a(0);
        }
    }
    /// Result of these is a value the type already had: nothing to round.
    static bool exact(loop::op o) {
        using loop::op;
        switch (o) {
            case op::negative: case op::absolute: case op::relu: case op::maximum: case op::minimum: case op::fmax: case op::fmin: case op::where: case op::positive: return true;
            default: return false;
        }
    }
    std::string rounded(const node& n, const std::string& x) const {
        const value& to = p_.values[n.dst];
        if (to.type != dtype::f16 && to.type != dtype::bf16 && to.type != dtype::f8e4m3 && to.type != dtype::f8e5m2) return x;
        if (n.op == loop::op::to_f8e4m3 || n.op == loop::op::to_f8e5m2) return x;
        bool same = exact(n.op) || (n.op == loop::op::none && n.condition != no_expr);
        for (value_id a : n.args) same = same && p_.values[a].type == to.type;
        if (same) return x;
        return "round_" + std::string(token(to.type)) + "_" + std::to_string(to.lanes) + "(" + x + ")";
    }

    void load(const node& n) {
        const value& to = p_.values[n.dst];
        memory m = p_.memories[n.memory];
        const std::string at = term(n.at), w = std::to_string(n.lanes);
        std::string read, from = name(n.memory);
        if (to.type != m.type && m.where == space::input && byte_size(to.type) == byte_size(m.type)) {  // the same bits under another type
            if (std::string_view(c_type(to.type)) != c_type(m.type)) from = "((const " + std::string(c_type(to.type)) + "*)" + from + ")";
            m.type = to.type;
        }
        if (reads_as_integer(m.type)) {
            read = from + "[" + at + "]";
            if (m.type == dtype::boolean) read += " != 0";
            if (!reads_as_integer(to.type)) read = to.type == dtype::f64 ? "(double)" + read : "(float)(" + read + ")";
            else if (to.type != m.type && to.type != dtype::i64) read = wrapped(to.type, read);
        } else if (m.type == dtype::f64) {
            read = from + "[" + at + "]";
        } else {
            const std::string function = "load_" + std::string(token(m.type)) + "_";
            if (n.lanes > 1 && n.stride != 1) {
                read = type_of(to) + "{";
                for (int i = 0; i < n.lanes; ++i) read += (i == 0 ? "" : ", ") + function + "1(" + from + " + " + at + " + " + std::to_string(i * n.stride) + ")";
                read += "}";
            } else {
                read = function + w + "(" + from + " + " + at + ")";
            }
        }
        line("const " + type_of(to) + " " + v(n.dst) + " = " + read + ";");
    }
    void write(const node& n) {
        const memory& m = p_.memories[n.memory];
        const std::string at = term(n.at);
        const value& from = p_.values[n.args[0]];
        if (reads_as_integer(m.type)) {
            const std::string whole = reads_as_integer(from.type) ? v(n.args[0]) : truncated(m.type, v(n.args[0]));
            line(name(n.memory) + "[" + at + "] = " + (m.type == dtype::boolean ? whole + " != 0" : "(" + std::string(c_type(m.type)) + ")" + whole) + ";");
            return;
        }
        if (m.type == dtype::f64) {
            line(name(n.memory) + "[" + at + "] = " + wide_arg(n.args[0]) + ";");
            return;
        }
        if (n.stride != 1 && n.lanes > 1) {
            for (int i = 0; i < n.lanes; ++i) line("store_" + std::string(token(m.type)) + "_1(" + name(n.memory) + " + " + at + " + " + std::to_string(i * n.stride) + ", " + v(n.args[0]) + "[" + std::to_string(i) + "]);");
            return;
        }
        line((n.streaming ? "stream_" : "store_") + std::string(token(m.type)) + "_" + std::to_string(n.lanes) + "(" + name(n.memory) + " + " + at + ", " + arg(n.args[0], n.lanes) + ");");
    }
    void accum(const node& n) {
        const value& to = p_.values[n.dst];
        const int w = to.lanes;
        using loop::op;
        if (n.first && n.op != op::none) {  // all lanes into one
            const char* all = n.op == op::add ? "sum_" : n.op == op::multiply ? "product_" : n.op == op::maximum ? "largest_" : "least_";
            line(type_of(to) + " " + v(n.dst) + " = " + all + std::to_string(n.lanes) + "(" + v(n.args[0]) + ");");
            return;
        }
        if (n.first) {
            const std::string start = !n.args.empty() ? arg_of(n.args[0], to) : to.type == dtype::f64 ? double_literal(n.number) : reads_as_integer(to.type) ? std::to_string(static_cast<long long>(n.number)) + "ll"
                                      : w == 1 ? float_literal(n.number) : "splat_" + std::to_string(w) + "(" + float_literal(n.number) + ")";
            const std::string chosen = n.condition != no_expr ? "(" + e(n.condition) + ") ? " + start + " : " + arg_of(n.args[1], to) : start;
            line(type_of(to) + " " + v(n.dst) + " = " + chosen + ";");
            return;
        }
        const auto x = [&](std::size_t i) { return arg_of(n.args[i], to); };
        switch (n.op) {
            case op::none: line(v(n.dst) + " = " + x(0) + ";"); break;
            case op::add:
                if (n.args.size() == 2) {
                    // A scalar factor stays scalar: the compiler broadcasts it from memory.
                    const auto factor = [&](value_id a) { return p_.values[a].lanes == 1 ? v(a) : arg(a, w); };
                    line(v(n.dst) + " = " + factor(n.args[0]) + " * " + factor(n.args[1]) + " + " + v(n.dst) + ";");
                } else {
                    line(v(n.dst) + " = " + v(n.dst) + " + " + x(0) + ";");
                }
                break;
            case op::multiply: line(v(n.dst) + " = " + v(n.dst) + " * " + x(0) + ";"); break;
            default: {
                const bool most = n.op == op::maximum;
                if (reads_as_integer(to.type)) line(v(n.dst) + " = " + x(0) + (most ? " > " : " < ") + v(n.dst) + " ? " + x(0) + " : " + v(n.dst) + ";");
                else line(v(n.dst) + " = fold_" + (most ? "max_" : "min_") + std::to_string(w) + "(" + v(n.dst) + ", " + x(0) + ");");
            }
        }
    }
    std::string arg_of(value_id id, const value& to) const {
        if (reads_as_integer(to.type)) return reads_as_integer(p_.values[id].type) ? v(id) : truncated(to.type, v(id));
        return to.type == dtype::f64 ? wide_arg(id) : arg(id, to.lanes);
    }

    void list(const std::vector<node_id>& ids) {
        for (node_id id : ids) one(p_.nodes[id]);
    }
    void block(const std::vector<node_id>& ids) {
        ++depth_;
        list(ids);
        --depth_;
        line("}");
    }
    void one(const node& n) {
        switch (n.kind) {
            case node_kind::load: load(n); break;
            case node_kind::assign: line("const " + type_of(p_.values[n.dst]) + " " + v(n.dst) + " = " + assigned(n) + ";"); break;
            case node_kind::accum: accum(n); break;
            case node_kind::write: write(n); break;
            case node_kind::loop: {
                const std::string i(p_.names.text(n.var));
                if (n.unroll > 1) line("#pragma GCC unroll " + std::to_string(n.unroll));
                const expr& step = p_.exprs[n.step];
                const std::string advance = step.kind == expr_kind::integer && step.integer == 1 ? "++" + i : i + " += " + e(n.step);
                line("for (long long " + i + " = " + e(n.begin) + "; " + i + " < " + term(n.end) + "; " + advance + ") {");
                block(n.body);
                break;
            }
            case node_kind::tile:
                line("{");
                ++depth_;
                for (const auto& [var, value] : n.bind) line("const long long " + std::string(p_.names.text(var)) + " = " + e(value) + ";");
                list(n.body);
                --depth_;
                line("}");
                break;
            case node_kind::slab: {
                const memory& m = p_.memories[n.memory];
                const std::string type = std::string(c_type(m.type)) + "*";
                const std::string at = m.where == space::shared_slab ? bytes(slabs_->shared, places_[n.memory])
                                                                     : sum(bytes(slabs_->shared, slabs_->shared.size()), bytes(slabs_->part, places_[n.memory])) + " + " + scaled(bytes(slabs_->part, slabs_->part.size()));
                // What the team shares changes behind this member's back: no restrict.
                line(type + (m.where == space::shared_slab ? "" : " __restrict") + " const " + name(n.memory) + " = (" + type + ")__builtin_assume_aligned(launch->scratch + " + at + ", 64);");
                break;
            }
            case node_kind::team: {
                const std::string i(p_.names.text(n.var)), end = term(n.end);
                if (n.how == deal::runs) {
                    line("for (long long " + i + " = (" + end + ") * launch->part / launch->parts, " + i + "_end = (" + end + ") * (launch->part + 1) / launch->parts; " + i + " < " + i + "_end; ++" + i + ") {");
                } else {
                    line("for (long long " + i + " = launch->part; " + i + " < " + end + "; " + i + " += launch->parts) {");
                }
                block(n.body);
                break;
            }
            case node_kind::guard:
                line("if (" + e(n.condition) + ") {");
                ++depth_;
                list(n.body);
                --depth_;
                if (!n.otherwise.empty()) {
                    line("} else {");
                    ++depth_;
                    list(n.otherwise);
                    --depth_;
                }
                line("}");
                break;
            case node_kind::fetch: line("fetch_1(" + name(n.memory) + " + " + term(n.at) + ");"); break;
            case node_kind::barrier: line("launch->barrier(launch->team);"); break;
        }
    }

    /// Bytes of the first `count` slabs of a list, as text.
    static std::string bytes(const std::vector<slab_size>& list, std::size_t count) {
        std::uint64_t known = 0;
        std::string rest;
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].symbols.empty()) {
                known += (list[i].bytes + 63) / 64 * 64;
                continue;
            }
            rest += " + (" + std::to_string(list[i].bytes);
            for (std::uint32_t s : list[i].symbols) rest += " * n" + std::to_string(s);
            rest += " + 63) / 64 * 64";
        }
        return std::to_string(known) + rest;
    }
    static bool is_number(const std::string& x) { return x.find_first_not_of("0123456789") == std::string::npos; }
    static std::string sum(const std::string& a, const std::string& b) {
        if (is_number(a) && is_number(b)) return std::to_string(std::stoull(a) + std::stoull(b));
        return a + " + " + b;
    }
    static std::string scaled(const std::string& x) { return (is_number(x) ? x + "ll" : "(" + x + ")") + " * launch->part"; }

    const program& p_;
    std::vector<std::size_t> places_;
    const printed* slabs_ = nullptr;
    std::string text_;
    int depth_ = 0;
};

}  // namespace detail

EMMY_DECL printed print_cpu(const program& p) { return detail::cpu_printer(p).print(); }

}  // namespace emmy::kernel
