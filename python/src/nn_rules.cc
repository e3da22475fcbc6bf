// The metrics of the C++ library: what Python's classes stand on. Python holds argument forms, MindSpore's attributes and hooks.
#include "python/src/casters.h"
#include "python/src/settings.h"
#include "sindri/nn/registry.h"

namespace sindri::python {

namespace {

/// A metric by its name in nn::metrics(), counting what NumPy arrays and Tensors hold.
class PyMetric {
 public:
  PyMetric(const std::string& name, const py::kwargs& settings) : metric_(nn::metrics().make(name, settings_of(settings))) { metric_->allow_other_labels(); }
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
  nn::MetricPtr metric_;
};

}  // namespace

void bind_nn_rules(py::module_& m) {
  py::class_<PyMetric>(m, "Metric", "A metric of the C++ library by its name.")
      .def(py::init<const std::string&, const py::kwargs&>(), py::arg("name"))
      .def("update", &PyMetric::update, "Adds a batch of Tensors or arrays.")
      .def("clear", &PyMetric::clear)
      .def("eval", &PyMetric::eval, "All numbers of the result.")
      .def("value", &PyMetric::value, "The result as one number.")
      .def("counts", &PyMetric::counts, "What the result is made of, by MindSpore's names.")
      .def_property_readonly("empty", &PyMetric::empty, "Whether nothing was counted since clear().");
}

}  // namespace sindri::python
