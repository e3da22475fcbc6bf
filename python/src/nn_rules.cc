// The losses and metrics of the C++ library, on which Python's classes are based. Python implements argument forms, MindSpore's attributes and hooks.
#include <fmt/format.h>

#include <bit>

#include "python/src/op_function.h"
#include "python/src/settings.h"
#include "sindri/nn/registry.h"

namespace sindri::python {

namespace {

/// A metric by its name in nn::metrics(), for NumPy arrays and Tensors.
class PyMetric {
 public:
  PyMetric(std::string name, py::dict settings)
      : name_(std::move(name)), settings_(std::move(settings)), metric_(nn::metrics().make(name_, settings_of(settings_))) {
    metric_->allow_other_labels();
  }
  // The state for pickle and copy: name, settings, counts.
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
      // MindSpore raises ValueError for a label that is not a class.
      throw ValueError(e.message(), e.where(), e.fix());
    }
  }
  // For the metric "loss" only.
  void add_loss(py::handle loss, std::optional<double> weight) {
    auto* const metric = dynamic_cast<nn::Loss*>(metric_.get());
    if (metric == nullptr) throw ValueError("the metric '" + name_ + "' takes no losses");
    const Tensor value = to_tensor(loss);
    const py::gil_scoped_release release;
    if (weight) metric->add_weighted(value, *weight);
    else metric->add_total(value);
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

// Returns str() of each word of a sequence.
std::vector<std::string> words_of(py::handle sequence) {
  std::vector<std::string> out;
  for (const py::handle word : sequence) out.push_back(py::str(word));
  return out;
}

void update_bleu(nn::BleuScore& score, const py::iterable& candidates, const py::iterable& references) {
  std::vector<std::vector<std::string>> texts;
  std::vector<std::vector<std::vector<std::string>>> lists;
  for (const py::handle text : candidates) texts.push_back(words_of(text));
  for (const py::handle list : references) {
    lists.emplace_back();
    for (const py::handle text : list) lists.back().push_back(words_of(text));
  }
  score.update(texts, lists);
}

/// The body of a callable that computes a registered loss: f(inputs…, optional tensors…, settings…, reduction) by position. Omitted arguments after
/// the inputs are undefined or have their defaults. Without a reduction, a loss with its own reduction returns the mean, any other loss its terms.
class LossFunction {
 public:
  /// where: the name in errors, such as "ops.kl_div"; may be empty.
  LossFunction(const Registry<nn::MakeLoss>::Entry& entry, std::string where)
      : entry_(entry), where_(std::move(where)), given_(entry.settings.size()), rule_(rule_of(given_)) {}

  static PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* keywords) {
    auto* const body = static_cast<LossFunction*>(reinterpret_cast<OpFunction*>(self)->body);
    return guarded([&]() -> PyObject* {
      if (keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0) body->fail("takes its arguments by position");
      try {
        return body->run({args, static_cast<size_t>(PyVectorcall_NARGS(nargs))});
      } catch (Error& e) {
        if (!body->where_.empty()) e.add_where(body->where_);
        throw;
      }
    });
  }

 private:
  PyObject* run(Span<PyObject* const> args) {
    const size_t inputs = rule_->inputs.size(), tensors = inputs + rule_->optional.size();
    const size_t reduction = tensors + given_.size(), most = reduction + 1;
    if (args.size() < inputs || args.size() > most) fail(fmt::format("takes {} to {} arguments, got {}", inputs, most, args.size()));
    std::vector<Tensor> in(tensors);
    int64_t elements = 0;
    for (size_t i = 0; i < std::min(tensors, args.size()); ++i) {
      if (args[i] == Py_None && i >= inputs) continue;
      PyTensor* const t = tensor_of(args[i]);
      if (t == nullptr)
        fail(fmt::format("{} must be a Tensor, got {} of type {}", i < inputs ? rule_->inputs[i] : rule_->optional[i - inputs], std::string(py::repr(args[i])),
                         Py_TYPE(args[i])->tp_name));
      in[i] = t->value();
      elements += in[i].numel();
    }
    // An omitted setting is null: the default.
    const auto setting = [&](size_t i) { return tensors + i < args.size() ? args[tensors + i] : nullptr; };
    bool same = true;
    for (size_t i = 0; i < given_.size(); ++i) same = same && alike(given_[i].ptr(), setting(i));
    if (!same) {
      std::vector<py::object> given(given_.size());
      for (size_t i = 0; i < given.size(); ++i) given[i] = py::reinterpret_borrow<py::object>(setting(i));
      auto made = rule_of(given);  // may throw for the settings, in which case the previous rule stays
      given_.swap(given), rule_ = std::move(made);
    }
    const std::shared_ptr<const nn::LossRule> rule = rule_;  // another thread may change rule_ meanwhile
    if (args.size() <= reduction) return op_result(without_lock(elements, [&] { return nn::compute_loss(*rule, in, ""); }));
    if (!PyUnicode_Check(args[reduction])) fail("reduction must be a str, got " + std::string(py::repr(args[reduction])));
    const std::string how = py::cast<std::string>(py::handle(args[reduction]));
    if (rule->reduced || how.empty()) nn::check_reduction(entry_.name, how);
    return op_result(without_lock(elements, [&] { return nn::compute_loss(*rule, in, how); }));
  }

  [[noreturn]] void fail(const std::string& message) const { throw py::type_error(entry_.name + ": " + message + (where_.empty() ? "" : " | " + where_)); }

  // Whether a setting has the same meaning as the previous one. Null: the default.
  static bool alike(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (a == nullptr || b == nullptr || !PyFloat_CheckExact(a) || !PyFloat_CheckExact(b)) return false;
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(a)) == std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(b));
  }

  std::shared_ptr<const nn::LossRule> rule_of(const std::vector<py::object>& given) const {
    std::map<std::string, SettingValue> values;
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i]) values[entry_.settings[i].name] = setting_of(given[i], entry_.settings[i].name);
    return std::make_shared<const nn::LossRule>(entry_.make(SettingValues(entry_.name, entry_.settings, values)));
  }

  const Registry<nn::MakeLoss>::Entry& entry_;
  std::string where_;
  std::vector<py::object> given_;  // the settings of rule_
  std::shared_ptr<const nn::LossRule> rule_;
};

