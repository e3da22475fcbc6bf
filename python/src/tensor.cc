// Tensor: construction from Python values, NumPy and DLPack without copies, methods.
#include <fmt/format.h>

#include <limits>

#include "python/src/dlpack.h"
#include "python/src/tensor_object.h"
#include "sindri/amp/amp.h"
#include "sindri/core/external.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri::python {

namespace {

int64_t to_int64(py::handle number) {
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) throw ValueError(fmt::format("the integer {} does not fit int64", py::cast<std::string>(py::str(number))), "", "give a float");
  if (v == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return v;
}

py::dtype numpy_dtype(DType t) {
  switch (t) {
    case DType::kBool: return py::dtype::of<bool>();
    case DType::kUInt8: return py::dtype::of<uint8_t>();
    case DType::kInt32: return py::dtype::of<int32_t>();
    case DType::kInt64: return py::dtype::of<int64_t>();
    case DType::kFloat16: return py::dtype("float16");
    case DType::kFloat32: return py::dtype::of<float>();
    case DType::kFloat64: return py::dtype::of<double>();
    default: throw DTypeError("NumPy has no bfloat16", "Tensor.asnumpy", "convert it first: t.astype(sindri.float32).asnumpy()");
  }
}

// Returns the element type for a NumPy array; integer types that the engine lacks are widened.
std::optional<DType> dtype_of_numpy(const py::dtype& d, py::object* widen_to) {
  const char kind = d.kind();
  const auto size = d.itemsize();
  if (kind == 'b') return DType::kBool;
  if (kind == 'f') return size == 2 ? DType::kFloat16 : size == 4 ? DType::kFloat32 : size == 8 ? std::optional(DType::kFloat64) : std::nullopt;
  if (kind == 'i') {
    if (size == 8) return DType::kInt64;
    if (size < 4) *widen_to = py::dtype::of<int32_t>();
    return DType::kInt32;
  }
  if (kind == 'u') {
    if (size == 1) return DType::kUInt8;
    *widen_to = size == 2 ? py::dtype::of<int32_t>() : py::dtype::of<int64_t>();
    return size == 2 ? DType::kInt32 : DType::kInt64;
  }
  return std::nullopt;
}

Tensor with_dtype(const Tensor& t, const py::object& dtype) {
  if (dtype.is_none()) return t;
  const DType want = to_dtype(dtype);
  return t.dtype() == want ? t : without_lock(t.numel(), [&] { return ops::cast(t, want); });
}

// NumPy reads nested sequences. Floats in them become float32, as in MindSpore, unless `exact` keeps all their digits.
Tensor from_sequence(py::handle data, bool exact = false) {
  if (py::isinstance<py::list>(data) || py::isinstance<py::tuple>(data)) {
    const py::sequence items = py::reinterpret_borrow<py::sequence>(data);
    if (items.size() > 0 && tensor_of(items[0]) != nullptr) {
      std::vector<Tensor> parts;
      for (const py::handle item : items) parts.push_back(to_tensor(item));
      return ops::stack(parts, 0);
    }
  }
  py::array a;
  try {
    a = py::array(py::reinterpret_borrow<py::object>(data));
  } catch (py::error_already_set& e) {
    if (e.matches(PyExc_MemoryError)) throw;
    throw DTypeError(fmt::format("cannot make a Tensor of {}", py::cast<std::string>(py::str(py::type::of(data)))), "Tensor",
                     "give a number, a nested list of numbers, a NumPy array or a Tensor");
  }
  if (a.dtype().kind() == 'f' && !exact && !py::isinstance<py::array>(data)) a = py::array_t<float, py::array::c_style | py::array::forcecast>(a);
  return from_numpy(a, false);
}

/// Returns the value of a Tensor made from anything but a Tensor, before it is converted to dtype. A NumPy scalar keeps its type. A Python float, from
/// which numpy.float64 derives, is float32 at this stage unless dtype can hold more of its digits.
Tensor from_data(const py::object& data, const py::object& dtype) {
  if (py::isinstance(data, numpy_generic())) return from_numpy(py::array(data), false);
  const DType want = dtype.is_none() ? DType::kFloat32 : to_dtype(dtype);
  if (want != DType::kFloat64 && !is_integral(want)) return to_tensor(data);
  if (PyFloat_Check(data.ptr())) return Tensor::full({}, PyFloat_AS_DOUBLE(data.ptr()), DType::kFloat64);
  return py::isinstance<py::list>(data) || py::isinstance<py::tuple>(data) ? from_sequence(data, true) : to_tensor(data);
}

// The last argument, const_arg, has no effect: traced code that reads an argument's value continues eagerly from there, and so has the value.
void initialize(PyTensor& t, const py::object& data, const py::object& dtype, const py::object& shape, const py::object& init, bool) {
  Tensor value;
  std::unique_ptr<LazyValue> lazy;
  if (!init.is_none()) {
    if (shape.is_none()) throw ValueError("init needs a shape", "Tensor", "give shape and dtype together with init");
    lazy = std::make_unique<LazyValue>(LazyValue{to_shape(shape), dtype.is_none() ? DType::kFloat32 : to_dtype(dtype), init});
  } else if (data.is_none()) {
    if (shape.is_none()) throw ValueError("neither input_data nor init is given", "Tensor", "give input_data, or shape, dtype and init");
    value = Tensor::zeros(to_shape(shape), dtype.is_none() ? DType::kFloat32 : to_dtype(dtype));
  } else {
    if (PyTensor* other = tensor_of(data)) {
      value = other->value();
      if (!value.is_symbolic()) value = without_lock(value.numel(), [&] { return value.clone(); });
    } else {
      value = from_data(data, dtype);
    }
    value = with_dtype(value, dtype);
    if (!shape.is_none() && !(to_shape(shape) == value.shape())) value = ops::reshape(value, to_shape(shape));
  }
  t.held = std::move(value);
  t.lazy = std::move(lazy);
}

// If the traced code has passed a condition, the call continues eagerly from here, and t has data.
void need_value(const Tensor& t, const char* what) {
  if (!t.is_symbolic()) return;
  const std::string asked = fmt::format("{} of a tensor that is being traced", what);
  if (!leave_traced_call(asked)) throw TracedValue(asked);
}

bool truth(PyTensor& self) {
  const Tensor t = self.value();
  if (t.numel() != 1)
    throw ValueError(fmt::format("the truth value of a tensor with {} elements is ambiguous", t.numel()), "",
                     "use .any() or .all(), or compare single elements");
  if (t.is_symbolic()) {
    const std::optional<bool> outcome = traced_truth(t);
    if (outcome.has_value()) return *outcome;
  }
  need_value(t, "the truth value");
  return t.item() != 0;
}

py::object item_of(PyTensor& self) {
  const Tensor t = self.value();
  need_value(t, "an element");
  if (t.numel() != 1) throw ValueError(fmt::format("item() needs one element, the tensor has {}", t.numel()), "", "index it first");
  if (t.dtype() == DType::kBool) return py::bool_(t.item() != 0);
  if (is_integral(t.dtype())) return py::int_(t.to_vector<int64_t>()[0]);
  return py::float_(t.item());
}

py::tuple byte_strides(const Tensor& t) {
  const Shape s = t.shape();
  const auto size = static_cast<int64_t>(dtype_size(t.dtype()));
  if (t.layout() == Layout::kChannelsLast) {
    const int64_t c = s[1] * size;
    return py::make_tuple(s[2] * s[3] * c, size, s[3] * c, c);
  }
  const Shape strides = contiguous_strides(s);
  py::tuple out(static_cast<size_t>(s.rank()));
  for (int i = 0; i < s.rank(); ++i) out[static_cast<size_t>(i)] = strides[i] * size;
  return out;
}

}  // namespace

