// Samples of the optimizer update ops. Their values over many steps are in optimizer_test.cc.
#include <cmath>

#include "tests/ops/samples.h"

namespace sindri::test::optimizer_samples {
namespace {

// Parameters and states are float32 or float64, gradients of any type; half parameters are refused.
Arg state(const Shape& s) { return {s, -1, 1}; }
Arg positive(const Shape& s) { return {s, 0, 1}; }
Arg scalar(double v) { return {.shape = {}, .values = {v}}; }

// The updates of ops/optimizer/update_rules.h: number of states, the states that cannot be negative, their scalars, and other attributes.
struct Rule {
  std::string op;
  std::vector<bool> positive_states;
  std::vector<double> scalars;
  AttrFields other;
};
const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      {"adagrad_update", {true}, {0.1}, {{"update_slots", false}}},
      {"adadelta_update", {true, true}, {0.1}, {{"rho", 0.7}, {"eps", 1e-3}}},
      {"rmsprop_update", {true, false}, {0.1}, {{"decay", 0.8}, {"momentum", 0.9}, {"eps", 1e-4}}},
      {"rmsprop_centered_update", {true, false, false}, {0.1}, {{"decay", 0.8}, {"momentum", 0.9}, {"eps", 1.5}}},
      {"ftrl_update", {true, false}, {0.1}, {{"lr_power", -0.3}, {"l1", 0.5}, {"l2", 0.1}}},
      {"adamax_update", {false, true}, {0.1, 0.81}, {{"beta1", 0.8}, {"beta2", 0.9}, {"eps", 1e-4}}},
      {"amsgrad_update", {false, true, true}, {0.1, 0.81, 0.998}, {{"beta1", 0.8}, {"beta2", 0.99}, {"eps", 1e-4}}},
      {"lamb_direction", {false, true}, {0.81, 0.998}, {{"beta1", 0.8}, {"beta2", 0.99}, {"eps", 1e-4}}},
  };
  return list;
}

Arg state_of(const Rule& r, size_t i, const Shape& s) {
  // Away from 0, where square roots and powers magnify the differences between half gradients and float32.
  return r.positive_states[i] ? Arg{s, 0.5, 2} : state(s);
}

std::vector<Arg> arguments(const Rule& r, const Shape& shape, std::optional<DType> grad = std::nullopt, const std::vector<Arg>& controls = {}) {
  std::vector<Arg> args = {state(shape)};
  for (size_t i = 0; i < r.positive_states.size(); ++i) args.push_back(state_of(r, i, shape));
  args.push_back({shape, -1, 1, grad});
  for (double v : r.scalars) args.push_back(scalar(v));
  args.insert(args.end(), controls.begin(), controls.end());
  return args;
}

template <class Add> void add_rules(const Add& add) {
  const Arg inv_scale = scalar(1.0 / 64), skip{.shape = {}, .dtype = DType::kBool, .values = {1}}, go_on{.shape = {}, .dtype = DType::kBool, .values = {0}};
  for (const Rule& r : rules()) {
    AttrFields own = {};
    if (r.op == "rmsprop_centered_update") own = {{"eps", 1.5}};  // s - c² of these states may be -1
    AttrFields decayed = r.other;
    decayed.push_back({"weight_decay", 1e-2});
    decayed.push_back({"grad_scale", 1.0 / 128});
    for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{
             {"plain", {3, 4}}, {"size1", {1}}, {"size0", {0, 3}}, {"scalar", {}}, {"size17", {17}}, {"image", {2, 3, 4, 5}}, {"several_pieces", {1999}}})
      add(r.op, name, own, arguments(r, shape));
    const Shape shape = {5, 7};
    add(r.op, "decay_scale", decayed, arguments(r, shape));
    add(r.op, "bf16_grad", own, arguments(r, shape, DType::kBFloat16));
    add(r.op, "f16_grad", decayed, arguments(r, shape, DType::kFloat16));
    add(r.op, "inv_scale", own, arguments(r, shape, std::nullopt, {inv_scale}));
    add(r.op, "inv_scale_go_on", own, arguments(r, shape, std::nullopt, {inv_scale, go_on}));
    add(r.op, "inv_scale_skip", own, arguments(r, shape, std::nullopt, {inv_scale, skip}));
    add(r.op, "skip_alone", own, arguments(r, shape, std::nullopt, {skip}));
    std::vector<Arg> several;
    int64_t tensors = 0;
    for (const Shape& size : std::vector<Shape>{{7}, {}, {2, 3, 4, 5}, {0, 3}, {1999}}) {
      const std::vector<Arg> one = arguments(r, size);
      several.insert(several.end(), one.begin(), one.end() - static_cast<ptrdiff_t>(r.scalars.size()));
      ++tensors;
    }
    for (double v : r.scalars) several.push_back(scalar(v));
    add("group_update", r.op, {{"update", r.op + (own.empty() ? "" : " {eps=1.5}")}, {"tensors", tensors}}, several);
  }
}

