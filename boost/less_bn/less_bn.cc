// Networks with fewer batch norms (MindSpore: mindspore.boost.less_batch_normalization), and centralised gradients.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sindri/nn/dense.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

class LessBatchNorm final : public train::BoostAlgorithm {
 public:
  LessBatchNorm(bool head, double scale, bool centralize, bool basic) : head_(head), centralize_(centralize), basic_(basic), scale_(scale) {}
  std::string name() const override { return "less_bn"; }

  void prepare(nn::Cell& network) override {
    nn::Dense* last = nullptr;
    for (const auto& [path, cell] : network.cells_and_names()) {
      auto* const norm = dynamic_cast<nn::BatchNorm*>(cell);
      if (norm != nullptr && (norm->flag("inner_norm") || (basic_ && norm->flag("inner_norm_of_two")))) norm->bypass();
      if (auto* const dense = dynamic_cast<nn::Dense*>(cell)) last = dense;
    }
    if (head_ && last != nullptr) last->normalize(scale_);
  }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    if (!centralize_) return;
    // Not centralised: the head's rows are normalised to length 1, whatever their mean.
    const Parameter* head = nullptr;
    if (head_)
      for (const size_t i : train::network_order(context))
        if (context.parameters[i]->shape().rank() == 2) head = context.parameters[i];
    std::vector<bool> centred;
    for (const Parameter* p : context.parameters) {
      const std::string& n = p->name();
      const bool named = n.find("beta") != std::string::npos || n.find("gamma") != std::string::npos || n.find("bias") != std::string::npos;
      const bool grouped = std::find(context.grouped_weights.begin(), context.grouped_weights.end(), p) != context.grouped_weights.end();
      centred.push_back(p->shape().rank() >= 2 && !named && !grouped && p != head);
    }
    step.transform_gradients = [centred, inner = step.transform_gradients](Gradients g) {
      for (size_t i = 0; i < centred.size(); ++i) {
        if (!centred[i]) continue;
        std::vector<int64_t> axes;
        for (int d = 1; d < g.of_params[i].rank(); ++d) axes.push_back(d);
        g.of_params[i] = ops::sub(g.of_params[i], ops::mean(g.of_params[i], axes, true));
      }
      return inner(std::move(g));
    };
  }

 private:
  bool head_, centralize_, basic_;
  double scale_;
};

using enum SettingType;
const auto& kLessBatchNorm = train::boosts().add({
    .name = "less_bn",
    .doc = "bottlenecks without their inner batch norms, a normalised last layer, centralised gradients",
    .settings = {{.name = "fn_flag",
                  .type = kBool,
                  .fallback = "true",
                  .doc = "normalise the last dense layer's inputs and weight rows to length 1, and multiply by one trained factor"},
                 {.name = "fn_scale", .type = kFloat, .fallback = "1", .doc = "initial value of that factor", .min = 1e-6, .needs = "fn_flag"},
                 {.name = "gc_flag", .type = kBool, .fallback = "true", .doc = "subtract each row's mean from the weight gradients"},
                 {.name = "basic", .type = kBool, .fallback = "false", .doc = "also remove the first batch norm of blocks with two convolutions"}},
    .make =
        [](const SettingValues& s) {
          return std::make_shared<LessBatchNorm>(s.get_bool("fn_flag"), s.get_float("fn_scale"), s.get_bool("gc_flag"), s.get_bool("basic"));
        },
});

}  // namespace

}  // namespace sindri::boost
