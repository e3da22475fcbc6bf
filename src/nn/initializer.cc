// Initial values: each rule fills doubles from a Philox sequence; conversion to the tensor's dtype comes last.
#include "sindri/nn/initializer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <mutex>
#include <numbers>
#include <numeric>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/core/runtime.h"
#include "src/core/fork.h"

namespace sindri::nn {

namespace {

using Values = std::vector<double>;

// A rule given by a function: the public functions below differ only in that function and in their text.
class FunctionInitializer final : public Initializer {
 public:
  using Fill = std::function<void(const Shape&, PhiloxSequence&, Values*)>;
  FunctionInitializer(std::string text, Fill fill) : text_(std::move(text)), fill_(std::move(fill)) {}
  Values values(const Shape& shape, PhiloxSequence& rng) const override {
    Values v(static_cast<size_t>(shape.numel()));
    fill_(shape, rng, &v);
    return v;
  }
  std::string describe() const override { return text_; }

 private:
  std::string text_;
  Fill fill_;
};

std::shared_ptr<Initializer> make(std::string text, FunctionInitializer::Fill fill) {
  return std::make_shared<FunctionInitializer>(std::move(text), std::move(fill));
}

// Box-Muller gives normals in pairs; the second one is kept for the next call.
class NormalSource {
 public:
  explicit NormalSource(PhiloxSequence& rng) : rng_(rng) {}
  double next() {
    if (have_) {
      have_ = false;
      return spare_;
    }
    const double u = 1.0 - u64_to_unit_double(rng_.next_u64());  // in (0, 1]: the logarithm is finite
    const double angle = 2 * std::numbers::pi * u64_to_unit_double(rng_.next_u64());
    const double r = std::sqrt(-2 * std::log(u));
    spare_ = r * std::sin(angle);
    have_ = true;
    return r * std::cos(angle);
  }

 private:
  PhiloxSequence& rng_;
  double spare_ = 0;
  bool have_ = false;
};

void fill_normal(PhiloxSequence& rng, double mean, double sigma, Values* v) {
  NormalSource normal(rng);
  for (double& x : *v) x = mean + sigma * normal.next();
}

void fill_truncated(PhiloxSequence& rng, double mean, double sigma, double a, double b, Values* v) {
  NormalSource normal(rng);
  for (double& x : *v) {
    double z = normal.next();
    while (z < a || z > b) z = normal.next();
    x = mean + sigma * z;
  }
}

void fill_uniform(PhiloxSequence& rng, double bound, Values* v) {
  for (double& x : *v) x = bound * (2 * u64_to_unit_double(rng.next_u64()) - 1);
}

void check_non_negative(const char* who, const char* what, double v) {
  if (!(v >= 0) || !std::isfinite(v)) throw ValueError(fmt::format("{}: {} must be finite and not negative, got {}", who, what, v));
}

int64_t fan_of(const Shape& shape, const std::string& mode) {
  const auto [fan_in, fan_out] = fan_in_and_out(shape);
  return mode == "fan_in" ? fan_in : fan_out;
}

void check_mode(const char* who, const std::string& mode) {
  if (mode != "fan_in" && mode != "fan_out") throw ValueError(fmt::format("{}: mode '{}' is not known", who, mode), "", "use fan_in or fan_out");
}

// Makes rows orthonormal by Gram-Schmidt. Each row is orthogonalised twice against the rows before it: twice is enough for full precision.
void orthonormalize_rows(int64_t rows, int64_t cols, Values* m) {
  const auto row = [&](int64_t r) { return m->data() + r * cols; };
  for (int64_t i = 0; i < rows; ++i) {
    double* x = row(i);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < i; ++j) {
        const double* y = row(j);
        const double dot = std::inner_product(x, x + cols, y, 0.0);
        for (int64_t k = 0; k < cols; ++k) x[k] -= dot * y[k];
      }
    }
    const double norm = std::sqrt(std::inner_product(x, x + cols, x, 0.0));
    for (int64_t k = 0; k < cols; ++k) x[k] /= norm;
  }
}

