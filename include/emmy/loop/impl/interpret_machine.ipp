#pragma once
#include <emmy/loop/impl/interpret_activation.ipp>
#include <emmy/loop/impl/interpret_bound.ipp>
#include <emmy/loop/impl/interpret_plan.ipp>
#include <emmy/loop/impl/interpret_scalar.ipp>

#include <array>

/// Executes plans: steps over up to plan::lane_count iterations at once where a block is a straight line.
namespace emmy::loop::interp {

class machine {
public:
    machine(const model& m, std::span<const input_data> inputs) : m_(m), inputs_(inputs) {}

    std::uint64_t evaluations = 0, limit = saturated;
    std::vector<std::vector<std::byte>>* outputs = nullptr;
    /// Plan of one step of a state, made on first use.
    std::vector<std::unique_ptr<plan>>* state_plans = nullptr;
    bool keep_bounds = false;

    /// Runs with the given values of the fixed axes. Errors: index out of bounds (input), budget (user).
    result<void> run(activation& a, std::span<const std::int64_t> parameters) {
        const plan& p = *a.plan;
        std::uint64_t changed = a.primed ? 0 : ~0ull;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i] != a.parameters[i]) changed |= 1ull << m_.loops[p.parameters[i].first].depth;
            a.parameters[i] = parameters[i];
            a.registers[p.parameters[i].second].integer = parameters[i];
        }
        const bool first = !a.primed;
        a.primed = a.captured = false;
        for (const step& s : p.blocks[0].steps)
            if (first || s.varies == ~0ull || (s.varies & changed) != 0) {
                if (!execute(a, s, 1)) return refuse(std::move(trouble_));
                if (s.code != code::nest) ++evaluations;
            }
        a.primed = true;
        return {};
    }

