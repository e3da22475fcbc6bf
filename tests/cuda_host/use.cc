// How programs use the host run: test programs by a call (SINDRI_TEST_DEVICE=cuda), others by loading it as a plugin (SINDRI_CUDA_PLUGIN), which reads its
// settings from SINDRI_CUDA_HOST="name=value,…":
//
//   seed, delay                  random pauses of streams, of up to `delay` microseconds; the seed also orders blocks and threads
//   compute, comm                a pause before all work of a lane, in microseconds
//   guards                       1: an inaccessible page after each allocation
//   devices                      the number of devices, 1 to 4; default 2
//   driver                       the CUDA version that the driver supports, as 12040; 0: none is installed
//   lose, exhaust                the device is lost, or has no memory, from the n-th piece of work on
//   drop_compute, drop_comm      the n-th wait of a lane for the other is omitted
//   library_delay                set_library_delay (runtime.h)
//   nccl_async, nccl_hang        see nccl.cc
#include <cstdlib>
#include <map>
#include <string>

#include "cuda_host/runtime.h"
#include "sindri/core/device.h"
#include "src/device/cuda/backend.h"

void sindri::cuda_host::use_backend() {
  static const bool registered = (register_backend(Device::kCuda, cuda::make_backend()), true);
  (void)registered;
}

/// Registers the backend over the stand-in runtime. Streams pause at random from the seed, which also orders blocks and threads.
extern "C" void sindri_use_cuda(uint64_t seed) {
  sindri::sim::Simulator& machine = sindri::cuda_host::machine();
  machine.set_guards(true);
  machine.set_delays(seed, 100, 0.05);
  sindri::cuda_host::set_seed(seed);
  sindri::cuda_host::use_backend();
}

namespace {

const bool kSettings = [] {
  const char* const text = std::getenv("SINDRI_CUDA_HOST");
  if (text == nullptr) return false;
  std::map<std::string, int64_t> given;
  const std::string all = text;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size()), equals = all.find('=', at);
    if (equals >= end) std::abort();
    given[all.substr(at, equals - at)] = std::stoll(all.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  sindri::sim::Simulator& machine = sindri::cuda_host::machine();
  const auto seed = static_cast<uint64_t>(given["seed"]);
  machine.set_guards(given["guards"] != 0);
  if (given["delay"] > 0) machine.set_delays(seed, static_cast<int>(given["delay"]), 0.1);
  sindri::cuda_host::set_seed(seed);
  if (given.contains("driver")) sindri::cuda_host::set_driver(cudaErrorInsufficientDriver, static_cast<int>(given["driver"]));
  sindri::cuda_host::set_library_delay(static_cast<int>(given["library_delay"]));
  if (given["devices"] > 0) sindri::cuda_host::set_devices(static_cast<int>(given["devices"]));
  if (given["compute"] > 0) machine.set_lane_delay(sindri::Lane::kCompute, static_cast<int>(given["compute"]));
  if (given["comm"] > 0) machine.set_lane_delay(sindri::Lane::kComm, static_cast<int>(given["comm"]));
  if (given["drop_compute"] > 0) machine.drop_wait(given["drop_compute"], "compute for comm");
  if (given["drop_comm"] > 0) machine.drop_wait(given["drop_comm"], "comm for compute");
  if (given["lose"] > 0) machine.lose(0, given["lose"]);
  if (given["exhaust"] > 0) machine.exhaust(0, given["exhaust"]);
  return true;
}();

}  // namespace
