// The binding of the line that a training shows. Apart from casters.h, which every file includes.
#pragma once

#include <pybind11/pybind11.h>

namespace sindri::python {

void bind_progress(pybind11::module_& m);

}  // namespace sindri::python
