// Functions of _core.ops. def_op(m, name, f, py::arg…) does what m.def does, at less cost per call. It is meant for one signature, arguments that nearly always
// have the expected types, and tensors that need no conversion.
//
// A call with arguments of other types, or with arguments that do not follow the signature, is passed to pybind11's function of the same name,
// which supports all conversions and raises the TypeErrors.
#pragma once
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include "python/src/tensor_object.h"
#include "sindri/op/op_def.h"

namespace sindri::python {

/// A callable of this type is a Python object of sindri._core.OpFunction.
struct OpFunction {
  PyObject_HEAD vectorcallfunc call;
  PyObject* name;
  PyObject* converting;  ///< pybind11's function
  void* body;  ///< an OpBody; exists as long as the process
};
/// Returns a new reference, as an attribute of the module. Throws error_already_set.
py::object make_op_function(py::module_& m, const char* name, const py::object& converting, vectorcallfunc call, void* body);
void bind_op_function_type(py::module_& m);

/// Returns the argument that a keyword names: usually the keyword itself. MindSpore's releases name some arguments differently: x is accepted for input, and y
/// or exponent for other. Returns a borrowed reference.
PyObject* argument_name(PyObject* keyword, PyObject* const* names, size_t count);
/// Calls pybind11's function, with keywords renamed to the arguments that it knows (argument_name).
PyObject* call_converting(const OpFunction* f, PyObject* const* args, size_t nargs, PyObject* keywords, PyObject* const* names, size_t count);

/// Reads one argument; load() returns false for an unknown type.
template <class T> struct Argument {
  py::detail::make_caster<T> caster;
  bool load(PyObject* o) { return caster.load(o, true); }
  T get() { return py::detail::cast_op<T>(caster); }
};
template <> struct Argument<Tensor> {
  Tensor value;
  bool load(PyObject* o) {
    if (o == Py_None) return true;  // an undefined tensor: omitted
    PyTensor* const t = tensor_of(o);
    if (t == nullptr) return false;
    value = t->value();
    return true;
  }
  const Tensor& get() const { return value; }
};
template <> struct Argument<py::handle> {
  py::handle value;
  bool load(PyObject* o) {
    value = o;
    return true;
  }
  py::handle get() const { return value; }
};
template <> struct Argument<bool> {
  bool value = false;
  bool load(PyObject* o) {
    value = o == Py_True;
    return value || o == Py_False;
  }
  bool get() const { return value; }
};
template <> struct Argument<int64_t> {
  int64_t value = 0;
  bool load(PyObject* o) {
    if (!PyLong_CheckExact(o)) return false;
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0;
  }
  int64_t get() const { return value; }
};
template <> struct Argument<double> {
  double value = 0;
  bool load(PyObject* o) {
    if (PyFloat_CheckExact(o)) value = PyFloat_AS_DOUBLE(o);
    else if (Argument<int64_t> i; i.load(o)) value = static_cast<double>(i.value);
    else return false;
    return true;
  }
  double get() const { return value; }
};
/// Calls add(integer) for the members of a tuple or list; returns false for anything else than a tuple or list of ints.
template <class F> bool load_integers(PyObject* o, F&& add) {
  if (!PyTuple_CheckExact(o) && !PyList_CheckExact(o)) return false;
  Argument<int64_t> item;
  for (Py_ssize_t i = 0, n = PySequence_Fast_GET_SIZE(o); i < n; ++i) {
    if (!item.load(PySequence_Fast_GET_ITEM(o, i))) return false;
    add(item.value);
  }
  return true;
}
template <> struct Argument<std::vector<int64_t>> {
  std::vector<int64_t> value;
  bool load(PyObject* o) {
    value.reserve(4);
    return load_integers(o, [&](int64_t v) { value.push_back(v); });
  }
  const std::vector<int64_t>& get() const { return value; }
};
template <> struct Argument<Shape> {
  Shape value;
  bool load(PyObject* o) {
    return load_integers(o, [&](int64_t v) { value.push_back(v); });
  }
  const Shape& get() const { return value; }
};

template <> struct Argument<std::vector<Tensor>> {
  std::vector<Tensor> value;
  bool load(PyObject* o) {
    if (!PyTuple_CheckExact(o) && !PyList_CheckExact(o)) return false;
    Argument<Tensor> item;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {  // reading a tensor may run Python code, which may change a list
      const auto x = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(o, i));
      if (x.is_none() || !item.load(x.ptr())) return false;
      value.push_back(std::move(item.value));
    }
    return true;
  }
  const std::vector<Tensor>& get() const { return value; }
};

