// Samples of the collective ops, in a world of one rank: tests/dist tests them between several.
#include "tests/ops/samples.h"

namespace sindri::comm_samples {
using namespace sindri::test;
namespace {

std::vector<Sample> all() {
  std::vector<Sample> s;
  const auto add = [&](Sample sample) {
    sample.torch = false;
    s.push_back(std::move(sample));
  };
  for (const char* op : {"sum", "mean", "max", "min"}) {
    add({.op = "all_reduce", .name = std::string("one_") + op, .attrs = {{"op", std::string(op)}}, .args = {{{3, 5}}}});
    add({.op = "all_reduce", .name = std::string("bucket_") + op, .attrs = {{"op", std::string(op)}}, .args = {{{3, 5}}, {{}}, {{0, 2}}, {{2, 3, 4, 5}}}});
  }
  add({.op = "all_reduce", .name = "prod", .attrs = {{"op", std::string("prod")}}, .args = {{{3, 5}}}, .gradient = false});
  add({.op = "all_reduce", .name = "scaled", .attrs = {{"scale", 0.25}}, .args = {{{3, 5}}, {{7}}}});
  add({.op = "all_reduce", .name = "integers", .args = {{{9}, -20, 20, DType::kInt64, "integers"}}});
  add({.op = "all_reduce",
       .name = "wire",
       .attrs = {{"wire", std::string("bfloat16")}},
       .args = {{{33}, -2, 2, DType::kFloat32}, {{2}, -2, 2, DType::kFloat32}}});
  add({.op = "all_gather", .name = "rows", .args = {{{4, 3}}}});
  add({.op = "all_gather", .name = "image", .args = {{{2, 3, 4, 5}}}});
  add({.op = "all_gather", .name = "size0", .args = {{{0, 3}}}});
  for (const char* op : {"sum", "mean"})
    add({.op = "reduce_scatter", .name = std::string("rows_") + op, .attrs = {{"op", std::string(op)}}, .args = {{{4, 3}}}});
  add({.op = "reduce_scatter", .name = "max", .attrs = {{"op", std::string("max")}}, .args = {{{4, 3}}}, .gradient = false});
  add({.op = "broadcast", .name = "one", .args = {{{4, 3}}}});
  add({.op = "broadcast", .name = "several", .args = {{{4, 3}}, {{}}, {{2, 3, 4, 5}}}});
  add({.op = "all_to_all", .name = "rows", .args = {{{4, 3}}}});
  add({.op = "all_to_all", .name = "image", .args = {{{2, 3, 4, 5}}}});
  add({.op = "adaptive_sum", .name = "several", .args = {{{4, 3}}, {{7}}, {{0, 2}}, {{1}}}, .gradient = false, .half = false});
  add({.op = "neighbor_exchange",
       .name = "itself",
       .attrs = {{"to", std::vector<int64_t>{0}}, {"from", std::vector<int64_t>{0}}, {"shapes", std::vector<int64_t>{2, 4, 3}}},
       .args = {{{4, 3}, -2, 2, DType::kFloat32}}});
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::comm_samples
