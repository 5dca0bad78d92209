#pragma once
#include <emmy/program/import/impl/operators_folds.ipp>
#include <emmy/program/import/impl/operators_layout.ipp>
#include <emmy/program/import/impl/operators_products.ipp>
#include <emmy/program/import/impl/operators_values.ipp>

#include <algorithm>
#include <string>
#include <vector>

namespace emmy::program::pt2::detail {

/// The target without its namespace: "aten.add.Tensor".
inline std::string_view table_name(std::string_view target) {
    constexpr std::string_view prefix = "torch.ops.";
    return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

// Every operator that is read. Arguments as parameters_of() says; what ends in _ before the overload is its row written back to the argument.
#define EMMY_UNARY(torch, ours) {"aten." torch ".default", "self:T", [](site& s) { unary(s, ours); }}
#define EMMY_REAL(torch, ours) {"aten." torch ".default", "self:T", [](site& s) { real_unary(s, ours); }}
#define EMMY_BINARY(torch, ours) {"aten." torch, "self:TN other:TN", [](site& s) { binary(s, ours); }}
#define EMMY_COMPARE(torch, ours) EMMY_BINARY(torch ".Tensor", ours), EMMY_BINARY(torch ".Scalar", ours)

inline const std::vector<row>& rows() {
    static const std::vector<row> sorted = [] {
        std::vector<row> out{
            // values
            EMMY_UNARY("neg", "negative"), EMMY_UNARY("abs", "abs"), EMMY_UNARY("sign", "sign"), EMMY_UNARY("relu", "relu"), EMMY_UNARY("silu", "silu"), EMMY_UNARY("square", "square"),
            EMMY_REAL("sqrt", "sqrt"), EMMY_REAL("rsqrt", "rsqrt"), EMMY_REAL("reciprocal", "reciprocal"), EMMY_REAL("exp", "exp"), EMMY_REAL("exp2", "exp2"), EMMY_REAL("expm1", "expm1"),
            EMMY_REAL("log", "log"), EMMY_REAL("log2", "log2"), EMMY_REAL("log10", "log10"), EMMY_REAL("log1p", "log1p"), EMMY_REAL("sin", "sin"), EMMY_REAL("cos", "cos"), EMMY_REAL("tan", "tan"),
            EMMY_REAL("asin", "arcsin"), EMMY_REAL("acos", "arccos"), EMMY_REAL("atan", "arctan"), EMMY_REAL("sinh", "sinh"), EMMY_REAL("cosh", "cosh"), EMMY_REAL("tanh", "tanh"), EMMY_REAL("asinh", "arcsinh"),
            EMMY_REAL("acosh", "arccosh"), EMMY_REAL("atanh", "arctanh"), EMMY_REAL("erf", "erf"), EMMY_REAL("sigmoid", "sigmoid"), EMMY_UNARY("floor", "floor"), EMMY_UNARY("ceil", "ceil"), EMMY_UNARY("trunc", "trunc"),
            EMMY_UNARY("round", "rint"), EMMY_UNARY("isnan", "isnan"), EMMY_UNARY("isinf", "isinf"), EMMY_UNARY("isfinite", "isfinite"), EMMY_UNARY("signbit", "signbit"),
            {"aten.logical_not.default", "self:T", [](site& s) {
                 if (s.c().type(s.tensor("self")) == dtype::boolean) return unary(s, "logical_not");
                 s.out(s.c().with_number(s.id, "equal", s.tensor("self"), 0));
             }},
            {"aten.bitwise_not.default", "self:T", [](site& s) { unary(s, s.out_type() == dtype::boolean ? "logical_not" : "invert"); }},
            {"aten.add.Tensor", "self:TN other:TN alpha:N?", [](site& s) { add(s, false); }}, {"aten.add.Scalar", "self:T other:N alpha:N?", [](site& s) { add(s, false); }},
            {"aten.sub.Tensor", "self:TN other:TN alpha:N?", [](site& s) { add(s, true); }}, {"aten.sub.Scalar", "self:T other:N alpha:N?", [](site& s) { add(s, true); }},
            {"aten.rsub.Tensor", "self:T other:TN alpha:N?", rsub}, {"aten.rsub.Scalar", "self:T other:N alpha:N?", rsub},
            EMMY_BINARY("mul.Tensor", "multiply"), EMMY_BINARY("mul.Scalar", "multiply"), EMMY_BINARY("maximum.default", "maximum"), EMMY_BINARY("minimum.default", "minimum"), EMMY_BINARY("max.other", "maximum"),
            EMMY_BINARY("min.other", "minimum"), EMMY_BINARY("fmax.default", "fmax"), EMMY_BINARY("fmin.default", "fmin"), EMMY_BINARY("atan2.default", "arctan2"), EMMY_BINARY("hypot.default", "hypot"),
            EMMY_BINARY("copysign.Tensor", "copysign"), EMMY_BINARY("floor_divide.default", "floor_divide"), EMMY_BINARY("floor_divide.Scalar", "floor_divide"), EMMY_BINARY("remainder.Tensor", "remainder"), EMMY_BINARY("remainder.Scalar", "remainder"),
            EMMY_BINARY("fmod.Tensor", "fmod"), EMMY_BINARY("fmod.Scalar", "fmod"),
            {"aten.div.Tensor", "self:TN other:TN", divide}, {"aten.div.Scalar", "self:T other:N", divide}, {"aten.true_divide.Tensor", "self:TN other:TN", divide},
            {"aten.div.Tensor_mode", "self:TN other:TN rounding_mode:S?", divide}, {"aten.div.Scalar_mode", "self:T other:N rounding_mode:S?", divide},
            {"aten.pow.Tensor_Scalar", "self:T exponent:N", power}, {"aten.pow.Tensor_Tensor", "self:T exponent:T", power}, {"aten.pow.Scalar", "self:N exponent:T", power},
            EMMY_COMPARE("eq", "equal"), EMMY_COMPARE("ne", "not_equal"), EMMY_COMPARE("lt", "less"), EMMY_COMPARE("le", "less_equal"), EMMY_COMPARE("gt", "greater"), EMMY_COMPARE("ge", "greater_equal"),
            {"aten.logical_and.default", "self:T other:T", [](site& s) { logical(s, "logical_and"); }}, {"aten.logical_or.default", "self:T other:T", [](site& s) { logical(s, "logical_or"); }},
            {"aten.logical_xor.default", "self:T other:T", [](site& s) { logical(s, "logical_xor"); }},
            {"aten.bitwise_and.Tensor", "self:T other:T", [](site& s) { bits(s, "and"); }}, {"aten.bitwise_or.Tensor", "self:T other:T", [](site& s) { bits(s, "or"); }}, {"aten.bitwise_xor.Tensor", "self:T other:T", [](site& s) { bits(s, "xor"); }},
            {"aten.bitwise_and.Scalar", "self:T other:N", [](site& s) { bits(s, "and"); }}, {"aten.bitwise_or.Scalar", "self:T other:N", [](site& s) { bits(s, "or"); }}, {"aten.bitwise_xor.Scalar", "self:T other:N", [](site& s) { bits(s, "xor"); }},
            {"aten.__and__.Tensor", "self:T other:T", [](site& s) { bits(s, "and"); }}, {"aten.__or__.Tensor", "self:T other:T", [](site& s) { bits(s, "or"); }}, {"aten.__xor__.Tensor", "self:T other:T", [](site& s) { bits(s, "xor"); }},
            {"aten.__and__.Scalar", "self:T other:N", [](site& s) { bits(s, "and"); }}, {"aten.__or__.Scalar", "self:T other:N", [](site& s) { bits(s, "or"); }},
            EMMY_BINARY("bitwise_left_shift.Tensor", "left_shift"), EMMY_BINARY("bitwise_left_shift.Tensor_Scalar", "left_shift"), EMMY_BINARY("bitwise_right_shift.Tensor", "right_shift"), EMMY_BINARY("bitwise_right_shift.Tensor_Scalar", "right_shift"),
            EMMY_BINARY("__lshift__.Scalar", "left_shift"), EMMY_BINARY("__lshift__.Tensor", "left_shift"), EMMY_BINARY("__rshift__.Scalar", "right_shift"), EMMY_BINARY("__rshift__.Tensor", "right_shift"),
            {"aten.where.self", "condition:T self:T other:T", where}, {"aten.where.ScalarOther", "condition:T self:T other:N", where}, {"aten.where.ScalarSelf", "condition:T self:N other:T", where}, {"aten.where.Scalar", "condition:T self:N other:N", where},
            {"aten.masked_fill.Scalar", "self:T mask:T value:N", masked_fill}, {"aten.masked_fill.Tensor", "self:T mask:T value:T", masked_fill},
            {"aten.clamp.default", "self:T min:N? max:N?", clamp}, {"aten.clamp.Tensor", "self:T min:T? max:T?", clamp},
            {"aten.clamp_min.default", "self:T min:N", clamp}, {"aten.clamp_max.default", "self:T max:N", clamp}, {"aten.clamp_min.Tensor", "self:T min:T", clamp}, {"aten.clamp_max.Tensor", "self:T max:T", clamp},
            {"aten.gelu.default", "self:T approximate:S?", gelu}, {"aten.elu.default", "self:T alpha:N? scale:N? input_scale:N?", elu}, {"aten.leaky_relu.default", "self:T negative_slope:N?", [](site& s) { activation(s, "leaky_relu", "negative_slope", 0.01); }},
            {"aten.relu6.default", "self:T", [](site& s) { activation(s, "relu6"); }}, {"aten.hardswish.default", "self:T", [](site& s) { activation(s, "hardswish"); }}, {"aten.hardsigmoid.default", "self:T", [](site& s) { activation(s, "hardsigmoid"); }},
            {"aten.mish.default", "self:T", [](site& s) { activation(s, "mish"); }}, {"aten.softplus.default", "self:T beta:N? threshold:N?", softplus}, {"aten.hardtanh.default", "self:T min_val:N? max_val:N?", hardtanh},
            {"aten.log_sigmoid.default", "self:T", log_sigmoid}, {"aten.glu.default", "self:T dim:I?", [](site& s) { s.out(s.c().glu(s.id, s.tensor("self"), s.integer("dim", -1))); }},
            {"aten.addcmul.default", "self:T tensor1:T tensor2:T value:N?", [](site& s) { add_product(s, false); }}, {"aten.addcdiv.default", "self:T tensor1:T tensor2:T value:N?", [](site& s) { add_product(s, true); }},
            {"aten.lerp.Scalar", "self:T end:T weight:N", lerp}, {"aten.lerp.Tensor", "self:T end:T weight:T", lerp},
            {"aten.to.dtype", "self:T dtype:D non_blocking:_? copy:B? memory_format:_?", [](site& s) { to_type(s, s.type("dtype", s.out_type())); }, true},
            {"aten.to.dtype_layout", "self:T dtype:D? layout:_? device:_? pin_memory:_? non_blocking:_? copy:B? memory_format:_?", [](site& s) { to_type(s, s.type("dtype", s.out_type())); }, true},
            {"aten.to.device", "self:T device:_ dtype:D non_blocking:_? copy:B? memory_format:_?", [](site& s) { to_type(s, s.type("dtype", s.out_type())); }, true},
            {"aten._to_copy.default", "self:T dtype:D? layout:_? device:_? pin_memory:_? non_blocking:_? memory_format:_?", [](site& s) { to_type(s, s.type("dtype", s.out_type())); }},
            {"aten.type_as.default", "self:T other:T", [](site& s) { to_type(s, s.c().type(s.tensor("other"))); }, true}, {"aten.to.other", "self:T other:T non_blocking:_? copy:B? memory_format:_?", [](site& s) { to_type(s, s.out_type()); }, true},
            {"prims.convert_element_type.default", "a:T dtype:D", [](site& s) { s.out(s.c().cast(s.id, s.tensor("a"), s.out_type())); }},
            {"aten.view.dtype", "self:T dtype:D", bitcast},
            {"aten.clone.default", "self:T memory_format:_?", [](site& s) { s.out(s.tensor("self")); }}, {"aten.contiguous.default", "self:T memory_format:_?", [](site& s) { s.out(s.tensor("self")); }, true},
            {"aten.detach.default", "self:T", [](site& s) { s.out(s.tensor("self")); }, true}, {"aten.detach_.default", "self:T", [](site& s) { s.out(s.tensor("self")); }, true}, {"aten.alias.default", "self:T", [](site& s) { s.out(s.tensor("self")); }, true},
            {"aten.lift_fresh.default", "self:T", [](site& s) { s.out(s.tensor("self")); }, true}, {"aten.lift_fresh_copy.default", "self:T", [](site& s) { s.out(s.tensor("self")); }}, {"aten.lift.default", "self:T", [](site& s) { s.out(s.tensor("self")); }},
            {"aten.dropout.default", "input:T p:N train:B", dropout}, {"aten.native_dropout.default", "input:T p:N train:B?", dropout}, {"aten.feature_dropout.default", "input:T p:N train:B", dropout}, {"aten.alpha_dropout.default", "input:T p:N train:B", dropout},
            {"aten.copy.default", "self:T src:T non_blocking:_?", copy}, {"aten.fill.Scalar", "self:T value:N", fill}, {"aten.fill.Tensor", "self:T value:T", fill}, {"aten.zero.default", "self:T", fill},

            // layout
            {"aten.view.default", "self:T size:A", [](site& s) { reshape(s, "size"); }, true}, {"aten._unsafe_view.default", "self:T size:A", [](site& s) { reshape(s, "size"); }}, {"aten.reshape.default", "self:T shape:A", [](site& s) { reshape(s, "shape"); }, true},
            {"aten.view_as.default", "self:T other:T", reshape_declared, true}, {"aten.reshape_as.default", "self:T other:T", reshape_declared, true}, {"aten.flatten.using_ints", "self:T start_dim:I? end_dim:I?", reshape_declared, true}, {"aten.ravel.default", "self:T", reshape_declared, true},
            {"aten.unflatten.int", "self:T dim:I sizes:A", reshape_declared, true}, {"aten.squeeze.default", "self:T", squeeze, true}, {"aten.squeeze.dim", "self:T dim:I", squeeze, true}, {"aten.squeeze.dims", "self:T dim:A", squeeze, true},
            {"aten.unsqueeze.default", "self:T dim:I", [](site& s) { s.out(s.c().unsqueeze(s.id, s.tensor("self"), s.integer("dim"))); }, true},
            {"aten.transpose.int", "self:T dim0:I dim1:I", [](site& s) { transpose(s, s.integer("dim0"), s.integer("dim1")); }, true}, {"aten.swapaxes.default", "self:T axis0:I axis1:I", [](site& s) { transpose(s, s.integer("axis0"), s.integer("axis1")); }, true},
            {"aten.t.default", "self:T", [](site& s) { transpose(s, 0, 1); }, true}, {"aten.numpy_T.default", "self:T", [](site& s) {
                 if (s.c().rank(s.tensor("self")) > 2) return s.refuse("self", "found more than two axes, expected a matrix");
                 transpose(s, 0, 1);
             }, true},
            {"aten.mT.default", "self:T", [](site& s) { transpose(s, -2, -1); }, true}, {"aten.permute.default", "self:T dims:A", permute, true}, {"aten.movedim.int", "self:T source:I destination:I", move_axes, true}, {"aten.movedim.intlist", "self:T source:A destination:A", move_axes, true},
            {"aten.slice.Tensor", "self:T dim:I? start:Z? end:Z? step:I?", slice, true}, {"aten.narrow.default", "self:T dim:I start:Z length:Z", narrow, true}, {"aten.select.int", "self:T dim:I index:Z", select, true},
            {"aten.cat.default", "tensors:L dim:I?", [](site& s) { cat(s, "tensors", "dim"); }}, {"aten.concat.default", "tensors:L dim:I?", [](site& s) { cat(s, "tensors", "dim"); }}, {"aten.concatenate.default", "tensors:L dim:I?", [](site& s) { cat(s, "tensors", "dim"); }},
            {"aten.stack.default", "tensors:L dim:I?", stack},
            {"aten.chunk.default", "self:T chunks:I dim:I?", [](site& s) { pieces(s, s.integer("dim", 0)); }, true}, {"aten.split.Tensor", "self:T split_size:Z dim:I?", [](site& s) { pieces(s, s.integer("dim", 0)); }, true},
            {"aten.split.sizes", "self:T split_size:A dim:I?", [](site& s) { pieces(s, s.integer("dim", 0)); }, true}, {"aten.split_with_sizes.default", "self:T split_sizes:A dim:I?", [](site& s) { pieces(s, s.integer("dim", 0)); }, true},
            {"aten.tensor_split.sections", "self:T sections:I dim:I?", [](site& s) { pieces(s, s.integer("dim", 0)); }, true}, {"aten.unbind.int", "self:T dim:I?", unbind, true},
            {"aten.expand.default", "self:T size:A implicit:_?", [](site& s) { expand(s, s.extents("size")); }, true}, {"aten.expand_as.default", "self:T other:T", [](site& s) { expand(s, s.out_shape()); }, true}, {"aten.broadcast_to.default", "self:T size:A", [](site& s) { expand(s, s.extents("size")); }, true},
            {"aten.repeat.default", "self:T repeats:A", repeat}, {"aten.repeat_interleave.self_int", "self:T repeats:I dim:I? output_size:_?", repeat_interleave}, {"aten.roll.default", "self:T shifts:A dims:A?", roll}, {"aten.flip.default", "self:T dims:A", flip},
            {"aten.pad.default", "self:T pad:A mode:S? value:N?", pad}, {"aten.constant_pad_nd.default", "self:T pad:A value:N?", pad},
            {"aten.slice_scatter.default", "self:T src:T dim:I? start:Z? end:_? step:I?", slice_scatter}, {"aten.select_scatter.default", "self:T src:T dim:I index:I", select_scatter},
            {"aten.zeros.default", "size:A dtype:_? layout:_? device:_? pin_memory:_?", [](site& s) { full(s, "size", 0); }}, {"aten.ones.default", "size:A dtype:_? layout:_? device:_? pin_memory:_?", [](site& s) { full(s, "size", 1); }},
            {"aten.full.default", "size:A fill_value:N dtype:_? layout:_? device:_? pin_memory:_?", full_like}, {"aten.full_like.default", "self:T fill_value:N dtype:_? layout:_? device:_? pin_memory:_? memory_format:_?", full_like},
            {"aten.zeros_like.default", "self:T dtype:_? layout:_? device:_? pin_memory:_? memory_format:_?", [](site& s) { full(s, {}, 0); }}, {"aten.ones_like.default", "self:T dtype:_? layout:_? device:_? pin_memory:_? memory_format:_?", [](site& s) { full(s, {}, 1); }},
            {"aten.new_zeros.default", "self:T size:A dtype:_? layout:_? device:_? pin_memory:_?", [](site& s) { full(s, "size", 0); }}, {"aten.new_ones.default", "self:T size:A dtype:_? layout:_? device:_? pin_memory:_?", [](site& s) { full(s, "size", 1); }},
            {"aten.new_full.default", "self:T size:A fill_value:N dtype:_? layout:_? device:_? pin_memory:_?", full_like}, {"aten.scalar_tensor.default", "s:N dtype:_? layout:_? device:_? pin_memory:_?", [](site& s) { s.out(s.c().full(s.id, s.number("s"), s.out_type(), {})); }},
            {"aten.arange.default", "end:N dtype:_? layout:_? device:_? pin_memory:_?", arange}, {"aten.arange.start", "start:N end:N dtype:_? layout:_? device:_? pin_memory:_?", arange}, {"aten.arange.start_step", "start:N end:N step:N? dtype:_? layout:_? device:_? pin_memory:_?", arange},
            {"aten.eye.default", "n:Z dtype:_? layout:_? device:_? pin_memory:_?", eye}, {"aten.eye.m", "n:Z m:Z dtype:_? layout:_? device:_? pin_memory:_?", eye},
            {"aten.triu.default", "self:T diagonal:I?", [](site& s) { triangle(s, true); }}, {"aten.tril.default", "self:T diagonal:I?", [](site& s) { triangle(s, false); }},
            {"aten.embedding.default", "weight:T indices:T padding_idx:_? scale_grad_by_freq:_? sparse:_?", embedding}, {"aten.index_select.default", "self:T dim:I index:T", index_select}, {"aten.gather.default", "self:T dim:I index:T sparse_grad:_?", gather},
            {"aten.take_along_dim.default", "self:T indices:T dim:I", [](site& s) { s.out(s.c().gather(s.id, s.tensor("self"), s.integer("dim"), s.tensor("indices"))); }},
            {"aten.index.Tensor", "self:T indices:O", index}, {"aten.index_put.default", "self:T indices:O values:T accumulate:B?", index_put}, {"aten.index_copy.default", "self:T dim:I index:T source:T", index_copy},
            {"aten.one_hot.default", "self:T num_classes:I?", one_hot}, {"aten.scatter.src", "self:T dim:I index:T src:T", [](site& s) { scatter(s, {}); }}, {"aten.scatter.value", "self:T dim:I index:T value:N", [](site& s) { scatter(s, {}); }},
            {"aten.scatter_add.default", "self:T dim:I index:T src:T", [](site& s) { scatter(s, "sum"); }},

            // folds
            {"aten.sum.default", "self:T dtype:_?", [](site& s) { fold(s, "sum"); }}, {"aten.sum.dim_IntList", "self:T dim:A? keepdim:B? dtype:_?", [](site& s) { fold(s, "sum"); }}, {"aten.mean.default", "self:T dtype:_?", [](site& s) { fold(s, "mean"); }},
            {"aten.mean.dim", "self:T dim:A? keepdim:B? dtype:_?", [](site& s) { fold(s, "mean"); }}, {"aten.prod.default", "self:T dtype:_?", [](site& s) { fold(s, "prod"); }}, {"aten.prod.dim_int", "self:T dim:I keepdim:B? dtype:_?", [](site& s) { fold(s, "prod"); }},
            {"aten.amax.default", "self:T dim:A? keepdim:B?", [](site& s) { fold(s, "amax"); }}, {"aten.amin.default", "self:T dim:A? keepdim:B?", [](site& s) { fold(s, "amin"); }}, {"aten.max.default", "self:T", [](site& s) { fold(s, "amax"); }}, {"aten.min.default", "self:T", [](site& s) { fold(s, "amin"); }},
            {"aten.max.dim", "self:T dim:I keepdim:B?", [](site& s) { largest(s, false); }}, {"aten.min.dim", "self:T dim:I keepdim:B?", [](site& s) { largest(s, true); }}, {"aten.argmax.default", "self:T dim:I? keepdim:B?", [](site& s) { argmax(s, false); }}, {"aten.argmin.default", "self:T dim:I? keepdim:B?", [](site& s) { argmax(s, true); }},
            {"aten.any.default", "self:T", [](site& s) { truth(s, "amax"); }}, {"aten.any.dim", "self:T dim:I keepdim:B?", [](site& s) { truth(s, "amax"); }}, {"aten.any.dims", "self:T dim:A? keepdim:B?", [](site& s) { truth(s, "amax"); }},
            {"aten.all.default", "self:T", [](site& s) { truth(s, "amin"); }}, {"aten.all.dim", "self:T dim:I keepdim:B?", [](site& s) { truth(s, "amin"); }}, {"aten.all.dims", "self:T dim:A? keepdim:B?", [](site& s) { truth(s, "amin"); }},
            {"aten.var.dim", "self:T dim:A? unbiased:B? keepdim:B?", [](site& s) { variance(s, false); }}, {"aten.var.correction", "self:T dim:A? correction:N? keepdim:B?", [](site& s) { variance(s, false); }}, {"aten.var.default", "self:T unbiased:B?", [](site& s) { variance(s, false); }},
            {"aten.std.dim", "self:T dim:A? unbiased:B? keepdim:B?", [](site& s) { variance(s, true); }}, {"aten.std.correction", "self:T dim:A? correction:N? keepdim:B?", [](site& s) { variance(s, true); }}, {"aten.std.default", "self:T unbiased:B?", [](site& s) { variance(s, true); }},
            {"aten.var_mean.correction", "self:T dim:A? correction:N? keepdim:B?", variance_and_mean},
            {"aten.linalg_vector_norm.default", "self:T ord:N? dim:A? keepdim:B? dtype:_?", [](site& s) { norm(s, "ord"); }}, {"aten.norm.ScalarOpt_dim", "self:T p:N? dim:A? keepdim:B?", [](site& s) { norm(s, "p"); }}, {"aten.norm.Scalar", "self:T p:N?", [](site& s) { norm(s, "p"); }},
            {"aten.cumsum.default", "self:T dim:I dtype:_?", cumsum}, {"aten.softmax.int", "self:T dim:I dtype:_?", softmax}, {"aten._softmax.default", "self:T dim:I half_to_float:B", softmax}, {"aten.special_softmax.int", "self:T dim:I dtype:_?", softmax},
            {"aten._safe_softmax.default", "self:T dim:I dtype:_?", softmax}, {"aten.log_softmax.int", "self:T dim:I dtype:_?", log_softmax}, {"aten._log_softmax.default", "self:T dim:I half_to_float:B", log_softmax},
            {"aten.rms_norm.default", "input:T normalized_shape:A weight:T? eps:N?", rms_norm}, {"aten._fused_rms_norm.default", "input:T normalized_shape:A weight:T? eps:N?", rms_norm},
            {"aten.layer_norm.default", "input:T normalized_shape:A weight:T? bias:T? eps:N? cudnn_enable:_?", layer_norm}, {"aten.native_layer_norm.default", "input:T normalized_shape:A weight:T? bias:T? eps:N", layer_norm},
            {"aten.group_norm.default", "input:T num_groups:I weight:T? bias:T? eps:N? cudnn_enabled:_?", [](site& s) { group_norm(s, "num_groups"); }},
            {"aten.native_group_norm.default", "input:T weight:T? bias:T? N:_ C:_ HxW:_ group:I eps:N", [](site& s) { group_norm(s, "group"); }},
            {"aten.batch_norm.default", "input:T weight:T? bias:T? running_mean:T? running_var:T? training:B momentum:_? eps:N? cudnn_enabled:_?", batch_norm},
            {"aten._native_batch_norm_legit_no_training.default", "input:T weight:T? bias:T? running_mean:T running_var:T momentum:_ eps:N", batch_norm},

            // products
            {"aten.linear.default", "input:T weight:T bias:T?", linear}, {"aten.matmul.default", "self:T other:T", [](site& s) { matmul(s, "self", "other"); }}, {"aten.__matmul__.default", "self:T other:T", [](site& s) { matmul(s, "self", "other"); }},
            {"aten.mm.default", "self:T mat2:T", [](site& s) { matmul(s, "self", "mat2"); }}, {"aten.bmm.default", "self:T mat2:T", [](site& s) { matmul(s, "self", "mat2"); }}, {"aten.mm.dtype", "self:T mat2:T out_dtype:D", [](site& s) { matmul(s, "self", "mat2"); }}, {"aten.bmm.dtype", "self:T mat2:T out_dtype:D", [](site& s) { matmul(s, "self", "mat2"); }},
            {"aten.mv.default", "self:T vec:T", [](site& s) { matmul(s, "self", "vec"); }}, {"aten.dot.default", "self:T tensor:T", [](site& s) { matmul(s, "self", "tensor"); }}, {"aten.outer.default", "self:T vec2:T", outer},
            {"aten.addmm.default", "self:T mat1:T mat2:T beta:N? alpha:N?", [](site& s) { addmm(s, "mat1", "mat2"); }}, {"aten.baddbmm.default", "self:T batch1:T batch2:T beta:N? alpha:N?", [](site& s) { addmm(s, "batch1", "batch2"); }},
            {"aten.addmv.default", "self:T mat:T vec:T beta:N? alpha:N?", [](site& s) { addmm(s, "mat", "vec"); }}, {"aten.einsum.default", "equation:S tensors:L path:_?", einsum},
            {"aten.scaled_dot_product_attention.default", "query:T key:T value:T attn_mask:T? dropout_p:N? is_causal:B? scale:N? enable_gqa:_?", attention},
            {"aten._scaled_dot_product_flash_attention_for_cpu.default", "query:T key:T value:T dropout_p:N? is_causal:B? attn_mask:T? scale:N?", attention},
            {"aten._scaled_dot_product_attention_math.default", "query:T key:T value:T attn_mask:T? dropout_p:N? is_causal:B? dropout_mask:_? scale:N? enable_gqa:_?", attention},
            {"aten.conv1d.default", "input:T weight:T bias:T? stride:A? padding:A? dilation:A? groups:I?", convolution}, {"aten.conv2d.default", "input:T weight:T bias:T? stride:A? padding:A? dilation:A? groups:I?", convolution},
            {"aten.conv1d.padding", "input:T weight:T bias:T? stride:A? padding:S? dilation:A? groups:I?", convolution}, {"aten.conv2d.padding", "input:T weight:T bias:T? stride:A? padding:S? dilation:A? groups:I?", convolution},
            {"aten.convolution.default", "input:T weight:T bias:T? stride:A padding:A dilation:A transposed:B output_padding:A groups:I", convolution},
            {"aten.conv_transpose1d.default", "input:T weight:T bias:T? stride:A? padding:A? output_padding:A? groups:I? dilation:A?", conv_transpose1d},
            {"aten.max_pool1d.default", "self:T kernel_size:A stride:A? padding:A? dilation:A? ceil_mode:B?", [](site& s) { pool(s, 1, true); }}, {"aten.max_pool2d.default", "self:T kernel_size:A stride:A? padding:A? dilation:A? ceil_mode:B?", [](site& s) { pool(s, 2, true); }},
            {"aten.avg_pool1d.default", "self:T kernel_size:A stride:A? padding:A? ceil_mode:B? count_include_pad:B?", [](site& s) { pool(s, 1, false); }},
            {"aten.avg_pool2d.default", "self:T kernel_size:A stride:A? padding:A? ceil_mode:B? count_include_pad:B? divisor_override:_?", [](site& s) { pool(s, 2, false); }},
        };
        std::sort(out.begin(), out.end(), [](const row& a, const row& b) { return a.name < b.name; });
        return out;
    }();
    return sorted;
}
#undef EMMY_UNARY
#undef EMMY_REAL
#undef EMMY_BINARY
#undef EMMY_COMPARE

EMMY_DECL const row* find_row(std::string_view name) {
    const auto at = std::lower_bound(rows().begin(), rows().end(), name, [](const row& r, std::string_view n) { return r.name < n; });
    return at == rows().end() || at->name != name ? nullptr : &*at;
}

}  // namespace emmy::program::pt2::detail
