// The optimizers of the C++ library, on which Python's classes are based. Python implements argument forms, MindSpore's attributes and hooks.
#include "python/src/casters.h"
#include "python/src/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/comm.h"
#include "sindri/optim/lamb.h"
#include "sindri/optim/registry.h"
#include "sindri/optim/thor.h"

namespace sindri::python {

namespace {

using optim::LearningRate;
using optim::Optimizer;
using optim::ParamGroup;
using optim::WeightDecay;

/// A Python Cell that computes a value from the step, called by the C++ side. As in MindSpore, it receives the optimizer's Parameter global_step.
class PyStepFunction final : public optim::LearningRateSchedule {
 public:
  explicit PyStepFunction(py::object cell) : cell_(std::move(cell)) {}
  ~PyStepFunction() override {
    if (Py_IsInitialized() == 0) {  // the process is ending
      cell_.release();
      return;
    }
    const py::gil_scoped_acquire acquire;
    cell_ = {};
  }
  void set_step(PyObject* step) { step_ = step; }
  const py::object& cell() const { return cell_; }
  void forget_cell() { const py::object last = std::exchange(cell_, py::none()); }
  Tensor construct(const Tensor&) const override {
    const py::gil_scoped_acquire acquire;
    return to_tensor(cell_(py::handle(step_)));
  }

 private:
  py::object cell_;
  PyObject* step_ = nullptr;  // owned by the PyOptimizer, whose Optimizer calls this object
};

/// Groups, learning rates and state for a rule that Python code computes.
class WithoutRule final : public Optimizer {
 public:
  WithoutRule(std::string name, optim::Params params, const optim::OptimizerOptions& o) : Optimizer(std::move(name), std::move(params), o) { init_state(); }

 protected:
  std::vector<Slot> slots() const override { return {}; }
  Tensor update(const Parameter&, const Tensor&, const Tensor&, double, const optim::UpdateControl&, const std::vector<Parameter*>&) override {
    throw InternalError(name() + " has no rule");
  }
};

class PyOptimizer {
 public:
  /// rule: a name of optim::optimizers(), empty for none. groups: (parameters, rate, decay, centralise). If rate or decay is None, the optimizer's value
  /// applies. A rate is a number, a list or a Cell of the step; a decay is a number or a Cell.
  PyOptimizer(const std::string& rule, const std::string& name, const py::list& groups, bool grouped, const py::object& order, const py::object& rate,
              const py::object& decay, double loss_scale, const py::dict& settings) {
    optim::OptimizerOptions options{.learning_rate = rate_of(rate), .weight_decay = decay_of(decay)};
    std::vector<ParamGroup> list;
    for (const py::handle h : groups) {
      const auto group = py::reinterpret_borrow<py::tuple>(h);
      ParamGroup g{.params = parameters_of(group[0]), .grad_centralization = py::cast<bool>(group[3])};
      if (!group[1].is_none()) g.lr = rate_of(group[1]);
      if (!group[2].is_none()) g.weight_decay = decay_of(group[2]);
      list.push_back(std::move(g));
    }
    if (!order.is_none()) list.push_back({.order_params = parameters_of(order)});
    optim::Params params = grouped ? optim::Params(std::move(list)) : optim::Params(std::move(list.at(0).params));
    if (rule.empty()) {
      options.loss_scale = loss_scale;
      optimizer_ = std::make_shared<WithoutRule>(name, std::move(params), options);
    } else {
      std::map<std::string, SettingValue> given = settings_of(settings);
      if (optim::optimizers().info(rule).find("loss_scale") != nullptr) given["loss_scale"] = loss_scale;
      optimizer_ = optim::optimizers().make(rule, given, std::move(params), options);
    }
    global_step_ = hand_out(&optimizer_->global_step());
    for (const auto& f : functions_) f->set_step(global_step_.ptr());
    for (Parameter* p : optimizer_->state()) kept_.push_back(std::shared_ptr<Parameter>(optimizer_, p));
  }

