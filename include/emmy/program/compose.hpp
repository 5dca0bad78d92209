#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/extent.hpp>
#include <emmy/program/graph.hpp>

#include <optional>
#include <utility>

/// Programs from the operators that frameworks have, spelled in the tags that programs have.
namespace emmy::program {

/// Every method adds nodes and gives the tensor of the last one, whose id is `id`; nodes between have `id` and a suffix, a taken id gets a
/// number. Shapes are inferred, operands broadcast (right-aligned, 1 against anything), axes may be negative. The first thing that does not
/// fit is kept and returned by finish(); what follows it is ignored.
///
/// Half precision: a composition computes in f32 and rounds once, in its last node. `type` none: the operands' promotion.
class composer {
public:
    using sizes = std::vector<extent>;
    using list = std::vector<std::int64_t>;
    struct source {
        edge from;
        std::vector<std::string> coordinates;  ///< texts over out_coord_<i>
        std::string select = {};               ///< empty: what the earlier sources left
    };

    /// How an id that is taken gets its number: `<id>_1`, or `n0`, `n1`, … as the exchange format's own importer does.
    enum class numbering : std::uint8_t { suffix, minted };
    explicit composer(numbering how = numbering::suffix) : numbering_(how) {}

    edge input(std::string_view id, dtype type, std::span<const builder::size> shape) { return leaf(id, {}, type, shape); }
    /// A checkpoint tensor at `path`.
    edge weight(std::string_view id, std::string_view path, dtype type, std::span<const builder::size> shape) { return leaf(id, path, type, shape); }
    /// The symbol of shapes given as extents.
    void symbol(std::string name, std::int64_t hint) { symbol_ = std::move(name), hint_ = hint; }
    EMMY_DECL edge input(std::string_view id, dtype type, const sizes& shape);
    EMMY_DECL edge weight(std::string_view id, std::string_view path, dtype type, const sizes& shape);
    /// An infinity becomes ±1e300, which is one in every type narrower than f64; a nan is refused.
    EMMY_DECL edge literal(std::string_view id, double value, dtype type);
    EMMY_DECL edge range(std::string_view id, std::int64_t start, std::int64_t stop, std::int64_t step, dtype type);
    void output(edge e) { outputs_.push_back(e); }
    /// The program in canonical order. Errors (user): what did not fit first; (input): what check_program refuses.
    EMMY_DECL result<graph> finish() &&;

    sizes shape(edge e) const { return fault_ ? sizes{} : extents_of(g_, g_.shape(e)); }
    dtype type(edge e) const { return fault_ ? dtype::f32 : g_.at(e).type; }
    std::size_t rank(edge e) const { return fault_ ? 0 : g_.shape(e).size(); }
    bool failed() const { return fault_.has_value(); }
    program::op op_of(edge e) const { return g_.nodes[e.node].op; }
    std::string id_of(edge e) const { return std::string(g_.id(e.node)); }
    bool is_leaf(edge e) const { return !fault_ && (g_.nodes[e.node].op == op::input || g_.nodes[e.node].op == op::constant); }
    /// Forgets what did not fit and gives it: for callers who collect all of it. Edges that were made since stand for nothing.
    std::optional<fault> recover() { return std::exchange(fault_, std::nullopt); }
    /// Adds inputs that the operator does not read (arguments of the trace) to a node.
    EMMY_DECL void unread(edge e, std::span<const edge> literals);

    // Values.
    EMMY_DECL edge pointwise(std::string_view id, std::string_view name, std::vector<edge> operands, dtype type = dtype::none);
    EMMY_DECL edge with_number(std::string_view id, std::string_view name, edge x, double number, dtype type = dtype::none);  ///< name(x, number)
    EMMY_DECL edge cast(std::string_view id, edge x, dtype type);                                                      ///< x itself when it has the type
    EMMY_DECL edge bitcast(std::string_view id, edge x, dtype type);
    EMMY_DECL edge add(std::string_view id, edge a, edge b, double alpha = 1);             ///< a + alpha b
    EMMY_DECL edge subtract(std::string_view id, edge a, edge b, double alpha = 1);
    EMMY_DECL edge divide(std::string_view id, edge a, edge b, std::string_view rounding = {});  ///< "floor", "trunc"
    EMMY_DECL edge where(std::string_view id, edge condition, edge yes, edge no);
    EMMY_DECL edge masked_fill(std::string_view id, edge x, edge mask, double value);
    EMMY_DECL edge clamp(std::string_view id, edge x, std::optional<double> least, std::optional<double> most);
    /// relu, silu, sigmoid, gelu, gelu_tanh, quick_gelu, mish, hardswish, hardsigmoid, relu6, elu (number: alpha), leaky_relu (slope), softplus (beta), …
    EMMY_DECL edge activation(std::string_view id, std::string_view name, edge x, std::optional<double> number = {});
    EMMY_DECL edge glu(std::string_view id, edge x, std::int64_t axis, std::string_view gate = "sigmoid");  ///< first half × gate(second half)

