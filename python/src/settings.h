// Values of settings that registered things declare, from Python.
#pragma once
#include <map>
#include <string>

#include "python/src/casters.h"
#include "sindri/core/setting.h"

namespace sindri::python {

inline SettingValue setting_of(py::handle h) {
  if (PyBool_Check(h.ptr())) return py::cast<bool>(h);
  if (PyLong_Check(h.ptr())) return py::cast<int64_t>(h);
  if (PyFloat_Check(h.ptr())) return py::cast<double>(h);
  return py::cast<std::string>(h);
}

inline std::map<std::string, SettingValue> settings_of(const py::dict& given) {
  std::map<std::string, SettingValue> out;
  for (const auto& [key, value] : given) out[py::cast<std::string>(key)] = setting_of(value);
  return out;
}

}  // namespace sindri::python
