// See formula.h.
#include "tests/models/formula.h"

#include <cmath>

#include "sindri/core/rng.h"

namespace sindri::test {

std::vector<double> unit_stream(const std::string& key, int64_t n) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : key) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  std::vector<double> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = u64_to_unit_double(mix64(h + i));
  return v;
}

void fill_parameters(nn::Cell& net, const std::string& net_name) {
  for (Parameter* p : net.trainable_params()) {
    std::vector<double> v = unit_stream(net_name + "/" + p->name(), p->shape().numel());
    const double fan_in = static_cast<double>(p->shape().numel()) / static_cast<double>(p->shape()[0]);
    const auto ends = [&](const char* s) { return p->name().ends_with(s); };
    for (double& x : v) {
      if (ends("gamma")) x = 0.8 + 0.4 * x;
      else if (ends("beta") || ends("bias")) x = 0.2 * x - 0.1;
      else x = (2 * x - 1) * std::sqrt((p->shape().rank() == 4 ? 6.0 : 3.0) / fan_in);
    }
    p->assign(Tensor::from_values(p->shape(), v, p->dtype()));
  }
}

std::vector<Tensor> formula_batch(const std::string& net_name, int64_t step, int64_t n, int64_t side, int64_t classes, DType dtype) {
  const std::string turn = std::to_string(step % 4);
  std::vector<double> x = unit_stream(net_name + "/x" + turn, n * 3 * side * side), y = unit_stream(net_name + "/y" + turn, n);
  for (double& v : x) v = 4 * v - 2;
  for (double& v : y) v = std::floor(static_cast<double>(classes) * v);
  return {Tensor::from_values({n, 3, side, side}, x, dtype), Tensor::from_values({n}, y, DType::kInt32)};
}

void convert_parameters(nn::Cell& net, DType dtype) {
  for (Parameter* p : net.get_parameters()) {
    if (is_floating(p->dtype())) p->store(Tensor::from_values(p->shape(), p->stored().to_vector<double>(), dtype));
  }
}

}  // namespace sindri::test
