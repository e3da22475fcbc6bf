// Weights and data from a counter-based formula, the same as tests/reference/make_net_expectations.py computes.
#pragma once

#include <string>
#include <vector>

#include "sindri/nn/cell.h"

namespace sindri::test {

/// n values in [0, 1) of the stream named `key`.
std::vector<double> unit_stream(const std::string& key, int64_t n);
/// Sets every trainable parameter to the formula's values, by its name.
void fill_parameters(nn::Cell& net, const std::string& net_name);
/// Images [n, 3, side, side] and labels [n] of a step (four different batches in turn).
std::vector<Tensor> formula_batch(const std::string& net_name, int64_t step, int64_t n, int64_t side, int64_t classes, DType dtype);
/// Converts every floating parameter of a network, buffers included.
void convert_parameters(nn::Cell& net, DType dtype);

}  // namespace sindri::test
