// Devices by their user-visible names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/nearest.h"
#include "sindri/device/device.h"
#include "src/core/mutable_context.h"
#include "src/device/cuda_plugin.h"

namespace sindri {

namespace {

std::string lower(std::string s) {
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

std::string own_name(const DeviceListing& d) { return d.device.str().substr(0, d.device.str().find(':')); }

// "cpu (CPU, avx2, device_target CPU); sim:0 (…)"
std::string found() {
  std::string text;
  for (const DeviceListing& d : devices()) text += fmt::format("{}{} ({}, device_target {})", text.empty() ? "" : "; ", d.device.str(), d.info.name, d.target);
  return text;
}

bool is_strict() {
  const char* v = std::getenv("SINDRI_STRICT_TARGET");
  return v != nullptr && std::string_view(v) != "" && std::string_view(v) != "0";
}

bool has_device(const std::string& target) {
  const std::vector<DeviceListing> all = devices();
  return std::any_of(all.begin(), all.end(), [&](const DeviceListing& d) { return d.target == target || own_name(d) == target; });
}

std::string why_missing(const std::string& target) {
  for (const MissingPart& part : missing_parts())
    if (part.target == target) return part.what;
  return "there is no such device";
}

std::string substitution(const std::string& target) {
  return fmt::format("device_target {}: {} (found: {}); the CPU computes", target, why_missing(target), found());
}

}  // namespace

Device find_device(const std::string& target, int index) {
  std::string name = lower(target);
  if (const size_t colon = name.find(':'); colon != std::string::npos) {
    const std::string number = name.substr(colon + 1);
    if (number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != std::string::npos)
      throw DeviceError(fmt::format("'{}' is not the name of a device", target), "", "write it as cpu, cuda:0, …");
    index = std::stoi(number);
    name.resize(colon);
  }
  if (name == "gpu" || name == "cuda") load_cuda_backend(true);
  for (const DeviceListing& d : devices()) {
    if ((lower(d.target) == name || own_name(d) == name) && (d.device.is_cpu() || d.device.index == index)) return d.device;
  }
  std::string fix;
  for (const MissingPart& part : missing_parts()) {
    if (lower(part.target) == name || (part.target == "GPU" && name == "cuda")) fix += fmt::format("{}{}: {}", fix.empty() ? "" : "; ", part.what, part.fix);
  }
  throw DeviceError(fmt::format("there is no device {}{}", target, target.find(':') == std::string::npos ? fmt::format(" {}", index) : ""), "found: " + found(),
                    fix.empty() ? "name one of the devices that were found" : fix);
}

Device set_device_target(const std::string& target, int id) {
  if (target == "GPU" || target == "cuda") load_cuda_backend(true);
  const std::vector<std::string> offered = device_targets();
  if (std::find(offered.begin(), offered.end(), target) == offered.end()) {
    const auto same = std::find_if(offered.begin(), offered.end(), [&](const std::string& name) { return lower(name) == lower(target); });
    const std::string near = same != offered.end() ? fmt::format("did you mean '{}'? Capitals count", *same) : did_you_mean(target, offered);
    throw ValueError(fmt::format("device_target must be one of {}, got '{}'", fmt::join(offered, ", "), target), "",
                     near.empty() ? "sindri doctor lists the available devices" : near);
  }
  if (id < 0 || id > 4095) throw ValueError(fmt::format("device_id must be from 0 to 4095, got {}", id));
  const std::string asked = target == "Davinci" ? "Ascend" : target;
  Device device;
  if ((asked == "GPU" || asked == "Ascend") && !has_device(asked) && !is_strict()) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true)) log::warn("device", substitution(asked) + ". SINDRI_STRICT_TARGET=1 makes this an error");
  } else {
    device = find_device(asked, id);
  }
  set_current_device(device);
  mutable_context().device_target = asked;
  mutable_context().device_id = id;
  return device;
}

std::string target_substitution() {
  const std::string& target = context().device_target;
  const bool elsewhere = !current_device().is_cpu() || (target != "GPU" && target != "Ascend") || has_device(target);
  return elsewhere ? "" : substitution(target);
}

}  // namespace sindri
