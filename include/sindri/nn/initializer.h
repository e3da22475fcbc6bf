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

/// A rule for the initial values of a tensor (MindSpore: common.initializer.Initializer). Weights are laid out [out,
/// in, kernel...]: fan_in = in·kernel size, fan_out = out·kernel size.
class SINDRI_API Initializer {
 public:
  virtual ~Initializer() = default;
  /// Returns shape.numel() values in row-major order. Throws ValueError for a shape that the rule cannot fill.
  virtual std::vector<double> values(const Shape& shape, PhiloxSequence& rng) const = 0;
  /// Text for messages: "Normal(sigma=0.01, mean=0)".
  virtual std::string describe() const = 0;
};

/// Initial values, as layers accept them for weight_init and similar options: an alias, a number (constant), an
/// Initializer or a tensor of exactly the parameter's shape.
class SINDRI_API Init {
 public:
  /// Accepts these aliases (case-insensitive): normal, truncatednormal, uniform, zero(s), one(s), xavieruniform,
  /// xaviernormal, heuniform, henormal (the last four also with an underscore), identity, orthogonal, variancescaling
  /// and dirac. Throws ValueError, with the nearest alias, for any other name.
  Init(const char* alias) : Init(std::string(alias)) {}  // NOLINT(google-explicit-constructor)
  Init(const std::string& alias);  // NOLINT(google-explicit-constructor)
  Init(double constant);  // NOLINT(google-explicit-constructor)
  Init(int constant) : Init(static_cast<double>(constant)) {}  // NOLINT(google-explicit-constructor)
  Init(Tensor value) : tensor_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  template <class T> Init(std::shared_ptr<T> init) : init_(std::move(init)) { check(); }  // NOLINT(google-explicit-constructor)

  /// The tensor; undefined unless made from one.
  const Tensor& tensor() const { return tensor_; }
  /// The initializer; null if made from a tensor.
  const std::shared_ptr<const Initializer>& initializer() const { return init_; }
  /// Text of the initializer, or "Tensor" and the shape.
  std::string describe() const;

 private:
  void check() const;
  std::shared_ptr<const Initializer> init_;
  Tensor tensor_;
};

/// Returns a tensor with these initial values. Draws are keyed by (seed, number of initializers run since set_seed), so
/// a network built after the same set_seed has the same weights for any number of threads. Throws ValueError for a
/// dimension < 1 or a shape that the rule cannot fill, ShapeError if `init` is a tensor of another shape.
SINDRI_API Tensor initializer(const Init& init, const Shape& shape, DType dtype = DType::kFloat32);

/// Returns {fan_in, fan_out} of a weight. Throws ValueError for a rank below 2.
SINDRI_API std::pair<int64_t, int64_t> fan_in_and_out(const Shape& shape);
/// Gain of a nonlinearity: 1 for linear, conv*d and sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2/(1 + slope²)) for
/// leaky_relu. Throws ValueError for another name.
SINDRI_API double calculate_gain(const std::string& nonlinearity, double negative_slope = 0);

/// All zeros. This and the following functions return a shared Initializer and throw ValueError for parameters out of
/// range.
SINDRI_API std::shared_ptr<Initializer> Zero();
/// All ones.
SINDRI_API std::shared_ptr<Initializer> One();
/// All equal to `value`.
SINDRI_API std::shared_ptr<Initializer> Constant(double value);
/// N(mean, sigma²). N(0, 0.01²) is the default of Conv2d, Dense and Embedding.
SINDRI_API std::shared_ptr<Initializer> Normal(double sigma = 0.01, double mean = 0);
/// N(mean, sigma²) truncated to mean + sigma·[a, b] by repeated draws; the variance is not rescaled.
SINDRI_API std::shared_ptr<Initializer> TruncatedNormal(double sigma = 0.01, double mean = 0, double a = -2, double b = 2);
/// U(-scale, scale).
SINDRI_API std::shared_ptr<Initializer> Uniform(double scale = 0.07);
/// U(-b, b), b = gain·sqrt(6/(fan_in + fan_out)) (Glorot & Bengio 2010).
SINDRI_API std::shared_ptr<Initializer> XavierUniform(double gain = 1);
/// N(0, gain²·2/(fan_in + fan_out)) (Glorot & Bengio 2010).
SINDRI_API std::shared_ptr<Initializer> XavierNormal(double gain = 1);
/// U(-b, b), b = gain·sqrt(3/fan) (He et al. 2015); mode is fan_in or fan_out, gain calculate_gain of the nonlinearity.
/// PyTorch's default for Conv2d and Linear is HeUniform(sqrt(5)).
SINDRI_API std::shared_ptr<Initializer> HeUniform(double negative_slope = 0, const std::string& mode = "fan_in",
                                                  const std::string& nonlinearity = "leaky_relu");
/// N(0, gain²/fan) (He et al. 2015), with the arguments of HeUniform.
SINDRI_API std::shared_ptr<Initializer> HeNormal(double negative_slope = 0, const std::string& mode = "fan_in", const std::string& nonlinearity = "leaky_relu");
/// Variance scale/fan. mode is fan_in, fan_out or fan_avg; distribution is truncated_normal (rescaled to that
/// variance), untruncated_normal or uniform.
SINDRI_API std::shared_ptr<Initializer> VarianceScaling(double scale = 1, const std::string& mode = "fan_in",
                                                        const std::string& distribution = "truncated_normal");
/// Ones on the diagonal of a matrix.
SINDRI_API std::shared_ptr<Initializer> Identity();
/// Orthonormal rows (or columns, if there are fewer) of the matrix [dim 0, the rest], times gain (Saxe et al. 2013).
SINDRI_API std::shared_ptr<Initializer> Orthogonal(double gain = 1);
/// A convolution weight (rank 3 to 5) that makes the convolution pass its input channels through, in each of `groups`
/// groups.
SINDRI_API std::shared_ptr<Initializer> Dirac(int64_t groups = 1);
/// A matrix of N(0, sigma²) with ceil(sparsity·rows) zeros in every column (Martens 2010).
SINDRI_API std::shared_ptr<Initializer> Sparse(double sparsity, double sigma = 0.01);

}  // namespace sindri::nn
