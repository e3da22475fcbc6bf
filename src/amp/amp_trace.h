// The interpreter of mixed precision: casts an op's inputs and passes the op on. Casts are inserted nowhere else.
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

/// The treatment of the ops that pass now.
struct Policy {
  enum class Kind : uint8_t { kOff, kLevel, kUniform, kMarked };  ///< kMarked: casts only in Cells that the lists name
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
  const Options* level = nullptr;  ///< options of the AmpScope in force, for lists that name Cells; null under to_float alone

  /// Marks `t` as cast by the user: under kUniform it keeps its type, as do values computed from it, until a Cell casts its inputs.
  void hold(const Tensor& t) {
    if (policy.kind == Policy::Kind::kUniform && t.dtype() != policy.dtype) held_.insert(t.id());
  }

 private:
  /// One type for all inputs, or one each.
  enum class Target : uint8_t { kAsIs, kWidest, kOne, kMixed };
  struct Rule {
    Target target = Target::kAsIs;
    DType dtype = DType::kFloat32;  ///< kOne: type of all inputs; kMixed: type of activations
  };
  Rule rule_for(const OpDef& op) const;
  void hold_all(const std::vector<Tensor>& tensors);
  Tensor converted(const Tensor& t, DType dtype, Trace* below);

  /// The last casts that widened: casting their result back uses their source instead. Such pairs come from ops that
  /// convert their inputs to one type before they are bound (half activations plus a float32 bias).
  std::array<std::pair<uint64_t, Tensor>, 8> widened_;
  size_t next_widened_ = 0;
  std::unordered_set<uint64_t> held_;  ///< ids of tensors whose type the user chose; ids are never reused
};

}  // namespace sindri::amp
