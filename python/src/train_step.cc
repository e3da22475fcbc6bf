// The stages of a training step around a network and an optimizer in Python, and the training algorithms on them.
#include <fmt/format.h>

#include "python/src/casters.h"
#include "python/src/settings.h"
#include "sindri/boost/grad_accumulation.h"
#include "sindri/boost/grad_freeze.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "sindri/train/amp.h"
#include "sindri/train/boost.h"
#include "sindri/train/loss_scale.h"
#include "sindri/train/train_step.h"

namespace sindri::python {

namespace {

using train::BoostAlgorithmPtr;

TensorList tensors_of(py::handle sequence) {
  TensorList out;
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(sequence)) out.push_back(to_tensor(h));
  return out;
}

// The network handles non-tensors among the inputs.
TensorList tensors_among(py::handle sequence) {
  TensorList out;
  for (const py::handle h : py::reinterpret_borrow<py::iterable>(sequence)) {
    if (PyObject_TypeCheck(h.ptr(), g_tensor_type) != 0) out.push_back(to_tensor(h));
  }
  return out;
}

Tensor or_undefined(const py::object& o) { return o.is_none() ? Tensor() : to_tensor(o); }

/// A TrainStep whose stages are methods of the object passed to run(): gradients(numbers of the trained parameters, None: all) -> (loss, gradients,
/// inverse scale or None), reduce(gradients, inverse) -> the two, guard(gradients, decides) -> skip, written() -> Parameters that forward may write to,
/// update(gradients, inverse, skip). It keeps no Python object.
class PyTrainStep {
 public:
  explicit PyTrainStep(bool guarded) {
    step_.forward = [](const TensorList& batch) { return to_tensor(stage("forward")(*to_python_tuple(batch))); };
    step_.gradients = [](train::TrainStep& self, const TensorList&) { return gradients(self); };
    step_.reduce_gradients = [](Gradients g) {
      const auto pair = py::cast<py::tuple>(stage("reduce")(to_python_tuple(g.of_params), or_none(g.inv_scale)));
      g.of_params = tensors_of(pair[0]);
      g.inv_scale = or_undefined(pair[1]);
      return g;
    };
    step_.transform_gradients = [](Gradients g) { return g; };
    step_.update = [](train::TrainStep&, const Gradients& g) { stage("update")(to_python_tuple(g.of_params), or_none(g.inv_scale), or_none(g.skip)); };
    if (!guarded) return;
    step_.snapshot = [] {
      std::vector<std::shared_ptr<Parameter>> slots;
      std::vector<Parameter*> parameters;
      for (const py::handle p : stage("written")()) slots.push_back(slot_of(p)), parameters.push_back(slots.back().get());
      return [slots = std::move(slots), restore = train::keep_values(parameters)](const Tensor& skip) { restore(skip); };
    };
    step_.guard = [](const Gradients& g, const Tensor&, bool decides) {
      return train::Verdict{to_tensor(stage("guard")(to_python_tuple(g.of_params), decides))};
    };
  }

  void apply(const std::vector<std::pair<std::string, py::dict>>& chosen, const py::iterable& parameters,
             const std::vector<std::pair<std::string, py::object>>& network_state, const std::vector<std::pair<py::object, double>>& moving_averages,
             double loss_scale, const std::vector<std::vector<py::object>>& states, bool wants_uses, double gradient_sum,
             const std::vector<py::object>& grouped_weights) {
    if (!algorithms_.empty()) throw ValueError("the algorithms of a training step are chosen once", "TrainStep.apply");
    train::BuildContext context{.gradient_sum = gradient_sum, .loss_scale = loss_scale};
    step_.wants_uses = wants_uses;
    const auto slot = [this](py::handle p) {
      kept_.push_back(slot_of(p));
      return kept_.back().get();
    };
    for (const py::handle p : parameters) context.parameters.push_back(slot(p));
    for (const auto& [name, p] : network_state) context.network_state.emplace_back(name, slot(p));
    for (const auto& [p, momentum] : moving_averages) context.moving_averages.push_back({slot(p), momentum});
    for (const py::object& p : grouped_weights) context.grouped_weights.push_back(slot(p));
    step_.parameters = context.parameters;
    std::vector<std::vector<Parameter*>> of;
    for (const std::vector<py::object>& list : states) {
      of.emplace_back();
      for (const py::object& p : list) of.back().push_back(slot(p));
    }
    if (!of.empty()) step_.state_of = [of = std::move(of)](size_t i) { return of.at(i); };
    std::vector<BoostAlgorithmPtr> made;
    for (const auto& [name, settings] : chosen) made.push_back(train::boosts().make(name, settings_of(settings)));
    algorithms_ = train::apply_boosts(step_, context, made);
  }

