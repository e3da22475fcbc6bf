// Times on a device, by its events.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/device/cuda/choice.h"

namespace sindri::cuda {

/// The time of a candidate that the library refused to run.
inline constexpr double kFailed = std::numeric_limits<double>::infinity();

/// Microseconds of each candidate, the median of 5 runs after 2 that do not count. Candidates take turns, on memory of their operands' sizes with random
/// values; operands that fit into the L2 cache exist several times, so that each run finds others there. Waits for the current stream. Empty where nothing can be
/// timed, with the reason: no memory. Throws when the device is lost.
std::vector<double> time_candidates(int device, std::span<const TrialOperand> operands, std::span<const std::shared_ptr<const Candidate>> candidates,
                                    std::string* why);

/// Seconds of the work on the stream, by events of the device (src/device/device_timer.h). Before it as much memory as the L2 cache has is filled: the host
/// has put the work there before the device comes to it, and the cache holds none of the operands.
double seconds_by_events(Stream& stream, const std::function<void()>& work);

}  // namespace sindri::cuda
