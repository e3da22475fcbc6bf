// Initial values of parameters (MindSpore: mindspore.common.initializer).
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/rng.h"
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::nn {

/// How to fill a tensor. Weights are laid out [out, in, kernel...]: fan_in = in·kernel size, fan_out = out·kernel size.
class SINDRI_API Initializer {
 public:
  virtual ~Initializer() = default;
  /// shape.numel() values in row-major order. Throws ValueError when the shape does not suit.
  virtual std::vector<double> values(const Shape& shape, PhiloxSequence& rng) const = 0;
  /// "Normal(sigma=0.01, mean=0)".
  virtual std::string describe() const = 0;
};

/// What layers take as weight_init and the like: an alias, a number (constant), an Initializer or a tensor of the very shape.
class SINDRI_API Init {
 public:
  /// Aliases, in any case: normal, truncatednormal, uniform, zero(s), one(s), xavieruniform, xaviernormal, heuniform, henormal
  /// (the last four also with an underscore), identity, orthogonal, variancescaling, dirac. Throws ValueError with the nearest alias.
  Init(const char* alias) : Init(std::string(alias)) {}  // NOLINT(google-explicit-constructor)
  Init(const std::string& alias);  // NOLINT(google-explicit-constructor)
  Init(double constant);  // NOLINT(google-explicit-constructor)
  Init(int constant) : Init(static_cast<double>(constant)) {}  // NOLINT(google-explicit-constructor)
  Init(Tensor value) : tensor_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  template <class T> Init(std::shared_ptr<T> init) : init_(std::move(init)) { check(); }  // NOLINT(google-explicit-constructor)

  const Tensor& tensor() const { return tensor_; }
  const std::shared_ptr<const Initializer>& initializer() const { return init_; }
  std::string describe() const;

 private:
  void check() const;
  std::shared_ptr<const Initializer> init_;
  Tensor tensor_;
};

/// A tensor with these initial values. Draws are keyed by (seed, how many initializers ran since set_seed), so a network built
/// after the same set_seed has the same weights whatever the threads. Throws ValueError for a dimension < 1 or an unsuited shape,
/// ShapeError when `init` is a tensor of another shape.
SINDRI_API Tensor initializer(const Init& init, const Shape& shape, DType dtype = DType::kFloat32);

/// fan_in and fan_out of a weight. Throws ValueError for a rank below 2.
SINDRI_API std::pair<int64_t, int64_t> fan_in_and_out(const Shape& shape);
/// Gain of a nonlinearity: 1 for linear, conv*d and sigmoid, 5/3 tanh, sqrt(2) relu, sqrt(2/(1 + slope²)) leaky_relu.
SINDRI_API double calculate_gain(const std::string& nonlinearity, double negative_slope = 0);

/// Every one makes a shared Initializer; parameters out of range throw ValueError.
SINDRI_API std::shared_ptr<Initializer> Zero();
SINDRI_API std::shared_ptr<Initializer> One();
SINDRI_API std::shared_ptr<Initializer> Constant(double value);
/// N(mean, sigma²). The default of Conv2d, Dense and Embedding, with sigma 0.01.
SINDRI_API std::shared_ptr<Initializer> Normal(double sigma = 0.01, double mean = 0);
/// N(mean, sigma²) cut to mean + sigma·[a, b] by drawing again; the variance is not scaled back.
SINDRI_API std::shared_ptr<Initializer> TruncatedNormal(double sigma = 0.01, double mean = 0, double a = -2, double b = 2);
/// U(-scale, scale).
SINDRI_API std::shared_ptr<Initializer> Uniform(double scale = 0.07);
/// U(-b, b), b = gain·sqrt(6/(fan_in + fan_out)) (Glorot & Bengio 2010).
SINDRI_API std::shared_ptr<Initializer> XavierUniform(double gain = 1);
/// N(0, gain²·2/(fan_in + fan_out)).
SINDRI_API std::shared_ptr<Initializer> XavierNormal(double gain = 1);
/// U(-b, b), b = gain·sqrt(3/fan) (He et al. 2015). PyTorch's default for Conv2d and Linear is HeUniform(sqrt(5)).
SINDRI_API std::shared_ptr<Initializer> HeUniform(double negative_slope = 0, const std::string& mode = "fan_in",
                                                  const std::string& nonlinearity = "leaky_relu");
/// N(0, gain²/fan).
SINDRI_API std::shared_ptr<Initializer> HeNormal(double negative_slope = 0, const std::string& mode = "fan_in", const std::string& nonlinearity = "leaky_relu");
/// Variance scale/fan; mode fan_in, fan_out or fan_avg; distribution truncated_normal (rescaled to that variance),
/// untruncated_normal or uniform.
SINDRI_API std::shared_ptr<Initializer> VarianceScaling(double scale = 1, const std::string& mode = "fan_in",
                                                        const std::string& distribution = "truncated_normal");
/// Ones on the diagonal of a matrix.
SINDRI_API std::shared_ptr<Initializer> Identity();
/// Orthonormal rows (or columns, whichever are fewer) of the matrix [dim 0, the rest], times gain (Saxe et al. 2013).
SINDRI_API std::shared_ptr<Initializer> Orthogonal(double gain = 1);
/// A convolution weight (rank 3 to 5) that passes its input through, in each of `groups`.
SINDRI_API std::shared_ptr<Initializer> Dirac(int64_t groups = 1);
/// A matrix of N(0, sigma²) with ceil(sparsity·rows) zeros in every column (Martens 2010).
SINDRI_API std::shared_ptr<Initializer> Sparse(double sparsity, double sigma = 0.01);

}  // namespace sindri::nn
