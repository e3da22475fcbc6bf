// group_update: an optimizer update of many parameters as one node. Created by the graph compiler (src/graph/passes/group_updates.cc)
// from update nodes with equal attributes and scalars, with bitwise identical results. Small tensors then need no separate parallel
// region.
#include "ops/optimizer/group_update.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/op/plan.h"
#include "src/op/text_reader.h"

namespace sindri::ops {
namespace {

std::vector<TensorMeta> infer(const Attrs& attrs, Span<const TensorMeta> in) {
  const UpdateGroup g = parse_update_group(attrs);
  if (in.size() / g.own_inputs < g.tensors)
    throw ValueError(
        fmt::format("group_update: {} parameters of {} need {} inputs each and scalars, got {} inputs", g.tensors, g.op->name, g.own_inputs, in.size()));
  std::vector<TensorMeta> out;
  for (size_t t = 0; t < g.tensors; ++t) {
    const std::vector<TensorMeta> given = g.inputs_of(t, in);
    std::vector<TensorMeta> taken, made;
    infer_with_layout(*g.op, g.attrs, given, &taken, &made);
    for (size_t i = 0; i < given.size(); ++i)
      if (taken[i].layout != given[i].layout)
        throw ValueError(
            fmt::format("group_update: input {} of parameter {} is {}, {} needs it {}", i, t, given[i].str(), g.op->name, layout_name(taken[i].layout)));
    out.insert(out.end(), made.begin(), made.end());
  }
  return out;
}

bool may_overwrite(const Attrs& attrs, size_t, size_t out, size_t in) {
  const UpdateGroup g = parse_update_group(attrs);
  return in < g.tensors * g.own_inputs && out / g.own_outputs == in / g.own_inputs && out % g.own_outputs == in % g.own_inputs;
}

const OpDef& kGroupUpdate = register_op({
    .name = "group_update",
    .doc =
        "The inputs of `update` that belong to one parameter, for each of `tensors` parameters, then the scalars they share -> the outputs of each. `update` "
        "is an op of the optimizer updates with its attributes. Bitwise identical to the separate ops. Made by the graph compiler; not differentiable.",
    .attrs = attrs_type<GroupUpdateAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .layout = LayoutRule::kAsInferred, .saves_in = kSavesNone, .may_overwrite = may_overwrite, .role = OpRole::kGroupUpdate},
    .infer = infer,
});

}  // namespace

UpdateGroup parse_update_group(const Attrs& attrs) {
  const auto& a = attrs.as<GroupUpdateAttrs>();
  TextReader reader(a.update, "group_update: update");
  const std::string name = reader.word();
  const OpDef& op = find_op(name);
  if (op.traits.update_inputs == 0) reader.fail(fmt::format("'{}' is not an optimizer update", name));
  Attrs own = op.attrs.make(reader.attributes());
  if (!reader.at_end()) reader.fail("unexpected text after the op");
  if (a.tensors < 1) throw ValueError(fmt::format("group_update: tensors must be at least 1, got {}", a.tensors));
  const size_t inputs = op.traits.update_inputs;
  return {&op, std::move(own), static_cast<size_t>(a.tensors), inputs, inputs - 1};  // all inputs but the gradient have a new value
}

}  // namespace sindri::ops