  void apply(const py::iterable& gradients, const Tensor& inv_scale, const Tensor& skip) {
    const TensorList grads = tensors(gradients);
    keep();
    without_lock(elements(grads), [&] { optimizer_->apply(grads, inv_scale, skip); });
  }
  void apply_rule(const py::iterable& gradients, const py::iterable& rates, const py::iterable& decays, const Tensor& skip, bool advance) {
    const TensorList grads = tensors(gradients), lr = tensors(rates), decay = tensors(decays);
    keep();
    without_lock(elements(grads), [&] { optimizer_->apply_rule(grads, lr, decay, skip, advance); });
  }
  /// Returns the preconditioned gradients for gradients and their uses (tuples of sindri.autograd.ParamUse), in a step of the given variant. A skipped step
  /// leaves the optimizer's state unchanged. group: the ranks over which means are computed; empty: a single rank.
  py::tuple precondition(const py::iterable& gradients, const py::iterable& uses, int variant, const Tensor& skip, const std::string& group) {
    Gradients g;
    g.of_params = tensors(gradients), g.skip = skip, g.variant = variant;
    if (!group.empty()) {
      const comm::Communicator& ranks = comm::find_group(group);
      g.group = group, g.rank = ranks.rank(), g.ranks = ranks.size();
      g.mean_over_parts = [group](const std::vector<TensorList>& own) {
        return ops::all_reduce(own.at(0), {.op = "mean", .group = group, .what = "mean over parts"});
      };
    }
    for (const py::handle h : uses) g.uses.push_back(param_use(py::reinterpret_borrow<py::tuple>(h)));
    keep();
    without_lock(elements(g.of_params), [&] { g = optimizer_->precondition(std::move(g)); });
    return to_python_tuple(g.of_params);
  }
  int variant(int64_t step) const {
    const py::gil_scoped_release release;
    return optimizer_->variant(step);
  }
  /// Returns the state created since the previous call, for optimizers whose state is created by their first step.
  py::list new_states() {
    py::list out;
    for (Parameter* p : optimizer_->state()) {
      const auto known = [p](const auto& k) { return k.get() == p; };
      if (std::any_of(kept_.begin(), kept_.end(), known)) continue;
      kept_.push_back(std::shared_ptr<Parameter>(optimizer_, p));
      out.append(hand_out(p));
    }
    return out;
  }
  void expect_state(const std::map<std::string, std::pair<std::vector<int64_t>, DType>>& stored) {
    std::map<std::string, TensorMeta> metas;
    for (const auto& [name, meta] : stored) metas[name] = {Shape(meta.first), meta.second, Layout::kContiguous, Device{}};
    optimizer_->expect_state(metas);
  }
  void set_damping(const py::object& damping) {
    auto* const thor = dynamic_cast<optim::Thor*>(optimizer_.get());
    if (thor == nullptr) throw InternalError(optimizer_->name() + " has no damping");
    thor->set_damping(rate_of(damping));
    for (const auto& f : functions_) f->set_step(global_step_.ptr());
  }
  void set_frequency(int64_t frequency) {
    auto* const thor = dynamic_cast<optim::Thor*>(optimizer_.get());
    if (thor == nullptr) throw InternalError(optimizer_->name() + " has no frequency");
    thor->set_frequency(frequency);
  }
  bool knows_layers() const {
    const auto* const thor = dynamic_cast<const optim::Thor*>(optimizer_.get());
    return thor != nullptr && thor->knows_layers();
  }
  /// Returns (parameter, kind, width of A, width of G, bytes of the inverses) of the preconditioned parameters.
  py::list curvature() const {
    const auto* const thor = dynamic_cast<const optim::Thor*>(optimizer_.get());
    py::list out;
    if (thor != nullptr)
      for (const auto& c : thor->curvature()) out.append(py::make_tuple(c.param, c.kind, c.a_dim, c.g_dim, c.bytes));
    return out;
  }
  /// Returns, for the parameters in update order, their positions in the given order.
  std::vector<size_t> order() const {
    std::vector<size_t> out;
    for (const Parameter* p : optimizer_->parameters())
      out.push_back(static_cast<size_t>(std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g.get() == p; }) - given_.begin()));
    return out;
  }
  py::list states(size_t slot) {
    py::list out;
    for (size_t i = 0; i < optimizer_->parameters().size(); ++i) out.append(hand_out(optimizer_->state_of(i).at(slot)));
    return out;
  }
  py::list shared() {
    py::list out;
    for (Parameter* p : optimizer_->shared_states()) out.append(hand_out(p));
    return out;
  }
  /// Returns the Parameter with the learning rate of each parameter, one object for those that share it; None for a Cell of the step.
  py::list rates() {
    py::list out;
    std::vector<std::pair<Parameter*, py::object>> known;
    for (size_t i = 0; i < optimizer_->parameters().size(); ++i) {
      Parameter* slot = optimizer_->rate_slot(i);
      const auto same = [slot](const auto& k) { return k.first == slot; };
      if (std::none_of(known.begin(), known.end(), same)) known.emplace_back(slot, slot == nullptr ? py::object(py::none()) : hand_out(slot));
      out.append(std::find_if(known.begin(), known.end(), same)->second);
    }
    return out;
  }
  py::object global_step() const { return global_step_; }
  Optimizer& get() { return *optimizer_; }

