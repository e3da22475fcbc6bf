// Host memory cache: freed blocks are kept by size class and handed out again, because a fresh 25 MB activation costs
// more in page faults than in arithmetic. Bounded: what is cached never exceeds the peak that was in use.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"
#include "src/device/cpu/memory.h"

namespace sindri {

namespace {

class CachingAllocator final : public HostAllocator {
 public:
  void* allocate(int64_t bytes) override {
    const int64_t size = size_class(bytes);
    {
      const std::lock_guard lock(mutex_);
      stats_.in_use += size;
      stats_.peak = std::max(stats_.peak, stats_.in_use);
      auto& list = free_[size];
      if (!list.empty()) {
        void* p = list.back();
        list.pop_back();
        stats_.cached -= size;
        return p;
      }
    }
    void* p = std::aligned_alloc(64, static_cast<size_t>(size));
    if (p == nullptr) {
      trim();
      p = std::aligned_alloc(64, static_cast<size_t>(size));
    }
    if (p == nullptr) {
      const std::lock_guard lock(mutex_);
      stats_.in_use -= size;
      throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate {} bytes of host memory ({} in use)", bytes, stats_.in_use), "", "reduce the batch size or close other programs");
    }
    return p;
  }

  void release(void* p, int64_t bytes) noexcept override {
    const int64_t size = size_class(bytes);
    bool keep = false;
    {
      const std::lock_guard lock(mutex_);
      stats_.in_use -= size;
      keep = stats_.in_use + stats_.cached + size <= stats_.peak;
      if (keep) {
        free_[size].push_back(p);
        stats_.cached += size;
      }
    }
    if (!keep) std::free(p);
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_) {
      for (void* p : list) std::free(p);
      list.clear();
    }
    stats_.cached = 0;
  }

  HostMemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  // Powers of two below 4 KiB, then steps of 1/8 of the next lower power of two: at most 12 % waste.
  static int64_t size_class(int64_t bytes) {
    int64_t p = 64;
    while (p < bytes && p < 4096) p *= 2;
    if (p >= bytes) return p;
    while (p * 2 < bytes) p *= 2;
    const int64_t step = p / 8;
    return (bytes + step - 1) / step * step;
  }

  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> free_;
  HostMemoryStats stats_;
};

CachingAllocator& instance() {
  static CachingAllocator* a = new CachingAllocator;   // outlives static tensors
  return *a;
}
const bool kInstalled = [] {
  set_host_allocator(&instance());
  return true;
}();

}  // namespace

HostMemoryStats host_memory_stats() { return instance().stats(); }
void release_cached_host_memory() { instance().trim(); }

}  // namespace sindri