  py::tuple run(const py::object& inputs, const py::object& stages) {
    const Within within(stages);
    const train::StepResult r = train::run_stages(step_, tensors_among(inputs));
    return py::make_tuple(to_python(r.loss), or_none(r.finite));
  }

  // Passes the parts of TrainState that exist in Python; open_data() returns an iterator of batches.
  void event(const std::string& name, int64_t step, int64_t steps_per_epoch, bool epoch_complete, const py::object& open_data, const py::object& stages) {
    static const std::map<std::string, train::Event> events = {{"begin", train::Event::kBegin},          {"epoch_begin", train::Event::kEpochBegin},
                                                               {"step_begin", train::Event::kStepBegin}, {"step_end", train::Event::kStepEnd},
                                                               {"epoch_end", train::Event::kEpochEnd},   {"end", train::Event::kEnd}};
    const auto it = events.find(name);
    if (it == events.end()) throw ValueError(fmt::format("no event is named '{}'", name), "TrainStep.event");
    const Within within(stages);
    train::TrainState state;
    state.cur_step_num = step;
    state.batch_num = steps_per_epoch;
    state.epoch_complete = epoch_complete;
    state.algorithms = algorithms_;
    if (!open_data.is_none()) {
      state.open_data = [&open_data] {
        const py::iterator rows = py::iter(open_data());
        return [rows](std::vector<Tensor>* batch) {
          const py::object row = py::reinterpret_steal<py::object>(PyIter_Next(rows.ptr()));
          if (!row && PyErr_Occurred() != nullptr) throw py::error_already_set();
          if (row) *batch = tensors_of(row);
          return static_cast<bool>(row);
        };
      };
    }
    for (const BoostAlgorithmPtr& a : algorithms_) a->on_event(it->second, state);
  }

  py::list state() const {
    py::list out;
    for (const BoostAlgorithmPtr& a : algorithms_) {
      for (Parameter* p : a->state()) out.append(to_python(std::shared_ptr<Parameter>(a, p)));
    }
    return out;
  }

  std::vector<std::string> own_state() const {
    std::vector<std::string> out;
    for (const BoostAlgorithmPtr& a : algorithms_)
      for (const Parameter* p : a->own_state()) out.push_back(p->name());
    return out;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const BoostAlgorithmPtr& a : algorithms_) out.push_back(a->name());
    return out;
  }

  BoostAlgorithmPtr algorithm(const std::string& name) const {
    for (const BoostAlgorithmPtr& a : algorithms_) {
      if (a->name() == name) return a;
    }
    throw ValueError(fmt::format("no training algorithm named '{}' is in force", name), "TrainStep",
                     algorithms_.empty() ? "the training cell has none" : fmt::format("there are {}", fmt::join(names(), ", ")));
  }

  std::vector<std::pair<std::string, double>> columns(int64_t step) const {
    train::TrainState state;
    state.cur_step_num = step;
    std::vector<std::pair<std::string, double>> out;
    for (const BoostAlgorithmPtr& a : algorithms_) {
      for (auto& column : a->columns(state)) out.push_back(std::move(column));
    }
    return out;
  }

  train::TrainStep& step() { return step_; }
  void set_needs_whole(py::function of) {
    needs_whole_ = std::move(of);
    step_.needs_whole = [this](int64_t update) { return needs_whole_(update).cast<bool>(); };
  }

 private:
  // The object whose methods are the stages, on this thread, during run() or event().
  static const py::object*& current() {
    thread_local const py::object* stages = nullptr;
    return stages;
  }
  struct Within {
    explicit Within(const py::object& stages) : before(std::exchange(current(), &stages)) {}
    ~Within() { current() = before; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    const py::object* before;
  };
  static py::object stage(const char* name) {
    if (current() == nullptr) throw InternalError("a stage of the training step was called outside of it");
    return current()->attr(name);
  }

  // Returns the gradients of the parameters that the step trains; Python's reduction over ranks sees zeros for the others.
  static std::pair<Tensor, Gradients> gradients(const train::TrainStep& self) {
    std::vector<size_t> trained;
    for (size_t i = 0; i < self.left_out.size(); ++i)
      if (!self.left_out[i]) trained.push_back(i);
    const auto made = py::cast<py::tuple>(stage("gradients")(self.left_out.empty() ? py::object(py::none()) : py::object(py::cast(trained))));
    Gradients g;
    g.of_params = tensors_of(made[1]);
    if (!self.left_out.empty()) {
      TensorList of_all;
      for (size_t i = 0, next = 0; i < self.left_out.size(); ++i)
        of_all.push_back(self.left_out[i] ? ops::full(self.parameters[i]->shape(), 0, self.parameters[i]->dtype()) : std::move(g.of_params.at(next++)));
      g.of_params = std::move(of_all);
      g.untrained = self.left_out;
    }
    g.inv_scale = or_undefined(made[2]);
    return {to_tensor(made[0]), std::move(g)};
  }