// Parameters of several sizes as one node; the shared scalars come last.
template <class Add> void add_groups(const Add& add) {
  const auto group = [&](const std::string& name, const std::string& update, const std::vector<Shape>& shapes, const std::vector<Arg>& scalars,
                         bool second_state, bool stat, std::optional<DType> grad = std::nullopt) {
    std::vector<Arg> args;
    for (const Shape& shape : shapes) {
      args.push_back(state(shape));
      args.push_back(state(shape));
      if (second_state) args.push_back(positive(shape));
      if (stat) args.push_back(scalar(shape.rank() == 1 ? 1 : 0));  // first steps and later ones
      args.push_back({shape, -1, 1, grad});
    }
    args.insert(args.end(), scalars.begin(), scalars.end());
    add("group_update", name, {{"update", update}, {"tensors", static_cast<int64_t>(shapes.size())}}, std::move(args));
  };
  const std::vector<Arg> lr = {scalar(0.1)}, two = {scalar(0.1), scalar(0.9)}, three = {scalar(0.1), scalar(0.81), scalar(0.998)};
  const std::vector<Shape> sizes = {{7}, {}, {2, 3, 4, 5}, {0, 3}, {33}, {1999}};
  group("momentum", "momentum_update", sizes, two, false, false);
  group("momentum_decay", "momentum_update {weight_decay=0.01, grad_scale=0.5, nesterov=true}", sizes, two, false, false);
  group("momentum_one", "momentum_update", {{17}}, two, false, false);
  group("momentum_bf16_grad", "momentum_update", sizes, two, false, false, DType::kBFloat16);
  group("sgd", "sgd_update {momentum=0.9, dampening=0.5}", sizes, lr, false, true);
  group("adam", "adam_update", sizes, three, true, false);
  group("adam_nesterov", "adam_update {nesterov=true}", {{8}, {9}, {15}}, three, true, false);
  const Arg inv_scale = scalar(1.0 / 64), skip{.shape = {}, .dtype = DType::kBool, .values = {1}}, go_on{.shape = {}, .dtype = DType::kBool, .values = {0}};
  group("momentum_inv_scale", "momentum_update", sizes, {scalar(0.1), scalar(0.9), inv_scale}, false, false);
  group("momentum_go_on", "momentum_update", sizes, {scalar(0.1), scalar(0.9), inv_scale, go_on}, false, false);
  group("momentum_skip", "momentum_update", sizes, {scalar(0.1), scalar(0.9), inv_scale, skip}, false, false);
  group("sgd_skip", "sgd_update {momentum=0.9}", sizes, {scalar(0.1), skip}, false, true);
  group("adam_skip", "adam_update", sizes, {scalar(0.1), scalar(0.81), scalar(0.998), skip}, true, false);
  group("adam_weight_decay_skip", "adam_weight_decay_update", sizes, {scalar(0.1), inv_scale, skip}, true, false);
  group("adam_weight_decay", "adam_weight_decay_update {weight_decay=0.1}", sizes, lr, true, false, DType::kFloat16);
}

