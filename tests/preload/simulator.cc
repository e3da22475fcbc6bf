// The simulated accelerator (tests/device) for programs that do not know of it: preloaded into `sindri` (LD_PRELOAD), or loaded by the Python tests (ctypes).
// SINDRI_SIM="name=value,…", or sindri_sim_set with the same text:
//
//   seed, delay, share     random pauses of up to `delay` microseconds before a share of all work
//   compute, comm, copy    a pause before all work of a lane, in microseconds
//   lose, fail_copy, fail_allocation, drop_wait      the n-th from now on
//   lose_read              lost at the n-th copy to the host
//   exhaust                from the n-th piece of work on there is no memory left
//   limit                  bytes of device memory
//   repair                 as after a restart of the machine
//   current                1: tensors without an explicit device are there
//   count                  1: at the end, the program prints the amount of work to stderr
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "sindri/core/device.h"
#include "tests/device/simulator.h"

namespace {

using sindri::Lane;
using sindri::sim::kDevice;
using sindri::sim::Simulator;

void set(const std::string& text) {
  Simulator& s = Simulator::get();
  std::map<std::string, double> given;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals >= end) throw std::invalid_argument("name=value is expected, got '" + text.substr(at, end - at) + "'");
    given[text.substr(at, equals - at)] = std::stod(text.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  const auto take = [&](const char* name, double otherwise) {
    const auto it = given.find(name);
    if (it == given.end()) return otherwise;
    const double value = it->second;
    given.erase(it);
    return value;
  };
  if (take("repair", 0) != 0) s.repair();
  if (given.contains("delay")) {
    const auto seed = static_cast<uint64_t>(take("seed", 1));
    const double share = take("share", 0.1);
    s.set_delays(seed, static_cast<int>(take("delay", 0)), share);
  }
  const std::map<std::string, std::function<void(double)>> one = {
      {"compute", [&](double v) { s.set_lane_delay(Lane::kCompute, static_cast<int>(v)); }},
      {"comm", [&](double v) { s.set_lane_delay(Lane::kComm, static_cast<int>(v)); }},
      {"copy", [&](double v) { s.set_lane_delay(Lane::kCopy, static_cast<int>(v)); }},
      {"lose", [&](double v) { s.lose(0, static_cast<int64_t>(v)); }},
      {"lose_read", [&](double v) { s.lose_at_read(0, static_cast<int64_t>(v)); }},
      {"exhaust", [&](double v) { s.exhaust(0, static_cast<int64_t>(v)); }},
      {"fail_copy", [&](double v) { s.fail_copy(static_cast<int64_t>(v)); }},
      {"fail_allocation", [&](double v) { s.fail_allocation(static_cast<int64_t>(v)); }},
      {"drop_wait", [&](double v) { s.drop_wait(static_cast<int64_t>(v)); }},
      {"limit", [&](double v) { sindri::set_device_memory_limit(kDevice, static_cast<int64_t>(v)); }},
      {"count",
       [&](double) { std::atexit([] { fprintf(stderr, "work of the simulated accelerator: %lld\n", static_cast<long long>(Simulator::get().work())); }); }},
      {"current", [&](double v) { sindri::set_current_device(v != 0 ? kDevice : sindri::Device{}); }},
  };
  for (const auto& [name, value] : given) {
    const auto it = one.find(name);
    if (it == one.end()) throw std::invalid_argument("there is no setting '" + name + "'");
    it->second(value);
  }
}

std::string g_error;

}  // namespace

extern "C" {
/// Null, or the error.
__attribute__((visibility("default"))) const char* sindri_sim_set(const char* text) {
  try {
    set(text);
    return nullptr;
  } catch (const std::exception& e) { g_error = e.what(); }
  return g_error.c_str();
}
__attribute__((visibility("default"))) int64_t sindri_sim_work() { return Simulator::get().work(); }
__attribute__((visibility("default"))) int64_t sindri_sim_waits() { return Simulator::get().waits(); }
__attribute__((visibility("default"))) int64_t sindri_sim_host_waits() { return sindri::host_waits(); }
}

namespace {
const bool kPreloaded = [] {
  const char* const text = std::getenv("SINDRI_SIM");
  if (text == nullptr) return false;
  if (const char* error = sindri_sim_set(text); error != nullptr) {
    fprintf(stderr, "SINDRI_SIM: %s\n", error);
    std::abort();
  }
  return true;
}();
}  // namespace
