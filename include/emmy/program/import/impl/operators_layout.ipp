#pragma once
#include <emmy/program/import/impl/site.ipp>

#include <algorithm>
#include <cmath>

namespace emmy::program::pt2::detail {

inline void reshape(site& s, std::string_view argument) { s.out(s.c().reshape(s.id, s.tensor("self"), s.extents(argument))); }
/// Where the archive says the shape and nothing else is to be known.
inline void reshape_declared(site& s) {
    const edge x = s.tensor("self");
    s.out(s.c().reshape(s.id, x, s.out_shape()));
}
inline void squeeze(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    std::vector<std::int64_t> axes;
    const sizes from = c.shape(x);
    const auto one = [&](std::int64_t a) {
        const std::int64_t at = s.axis(a, x);
        if (at >= 0 && at < static_cast<std::int64_t>(from.size()) && from[static_cast<std::size_t>(at)] == extent(1)) axes.push_back(at);  // others stay
    };
    if (!s.has("dim"))
        for (std::size_t i = 0; i < from.size(); ++i) one(static_cast<std::int64_t>(i));
    else if (s.find("dim")->kind == argument_kind::integer) one(s.integer("dim"));
    else
        for (const std::int64_t a : s.integers("dim")) one(a);
    s.out(axes.empty() ? x : c.squeeze(s.id, x, axes));
}
inline void transpose(site& s, std::int64_t a, std::int64_t b) {
    const edge x = s.tensor("self");
    s.out(s.c().rank(x) < 2 ? x : s.c().transpose(s.id, x, a, b));
}
inline void permute(site& s) {
    const edge x = s.tensor("self");
    const std::vector<std::int64_t> axes = s.integers("dims");
    s.out(axes.empty() ? x : s.c().permute(s.id, x, axes));
}
inline void move_axes(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const auto numbers = [&](std::string_view n) { return s.find(n)->kind == argument_kind::integer ? std::vector<std::int64_t>{s.integer(n)} : s.integers(n); };
    const std::vector<std::int64_t> from = numbers("source"), to = numbers("destination");
    std::vector<std::int64_t> axes(c.rank(x), -1), rest;
    if (from.size() != to.size()) return s.refuse("destination", "found another number of axes than source has");
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int64_t t = s.axis(to[i], x);
        if (t < 0 || t >= static_cast<std::int64_t>(axes.size())) return s.refuse("destination", "found an axis that is none of the tensor's");
        axes[static_cast<std::size_t>(t)] = s.axis(from[i], x);
    }
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(axes.size()); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(i);
    std::size_t next = 0;
    for (std::int64_t& a : axes)
        if (a < 0 && next < rest.size()) a = rest[next++];
    s.out(c.permute(s.id, x, axes));
}
/// Literals of dim, start and end as inputs that nobody reads: how imported slices are written.
inline void slice(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const std::int64_t dim = s.integer("dim", 0), step = s.integer("step", 1);
    const std::int64_t axis = s.axis(dim, x);
    if (axis < 0 || axis >= static_cast<std::int64_t>(c.rank(x))) return s.refuse("dim", "found an axis that is none of the tensor's");
    if (step < 1) return s.refuse("step", "found " + std::to_string(step) + ", expected at least 1");
    const extent length = c.shape(x)[static_cast<std::size_t>(axis)];
    extent start = s.size("start"), stop = s.size("end", extent(INT64_MAX >> 1));
    const sizes declared = s.out_shape();
    if (step == 1 && declared.size() > static_cast<std::size_t>(axis) && !declared[static_cast<std::size_t>(axis)].bad()) {
        const extent kept = declared[static_cast<std::size_t>(axis)];
        if (kept == length) return s.out(x);  // all of it: the same tensor
        if (start.is_number() && start.number() < 0) start = length + start;
        if (length.is_number() && start.is_number() && start.number() > length.number()) start = length;
        const edge made = c.window_of(s.id, x, axis, start, kept);
        if (!c.failed() && c.op_of(made) == op::slice) {
            std::vector<edge> literals;
            std::size_t k = 0;
            for (const std::string_view name : {"dim", "start", "end"}) {
                ++k;
                const argument* a = s.find(name);
                if (!a || a->kind != argument_kind::integer) break;
                literals.push_back(c.literal(s.id + "_c" + std::to_string(k), static_cast<double>(a->integer), is_integer(c.type(x)) ? dtype::f32 : c.type(x)));
            }
            if (literals.size() == 3) c.unread(made, literals);
        }
        return s.out(made);
    }
    if (!start.is_number() || !(stop.is_number() || stop == length)) return s.refuse("start", "found a symbolic place beside a step, expected numbers");
    s.out(c.slice(s.id, x, axis, start.number(), stop.is_number() && stop.number() < (INT64_MAX >> 1) ? std::optional(stop.number()) : std::nullopt, step));
}
inline void narrow(site& s) {
    extent start = s.size("start");
    const edge x = s.tensor("self");
    const std::int64_t axis = s.axis(s.integer("dim"), x);
    if (axis < 0 || axis >= static_cast<std::int64_t>(s.c().rank(x))) return s.refuse("dim", "found an axis that is none of the tensor's");
    if (start.is_number() && start.number() < 0) start = s.c().shape(x)[static_cast<std::size_t>(axis)] + start;
    s.out(s.c().window_of(s.id, x, axis, start, s.size("length")));
}
inline void select(site& s) {
    const extent index = s.size("index");
    if (!index.is_number()) return s.refuse("index", "found a symbolic index, expected a number");
    s.out(s.c().select(s.id, s.tensor("self"), s.integer("dim"), index.number()));
}
inline void cat(site& s, std::string_view tensors, std::string_view dim) {
    composer& c = s.c();
    std::vector<edge> parts = s.tensors(tensors);
    const argument* a = s.find(tensors);
    const dtype out = s.out_type();
    std::vector<edge> kept;
    for (std::size_t i = 0; i < parts.size(); ++i) kept.push_back(c.cast(s.id + "_part" + std::to_string(i), parts[i], out));
    (void)a;
    if (kept.size() == 1) return s.out(c.pointwise(s.id, "copy", {kept[0]}, out));
    const edge axis = c.literal(s.id + "_c" + std::to_string(kept.size()), static_cast<double>(s.integer(dim, 0)), is_integer(out) ? dtype::f32 : out);
    s.out(c.cat(s.id, kept, axis));
}
inline void stack(site& s) { s.out(s.c().stack(s.id, s.tensors("tensors"), s.integer("dim", 0))); }