std::vector<Sample> all() {
  std::vector<Sample> s;
  const auto add = [&](const std::string& op, const std::string& name, const AttrFields& attrs, std::vector<Arg> args) {
    s.push_back({.op = op, .name = name, .attrs = attrs, .args = std::move(args), .gradient = false, .half = false});
  };
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{{"plain", {3, 4}},
                                                                              {"size1", {1}},
                                                                              {"size0", {0, 3}},
                                                                              {"scalar", {}},
                                                                              {"size7", {7}},
                                                                              {"size8", {8}},
                                                                              {"size9", {9}},
                                                                              {"size15", {15}},
                                                                              {"size17", {17}},
                                                                              {"size33", {33}},
                                                                              {"image", {2, 3, 4, 5}},
                                                                              {"several_pieces", {1999}}}) {
    const Arg p = state(shape), g = state(shape);
    add("momentum_update", name, {}, {p, state(shape), g, scalar(0.1), scalar(0.9)});
    add("sgd_update", name, {{"momentum", 0.9}}, {p, state(shape), scalar(0), g, scalar(0.1)});
    add("adam_update", name, {}, {p, state(shape), positive(shape), g, scalar(0.1), scalar(0.81), scalar(0.998)});
    add("adam_weight_decay_update", name, {}, {p, state(shape), positive(shape), g, scalar(0.1)});
  }
  const Shape shape = {5, 7};
  const Arg p = state(shape), g = state(shape), half_grad = {shape, -1, 1, DType::kBFloat16}, f16_grad = {shape, -1, 1, DType::kFloat16};
  const AttrFields decay = {{"weight_decay", 1e-2}, {"grad_scale", 1.0 / 128}};
  const auto with = [](AttrFields a, const AttrField& f) {
    a.push_back(f);
    return a;
  };
  add("momentum_update", "decay_scale", decay, {p, state(shape), g, scalar(0.1), scalar(0.9)});
  add("momentum_update", "nesterov", with(decay, {"nesterov", true}), {p, state(shape), g, scalar(0.1), scalar(0.9)});
  add("momentum_update", "bf16_grad", decay, {p, state(shape), half_grad, scalar(0.1), scalar(0.9)});
  add("momentum_update", "f16_grad", decay, {p, state(shape), f16_grad, scalar(0.1), scalar(0.9)});
  add("sgd_update", "first_step", {{"momentum", 0.9}, {"dampening", 0.5}}, {p, state(shape), scalar(1), g, scalar(0.1)});
  add("sgd_update", "dampening_decay", with(with(decay, {"momentum", 0.9}), {"dampening", 0.5}), {p, state(shape), scalar(0), g, scalar(0.1)});
  add("sgd_update", "nesterov", {{"momentum", 0.9}, {"nesterov", true}}, {p, state(shape), scalar(0), g, scalar(0.1)});
  add("sgd_update", "nesterov_first_step", {{"momentum", 0.9}, {"nesterov", true}}, {p, state(shape), scalar(1), g, scalar(0.1)});
  add("sgd_update", "no_momentum", decay, {p, state(shape), scalar(1), g, scalar(0.1)});
  add("sgd_update", "bf16_grad", {{"momentum", 0.9}}, {p, state(shape), scalar(0), half_grad, scalar(0.1)});
  add("adam_update", "decay_scale", decay, {p, state(shape), positive(shape), g, scalar(0.1), scalar(0.9), scalar(0.999)});
  add("adam_update", "nesterov", with(decay, {"nesterov", true}), {p, state(shape), positive(shape), g, scalar(0.1), scalar(0.9), scalar(0.999)});
  add("adam_update", "bf16_grad", {{"beta1", 0.8}, {"beta2", 0.99}, {"eps", 1e-4}},
      {p, state(shape), positive(shape), half_grad, scalar(0.1), scalar(0.64), scalar(0.98)});
  add("adam_weight_decay_update", "decay_scale", decay, {p, state(shape), positive(shape), g, scalar(0.1)});
  add("adam_weight_decay_update", "f16_grad", {{"weight_decay", 0.1}}, {p, state(shape), positive(shape), f16_grad, scalar(0.1)});
  // A loss scale that is a tensor, and skipped updates.
  const Arg inv_scale = scalar(1.0 / 64), skip{.shape = {}, .dtype = DType::kBool, .values = {1}}, go_on{.shape = {}, .dtype = DType::kBool, .values = {0}};
  const Arg overflowed{.shape = shape, .values = std::vector<double>(35, HUGE_VAL)};
  for (const auto& [name, more] : std::vector<std::pair<std::string, std::vector<Arg>>>{
           {"inv_scale", {inv_scale}}, {"skip_alone", {skip}}, {"inv_scale_go_on", {inv_scale, go_on}}, {"inv_scale_skip", {inv_scale, skip}}}) {
    const Arg& grad = more.back().values[0] == 1 ? overflowed : g;
    const auto extended = [&more = more](std::vector<Arg> args) {
      args.insert(args.end(), more.begin(), more.end());
      return args;
    };
    add("momentum_update", name, decay, extended({p, state(shape), grad, scalar(0.1), scalar(0.9)}));
    add("sgd_update", name, {{"momentum", 0.9}}, extended({p, state(shape), scalar(1), grad, scalar(0.1)}));
    add("adam_update", name, decay, extended({p, state(shape), positive(shape), grad, scalar(0.1), scalar(0.9), scalar(0.999)}));
    add("adam_weight_decay_update", name, decay, extended({p, state(shape), positive(shape), grad, scalar(0.1)}));
  }
  add("sgd_update", "stat_of_params_shape", {{"momentum", 0.9}}, {p, state(shape), {.shape = shape, .values = std::vector<double>(35, 1)}, g, scalar(0.1)});
  add("sgd_update", "no_momentum_stat_of_params_shape", {}, {p, state(shape), {.shape = shape, .values = std::vector<double>(35, 1)}, g, scalar(0.1)});
  add_rules(add);
  add_groups(add);
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test::optimizer_samples
