// The one clock by which spans of time are measured.
#pragma once

#include <chrono>

namespace sindri {

/// Seconds of the steady clock, of which only differences mean something.
inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace sindri
