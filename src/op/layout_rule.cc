// See layout_rule.h.
#include "src/op/layout_rule.h"

#include "sindri/core/context.h"

namespace sindri {

namespace {

bool can_be_channels_last(const TensorMeta& m) { return m.shape.rank() == 4; }

// Weights [O, C, KH, KW] stay contiguous on the CPU. On CUDA devices libraries need them channels-last too, as [O, KH,
// KW, C]. There, weight operands may have either layout, so that a graph converts all of its weights at once
// (src/graph/passes/turn_layouts.cc). Weight results are channels-last unless both layouts are the same memory.
Layout weight_layout(const TensorMeta& m, bool result) {
  if (m.device.kind != Device::kCuda || !can_be_channels_last(m)) return Layout::kContiguous;
  if (!result) return m.layout;
  return channels_last_differs(m) ? Layout::kChannelsLast : Layout::kContiguous;
}

void set_all(std::vector<TensorMeta>* metas, Layout layout, uint32_t weights, bool results) {
  for (size_t i = 0; i < metas->size(); ++i) {
    TensorMeta& m = (*metas)[i];
    const bool weight = i < 32 && (weights >> i & 1u) != 0;
    if (weight) m.layout = weight_layout(m, results);
    else m.layout = can_be_channels_last(m) ? layout : Layout::kContiguous;
  }
}

// Broadcast operands of an elementwise op ([C, 1, 1], scalars) are read through their own strides, so only operands
// with the output's full shape must agree with it.
Layout agnostic_layout(const std::vector<TensorMeta>& in, const TensorMeta& out) {
  for (const TensorMeta& m : in) {
    if (m.layout == Layout::kChannelsLast && m.shape == out.shape) return Layout::kChannelsLast;
  }
  return Layout::kContiguous;
}

}  // namespace

bool channels_last_differs(const TensorMeta& m) { return m.shape.rank() == 4 && m.shape[1] > 1 && m.shape[2] * m.shape[3] > 1; }

void apply_layout_rule(const OpDef& op, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out) {
  const OpTraits& t = op.traits;
  const uint32_t weights_in = t.layout_weights & 0xffffu, weights_out = t.layout_weights >> 16;
  switch (t.layout) {
    case LayoutRule::kAsInferred: return;
    case LayoutRule::kContiguousOnly:
      set_all(in, Layout::kContiguous, 0, false);
      set_all(out, Layout::kContiguous, 0, true);
      return;
    case LayoutRule::kChannelsLastPreferred:
      set_all(in, Layout::kChannelsLast, weights_in, false);
      set_all(out, Layout::kChannelsLast, weights_out, true);
      return;
    case LayoutRule::kFollowInput0: {
      const Layout l = t.layout_lead >= in->size() ? Layout::kContiguous : (*in)[t.layout_lead].layout;
      set_all(in, l, weights_in, false);
      set_all(out, l, weights_out, true);
      return;
    }
    case LayoutRule::kAgnostic: {
      const Layout l = out->empty() ? Layout::kContiguous : agnostic_layout(*in, (*out)[0]);
      for (TensorMeta& m : *in) m.layout = m.shape == (*out)[0].shape && can_be_channels_last(m) ? l : Layout::kContiguous;
      set_all(out, l, 0, true);
      return;
    }
  }
}

}  // namespace sindri
