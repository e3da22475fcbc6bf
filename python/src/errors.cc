// The exception hierarchy in Python: sindri.Error and its subclasses, each of which also derives from the builtin class that Python code expects.
#include "python/src/casters.h"

namespace sindri::python {

namespace {

struct ErrorTypes {
  py::object base, internal, shape, dtype, value, device, settings, data, checkpoint, io, non_finite, comm, traced;
};

ErrorTypes& types() {
  static auto* t = new ErrorTypes;  // never destroyed: exceptions may occur while the interpreter shuts down
  return *t;
}

py::object make_class(py::module_& m, const char* name, const char* doc, const py::tuple& bases) {
  py::object cls = py::module_::import("builtins").attr("type")(name, bases, py::dict());
  cls.attr("__module__") = "sindri";
  cls.attr("__doc__") = doc;
  m.attr(name) = cls;
  return cls;
}

const py::object& type_of(const Error& e) {
  const ErrorTypes& t = types();
  if (dynamic_cast<const ShapeError*>(&e)) return t.shape;
  if (dynamic_cast<const DTypeError*>(&e)) return t.dtype;
  if (dynamic_cast<const ValueError*>(&e)) return t.value;
  if (dynamic_cast<const DeviceError*>(&e)) return t.device;
  if (dynamic_cast<const SettingsError*>(&e)) return t.settings;
  if (dynamic_cast<const DataError*>(&e)) return t.data;
  if (dynamic_cast<const CheckpointError*>(&e)) return t.checkpoint;
  if (dynamic_cast<const IoError*>(&e)) return t.io;
  if (dynamic_cast<const NonFiniteError*>(&e)) return t.non_finite;
  if (dynamic_cast<const CommError*>(&e)) return t.comm;
  if (dynamic_cast<const InternalError*>(&e)) return t.internal;
  return t.base;
}

// Names and damaged contents of files need not be UTF-8.
py::object text(const std::string& s) {
  PyObject* t = PyUnicode_DecodeUTF8(s.data(), static_cast<py::ssize_t>(s.size()), "backslashreplace");
  if (t == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(t);
}

// Writes the names of functions in a message as Python spells them.
std::string in_python(std::string s) {
  for (size_t at = s.find("ops::"); at != std::string::npos; at = s.find("ops::", at)) s.replace(at, 5, "ops.");
  return s;
}

void raise(const Error& e) {
  const py::object exception = type_of(e)(text(in_python(e.what())));
  exception.attr("code") = static_cast<int>(e.code());
  exception.attr("message") = text(in_python(e.message()));
  exception.attr("where") = text(e.where());
  exception.attr("fix") = text(in_python(e.fix()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void bind_errors(py::module_& m) {
  ErrorTypes& t = types();
  const auto builtin = [](PyObject* o) { return py::reinterpret_borrow<py::object>(o); };
  t.base = make_class(m, "Error",
                      "Base class of Sindri's exceptions. str() is `what | where | fix`; the parts are attributes, code is the number in docs/errors.md.",
                      py::make_tuple(builtin(PyExc_Exception)));
  for (const char* part : {"message", "where", "fix"}) t.base.attr(part) = "";
  t.base.attr("code") = 1001;
  const auto derived = [&](const char* name, const char* doc, PyObject* also) { return make_class(m, name, doc, py::make_tuple(t.base, builtin(also))); };
  t.internal = derived("InternalError", "An internal error of Sindri.", PyExc_RuntimeError);
  t.shape = derived("ShapeError", "Shapes do not match.", PyExc_ValueError);
  t.dtype = derived("DTypeError", "Element types do not match.", PyExc_TypeError);
  t.value = derived("InvalidValueError", "An argument is out of range.", PyExc_ValueError);
  t.device = derived("DeviceError", "A device or its memory is not available.", PyExc_RuntimeError);
  t.settings = derived("SettingsError", "A setting is unknown or invalid.", PyExc_ValueError);
  t.data = derived("DataError", "Data is missing, empty or damaged.", PyExc_RuntimeError);
  t.checkpoint = derived("CheckpointError", "A checkpoint is damaged or does not match the network.", PyExc_ValueError);
  t.io = derived("IoError", "A file or folder cannot be used.", PyExc_OSError);
  t.non_finite = derived("NonFiniteError", "A loss or gradient is NaN or infinite.", PyExc_ValueError);
  t.comm = derived("CommError", "Communication between ranks failed.", PyExc_RuntimeError);
  t.traced = derived("TracedValueError", "The value of a tensor was requested while a graph is traced; it has none at that time.", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Error& e) { raise(e); } catch (const TracedValue& e) {
      PyErr_SetString(types().traced.ptr(), e.what());
    } catch (const py::cast_error& e) {
      const std::string what = e.what();  // without its advice for building the module
      PyErr_SetString(PyExc_TypeError, ("a value is not of the type that is needed here: " + what.substr(0, what.find(" (#define"))).c_str());
    }
  });
}

}  // namespace sindri::python
