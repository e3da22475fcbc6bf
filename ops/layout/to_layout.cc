// to_layout: the same logical tensor in another physical order. Inserted by the interpreters, never by gradient rules.
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"

namespace sindri {
namespace {

struct ToLayoutAttrs {
  std::string layout = "contiguous";
  SINDRI_ATTRS(ToLayoutAttrs, layout)
};

std::vector<TensorMeta> infer(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("to_layout", in, 1);
  const std::string& name = attrs.as<ToLayoutAttrs>().layout;
  TensorMeta out = in[0];
  if (name == layout_name(Layout::kContiguous)) out.layout = Layout::kContiguous;
  else if (name == layout_name(Layout::kChannelsLast)) out.layout = Layout::kChannelsLast;
  else throw ValueError("to_layout: layout '" + name + "' is not known", "", "use contiguous or channels_last");
  if (out.layout == Layout::kChannelsLast) check_rank("to_layout", in[0], "a channels_last tensor", 4);
  return {out};
}

const OpDef& kToLayout = register_op({
    .name = "to_layout",
    .doc = "The same logical tensor stored in another physical order (contiguous or channels_last).",
    .attrs = attrs_type<ToLayoutAttrs>(),
    .traits = {.layout = LayoutRule::kAsInferred, .saves_in = kSavesNone, .rearranges = true, .role = OpRole::kToLayout},
    .infer = infer,
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {c.dout[0]}; },
});

}  // namespace
}  // namespace sindri
