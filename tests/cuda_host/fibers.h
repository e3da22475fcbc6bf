// Grids of CUDA threads on the host. A block runs on one host thread; its threads are fibers that switch only at barriers and at warp exchanges. Blocks run one
// after another, in an order drawn from the seed, and so do the threads between two barriers. So code that depends on an order that CUDA does not guarantee
// gives other results with another seed.
//
// Faults are recorded (faults()) and fail the work: a barrier that part of a block never reaches, lanes that wait for one that has ended, races in shared
// memory, a grid's barrier that a block never reaches.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace sindri::cuda_host {

/// The position of the running fiber in its grid.
struct Place {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};
extern thread_local Place t_place;
inline const Place& here() { return t_place; }

/// The values that the lanes of a warp gave in one exchange.
class Exchanged {
 public:
  Exchanged(const std::array<uint64_t, 32>& values, unsigned present) : values_(values), present_(present) {}
  uint64_t of(int lane) const { return lane >= 0 && lane < 32 && ((present_ >> lane) & 1) != 0 ? values_[static_cast<size_t>(lane)] : ~uint64_t{0}; }
  unsigned ballot() const;
  unsigned present() const { return present_; }

 private:
  std::array<uint64_t, 32> values_;
  unsigned present_;
};

// Called by the running fiber.
void barrier();
/// Waits for all threads of all blocks of a cooperative grid.
void grid_barrier();
/// Gives `value` to the lanes in `mask` and waits for theirs. All of them must be at the same kind of exchange with the same mask.
Exchanged exchange(unsigned mask, const char* kind, uint64_t value);
int lane();  ///< of the running fiber in its warp
/// The position of an access: the serial number of the block among all that ran on this host thread (0 outside a block), the number of the fiber in the block,
/// the barriers passed, and the exchanges of the fiber's warp.
struct Moment {
  uint64_t block = 0;
  uint32_t thread = 0, barriers = 0, exchanges = 0;
};
Moment moment();
size_t dynamic_shared_bytes();

/// The dimensions of a grid.
struct Dims {
  dim3 blocks, threads;
  size_t shared = 0;
  bool cooperative = false;
};
/// Maximum number of blocks of a cooperative grid: small, so that kernels are tested with fewer than they would choose.
inline constexpr int64_t kCoresidentBlocks = 3;
/// Runs a whole grid on the calling thread; the blocks of a cooperative grid, which wait for each other, get a thread each. Throws DeviceError with the first
/// fault.
void run_grid(const std::string& name, const Dims& dims, const std::function<void()>& body, uint64_t seed);

/// Records that the running block did something that CUDA does not allow.
void fault(const std::string& what);

/// Launches a grid on a stream of the stand-in runtime (runtime.cc). Returns cudaErrorInvalidConfiguration for dimensions that no device accepts,
/// cudaErrorCooperativeLaunchTooLarge for a cooperative grid whose blocks cannot all run at once.
cudaError_t launch(cudaStream_t stream, const char* name, const Dims& dims, std::function<void()> body);
/// The host address of the bytes at a device address; records a fault for an address of the host.
void* inside(const void* address);

/// A kernel's argument as device code sees it: pointers, and pointers in structs, lead to the place where the stand-in keeps the device's bytes.
uintptr_t translated_word(uintptr_t word, bool must_be_device);
template <class T> T* translated(T* p) { return reinterpret_cast<T*>(translated_word(reinterpret_cast<uintptr_t>(p), true)); }
template <class T> T translated(T v) {
  if constexpr (std::is_class_v<T> && sizeof(T) >= sizeof(uintptr_t) && alignof(T) >= alignof(uintptr_t)) {
    static_assert(std::is_trivially_copyable_v<T>, "arguments of kernels are copied byte by byte");
    std::array<uintptr_t, sizeof(T) / sizeof(uintptr_t)> words;
    std::memcpy(words.data(), &v, sizeof words);
    for (uintptr_t& w : words) w = translated_word(w, false);
    std::memcpy(static_cast<void*>(&v), words.data(), sizeof words);
  }
  return v;
}

}  // namespace sindri::cuda_host
