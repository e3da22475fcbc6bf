// Finds the uses of Parameters (ParamUse) for a tape: the forward pass records which tensors are a Parameter after
// casts and reshapes, the backward pass collects the ops that read such a tensor.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sindri/autograd/grad.h"

namespace sindri {

class UseRequest;

/// The Parameter from which a tensor was made by rearranging ops.
struct Origin {
  Parameter* param;
  std::vector<Rearrangement> path;
};

/// The origins by tensor id, for a tape that tracks uses.
class UseKeeper {
 public:
  void note_read(const Tensor& value, Parameter& p) { origins_.try_emplace(value.id(), Origin{&p, {}}); }
  /// Records that `to` is `from` with another identity.
  void note_alias(const Tensor& from, const Tensor& to);
  /// Records an op that ran. Returns whether it uses a Parameter: its record then keeps all operands.
  bool note_op(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Span<const Tensor> out);
  bool knows_any(Span<const Tensor> in) const;
  const Origin* find(const Tensor& t) const;
  void add(const Tensor& t, const Origin& origin) { origins_.try_emplace(t.id(), origin); }

  const UseRequest* outer = nullptr;  ///< for the tape of a function that is recomputed: the request that it answers

 private:
  std::unordered_map<uint64_t, Origin> origins_;
};

/// The uses collected in one backward walk.
class UseRequest {
 public:
  UseRequest(const UseKeeper& keeper, Span<Parameter* const> params);
  /// Visits the next op of the backward walk (null: a function with a separate rule). output_grad: the gradient of the
  /// op's first output. wanted: ids of the tensors that a gradient passes through.
  void visit(const OpDef* op, const Attrs& attrs, const std::vector<Tensor>& in, const Tensor& output_grad, const std::unordered_set<uint64_t>& wanted);
  /// Makes the tape of a second run track uses, and passes it the Parameters among the tensors given to the function.
  void inform(Tape* tape, Span<const Tensor> given) const;
  /// Adds the uses that inform's tape found, in the order in which it ran.
  void add(std::vector<ParamUse> uses);
  /// Returns all uses, in the order of the first run.
  std::vector<ParamUse> take();

 private:
  const UseKeeper& keeper_;
  std::unordered_set<const Parameter*> asked_;
  std::vector<ParamUse> reversed_;
};

}  // namespace sindri