py::object loss_rule(const py::module_& m, const std::string& name, std::string where) {
  const auto& entry = nn::losses().find(name);
  const auto other = [](const py::args&, const py::kwargs&) -> py::object { throw py::type_error("losses are called by position"); };
  py::module_ scope = m;
  return make_op_function(scope, entry.name.c_str(), py::cpp_function(other, py::name(entry.name.c_str()), py::scope(m), entry.doc.c_str()),
                          &LossFunction::call, new LossFunction(entry, std::move(where)));  // like functions, they exist as long as the process
}

}  // namespace

void bind_nn_rules(py::module_& m) {
  m.def(
      "loss_rule", [m](const std::string& name, std::string where) { return loss_rule(m, name, std::move(where)); }, py::arg("name"), py::arg("where") = "",
      "Returns the function of a registered loss: its inputs, tensors that may be None, its settings and the reduction, all by position. Without a "
      "reduction it returns unreduced terms, or the mean if the loss reduces by weight. Errors name `where`.");
  def_documented_op(
      m, "reduce_loss", "Returns weights·factor·x, reduced over all dimensions: 'mean', 'sum', 'none' or 'batchmean'; half types in float32.",
      [](const Tensor& x, const Tensor& weights, double factor, const std::string& reduction) { return nn::reduce_loss(x, weights, factor, reduction); },
      py::arg("x"), py::arg("weights") = py::none(), py::arg("factor") = 1.0, py::arg("reduction") = "mean");
  py::class_<nn::BleuScore>(m, "BleuScore", "The BLEU score over the candidates and references of all updates.")
      .def(py::init<int64_t, bool>(), py::arg("n_gram"), py::arg("smooth"))
      .def(py::pickle(
          [](const nn::BleuScore& score) {
            nn::CountArchive counts;
            nn::BleuScore copy = score;
            copy.archive(counts);
            return py::make_tuple(score.counts()["numerator"].size(), score.smooth(), counts.values());
          },
          [](const py::tuple& state) {
            nn::BleuScore score(py::cast<int64_t>(state[0]), py::cast<bool>(state[1]));
            nn::CountArchive counts(py::cast<std::vector<double>>(state[2]));
            score.archive(counts);
            counts.check_end();
            return score;
          }))
      .def("update", &update_bleu, py::arg("candidates"), py::arg("references"))
      .def("counts", &nn::BleuScore::counts)
      .def("clear", &nn::BleuScore::clear)
      .def("value", &nn::BleuScore::eval)
      .def_property_readonly("empty", &nn::BleuScore::empty, "Whether nothing was counted since clear().");
  m.def(
      "label_weight",
      [](py::handle labels, const py::object& weight, int64_t ignore_index) {
        return nn::label_weight(to_tensor(labels), weight.is_none() ? Tensor() : to_tensor(weight), ignore_index);
      },
      py::arg("labels"), py::arg("weight"), py::arg("ignore_index"), "Returns the divisor of the mean of a loss with class labels, for arrays.");
  m.def("auc", &nn::auc, py::arg("x"), py::arg("y"), py::arg("reorder") = false, "Returns the area under the points (x, y).");
  py::class_<PyMetric>(m, "Metric", "A metric of the C++ library, by name.")
      .def(py::init([](const std::string& name, const py::kwargs& settings) { return std::make_unique<PyMetric>(name, settings); }), py::arg("name"))
      .def(py::pickle([](const PyMetric& metric) { return metric.saved(); }, &PyMetric::from_saved))
      .def("update", &PyMetric::update, "Adds a batch of Tensors or arrays.")
      .def("add_loss", &PyMetric::add_loss, py::arg("loss"), py::arg("weight") = py::none(),
           "For the metric 'loss': adds the loss of a batch with the given weight; without weight, adds a loss that is a sum.")
      .def("clear", &PyMetric::clear)
      .def("eval", &PyMetric::eval, "Returns all values of the result.")
      .def("value", &PyMetric::value, "Returns the result as one number.")
      .def("counts", &PyMetric::counts, "Returns the counts from which the result is computed, by MindSpore's names.")
      .def_property_readonly("empty", &PyMetric::empty, "Whether nothing was counted since clear().");
}

}  // namespace sindri::python