void PyTensor::materialize() {
  if (lazy == nullptr) throw ValueError("the tensor is undefined");
  const Shape shape = lazy->shape;
  const DType dtype = lazy->dtype;
  const py::object init = lazy->init;
  const Tensor drawn = to_tensor(init.attr("_draw")(shape_tuple(shape), dtype_object(dtype)));
  if (held.defined()) return;  // another thread has materialized the value meanwhile
  if (!(drawn.shape() == shape) || drawn.dtype() != dtype) {
    throw ValueError(
        fmt::format("init gave {} {}, the tensor was declared {} {}", dtype_name(drawn.dtype()), drawn.shape().str(), dtype_name(dtype), shape.str()),
        "Tensor.init_data", "let the initializer return the shape and type it is asked for");
  }
  held = drawn;
  lazy.reset();
}
namespace {

// The function of common/_views.py that computes the part of a value that the steps lead to; exists as long as the process.
py::object& part_maker() {
  static auto* const maker = new py::object();
  return *maker;
}

}  // namespace

Tensor PyTensor::read_view() {
  PyTensor* const base = tensor_of(view->base);
  if (base->generation != view->generation) {  // the base refers to another tensor now
    const std::unique_ptr<ViewLink> dropped = std::move(view);
    return held;
  }
  if (view->snapshot) return held;
  const py::object keep = view->base, steps = view->steps;
  const Tensor now = base->value();
  if (view == nullptr || now.id() == view->seen) return held;
  const Tensor made = to_tensor(part_maker()(to_python(now), steps));
  // Computed from a Parameter that temporarily has a traced value: not kept.
  if (view == nullptr || (made.is_symbolic() && !held.is_symbolic())) return made;
  held = made;
  view->seen = now.id();
  return held;
}

