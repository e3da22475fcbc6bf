// Activations, softmax and dropout as Cells. Outputs have the input's shape.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "sindri/nn/cell.h"

namespace sindri::nn {

#define SINDRI_ACTIVATION(Name) \
  class SINDRI_API Name final : public Cell { \
   public: \
    Name() : Cell(#Name) {} \
    static std::shared_ptr<Name> make() { return std::make_shared<Name>(); } \
    Tensor construct(const Tensor& x) override; \
  }
SINDRI_ACTIVATION(ReLU);  ///< max(x, 0)
SINDRI_ACTIVATION(ReLU6);  ///< min(max(x, 0), 6)
SINDRI_ACTIVATION(Sigmoid);  ///< 1/(1 + exp(-x))
SINDRI_ACTIVATION(Tanh);  ///< hyperbolic tangent
SINDRI_ACTIVATION(SiLU);  ///< x·sigmoid(x)
SINDRI_ACTIVATION(HSwish);  ///< x·relu6(x + 3)/6
SINDRI_ACTIVATION(HSigmoid);  ///< relu6(x + 3)/6
#undef SINDRI_ACTIVATION

/// x if x > 0, else alpha·x (MindSpore: nn.LeakyReLU).
class SINDRI_API LeakyReLU final : public Cell {
 public:
  /// `alpha` is the slope below 0.
  explicit LeakyReLU(double alpha = 0.2) : Cell("LeakyReLU"), alpha_(alpha) {}
  static std::shared_ptr<LeakyReLU> make(double alpha = 0.2) { return std::make_shared<LeakyReLU>(alpha); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double alpha_;
};

/// x if x > 0, else alpha·(exp(x) - 1) (MindSpore: nn.ELU).
class SINDRI_API ELU final : public Cell {
 public:
  /// `alpha` is the negative of the limit for x -> -inf.
  explicit ELU(double alpha = 1.0) : Cell("ELU"), alpha_(alpha) {}
  static std::shared_ptr<ELU> make(double alpha = 1.0) { return std::make_shared<ELU>(alpha); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double alpha_;
};

/// Gaussian error linear unit (ops::gelu), by default in the tanh approximation (PyTorch's default is the erf form).
class SINDRI_API GELU final : public Cell {
 public:
  explicit GELU(bool approximate = true) : Cell("GELU"), approximate_(approximate) {}
  static std::shared_ptr<GELU> make(bool approximate = true) { return std::make_shared<GELU>(approximate); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  bool approximate_;
};

/// Softmax over `axis` (MindSpore: nn.Softmax).
class SINDRI_API Softmax final : public Cell {
 public:
  explicit Softmax(int64_t axis = -1) : Cell("Softmax"), axis_(axis) {}
  static std::shared_ptr<Softmax> make(int64_t axis = -1) { return std::make_shared<Softmax>(axis); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  int64_t axis_;
};

/// Logarithm of the softmax over `axis` (MindSpore: nn.LogSoftmax).
class SINDRI_API LogSoftmax final : public Cell {
 public:
  explicit LogSoftmax(int64_t axis = -1) : Cell("LogSoftmax"), axis_(axis) {}
  static std::shared_ptr<LogSoftmax> make(int64_t axis = -1) { return std::make_shared<LogSoftmax>(axis); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  int64_t axis_;
};

/// Returns a new Cell of this name (case-insensitive): relu relu6 leakyrelu elu sigmoid tanh gelu silu hswish hsigmoid
/// softmax logsoftmax; null for an empty name. Throws ValueError with the nearest name for any other.
SINDRI_API CellPtr get_activation(const std::string& name);

/// Options of Dropout.
struct DropoutOptions {
  double keep_prob = 0.5;  ///< probability of keeping an element, in (0, 1]
  std::optional<double> p = std::nullopt;  ///< probability of dropping an element, in [0, 1); if set, keep_prob is 1 - p
};

/// In training, zeroes elements and scales the kept ones by 1/keep_prob; otherwise the identity (MindSpore:
/// nn.Dropout).
class SINDRI_API Dropout final : public Cell {
 public:
  using Options = DropoutOptions;
  /// Throws ValueError for probabilities out of range.
  explicit Dropout(Options o);
  static std::shared_ptr<Dropout> make(Options o) { return std::make_shared<Dropout>(o); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double keep_prob_;
};

}  // namespace sindri::nn
