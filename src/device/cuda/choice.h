// Chooses among a library's implementations of the same computation (cuDNN's engines, cuBLASLt's algorithms): recorded,
// remembered or measured. docs/design/cuda.md, Choosing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sindri/core/dtype.h"
#include "src/device/cuda/libraries.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

/// One implementation of the problem.
class Candidate {
 public:
  virtual ~Candidate() = default;
  /// Returns its name for files, one line.
  virtual std::string choice() const = 0;
  virtual int64_t workspace() const = 0;
  /// Enqueues its work on the stream, for measuring. `operands`: those of Problem::operands, in order.
  virtual void run(CudaStream& stream, std::span<void* const> operands, void* workspace) const = 0;
};

/// Memory that a candidate reads or writes.
struct TrialOperand {
  DType dtype = DType::kFloat32;  ///< floating types get random values from -1 to 1, others random bytes
  int64_t bytes = 0;
};

class Problem {
 public:
  virtual ~Problem() = default;
  virtual Library library() const = 0;
  /// Returns a device-independent text of one line; equal problems have equal keys.
  virtual std::string key() const = 0;
  /// Returns the candidate of that name; null, with the reason, if it does not exist here or is not allowed.
  virtual std::shared_ptr<const Candidate> remembered(const std::string& choice, std::string* why) = 0;
  /// Returns at most `most` candidates, the library's first choice first. `all`: include those that take long to build.
  virtual std::vector<std::shared_ptr<const Candidate>> candidates(size_t most, bool all, std::string* why_none) = 0;
  virtual std::vector<TrialOperand> operands() const = 0;
};

/// Returns the candidate to use for a problem on a device of this process. Null: there is none, and `why_none` has the
/// reason. In this order:
///    1. a recorded choice: of the run that is resumed, of rank 0, of SINDRI_KERNEL_CHOICES, or made before in this runtime;
///    2. if tuning is on, the choice in plans.json;
///    3. if tuning is on and no capture is in progress, the fastest of 4 (SINDRI_TUNE=full: 16), by the median of 5 runs. An earlier
///       choice, else the library's first choice, is replaced only by one that is 3 % faster;
///    4. the library's first choice; in strict mode always this one.
/// Without SINDRI_TUNE=full, a process spends at most 20 seconds on measuring.
std::shared_ptr<const Candidate> choose(Problem& problem, int device, std::string* why_none);

/// Returns the index of the measured time to choose: `earlier`, unless another is 3 % shorter.
size_t clearly_fastest(std::span<const double> us, size_t earlier);

/// Returns "cuDNN 9.19.0, NVIDIA H200, 132 SMs": the library and GPU to which choices apply.
std::string choice_owner(Library library, int device);

}  // namespace sindri::cuda
