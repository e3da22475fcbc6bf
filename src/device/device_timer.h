// Times of work by a device's own clock.
#pragma once

#include <functional>
#include <optional>

#include "sindri/device/backend.h"
#include "sindri/export.h"

namespace sindri {

/// Runs `work`, which puts something on the stream, waits for it and returns the seconds it took there, without the time the host took to put it there.
using DeviceTimer = double (*)(Stream& stream, const std::function<void()>& work);
/// A backend's way to do that, for its kind of device. Before other threads use the devices.
SINDRI_API void set_device_timer(Device::Kind kind, DeviceTimer timer);
/// By the stream's device, or, if its backend has no timer, by the host's clock from an idle stream until the work is done.
SINDRI_API double seconds_on_device(Stream& stream, const std::function<void()>& work);

}  // namespace sindri
