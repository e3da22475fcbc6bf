// Sample registry and the values of sample inputs.
#include "tests/ops/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sindri::test {

namespace {

std::vector<Sample>& registry() {
  static std::vector<Sample> samples;
  return samples;
}

uint64_t fnv1a(const std::string& s) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : s) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return h;
}

uint64_t arg_key(const std::string& sample, int arg) { return fnv1a(sample + "#" + std::to_string(arg)); }

std::vector<double> distinct_values(const std::string& sample, int arg, const Arg& a) {
  const auto n = static_cast<size_t>(a.shape.numel());
  std::vector<uint64_t> key(n);
  const uint64_t base = arg_key(sample, arg);
  for (size_t i = 0; i < n; ++i) key[i] = mix64(base + i);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return key[x] < key[y]; });
  std::vector<double> v(n);
  for (size_t k = 0; k < n; ++k) v[order[k]] = a.lo + (a.hi - a.lo) * static_cast<double>(k) / static_cast<double>(n);
  return v;
}

// a·aᵀ/n + I of a uniform matrix: condition number of a few units.
void make_spd(const Arg& a, std::vector<double>* v) {
  const auto n = static_cast<size_t>(a.shape.back());
  if (n == 0) return;
  for (size_t base = 0; base < v->size(); base += n * n) {
    std::vector<double> m(v->begin() + static_cast<std::ptrdiff_t>(base), v->begin() + static_cast<std::ptrdiff_t>(base + n * n));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double s = 0;
        for (size_t k = 0; k < n; ++k) s += m[i * n + k] * m[j * n + k];
        (*v)[base + i * n + j] = s / static_cast<double>(n) + (i == j ? 1.0 : 0.0);
      }
    }
  }
}

std::vector<double> arg_values(const std::string& sample, int arg, const Arg& a) {
  if (!a.values.empty()) return a.values;
  if (a.kind == "distinct") return distinct_values(sample, arg, a);
  std::vector<double> v(static_cast<size_t>(a.shape.numel()));
  const UnitValues u(sample, arg);
  const bool whole = a.kind == "integers" || (a.dtype && is_integral(*a.dtype)), away_from_0 = a.kind == "away0";
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = a.lo + (a.hi - a.lo) * u(i);
    if (whole) v[i] = std::floor(v[i]);
    if (away_from_0 && std::abs(v[i]) < 0.1) v[i] = v[i] < 0 ? v[i] - 0.1 : v[i] + 0.1;
  }
  if (a.kind == "spd") make_spd(a, &v);
  return v;
}

}  // namespace

bool add_samples(std::vector<Sample> samples) {
  for (Sample& s : samples) registry().push_back(std::move(s));
  return true;
}
const std::vector<Sample>& all_samples() { return registry(); }

UnitValues::UnitValues(const std::string& sample, int arg) : key_(arg_key(sample, arg)) {}

std::vector<Tensor> make_inputs(const Sample& s, DType dtype) {
  std::vector<Tensor> in;
  for (size_t i = 0; i < s.args.size(); ++i) {
    const Arg& a = s.args[i];
    in.push_back(Tensor::from_values(a.shape, arg_values(s.op + "/" + s.name, static_cast<int>(i), a), a.dtype.value_or(dtype)));
  }
  return in;
}

}  // namespace sindri::test
