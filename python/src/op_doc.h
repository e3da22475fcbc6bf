// Functions of _core.ops with the documentation that the registry has of their op.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "python/src/casters.h"
#include "sindri/op/op_def.h"

namespace sindri::python {

/// The documentation of the op of that name; empty when a function is made of several ops.
inline std::string op_doc(std::string_view name) {
  for (const OpDef* op : all_ops())
    if (op->name == name) return op->doc;
  return {};
}

/// m.def with that documentation.
template <class F, class... Extra> void def_op(py::module_& m, const char* name, F&& f, const Extra&... extra) {
  m.def(name, std::forward<F>(f), extra..., op_doc(name).c_str());
}

}  // namespace sindri::python
