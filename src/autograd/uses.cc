// Origins of tensors and uses of Parameters, and the description of a use.
#include "src/autograd/uses.h"

#include <algorithm>
#include <utility>

#include "sindri/ops/elementwise.h"

namespace sindri {

Tensor ParamUse::input() const {
  if (op == nullptr) return {};
  if (op->param_input != nullptr) return op->param_input(attrs, operands, operand);
  for (size_t i = 0; i < operands.size() && i < 32; ++i) {
    if (i != operand && (op->traits.saves_in >> i & 1u) != 0) return operands[i];
  }
  return {};
}

Tensor ParamUse::unscaled_output_grad() const {
  if (!output_grad.defined()) return {};
  const Tensor g = is_half(output_grad.dtype()) ? ops::cast(output_grad, DType::kFloat32) : output_grad;
  return loss_scale.defined() ? ops::div(g, ops::cast(loss_scale, g.dtype())) : g;
}

const Origin* UseKeeper::find(const Tensor& t) const {
  const auto it = origins_.find(t.id());
  return it != origins_.end() ? &it->second : nullptr;
}

bool UseKeeper::knows_any(Span<const Tensor> in) const {
  return std::any_of(in.begin(), in.end(), [this](const Tensor& t) { return origins_.contains(t.id()); });
}

void UseKeeper::note_alias(const Tensor& from, const Tensor& to) {
  if (const Origin* origin = find(from)) add(to, Origin(*origin));  // a copy: adding may move the table
}

bool UseKeeper::note_op(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Span<const Tensor> out) {
  if (!op.traits.rearranges) return knows_any(in);
  if (const Origin* origin = find(in[0])) {
    Origin next = *origin;
    next.path.push_back({&op, attrs});
    add(out[0], next);
  }
  return false;
}

UseRequest::UseRequest(const UseKeeper& keeper, Span<Parameter* const> params) : keeper_(keeper) {
  if (keeper.outer != nullptr) asked_ = keeper.outer->asked_;
  else asked_.insert(params.begin(), params.end());
}

void UseRequest::visit(const OpDef* op, const Attrs& attrs, const std::vector<Tensor>& in, const Tensor& output_grad,
                       const std::unordered_set<uint64_t>& wanted) {
  if (op != nullptr && op->traits.rearranges) return;  // its output is still the Parameter
  for (size_t i = in.size(); i-- > 0;) {
    const Origin* origin = keeper_.find(in[i]);
    if (origin == nullptr || !asked_.contains(origin->param) || !wanted.contains(in[i].id())) continue;
    reversed_.push_back({.param = origin->param, .op = op, .attrs = attrs, .operand = i, .operands = in, .path = origin->path, .output_grad = output_grad});
  }
}

void UseRequest::add(std::vector<ParamUse> uses) { std::move(uses.rbegin(), uses.rend(), std::back_inserter(reversed_)); }

std::vector<ParamUse> UseRequest::take() {
  std::reverse(reversed_.begin(), reversed_.end());
  return std::move(reversed_);
}

}  // namespace sindri
