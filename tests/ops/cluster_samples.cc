// Samples of elementwise_cluster: programs over shapes around the vector width and the tile, broadcasts, types, several results.
#include "tests/ops/samples.h"

namespace sindri::test::cluster_samples {
namespace {

std::vector<Sample> all() {
  std::vector<Sample> s;
  const auto add = [&](const std::string& name, const std::string& program, std::vector<Arg> args) {
    // Every step rounds to the type of its operands: in half precision the errors of several steps add up.
    s.push_back({.op = "elementwise_cluster",
                 .name = name,
                 .attrs = {{"program", program}},
                 .args = std::move(args),
                 .gradient = false,
                 .torch = false,
                 .tolerance = 4});
  };
  const std::string chain = "mul(i0, i1); leaky_relu(t0) {alpha=0.2}; add(t1, i2); out t2", two = "mul(i0, i1); tanh(t0); sub(t1, i0); out t2, t0";
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{{"scalar", {}},
                                                                              {"one", {1}},
                                                                              {"empty", {0, 3}},
                                                                              {"n7", {7}},
                                                                              {"n8", {8}},
                                                                              {"n9", {9}},
                                                                              {"n15", {15}},
                                                                              {"n16", {16}},
                                                                              {"n17", {17}},
                                                                              {"n31", {31}},
                                                                              {"n33", {33}},
                                                                              {"images", {2, 3, 4, 5}},
                                                                              {"one_tile_and_more", {2049}}}) {
    add("chain_" + name, chain, {{shape}, {shape}, {shape}});
    add("two_results_" + name, two, {{shape}, {shape}});
  }
  const Shape images = {2, 3, 4, 5};
  add("channel", chain, {{images}, {{3, 1, 1}}, {{1, 3, 1, 1}}});
  add("pixels", chain, {{images}, {{2, 1, 4, 5}}, {{}}});
  add("row", chain, {{{7, 9}}, {{9}}, {{7, 1}}});
  add("outer", "add(i0, i1); square(t0); out t1, t0", {{{8, 1}}, {{1, 17}}});
  add("one_step", "relu6(i0); out t0", {{{19}, 1, 5}});
  add("shared_operand", "mul(i0, i0); add(t0, i0); mul(t1, t0); out t2", {{{21}}});
  add("predicates", "less(i0, i1); logical_not(t0); where(t1, i0, i1); out t2, t1", {{{5, 7}, -2, 2, {}, "distinct"}, {{5, 7}, -2, 2, {}, "distinct"}});
  add("casts", "cast(i0) {dtype=f64}; mul(t0, i1); cast(t1) {dtype=f32}; out t2, t1", {{{5, 9}}, {{9}, -2, 2, DType::kFloat64}});
  add("integers", "mul(i0, i1); add(t0, i1); cast(t1) {dtype=u8}; out t2, t1",
      {{{33}, 0, 9, DType::kInt32, "integers"}, {{33}, 0, 9, DType::kInt32, "integers"}});
  add("eight_inputs_sixteen_steps",
      "add(i0, i1); add(i2, i3); add(i4, i5); add(i6, i7); sub(t0, t1); sub(t2, t3); mul(t4, t5); sigmoid(t6); mul(t7, i0); sub(t8, i1); "
      "maximum(t9, t4); minimum(t10, t5); neg(t11); abs(t12); add(t13, t0); mul(t14, t7); out t15",
      {{{65}}, {{65}}, {{1}}, {{65}}, {{}}, {{65}}, {{65}}, {{65}}});
  add("twelve_inputs", "add(i0, i1); add(i2, i3); add(i4, i5); add(i6, i7); add(i8, i9); add(i10, i11); mul(t0, t1); mul(t2, t3); mul(t4, t5); out t8, t6, t7",
      std::vector<Arg>(12, Arg{{33}}));

  const auto group = [&](const std::string& name, const std::string& program, int64_t tensors, const std::string& layouts, std::vector<Arg> args, bool half) {
    s.push_back({.op = "group_cluster",
                 .name = name,
                 .attrs = {{"program", program}, {"tensors", tensors}, {"layouts", layouts}},
                 .args = std::move(args),
                 .gradient = false,
                 .half = half,
                 .torch = false,
                 .tolerance = 4});
  };
  const std::string average = "mul(i0, i1); mul(i2, i3); add(t1, t0); where(i4, i2, t2); out t3";
  std::vector<Arg> averages;
  for (const int64_t n : {1, 3, 16, 4097}) averages.insert(averages.end(), {{{n}}, {{}}, {{n}}, {{}}, {{}, 0, 2, DType::kBool}});
  group("averages", average, 4, "====", averages, true);
  group("casts", "cast(i0) {dtype=f16}; out t0", 4, "==lc", {{{7}}, {{64}}, {{5, 3, 2, 2}}, {{2, 4, 3, 3}}}, false);
  group("turns", "cast(i0) {dtype=f64}; out t0", 3, "lcl", {{{2, 1, 3, 3}}, {{2, 4, 1, 1}}, {{3, 33, 5, 7}}}, false);
  group("two_results", two, 2, "=l", {{{9}}, {{9}}, {{2, 3, 4, 5}}, {{}}}, true);
  group("empty", chain, 2, "==", {{{0, 3}}, {{}}, {{0, 3}}, {{5}}, {{5}}, {{5}}}, true);
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test::cluster_samples
