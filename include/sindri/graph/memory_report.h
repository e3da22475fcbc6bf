// Memory use of a compiled function, and the values that are alive at the arena's peak.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri {

/// A value in the arena, alive at the peak.
struct LiveValue {
  std::string scope;  ///< path of the Cell that made it
  std::string op;  ///< the op that made it
  TensorMeta meta;
  int64_t bytes = 0;  ///< its slice of the arena, alignment included
};

/// Memory use of a compiled function.
struct MemoryReport {
  int64_t arena_bytes = 0;  ///< live_bytes + gap_bytes
  int64_t live_bytes = 0;  ///< values alive at the peak
  int64_t gap_bytes = 0;  ///< gaps between their slices, unused at that moment
  int64_t workspace_bytes = 0;  ///< scratch memory shared by all kernels
  int64_t state_bytes = 0;  ///< parameters, optimizer state and buffers, in their own storage
  int64_t input_bytes = 0;  ///< the caller's tensors
  int64_t constant_bytes = 0;  ///< constants of the graph
  int64_t steady_bytes = 0;  ///< kept between runs: values derived from states that do not change, and weights in their kernels' private form
  int64_t result_bytes = 0;  ///< new tensors of each run: outputs, and new values of states that cannot be written in place
  int64_t instructions = 0;  ///< instructions per run
  int64_t peak_instruction = 0;  ///< index, from 0, of the instruction with the most bytes alive
  std::string peak_op, peak_scope;  ///< op and Cell of that instruction
  std::vector<LiveValue> live;  ///< values alive at the peak, largest first
};

}  // namespace sindri
