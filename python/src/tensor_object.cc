// The types of sindri.Tensor and sindri.Parameter: memory, construction, shape and dtype. Operators are in tensor_operators.cc, methods in
// tensor.cc and parameter.cc.
//
// They use Python's type machinery directly: an object contains its Tensor, is identified by its type, and is destroyed without table look-ups.
// Functions that small ops do not use are bound to these types with pybind11.
#include "python/src/tensor_object.h"

#include <structmember.h>

#include <cstddef>
#include <new>

namespace sindri::python {

namespace {

// tp_alloc leaves zeroed memory after the head of an object; the C++ members are constructed here.
template <class T> PyObject* allocate(PyTypeObject* type) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  auto* t = reinterpret_cast<T*>(self);
  new (&t->held) Tensor();
  new (&t->lazy) std::unique_ptr<LazyValue>();
  new (&t->view) std::unique_ptr<ViewLink>();
  if constexpr (std::is_same_v<T, PyParameter>) {
    t->is_parameter = true;
    new (&t->param) std::shared_ptr<Parameter>();
  }
  return self;
}

template <class T> PyObject* make(PyTypeObject* type, PyObject*, PyObject*) { return allocate<T>(type); }

template <class T> void deallocate(PyObject* self) {
  auto* t = reinterpret_cast<T*>(self);
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (t->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(t->dict);
  std::destroy_at(&t->held);
  std::destroy_at(&t->lazy);
  std::destroy_at(&t->view);
  if constexpr (std::is_same_v<T, PyParameter>) std::destroy_at(&t->param);
  type->tp_free(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  auto* t = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(t->dict);
  if (t->lazy != nullptr) Py_VISIT(t->lazy->init.ptr());
  if (t->view != nullptr) {
    Py_VISIT(t->view->base.ptr());
    Py_VISIT(t->view->steps.ptr());
  }
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int clear(PyObject* self) {
  auto* t = reinterpret_cast<PyTensor*>(self);
  Py_CLEAR(t->dict);
  t->lazy.reset();
  const std::unique_ptr<ViewLink> view = std::move(t->view);  // releasing the base may run Python code, which may call this again
  return 0;
}

// Shape and type of a Parameter are those of its slot, regardless of recording and tracing.
template <class F> auto of_meta(PyObject* self, F&& f) {
  auto* t = reinterpret_cast<PyTensor*>(self);
  if (t->is_parameter) return f(slot_of(self)->shape(), slot_of(self)->dtype());
  if (!t->held.defined() && t->lazy != nullptr) return f(t->lazy->shape, t->lazy->dtype);
  const Tensor value = t->value();
  return f(value.shape(), value.dtype());
}

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return of_meta(self, [](const Shape& s, DType) { return shape_tuple(s).release().ptr(); }); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return of_meta(self, [](const Shape&, DType d) { return dtype_object(d).release().ptr(); }); });
}

PyTypeObject* make_type(const char* name, const char* doc, size_t size, std::vector<PyType_Slot> slots, PyTypeObject* base) {
  slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  slots.push_back({Py_tp_traverse, reinterpret_cast<void*>(traverse)});
  slots.push_back({Py_tp_clear, reinterpret_cast<void*>(clear)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, static_cast<int>(size), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  const py::object bases = base != nullptr ? py::object(py::make_tuple(py::handle(reinterpret_cast<PyObject*>(base)))) : py::object();
  PyObject* const type = PyType_FromSpecWithBases(&spec, bases.ptr());
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

py::object to_python(Tensor t) {
  PyObject* const self = allocate<PyTensor>(g_tensor_type);
  if (self == nullptr) throw py::error_already_set();
  reinterpret_cast<PyTensor*>(self)->held = std::move(t);
  return py::reinterpret_steal<py::object>(self);
}

py::object to_python(std::shared_ptr<Parameter> p) {
  PyObject* const self = allocate<PyParameter>(g_parameter_type);
  if (self == nullptr) throw py::error_already_set();
  reinterpret_cast<PyParameter*>(self)->param = std::move(p);
  return py::reinterpret_steal<py::object>(self);
}

const std::shared_ptr<Parameter>& slot_of(py::handle h) {
  PyParameter* const p = parameter_of(h);
  if (p == nullptr) {
    if (PyObject_TypeCheck(h.ptr(), g_parameter_type)) throw ValueError("the Parameter has no value yet", "Parameter", "call super().__init__(value) first");
    throw DTypeError("expected a Parameter, got " + py::cast<std::string>(py::str(py::type::of(h))));
  }
  return p->param;
}

void bind_tensor_types(py::module_& m) {
  static PyMemberDef members[] = {
      {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {"shape", get_shape, nullptr, "The shape, a tuple.", nullptr},
      {"dtype", get_dtype, nullptr, "The element type.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  std::vector<PyType_Slot> slots = operator_slots();
  slots.push_back({Py_tp_new, reinterpret_cast<void*>(make<PyTensor>)});
  slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(deallocate<PyTensor>)});
  slots.push_back({Py_tp_members, members});
  slots.push_back({Py_tp_getset, properties});
  g_tensor_type = make_type("sindri._core.Tensor", "An n-dimensional array; see sindri.Tensor.", sizeof(PyTensor), std::move(slots), nullptr);
  g_parameter_type =
      make_type("sindri._core.Parameter", "A named tensor that training updates; see sindri.Parameter.", sizeof(PyParameter),
                {{Py_tp_new, reinterpret_cast<void*>(make<PyParameter>)}, {Py_tp_dealloc, reinterpret_cast<void*>(deallocate<PyParameter>)}}, g_tensor_type);
  m.attr("Tensor") = py::handle(reinterpret_cast<PyObject*>(g_tensor_type));
  m.attr("Parameter") = py::handle(reinterpret_cast<PyObject*>(g_parameter_type));
}

}  // namespace sindri::python
