// Host memory cache: freed blocks are kept by size class and handed out again, because a fresh 25 MB activation costs
// more in page faults than in arithmetic. Bounded: in use and cached together stay near the peak that was in use.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"
#include "src/device/cpu/memory.h"

namespace sindri {

namespace {

constexpr int64_t kHugeBlock = 4 << 20;  // from here on blocks ask for huge pages
constexpr size_t kHugePage = 2u << 20;
constexpr int64_t kSlack = 64 << 20;  // kept beyond the peak, for sizes that come and go

// Powers of two below 4 KiB, then steps of 1/8 of the next lower power of two: at most 12 % waste.
int64_t size_class(int64_t bytes) {
  int64_t p = 64;
  while (p < bytes && p < 4096) p *= 2;
  if (p >= bytes) return p;
  while (p * 2 < bytes) p *= 2;
  const int64_t step = p / 8;
  return (bytes + step - 1) / step * step;
}

void* fresh_block(int64_t size) {
  if (size < kHugeBlock) return std::aligned_alloc(64, static_cast<size_t>(size));
  const size_t rounded = (static_cast<size_t>(size) + kHugePage - 1) / kHugePage * kHugePage;
  void* p = std::aligned_alloc(kHugePage, rounded);
  if (p != nullptr) madvise(p, rounded, MADV_HUGEPAGE);  // a hint: a kernel without it uses small pages
  return p;
}

class CachingAllocator final : public HostAllocator {
 public:
  void* allocate(int64_t bytes) override {
    const int64_t size = size_class(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (void* p = take_cached(size)) {
        count(size);
        return p;
      }
    }
    void* p = fresh_block(size);
    if (p == nullptr) {
      trim();
      p = fresh_block(size);
    }
    const std::lock_guard lock(mutex_);
    if (p != nullptr) {
      count(size);  // not before: a request that fails must not raise the peak that bounds the cache
      return p;
    }
    throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate {} bytes of host memory ({} in use)", bytes, stats_.in_use), "",
                      "reduce the batch size or close other programs");
  }

  void release(void* p, int64_t bytes) noexcept override {
    const int64_t size = size_class(bytes);
    const std::lock_guard lock(mutex_);
    stats_.in_use -= size;
    FreeList& list = free_[size];
    list.blocks.push_back(p);
    list.last_use = ++clock_;
    stats_.cached += size;
    // What the program needed once it may need again; beyond that the sizes unused for longest go back to the system.
    while (stats_.in_use + stats_.cached > stats_.peak + kSlack) evict_oldest();
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    while (stats_.cached > 0) evict_oldest();
  }

  HostMemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  struct FreeList {
    std::vector<void*> blocks;
    uint64_t last_use = 0;
  };

  void count(int64_t size) {
    stats_.in_use += size;
    stats_.peak = std::max(stats_.peak, stats_.in_use);
  }

  void* take_cached(int64_t size) {
    const auto it = free_.find(size);
    if (it == free_.end() || it->second.blocks.empty()) return nullptr;
    void* p = it->second.blocks.back();
    it->second.blocks.pop_back();
    it->second.last_use = ++clock_;
    stats_.cached -= size;
    return p;
  }

  void evict_oldest() {
    auto oldest = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (!it->second.blocks.empty() && (oldest == free_.end() || it->second.last_use < oldest->second.last_use)) oldest = it;
    }
    std::free(oldest->second.blocks.back());
    oldest->second.blocks.pop_back();
    stats_.cached -= oldest->first;
  }

  std::mutex mutex_;
  std::map<int64_t, FreeList> free_;
  uint64_t clock_ = 0;
  HostMemoryStats stats_;
};

CachingAllocator& instance() {
  static CachingAllocator* a = new CachingAllocator;  // outlives static tensors
  return *a;
}
const bool kInstalled = [] {
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer must see every block come and go
  set_host_allocator(&instance());
#endif
  return true;
}();

}  // namespace

HostMemoryStats host_memory_stats() { return instance().stats(); }
void release_cached_host_memory() { instance().trim(); }

}  // namespace sindri