void fill_orthogonal(const Shape& shape, PhiloxSequence& rng, double gain, Values* v) {
  if (shape.rank() < 2) throw ValueError(fmt::format("Orthogonal: shape {} has fewer than 2 dimensions", shape.str()));
  const int64_t rows = shape[0], cols = shape.numel() / shape[0];
  fill_normal(rng, 0, 1, v);
  if (rows <= cols) {
    orthonormalize_rows(rows, cols, v);
  } else {  // more rows than columns: the columns are orthonormalised on the transpose
    Values t(v->size());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c) t[static_cast<size_t>(c * rows + r)] = (*v)[static_cast<size_t>(r * cols + c)];
    orthonormalize_rows(cols, rows, &t);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c) (*v)[static_cast<size_t>(r * cols + c)] = t[static_cast<size_t>(c * rows + r)];
  }
  for (double& x : *v) x *= gain;
}

void fill_dirac(const Shape& shape, int64_t groups, Values* v) {
  if (shape.rank() < 3 || shape.rank() > 5) throw ValueError(fmt::format("Dirac: a convolution weight of rank 3 to 5 is expected, got shape {}", shape.str()));
  if (shape[0] % groups != 0) throw ValueError(fmt::format("Dirac: {} output channels do not divide by groups={}", shape[0], groups));
  const int64_t per_group = shape[0] / groups, kernel = shape.numel() / (shape[0] * shape[1]);
  int64_t centre = 0;
  for (int d = 2; d < shape.rank(); ++d) centre = centre * shape[d] + shape[d] / 2;
  std::fill(v->begin(), v->end(), 0.0);
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t c = 0; c < std::min(per_group, shape[1]); ++c) (*v)[static_cast<size_t>(((g * per_group + c) * shape[1] + c) * kernel + centre)] = 1;
  }
}

void fill_sparse(const Shape& shape, PhiloxSequence& rng, double sparsity, double sigma, Values* v) {
  if (shape.rank() != 2) throw ValueError(fmt::format("Sparse: a matrix is expected, got shape {}", shape.str()));
  fill_normal(rng, 0, sigma, v);
  const int64_t rows = shape[0], cols = shape[1], zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (int64_t c = 0; c < cols; ++c) {
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < zeros; ++i) {  // the first `zeros` positions of a Fisher-Yates shuffle
      const int64_t j = i + static_cast<int64_t>(rng.next_below(static_cast<uint64_t>(rows - i)));
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
      (*v)[static_cast<size_t>(order[static_cast<size_t>(i)] * cols + c)] = 0;
    }
  }
}

struct Alias {
  const char* name;
  std::shared_ptr<Initializer> (*make)();
};

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> table = {
      {"zero", Zero},
      {"zeros", Zero},
      {"one", One},
      {"ones", One},
      {"normal", [] { return Normal(); }},
      {"truncatednormal", [] { return TruncatedNormal(); }},
      {"uniform", [] { return Uniform(); }},
      {"xavieruniform", [] { return XavierUniform(); }},
      {"xavier_uniform", [] { return XavierUniform(); }},
      {"xaviernormal", [] { return XavierNormal(); }},
      {"xavier_normal", [] { return XavierNormal(); }},
      {"heuniform", [] { return HeUniform(); }},
      {"he_uniform", [] { return HeUniform(); }},
      {"henormal", [] { return HeNormal(); }},
      {"he_normal", [] { return HeNormal(); }},
      {"identity", Identity},
      {"orthogonal", [] { return Orthogonal(); }},
      {"variancescaling", [] { return VarianceScaling(); }},
      {"dirac", [] { return Dirac(); }},
  };
  return table;
}

// Counts draws since set_seed: two networks built in sequence differ, the same network built after the same set_seed does not.
class Draws {
 public:
  uint64_t next() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(generation_, seed_generation()) != seed_generation()) count_ = 0;
    return count_++;
  }

 private:
  std::mutex mutex_;
  const AtFork at_fork_{mutex_, AtFork::kSettings};
  int64_t generation_ = 0;
  uint64_t count_ = 0;
};
constinit RuntimeSlot<Draws> draws;

constexpr uint64_t kInitializerStream = 0x696e6974;  // separates these draws from other users of the seed

}  // namespace

Init::Init(const std::string& alias) {
  std::string lower = alias;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> known;
  for (const Alias& a : aliases()) {
    if (lower == a.name) init_ = a.make();
    known.emplace_back(a.name);
  }
  if (init_ == nullptr) throw ValueError(fmt::format("initializer '{}' is not known", alias), "", did_you_mean(lower, known));
}

Init::Init(double constant) : init_(Constant(constant)) {}

void Init::check() const {
  if (init_ == nullptr) throw ValueError("initializer: a null Initializer was given");
}

std::string Init::describe() const { return init_ != nullptr ? init_->describe() : tensor_.defined() ? "Tensor" + tensor_.shape().str() : "undefined"; }

