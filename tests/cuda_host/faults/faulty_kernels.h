// A correct kernel, and variants that are wrong in one place each: the sum of each row of a matrix, scaled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace sindri::cuda_host::faulty {

/// The faults of a kernel, by name; "" is none. `run` launches it on the stream: y[r] = 2 * sum over c of x[r * columns + c].
struct Case {
  std::string name;
  std::function<cudaError_t(cudaStream_t stream, const float* x, float* y, int rows, int columns)> run;
  std::string says;  ///< part of the fault's message; empty if the result is wrong, or the process ends
};
const std::vector<Case>& cases();

}  // namespace sindri::cuda_host::faulty
