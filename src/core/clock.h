// The clock that measures all durations.
#pragma once

#include <chrono>

namespace sindri {

/// Seconds of the steady clock; only differences are meaningful.
inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace sindri
