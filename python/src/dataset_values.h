// Common parts of the bindings of the data pipeline: conversion of Python's names to C++ values.
#pragma once

#include <string>
#include <vector>

#include "python/src/casters.h"
#include "sindri/dataset/vision.h"

namespace sindri::python {

/// Returns a size: one number is the length of an edge, two are (height, width). Throws ValueError for any other count.
dataset::vision::Size size_of(const std::vector<int64_t>& s);
dataset::vision::Inter inter_of(const std::string& name);
dataset::vision::Border border_of(const std::string& name);

void bind_dataset_vision(py::module_& m);

}  // namespace sindri::python