  // A Cell of the step may reference this object: Python's collector must see the cycle to free it.
  static void collectable(PyHeapTypeObject* heap_type) {
    PyTypeObject* const type = &heap_type->ht_type;
    type->tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
      Py_VISIT(Py_TYPE(self));
      const PyOptimizer* const mine = of(self);
      if (mine == nullptr) return 0;
      for (const auto& f : mine->functions_) Py_VISIT(f->cell().ptr());
      return 0;
    };
    type->tp_clear = [](PyObject* self) {
      if (const PyOptimizer* const mine = of(self))
        for (const auto& f : mine->functions_) f->forget_cell();
      return 0;
    };
  }

 private:
  // Null while Python is still constructing it.
  static PyOptimizer* of(PyObject* self) {
    const auto v = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
    return v.holder_constructed() ? v.value_ptr<PyOptimizer>() : nullptr;
  }
  static int64_t elements(const TensorList& list) {
    int64_t sum = 0;
    for (const Tensor& t : list) sum += t.defined() ? t.numel() : 0;
    return sum;
  }
  static TensorList tensors(const py::iterable& list) {
    TensorList out;
    for (const py::handle h : list) out.push_back(h.is_none() ? Tensor() : to_tensor(h));
    return out;
  }
  std::shared_ptr<PyStepFunction> function_of(const py::object& cell) {
    for (const auto& f : functions_)
      if (f->cell().is(cell)) return f;  // groups that share a Cell share its result
    return functions_.emplace_back(std::make_shared<PyStepFunction>(cell));
  }
  LearningRate rate_of(const py::object& rate) {
    if (py::isinstance<py::float_>(rate)) return py::cast<double>(rate);
    if (py::isinstance<py::list>(rate)) return py::cast<std::vector<float>>(rate);
    return function_of(rate);
  }
  WeightDecay decay_of(const py::object& decay) {
    if (py::isinstance<py::float_>(decay)) return py::cast<double>(decay);
    return function_of(decay);
  }
  std::vector<Parameter*> parameters_of(const py::handle& list) {
    std::vector<Parameter*> out;
    for (const py::handle h : list) {
      const std::shared_ptr<Parameter>& p = slot_of(h);
      out.push_back(p.get());
      if (std::find(given_.begin(), given_.end(), p) == given_.end()) given_.push_back(p);
    }
    return out;
  }
  // Converts a sindri.autograd.ParamUse.
  static ParamUse param_use(const py::tuple& use) {
    ParamUse out{.param = slot_of(use[0]).get()};
    if (const auto op = py::cast<std::string>(use[1]); !op.empty()) {
      out.op = &find_op(op);
      out.attrs = out.op->attrs.make(to_fields(*out.op, use[2]));
    }
    out.operand = py::cast<size_t>(use[3]);
    for (const py::handle t : use[4]) out.operands.push_back(to_tensor(t));
    for (const py::handle step : use[5]) {
      const auto pair = py::reinterpret_borrow<py::tuple>(step);
      const OpDef& op = find_op(py::cast<std::string>(pair[0]));
      out.path.push_back({&op, op.attrs.make(to_fields(op, pair[1]))});
    }
    if (!use[6].is_none()) out.output_grad = to_tensor(use[6]);
    if (!use[7].is_none()) out.loss_scale = to_tensor(use[7]);
    return out;
  }
  // Returns state as a Python Parameter that keeps the optimizer alive.
  py::object hand_out(Parameter* p) {
    p->requires_grad = true;  // as in MindSpore's clones of parameters
    return to_python(std::shared_ptr<Parameter>(optimizer_, p));
  }
  // A compiled function keeps alive what it reads and writes.
  void keep() const {
    ParameterKeeper* keeper = ParameterKeeper::current();
    if (keeper == nullptr) return;
    for (const auto& p : given_) keeper->add(p);
    for (const auto& p : kept_) keeper->add(p);
  }

  std::vector<std::shared_ptr<Parameter>> given_, kept_;
  std::vector<std::shared_ptr<PyStepFunction>> functions_;
  std::shared_ptr<Optimizer> optimizer_;
  py::object global_step_;
};

}  // namespace

