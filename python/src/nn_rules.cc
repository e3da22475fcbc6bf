// The losses and metrics of the C++ library: what Python's classes stand on. Python holds argument forms, MindSpore's attributes and hooks.
#include <fmt/format.h>

#include "python/src/op_function.h"
#include "python/src/settings.h"
#include "sindri/nn/registry.h"

namespace sindri::python {

namespace {

/// A metric by its name in nn::metrics(), counting what NumPy arrays and Tensors hold.
class PyMetric {
 public:
  PyMetric(std::string name, py::dict settings)
      : name_(std::move(name)), settings_(std::move(settings)), metric_(nn::metrics().make(name_, settings_of(settings_))) {
    metric_->allow_other_labels();
  }
  // As pickle and copy want it: name, settings, counts.
  py::tuple saved() const { return py::make_tuple(name_, settings_, metric_->saved()); }
  static std::unique_ptr<PyMetric> from_saved(const py::tuple& state) {
    auto metric = std::make_unique<PyMetric>(py::cast<std::string>(state[0]), py::cast<py::dict>(state[1]));
    metric->metric_->restore(py::cast<std::vector<double>>(state[2]));
    return metric;
  }
  void update(const py::args& inputs) {
    std::vector<Tensor> in;
    for (const py::handle h : inputs) in.push_back(to_tensor(h));
    try {
      const py::gil_scoped_release release;
      metric_->update(in);
    } catch (const DataError& e) {
      // What MindSpore raises for a label that is no class.
      throw ValueError(e.message(), e.where(), e.fix());
    }
  }
  void clear() { metric_->clear(); }
  std::vector<double> eval() const { return metric_->eval(); }
  double value() const { return metric_->value(); }
  bool empty() const { return metric_->empty(); }
  std::map<std::string, std::vector<double>> counts() const { return metric_->counts(); }

 private:
  std::string name_;
  py::dict settings_;
  nn::MetricPtr metric_;
};

/// The body of a callable that computes a registered loss: f(inputs…, optional tensors…, settings…, reduction) by position, the last where the
/// loss reduces in its own way; what is left out behind the inputs is undefined or at its default.
class LossFunction {
 public:
  explicit LossFunction(const Registry<nn::MakeLoss>::Entry& entry) : entry_(entry), given_(entry.settings.size()), rule_(rule_of(given_)) {}

  static PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* keywords) {
    auto* const body = static_cast<LossFunction*>(reinterpret_cast<OpFunction*>(self)->body);
    return guarded([&]() -> PyObject* {
      if (keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0) throw py::type_error(body->entry_.name + " takes its arguments by position");
      return body->run({args, static_cast<size_t>(PyVectorcall_NARGS(nargs))});
    });
  }

 private:
  PyObject* run(Span<PyObject* const> args) {
    const size_t inputs = rule_->inputs.size(), tensors = inputs + rule_->optional.size();
    const size_t reduction = tensors + given_.size(), most = reduction + (rule_->reduced ? 1 : 0);
    if (args.size() < inputs || args.size() > most)
      throw py::type_error(fmt::format("{} takes {} to {} arguments, got {}", entry_.name, inputs, most, args.size()));
    std::vector<Tensor> in(tensors);
    int64_t elements = 0;
    for (size_t i = 0; i < std::min(tensors, args.size()); ++i) {
      if (args[i] == Py_None && i >= inputs) continue;
      PyTensor* const t = tensor_of(args[i]);
      if (t == nullptr)
        throw py::type_error(fmt::format("{}: {} must be a Tensor, got {} of type {}", entry_.name, i < inputs ? rule_->inputs[i] : rule_->optional[i - inputs],
                                         std::string(py::repr(args[i])), Py_TYPE(args[i])->tp_name));
      in[i] = t->value();
      elements += in[i].numel();
    }
    // What is left out is null: the default.
    const auto setting = [&](size_t i) { return tensors + i < args.size() ? args[tensors + i] : nullptr; };
    bool same = true;
    for (size_t i = 0; i < given_.size(); ++i) same = same && given_[i].ptr() == setting(i);
    if (!same) {
      std::vector<py::object> given(given_.size());
      for (size_t i = 0; i < given.size(); ++i) given[i] = py::reinterpret_borrow<py::object>(setting(i));
      auto made = rule_of(given);  // may refuse the settings: then the last rule stays with its own
      given_.swap(given), rule_ = std::move(made);
    }
    const std::shared_ptr<const nn::LossRule> rule = rule_;  // another thread may settle meanwhile
    if (rule->terms) return op_result(without_lock(elements, [&] { return rule->terms(in); }));
    const std::string how = args.size() > reduction ? py::cast<std::string>(py::handle(args[reduction])) : "mean";
    return op_result(without_lock(elements, [&] { return rule->reduced(in, how); }));
  }

  std::shared_ptr<const nn::LossRule> rule_of(const std::vector<py::object>& given) const {
    std::map<std::string, SettingValue> values;
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i]) values[entry_.settings[i].name] = setting_of(given[i]);
    return std::make_shared<const nn::LossRule>(entry_.make(SettingValues(entry_.name, entry_.settings, values)));
  }

  const Registry<nn::MakeLoss>::Entry& entry_;
  std::vector<py::object> given_;  // what rule_ was made of
  std::shared_ptr<const nn::LossRule> rule_;
};

py::object loss_rule(const py::module_& m, const std::string& name) {
  const auto& entry = nn::losses().find(name);
  const auto other = [](const py::args&, const py::kwargs&) -> py::object { throw py::type_error("losses are called by position"); };
  py::module_ scope = m;
  return make_op_function(scope, entry.name.c_str(), py::cpp_function(other, py::name(entry.name.c_str()), py::scope(m), entry.doc.c_str()),
                          &LossFunction::call, new LossFunction(entry));  // as functions, they stay for the life of the process
}

}  // namespace

void bind_nn_rules(py::module_& m) {
  m.def(
      "loss_rule", [m](const std::string& name) { return loss_rule(m, name); }, py::arg("name"),
      "The function of a registered loss: its inputs, tensors that may be None, then its settings, all by position; terms to be reduced, or the loss "
      "itself where it reduces by weight.");
  def_documented_op(
      m, "reduce_loss", "weights·factor·x, reduced over all dimensions: 'mean', 'sum' or 'none'; half types in float32.",
      [](const Tensor& x, const Tensor& weights, double factor, const std::string& reduction) { return nn::reduce_loss(x, weights, factor, reduction); },
      py::arg("x"), py::arg("weights") = py::none(), py::arg("factor") = 1.0, py::arg("reduction") = "mean");
  py::class_<PyMetric>(m, "Metric", "A metric of the C++ library by its name.")
      .def(py::init([](const std::string& name, const py::kwargs& settings) { return std::make_unique<PyMetric>(name, settings); }), py::arg("name"))
      .def(py::pickle([](const PyMetric& metric) { return metric.saved(); }, &PyMetric::from_saved))
      .def("update", &PyMetric::update, "Adds a batch of Tensors or arrays.")
      .def("clear", &PyMetric::clear)
      .def("eval", &PyMetric::eval, "All numbers of the result.")
      .def("value", &PyMetric::value, "The result as one number.")
      .def("counts", &PyMetric::counts, "What the result is made of, by MindSpore's names.")
      .def_property_readonly("empty", &PyMetric::empty, "Whether nothing was counted since clear().");
}

}  // namespace sindri::python
