// group_cluster: one elementwise program for many tensors as one node. Created by the graph compiler (src/graph/passes/group_elementwise.cc) for devices on
// which launching a kernel costs more than processing a small tensor. Results are bitwise identical to those of the separate ops.
#include "ops/elementwise/group_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"

namespace sindri::elementwise {
namespace {

std::vector<TensorMeta> infer_group(const Attrs& attrs, Span<const TensorMeta> in) {
  const ClusterGroup g = parse_cluster_group(attrs, in.size());
  std::vector<TensorMeta> out;
  for (size_t t = 0; t < g.tensors; ++t) {
    const Span<const TensorMeta> own = in.subspan(t * g.inputs, g.inputs);
    std::vector<TensorMeta> made = infer_cluster_steps(g.program, own);
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].numel() != 1 && own[i].shape != made[0].shape)
        throw ShapeError(fmt::format("group_cluster: operand {} of tensor {} is {}, its results have shape {}", i, t, own[i].str(), made[0].shape.str()), "",
                         "give operands of the results' shape or of one element");
      if (own[i].shape == made[0].shape && own[i].layout != own[0].layout)
        throw ValueError(
            fmt::format("group_cluster: operands 0 and {} of tensor {} must have the same layout, got {} and {}", i, t, own[0].str(), own[i].str()));
    }
    if (own[0].shape != made[0].shape)
      throw ShapeError(fmt::format("group_cluster: operand 0 of tensor {} is {}, expected the results' shape {}", t, own[0].str(), made[0].shape.str()));
    if (g.layouts[t] == 'l' && made[0].shape.rank() != 4)
      throw ValueError(fmt::format("group_cluster: tensor {} has shape {}; channels-last is a layout of four dimensions", t, made[0].shape.str()));
    for (const size_t k : g.program.out) {
      out.push_back(made[k]);
      out.back().layout = g.layout_of(t, own[0].layout);
    }
  }
  return out;
}

// As for elementwise_cluster, but a result whose layout differs from its operands' may not take an operand's memory.
bool group_may_overwrite(const Attrs& attrs, size_t num_inputs, size_t out, size_t in) {
  const ClusterGroup g = parse_cluster_group(attrs, num_inputs);
  const size_t t = out / g.results;
  if (in / g.inputs != t || g.layouts[t] != '=') return false;
  static const OpDef& cluster = op_of(OpRole::kElementwiseCluster);
  const std::string& program = attrs.as<GroupClusterAttrs>().program;
  return cluster.traits.may_overwrite(cluster.attrs.make({{"program", program}}), g.inputs, out % g.results, in % g.inputs);
}

const OpDef& kGroupCluster = register_op({
    .name = "group_cluster",
    .doc =
        "The operands of an elementwise `program` (see elementwise_cluster) for each of `tensors` tensors -> the results of each. Operands have the shape of "
        "their results or one element; operand 0 has the shape. `layouts`: a letter for each tensor, how its results lie: '=' as operand 0, 'c' contiguous, "
        "'l' channels-last. Made by the graph compiler; not differentiable.",
    .attrs = attrs_type<GroupClusterAttrs>(),
    .traits = {.amp = AmpClass::kFp32,
               .layout = LayoutRule::kAsInferred,
               .saves_in = kSavesNone,
               .may_overwrite = group_may_overwrite,
               .role = OpRole::kGroupCluster},
    .infer = infer_group,
});

}  // namespace

ClusterGroup parse_cluster_group(const Attrs& attrs, size_t inputs) {
  const auto& a = attrs.as<GroupClusterAttrs>();
  ClusterGroup g;
  g.program = parse_cluster(a.program);
  g.layouts = a.layouts;
  g.tensors = a.tensors > 0 ? static_cast<size_t>(a.tensors) : 0;
  g.results = g.program.out.size();
  if (g.tensors == 0 || inputs == 0 || inputs % g.tensors != 0)
    throw ValueError(fmt::format("group_cluster: {} inputs cannot be divided equally among {} tensors", inputs, a.tensors));
  g.inputs = inputs / g.tensors;
  if (g.layouts.size() != g.tensors || g.layouts.find_first_not_of("=cl") != std::string::npos)
    throw ValueError(fmt::format("group_cluster: layouts must be {} letters of '=', 'c' and 'l', got '{}'", g.tensors, g.layouts));
  for (const ClusterStep& s : g.program.steps)
    for (const ClusterOperand& o : s.in)
      if (!o.step && o.index >= g.inputs) throw ValueError(fmt::format("group_cluster: the program reads i{}, a tensor has {} inputs", o.index, g.inputs));
  return g;
}

}  // namespace sindri::elementwise
