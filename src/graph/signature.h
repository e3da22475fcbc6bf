// What an executable was compiled for, and what changes from one signature of a function to the next.
#pragma once

#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/op/bind.h"
#include "sindri/op/parameter.h"

namespace sindri {

struct Signature {
  struct State {
    const Parameter* param;
    TensorMeta meta;
  };
  std::vector<TensorMeta> inputs;
  Device device;  // theirs; without any, the current one
  int variant = 0;
  bool strict = false;  // kernels and their partitions depend on these three
  int threads = 1;
  uint64_t runtime = 0;  // whose choices of kernels and random state it holds
  std::string forced_kernel;
  std::vector<State> states;  // known once the function was traced

  /// True when a call with this signature may run now: the same call, and states whose metas are still those.
  bool matches(const Signature& call) const;
};

/// The signature of a call, states left out.
Signature make_signature(Span<const Tensor> in, int variant);

/// The signatures of one function so far.
class SignatureHistory {
 public:
  /// Returns a warning when this is the eighth, else an empty string.
  std::string add(const std::string& function, const Signature& s);

 private:
  std::vector<Signature> seen_;
  bool said_ = false;
};

}  // namespace sindri
