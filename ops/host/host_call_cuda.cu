// host_call on CUDA devices: only the call without a function, which returns true. A call with a function is rejected: its operands are in device memory, and a
// function that runs within a stream must not call CUDA and has no caller to throw to. sindri::host_call reports this before a graph is created.
#include "ops/host/host_call_attrs.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

void run(const Call& call) { fill_bytes(call, call.out[0].data, 1, 1); }

std::string reject(const KernelQuery& q) {
  return q.attrs.as<HostCallAttrs>().function == nullptr ? "" : "a host function cannot run among a device's kernels; call it with operands on the CPU";
}

const bool kHostCall = register_cuda_kernel({.op = "host_call", .run = run, .reject = reject});

}  // namespace
}  // namespace sindri::cuda