    // Layout.
    EMMY_DECL edge map(std::string_view id, std::vector<source> sources, dtype type, sizes shape);
    EMMY_DECL edge broadcast(std::string_view id, edge x, sizes shape);  ///< x itself when it has the shape
    EMMY_DECL edge permute(std::string_view id, edge x, list axes);
    EMMY_DECL edge transpose(std::string_view id, edge x, std::int64_t a, std::int64_t b);
    EMMY_DECL edge reshape(std::string_view id, edge x, sizes shape);  ///< extent(-1): what is left over
    EMMY_DECL edge squeeze(std::string_view id, edge x, list axes);
    EMMY_DECL edge unsqueeze(std::string_view id, edge x, std::int64_t axis);
    /// Elements start, start + step, … below stop; negative ones count from the end, beyond the ends is clipped. step ≥ 1.
    EMMY_DECL edge slice(std::string_view id, edge x, std::int64_t axis, std::int64_t start, std::optional<std::int64_t> stop, std::int64_t step = 1);
    /// `length` elements from `start`, both from the start and inside.
    EMMY_DECL edge window_of(std::string_view id, edge x, std::int64_t axis, extent start, extent length);
    EMMY_DECL edge select(std::string_view id, edge x, std::int64_t axis, std::int64_t index);
    EMMY_DECL edge cat(std::string_view id, std::vector<edge> parts, std::int64_t axis);
    EMMY_DECL edge cat(std::string_view id, std::vector<edge> parts, edge axis);  ///< axis: a literal
    EMMY_DECL edge stack(std::string_view id, std::vector<edge> parts, std::int64_t axis);
    EMMY_DECL edge repeat(std::string_view id, edge x, list times);
    EMMY_DECL edge repeat_interleave(std::string_view id, edge x, std::int64_t times, std::int64_t axis);
    EMMY_DECL edge roll(std::string_view id, edge x, std::int64_t shift, std::int64_t axis);
    EMMY_DECL edge flip(std::string_view id, edge x, std::int64_t axis);
    EMMY_DECL edge pad(std::string_view id, edge x, list before, list after, double value);  ///< per axis
    EMMY_DECL edge slice_scatter(std::string_view id, edge x, edge part, std::int64_t axis, std::int64_t start);  ///< x with `part` from `start` on (caches)
    EMMY_DECL edge full(std::string_view id, double value, dtype type, sizes shape);
    EMMY_DECL edge eye(std::string_view id, std::int64_t rows, std::int64_t columns, dtype type);
    EMMY_DECL edge triangle(std::string_view id, edge x, bool upper, std::int64_t diagonal);  ///< triu, tril
    EMMY_DECL edge gather(std::string_view id, edge x, std::int64_t axis, edge index);        ///< one element of x for each of index
    EMMY_DECL edge index_select(std::string_view id, edge x, std::int64_t axis, edge index);  ///< index of any rank; embedding is axis 0
    /// x with slices of `values` put at the places of a vector along an axis (caches); the last of equal places wins, negative ones count from the end.
    EMMY_DECL edge put(std::string_view id, edge x, std::int64_t axis, edge places, edge values);
    /// values put at an index of their shape along an axis; `reduce`: folded with what is there ("sum", "prod", "amax", "amin").
    EMMY_DECL edge scatter(std::string_view id, edge x, std::int64_t axis, edge index, edge values, std::string_view reduce = {});
    EMMY_DECL edge one_hot(std::string_view id, edge index, std::int64_t classes);            ///< i64

    // Folds.
    /// sum, prod, amax, amin, mean over some axes (all when empty).
    EMMY_DECL edge fold(std::string_view id, std::string_view name, edge x, list axes, bool keep, dtype type = dtype::none);
    EMMY_DECL edge variance(std::string_view id, edge x, list axes, double correction, bool keep, bool root);
    EMMY_DECL edge argmax(std::string_view id, edge x, std::int64_t axis, bool keep, bool least = false);  ///< first of equals; i64
    EMMY_DECL edge cumsum(std::string_view id, edge x, std::int64_t axis, dtype type = dtype::none);
    EMMY_DECL edge softmax(std::string_view id, edge x, std::int64_t axis, dtype type = dtype::none);
    EMMY_DECL edge log_softmax(std::string_view id, edge x, std::int64_t axis);
    /// Over the last `axes` axes; weights have their shape.
    EMMY_DECL edge layer_norm(std::string_view id, edge x, std::size_t axes, std::optional<edge> w, std::optional<edge> b, double eps);
    EMMY_DECL edge rms_norm(std::string_view id, edge x, std::size_t axes, std::optional<edge> w, double eps);
    EMMY_DECL edge group_norm(std::string_view id, edge x, std::int64_t groups, std::optional<edge> w, std::optional<edge> b, double eps);