private:
    bool fail(fault_kind kind, std::string text, stmt_id s) {
        trouble_ = fault(kind, std::move(text), statement_text(m_.body, s));
        return false;
    }
    bool out_of_bounds(const step& s, std::int64_t index) {
        std::string name = "the state";
        if (s.buffer != none) name = s.buffer < m_.inputs.size() ? m_.inputs[s.buffer].name : m_.outputs[s.buffer - m_.inputs.size()].name;
        return fail(fault_kind::input, "index " + std::to_string(index) + " of dimension " + std::to_string(s.dimension) + " of " + name + " is outside 0 … " + std::to_string(s.extent - 1), s.stmt);
    }

    // ---- loops
    bool steps(activation& a, const block& b, std::size_t n) {
        for (const step& s : b.steps)
            if (!execute(a, s, n)) return false;
        return true;
    }
    bool loop(activation& a, const nest& n) {
        const block& b = a.plan->blocks[n.block];
        slot* r = a.registers.data();
        if (n.condition != none) {
            if ((r[n.condition].integer != 0) == n.negated) return true;
            evaluations += b.weight;
            return steps(a, b, 1);
        }
        std::int64_t count = n.count, start = 0, by = 1;
        if (n.start != none) {
            start = r[n.start].integer, by = r[n.step].integer;
            if (by < 1) return fail(fault_kind::input, "found a step of " + std::to_string(by) + ", expected at least 1", none);
            const std::int64_t end = r[n.end].integer;
            count = end > start ? (end - start - 1) / by + 1 : 0;
            if (n.limit != none) count = std::min(count, (r[n.limit].integer - start) / by + 1);
        } else if (n.limit != none) {
            count = r[n.limit].integer + 1;
        }
        for (std::uint32_t s : n.states)
            if (!begin_state(s)) return false;
        const std::uint64_t work = times(b.weight, static_cast<std::uint64_t>(count));
        evaluations = plus(evaluations, work);
        if (evaluations > limit) return fail(fault_kind::user, "the budget of computed values is spent", none);
        if (b.lanes) {
            slot* axis = r + n.axis;
            for (std::int64_t base = 0; base < count; base += static_cast<std::int64_t>(plan::lane_count)) {
                const auto lanes = static_cast<std::size_t>(std::min<std::int64_t>(plan::lane_count, count - base));
                for (std::size_t l = 0; l < lanes; ++l) axis[l].integer = base + static_cast<std::int64_t>(l);
                if (!steps(a, b, lanes)) return false;
            }
            return true;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            r[n.axis].integer = start + i * by;
            if (!steps(a, b, 1)) return false;
            for (std::uint32_t s : n.states) slots_[s].previous = slots_[s].next;
        }
        return true;
    }

    // ---- lanes: d[l] = f(a[l], b[l]) with scalars standing still
    template <class F>
    static void each(const step& s, slot* r, std::size_t n, const F& f) {
        slot* d = r + s.dst;
        const slot *a = s.a == none ? r : r + s.a, *b = s.b == none ? r : r + s.b;
        const std::size_t sa = s.sa, sb = s.sb;
        if (n == 1) {
            f(d[0], a[0], b[0]);
        } else if (sa == 1 && sb == 1) {
            for (std::size_t l = 0; l < n; ++l) f(d[l], a[l], b[l]);
        } else if (sa == 1) {
            const slot y = b[0];
            for (std::size_t l = 0; l < n; ++l) f(d[l], a[l], y);
        } else {
            for (std::size_t l = 0; l < n; ++l) f(d[l], a[l * sa], b[l * sb]);
        }
    }
    static void to_f32(slot* d, std::size_t n) {
        for (std::size_t l = 0; l < n; ++l) d[l].real = static_cast<double>(static_cast<float>(d[l].real));
    }
    static double rounded(dtype t, double v) {
        switch (t) {
            case dtype::f64: return v;
            case dtype::f32: return static_cast<double>(static_cast<float>(v));
            case dtype::f16: return static_cast<double>(round_f32_to_f16(static_cast<float>(v)));
            case dtype::bf16: return static_cast<double>(round_f32_to_bf16(static_cast<float>(v)));
            default: return round_to(t, v);
        }
    }

    bool execute(activation& a, const step& s, std::size_t n) {
        slot* r = a.registers.data();
        double* e = keep_bounds ? a.bounds.data() : nullptr;
        switch (s.code) {
            case code::value:
                if (!compute(a, s, n)) return false;
                if (e != nullptr && s.kind != value_kind::pre) bound_value(s, r, e, n);
                return true;
            case code::nest: return loop(a, a.plan->nests[s.aux]);
            case code::seed:
                if (s.a != none) r[s.dst] = r[s.a];
                else if (s.is_integer) r[s.dst].integer = static_cast<std::int64_t>(s.real);
                else r[s.dst].real = s.real;
                if (e != nullptr) e[s.dst] = s.a != none ? e[s.a] : 0;
                return true;
            case code::accumulate: {
                const slot before = s.b != none ? r[s.b] : r[s.dst];
                accumulate(r, s, n);
                if (e != nullptr) bound_accumulate(s, r, e, n, s.is_integer ? static_cast<double>(before.integer) : before.real);
                return true;
            }
            case code::table_store: {
                const auto at = static_cast<std::size_t>(r[s.b].integer);
                a.tables[s.aux][at] = r[s.a];
                if (e != nullptr) a.table_bounds[s.aux][at] = e[s.a];
                return true;
            }
            case code::table_load: {
                const std::vector<slot>& table = a.tables[s.aux];
                for (std::size_t l = 0; l < n; ++l) r[s.dst + l * s.sd] = table[static_cast<std::size_t>(r[s.a + l * s.sa].integer)];
                for (std::size_t l = 0; e != nullptr && l < n; ++l) e[s.dst + l * s.sd] = a.table_bounds[s.aux][static_cast<std::size_t>(r[s.a + l * s.sa].integer)];
                return true;
            }
            case code::write: write_out(r, s, n); return true;
            case code::carry:
                for (std::size_t l = 0; l < n; ++l) slots_[s.aux].next[static_cast<std::size_t>(r[s.a + l * s.sa].integer)] = r[s.b + l * s.sb].real;
                return true;
            case code::capture:
                a.captured = true, a.captured_value = r[s.a];
                if (e != nullptr) a.captured_bound = e[s.a];
                return true;
        }
        return true;
    }

    static void accumulate(slot* r, const step& s, std::size_t n) {
        slot* acc = r + s.dst;
        const slot* v = r + s.a;
        const std::size_t sa = s.sa;
        if (s.b != none) *acc = r[s.b];
        if (s.is_integer) {
            for (std::size_t l = 0; l < n; ++l) acc->integer = wrap_to(s.type, apply_integer(s.op, s.type, acc->integer, v[l * sa].integer, 0));
        } else if (s.type == dtype::f32 && s.op == op::add) {
            float sum = static_cast<float>(acc->real);
            for (std::size_t l = 0; l < n; ++l) sum += static_cast<float>(v[l * sa].real);  // every value of the body is an f32 already
            acc->real = static_cast<double>(sum);
        } else if (s.op == op::maximum) {
            for (std::size_t l = 0; l < n; ++l) acc->real = larger(acc->real, v[l * sa].real);
            acc->real = rounded(s.type, acc->real);
        } else {
            for (std::size_t l = 0; l < n; ++l) acc->real = rounded(s.type, apply_real(s.op, acc->real, v[l * sa].real, 0));
        }
    }

    void write_out(const slot* r, const step& s, std::size_t n) {
        std::vector<std::byte>& bytes = (*outputs)[s.aux];
        const dtype t = m_.outputs[s.aux].type;
        for (std::size_t l = 0; l < n; ++l) {
            const auto at = static_cast<std::size_t>(r[s.a + l * s.sa].integer);
            const slot v = r[s.b + l * s.sb];
            if (s.atomic) store_real(t, bytes.data(), at, static_cast<double>(static_cast<float>(load_element(t, bytes.data(), at) + (s.is_integer ? integer_to_real(s.from, v.integer) : v.real))));
            else if (!s.is_integer) store_real(t, bytes.data(), at, v.real);
            else if (reads_as_integer(t)) store_integer(t, bytes.data(), at, v.integer);
            else store_real(t, bytes.data(), at, integer_to_real(s.from, v.integer));
        }
    }

    bool compute(activation& a, const step& s, std::size_t n) {
        slot* r = a.registers.data();
        switch (s.kind) {
            case value_kind::address: return address(r, s, n);
            case value_kind::load: return load(r, s, n);
            case value_kind::assign: assign(r, s, n); return true;
            case value_kind::integer_op: integer_op(r, s, n); return true;
            case value_kind::real_op: real_op(r, s, n); return true;
            case value_kind::choose:
                for (std::size_t l = 0; l < n; ++l) r[s.dst + l * s.sd] = r[s.a + l * s.sa].integer != 0 ? r[s.b + l * s.sb] : r[s.c + l * s.sc];
                return true;
            case value_kind::to_real: each(s, r, n, [&](slot& d, slot x, slot) { d.real = integer_to_real(s.from, x.integer); }); return true;
            case value_kind::to_integer: each(s, r, n, [&](slot& d, slot x, slot) { d.integer = real_to_integer(s.type, x.real); }); return true;
            case value_kind::wrap: each(s, r, n, [&](slot& d, slot x, slot) { d.integer = wrap_to(s.type, x.integer); }); return true;
            case value_kind::round: round(r, s, n); return true;
            case value_kind::to_bits:
                each(s, r, n, [&](slot& d, slot x, slot) {
                    unsigned char bytes[8] = {};
                    store_real(s.from, bytes, 0, x.real);
                    std::int64_t bits = 0;
                    std::memcpy(&bits, bytes, 8);
                    d.integer = bits;
                });
                return true;
            case value_kind::from_bits:
                each(s, r, n, [&](slot& d, slot x, slot) { d.real = load_real(s.type, &x.integer, 0); });
                return true;
            case value_kind::pre: return pre(a, s, n);
            default: return fail(fault_kind::internal, "a step without a meaning", s.stmt);
        }
    }

    bool address(slot* r, const step& s, std::size_t n) {
        const auto extent = static_cast<std::uint64_t>(s.extent);
        bool inside = true;
        if (s.a == none) {
            each_b(s, r, n, [&](slot& d, slot, slot i) { inside &= static_cast<std::uint64_t>(i.integer) < extent, d.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(i.integer) * static_cast<std::uint64_t>(s.imm)); });
        } else {
            each_b(s, r, n, [&](slot& d, slot x, slot i) { inside &= static_cast<std::uint64_t>(i.integer) < extent, d.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(x.integer) + static_cast<std::uint64_t>(i.integer) * static_cast<std::uint64_t>(s.imm)); });
        }
        if (inside) return true;
        for (std::size_t l = 0; l < n; ++l)
            if (const std::int64_t i = r[s.b + l * s.sb].integer; static_cast<std::uint64_t>(i) >= extent) return out_of_bounds(s, i);
        return true;
    }
    template <class F>
    static void each_b(const step& s, slot* r, std::size_t n, const F& f) {
        slot* d = r + s.dst;
        const slot *a = s.a == none ? r : r + s.a, *b = r + s.b;
        if (n == 1) {
            f(d[0], a[0], b[0]);
        } else if (s.sb == 1 && (s.a == none || s.sa == 0)) {
            const slot x = a[0];
            for (std::size_t l = 0; l < n; ++l) f(d[l], x, b[l]);
        } else {
            const std::size_t sa = s.a == none ? 0 : s.sa, sb = s.sb;
            for (std::size_t l = 0; l < n; ++l) f(d[l], a[l * sa], b[l * sb]);
        }
    }

    bool load(slot* r, const step& s, std::size_t n) {
        const input_data& in = inputs_[s.aux];
        switch (in.from) {
            case input_data::form::bytes: {
                const void* bytes = in.bytes.data();
                if (s.from == dtype::f32) each(s, r, n, [&](slot& d, slot x, slot) { d.real = static_cast<double>(emmy::detail::read_bytes<float>(bytes, static_cast<std::size_t>(x.integer))); });
                else if (s.is_integer) each(s, r, n, [&](slot& d, slot x, slot) { d.integer = load_integer(s.from, bytes, static_cast<std::size_t>(x.integer)); });
                else each(s, r, n, [&](slot& d, slot x, slot) { d.real = load_real(s.from, bytes, static_cast<std::size_t>(x.integer)); });
                return true;
            }
            case input_data::form::seeded:
                if (s.is_integer) {
                    each(s, r, n, [&](slot& d, slot x, slot) { d.integer = wrap_to(s.from, seeded_integer(in, static_cast<std::uint64_t>(x.integer))); });
                } else {
                    const std::uint64_t base = in.seed * seed_factor;
                    const double low = in.low, scale = (in.high - in.low) * (1.0 / 16777216.0);
                    each(s, r, n, [&](slot& d, slot x, slot) { d.real = low + scale * static_cast<double>(static_cast<std::int64_t>(mixed(base + static_cast<std::uint64_t>(x.integer)) >> 40)); });
                    round_in_place(r + s.dst, s.from, n);
                }
                return true;
            case input_data::form::computed:
                each(s, r, n, [&](slot& d, slot x, slot) {
                    const double v = in.compute(in.state, static_cast<std::uint64_t>(x.integer));
                    if (s.is_integer) d.integer = real_to_integer(s.from, v);
                    else d.real = round_to(s.from, v);
                });
                return true;
            case input_data::form::absent: break;
        }
        return fail(fault_kind::user, "input " + m_.inputs[s.aux].name + " is read, and no data was given", s.stmt);
    }

    static void round_in_place(slot* d, dtype t, std::size_t n) {
        switch (t) {
            case dtype::f64: return;
            case dtype::f32: return to_f32(d, n);
            case dtype::f16:
                for (std::size_t l = 0; l < n; ++l) d[l].real = static_cast<double>(round_f32_to_f16(static_cast<float>(d[l].real)));
                return;
            case dtype::bf16:
                for (std::size_t l = 0; l < n; ++l) d[l].real = static_cast<double>(round_f32_to_bf16(static_cast<float>(d[l].real)));
                return;
            default:
                for (std::size_t l = 0; l < n; ++l) d[l].real = round_to(t, d[l].real);
        }
    }
    static void round(slot* r, const step& s, std::size_t n) {
        slot* d = r + s.dst;
        const slot* a = r + s.a;
        for (std::size_t l = 0; l < n; ++l) d[l] = a[l * s.sa];
        // What was a double so far goes to f32 first: narrow types are reached from f32, never from a wider intermediate.
        if (s.from == dtype::f64 && s.type != dtype::f64) to_f32(d, n);
        round_in_place(d, s.type, n);
    }

    static void assign(slot* r, const step& s, std::size_t n) {
        if (s.is_integer) {
            if (s.op == op::to_f4e2m1) return each(s, r, n, [](slot& d, slot x, slot) { d.integer = f64_to_f4e2m1(x.real); });
            const slot* c = s.c == none ? r : r + s.c;
            std::size_t l = 0;
            return each(s, r, n, [&](slot& d, slot x, slot y) { d.integer = wrap_to(s.type, apply_integer(s.op, s.type, x.integer, y.integer, c[l++ * s.sc].integer)); });
        }
        switch (s.op) {
            case op::multiply: each(s, r, n, [](slot& d, slot x, slot y) { d.real = x.real * y.real; }); break;
            case op::add: each(s, r, n, [](slot& d, slot x, slot y) { d.real = x.real + y.real; }); break;
            case op::subtract: each(s, r, n, [](slot& d, slot x, slot y) { d.real = x.real - y.real; }); break;
            case op::divide: each(s, r, n, [](slot& d, slot x, slot y) { d.real = x.real / y.real; }); break;
            case op::maximum: each(s, r, n, [](slot& d, slot x, slot y) { d.real = larger(x.real, y.real); }); break;
            case op::negative: each(s, r, n, [](slot& d, slot x, slot) { d.real = 0 - x.real; }); break;
            case op::exp: each(s, r, n, [](slot& d, slot x, slot) { d.real = std::exp(x.real); }); break;
            case op::rsqrt: each(s, r, n, [](slot& d, slot x, slot) { d.real = 1 / std::sqrt(x.real); }); break;
            case op::from_f4e2m1: each(s, r, n, [](slot& d, slot x, slot) { d.real = f4e2m1_to_f64(static_cast<unsigned>(x.integer) & 15u); }); break;
            default: {
                const slot* c = s.c == none ? r : r + s.c;
                std::size_t l = 0;
                each(s, r, n, [&](slot& d, slot x, slot y) { d.real = apply_real(s.op, x.real, y.real, c[l++ * s.sc].real); });
            }
        }
        if (s.type != dtype::f64) to_f32(r + s.dst, n);
    }

    static void integer_op(slot* r, const step& s, std::size_t n) {
        switch (s.bop) {
            case binary_op::add: return each(s, r, n, [](slot& d, slot x, slot y) { d.integer = apply(binary_op::add, x.integer, y.integer); });
            case binary_op::multiply: return each(s, r, n, [](slot& d, slot x, slot y) { d.integer = apply(binary_op::multiply, x.integer, y.integer); });
            case binary_op::less: return each(s, r, n, [](slot& d, slot x, slot y) { d.integer = x.integer < y.integer; });
            case binary_op::less_equal: return each(s, r, n, [](slot& d, slot x, slot y) { d.integer = x.integer <= y.integer; });
            case binary_op::logical_and: return each(s, r, n, [](slot& d, slot x, slot y) { d.integer = static_cast<std::int64_t>(x.integer != 0) & static_cast<std::int64_t>(y.integer != 0); });
            default: return each(s, r, n, [&](slot& d, slot x, slot y) { d.integer = apply(s.bop, x.integer, y.integer); });
        }
    }
    static void real_op(slot* r, const step& s, std::size_t n) {
        each(s, r, n, [&](slot& d, slot sx, slot sy) {
            const double x = sx.real, y = sy.real;
            switch (s.bop) {
                case binary_op::add: d.real = x + y; break;
                case binary_op::subtract: d.real = x - y; break;
                case binary_op::multiply: d.real = x * y; break;
                case binary_op::divide: d.real = x / y; break;
                case binary_op::floor_divide: d.real = std::floor(x / y); break;
                case binary_op::remainder: d.real = x - std::floor(x / y) * y; break;
                case binary_op::equal: d.integer = x == y; break;
                case binary_op::not_equal: d.integer = x != y; break;
                case binary_op::less: d.integer = x < y; break;
                case binary_op::greater: d.integer = x > y; break;
                case binary_op::less_equal: d.integer = x <= y; break;
                case binary_op::greater_equal: d.integer = x >= y; break;
                default: d.real = 0; break;
            }
        });
    }

    // ---- states
    struct two_slots {
        std::vector<double> previous, next;
    };
    bool seed_of(const state& st, std::uint64_t cell, double& out) {
        if (st.seed_input == none) return out = rounded(m_.mode == numeric_mode::typed ? st.type : dtype::f32, st.seed), true;
        step s;
        s.kind = value_kind::load, s.aux = st.seed_input, s.from = m_.inputs[st.seed_input].type, s.is_integer = reads_as_integer(s.from), s.stmt = st.carry;
        s.a = 0, s.dst = 1;
        slot r[2];
        r[0].integer = static_cast<std::int64_t>(cell);
        if (!load(r, s, 1)) return false;
        out = s.is_integer ? integer_to_real(s.from, r[1].integer) : r[1].real;
        out = rounded(m_.mode == numeric_mode::typed ? st.type : dtype::f32, out);
        return true;
    }
    bool begin_state(std::uint32_t id) {
        slots_.resize(m_.states.size());
        const state& st = m_.states[id];
        std::vector<double>& first = slots_[id].previous;
        first.resize(st.elements());
        for (std::uint64_t cell = 0; cell < first.size(); ++cell)
            if (!seed_of(st, cell, first[cell])) return false;
        slots_[id].next = first;
        return true;
    }

    bool pre(activation& a, const step& s, std::size_t n) {
        slot* r = a.registers.data();
        const state& st = m_.states[s.aux];
        if (state_plans == nullptr) {
            for (std::size_t l = 0; l < n; ++l) r[s.dst + l * s.sd].real = slots_[s.aux].previous[static_cast<std::size_t>(r[s.a + l * s.sa].integer)];
            return true;
        }
        const std::vector<reg>& axes = a.plan->outer[static_cast<std::size_t>(s.extent)];
        std::array<std::int64_t, 64> outer;
        const std::size_t count = axes.size() - (s.imm != 0 ? 1 : 0);
        for (std::size_t l = 0; l < n; ++l) {
            for (std::size_t i = 0; i < axes.size(); ++i) outer[i] = r[(axes[i] & 0x7fffffffu) + (axes[i] >> 31) * l].integer;
            const std::int64_t before = s.imm != 0 ? outer[count] - 1 : m_.loops[st.loop].extent - 1;
            state_memory::entry out;
            if (!state_value(s.aux, {outer.data(), count}, before, static_cast<std::uint64_t>(r[s.a + l * s.sa].integer), out)) return false;
            r[s.dst + l * s.sd].real = out.value;
            if (keep_bounds) a.bounds[s.dst + l * s.sd] = out.bound;
        }
        return true;
    }
    /// What a state holds at a cell after a step; step -1 is the seed. Memoised.
    bool state_value(std::uint32_t id, std::span<const std::int64_t> outer, std::int64_t at, std::uint64_t cell, state_memory::entry& out) {
        const state& st = m_.states[id];
        if (at < 0) return seed_of(st, cell, out.value);
        if (steps_.empty()) steps_.resize(m_.states.size());
        state_step& own = steps_[id];
        if (own.plan == nullptr && !prepare(id, own)) return false;
        std::uint64_t key = static_cast<std::uint64_t>(at);
        for (std::size_t i = 0; i < outer.size(); ++i) key = key * own.outer[i] + static_cast<std::uint64_t>(outer[i]);
        key = (key * own.elements + cell) * m_.states.size() + id + 1;
        if (const auto* found = memory_.find(key)) return out = *found, true;
        if (depth_ >= 2048) return fail(fault_kind::user, "a state's steps depend on each other more than 2048 deep: run the whole kernel instead", st.carry);
        if (memory_.size() > (1u << 25)) return fail(fault_kind::user, "a cell needs more than 2^25 states: run the whole kernel instead", st.carry);
        std::array<std::int64_t, 64> parameters;
        for (std::size_t i = 0; i < own.from.size(); ++i) {
            const auto [what, place] = own.from[i];
            parameters[i] = what == 0 ? outer[place] : what == 1 ? at : static_cast<std::int64_t>(cell / own.stride[place] % static_cast<std::uint64_t>(st.shape[place]));
        }
        if (own.pool.size() <= depth_) own.pool.resize(depth_ + 1);
        if (own.pool[depth_] == nullptr) own.pool[depth_] = std::make_unique<activation>(*own.plan, keep_bounds);
        activation& inner = *own.pool[depth_];
        ++depth_;
        auto ran = run(inner, {parameters.data(), own.from.size()});
        --depth_;
        if (!ran) return trouble_ = std::move(ran).error(), false;
        if (evaluations > limit) return fail(fault_kind::user, "the budget of computed values is spent", st.carry);
        out.value = inner.captured_value.real, out.bound = inner.captured_bound;
        if (!inner.captured && !state_value(id, outer, at - 1, cell, out)) return false;
        out.key = key;
        memory_.add(out);
        return true;
    }
    /// One step of a state as a plan, and where its fixed axes come from.
    struct state_step {
        const interp::plan* plan = nullptr;
        std::vector<std::uint64_t> outer;                      // extents of the loops around the carrying loop
        std::vector<std::pair<int, std::size_t>> from;         // per parameter: 0 outer axis, 1 the step, 2 a cell's coordinate
        std::vector<std::uint64_t> stride;
        std::uint64_t elements = 1;
        std::vector<std::unique_ptr<activation>> pool;         // by recursion depth
    };
    bool prepare(std::uint32_t id, state_step& own) {
        const state& st = m_.states[id];
        std::unique_ptr<interp::plan>& p = (*state_plans)[id];
        if (p == nullptr) {
            planner make(m_);
            auto made = make.state_step(id);
            if (!made) return trouble_ = std::move(made).error(), false;
            p = std::make_unique<interp::plan>(std::move(*made));
        }
        own.elements = st.elements();
        own.stride.assign(st.shape.size(), 1);
        for (std::size_t i = st.shape.size(); i-- > 1;) own.stride[i - 1] = own.stride[i] * static_cast<std::uint64_t>(st.shape[i]);
        std::uint64_t keys = times(times(own.elements, static_cast<std::uint64_t>(m_.loops[st.loop].uncut)), m_.states.size());
        bool before = true;
        for (const auto& [l, r] : p->parameters) {
            if (l == st.loop) {
                before = false, own.from.emplace_back(1, 0);
            } else if (before) {
                own.from.emplace_back(0, own.outer.size());
                own.outer.push_back(static_cast<std::uint64_t>(m_.loops[l].uncut));
                keys = times(keys, own.outer.back());
            } else {
                std::size_t cell = 0;
                while (cell < st.cells.size() && st.cells[cell] != l) ++cell;
                if (cell == st.cells.size()) return fail(fault_kind::internal, "a loop between a state's cells", st.carry);
                own.from.emplace_back(2, cell);
            }
        }
        if (keys == saturated) return fail(fault_kind::user, "a state of too many steps and cells: run the whole kernel instead", st.carry);
        own.plan = p.get();
        return true;
    }

    const model& m_;
    std::span<const input_data> inputs_;
    std::vector<two_slots> slots_;
    state_memory memory_;
    std::vector<state_step> steps_;
    std::size_t depth_ = 0;
    fault trouble_;
};

}  // namespace emmy::loop::interp
