// Parameter: a named state slot. In Python it is a Tensor that reads the slot's current value.
#include <fmt/format.h>

#include "python/src/tensor_object.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::python {

Tensor PyTensor::read_parameter() {
  const std::shared_ptr<Parameter>& p = slot_of(reinterpret_cast<PyObject*>(this));
  if (ParameterKeeper* k = ParameterKeeper::current()) k->add(p);
  return p->value();
}

void PyTensor::write_parameter(const Tensor& t) {
  const std::shared_ptr<Parameter>& p = slot_of(reinterpret_cast<PyObject*>(this));
  if (ParameterKeeper* k = ParameterKeeper::current()) k->add(p);
  p->assign(t);
}

namespace {

void initialize_parameter(py::handle self, const py::object& data, const py::object& name, bool requires_grad, bool, bool) {
  if (!PyObject_TypeCheck(self.ptr(), g_parameter_type)) throw DTypeError("self is not a Parameter", "Parameter.__init__");
  // Compiled functions hold the slot of the first initialisation.
  if (parameter_of(self) != nullptr) throw ValueError("a Parameter is made once", "Parameter.__init__", "give it another value with set_data()");
  if (PyBool_Check(data.ptr())) throw ValueError("a Parameter cannot be made of a bool", "Parameter", "give a number, a NumPy array, a list or a Tensor");
  if (py::isinstance<py::str>(data) || data.is_none())
    throw DTypeError(fmt::format("a Parameter cannot be made of {}", py::cast<std::string>(py::repr(data))), "Parameter",
                     "give a number, a NumPy array, a list or a Tensor");
  std::string text = "Parameter";
  if (!name.is_none()) {
    if (!py::isinstance<py::str>(name)) throw ValueError(fmt::format("name must be a str, got {}", py::cast<std::string>(py::repr(name))), "Parameter");
    text = py::cast<std::string>(name);
    if (text.find_first_not_of(" \t\n") == std::string::npos || text.size() > 1024)
      throw ValueError(fmt::format("a Parameter's name has 1 to 1024 characters, got {}", text.size()), "Parameter", "give another name");
  }
  Tensor t;
  if (PyLong_Check(data.ptr())) {
    int overflow = 0;
    const int64_t v = PyLong_AsLongLongAndOverflow(data.ptr(), &overflow);
    if (overflow != 0 || v != static_cast<int32_t>(v))
      throw ValueError(fmt::format("an int makes an int32 Parameter, which {} does not fit", py::cast<std::string>(py::str(data))), "Parameter",
                       "give a Tensor of int64, or a float");
    t = Tensor::from_vector<int32_t>({}, {static_cast<int32_t>(v)});  // a value, not an op: Parameters of a summary are created while a graph is traced
  } else {
    t = to_tensor(data);
  }
  if (t.is_symbolic()) throw ValueError("a Parameter cannot be made inside code that is being compiled", "Parameter", "make it in __init__");
  // A separate value: later writes to the source tensor must not show here.
  reinterpret_cast<PyParameter*>(self.ptr())->param = std::make_shared<Parameter>(t.contiguous().clone(), text, requires_grad);
}

// Converts a value of another type for a write: floats may be narrowed, no other conversion may lose range (contract 3.1, set_data).
Tensor fit(const Parameter& p, const Tensor& v, bool* narrowed) {
  *narrowed = false;
  if (v.dtype() == p.dtype()) return v;
  const bool up = promote_types(v.dtype(), p.dtype()) == v.dtype() && v.dtype() != p.dtype();
  if (up && !(is_floating(v.dtype()) && is_floating(p.dtype())))
    throw DTypeError(fmt::format("Parameter '{}' is {}, the new value is {}", p.name(), dtype_name(p.dtype()), dtype_name(v.dtype())), "",
                     "cast the value first");
  *narrowed = up;
  return ops::cast(v, p.dtype());
}

void set_data(py::handle self, const py::object& data) {
  const Parameter& p = *slot_of(self);
  Tensor v;
  if (PyLong_Check(data.ptr()) || PyFloat_Check(data.ptr())) {
    v = ops::broadcast_to(number_of(data, p.dtype()), p.shape());
  } else {
    v = to_tensor(data);
  }
  if (!(v.shape() == p.shape())) {
    if (v.numel() != 1 || p.meta().numel() != 1)
      throw ShapeError(fmt::format("Parameter '{}' has shape {}, the new value {}", p.name(), p.shape().str(), v.shape().str()), "Parameter.set_data",
                       "give a value of the same shape");
    v = ops::reshape(v, p.shape());
  }
  bool narrowed = false;
  tensor_of(self)->set_value(fit(p, v, &narrowed));
  ++tensor_of(self)->generation;
}

// Writes in program order, as the ops Assign and the training wrappers do; numbers become tensors of the Parameter's type.
void assign(py::handle self, const py::object& value) {
  const Parameter& p = *slot_of(self);
  Tensor v;
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) {
    v = ops::broadcast_to(number_of(value, p.dtype()), p.shape());
  } else {
    v = to_tensor(value);
  }
  if (v.dtype() != p.dtype()) {
    if (promote_types(v.dtype(), p.dtype()) != p.dtype() && !(is_floating(v.dtype()) && is_floating(p.dtype())))
      throw DTypeError(fmt::format("Parameter '{}' is {}, the value assigned is {}", p.name(), dtype_name(p.dtype()), dtype_name(v.dtype())), "",
                       "cast the value first");
    v = ops::cast(v, p.dtype());
  }
  if (!(v.shape() == p.shape())) {
    if (v.numel() == p.meta().numel()) {
      v = ops::reshape(v, p.shape());
    } else if (v.rank() <= p.shape().rank() && v.numel() == 1) {
      v = ops::broadcast_to(v, p.shape());
    }
  }
  tensor_of(self)->set_value(v);
}

}  // namespace

void bind_parameter() {
  TypeBinder c(g_parameter_type);
  c.def_init(&initialize_parameter, py::arg("default_input"), py::arg("name") = py::none(), py::arg("requires_grad") = true,
             py::arg("layerwise_parallel") = false, py::arg("parallel_optimizer") = true);
  c.def_property(
      "_name", [](PyParameter& p) { return p.param->name(); }, [](PyParameter& p, const std::string& name) { p.param->set_name(name); });
  c.def_property(
      "_requires_grad", [](PyParameter& p) { return p.param->requires_grad; }, [](PyParameter& p, bool on) { p.param->requires_grad = on; });
  c.def(
      "value", [](PyParameter& p) { return p.value(); }, "Returns the current value in eager code; in traced code, the value that the program has reached.");
  c.def(
      "set_data",
      [](py::object self, const py::object& data, bool) {
        set_data(self, data);
        return self;
      },
      py::arg("data"), py::arg("slice_shape") = false,
      "Assigns another value of the same shape; floats may be narrowed, other types may not. Returns the Parameter. Raises ValueError, TypeError.");
  c.def(
      "assign",
      [](py::object self, const py::object& value) {
        assign(self, value);
        return self;
      },
      py::arg("value"), "Writes a value in program order; returns the Parameter.");
  c.def_property_readonly("_same_as", [](PyParameter& p) { return reinterpret_cast<intptr_t>(p.param.get()); });
}

}  // namespace sindri::python
