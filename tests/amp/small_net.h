// A small convolutional network, a batch for it, and an interpreter that records the ops that the casting interpreter emits.
#pragma once

#include <string>
#include <vector>

#include "sindri/nn/nn.h"
#include "sindri/op/bind.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/train_step.h"

namespace sindri::test {

/// conv -> batch norm -> relu -> max pool -> dense with bias.
nn::CellPtr small_net();
/// The network and a softmax cross entropy.
nn::CellPtr small_net_with_loss();
/// {images [N, 1, 6, 6], labels [N]}: class c is a bright column c·2 in noise that differs from batch to batch.
TensorList small_batch(int64_t n, int64_t seed, double scale = 1);

/// "conv2d bfloat16 bfloat16": one line per op in the order of execution, without casts and without integer and bool inputs.
class OpRecorder final : public Trace {
 public:
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  std::vector<std::string> lines;
  /// The lines of one op, sorted, without duplicates.
  std::vector<std::string> of(const std::string& op) const;
};

/// The ops that `f` binds under `options`.
template <class F> OpRecorder record(F&& f) {
  OpRecorder recorder;
  const TraceScope scope(recorder);
  f();
  return recorder;
}

/// Bytes of every parameter and of the optimizer's state.
std::vector<std::vector<char>> state_bytes(nn::Cell& net, optim::Optimizer& optimizer);

}  // namespace sindri::test
