// Samples of all_finite: sizes around the vector width, several inputs, and single elements that are not finite.
#include <cmath>

#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

std::vector<Sample> all() {
  std::vector<Sample> s;
  const auto add = [&](const std::string& name, std::vector<Arg> args) {
    s.push_back({.op = "all_finite", .name = name, .args = std::move(args), .gradient = false});
  };
  add("plain", {{{3, 4}}});
  add("scalar", {{{}}});
  add("size0", {{{0, 3}}});
  add("image", {{{2, 3, 4, 5}}});
  add("several", {{{7}}, {{3, 5}}, {{}}, {{2, 3, 4, 5}}});
  add("of_several_types", {{{7}}, {{9}, -2, 2, DType::kBFloat16}, {{5}, -2, 2, DType::kFloat16}, {{3}, -2, 2, DType::kFloat64}});
  for (const int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 33}) {
    for (const auto& [what, bad] : std::vector<std::pair<std::string, double>>{{"nan", NAN}, {"inf", HUGE_VAL}, {"minus_inf", -HUGE_VAL}}) {
      std::vector<double> values(static_cast<size_t>(n), 1);
      values.back() = bad;
      add(what + "_behind_" + std::to_string(n - 1), {{{2}}, {.shape = {n}, .values = values}});
    }
  }
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test
