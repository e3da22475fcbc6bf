// Conversion of Python values to settings that registered objects declare.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "python/src/casters.h"
#include "sindri/core/setting.h"

namespace sindri::python {

/// Accepts bool, int, float (NumPy's too), str, and a list or tuple of numbers. Throws TypeError for anything else; `name` is the setting's name.
inline SettingValue setting_of(py::handle h, const std::string& name) {
  if (PyBool_Check(h.ptr())) return py::cast<bool>(h);
  if (PyLong_Check(h.ptr())) return py::cast<int64_t>(h);
  if (PyFloat_Check(h.ptr())) return py::cast<double>(h);
  if (PyUnicode_Check(h.ptr())) return py::cast<std::string>(h);
  if (PyList_Check(h.ptr()) || PyTuple_Check(h.ptr())) return py::cast<std::vector<double>>(h);
  if (py::hasattr(h, "item")) {  // a NumPy number
    const py::object plain = h.attr("item")();
    if (!py::type::of(plain).is(py::type::of(h))) return setting_of(plain, name);
  }
  throw py::type_error("the setting " + name + " must be a bool, a number, a text or a list of numbers, got " + std::string(py::repr(h)) + " of type " +
                       Py_TYPE(h.ptr())->tp_name);
}

inline std::map<std::string, SettingValue> settings_of(const py::dict& given) {
  std::map<std::string, SettingValue> out;
  for (const auto& [key, value] : given) out[py::cast<std::string>(key)] = setting_of(value, py::cast<std::string>(key));
  return out;
}

}  // namespace sindri::python
