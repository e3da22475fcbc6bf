// The key an executable was compiled for, and the differences between the signatures of a function.
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
  Device device;  // the inputs' device; without inputs, the current one
  int variant = 0;
  bool strict = false;  // kernels and their partitions depend on this and the next two
  int threads = 1;
  uint64_t runtime = 0;  // the runtime whose kernel choices and random state it holds
  std::string forced_kernel;
  std::vector<State> states;  // known once the function has been traced

  /// Returns whether the executable for this signature can serve `call`: the calls are equal, and the states still have
  /// the metas that they had when it was compiled.
  bool matches(const Signature& call) const;
};

/// Returns the signature of a call, without states.
Signature make_signature(Span<const Tensor> in, int variant);

/// The signatures of one function so far.
class SignatureHistory {
 public:
  /// Returns a warning if this is the eighth signature, else an empty string.
  std::string add(const std::string& function, const Signature& s);

 private:
  std::vector<Signature> seen_;
  bool warned_ = false;
};

}  // namespace sindri