namespace {

// Makes self the part of base that the step leads to. If base is itself a view, self becomes a view of base's base. Returns the number of steps from there.
size_t link(PyTensor& self, py::object base, py::tuple step, bool snapshot) {
  PyTensor* of = tensor_of(base);
  if (of == nullptr || of == &self || self.is_parameter) throw ValueError("a view needs another tensor as its base", "Tensor._link");
  uint64_t seen = of->value().id();
  py::tuple steps = py::make_tuple(std::move(step));
  if (of->view != nullptr) {
    steps = py::reinterpret_steal<py::tuple>(PySequence_Concat(of->view->steps.ptr(), steps.ptr()));
    base = py::object(of->view->base);
    of = tensor_of(base);
    seen = of->value().id();
  }
  std::unique_ptr<ViewLink> view(new ViewLink{base, steps, seen, of->generation, snapshot});
  view.swap(self.view);
  return steps.size();
}

// Returns (base, steps, snapshot), or None for a tensor that is not, or no longer, a view.
py::object link_of(PyTensor& self) {
  if (self.view == nullptr) return py::none();
  self.value();  // drops a link to a base that refers to another tensor now
  if (self.view == nullptr) return py::none();
  return py::make_tuple(self.view->base, self.view->steps, self.view->snapshot);
}

// Detaches the tensor before it refers to another value: it is no longer a view, and its views keep their values.
void leave(PyTensor& self) {
  if (self.view != nullptr) self.value();
  const std::unique_ptr<ViewLink> dropped = std::move(self.view);
  ++self.generation;
}

}  // namespace

void PyTensor::set_value(const Tensor& t) {
  if (is_parameter) return write_parameter(t);
  held = t;
}

ParameterKeeper*& ParameterKeeper::current() {
  thread_local ParameterKeeper* k = nullptr;
  return k;
}

int64_t& loaded_elements() {
  thread_local int64_t n = 0;
  return n;
}

py::tuple to_python_tuple(const std::vector<Tensor>& ts) {
  py::tuple out(ts.size());
  for (size_t i = 0; i < ts.size(); ++i) out[i] = to_python(ts[i]);
  return out;
}

Tensor to_tensor(py::handle h) {
  if (PyTensor* t = tensor_of(h)) return t->value();
  if (PyBool_Check(h.ptr())) return Tensor::full({}, h.ptr() == Py_True ? 1 : 0, DType::kBool);
  if (PyFloat_Check(h.ptr())) return Tensor::full({}, PyFloat_AS_DOUBLE(h.ptr()), DType::kFloat32);
  if (PyLong_Check(h.ptr())) return Tensor::from_vector<int64_t>({}, {to_int64(h)});
  if (py::isinstance<py::array>(h)) return from_numpy(py::reinterpret_borrow<py::array>(h), false);
  return from_sequence(h);
}

py::handle numpy_generic() {
  // Never destroyed: static objects are destroyed after the interpreter has ended. An import may release the interpreter lock, so another thread may have set
  // it first.
  static PyObject* generic = nullptr;
  if (generic == nullptr) {
    py::object found = py::module_::import("numpy").attr("generic");
    if (generic == nullptr) generic = found.release().ptr();
  }
  return generic;
}

