// The binding of the progress line. It is separate from casters.h, which every file includes.
#pragma once

#include <pybind11/pybind11.h>

namespace sindri::python {

void bind_progress(pybind11::module_& m);

}  // namespace sindri::python
