// ftrl_update: follow the regularised leader (McMahan et al. 2013).
#include <fmt/format.h>

#include "ops/optimizer/update_op.h"
#include "sindri/ops/optimizer.h"
#include "src/op/quick_call.h"

namespace sindri::ops {
namespace {

struct FtrlAttrs {
  double lr_power = -0.5;
  double l1 = 0;
  double l2 = 0;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(FtrlAttrs, lr_power, l1, l2, weight_decay, grad_scale)
};

constexpr UpdateOp kRule = {
    .name = "ftrl_update",
    .rule = UpdateRuleId::kFtrl,
    .states = {"accum", "linear"},
    .scalars = {"lr"},
    .check =
        [](const Attrs& attrs) {
          const auto& a = attrs.as<FtrlAttrs>();
          if (!(a.lr_power <= 0)) throw ValueError(fmt::format("ftrl_update: lr_power must not be above 0, got {}", a.lr_power));
          check_not_negative("ftrl_update", a.l1, "l1");
          check_not_negative("ftrl_update", a.l2, "l2");
        },
    .numbers =
        [](const Attrs& attrs, double* k) {
          const auto& a = attrs.as<FtrlAttrs>();
          k[3] = a.lr_power, k[4] = a.l1, k[5] = a.l2;
        },
};

const OpDef& kFtrl = register_update<FtrlAttrs, kRule>(
    "param, accum, linear, grad, scalar lr -> param, accum, linear. g = grad·grad_scale + weight_decay·param; n' = n + g²; "
    "z += g - (n'^-lr_power - n^-lr_power)/lr·p; p = 0 where |z| <= l1, else (sign(z)·l1 - z)/(n'^-lr_power/lr + 2·l2) (MindSpore "
    "nn.FTRL). " SINDRI_UPDATE_CONTROLS_DOC "Not differentiable.");

}  // namespace

std::vector<Tensor> ftrl_update(const Tensor& param, const Tensor& accum, const Tensor& linear, const Tensor& grad, const Tensor& lr, double lr_power,
                                double l1, double l2, double weight_decay, double grad_scale, const Tensor& inv_scale, const Tensor& skip) {
  return bind_update(kFtrl, recent_attrs(FtrlAttrs{lr_power, l1, l2, weight_decay, grad_scale}), {param, accum, linear, grad, lr}, inv_scale, skip);
}

}  // namespace sindri::ops
