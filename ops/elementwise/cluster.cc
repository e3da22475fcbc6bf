// elementwise_cluster: several elementwise ops as one, created by the graph compiler (src/graph/passes/fuse_elementwise.cc).
// Intermediate values stay in the cache, and every result is bitwise identical to that of the separate ops.
#include "ops/elementwise/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "src/op/text_reader.h"

namespace sindri {
namespace elementwise {
namespace {

class ProgramReader : private TextReader {
 public:
  explicit ProgramReader(const std::string& text) : TextReader(text, "elementwise_cluster: program") {}

  ClusterProgram run() {
    while (!try_word("out")) {
      step();
      expect(";");
    }
    do outputs();
    while (try_symbol(","));
    if (!at_end()) fail("unexpected text after the results");
    for (size_t k = 0; k < program_.steps.size(); ++k) {
      if (!read_[k]) fail(fmt::format("t{} is read by no step and is not a result", k));
    }
    return std::move(program_);
  }

 private:
  void step() {
    if (program_.steps.size() == kMaxClusterSteps) fail(fmt::format("more than {} steps", kMaxClusterSteps));
    const std::string name = word();
    ClusterStep s;
    s.op = &find_op(name);
    const OpTraits& traits = s.op->traits;
    if (!traits.elementwise || s.op->expr == nullptr || traits.random || traits.host_effect) fail(fmt::format("'{}' is not an elementwise op", name));
    expect("(");
    do s.in.push_back(operand());
    while (try_symbol(","));
    expect(")");
    s.attrs = s.op->attrs.make(attributes());
    program_.steps.push_back(std::move(s));
    read_.push_back(false);
  }

  ClusterOperand operand() {
    const std::string w = word();
    if (w.size() < 2 || (w[0] != 'i' && w[0] != 't')) fail(fmt::format("'{}' is neither an input i0, i1, ... nor a step t0, t1, ...", w));
    const auto index = to_number<uint32_t>(w.substr(1));
    if (w[0] == 'i') return {false, index};
    if (index >= program_.steps.size()) fail(fmt::format("t{} is used before it is made", index));
    read_[index] = true;
    return {true, index};
  }

  void outputs() {
    const ClusterOperand o = operand();
    if (!o.step) fail(fmt::format("a result must be a step, got i{}", o.index));
    if (std::count(program_.out.begin(), program_.out.end(), o.index) != 0) fail(fmt::format("t{} is a result twice", o.index));
    program_.out.push_back(o.index);
  }

  ClusterProgram program_;
  std::vector<bool> read_;  // by step: whether its result is read
};

void check_inputs(const ClusterProgram& program, size_t count) {
  if (count == 0 || count > kMaxClusterInputs) throw ValueError(fmt::format("elementwise_cluster: takes 1 to {} inputs, got {}", kMaxClusterInputs, count));
  std::vector<bool> used(count, false);
  for (const ClusterStep& s : program.steps)
    for (const ClusterOperand& o : s.in) {
      if (o.step) continue;
      if (o.index >= count) throw ValueError(fmt::format("elementwise_cluster: the program reads i{}, there are {} inputs", o.index, count));
      used[o.index] = true;
    }
  const auto idle = std::find(used.begin(), used.end(), false) - used.begin();
  if (static_cast<size_t>(idle) < count) throw ValueError(fmt::format("elementwise_cluster: the program does not read input i{}", idle));
}

std::vector<TensorMeta> infer(const Attrs& attrs, Span<const TensorMeta> in) {
  const ClusterProgram program = parse_cluster(attrs.as<ClusterAttrs>().program);
  check_inputs(program, in.size());
  const std::vector<TensorMeta> made = infer_cluster_steps(program, in);
  std::vector<TensorMeta> out;
  for (size_t k : program.out) out.push_back(made[k]);
  return out;
}

// A single result belongs to the last step, and the elementwise trait lets it take the memory of any operand. With several results, a result may take the
// memory of an input that no later step reads. Only the first result computed in or after the step that uses the input last may take it, so that no two results
// take the same memory.
bool may_overwrite(const Attrs& attrs, size_t, size_t out, size_t in) {
  const ClusterProgram program = parse_cluster(attrs.as<ClusterAttrs>().program);
  size_t last_use = 0;
  for (size_t k = 0; k < program.steps.size(); ++k)
    for (const ClusterOperand& o : program.steps[k].in)
      if (!o.step && o.index == in) last_use = k;
  size_t first = kMaxClusterSteps;
  for (size_t k : program.out)
    if (k >= last_use) first = std::min(first, k);
  return program.out[out] == first;
}

// One operation per element and step, as for the separate ops.
int64_t flops(const Attrs& attrs, Span<const TensorMeta>, Span<const TensorMeta> out) {
  return out[0].numel() * static_cast<int64_t>(parse_cluster(attrs.as<ClusterAttrs>().program).steps.size());
}

const OpDef& kCluster = register_op({
    .name = "elementwise_cluster",
    .doc = "Elementwise ops run tile by tile in cache: `program` lists steps t0, t1, ... of inputs i0, i1, ... and steps before, then the results: "
           "\"mul(i0, i1); relu(t0); out t1, t0\". All steps have one shape. Bitwise identical to the separate ops. Made by the graph compiler; not "
           "differentiable.",
    .attrs = attrs_type<ClusterAttrs>(),
    .traits =
        {.layout = LayoutRule::kAgnostic, .saves_in = kSavesNone, .may_overwrite = may_overwrite, .elementwise = true, .role = OpRole::kElementwiseCluster},
    .infer = infer,
    .flops = flops,
});

}  // namespace

ClusterProgram parse_cluster(const std::string& text) { return ProgramReader(text).run(); }

std::vector<TensorMeta> infer_cluster_steps(const ClusterProgram& program, Span<const TensorMeta> in) {
  std::vector<TensorMeta> made;
  for (const ClusterStep& s : program.steps) {
    std::vector<TensorMeta> operands;
    for (const ClusterOperand& o : s.in) operands.push_back(o.step ? made[o.index] : in[o.index]);
    made.push_back(s.op->infer(s.attrs, operands)[0]);
    if (made.back().shape != made[0].shape)
      throw ShapeError(
          fmt::format("elementwise_cluster: t{} ({}) has shape {}, t0 {}", made.size() - 1, s.op->name, made.back().shape.str(), made[0].shape.str()), "",
          "steps of another shape belong in another node");
  }
  return made;
}

}  // namespace elementwise
}  // namespace sindri
