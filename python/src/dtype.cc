// Element types in Python: singletons compared by identity, one per name of the MindSpore contract (section 3.2).
#include <fmt/format.h>

#include <array>
#include <map>

#include "python/src/casters.h"

namespace sindri::python {

namespace {

/// sindri.common.dtype.DType. Types without tensors in the engine (int8, complex64, string …) exist as names only.
struct PyDType {
  std::string name;  ///< "Float32"
  std::optional<DType> dtype;
};

struct Known {
  std::array<py::object, kNumDTypes> objects;
  std::map<std::string, DType> by_numpy_name;
};
Known& known() {
  static auto* k = new Known;  // never destroyed: Python may already be gone
  return *k;
}

constexpr std::array<const char*, kNumDTypes> kNames = {"Bool", "UInt8", "Int32", "Int64", "Float16", "BFloat16", "Float32", "Float64"};

[[noreturn]] void refuse(py::handle h) {
  throw DTypeError(fmt::format("{} is not an element type of tensors", py::cast<std::string>(py::repr(h))), "",
                   "use bool, uint8, int32, int64, float16, bfloat16, float32 or float64");
}

}  // namespace

py::object dtype_object(DType t) { return known().objects[static_cast<size_t>(t)]; }

DType to_dtype(py::handle h) {
  if (py::isinstance<PyDType>(h)) {
    const auto& d = *py::cast<PyDType*>(h);
    if (!d.dtype.has_value()) refuse(h);
    return *d.dtype;
  }
  if (h.is_none()) refuse(h);  // NumPy would return float64
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::kFloat32;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::kBool;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::kInt64;
  std::string name;
  if (py::isinstance<py::str>(h)) {
    name = py::cast<std::string>(h);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name == "bfloat16") return DType::kBFloat16;
  }
  try {
    if (name.empty()) name = py::cast<std::string>(py::dtype::from_args(py::reinterpret_borrow<py::object>(h)).attr("name"));
  } catch (py::error_already_set&) { refuse(h); }
  const auto found = known().by_numpy_name.find(name);
  if (found == known().by_numpy_name.end()) refuse(h);
  return found->second;
}

void bind_dtype(py::module_& m) {
  py::class_<PyDType> c(m, "DType", "An element type such as sindri.float32.");
  c.def("__repr__", [](const PyDType& d) { return d.name; }).def("__str__", [](const PyDType& d) { return d.name == "TypeNone" ? "None" : d.name; });
  c.def_readonly("name", &PyDType::name, "MindSpore's name, such as 'Float32'.");
  c.def_property_readonly(
      "is_tensor_type", [](const PyDType& d) { return d.dtype.has_value(); }, "Whether tensors can have this element type.");
  c.def_property_readonly(
      "is_floating", [](const PyDType& d) { return d.dtype.has_value() && is_floating(*d.dtype); }, "Whether this is a floating-point type.");
  c.def_property_readonly(
      "numpy_name", [](const PyDType& d) -> py::object { return d.dtype.has_value() ? py::object(py::str(dtype_name(*d.dtype))) : py::none(); },
      "NumPy's name, such as 'float32'; None for a type that tensors cannot have.");
  c.def("__hash__", [](py::handle self) { return reinterpret_cast<intptr_t>(self.ptr()) >> 4; });
  // Also comparable with NumPy's types: x.dtype == numpy.float32.
  const auto equal = [](py::handle self, py::handle other) {
    if (self.is(other)) return true;
    const auto& d = *py::cast<PyDType*>(self);
    if (!d.dtype.has_value() || other.is_none() || py::isinstance<PyDType>(other) || PyLong_Check(other.ptr())) return false;
    try {
      return to_dtype(other) == *d.dtype;
    } catch (const DTypeError&) { return false; }
  };
  c.def("__eq__", equal).def("__ne__", [equal](py::handle self, py::handle other) { return !equal(self, other); });
  c.def("__reduce__", [](const PyDType& d) { return py::make_tuple(py::module_::import("sindri._core").attr("_dtype_named"), py::make_tuple(d.name)); });
  py::dict by_name;
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    known().objects[static_cast<size_t>(i)] = py::cast(new PyDType{kNames[static_cast<size_t>(i)], t}, py::return_value_policy::take_ownership);
    by_name[kNames[static_cast<size_t>(i)]] = known().objects[static_cast<size_t>(i)];
    known().by_numpy_name[dtype_name(t)] = t;
  }
  for (const char* name : {"Int8",   "Int16", "UInt16", "UInt32", "UInt64", "Complex64", "Complex128", "String", "TypeNone", "Tensor",
                           "Number", "Int",   "UInt",   "Float",  "List",   "Tuple",     "Function",   "Type",   "Slice",    "Dict"})
    by_name[name] = py::cast(new PyDType{name, std::nullopt}, py::return_value_policy::take_ownership);
  m.attr("dtypes") = by_name;
  m.def("_dtype_named", [by_name](const std::string& name) -> py::object { return by_name[name.c_str()]; });
  m.def("promote_types", &promote_types, "Returns the smallest type that can hold both.");
}

}  // namespace sindri::python
