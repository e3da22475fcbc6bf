// Times work by a device's own clock.
#pragma once

#include <functional>
#include <optional>

#include "sindri/device/backend.h"
#include "sindri/export.h"

namespace sindri {

/// Runs `work`, which enqueues work on the stream, waits for it and returns its duration there in seconds, without the
/// time the host needed to enqueue it.
using DeviceTimer = double (*)(Stream& stream, const std::function<void()>& work);
/// Sets a backend's timer for its kind of device. Call before other threads use the devices.
SINDRI_API void set_device_timer(Device::Kind kind, DeviceTimer timer);
/// Uses the timer of the stream's device or, if its backend has none, the host's clock from an idle stream until the work is done.
SINDRI_API double seconds_on_device(Stream& stream, const std::function<void()>& work);

}  // namespace sindri
