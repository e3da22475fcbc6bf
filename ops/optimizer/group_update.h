// Shared by the definition and the kernels of group_update.
#pragma once

#include <string>

#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

struct GroupUpdateAttrs {
  std::string update;  ///< the op and its attributes: "momentum_update {weight_decay=0.0001}"
  int64_t tensors = 1;
  SINDRI_ATTRS(GroupUpdateAttrs, update, tensors)
};

/// The update op of a group, and the inputs and outputs of each parameter.
struct UpdateGroup {
  const OpDef* op;
  Attrs attrs;
  size_t tensors, own_inputs, own_outputs;

  /// The inputs or buffers of one call of the op, from those of the group: the parameter's own, then the shared scalars.
  template <class T> std::vector<T> inputs_of(size_t tensor, Span<const T> in) const {
    std::vector<T> one;
    inputs_of(tensor, in, &one);
    return one;
  }
  template <class T> void inputs_of(size_t tensor, Span<const T> in, std::vector<T>* one) const {
    const Span<const T> own = in.subspan(tensor * own_inputs, own_inputs), shared = in.subspan(tensors * own_inputs);
    one->assign(own.begin(), own.end());
    one->insert(one->end(), shared.begin(), shared.end());
  }
};
/// Throws ValueError if the text is not exactly one update op.
SINDRI_API UpdateGroup parse_update_group(const Attrs& attrs);

}  // namespace sindri::ops
