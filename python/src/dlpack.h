// DLPack (github.com/dmlc/dlpack, ABI version 0): the structure and its exchange with Python capsules.
#pragma once
#include "python/src/casters.h"

namespace sindri::python {

py::capsule to_dlpack(const Tensor& t);
Tensor from_dlpack(const py::object& o);

}  // namespace sindri::python
