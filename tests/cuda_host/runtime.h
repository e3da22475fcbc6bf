// The CUDA runtime of a machine without a GPU: devices whose memory, streams, events and graphs are the simulated accelerator's (tests/device), so that
// forgotten waits, host accesses to device memory, late errors and lost devices show. The functions themselves are those of cuda_runtime_api.h; runtime.cc
// defines the ones the backend calls.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/device/simulator.h"

namespace sindri::cuda_host {

/// The machine. `seed` decides pauses of streams and the order of blocks and threads.
sim::Simulator& machine();
void set_seed(uint64_t seed);
/// Registers the backend, unless this process has it.
void use_backend();
/// Kernels started so far.
int64_t launches();
/// Puts the work of a library's call on a stream, as launch() does with a kernel's; inside() gives it the bytes at device addresses.
cudaError_t run_library(cudaStream_t stream, const char* name, std::function<void()> work);
/// cuDNN's engines and cuBLASLt's algorithms are numbered in the order in which the stand-ins prefer them. From here on number n takes (6 - n)² times `us` longer,
/// so that those they prefer are the slowest.
void set_library_delay(int us);
void delay_library(int64_t number);
/// What cudaGetDeviceCount says from here on: cudaSuccess, or an error and no device.
void set_driver(cudaError_t state, int version);
/// How many devices there are, from 1 to 4; 2 unless it is called.
void set_devices(int count);

}  // namespace sindri::cuda_host