Tensor initializer(const Init& init, const Shape& shape, DType dtype) {
  for (int64_t d : shape)
    if (d < 1) throw ValueError(fmt::format("initializer: shape {} has a dimension below 1", shape.str()));
  if (init.initializer() == nullptr) {
    const Tensor& t = init.tensor();
    if (!t.defined()) throw ValueError("initializer: the given tensor is undefined");
    if (t.shape() != shape)
      throw ShapeError(fmt::format("initializer: a tensor of shape {} is given for a parameter of shape {}", t.shape().str(), shape.str()));
    return t.dtype() == dtype ? t.clone() : Tensor::from_values(shape, t.to_vector<double>(), dtype);
  }
  PhiloxSequence rng(hash_combine(hash_combine(kInitializerStream, static_cast<uint64_t>(get_seed())), draws.get().next()), 0, 0, 0);
  return Tensor::from_values(shape, init.initializer()->values(shape, rng), dtype);
}

std::pair<int64_t, int64_t> fan_in_and_out(const Shape& shape) {
  if (shape.rank() < 2) throw ValueError(fmt::format("initializer: fan_in and fan_out need at least 2 dimensions, got shape {}", shape.str()));
  const int64_t kernel = shape.numel() / (shape[0] * shape[1]);
  return {shape[1] * kernel, shape[0] * kernel};
}

double calculate_gain(const std::string& nonlinearity, double negative_slope) {
  static const std::vector<std::string> kLinear = {"linear",           "conv1d",           "conv2d",           "conv3d",
                                                   "conv1d_transpose", "conv2d_transpose", "conv3d_transpose", "sigmoid"};
  if (std::find(kLinear.begin(), kLinear.end(), nonlinearity) != kLinear.end()) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::numbers::sqrt2;
  if (nonlinearity == "leaky_relu") return std::sqrt(2 / (1 + negative_slope * negative_slope));
  throw ValueError(fmt::format("initializer: nonlinearity '{}' is not known", nonlinearity), "",
                   did_you_mean(nonlinearity, {"linear", "sigmoid", "tanh", "relu", "leaky_relu"}));
}

std::shared_ptr<Initializer> Constant(double value) {
  return make(fmt::format("Constant({})", value), [=](const Shape&, PhiloxSequence&, Values* v) { std::fill(v->begin(), v->end(), value); });
}
std::shared_ptr<Initializer> Zero() { return Constant(0); }
std::shared_ptr<Initializer> One() { return Constant(1); }

std::shared_ptr<Initializer> Normal(double sigma, double mean) {
  check_non_negative("Normal", "sigma", sigma);
  return make(fmt::format("Normal(sigma={}, mean={})", sigma, mean), [=](const Shape&, PhiloxSequence& rng, Values* v) { fill_normal(rng, mean, sigma, v); });
}

std::shared_ptr<Initializer> TruncatedNormal(double sigma, double mean, double a, double b) {
  check_non_negative("TruncatedNormal", "sigma", sigma);
  // Redrawing must end: the kept part of the normal distribution must not be vanishingly small.
  if (!(a < b) || a > 4 || b < -4 || b - a < 1e-3)
    throw ValueError(fmt::format("TruncatedNormal: the range [{}, {}] (in sigmas) is empty or too far out", a, b));
  return make(fmt::format("TruncatedNormal(sigma={}, mean={}, a={}, b={})", sigma, mean, a, b),
              [=](const Shape&, PhiloxSequence& rng, Values* v) { fill_truncated(rng, mean, sigma, a, b, v); });
}

std::shared_ptr<Initializer> Uniform(double scale) {
  check_non_negative("Uniform", "scale", scale);
  return make(fmt::format("Uniform(scale={})", scale), [=](const Shape&, PhiloxSequence& rng, Values* v) { fill_uniform(rng, scale, v); });
}

std::shared_ptr<Initializer> XavierUniform(double gain) {
  check_non_negative("XavierUniform", "gain", gain);
  return make(fmt::format("XavierUniform(gain={})", gain), [=](const Shape& shape, PhiloxSequence& rng, Values* v) {
    const auto [fan_in, fan_out] = fan_in_and_out(shape);
    fill_uniform(rng, gain * std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)), v);
  });
}

std::shared_ptr<Initializer> XavierNormal(double gain) {
  check_non_negative("XavierNormal", "gain", gain);
  return make(fmt::format("XavierNormal(gain={})", gain), [=](const Shape& shape, PhiloxSequence& rng, Values* v) {
    const auto [fan_in, fan_out] = fan_in_and_out(shape);
    fill_normal(rng, 0, gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out)), v);
  });
}