Tensor number_of(py::handle number, DType dtype) {
  if (PyLong_Check(number.ptr()) && !PyBool_Check(number.ptr()) && is_integral(dtype)) {
    constexpr int64_t kExact = int64_t{1} << 53;  // full takes a double, which is exact for integers up to this magnitude
    if (const int64_t v = to_int64(number); dtype == DType::kInt64 && (v > kExact || v < -kExact)) return Tensor::from_vector<int64_t>({}, {v});
  }
  return ops::full({}, py::cast<double>(py::float_(py::reinterpret_borrow<py::object>(number))), dtype);
}

NumberKind number_kind(py::handle h) {
  if (PyFloat_Check(h.ptr())) return NumberKind::kFraction;
  if (PyBool_Check(h.ptr())) return NumberKind::kBool;
  if (PyLong_Check(h.ptr())) return NumberKind::kInteger;
  if (tensor_of(h) != nullptr || !py::isinstance(h, numpy_generic())) return NumberKind::kNone;
  switch (py::cast<py::dtype>(h.attr("dtype")).kind()) {
    case 'b': return NumberKind::kBool;
    case 'i':
    case 'u': return NumberKind::kInteger;
    case 'f': return NumberKind::kFraction;
    default: return NumberKind::kNone;
  }
}

Tensor number_next_to(const Tensor& t, py::handle number, NumberKind kind) {
  const DType type = t.dtype();
  if (PyFloat_Check(number.ptr())) return ops::full({}, PyFloat_AS_DOUBLE(number.ptr()), is_floating(type) ? type : DType::kFloat32);
  if (kind == NumberKind::kFraction) return number_of(number, is_floating(type) ? type : DType::kFloat32);
  if (kind == NumberKind::kBool) return number_of(number, type);
  const py::object integer =
      PyLong_Check(number.ptr()) ? py::reinterpret_borrow<py::object>(number) : py::object(py::int_(py::reinterpret_borrow<py::object>(number)));
  // -1 combined with uint8 is 255, as in MindSpore: the arithmetic wraps around in any case.
  if (type == DType::kUInt8) {
    if (const int64_t v = to_int64(integer); v < 0 && v >= -255) return number_of(py::int_(v + 256), type);
  }
  return number_of(integer, type == DType::kBool ? DType::kInt64 : type);
}

Tensor number_compared(const Tensor& t, py::handle number, NumberKind kind) {
  if (kind == NumberKind::kInteger && (t.dtype() == DType::kUInt8 || t.dtype() == DType::kInt32)) {
    const int64_t v = to_int64(py::int_(py::reinterpret_borrow<py::object>(number)));
    const bool fits = t.dtype() == DType::kUInt8 ? v >= 0 && v <= 255 : v == static_cast<int32_t>(v);
    if (!fits) return Tensor::from_vector<int64_t>({}, {v});
  }
  return number_next_to(t, number, kind);
}

Shape to_shape(py::handle h) {
  const auto dimension = [](py::handle d) { return PyLong_Check(d.ptr()) ? to_int64(d) : py::cast<int64_t>(d); };
  if (PyLong_Check(h.ptr())) return Shape{dimension(h)};
  std::vector<int64_t> dims;
  for (const py::handle d : py::reinterpret_borrow<py::iterable>(h)) dims.push_back(dimension(d));
  return Shape(dims);
}

py::tuple shape_tuple(const Shape& s) {
  py::tuple out(static_cast<size_t>(s.rank()));
  for (int i = 0; i < s.rank(); ++i) PyTuple_SET_ITEM(out.ptr(), i, PyLong_FromLongLong(s[i]));
  return out;
}

py::array to_numpy(const Tensor& value) {
  need_value(value, "the values");
  Tensor t = value;
  if (!t.device().is_cpu()) {
    const py::gil_scoped_release release;  // while the device works
    t = to_host({&value, 1}, "asnumpy")[0];
  }
  const py::dtype d = numpy_dtype(t.dtype());
  auto* keep = new std::shared_ptr<void>(t.writable_view());
  const py::capsule owner(keep, [](void* p) { delete static_cast<std::shared_ptr<void>*>(p); });
  return py::array(d, py::cast<std::vector<py::ssize_t>>(shape_tuple(t.shape())), py::cast<std::vector<py::ssize_t>>(byte_strides(t)),
                   t.numel() > 0 ? t.raw_data() : nullptr, owner);
}

