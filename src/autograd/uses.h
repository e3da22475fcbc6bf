// How a tape finds the uses of Parameters (ParamUse): forward it notes which tensors are a Parameter behind casts and reshapes, backward it
// collects the ops that such a tensor enters.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sindri/autograd/grad.h"

namespace sindri {

class UseRequest;

/// What a tensor is made of when it is a Parameter behind rearranging ops.
struct Origin {
  Parameter* param;
  std::vector<Rearrangement> path;
};

/// Of a tape that keeps uses: origins by tensor id.
class UseKeeper {
 public:
  void note_read(const Tensor& value, Parameter& p) { origins_.try_emplace(value.id(), Origin{&p, {}}); }
  /// Tensor `to` is `from` under another identity.
  void note_alias(const Tensor& from, const Tensor& to);
  /// Looks at an op that ran. True when it uses a Parameter: its record then keeps all operands.
  bool note_op(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Span<const Tensor> out);
  bool knows_any(Span<const Tensor> in) const;
  const Origin* find(const Tensor& t) const;
  void add(const Tensor& t, const Origin& origin) { origins_.try_emplace(t.id(), origin); }

  const UseRequest* outer = nullptr;  ///< of a function that is computed again: the request it answers

 private:
  std::unordered_map<uint64_t, Origin> origins_;
};

/// The uses collected in one walk back.
class UseRequest {
 public:
  UseRequest(const UseKeeper& keeper, Span<Parameter* const> params);
  /// The next op on the way back (null: a function with a rule of its own) and its first output's gradient. wanted: tensors that a gradient
  /// passes, by id.
  void visit(const OpDef* op, const Attrs& attrs, const std::vector<Tensor>& in, const Tensor& output_grad, const std::unordered_set<uint64_t>& wanted);
  /// Makes the tape of a second run keep uses, and tells it which of the tensors given to the function are Parameters.
  void inform(Tape* tape, Span<const Tensor> given) const;
  /// What inform's tape found, in the order it ran.
  void add(std::vector<ParamUse> uses);
  /// All of them, in the order of the first run.
  std::vector<ParamUse> take();

 private:
  const UseKeeper& keeper_;
  std::unordered_set<const Parameter*> asked_;
  std::vector<ParamUse> reversed_;
};

}  // namespace sindri
