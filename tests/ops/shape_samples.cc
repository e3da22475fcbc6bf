// Samples of the ops that move or select elements.
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

using Ints = std::vector<int64_t>;
constexpr DType kI32 = DType::kInt32, kI64 = DType::kInt64;

Sample with_shape(std::string op, std::string name, Shape x, Shape to) { return {std::move(op), std::move(name), {{"shape", to}}, {{x}}}; }
Sample transpose(std::string name, Shape x, Ints perm) { return {"transpose", std::move(name), {{"perm", perm}}, {{x}}}; }
Sample slice(std::string name, Shape x, Ints begin, Ints end, Ints stride = {}) {
  return {"slice", std::move(name), {{"begin", begin}, {"end", end}, {"stride", stride}}, {{x}}};
}
Sample slice_grad(std::string name, Shape dy, Shape x, Ints begin, Ints end, Ints stride = {}) {
  return {"slice_grad", std::move(name), {{"shape", x}, {"begin", begin}, {"end", end}, {"stride", stride}}, {{dy}}};
}
Sample pad(std::string name, Shape x, Ints pads, std::string mode = "constant", double value = 0) {
  return {"pad", std::move(name), {{"pads", pads}, {"value", value}, {"mode", mode}}, {{x}}};
}
Sample pad_grad(std::string name, Shape dy, Shape x, Ints pads, std::string mode) {
  return {"pad_grad", std::move(name), {{"shape", x}, {"pads", pads}, {"mode", mode}}, {{dy}}};
}
// Integers as values, so that they are valid rows.
Arg index(Shape shape, double lo, double hi, DType dtype = kI64) { return {.shape = shape, .lo = lo, .hi = hi, .dtype = dtype, .kind = "integers"}; }
Sample joined(std::string name, int64_t axis, std::vector<Arg> args) { return {"concat", std::move(name), {{"axis", axis}}, std::move(args)}; }
Sample split(std::string name, Shape x, Ints sizes, int64_t axis) { return {"split", std::move(name), {{"sizes", sizes}, {"axis", axis}}, {{x}}}; }
Sample indexed(std::string op, std::string name, int64_t axis, std::vector<Arg> args) {
  return {std::move(op), std::move(name), {{"axis", axis}}, std::move(args)};
}

