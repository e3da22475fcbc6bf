// The type of the functions of _core.ops; the calls are in op_function.h.
#include "python/src/op_function.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

namespace sindri::python {

namespace {

PyTypeObject* g_type = nullptr;

OpFunction* function(PyObject* self) { return reinterpret_cast<OpFunction*>(self); }

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(function(self)->name);
  Py_XDECREF(function(self)->converting);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_name(PyObject* self, void*) {
  Py_INCREF(function(self)->name);
  return function(self)->name;
}
PyObject* get_doc(PyObject* self, void*) { return PyObject_GetAttrString(function(self)->converting, "__doc__"); }
PyObject* get_module(PyObject* self, void*) { return PyObject_GetAttrString(function(self)->converting, "__module__"); }
PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<function %U of sindri._core.ops>", function(self)->name); }
PyObject* get(PyObject* self, PyObject*, PyObject*) {  // as a class attribute it does not bind self; with __get__, inspect treats it as a function
  Py_INCREF(self);
  return self;
}
PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }  // pickled by name, like builtin functions

}  // namespace

PyObject* argument_name(PyObject* keyword, PyObject* const* names, size_t count) {
  if (std::find(names, names + count, keyword) != names + count) return keyword;
  static PyObject* const input = PyUnicode_InternFromString("input");
  static PyObject* const other = PyUnicode_InternFromString("other");
  const auto is = [&](const char* text) { return PyUnicode_CompareWithASCIIString(keyword, text) == 0; };
  if (count > 0 && names[0] == input && is("x")) return input;
  if (count > 1 && names[1] == other && (is("y") || is("exponent"))) return other;
  return keyword;
}

PyObject* call_converting(const OpFunction* f, PyObject* const* args, size_t nargs, PyObject* keywords, PyObject* const* names, size_t count) {
  const Py_ssize_t n = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  if (n == 0) return PyObject_Vectorcall(f->converting, args, nargs, nullptr);
  PyObject* const known = PyTuple_New(n);
  if (known == nullptr) return nullptr;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* const name = argument_name(PyTuple_GET_ITEM(keywords, k), names, count);
    Py_INCREF(name);
    PyTuple_SET_ITEM(known, k, name);
  }
  PyObject* const result = PyObject_Vectorcall(f->converting, args, nargs, known);
  Py_DECREF(known);
  return result;
}

py::object make_op_function(py::module_&, const char* name, const py::object& converting, vectorcallfunc call, void* body) {
  PyObject* const self = g_type->tp_alloc(g_type, 0);
  if (self == nullptr) throw py::error_already_set();
  function(self)->call = call;
  function(self)->name = PyUnicode_InternFromString(name);
  function(self)->converting = converting.inc_ref().ptr();
  function(self)->body = body;
  return py::reinterpret_steal<py::object>(self);
}

void bind_op_function_type(py::module_& m) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, call), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyGetSetDef properties[] = {
      {"__name__", get_name, nullptr, nullptr, nullptr}, {"__qualname__", get_name, nullptr, nullptr, nullptr},
      {"__doc__", get_doc, nullptr, nullptr, nullptr},   {"__module__", get_module, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  };
  static PyMethodDef methods[] = {
      {"__reduce__", reduce, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
      {Py_tp_descr_get, reinterpret_cast<void*>(get)},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  PyType_Spec spec = {"sindri._core.OpFunction", sizeof(OpFunction), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  g_type = reinterpret_cast<PyTypeObject*>(type);
  g_type->tp_new = nullptr;  // created here only: an object created by Python would have no function
  m.attr("OpFunction") = py::handle(type);
}

}  // namespace sindri::python