inline PyObject* op_result(Tensor t) { return to_python(std::move(t)).release().ptr(); }
inline PyObject* op_result(const TensorTuple& t) { return to_python_tuple(t.tensors).release().ptr(); }
inline PyObject* op_result(py::object o) { return o.release().ptr(); }

template <class R, class... A> struct OpBody {
  static constexpr size_t kCount = sizeof...(A);
  std::function<R(A...)> f;
  std::array<PyObject*, kCount> names{}, defaults{};  // a null default: the argument must be given

  // Collects the arguments in the order of the signature, borrowed; returns false if the call does not match it.
  bool collect(PyObject* const* args, size_t given, PyObject* keywords, std::array<PyObject*, kCount>& out) const {
    if (given > kCount) return false;
    std::copy_n(args, given, out.begin());
    std::copy(defaults.begin() + given, defaults.end(), out.begin() + given);
    std::array<bool, kCount> named{};
    for (Py_ssize_t k = 0, n = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0; k < n; ++k) {
      // Keywords at a call site are interned, like the names here. A call with a keyword that is not is passed to pybind11's function.
      PyObject* const keyword = argument_name(PyTuple_GET_ITEM(keywords, k), names.data(), kCount);
      const size_t at = static_cast<size_t>(std::find(names.begin(), names.end(), keyword) - names.begin());
      if (at >= kCount || at < given || named[at]) return false;
      named[at] = true;
      out[at] = args[given + static_cast<size_t>(k)];
    }
    return std::find(out.begin(), out.end(), nullptr) == out.end();
  }

  static PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* keywords) {
    auto* const function = reinterpret_cast<OpFunction*>(self);
    const auto& body = *static_cast<const OpBody*>(function->body);
    std::array<PyObject*, kCount> given;
    std::tuple<Argument<std::decay_t<A>>...> values;
    bool known = body.collect(args, static_cast<size_t>(PyVectorcall_NARGS(nargs)), keywords, given);
    PyObject* const result = !known ? nullptr : guarded([&] {
      known = std::apply([&, i = size_t{0}](auto&... v) mutable { return (v.load(given[i++]) && ...); }, values);
      return known ? body.run(values) : nullptr;
    });
    return known ? result : call_converting(function, args, nargs, keywords, body.names.data(), kCount);
  }

  PyObject* run(std::tuple<Argument<std::decay_t<A>>...>& values) const {
    const auto compute = [&] { return std::apply([&](auto&... v) { return f(v.get()...); }, values); };
    if constexpr (!kReleases) return op_result(compute());
    int64_t elements = 0;
    std::apply([&](auto&... v) { (add_elements(v, &elements), ...); }, values);
    return op_result(without_lock(elements, compute));
  }

  // Only a function that touches no Python object may run without the lock.
  static constexpr bool kReleases = !std::is_base_of_v<py::handle, R> && !(std::is_base_of_v<py::handle, std::decay_t<A>> || ...);
  template <class T> static void add_elements(const Argument<T>& v, int64_t* sum) {
    if constexpr (std::is_same_v<T, Tensor>) *sum += v.value.defined() ? v.value.numel() : 0;
    if constexpr (std::is_same_v<T, std::vector<Tensor>>)
      for (const Tensor& t : v.value) *sum += t.numel();
    if constexpr (std::is_same_v<T, Shape>)  // the shape of the result, for ops without a large input
      *sum += std::accumulate(v.value.begin(), v.value.end(), int64_t{1}, [](int64_t n, int64_t d) {
        return d <= 0 ? 0 : n > kLongCall / d ? kLongCall + 1 : n * d;
      });
  }
};

