// The interpreter of mixed precision: it casts an op's inputs, then hands the op on. The one place where casts are inserted.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/op/bind.h"

namespace sindri::amp {

inline bool contains(const std::vector<std::string>& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

/// What the trace does with the ops that pass now.
struct Policy {
  enum class Kind : uint8_t { kOff, kLevel, kUniform, kMarked };  ///< kMarked: nothing is cast but in Cells that lists name
  Kind kind = Kind::kOff;
  const Options* options = nullptr;  ///< kLevel: level and lists
  DType dtype = DType::kFloat32;  ///< kUniform: the type of every op
  bool mixed = false;  ///< kUniform: batch norm keeps its parameters in float32
  bool listed = false;  ///< inside a Cell that a level marks by its class
};

class AmpTrace final : public Trace {
 public:
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;

  Policy policy;
  const Options* level = nullptr;  ///< of the AmpScope in force, for the lists that name Cells; null under to_float alone

  /// `t` was cast by the user: under kUniform it keeps its type, and so does what is computed from it, until a Cell casts its inputs.
  void hold(const Tensor& t) {
    if (policy.kind == Policy::Kind::kUniform && t.dtype() != policy.dtype) held_.insert(t.id());
  }

 private:
  /// A type for all inputs, or each its own.
  enum class Target : uint8_t { kAsIs, kWidest, kOne, kMixed };
  struct Rule {
    Target target = Target::kAsIs;
    DType dtype = DType::kFloat32;  ///< kOne: of all inputs; kMixed: of activations
  };
  Rule rule_for(const OpDef& op) const;
  void hold_all(const std::vector<Tensor>& tensors);
  Tensor converted(const Tensor& t, DType dtype, Trace* below);

  /// The last casts that widened: casting their result back takes their source instead. Such pairs come from ops that bring
  /// their inputs to one type before they are bound (half activations plus a float32 bias).
  std::array<std::pair<uint64_t, Tensor>, 8> widened_;
  size_t next_widened_ = 0;
  std::unordered_set<uint64_t> held_;  ///< ids of tensors whose type the user chose; ids are never used again
};

}  // namespace sindri::amp