  train::TrainStep step_;
  py::function needs_whole_;
  std::vector<std::shared_ptr<Parameter>> kept_;
  std::vector<BoostAlgorithmPtr> algorithms_;
};

struct PyOtherWeights {
  BoostAlgorithmPtr algorithm;
  std::unique_ptr<train::OtherWeights> scope;
};

py::dict registered() {
  py::dict out;
  for (const std::string& name : train::boosts().names()) {
    const Registered& info = train::boosts().info(name);
    py::dict settings;
    for (const SettingSpec& s : info.settings) settings[s.name] = py::make_tuple(s.fallback, s.doc);
    out[py::str(name)] = py::make_tuple(info.doc, settings);
  }
  return out;
}

// Returns (the gradients of the update, whether it must be skipped or None), or None if no update is due.
py::object collect_gradients(const py::iterable& sums, const py::handle& count, int64_t steps, const py::iterable& gradients) {
  std::vector<Parameter*> slots;
  for (const py::handle p : sums) slots.push_back(slot_of(p).get());
  Gradients g;
  g.of_params = tensors_of(gradients);
  Parameter& counter = *slot_of(count);
  int64_t elements = 0;
  for (const Tensor& t : g.of_params) elements += t.numel();
  const std::optional<Gradients> due = without_lock(elements, [&] { return boost::collect_gradients(slots, counter, steps, std::move(g)); });
  return due ? py::object(py::make_tuple(to_python_tuple(due->of_params), or_none(due->skip))) : py::object(py::none());
}

}  // namespace

