// Hooks of the test programs: with SINDRI_TEST_DEVICE=cuda everything lies on the host run's device 0.
#include "cuda_host/runtime.h"
#include "sindri/core/device.h"
#include "src/device/cuda/backend.h"

/// Registers the backend over the stand-in runtime. Streams pause at random from the seed, which also orders blocks and threads.
extern "C" void sindri_use_cuda_host(uint64_t seed) {
  sindri::sim::Simulator& machine = sindri::cuda_host::machine();
  machine.set_guards(true);
  machine.set_delays(seed, 100, 0.05);
  sindri::cuda_host::set_seed(seed);
  sindri::register_backend(sindri::Device::kCuda, sindri::cuda::make_backend());
}
