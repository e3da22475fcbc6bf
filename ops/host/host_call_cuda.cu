// host_call on CUDA devices: the call without a function, which gives true. One with a function is not taken: its operands' values are the device's, and a function
// that runs in the middle of a stream may call nothing of CUDA and can throw to nobody. sindri::host_call says so before a graph is made.
#include "ops/host/host_call_attrs.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

void run(const Call& call) { fill_bytes(call, call.out[0].data, 1, 1); }

std::string reject(const KernelQuery& q) {
  return q.attrs.as<HostCallAttrs>().function == nullptr ? "" : "a function of the host cannot run among a device's kernels; call it with operands on the CPU";
}

const bool kHostCall = register_cuda_kernel({.op = "host_call", .run = run, .reject = reject});

}  // namespace
}  // namespace sindri::cuda
