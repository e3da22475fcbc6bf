// The Python objects that hold C++ values, and the conversion of arguments to them. Every source of the extension includes this first.
//
// sindri.Tensor is PyTensor, a handle that may be assigned another value (`t[0] = 1`, `set_data`). sindri.Parameter is PyParameter, whose
// value is the Parameter's value at the moment of reading, in eager and in traced code.
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
#include "sindri/op/attrs.h"
#include "sindri/op/op_def.h"
#include "sindri/op/parameter.h"

namespace sindri::python {
namespace py = pybind11;

/// The source of a lazy tensor's value: its shape and type, and the Python Initializer that draws it.
struct LazyValue {
  Shape shape;
  DType dtype = DType::kFloat32;
  py::object init;
};

/// The object that a view is a part of (common/_views.py). Writes to the view go to the base, and the view is recomputed when the base changes.
struct ViewLink {
  py::object base;  ///< the Tensor or Parameter
  py::tuple steps;  ///< the indexing steps that lead from the base to the view
  uint64_t seen = 0;  ///< id of the base's value that the view was computed from
  uint32_t generation = 0;  ///< the base's `generation` when the view was made; a different one now means that the base was replaced
  bool snapshot = false;  ///< the view keeps its value when the base is written
};

/// sindri.Tensor: the Python object itself. Its type is not one of pybind11's (tensor_object.cc): with those, creating and destroying a result
/// and finding an argument's value would cost more than a small op.
struct PyTensor {
  PyObject_HEAD PyObject* dict;
  PyObject* weakrefs;
  bool is_parameter;  ///< whether this is a PyParameter
  Tensor held;
  std::unique_ptr<LazyValue> lazy;
  std::unique_ptr<ViewLink> view;
  uint32_t generation;  ///< how often the handle was bound to another value (set_data); writes do not count

  /// Returns the current value; materializes a lazy tensor first.
  Tensor value() {
    if (is_parameter) return read_parameter();
    if (view != nullptr) return read_view();
    if (!held.defined()) materialize();
    return held;
  }
  void set_value(const Tensor& t);

 private:
  Tensor read_parameter();
  void write_parameter(const Tensor& t);
  void materialize();
  Tensor read_view();
};

/// sindri.Parameter.
struct PyParameter : PyTensor {
  std::shared_ptr<Parameter> param;  ///< null until __init__ has run
};

/// The Parameters that a tape or a compiled function must keep alive. While a tape or function is being recorded on this thread, every Parameter that is read
/// or written is added. Scopes nest; an inner scope passes its Parameters to the outer one.
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

/// Created by bind_tensor_types; they exist as long as the process.
inline PyTypeObject *g_tensor_type = nullptr, *g_parameter_type = nullptr;
/// Returns the object as a PyTensor; null for another type.
inline PyTensor* tensor_of(py::handle h) { return PyObject_TypeCheck(h.ptr(), g_tensor_type) ? reinterpret_cast<PyTensor*>(h.ptr()) : nullptr; }
/// Returns the object as a PyParameter whose __init__ has run; null for another object.
inline PyParameter* parameter_of(py::handle h) {
  if (!PyObject_TypeCheck(h.ptr(), g_parameter_type)) return nullptr;
  auto* const p = reinterpret_cast<PyParameter*>(h.ptr());
  return p->param != nullptr ? p : nullptr;
}
/// Returns the slot of a Parameter. Throws DTypeError for another object.
const std::shared_ptr<Parameter>& slot_of(py::handle h);
/// Converts a Tensor, Parameter, NumPy array or Python number (Python rules: bool, int64, float32); raises TypeError in Python for other objects.
Tensor to_tensor(py::handle h);
/// Kinds of numbers, in the order of type promotion.
enum class NumberKind : uint8_t { kNone, kBool, kInteger, kFraction };
/// Returns the kind of a Python or NumPy number; kNone for another object.
NumberKind number_kind(py::handle h);
/// Returns NumPy's scalar type.
py::handle numpy_generic();
/// Converts a number exactly to a tensor of this type. Throws ValueError if an integer type cannot hold it.
Tensor number_of(py::handle number, DType dtype);
/// Converts a number to the tensor's type, or to int64 or float32 if the number is of a higher kind, as MindSpore does. The kind of the number
/// counts, not its value. Throws ValueError for an integer that does not fit.
Tensor number_next_to(const Tensor& t, py::handle number, NumberKind kind);
/// Like number_next_to, but for a comparison: an integer that does not fit the tensor's type is converted to int64, so its value is compared.
Tensor number_compared(const Tensor& t, py::handle number, NumberKind kind);
/// Converts attributes to Python objects by the fields' names; lists and shapes become tuples.
py::dict attrs_dict(const Attrs& attrs);
/// Converts a dict to attributes of an op, each in its field's type.
AttrFields to_fields(const OpDef& op, const py::dict& attrs);
py::object to_python(Tensor t);
py::object to_python(std::shared_ptr<Parameter> p);
py::tuple to_python_tuple(const std::vector<Tensor>& ts);
/// Returns None for an undefined tensor.
inline py::object or_none(const Tensor& t) { return t.defined() ? to_python(t) : py::object(py::none()); }
/// The results of an op with several results; a tuple in Python.
struct TensorTuple {
  std::vector<Tensor> tensors;
};
/// Accepts sindri.common.dtype types, numpy.float32, "float32", float, int, bool.
DType to_dtype(py::handle h);
py::object dtype_object(DType t);
Shape to_shape(py::handle h);
py::tuple shape_tuple(const Shape& s);
/// Returns a NumPy view of the memory.
py::array to_numpy(const Tensor& t);
/// Whether engine and array can use the same memory: contiguous, aligned, of this machine's byte order.
bool memory_can_be_shared(const py::array& a);
Tensor from_numpy(const py::array& a, bool share);

/// Number of elements of the tensors that the dispatched call has loaded; decides whether the interpreter lock is released.
int64_t& loaded_elements();
/// The number of elements from which a call is long. For a smaller call, releasing the interpreter lock would cost more than it gains.
inline constexpr int64_t kLongCall = 1 << 15;
/// Calls f(), without the interpreter lock if the number of elements makes it a long call; f touches no Python object.
template <class F> auto without_lock(int64_t elements, F&& f) {
  std::optional<py::gil_scoped_release> released;
  if (elements > kLongCall) released.emplace();
  return f();
}
class ReleaseForLongCall {
 public:
  ReleaseForLongCall() {
    if (loaded_elements() > kLongCall) released_.emplace();
    loaded_elements() = 0;
  }