void bind_optim(py::module_& m) {
  py::class_<PyOptimizer>(m, "Optimizer", py::custom_type_setup(&PyOptimizer::collectable), "An optimizer of the C++ library.")
      .def(py::init<const std::string&, const std::string&, const py::list&, bool, const py::object&, const py::object&, const py::object&, double,
                    const py::dict&>(),
           py::arg("rule"), py::arg("name"), py::arg("groups"), py::arg("grouped"), py::arg("order"), py::arg("rate"), py::arg("decay"), py::arg("loss_scale"),
           py::arg("settings"))
      .def("apply", &PyOptimizer::apply, py::arg("gradients"), py::arg("inv_scale") = py::none(), py::arg("skip") = py::none(),
           "Updates every parameter; if the bool `skip` is true, everything stays unchanged.")
      .def("apply_rule", &PyOptimizer::apply_rule, py::arg("gradients"), py::arg("rates"), py::arg("decays") = py::tuple(), py::arg("skip") = py::none(),
           py::arg("advance") = true, "Applies the rule alone, to gradients that are already decayed, centralised and unscaled.")
      .def("precondition", &PyOptimizer::precondition, py::arg("gradients"), py::arg("uses"), py::arg("variant"), py::arg("skip") = py::none(),
           py::arg("group") = "", "Returns the gradients for apply(), from the gradients and uses (tuples of ParamUse) of a step.")
      .def("variant", &PyOptimizer::variant, py::arg("step"), "Returns the form of that step.")
      .def("new_states", &PyOptimizer::new_states, "Returns the state created since the previous call.")
      .def("expect_state", &PyOptimizer::expect_state, py::arg("stored"),
           "Announces the contents of a file, (shape, type) by name, before state is read from it.")
      .def("set_damping", &PyOptimizer::set_damping, py::arg("damping"), "Sets THOR's damping: a number, a list or a Cell of the step.")
      .def("set_frequency", &PyOptimizer::set_frequency, py::arg("frequency"), "Sets the number of THOR's updates from one refresh to the next.")
      .def("knows_layers", &PyOptimizer::knows_layers, "Whether THOR's steps between refreshes need no uses.")
      .def("curvature", &PyOptimizer::curvature,
           "Returns (parameter, kind, width of A, width of G, bytes of the inverses) of the parameters that THOR preconditions.")
      .def("order", &PyOptimizer::order)
      .def("states", &PyOptimizer::states, py::arg("slot"))
      .def("shared", &PyOptimizer::shared)
      .def("rates", &PyOptimizer::rates)
      .def_property_readonly("global_step", &PyOptimizer::global_step)
      .def_property_readonly("needs_step_count", [](PyOptimizer& o) { return o.get().needs_step_count(); })
      .def_property_readonly("decays_gradient", [](PyOptimizer& o) { return o.get().decays_gradient(); })
      .def(
          "count_every_update", [](PyOptimizer& o, bool on) { o.get().count_every_update(on); }, py::arg("on"));
  py::class_<optim::LearningRateSchedule, std::shared_ptr<optim::LearningRateSchedule>>(m, "Schedule", "A learning-rate schedule of the C++ library.")
      .def(py::init([](const std::string& rule, const py::kwargs& settings) {
             std::map<std::string, SettingValue> given = settings_of(settings);
             given.erase("learning_rate");
             return optim::schedules().make(rule, given, optim::Course{.learning_rate = py::cast<double>(settings["learning_rate"])});
           }),
           py::arg("rule"), "Creates a schedule by name from its learning_rate (a float) and settings.")
      .def("__call__", &optim::LearningRateSchedule::construct, py::arg("global_step"), "Returns the learning rate of a step, a float32 scalar.")
      .def(
          "rates",
          [](const optim::LearningRateSchedule& s, int64_t total_step, int64_t step_per_epoch, const std::string& who) {
            return optim::rates_of(s, total_step, step_per_epoch, who.c_str());
          },
          py::arg("total_step"), py::arg("step_per_epoch"), py::arg("who"), "Returns one learning rate per step, where an epoch is one step of the schedule.");
  m.def("piecewise_constant_rates", &optim::piecewise_constant_rates, py::arg("milestone"), py::arg("learning_rates"));
  m.def("lars_gradient", &optim::lars_gradient, py::arg("param"), py::arg("grad"), py::arg("weight_decay") = py::none(), py::arg("lr") = py::none(),
        py::arg("coefficient") = 0.001, py::arg("epsilon") = 1e-5, py::call_guard<ReleaseForLongCall>(),
        "Returns the gradient that LARS passes to the optimizer it wraps; weight_decay and lr are scalars or None.");
}

}  // namespace sindri::python
