// What the bindings of the data pipeline share: names of Python's as values of C++.
#pragma once

#include <string>
#include <vector>

#include "python/src/casters.h"
#include "sindri/dataset/vision.h"

namespace sindri::python {

/// One number is an edge, two are (height, width). Throw ValueError for others.
dataset::vision::Size size_of(const std::vector<int64_t>& s);
dataset::vision::Inter inter_of(const std::string& name);
dataset::vision::Border border_of(const std::string& name);

void bind_dataset_vision(py::module_& m);

}  // namespace sindri::python