std::shared_ptr<Initializer> HeUniform(double negative_slope, const std::string& mode, const std::string& nonlinearity) {
  check_mode("HeUniform", mode);
  const double gain = calculate_gain(nonlinearity, negative_slope);
  return make(
      fmt::format("HeUniform(negative_slope={}, mode='{}', nonlinearity='{}')", negative_slope, mode, nonlinearity),
      [=](const Shape& shape, PhiloxSequence& rng, Values* v) { fill_uniform(rng, gain * std::sqrt(3.0 / static_cast<double>(fan_of(shape, mode))), v); });
}

std::shared_ptr<Initializer> HeNormal(double negative_slope, const std::string& mode, const std::string& nonlinearity) {
  check_mode("HeNormal", mode);
  const double gain = calculate_gain(nonlinearity, negative_slope);
  return make(fmt::format("HeNormal(negative_slope={}, mode='{}', nonlinearity='{}')", negative_slope, mode, nonlinearity),
              [=](const Shape& shape, PhiloxSequence& rng, Values* v) { fill_normal(rng, 0, gain / std::sqrt(static_cast<double>(fan_of(shape, mode))), v); });
}

std::shared_ptr<Initializer> VarianceScaling(double scale, const std::string& mode, const std::string& distribution) {
  if (!(scale > 0)) throw ValueError(fmt::format("VarianceScaling: scale must be positive, got {}", scale));
  if (mode != "fan_avg") check_mode("VarianceScaling", mode);
  if (distribution != "truncated_normal" && distribution != "untruncated_normal" && distribution != "uniform")
    throw ValueError(fmt::format("VarianceScaling: distribution '{}' is not known", distribution), "", "use truncated_normal, untruncated_normal or uniform");
  return make(fmt::format("VarianceScaling(scale={}, mode='{}', distribution='{}')", scale, mode, distribution),
              [=](const Shape& shape, PhiloxSequence& rng, Values* v) {
                const auto [fan_in, fan_out] = fan_in_and_out(shape);
                const double fan = mode == "fan_avg" ? 0.5 * static_cast<double>(fan_in + fan_out) : static_cast<double>(mode == "fan_in" ? fan_in : fan_out);
                const double variance = scale / std::max(1.0, fan);
                constexpr double kTruncatedStd = 0.87962566103423978;  // standard deviation of N(0, 1) cut to [-2, 2]
                if (distribution == "truncated_normal") fill_truncated(rng, 0, std::sqrt(variance) / kTruncatedStd, -2, 2, v);
                else if (distribution == "untruncated_normal") fill_normal(rng, 0, std::sqrt(variance), v);
                else fill_uniform(rng, std::sqrt(3 * variance), v);
              });
}

std::shared_ptr<Initializer> Identity() {
  return make("Identity()", [](const Shape& shape, PhiloxSequence&, Values* v) {
    if (shape.rank() != 2) throw ValueError(fmt::format("Identity: a matrix is expected, got shape {}", shape.str()));
    std::fill(v->begin(), v->end(), 0.0);
    for (int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) (*v)[static_cast<size_t>(i * shape[1] + i)] = 1;
  });
}

std::shared_ptr<Initializer> Orthogonal(double gain) {
  return make(fmt::format("Orthogonal(gain={})", gain), [=](const Shape& shape, PhiloxSequence& rng, Values* v) { fill_orthogonal(shape, rng, gain, v); });
}

std::shared_ptr<Initializer> Dirac(int64_t groups) {
  if (groups < 1) throw ValueError(fmt::format("Dirac: groups must be at least 1, got {}", groups));
  return make(fmt::format("Dirac(groups={})", groups), [=](const Shape& shape, PhiloxSequence&, Values* v) { fill_dirac(shape, groups, v); });
}

std::shared_ptr<Initializer> Sparse(double sparsity, double sigma) {
  if (!(sparsity >= 0 && sparsity <= 1)) throw ValueError(fmt::format("Sparse: sparsity must be from 0 to 1, got {}", sparsity));
  check_non_negative("Sparse", "sigma", sigma);
  return make(fmt::format("Sparse(sparsity={}, sigma={})", sparsity, sigma),
              [=](const Shape& shape, PhiloxSequence& rng, Values* v) { fill_sparse(shape, rng, sparsity, sigma, v); });
}

}  // namespace sindri::nn
