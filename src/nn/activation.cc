// Activations by class and by name.
#include "sindri/nn/activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/random.h"

namespace sindri::nn {

Tensor ReLU::construct(const Tensor& x) { return ops::relu(x); }
Tensor ReLU6::construct(const Tensor& x) { return ops::relu6(x); }
Tensor Sigmoid::construct(const Tensor& x) { return ops::sigmoid(x); }
Tensor Tanh::construct(const Tensor& x) { return ops::tanh(x); }
Tensor SiLU::construct(const Tensor& x) { return ops::silu(x); }
Tensor HSwish::construct(const Tensor& x) { return ops::hswish(x); }
Tensor HSigmoid::construct(const Tensor& x) { return ops::hsigmoid(x); }
Tensor LeakyReLU::construct(const Tensor& x) { return ops::leaky_relu(x, alpha_); }
std::string LeakyReLU::describe() const { return fmt::format("LeakyReLU(alpha={})", alpha_); }
Tensor ELU::construct(const Tensor& x) { return ops::elu(x, alpha_); }
std::string ELU::describe() const { return fmt::format("ELU(alpha={})", alpha_); }
Tensor GELU::construct(const Tensor& x) { return ops::gelu(x, approximate_); }
std::string GELU::describe() const { return fmt::format("GELU(approximate={})", approximate_); }
Tensor Softmax::construct(const Tensor& x) { return ops::softmax(x, axis_); }
std::string Softmax::describe() const { return fmt::format("Softmax(axis={})", axis_); }
Tensor LogSoftmax::construct(const Tensor& x) { return ops::log_softmax(x, axis_); }
std::string LogSoftmax::describe() const { return fmt::format("LogSoftmax(axis={})", axis_); }

CellPtr get_activation(const std::string& name) {
  if (name.empty()) return nullptr;
  struct Entry {
    const char* name;
    CellPtr (*make)();
  };
  static const std::vector<Entry> kTable = {
      {"relu", [] { return CellPtr(ReLU::make()); }},           {"relu6", [] { return CellPtr(ReLU6::make()); }},
      {"leakyrelu", [] { return CellPtr(LeakyReLU::make()); }}, {"elu", [] { return CellPtr(ELU::make()); }},
      {"sigmoid", [] { return CellPtr(Sigmoid::make()); }},     {"tanh", [] { return CellPtr(Tanh::make()); }},
      {"gelu", [] { return CellPtr(GELU::make()); }},           {"silu", [] { return CellPtr(SiLU::make()); }},
      {"hswish", [] { return CellPtr(HSwish::make()); }},       {"hsigmoid", [] { return CellPtr(HSigmoid::make()); }},
      {"softmax", [] { return CellPtr(Softmax::make()); }},     {"logsoftmax", [] { return CellPtr(LogSoftmax::make()); }},
  };
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> known;
  for (const Entry& e : kTable) {
    if (lower == e.name) return e.make();
    known.emplace_back(e.name);
  }
  throw ValueError(fmt::format("activation '{}' is not known", name), "", did_you_mean(lower, known));
}

Dropout::Dropout(Options o) : Cell("Dropout"), keep_prob_(o.p.has_value() ? 1 - *o.p : o.keep_prob) {
  if (o.p.has_value() && !(*o.p >= 0 && *o.p < 1)) throw ValueError(fmt::format("Dropout: p must be in [0, 1), got {}", *o.p));
  if (!(keep_prob_ > 0 && keep_prob_ <= 1)) throw ValueError(fmt::format("Dropout: keep_prob must be in (0, 1], got {}", o.keep_prob));
}

Tensor Dropout::construct(const Tensor& x) { return training() && keep_prob_ < 1 ? ops::dropout(x, keep_prob_) : x; }
std::string Dropout::describe() const { return fmt::format("Dropout(keep_prob={})", keep_prob_); }

}  // namespace sindri::nn
