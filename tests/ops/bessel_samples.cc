// Samples of the Bessel functions: on both sides of the points where their series change (2 and 8), and of 0 for the functions that are finite there.
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

bool bessel(const std::string& op, double lo, double hi) {
  std::vector<Sample> out;
  const std::vector<std::pair<std::string, Shape>> shapes = {{"vector", {23}}, {"image", {2, 3, 4, 5}}, {"scalar", {}}, {"empty", {2, 0}}};
  for (const auto& [name, shape] : shapes) out.push_back({"bessel_" + op, name, {}, {{.shape = shape, .lo = lo, .hi = hi, .kind = "uniform"}}});
  return add_samples(out);
}

const bool kBessel[] = {
    bessel("j0", -12, 12), bessel("j1", -12, 12),  bessel("y0", 0.3, 12), bessel("y1", 0.3, 12),  bessel("i0", -3, 3),  bessel("i0e", 0.2, 12),
    bessel("i1", -3, 3),   bessel("i1e", 0.2, 12), bessel("k0", 0.3, 6),  bessel("k0e", 0.3, 12), bessel("k1", 0.4, 6), bessel("k1e", 0.4, 12),
};

}  // namespace
}  // namespace sindri::test