const bool kReshape = add_samples({
    with_shape("reshape", "plain", {2, 6}, {3, 4}),
    with_shape("reshape", "infer", {2, 3, 4}, {4, -1}),
    with_shape("reshape", "to_scalar", {1, 1}, {}),
    with_shape("reshape", "from_scalar", {}, {1, 1}),
    with_shape("reshape", "empty", {0, 3}, {3, 0, 2}),
    with_shape("reshape", "empty_infer", {0, 3}, {-1, 3}),
    with_shape("reshape", "flatten4d", {2, 3, 4, 5}, {2, -1}),
    with_shape("reshape", "odd", {17, 31}, {31, 17}),
    with_shape("reshape", "size1", {1}, {1, 1, 1}),
});
const bool kStopGradient = add_samples({
    {"stop_gradient", "plain", {}, {{{3, 4}}}, false},
    {"stop_gradient", "scalar", {}, {{{}}}, false},
    {"stop_gradient", "empty", {}, {{{0, 2}}}, false},
    {"stop_gradient", "images", {}, {{{2, 3, 4, 5}}}, false},
    {"stop_gradient", "size1", {}, {{{1}}}, false},
    {"stop_gradient", "odd7", {}, {{{7}}}, false},
    {"stop_gradient", "odd33", {}, {{{33}}}, false},
    {"stop_gradient", "integers", {}, {index({5}, -9, 9)}, false},
});
const bool kTranspose = add_samples({
    transpose("plain", {3, 5}, {1, 0}),
    transpose("tile_edges", {17, 33}, {1, 0}),
    transpose("tiles", {32, 48}, {1, 0}),
    transpose("negative_axes", {2, 3, 4}, {-1, 0, -2}),
    transpose("identity", {4, 5}, {0, 1}),
    transpose("heads", {2, 7, 3, 5}, {0, 2, 1, 3}),
    transpose("attention_keys", {2, 3, 7, 8}, {0, 1, 3, 2}),
    transpose("reverse5d", {2, 3, 4, 3, 2}, {4, 3, 2, 1, 0}),
    transpose("size1", {1, 9, 1}, {2, 1, 0}),
    transpose("scalar", {}, {}),
    transpose("empty", {0, 4}, {1, 0}),
    transpose("nhwc", {2, 9, 4, 5}, {0, 2, 3, 1}),
    transpose("odd15_16", {15, 16}, {1, 0}),
});
const bool kConcat = add_samples({
    joined("axis0", 0, {{{2, 3}}, {{4, 3}}}),
    joined("axis1", 1, {{{2, 3}}, {{2, 5}}, {{2, 1}}}),
    joined("last_negative", -1, {{{3, 7}}, {{3, 9}}}),
    joined("one_input", 0, {{{5}}}),
    joined("channels", 1, {{{2, 3, 4, 5}}, {{2, 8, 4, 5}}}),
    joined("with_empty", 0, {{{0, 3}}, {{2, 3}}}),
    joined("all_empty", 1, {{{0, 3}}, {{0, 2}}}),
    joined("vectors", 0, {{{15}}, {{17}}, {{1}}}),
    joined("rows4d", 2, {{{1, 2, 3, 4}}, {{1, 2, 1, 4}}}),
    joined("same_twice", 0, {{{31}}, {{33}}}),
});
const bool kSplit = add_samples({
    split("axis0", {6, 3}, {2, 4}, 0),
    split("axis1", {2, 9}, {2, 3, 4}, 1),
    split("negative", {3, 16}, {7, 9}, -1),
    split("whole", {5}, {5}, 0),
    split("channels", {2, 5, 3, 4}, {2, 3}, 1),
    split("empty_piece", {4, 2}, {0, 4}, 0),
    split("empty", {0, 2}, {1, 1}, 1),
    split("ones", {3}, {1, 1, 1}, 0),
    split("width", {1, 2, 3, 33}, {15, 17, 1}, 3),
});
const bool kSlice = add_samples({
    slice("plain", {5, 6}, {1, 2}, {4, 5}),
    slice("short_lists", {5, 6}, {1}, {3}),
    slice("negative", {5, 6}, {-3, 0}, {-1, 6}),
    slice("strided", {9, 10}, {0, 1}, {9, 10}, {2, 3}),
    slice("reversed", {5, 4}, {4, 3}, {-6, -5}, {-1, -1}),
    slice("backwards2", {9}, {7}, {0}, {-2}),
    slice("clamped", {4}, {-100}, {100}),
    slice("nothing", {4, 3}, {2}, {2}),
    slice("empty_input", {0, 3}, {0, 1}, {0, 3}),
    slice("images", {2, 5, 4, 6}, {0, 1, 1, 2}, {2, 4, 4, 6}),
    slice("images_strided", {2, 3, 7, 8}, {0, 2, 6, 0}, {2, -4, -8, 8}, {1, -1, -2, 3}),
    slice("odd", {33}, {1}, {32}),
    slice("scalar", {}, {}, {}),
    slice("size1", {1, 1}, {0, 0}, {1, 1}),
});
const bool kSliceGrad = add_samples({
    slice_grad("plain", {3, 3}, {5, 6}, {1, 2}, {4, 5}),
    slice_grad("strided", {5, 3}, {9, 10}, {0, 1}, {9, 10}, {2, 3}),
    slice_grad("reversed", {5}, {5}, {4}, {-6}, {-1}),
    slice_grad("nothing", {0, 3}, {4, 3}, {2}, {2}),
    slice_grad("empty", {0, 2}, {0, 3}, {0, 1}, {0, 3}),
    slice_grad("images", {2, 3, 3, 4}, {2, 5, 4, 6}, {0, 1, 1, 2}, {2, 4, 4, 6}),
    slice_grad("images_strided", {2, 3, 4, 3}, {2, 3, 7, 8}, {0, 2, 6, 0}, {2, -4, -8, 8}, {1, -1, -2, 3}),
    slice_grad("size1", {1}, {1}, {0}, {1}),
    slice_grad("odd", {31}, {33}, {1}, {32}),
});
const bool kPad = add_samples({
    pad("plain", {2, 3}, {1, 0, 2, 1}),
    pad("value", {3}, {2, 2}, "constant", -1.5),
    pad("none", {4}, {0, 0}),
    pad("images", {2, 3, 4, 5}, {0, 0, 0, 0, 1, 1, 2, 2}),
    pad("channels", {2, 3, 2, 2}, {0, 0, 0, 5, 0, 0, 0, 0}),
    pad("empty_constant", {0, 2}, {1, 1, 0, 0}, "constant", 2),
    pad("reflect", {5}, {4, 3}, "reflect"),
    pad("reflect2d", {3, 4}, {2, 1, 3, 0}, "reflect"),
    pad("symmetric", {3, 2}, {3, 1, 2, 2}, "symmetric"),
    pad("edge", {2, 3}, {5, 1, 0, 4}, "edge"),
    pad("edge_images", {1, 2, 3, 3}, {0, 0, 1, 0, 1, 1, 2, 0}, "edge"),
    pad("scalar", {}, {}),
    pad("odd", {17}, {7, 9}),
    pad("size1_edge", {1}, {3, 3}, "edge"),
});
const bool kPadGrad = add_samples({
    pad_grad("reflect", {12}, {5}, {4, 3}, "reflect"),
    pad_grad("reflect2d", {6, 7}, {3, 4}, {2, 1, 3, 0}, "reflect"),
    pad_grad("symmetric", {7, 6}, {3, 2}, {3, 1, 2, 2}, "symmetric"),
    pad_grad("edge", {8, 7}, {2, 3}, {5, 1, 0, 4}, "edge"),
    pad_grad("edge_images", {1, 3, 5, 5}, {1, 2, 3, 3}, {0, 0, 1, 0, 1, 1, 2, 0}, "edge"),
    pad_grad("none", {4}, {4}, {0, 0}, "edge"),
    pad_grad("empty", {0, 5}, {0, 3}, {0, 0, 1, 1}, "edge"),
    pad_grad("size1", {7}, {1}, {3, 3}, "edge"),
    pad_grad("images_reflect", {2, 2, 7, 6}, {2, 2, 3, 4}, {0, 0, 0, 0, 2, 2, 1, 1}, "reflect"),
});
const bool kBroadcastTo = add_samples({
    with_shape("broadcast_to", "rows", {1, 4}, {3, 4}),
    with_shape("broadcast_to", "columns", {3, 1}, {3, 5}),
    with_shape("broadcast_to", "new_front", {4}, {2, 3, 4}),
    with_shape("broadcast_to", "scalar", {}, {2, 2}),
    with_shape("broadcast_to", "same", {2, 3}, {2, 3}),
    with_shape("broadcast_to", "to_empty", {1, 3}, {0, 3}),
    with_shape("broadcast_to", "bias_images", {5, 1, 1}, {2, 5, 3, 4}),
    with_shape("broadcast_to", "scale_images", {1, 5, 1, 1}, {2, 5, 3, 4}),
    with_shape("broadcast_to", "pooled", {2, 5, 1, 1}, {2, 5, 3, 4}),
    with_shape("broadcast_to", "middle", {3, 1, 17}, {3, 4, 17}),
    with_shape("broadcast_to", "two_middle", {2, 1, 3, 1}, {2, 4, 3, 33}),
});
const bool kSumTo = add_samples({
    with_shape("sum_to", "bias", {7, 9}, {9}),
    with_shape("sum_to", "bias_long", {70, 17}, {17}),
    with_shape("sum_to", "bias_wide", {5, 130}, {1, 130}),
    with_shape("sum_to", "rows", {9, 33}, {9, 1}),
    with_shape("sum_to", "scalar", {5, 31}, {}),
    with_shape("sum_to", "one", {1500}, {1}),
    with_shape("sum_to", "bias_images", {3, 5, 4, 7}, {5, 1, 1}),
    with_shape("sum_to", "scale_images", {9, 5, 3, 3}, {1, 5, 1, 1}),
    with_shape("sum_to", "pooled", {3, 8, 4, 4}, {3, 8, 1, 1}),
    with_shape("sum_to", "image_bias", {4, 3, 2, 5}, {3, 2, 5}),
    with_shape("sum_to", "middle", {3, 15, 16}, {3, 1, 16}),
    with_shape("sum_to", "same", {2, 3}, {2, 3}),
    with_shape("sum_to", "drop_ones", {1, 1, 6}, {6}),
    with_shape("sum_to", "empty_rows", {0, 3}, {3}),
    with_shape("sum_to", "empty_columns", {3, 0}, {0}),
    with_shape("sum_to", "alternating", {2, 3, 2, 3, 2}, {1, 3, 1, 3, 1}),
    with_shape("sum_to", "four_groups", {3, 4, 5, 6}, {3, 1, 5, 1}),
});
const bool kGather = add_samples({
    indexed("gather", "rows", 0, {{{5, 4}}, index({3}, 0, 5)}),
    indexed("gather", "axis1", 1, {{{3, 6, 2}}, index({4}, 0, 6)}),
    indexed("gather", "matrix_of_indices", 0, {{{7, 3}}, index({2, 5}, 0, 7, kI32)}),
    indexed("gather", "negative", -1, {{{2, 5}}, index({6}, -5, 5)}),
    indexed("gather", "scalar_index", 0, {{{4, 3}}, index({}, 1, 2)}),
    indexed("gather", "no_indices", 0, {{{4, 3}}, index({0}, 0, 1)}),
    indexed("gather", "vector", 0, {{{9}}, index({33}, 0, 9)}),
    indexed("gather", "repeated", 0, {{{1, 15}}, index({4}, 0, 1)}),
    indexed("gather", "empty_rows", 0, {{{3, 0}}, index({2}, 0, 3)}),
});
const bool kScatterAdd = add_samples({
    indexed("scatter_add", "rows", 0, {{{5, 4}}, index({3}, 0, 5), {{3, 4}}}),
    indexed("scatter_add", "axis1", 1, {{{3, 6, 2}}, index({4}, 0, 6), {{3, 4, 2}}}),
    indexed("scatter_add", "repeated", 0, {{{2, 7}}, index({16}, 0, 2), {{16, 7}}}),
    indexed("scatter_add", "wide", 0, {{{2, 300}}, index({4}, -2, 2), {{4, 300}}}),
    indexed("scatter_add", "matrix_of_indices", -1, {{{2, 5}}, index({2, 3}, 0, 5, kI32), {{2, 2, 3}}}),
    indexed("scatter_add", "scalar_index", 0, {{{4, 3}}, index({}, 1, 2), {{3}}}),
    indexed("scatter_add", "no_indices", 0, {{{4, 3}}, index({0}, 0, 1), {{0, 3}}}),
    indexed("scatter_add", "vector", 0, {{{9}}, index({33}, 0, 9), {{33}}}),
});
const bool kGatherElements = add_samples({
    indexed("gather_elements", "axis0", 0, {{{5, 3}}, index({4, 3}, 0, 5)}),
    indexed("gather_elements", "axis1", 1, {{{3, 6}}, index({3, 2}, 0, 6)}),
    indexed("gather_elements", "labels", -1, {{{9, 10}}, index({9, 1}, 0, 10, kI32)}),
    indexed("gather_elements", "smaller", 0, {{{5, 4, 3}}, index({2, 3, 2}, 0, 5)}),
    indexed("gather_elements", "negative", 1, {{{2, 4}}, index({2, 5}, -4, 4)}),
    indexed("gather_elements", "empty", 0, {{{5, 3}}, index({0, 3}, 0, 5)}),
    indexed("gather_elements", "vector", 0, {{{7}}, index({31}, 0, 7)}),
    indexed("gather_elements", "size1", 0, {{{1}}, index({1}, 0, 1)}),
});
Sample gather_elements_grad(std::string name, Shape shape, int64_t axis, std::vector<Arg> args) {
  return {"gather_elements_grad", std::move(name), {{"shape", shape}, {"axis", axis}}, std::move(args)};
}
const bool kGatherElementsGrad = add_samples({
    gather_elements_grad("axis0", {5, 3}, 0, {{{4, 3}}, index({4, 3}, 0, 5)}),
    gather_elements_grad("axis1", {3, 6}, 1, {{{3, 2}}, index({3, 2}, 0, 6)}),
    gather_elements_grad("labels", {9, 10}, -1, {{{9, 1}}, index({9, 1}, 0, 10, kI32)}),
    gather_elements_grad("smaller", {5, 4, 3}, 0, {{{2, 3, 2}}, index({2, 3, 2}, 0, 5)}),
    gather_elements_grad("negative", {2, 4}, 1, {{{2, 5}}, index({2, 5}, -4, 4)}),
    gather_elements_grad("empty", {5, 3}, 0, {{{0, 3}}, index({0, 3}, 0, 5)}),
    gather_elements_grad("repeated", {3}, 0, {{{33}}, index({33}, 0, 3)}),
    gather_elements_grad("size1", {1}, 0, {{{1}}, index({1}, 0, 1)}),
});
const bool kEmbedding = add_samples({
    {"embedding", "plain", {}, {{{7, 4}}, index({3}, 0, 7)}},
    {"embedding", "sentences", {}, {{{11, 8}}, index({2, 5}, 0, 11, kI32)}},
    {"embedding", "repeated", {}, {{{2, 15}}, index({9}, 0, 2)}},
    {"embedding", "scalar_id", {}, {{{5, 3}}, index({}, 2, 3)}},
    {"embedding", "no_ids", {}, {{{5, 3}}, index({0}, 0, 5)}},
    {"embedding", "one_row", {}, {{{1, 1}}, index({4}, 0, 1)}},
    {"embedding", "odd", {}, {{{33, 17}}, index({31}, 0, 33)}},
    {"embedding", "no_columns", {}, {{{4, 0}}, index({3}, 0, 4)}},
});
Sample embedding_grad(std::string name, int64_t rows, std::vector<Arg> args) { return {"embedding_grad", std::move(name), {{"rows", rows}}, std::move(args)}; }
const bool kEmbeddingGrad = add_samples({
    embedding_grad("plain", 7, {{{3, 4}}, index({3}, 0, 7)}),
    embedding_grad("sentences", 11, {{{2, 5, 8}}, index({2, 5}, 0, 11, kI32)}),
    embedding_grad("repeated", 2, {{{33, 15}}, index({33}, 0, 2)}),
    embedding_grad("scalar_id", 5, {{{3}}, index({}, 2, 3)}),
    embedding_grad("no_ids", 5, {{{0, 3}}, index({0}, 0, 5)}),
    embedding_grad("one_row", 1, {{{4, 1}}, index({4}, 0, 1)}),
    embedding_grad("wide", 3, {{{2, 513}}, index({2}, 0, 3)}),
    embedding_grad("no_columns", 4, {{{3, 0}}, index({3}, 0, 4)}),
});
Sample ravel(std::string name, Shape dims, std::vector<Arg> args, bool wrap = true, Ints axes = {}) {
  return {"ravel_indices", std::move(name), {{"dims", dims}, {"wrap", wrap}, {"axes", axes}}, std::move(args)};
}
const bool kRavelIndices = add_samples({
    ravel("vector", {7}, {index({5}, 0, 7)}),
    ravel("pairs", {4, 5}, {index({9}, 0, 4), index({9}, 0, 5)}),
    ravel("negative", {3, 4}, {index({2, 5}, -3, 3), index({2, 5}, -4, 4)}),
    ravel("not_wrapped", {3, 4}, {index({6}, 0, 3), index({6}, 0, 4)}, false),
    ravel("named", {3, 4}, {index({6}, 0, 3), index({6}, 0, 4)}, true, {2, 0}),
    ravel("types", {3, 4, 5}, {index({8}, 0, 3, kI32), index({8}, 0, 4), index({8}, 0, 5, kI32)}),
    ravel("broadcast", {6, 5, 4}, {index({3, 1}, 0, 6), index({2, 1, 7}, 0, 5), index({}, 1, 2)}),
    ravel("scalars", {3, 2}, {index({}, 0, 3), index({}, 0, 2)}),
    ravel("empty", {3, 0}, {index({0}, 0, 3), index({0}, 0, 1)}),
    ravel("empty_columns", {3, 4}, {index({2, 1}, 0, 3), index({1, 0}, 0, 4)}),
    ravel("size1", {1, 1}, {index({1}, 0, 1), index({1}, 0, 1)}),
    ravel("beyond_int32", {70000, 70000}, {index({17}, 0, 70000, kI32), index({17}, 0, 70000, kI32)}),
});
Sample one_hot(std::string name, Arg indices, int64_t depth, double on = 1, double off = 0, DType dtype = DType::kFloat32) {
  return {"one_hot", std::move(name), {{"depth", depth}, {"on", on}, {"off", off}, {"dtype", dtype}}, {std::move(indices)}};
}
const bool kOneHot = add_samples({
    one_hot("plain", index({4}, 0, 5), 5),
    one_hot("smoothed", index({9}, 0, 10, kI32), 10, 0.9, 0.1 / 9),
    one_hot("out_of_range", index({8}, -3, 7), 4),
    one_hot("matrix", index({2, 3}, 0, 7), 7),
    one_hot("scalar", index({}, 2, 3), 3),
    one_hot("empty", index({0}, 0, 3), 3),
    one_hot("depth0", index({3}, 0, 1), 0),
    one_hot("as_int", index({5}, 0, 4), 4, 3, -1, kI32),
    one_hot("as_bool", index({5}, 0, 4), 4, 1, 0, DType::kBool),
});
Sample full(std::string name, Shape shape, double value, DType dtype) {
  return {"full", std::move(name), {{"shape", shape}, {"value", value}, {"dtype", dtype}}, {}};
}
const bool kFull = add_samples({
    full("plain", {2, 3}, 1.5, DType::kFloat32),
    full("scalar", {}, -2, DType::kFloat64),
    full("empty", {0, 4}, 1, DType::kFloat32),
    full("half", {33}, 0.1, DType::kFloat16),
    full("bf16", {17}, 0.1, DType::kBFloat16),
    full("ints", {7}, -3, kI32),
    full("truth", {5}, 2, DType::kBool),
    full("bytes", {9}, 255, DType::kUInt8),
    full("images", {1, 2, 3, 4}, 7, kI64),
});
Sample arange(std::string name, double start, double stop, double step, DType dtype) {
  return {"arange", std::move(name), {{"start", start}, {"stop", stop}, {"step", step}, {"dtype", dtype}}, {}};
}
const bool kArange = add_samples({
    arange("plain", 0, 7, 1, kI64),
    arange("from", 3, 12, 2, kI32),
    arange("down", 5, -5, -3, kI64),
    arange("none", 4, 4, 1, kI64),
    arange("wrong_way", 0, 5, -1, kI64),
    arange("fractions", 0, 1, 0.125, DType::kFloat32),
    arange("one", 0, 1, 1, DType::kFloat64),
    arange("odd", 0, 33, 1, DType::kFloat32),
});

}  // namespace
}  // namespace sindri::test
