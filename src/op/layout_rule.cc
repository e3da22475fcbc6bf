// See layout_rule.h.
#include "src/op/layout_rule.h"

#include "sindri/core/context.h"

namespace sindri {

namespace {

bool can_be_channels_last(const TensorMeta& m) { return m.shape.rank() == 4; }

void set_all(std::vector<TensorMeta>* metas, Layout layout, uint32_t keep_contiguous) {
  for (size_t i = 0; i < metas->size(); ++i) {
    TensorMeta& m = (*metas)[i];
    const bool weight = i < 32 && (keep_contiguous >> i & 1u) != 0;
    m.layout = !weight && can_be_channels_last(m) ? layout : Layout::kContiguous;
  }
}

// Broadcast operands of an elementwise op ([C, 1, 1], scalars) are read through strides of their own, so only those with
// the output's full shape have to agree with it.
Layout agnostic_layout(const std::vector<TensorMeta>& in, const TensorMeta& out) {
  for (const TensorMeta& m : in) {
    if (m.layout == Layout::kChannelsLast && m.shape == out.shape) return Layout::kChannelsLast;
  }
  return Layout::kContiguous;
}

}  // namespace

void apply_layout_rule(const OpDef& op, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out) {
  const OpTraits& t = op.traits;
  const uint32_t weights_in = t.layout_weights & 0xffffu, weights_out = t.layout_weights >> 16;
  switch (t.layout) {
    case LayoutRule::kAsInferred: return;
    case LayoutRule::kContiguousOnly:
      set_all(in, Layout::kContiguous, 0);
      set_all(out, Layout::kContiguous, 0);
      return;
    case LayoutRule::kChannelsLastPreferred:
      set_all(in, Layout::kChannelsLast, weights_in);
      set_all(out, Layout::kChannelsLast, weights_out);
      return;
    case LayoutRule::kFollowInput0: {
      const Layout l = t.layout_lead >= in->size() ? Layout::kContiguous : (*in)[t.layout_lead].layout;
      set_all(in, l, weights_in);
      set_all(out, l, weights_out);
      return;
    }
    case LayoutRule::kAgnostic: {
      const Layout l = out->empty() ? Layout::kContiguous : agnostic_layout(*in, (*out)[0]);
      for (TensorMeta& m : *in) m.layout = m.shape == (*out)[0].shape && can_be_channels_last(m) ? l : Layout::kContiguous;
      set_all(out, l, 0);
      return;
    }
  }
}

}  // namespace sindri