namespace detail {
template <class F> struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A> struct Signature<R (*)(A...)> { using Body = OpBody<R, A...>; };
template <class C, class R, class... A> struct Signature<R (C::*)(A...) const> { using Body = OpBody<R, A...>; };

inline void fill(const py::arg& a, PyObject** name, PyObject**) { *name = PyUnicode_InternFromString(a.name); }
inline void fill(const py::arg_v& a, PyObject** name, PyObject** value) {
  *name = PyUnicode_InternFromString(a.name);
  *value = a.value.inc_ref().ptr();
}
}  // namespace detail

/// Returns the documentation of the op with this name in the registry.
inline std::string op_doc(std::string_view name) {
  for (const OpDef* op : all_ops())
    if (op->name == name) return op->doc;
  return "";
}

/// Every argument has a name. The function and its result are pure C++ unless an argument or the result is a Python object.
template <class F, class... Args> void def_documented_op(py::module_& m, const char* name, const std::string& doc, F f, const Args&... args) {
  using Body = typename detail::Signature<F>::Body;
  static_assert(sizeof...(Args) == Body::kCount, "each argument needs a py::arg");
  auto* const body = new Body{f};
  size_t i = 0;
  ((detail::fill(args, &body->names[i], &body->defaults[i]), ++i), ...);
  py::object converting;
  if constexpr (Body::kReleases) converting = py::cpp_function(f, py::name(name), py::scope(m), py::call_guard<ReleaseForLongCall>(), args..., doc.c_str());
  else converting = py::cpp_function(f, py::name(name), py::scope(m), args..., doc.c_str());
  m.attr(name) = make_op_function(m, name, converting, &Body::call, body);
}
/// Defines a function with the documentation of the op of the same name.
template <class F, class... Args> void def_op(py::module_& m, const char* name, F f, const Args&... args) {
  def_documented_op(m, name, op_doc(name), f, args...);
}

using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);
/// Returns both operands as tensors. One of them may be a number; with `compared` its value is preserved even if the other operand's type cannot hold it.
inline std::pair<Tensor, Tensor> binary_operands(py::handle a, py::handle b, bool compared = false) {
  const auto beside = compared ? &number_compared : &number_next_to;
  const NumberKind kind_a = number_kind(a), kind_b = number_kind(b);
  if (kind_a != NumberKind::kNone && kind_b == NumberKind::kNone) {
    const Tensor y = to_tensor(b);
    return {beside(y, a, kind_a), y};
  }
  const Tensor x = to_tensor(a);
  return {x, kind_b != NumberKind::kNone ? beside(x, b, kind_b) : to_tensor(b)};
}
/// An elementwise op of two operands, one of which may be a number.
template <BinaryOp F, bool compared> Tensor binary_op(py::handle a, py::handle b) {
  const auto [x, y] = binary_operands(a, b, compared);
  return without_lock(x.numel() + y.numel(), [&, &x = x, &y = y] { return F(x, y); });
}
/// a * b and a / b in the type that MindSpore's Mul and Div return: a 0-d tensor can raise the kind of a tensor with dimensions (bool, integer, floating), but
/// never widens its type within the kind.
Tensor product_of(const Tensor& a, const Tensor& b);
Tensor quotient_of(const Tensor& a, const Tensor& b);
/// All functions of include/sindri/ops without a special form; generated at build time by scripts/op_bindings.py.
void bind_declared_ops(py::module_& m);
void bind_clip(py::module_& m);

}  // namespace sindri::python