 private:
  std::optional<py::gil_scoped_release> released_;
};

/// The value of a traced tensor was requested: the code cannot be compiled, so the caller runs it eagerly.
class TracedValue : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Called when the value of a traced tensor is requested. If the compiled call has already passed a condition on a tensor, the ops traced so far are run, so
/// that all tensors have data. The rest of the call then runs eagerly, and its `on_leave` receives `what`. Returns false in all other cases.
bool leave_traced_call(const std::string& what);
/// Returns the truth of a traced tensor with one element (traced_condition). If the call continues eagerly after this condition, its `on_leave` receives "".
std::optional<bool> traced_truth(const Tensor& t);

void bind_errors(py::module_& m);
void bind_dtype(py::module_& m);
void bind_tensor_types(py::module_& m);
void bind_tensor(py::module_& m);
void bind_parameter();
void bind_ops(py::module_& m);
void bind_engine(py::module_& m);
void bind_dataset(py::module_& m);
void bind_summary(py::module_& m);
void bind_train(py::module_& m);
void bind_train_step(py::module_& m);
void bind_optim(py::module_& m);
void bind_nn_rules(py::module_& m);
void bind_comm(py::module_& m);

}  // namespace sindri::python

namespace pybind11::detail {

// Methods declare `PyTensor& self` or `PyParameter& self`.
template <class T, T* (*Of)(handle)> struct tensor_object_caster {
  static constexpr auto name = const_name("sindri.Tensor");
  template <class> using cast_op_type = T&;
  bool load(handle src, bool) {
    value = Of(src);
    if constexpr (std::is_same_v<T, sindri::python::PyParameter>)
      if (value == nullptr) sindri::python::slot_of(src);  // throws: not a Parameter, or its __init__ did not run
    return value != nullptr;
  }
  explicit operator T&() { return *value; }
  T* value = nullptr;
};
template <> struct type_caster<sindri::python::PyTensor> : tensor_object_caster<sindri::python::PyTensor, sindri::python::tensor_of> {};
template <> struct type_caster<sindri::python::PyParameter> : tensor_object_caster<sindri::python::PyParameter, sindri::python::parameter_of> {};

template <> struct type_caster<sindri::Tensor> {
  PYBIND11_TYPE_CASTER(sindri::Tensor, const_name("sindri.Tensor"));
  bool load(handle src, bool convert) {
    if (src.is_none()) return true;  // an undefined tensor: omitted
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

template <> struct type_caster<sindri::python::TensorTuple> {
  PYBIND11_TYPE_CASTER(sindri::python::TensorTuple, const_name("tuple"));
  bool load(handle, bool) { return false; }
  static handle cast(const sindri::python::TensorTuple& t, return_value_policy, handle) { return sindri::python::to_python_tuple(t.tensors).release(); }
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