/// One window for each result that the archive declares.
inline void pieces(site& s, std::int64_t dim) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const std::int64_t axis = s.axis(dim, x);
    if (axis < 0 || axis >= static_cast<std::int64_t>(c.rank(x))) return s.refuse("dim", "found an axis that is none of the tensor's");
    std::size_t count = 0;
    for (const argument& a : s.node.outputs) count += a.items.size();
    extent start(0);
    for (std::size_t i = 0; i < count; ++i) {
        const sizes shape = s.out_shape(i);
        if (shape.size() != c.rank(x)) return s.refuse("self", "found a piece of another rank than the archive's");
        const extent length = shape[static_cast<std::size_t>(axis)];
        s.out(c.window_of(s.id + "_" + std::to_string(i), x, axis, start, length));
        start = start + length;
    }
}
inline void unbind(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    std::size_t count = 0;
    for (const argument& a : s.node.outputs) count += a.items.size();
    for (std::size_t i = 0; i < count; ++i) s.out(c.select(s.id + "_" + std::to_string(i), x, s.integer("dim", 0), static_cast<std::int64_t>(i)));
}
inline void expand(site& s, const sizes& wanted) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const sizes from = c.shape(x);
    sizes to = wanted;
    if (to.size() < from.size()) return s.refuse("size", "found fewer sizes than axes");
    for (std::size_t i = 0; i < from.size(); ++i) {
        extent& t = to[to.size() - from.size() + i];
        if (t == extent(-1)) t = from[i];
    }
    s.out(c.broadcast(s.id, x, to));
}
inline void repeat(site& s) { s.out(s.c().repeat(s.id, s.tensor("self"), s.integers("repeats"))); }
inline void repeat_interleave(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    if (!s.has("dim")) x = c.reshape(s.id + "_flat", x, {extent(-1)});
    s.out(c.repeat_interleave(s.id, x, s.integer("repeats"), s.has("dim") ? s.integer("dim") : 0));
}
inline void roll(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const std::vector<std::int64_t> shifts = s.integers("shifts"), dims = s.has("dims") ? s.integers("dims") : std::vector<std::int64_t>();
    if (shifts.size() != dims.size() || shifts.empty()) return s.refuse("dims", "found shifts without axes, expected one axis for each");
    for (std::size_t i = 0; i < shifts.size(); ++i) x = c.roll(i + 1 == shifts.size() ? s.id : s.id + "_axis" + std::to_string(i), x, shifts[i], dims[i]);
    s.out(x);
}
inline void flip(site& s) {
    edge x = s.tensor("self");
    const std::vector<std::int64_t> dims = s.integers("dims");
    for (std::size_t i = 0; i < dims.size(); ++i) x = s.c().flip(i + 1 == dims.size() ? s.id : s.id + "_axis" + std::to_string(i), x, dims[i]);
    s.out(x);
}
inline void pad(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const std::vector<std::int64_t> list = s.integers("pad");
    if (const std::string_view mode = s.text("mode"); !mode.empty() && mode != "constant") return s.refuse("mode", "found " + std::string(mode) + ", expected constant");
    const std::size_t rank = c.rank(x);
    if (list.size() % 2 != 0 || list.size() / 2 > rank) return s.refuse("pad", "found " + std::to_string(list.size()) + " numbers, expected a pair for an axis");
    std::vector<std::int64_t> before(rank, 0), after(rank, 0);
    const sizes from = c.shape(x);
    bool grows = false;
    for (std::size_t i = 0; i < list.size() / 2; ++i) {
        const std::size_t axis = rank - 1 - i;
        std::int64_t lo = list[2 * i], hi = list[2 * i + 1];
        if (lo < 0 || hi < 0) {  // a negative one cuts
            const extent cut = from[axis] + extent(std::min<std::int64_t>(lo, 0)) + extent(std::min<std::int64_t>(hi, 0));
            x = c.window_of(s.id + "_cut" + std::to_string(axis), x, static_cast<std::int64_t>(axis), extent(std::max<std::int64_t>(-lo, 0)), cut);
        }
        before[axis] = std::max<std::int64_t>(lo, 0), after[axis] = std::max<std::int64_t>(hi, 0);
        grows = grows || before[axis] > 0 || after[axis] > 0;
    }
    (void)grows;
    s.out(c.pad(s.id, x, before, after, s.number("value", 0)));
}
inline void slice_scatter(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    extent start = s.size("start");
    if (s.integer("step", 1) != 1) return s.refuse("step", "found a step, expected 1");
    if (!start.is_number()) return s.refuse("start", "found a symbolic place, expected a number");
    s.out(c.slice_scatter(s.id, x, c.cast(s.id + "_typed", s.tensor("src"), c.type(x)), s.integer("dim", 0), start.number()));
}
inline void select_scatter(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const std::int64_t axis = s.axis(s.integer("dim"), x);
    s.out(c.slice_scatter(s.id, x, c.unsqueeze(s.id + "_part", c.cast(s.id + "_typed", s.tensor("src"), c.type(x)), axis), axis, s.integer("index")));
}
inline void full(site& s, std::string_view shape, double value) { s.out(s.c().full(s.id, value, s.out_type(), shape.empty() ? s.out_shape() : s.extents(shape))); }
inline void full_like(site& s) { s.out(s.c().full(s.id, s.number("fill_value"), s.out_type(), s.out_shape())); }
/// start, start + step, … below end. A symbolic length is a part of the longest.
inline void arange(site& s) {
    composer& c = s.c();
    const dtype out = s.out_type();
    const sizes shape = s.out_shape();
    if (shape.size() != 1) return s.refuse("end", "found a range that is no vector");
    const auto whole = [&](std::string_view name, std::int64_t usual) -> std::optional<std::int64_t> {
        const argument* a = s.find(name);
        if (!a) return usual;
        if (a->kind == argument_kind::real) return std::floor(a->real) == a->real && std::abs(a->real) < 1e9 ? std::optional(static_cast<std::int64_t>(a->real)) : std::nullopt;
        const extent e = s.size(name);
        return e.is_number() ? std::optional(e.number()) : std::nullopt;
    };
    const auto start = whole("start", 0), step = whole("step", 1);
    if (!start) return s.refuse("start", "found no whole number, expected one");
    if (!step || *step == 0) return s.refuse("step", "found no whole number, expected one");
    if (shape[0].bad() || shape[0].largest() < 1 || shape[0].largest() > (1 << 24)) return s.refuse("end", "found a range of no elements or of more than 2^24");
    const std::int64_t longest = shape[0].largest();
    const dtype counted = is_integer(out) ? out : dtype::i64;
    const bool plain = counted == out && shape[0].is_number();
    edge ramp = c.range(plain ? s.id : s.id + "_ramp", *start, *start + *step * longest, *step, counted);
    if (!shape[0].is_number()) ramp = c.window_of(counted == out ? s.id : s.id + "_part", ramp, 0, extent(0), shape[0]);
    s.out(counted == out ? ramp : c.pointwise(s.id, "copy", {ramp}, out));
}
inline void eye(site& s) {
    const extent rows = s.size("n"), columns = s.size("m", rows);
    if (!rows.is_number() || !columns.is_number()) return s.refuse("n", "found a symbolic size, expected a number");
    s.out(s.c().eye(s.id, rows.number(), columns.number(), s.out_type()));
}
inline void triangle(site& s, bool upper) { s.out(s.c().triangle(s.id, s.tensor("self"), upper, s.integer("diagonal", 0))); }

