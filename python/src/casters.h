// What Python objects are behind the C++ values, and how arguments become them. Every source of the extension includes this first.
//
// sindri.Tensor is PyTensor, a handle that may be given another value (`t[0] = 1`, `set_data`); sindri.Parameter is PyParameter, whose
// value is that of a Parameter at the moment it is read, in eager and in traced code.
#pragma once
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/error.h"
#include "sindri/core/shape.h"
#include "sindri/core/tensor.h"
#include "sindri/op/parameter.h"

namespace sindri::python {
namespace py = pybind11;

/// sindri.Tensor.
struct PyTensor {
  PyTensor() = default;
  explicit PyTensor(Tensor t) : held(std::move(t)) {}
  PyTensor(const PyTensor&) = default;
  PyTensor& operator=(const PyTensor&) = default;
  virtual ~PyTensor() = default;
  /// The value now; a lazy tensor is filled first.
  virtual Tensor value() {
    if (!held.defined()) materialize();
    return held;
  }
  virtual void set_value(const Tensor& t) { held = t; }
  void materialize();

  Tensor held;
  // A lazy tensor: what it will be, and the Python Initializer that draws it.
  Shape lazy_shape;
  DType lazy_dtype = DType::kFloat32;
  py::object init;
};

/// sindri.Parameter.
struct PyParameter final : PyTensor {
  explicit PyParameter(std::shared_ptr<Parameter> p) : param(std::move(p)) {}
  Tensor value() override;
  void set_value(const Tensor& t) override;
  std::shared_ptr<Parameter> param;
};

/// Parameters that a tape or a compiled function must keep alive: while one is being recorded on this thread, every Parameter that is
/// read or written is added. Scopes nest; an inner one hands on what it has seen.
class ParameterKeeper {
 public:
  void add(const std::shared_ptr<Parameter>& p) {
    if (seen_.insert(p.get()).second) params_.push_back(p);
  }
  const std::vector<std::shared_ptr<Parameter>>& params() const { return params_; }
  class Scope {
   public:
    explicit Scope(ParameterKeeper& k) : previous_(current()) { current() = &k; }
    ~Scope() {
      ParameterKeeper* mine = current();
      current() = previous_;
      if (previous_ != nullptr)
        for (const auto& p : mine->params()) previous_->add(p);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ParameterKeeper* previous_;
  };
  static ParameterKeeper*& current();

 private:
  std::unordered_set<const Parameter*> seen_;
  std::vector<std::shared_ptr<Parameter>> params_;
};

/// The PyTensor in an object; null for another type.
PyTensor* tensor_of(py::handle h);
/// Tensor, Parameter, NumPy array or Python number (Python rules: bool, int64, float32); throws TypeError in Python for the rest.
Tensor to_tensor(py::handle h);
py::object to_python(Tensor t);
py::tuple to_python_tuple(const std::vector<Tensor>& ts);
/// float32 (sindri.common.dtype), numpy.float32, "float32", float, int, bool.
DType to_dtype(py::handle h);
py::object dtype_object(DType t);
Shape to_shape(py::handle h);
py::tuple shape_tuple(const Shape& s);
/// NumPy view of the memory.
py::array to_numpy(const Tensor& t);
Tensor from_numpy(const py::array& a, bool share);

/// Elements of the tensors that the call being dispatched has loaded; what decides whether the interpreter lock is released.
int64_t& loaded_elements();
/// Releases the interpreter lock where the call works on much data: for a small op that would cost more than it gives.
class ReleaseForLongCall {
 public:
  ReleaseForLongCall() {
    if (loaded_elements() > (1 << 15)) released_.emplace();
    loaded_elements() = 0;
  }

 private:
  std::optional<py::gil_scoped_release> released_;
};

/// Asking a traced tensor for its value: the code cannot be compiled, the caller runs it eagerly.
class TracedValue : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

void bind_errors(py::module_& m);
void bind_dtype(py::module_& m);
void bind_tensor(py::module_& m);
void bind_parameter(py::module_& m);
void bind_ops(py::module_& m);
void bind_nn_ops(py::module_& m);
void bind_engine(py::module_& m);
void bind_dataset(py::module_& m);
void bind_train(py::module_& m);

}  // namespace sindri::python

namespace pybind11::detail {

template <> struct type_caster<sindri::Tensor> {
  PYBIND11_TYPE_CASTER(sindri::Tensor, const_name("sindri.Tensor"));
  bool load(handle src, bool convert) {
    if (src.is_none()) return true;  // an undefined tensor: left out
    if (sindri::python::PyTensor* t = sindri::python::tensor_of(src)) {
      value = t->value();
      sindri::python::loaded_elements() += value.numel();
      return true;
    }
    if (!convert || !(isinstance<array>(src) || isinstance<float_>(src) || isinstance<int_>(src) || isinstance<bool_>(src))) return false;
    value = sindri::python::to_tensor(src);
    return true;
  }
  static handle cast(const sindri::Tensor& t, return_value_policy, handle) { return sindri::python::to_python(t).release(); }
};

template <> struct type_caster<sindri::DType> {
  PYBIND11_TYPE_CASTER(sindri::DType, const_name("sindri.common.dtype.DType"));
  bool load(handle src, bool) {
    value = sindri::python::to_dtype(src);
    return true;
  }
  static handle cast(sindri::DType t, return_value_policy, handle) { return sindri::python::dtype_object(t).release(); }
};

template <> struct type_caster<sindri::Shape> {
  PYBIND11_TYPE_CASTER(sindri::Shape, const_name("tuple[int, ...]"));
  bool load(handle src, bool) {
    if (!isinstance<tuple>(src) && !isinstance<list>(src) && !isinstance<int_>(src)) return false;
    value = sindri::python::to_shape(src);
    return true;
  }
  static handle cast(const sindri::Shape& s, return_value_policy, handle) { return sindri::python::shape_tuple(s).release(); }
};

}  // namespace pybind11::detail
