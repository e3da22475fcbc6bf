// Common parts of the sources of sindri.Tensor and sindri.Parameter: guards for functions that Python calls directly, and def() for types
// that are not pybind11's.
#pragma once
#include "python/src/casters.h"

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace sindri::python {

/// Returns f(), a new reference; null with the Python exception set if f throws.
template <class F> PyObject* guarded(F&& f) {
  try {
    return f();
  } catch (py::error_already_set& e) {
    e.restore();
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {  // the thread is ending
    throw;
#endif
  } catch (...) { py::detail::try_translate_exceptions(); }
  return nullptr;
}

/// Defines methods and properties in the form of py::class_.
class TypeBinder {
 public:
  explicit TypeBinder(PyTypeObject* type) : type_(reinterpret_cast<PyObject*>(type)) {}
  template <class F, class... Extra> TypeBinder& def(const char* name, F&& f, const Extra&... extra) {
    py::setattr(type_, name, py::cpp_function(std::forward<F>(f), py::name(name), py::is_method(type_), extra...));
    return *this;
  }
  /// Defines __init__, under another name for pybind11, which reserves it for the constructors of pybind11 types.
  template <class F, class... Extra> TypeBinder& def_init(F&& f, const Extra&... extra) {
    py::setattr(type_, "__init__", py::cpp_function(std::forward<F>(f), py::name("init"), py::is_method(type_), extra...));
    return *this;
  }
  template <class F, class... Extra> TypeBinder& def_static(const char* name, F&& f, const Extra&... extra) {
    const py::cpp_function function(std::forward<F>(f), py::name(name), py::scope(type_), extra...);
    py::setattr(type_, name, py::reinterpret_steal<py::object>(PyStaticMethod_New(function.ptr())));
    return *this;
  }
  template <class F> TypeBinder& def_property_readonly(const char* name, F&& get, const char* doc = "") {
    return property(name, py::cpp_function(std::forward<F>(get)), py::none(), doc);
  }
  template <class Get, class Set> TypeBinder& def_property(const char* name, Get&& get, Set&& set, const char* doc = "") {
    return property(name, py::cpp_function(std::forward<Get>(get)), py::cpp_function(std::forward<Set>(set)), doc);
  }

 private:
  TypeBinder& property(const char* name, const py::object& get, const py::object& set, const char* doc) {
    const py::handle make(reinterpret_cast<PyObject*>(&PyProperty_Type));
    py::setattr(type_, name, make(get, set, py::none(), py::str(doc)));
    return *this;
  }
  py::handle type_;
};

/// Returns the slots of Tensor's operators and comparisons, for its type.
std::vector<PyType_Slot> operator_slots();

}  // namespace sindri::python