inline void embedding(site& s) { s.out(s.c().index_select(s.id, s.tensor("weight"), 0, s.tensor("indices"))); }
inline void index_select(site& s) {
    edge index = s.tensor("index");
    if (s.c().rank(index) == 0) index = s.c().reshape(s.id + "_index", index, {extent(1)});
    s.out(s.c().index_select(s.id, s.tensor("self"), s.integer("dim"), index));
}
inline void gather(site& s) { s.out(s.c().gather(s.id, s.tensor("self"), s.integer("dim"), s.tensor("index"))); }
/// x[:, i]: one index tensor, of any rank.
inline void index(site& s) {
    composer& c = s.c();
    const argument* list = s.find("indices");
    std::int64_t axis = -1;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
        if (list->items[i].name.empty()) continue;
        if (axis >= 0) return s.refuse("indices", "found several index tensors, expected one");
        axis = static_cast<std::int64_t>(i);
    }
    if (axis < 0) return s.out(s.tensor("self"));
    const edge at = s.named(list->items[static_cast<std::size_t>(axis)].name);
    if (c.type(at) == dtype::boolean) return s.refuse("indices", "found a bool mask, whose result has no known size, expected whole numbers");
    s.out(c.index_select(s.id, s.tensor("self"), axis, at));
}
inline void one_hot(site& s) {
    const std::int64_t classes = s.integer("num_classes", -1);
    if (classes < 1) return s.refuse("num_classes", "found none, expected a number");
    s.out(s.c().one_hot(s.id, s.tensor("self"), classes));
}
/// Rows put at an index along one axis: what caches do. The last of equal indices wins.
inline void index_put(site& s) {
    composer& c = s.c();
    const argument* list = s.find("indices");
    std::int64_t axis = -1;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
        if (list->items[i].name.empty()) continue;
        if (axis >= 0) return s.refuse("indices", "found several index tensors, expected one");
        axis = static_cast<std::int64_t>(i);
    }
    if (axis < 0) return s.refuse("indices", "found none, expected one index tensor");
    const edge at = s.named(list->items[static_cast<std::size_t>(axis)].name);
    const edge x = s.tensor("self");
    edge values = c.cast(s.id + "_typed", s.tensor("values"), c.type(x));
    if (c.type(at) == dtype::boolean) return s.refuse("indices", "found a bool mask, expected whole numbers");
    if (c.rank(at) != 1) return s.refuse("indices", "found an index of rank " + std::to_string(c.rank(at)) + ", expected a vector");
    sizes put = c.shape(x);
    put[static_cast<std::size_t>(axis)] = c.shape(at)[0];
    values = c.broadcast(s.id + "_values", values, put);
    if (s.boolean("accumulate")) return s.refuse("accumulate", "found true, expected false");
    s.out(c.put(s.id, x, axis, at, values));
}
inline void index_copy(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    s.out(c.put(s.id, x, s.axis(s.integer("dim"), x), s.tensor("index"), c.cast(s.id + "_typed", s.tensor("source"), c.type(x))));
}
inline void scatter(site& s, std::string_view reduce) {
    composer& c = s.c();
    const edge x = s.tensor("self"), index = s.tensor("index");
    edge values = s.is_tensor("src") ? s.tensor("src") : s.is_tensor("value") ? s.tensor("value") : c.literal(s.id + "_value", s.number("value"), c.type(x));
    values = c.broadcast(s.id + "_values", values, c.shape(index));
    s.out(c.scatter(s.id, x, s.integer("dim"), index, values, reduce));
}
inline void copy(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const edge from = c.broadcast(s.id + "_bc", s.tensor("src"), c.shape(x));
    s.out(c.type(from) == c.type(x) ? from : c.pointwise(s.id, "copy", {from}, c.type(x)));
}
inline void fill(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    if (s.is_tensor("value")) return s.out(c.broadcast(s.id, c.cast(s.id + "_typed", s.tensor("value"), c.type(x)), c.shape(x)));
    s.out(c.full(s.id, s.has("value") ? s.number("value") : 0, c.type(x), c.shape(x)));
}

}  // namespace emmy::program::pt2::detail
