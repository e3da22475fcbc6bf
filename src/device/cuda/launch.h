// Launches kernels. Included by *_cuda.cu files; kernel_spec.h registers kernels.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "src/device/cuda/kernel_spec.h"
#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Number of blocks, threads per block, and bytes of dynamic shared memory.
struct Grid {
  dim3 blocks, threads;
  size_t shared = 0;
};

inline constexpr int kThreads = 256;  ///< per block, unless a kernel needs another number

/// Grid for a loop over n independent items, `each` of them by one thread at a time: as many blocks as keep the device
/// busy for a few waves.
inline Grid grid_for(int64_t n, int each = 1, int threads = kThreads) {
  constexpr int64_t kMostBlocks = 132 * 16;  // loops advance by global_threads()
  const int64_t blocks = std::clamp<int64_t>(ceil_div(n, static_cast<int64_t>(threads) * each), 1, kMostBlocks);
  return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), 0};
}

/// Launches `kernel` on the stream. Empty grids must not be launched. A rejected launch throws DeviceError that names
/// the op; errors of the work itself appear at the host's next wait.
#ifdef __CUDACC__
template <class... P, class... A> void launch_as(const Call& call, const Grid& grid, bool cooperative, void (*kernel)(P...), A&&... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared;
  config.stream = call.stream.handle();
  config.attrs = &attribute;
  config.numAttrs = cooperative ? 1 : 0;
  if (grid.shared > size_t{48} << 10)  // more than a kernel gets by default
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared)),
          call.query.op.name, call.stream.device());
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...), call.query.op.name, call.stream.device());
  call.stream.count_launch();
}
/// Returns the largest number of blocks of `threads` that the device can run at once, next to NCCL's if there are several ranks.
template <class... P> int64_t coresident_blocks(const Call& call, int threads, void (*kernel)(P...)) {
  const Device device = call.stream.device();
  int blocks = 0, multiprocessors = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), call.query.op.name, device);
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device.index), call.query.op.name, device);
  if (blocks == 0) check(cudaErrorLaunchOutOfResources, call.query.op.name, device);  // one block needs more than a multiprocessor has
  return int64_t{blocks} * std::max(1, multiprocessors - reserved_multiprocessors());
}
#else
template <class... P, class... A> void launch_as(const Call& call, const Grid& grid, bool cooperative, void (*kernel)(P...), A&&... args) {
  const std::tuple<std::decay_t<P>...> values(cuda_host::translated(static_cast<std::decay_t<P> >(args))...);
  check(cuda_host::launch(call.stream.handle(), call.query.op.name, {grid.blocks, grid.threads, grid.shared, cooperative},
                          [kernel, values] { std::apply(kernel, values); }),
        call.query.op.name, call.stream.device());
  call.stream.count_launch();
}
template <class... P> int64_t coresident_blocks(const Call&, int, void (*)(P...)) { return cuda_host::kCoresidentBlocks; }
#endif

template <class... P, class... A> void launch(const Call& call, const Grid& grid, void (*kernel)(P...), A&&... args) {
  launch_as(call, grid, false, kernel, std::forward<A>(args)...);
}
/// Like launch, for a kernel whose blocks wait for each other by sync_grid(): the grid has at most coresident_blocks()
/// blocks of `kernel` and no dynamic shared memory.
template <class... P, class... A> void launch_cooperative(const Call& call, const Grid& grid, void (*kernel)(P...), A&&... args) {
  launch_as(call, grid, true, kernel, std::forward<A>(args)...);
}

}  // namespace sindri::cuda
