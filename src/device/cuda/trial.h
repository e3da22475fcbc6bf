// Times work on a device by its events.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/device/cuda/choice.h"

namespace sindri::cuda {

/// The time of a candidate that the library failed to run.
inline constexpr double kFailed = std::numeric_limits<double>::infinity();

/// Returns the microseconds of each candidate, the median of 5 runs after 2 warm-up runs. Candidates run alternately,
/// on operands of the right sizes with random values. Operands that fit into the L2 cache exist in several copies, so
/// that each run uses other copies. Waits for the current stream. Returns an empty list, with the reason, if there is
/// no memory to time with. Throws if the device is lost.
std::vector<double> time_candidates(int device, std::span<const TrialOperand> operands, std::span<const std::shared_ptr<const Candidate>> candidates,
                                    std::string* why);

/// Returns the seconds of the work on the stream, by device events (src/device/device_timer.h). First fills as much
/// memory as the L2 cache holds. While the device does this the host enqueues the work, and afterwards the cache holds
/// none of the operands.
double seconds_by_events(Stream& stream, const std::function<void()>& work);

}  // namespace sindri::cuda