void bind_train_step(py::module_& m) {
  // Defined before the functions that return one: signatures name it.
  py::class_<PyOtherWeights>(m, "OtherWeights", "Inside `with`, the network has the other weights of an algorithm.")
      .def("__enter__",
           [](PyOtherWeights& w) {
             if (w.scope != nullptr) throw ValueError("the weights are in force already", "OtherWeights");
             w.scope = std::make_unique<train::OtherWeights>(*w.algorithm);
           })
      .def("__exit__", [](PyOtherWeights& w, const py::args&) { w.scope.reset(); });
  py::class_<PyTrainStep>(m, "TrainStep", "The stages of a training step (include/sindri/train/train_step.h), with algorithms around them.")
      .def(py::init<bool>(), py::arg("guarded"))
      .def("apply", &PyTrainStep::apply, py::arg("algorithms"), py::arg("parameters"), py::arg("network_state"), py::arg("moving_averages"),
           py::arg("loss_scale") = 1.0, py::arg("states") = std::vector<std::vector<py::object>>(), py::arg("wants_uses") = false,
           py::arg("gradient_sum") = 1.0, py::arg("grouped_weights") = std::vector<py::object>(),
           "Creates the algorithms, [(name, {setting: value})], which wrap the stages.")
      .def("run", &PyTrainStep::run, py::arg("inputs"), py::arg("stages"),
           "Runs one step: calls gradients(numbers of the trained parameters), reduce(), guard() and update() of `stages`. Returns (loss, finite: False if the "
           "step was skipped, None if steps are not guarded).")
      .def("event", &PyTrainStep::event, py::arg("name"), py::arg("step"), py::arg("steps_per_epoch"), py::arg("epoch_complete"), py::arg("open_data"),
           py::arg("stages"), "Passes an event of the training loop to the algorithms.")
      .def(
          "variant_at", [](PyTrainStep& s, int64_t step) { return s.step().variant_at(step); }, py::arg("step"),
          "Returns the number of the graph that the step with this number uses, counted from 0.")
      .def(
          "set_variant", [](PyTrainStep& s, int variant) { s.step().set_variant(variant); }, py::arg("variant"))
      .def(
          "updates", [](PyTrainStep& s, int64_t step) { return s.step().updates(step); }, py::arg("step"), "Returns whether that step ends with an update.")
      .def_property_readonly("algorithms", &PyTrainStep::names)
      .def_property_readonly("ranks_per_group", [](PyTrainStep& s) { return s.step().ranks_per_group; })
      .def("set_needs_whole", &PyTrainStep::set_needs_whole, py::arg("of"),
           "Sets of(number of an update), which returns whether the update needs the gradients of all parameters, so that none is skipped.")
      .def_property_readonly("steps_per_update", [](PyTrainStep& s) { return s.step().steps_per_update; })
      .def(
          "plan",
          [](PyTrainStep& s, int64_t first, int64_t end) {
            s.step().last_step = end - 1;
            train::warn_without_updates(s.step(), first, end);
          },
          py::arg("first"), py::arg("end"), "Announces the steps of a training run to the algorithms; warns if none of them ends with an update.")
      .def("state", &PyTrainStep::state, "Returns the Parameters that a checkpoint must contain.")
      .def("own_state", &PyTrainStep::own_state, "Returns the names of the Parameters of state() and of the optimizer that differ between ranks.")
      .def("columns", &PyTrainStep::columns, py::arg("step"))
      .def(
          "other_weights",
          [](PyTrainStep& s, const std::string& name) {
            train::check_keeps_weights(name);
            return PyOtherWeights{s.algorithm(name), nullptr};
          },
          py::arg("algorithm"), py::keep_alive<0, 1>(), "Returns a context manager within which the network has the other weights of that algorithm.");
  m.def("collect_gradients", &collect_gradients, py::arg("sums"), py::arg("count"), py::arg("steps"), py::arg("gradients"),
        "Runs one step of gradient accumulation; returns (sums, skip or None) if an update is due, otherwise None.");
  m.def(
      "inverse_scale", [](const Tensor& scale, const py::iterable& gradients) { return train::inverse_scale(scale, tensors_of(gradients)); }, py::arg("scale"),
      py::arg("gradients"), "Returns 1/scale as float32, or as float64 if one of the gradients is.");
  m.def(
      "next_loss_scale",
      [](const Tensor& scale, const Tensor& current, const Tensor& last, const Tensor& overflow, double factor, int64_t window) {
        const train::LossScaleState s = train::next_loss_scale({scale, current, last}, overflow, factor, window);
        return std::tuple(s.scale, s.current, s.last);
      },
      py::arg("scale"), py::arg("current"), py::arg("last"), py::arg("overflow"), py::arg("factor"), py::arg("window"),
      "Returns (scale, current, last) after a step, by the rule of DynamicLossScaleUpdateCell.");
  m.def(
      "next_loss_scaler",
      [](const Tensor& scale, const Tensor& counter, const Tensor& finite, double factor, int64_t window) {
        const train::LossScalerState s = train::next_loss_scaler({scale, counter}, finite, factor, window);
        return std::tuple(s.scale, s.counter);
      },
      py::arg("scale"), py::arg("counter"), py::arg("finite"), py::arg("factor"), py::arg("window"),
      "Returns (scale, counter) after a step, by the rule of amp.DynamicLossScaler.");
  m.def(
      "next_loss_scale_count",
      [](double scale, int64_t current, int64_t last_overflow, int64_t overflows, bool overflow, double increase, double decrease, int64_t window) {
        train::LossScaleCount c{scale, current, last_overflow, overflows};
        c.next(overflow, increase, decrease, window);
        return std::tuple(c.scale, c.current, c.last_overflow, c.overflows);
      },
      py::arg("scale"), py::arg("current"), py::arg("last_overflow"), py::arg("overflows"), py::arg("overflow"), py::arg("increase"), py::arg("decrease"),
      py::arg("window"), "Returns the four values after a step, by the rule of DynamicLossScaleManager.");
  m.def(
      "check_loss_scales",
      [](const std::string& manager, double scale, bool drops, const std::string& optimizer, double own) {
        train::check_loss_scales(manager, scale, drops, optimizer, own, true);
      },
      py::arg("manager"), py::arg("scale"), py::arg("drops"), py::arg("optimizer"), py::arg("own"),
      "Raises ValueError unless gradients are divided exactly once by the factor that the loss is multiplied by.");
  m.def("freeze_starts", &boost::freeze_starts, py::arg("names"), py::arg("groups"),
        "Returns the first parameter that each variant of gradient freezing trains.");
  m.def("freeze_sequence", &boost::freeze_sequence, py::arg("groups"), py::arg("type"), py::arg("p"), py::arg("steps"), py::arg("seed"),
        "Returns the variant of each step.");
  m.def(
      "check_boost_settings", [](const std::string& name, const py::dict& settings) { (void)train::boosts().make(name, settings_of(settings)); },
      py::arg("name"), py::arg("settings"), "Raises ValueError if a registered training algorithm does not accept these settings.");
  m.def("boost_algorithms", &registered, "Returns {name: (doc, {setting: (default, doc)})} of the registered training algorithms.");
}

}  // namespace sindri::python