    // Products.
    EMMY_DECL edge linear(std::string_view id, edge x, edge w, std::optional<edge> b = {});
    EMMY_DECL edge matmul(std::string_view id, edge a, edge b, dtype type = dtype::none);  ///< vectors too
    EMMY_DECL edge addmm(std::string_view id, edge c, edge a, edge b, double beta, double alpha);
    EMMY_DECL edge einsum(std::string_view id, std::string_view equation, std::vector<edge> operands);
    struct window {  ///< per spatial axis
        list stride, padding, dilation;
    };
    /// x [N,C,spatial..] with one or two spatial axes.
    EMMY_DECL edge convolution(std::string_view id, edge x, edge w, std::optional<edge> b, window how, std::int64_t groups);
    EMMY_DECL edge conv_transpose1d(std::string_view id, edge x, edge w, std::optional<edge> b, std::int64_t stride, std::int64_t padding,
                                    std::int64_t output_padding, std::int64_t dilation, std::int64_t groups);
    EMMY_DECL edge pool(std::string_view id, edge x, list taps, window how, bool largest);  ///< max_pool, avg_pool (padding counts)

    // Blocks.
    /// A bool mask keeps where it is true; a row that it keeps nothing of gives 0.
    EMMY_DECL edge attention(std::string_view id, edge q, edge k, edge v, std::optional<edge> mask, bool causal, std::optional<std::int64_t> sliding_window,
                             std::optional<double> scale);
    /// x cos + rotated(x) sin; halves swapped, or neighbours when interleaved.
    EMMY_DECL edge rotary(std::string_view id, edge x, edge cos, edge sin, bool interleaved);
    /// Probabilities of the kept experts alone: softmax over the last axis, 0 elsewhere, sum 1.
    EMMY_DECL edge route(std::string_view id, edge logits, edge kept);
    /// Quantised weights: u8 bits of signed bytes, two 4-bit codes a byte (low one first) as integers or as e2m1, f8 values. value = (code - zero) scale;
    /// a scale may have fewer elements along the last axis: one for each group. `type`: of the result.
    EMMY_DECL edge dequantise(std::string_view id, std::string_view form, edge codes, edge scale, std::optional<edge> zero, dtype type);

private:
    struct setting {
        attr key;
        program::literal number = {};
        std::string text = {};
        std::vector<std::int64_t> integers = {};
        sizes extents = {};
    };
    static setting whole(attr key, std::int64_t v) { return {.key = key, .number = {.kind = program::literal::form::integer, .integer = v}}; }
    static setting real(attr key, double v) { return {.key = key, .number = {.kind = program::literal::form::real, .real = v}}; }
    static setting flag(attr key, bool v) { return {.key = key, .number = {.kind = program::literal::form::boolean, .integer = v}}; }
    EMMY_DECL edge leaf(std::string_view id, std::string_view path, dtype type, std::span<const builder::size> shape);
    EMMY_DECL edge emit(std::string_view id, program::op tag, std::vector<edge> inputs, dtype type, std::vector<setting> settings = {},
                        const sizes* shape = nullptr);
    EMMY_DECL edge fail(std::string_view id, std::string message);
    EMMY_DECL std::string fresh(std::string_view id);
    EMMY_DECL std::optional<std::size_t> axis_of(std::string_view id, std::int64_t axis, std::size_t rank);
    EMMY_DECL std::optional<std::vector<std::size_t>> axes_of(std::string_view id, const list& axes, std::size_t rank);
    EMMY_DECL std::optional<program::range> add_dims(std::string_view id, const sizes& shape, bool as_attribute);
    EMMY_DECL sizes joined(std::string_view id, const sizes& a, const sizes& b);
    EMMY_DECL edge wide(std::string_view id, edge x);  ///< f32 of f16 and bf16
    EMMY_DECL edge windows(std::string_view id, edge x, const list& taps, const window& how, double outside, sizes& positions);
    dtype promoted(std::span<const edge> operands) const;
    static std::string place(std::size_t axis) { return "out_coord_" + std::to_string(axis); }
    static std::vector<std::string> places(std::size_t rank) {
        std::vector<std::string> out;
        for (std::size_t i = 0; i < rank; ++i) out.push_back(place(i));
        return out;
    }
    static bool half(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

    graph g_;
    numbering numbering_;
    std::size_t minted_ = 0;
    std::vector<bool> taken_;  ///< by name: ids of nodes
    std::vector<edge> outputs_;
    std::optional<fault> fault_;
    std::string symbol_;
    std::int64_t hint_ = default_hint;
};

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/compose.ipp>
#endif
