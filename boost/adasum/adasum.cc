// Adasum (Maleki et al. 2021, arXiv:2006.02924; MindSpore: mindspore.boost, adasum): combines the updates of groups of ranks with ops::adaptive_sum.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

struct AdasumSettings {
  bool on_gradients, by_rank, fold, stop_alone;
  int64_t device_number;
};

class Adasum final : public train::BoostAlgorithm {
 public:
  explicit Adasum(const AdasumSettings& s) : s_(s) {}

  std::string name() const override { return "adasum"; }
  std::string idle() const override { return s_.stop_alone ? "" : alone(); }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    if (const std::string why = alone(); !why.empty())
      throw ValueError("adasum is enabled, but " + why, "boost.adasum",
                       "train on more hosts, or make groups smaller: settings boost.adasum.group=rank or boost.adasum.device_number, in Python "
                       "boost_config_dict={'common': {'device_num': 1}}; or switch it off");
    const int64_t ranks = comm::world().size(), of_group = members();
    check_layout(of_group);
    step.ranks_per_group = of_group;
    parameters_ = context.parameters;
    norms_ = std::make_unique<Parameter>(Tensor::zeros({static_cast<int64_t>(parameters_.size()), 2}, DType::kFloat64), "adasum.norms", false);
    if (s_.on_gradients) {
      step.transform_gradients = [this, of_group, inner = step.transform_gradients](Gradients g) {
        g.of_params = summed(g.of_params, of_group);
        return inner(std::move(g));
      };
      return;
    }
    log::write(log::Level::kInfo, "boost",
               fmt::format("adasum: {} groups of {} ranks; each has its own optimizer states, checkpoints hold all of them", ranks / of_group, of_group));
    for (size_t i = 0; step.state_of && i < parameters_.size(); ++i)
      for (Parameter* p : step.state_of(i)) of_optimizer_.push_back(p);
    step.update = [this, of_group, inner = step.update](train::TrainStep& self, const Gradients& g) {
      TensorList before, deltas;
      for (const Parameter* p : parameters_) before.push_back(p->value());
      inner(self, g);
      for (size_t i = 0; i < before.size(); ++i) deltas.push_back(ops::sub(parameters_[i]->value(), before[i]));
      deltas = summed(std::move(deltas), of_group);
      for (size_t i = 0; i < before.size(); ++i) parameters_[i]->assign(ops::add(before[i], deltas[i]));
    };
  }

  std::vector<Parameter*> own_state() override { return of_optimizer_; }

  train::EventColumns columns(const train::TrainState&) const override {
    const std::vector<double> n = norms_->stored().to_vector<double>();
    double sum = 0, all = 0;
    for (size_t i = 0; i + 1 < n.size(); i += 2) sum += n[i], all += n[i + 1];
    return {{"adasum_ratio", all > 0 ? sum / all : 0}};
  }
  std::vector<optim::Optimizer::Measure> measures() const override {
    const std::vector<double> n = norms_->stored().to_vector<double>();
    std::vector<optim::Optimizer::Measure> out;
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (n[2 * i + 1] > 0) out.push_back({"|Adasum|^2 / sum |delta|^2", parameters_[i]->name(), n[2 * i] / n[2 * i + 1]});
    return out;
  }

 private:
  // Returns why there is only one group, in which case nothing is combined. Empty if there are several groups.
  std::string alone() const {
    if (comm::world().size() > members()) return "";
    const int size = comm::world().size();
    return size == 1 ? "there is only one rank"
                     : fmt::format("all {} ranks are in one group (the ranks of a host form a group; groups have {} ranks here)", size, members());
  }

  // Ranks per group. If all ranks are on one host and their number is a multiple of 8 above 8, every 8 ranks count as a host (MindSpore's device_number). A
  // configuration for two hosts then also runs on one.
  int64_t members() const {
    constexpr int64_t kMindSporeHost = 8;
    if (s_.device_number > 0) return s_.device_number;
    if (s_.by_rank) return 1;
    const int64_t here = comm::world().local_size();
    return here == comm::world().size() && here > kMindSporeHost && here % kMindSporeHost == 0 ? kMindSporeHost : here;
  }

  void check_layout(int64_t of_group) const {
    const comm::Communicator& world = comm::world();
    const int64_t groups = world.size() / of_group;
    if (world.size() % of_group != 0)
      throw CommError(ErrorCode::kLayout, fmt::format("adasum: {} ranks cannot be divided into groups of {}", world.size(), of_group),
                      "boost.adasum.device_number", "give a number that divides the number of ranks");
    if (s_.device_number == 0 && !s_.by_rank && world.rank() != world.host_index() * of_group + world.local_rank())
      throw CommError(ErrorCode::kLayout, "adasum: the ranks of a host are not consecutive, or hosts have different numbers of ranks", "boost.adasum.group",
                      "number the ranks host by host, or use group: rank");
    if (!s_.fold && (groups & (groups - 1)) != 0)
      throw CommError(ErrorCode::kLayout, fmt::format("adasum: {} groups; the number of groups must be a power of two (2, 4, 8, …)", groups), "boost.adasum",
                      "use a power-of-two number of hosts, or set group: rank or remainder: fold");
  }

  TensorList summed(TensorList xs, int64_t of_group) const {
    std::vector<DType> types;
    for (Tensor& x : xs) {
      types.push_back(x.dtype());
      if (is_half(x.dtype())) x = ops::cast(x, DType::kFloat32);
    }
    TensorList sums = ops::adaptive_sum(xs, of_group, s_.fold);
    norms_->assign(sums.back());
    sums.pop_back();
    for (size_t i = 0; i < types.size(); ++i) sums[i] = ops::cast(sums[i], types[i]);
    return sums;
  }

  AdasumSettings s_;
  std::vector<Parameter*> parameters_, of_optimizer_;
  std::unique_ptr<Parameter> norms_;
};

using enum SettingType;
const auto& kAdasum = train::boosts().add({
    .name = "adasum",
    .doc = "combines the hosts' updates depending on how parallel they are (Maleki et al. 2021)",
    .settings = {{.name = "on",
                  .type = kString,
                  .fallback = "delta",
                  .doc =
                      "what Adasum combines: the weight changes made by each group's optimizer (delta), or the gradients before one common update (gradient)",
                  .choices = "delta|gradient"},
                 {.name = "group",
                  .type = kString,
                  .fallback = "host",
                  .doc = "ranks that average their gradients before Adasum: those of a host, or none (each rank alone)",
                  .choices = "host|rank"},
                 {.name = "device_number",
                  .type = kInt,
                  .fallback = "0",
                  .doc = "number of ranks in a group; 0: as boost.adasum.group says, or 8 if one host has 16 or more ranks",
                  .min = 0},
                 {.name = "remainder",
                  .type = kString,
                  .fallback = "refuse",
                  .doc = "if the number of groups is not a power of two: refuse it, or fold the excess groups into the first ones",
                  .choices = "refuse|fold"},
                 {.name = "alone",
                  .type = kString,
                  .fallback = "stop",
                  .doc = "if there is only one group: stop, or warn and train without Adasum",
                  .choices = "stop|warn"}},
    .make =
        [](const SettingValues& s) {
          return std::make_shared<Adasum>(AdasumSettings{.on_gradients = s.get_string("on") == "gradient",
                                                         .by_rank = s.get_string("group") == "rank",
                                                         .fold = s.get_string("remainder") == "fold",
                                                         .stop_alone = s.get_string("alone") == "stop",
                                                         .device_number = s.get_int("device_number")});
        },
});

}  // namespace

}  // namespace sindri::boost
