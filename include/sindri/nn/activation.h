// Activations, softmax and dropout as cells.
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
SINDRI_ACTIVATION(ReLU);
SINDRI_ACTIVATION(ReLU6);
SINDRI_ACTIVATION(Sigmoid);
SINDRI_ACTIVATION(Tanh);
SINDRI_ACTIVATION(SiLU);  ///< x·sigmoid(x)
SINDRI_ACTIVATION(HSwish);
SINDRI_ACTIVATION(HSigmoid);
#undef SINDRI_ACTIVATION

/// x where x > 0, alpha·x elsewhere.
class SINDRI_API LeakyReLU final : public Cell {
 public:
  explicit LeakyReLU(double alpha = 0.2) : Cell("LeakyReLU"), alpha_(alpha) {}
  static std::shared_ptr<LeakyReLU> make(double alpha = 0.2) { return std::make_shared<LeakyReLU>(alpha); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double alpha_;
};

/// x where x > 0, alpha·(exp(x) - 1) elsewhere.
class SINDRI_API ELU final : public Cell {
 public:
  explicit ELU(double alpha = 1.0) : Cell("ELU"), alpha_(alpha) {}
  static std::shared_ptr<ELU> make(double alpha = 1.0) { return std::make_shared<ELU>(alpha); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double alpha_;
};

/// The tanh approximation unless told otherwise (PyTorch's default is the erf form).
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

/// The cell of that name, in any case: relu relu6 leakyrelu elu sigmoid tanh gelu silu hswish hsigmoid softmax logsoftmax; null for
/// an empty name. Throws ValueError with the nearest name otherwise.
SINDRI_API CellPtr get_activation(const std::string& name);

/// Of Dropout: what share of values becomes zero.
struct DropoutOptions {
  double keep_prob = 0.5;  ///< in (0, 1]
  std::optional<double> p = std::nullopt;  ///< in [0, 1): the probability to drop; when given, keep_prob is 1 - p
};

/// In training zeroes elements and scales the kept ones by 1/keep_prob; otherwise the identity.
class SINDRI_API Dropout final : public Cell {
 public:
  using Options = DropoutOptions;
  explicit Dropout(Options o);
  static std::shared_ptr<Dropout> make(Options o) { return std::make_shared<Dropout>(o); }
  Tensor construct(const Tensor& x) override;
  std::string describe() const override;

 private:
  double keep_prob_;
};

}  // namespace sindri::nn