bool memory_can_be_shared(const py::array& a) {
  return (a.flags() & py::array::c_style) != 0 && (a.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0 && a.dtype().attr("isnative").cast<bool>();
}

Tensor from_numpy(const py::array& a, bool share) {
  py::object widen;
  const std::optional<DType> dtype = dtype_of_numpy(a.dtype(), &widen);
  if (!dtype.has_value())
    throw DTypeError(fmt::format("NumPy type {} has no tensor type", py::cast<std::string>(py::str(a.dtype()))), "Tensor",
                     "use bool, integers, float16, float32 or float64");
  if (share) {
    if (widen)
      throw DTypeError(fmt::format("memory of NumPy type {} cannot be shared", py::cast<std::string>(py::str(a.dtype()))), "Tensor.from_numpy",
                       "use Tensor(array)");
    if ((a.flags() & py::array::c_style) == 0) throw ValueError("the array is not contiguous", "Tensor.from_numpy", "use numpy.ascontiguousarray(array)");
    if (!memory_can_be_shared(a)) throw ValueError("the array is unaligned or of another byte order", "Tensor.from_numpy", "use Tensor(array)");
    auto* keep = new py::array(a);
    const std::shared_ptr<void> owner(keep, [](void* p) {
      if (Py_IsInitialized() == 0) return;  // the process is ending
      const py::gil_scoped_acquire acquire;
      delete static_cast<py::array*>(p);
    });
    TensorMeta meta;
    meta.shape = to_shape(py::cast(std::vector<py::ssize_t>(a.shape(), a.shape() + a.ndim())));
    meta.dtype = *dtype;
    return wrap_memory(meta, const_cast<void*>(a.data()), owner);
  }
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (a.dtype().kind() == 'u' && a.itemsize() == 8 && a.size() > 0 && a.attr("max")().cast<uint64_t>() > kMost)
    throw ValueError("an element of the uint64 array does not fit into int64", "Tensor", "tensors hold no uint64; scale or convert the array first");
  py::array c = widen ? py::array(a.attr("astype")(widen)) : a;
  if ((c.flags() & py::array::c_style) == 0) c = py::array(c.attr("copy")("C"));  // raises MemoryError if there is too little memory
  if (!a.dtype().attr("isnative").cast<bool>()) c = py::array(c.attr("astype")(c.dtype().attr("newbyteorder")("=")));
  return Tensor::from_data(to_shape(py::cast(std::vector<py::ssize_t>(c.shape(), c.shape() + c.ndim()))), *dtype, c.data());
}

void bind_tensor(py::module_& m) {
  TypeBinder c(g_tensor_type);
  c.def_init(&initialize, py::arg("input_data") = py::none(), py::arg("dtype") = py::none(), py::arg("shape") = py::none(), py::arg("init") = py::none(),
             py::arg("const_arg") = false);
  c.def_property_readonly(
      "ndim", [](PyTensor& t) { return t.value().rank(); }, "The number of dimensions.");
  c.def_property_readonly(
      "size", [](PyTensor& t) { return t.value().numel(); }, "The number of elements.");
  c.def_property_readonly(
      "itemsize", [](PyTensor& t) { return dtype_size(t.value().dtype()); }, "The size of an element in bytes.");
  c.def_property_readonly(
      "nbytes", [](PyTensor& t) { return t.value().nbytes(); }, "The size of all elements in bytes.");
  c.def_property_readonly(
      "strides", [](PyTensor& t) { return byte_strides(t.value()); }, "The number of bytes from one element to the next along each dimension.");
  c.def_property_readonly(
      "has_init", [](PyTensor& t) { return t.lazy != nullptr; }, "Whether an initializer still has to draw the values (init_data).");
  c.def_property_readonly(
      "is_symbolic", [](PyTensor& t) { return t.value().is_symbolic(); }, "Whether this is a value of a graph that is being traced.");
  c.def_property_readonly("_id", [](PyTensor& t) { return t.value().id(); });
  c.def(
      "_detached", [](PyTensor& t) { return t.value(); }, "Returns the current value as a Tensor that is not a Parameter.");
  c.def(
      "_replace", [](PyTensor& t, const Tensor& v) { t.set_value(v); }, "Assigns another value to this handle.");
  c.def("_link", &link, py::arg("base"), py::arg("step"), py::arg("snapshot"), "Makes the tensor a view of base; see common/_views.py.");
  c.def("_link_of", &link_of, "Returns (base, steps, snapshot) of a view, None for another tensor.");
  m.def(
      "set_part_maker", [](py::object f) { part_maker() = std::move(f); }, "Sets the function that computes a view from a value of its base.");
  c.def("_leave", &leave, "Detaches the tensor from its base, and its views from it.");
  c.def(
      "asnumpy", [](PyTensor& t) { return to_numpy(t.value()); },
      "Returns a NumPy view of the values without a copy; writes to it change the tensor. For a tensor on another device than the CPU, returns a copy after "
      "all work that the values depend on is done.");
  c.def(
      "__array__",
      [](PyTensor& t, const py::object& dtype, const py::object& copy) -> py::object {
        py::object a = to_numpy(t.value());
        if (!dtype.is_none()) a = a.attr("astype")(dtype, py::arg("copy") = false);
        return !copy.is_none() && py::cast<bool>(copy) ? a.attr("copy")() : a;
      },
      py::arg("dtype") = py::none(), py::arg("copy") = py::none());
  m.def(
      "arrays_of",
      [](const std::vector<Tensor>& tensors) {
        std::vector<Tensor> host;
        {
          const py::gil_scoped_release release;
          host = to_host(tensors, "asnumpy");
        }
        py::list out;
        for (const Tensor& t : host) out.append(to_numpy(t));
        return out;
      },
      py::arg("tensors"), "Returns asnumpy() of each tensor. If several are on a device, waits for it only once.");
  c.def_static(
      "from_numpy",
      [](const py::object& a) {
        if (!py::isinstance<py::array>(a))
          throw DTypeError(fmt::format("expected a NumPy array, got {}", py::cast<std::string>(py::str(py::type::of(a)))), "Tensor.from_numpy");
        return from_numpy(py::reinterpret_borrow<py::array>(a), true).to(current_device());
      },
      "Returns a Tensor that shares the memory of a contiguous array: writes to the array are visible in the Tensor. It is a copy if another device than the "
      "CPU "
      "is the current one.");
  c.def("item", [](PyTensor& t) { return item_of(t); });
  c.def(
      "astype",
      [](py::object self, DType dtype, bool) {
        PyTensor& t = *tensor_of(self);
        const Tensor value = t.value();
        if (value.dtype() == dtype && !t.is_parameter) {
          amp::hold_type(value);
          return self;
        }
        const Tensor out = without_lock(value.numel(), [&] { return ops::cast(value, dtype); });
        amp::hold_type(out);
        return to_python(out);
      },
      py::arg("dtype"), py::arg("copy") = true,
      "Returns the values in another element type (also a NumPy type or its name). A tensor that has the type is returned itself, whatever copy is, as in "
      "MindSpore.");
  c.def("__bool__", truth);
  c.def("__int__", [](PyTensor& t) { return py::int_(item_of(t)); });
  c.def("__float__", [](PyTensor& t) { return py::float_(item_of(t)); });
  c.def("__index__", [](PyTensor& t) {
    if (!is_integral(t.value().dtype())) throw DTypeError("only an integer tensor of one element can be an index");
    return py::int_(item_of(t));
  });
  c.def("__len__", [](PyTensor& t) {
    if (t.value().rank() == 0) throw DTypeError("a tensor of rank 0 has no length");
    return t.value().shape()[0];
  });
  c.def(
      "__dlpack__",
      [](PyTensor& t, const py::object&, const py::kwargs&) {
        need_value(t.value(), "the memory");
        return to_dlpack(t.value());
      },
      py::arg("stream") = py::none());
  c.def("__dlpack_device__", [](PyTensor&) { return py::make_tuple(1, 0); });
  c.def(
      "init_data",
      [](py::object self, const py::args&, const py::kwargs&) {
        tensor_of(self)->value();
        return self;
      },
      "Draws the values of a lazy tensor and returns it.");
  m.def(
      "from_dlpack", [](const py::object& o) { return from_dlpack(o); }, "Returns a Tensor that shares the memory of an object with __dlpack__ (CPU).");
}

}  // namespace sindri::python
