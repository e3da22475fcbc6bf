// See device_timer.h.
#include "src/device/device_timer.h"

#include <array>
#include <atomic>
#include <chrono>

namespace sindri {

namespace {

std::atomic<DeviceTimer>& timer_of(Device::Kind kind) {
  static std::array<std::atomic<DeviceTimer>, 8> timers{};
  return timers.at(static_cast<size_t>(kind));
}

}  // namespace

void set_device_timer(Device::Kind kind, DeviceTimer timer) { timer_of(kind) = timer; }

double seconds_on_device(Stream& stream, const std::function<void()>& work) {
  if (const DeviceTimer timer = timer_of(stream.device().kind); timer != nullptr) return timer(stream, work);
  stream.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  stream.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace sindri
