// The CUDA runtime for machines without a GPU: devices whose memory, streams, events and graphs are the simulated accelerator's (tests/device), so that missing
// waits, host accesses to device memory, late errors and lost devices show. The functions are those of cuda_runtime_api.h; runtime.cc defines the ones the
// backend calls.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/device/simulator.h"

namespace sindri::cuda_host {

/// The machine. `seed` determines pauses of streams and the order of blocks and threads.
sim::Simulator& machine();
void set_seed(uint64_t seed);
/// Registers the backend, unless it is registered already.
void use_backend();
/// Kernels started so far.
int64_t launches();
/// Submits a library call's work to a stream, as launch() does with a kernel's; inside() returns the bytes at device addresses.
cudaError_t run_library(cudaStream_t stream, const char* name, std::function<void()> work);
/// Makes number n of cuDNN's engines and cuBLASLt's algorithms take (6 - n)² times `us` longer from here on. They are numbered in the order in which the
/// stand-ins prefer them, so the preferred ones become the slowest.
void set_library_delay(int us);
void delay_library(int64_t number);
/// Sets the result of cudaGetDeviceCount: cudaSuccess, or an error and no device.
void set_driver(cudaError_t state, int version);
/// Sets the number of devices, from 1 to 4; 2 by default.
void set_devices(int count);

}  // namespace sindri::cuda_host
