// Shared by several tests of the graph: values without a pattern, a temporary number of threads, and word counts in a printed graph.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/tensor.h"

namespace sindri::test {

/// offset + amplitude·sin(0.7·(i² mod 1009) + phase) of element i.
inline Tensor wave(const Shape& shape, double phase, DType dtype = DType::kFloat32, double amplitude = 1, double offset = 0) {
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = offset + amplitude * std::sin(0.7 * static_cast<double>(i * i % 1009) + phase);
  return Tensor::from_values(shape, v, dtype);
}

/// Sets the number of kernels' threads to n during its lifetime.
struct Threads {
  explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  int before;
};

/// Counts the occurrences of `what` in `text`.
inline size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace sindri::test
