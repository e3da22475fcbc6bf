// Host memory cache: freed blocks are kept by size class and reused, because a new 25 MB activation costs more in page
// faults than in arithmetic. Bounded: memory in use and cached together stays near the peak that was in use.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include "sindri/core/error.h"
#include "sindri/core/host_memory.h"
#include "src/core/fork.h"
#include "src/core/tensor_impl.h"
#include "src/device/size_class.h"

namespace sindri {

namespace {

constexpr int64_t kHugeBlock = 4 << 20;  // blocks of at least this size use huge pages
constexpr size_t kHugePage = 2u << 20;
constexpr int64_t kSlack = 64 << 20;  // kept beyond the peak, for sizes that vary

void* fresh_block(int64_t size) {
  if (size < kHugeBlock) return std::aligned_alloc(64, static_cast<size_t>(size));
  const size_t rounded = (static_cast<size_t>(size) + kHugePage - 1) / kHugePage * kHugePage;
  void* p = std::aligned_alloc(kHugePage, rounded);
  if (p != nullptr) madvise(p, rounded, MADV_HUGEPAGE);  // only a hint: a kernel without it uses small pages
  return p;
}

class CachingAllocator final : public HostAllocator {
 public:
  void* allocate(int64_t bytes) override {
    const auto [index, size] = size_class(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (void* p = take_cached(index, size)) {
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
      count(size);  // not earlier: a failed request must not raise the peak that bounds the cache
      stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.in_use + stats_.cached);
      return p;
    }
    throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate {} bytes of host memory ({} in use)", bytes, stats_.in_use), "",
                      "reduce the batch size or the net (its number of classes), or close other programs");
  }

  void release(void* p, int64_t bytes) noexcept override {
    const auto [index, size] = size_class(bytes);
    const std::lock_guard lock(mutex_);
    stats_.in_use -= size;
    FreeList& list = free_[index];
    list.size = size;
    list.blocks.push_back(p);
    list.last_use = ++clock_;
    stats_.cached += size;
    // The program may need its peak again. Beyond the peak, the sizes that were unused for longest are freed to the system.
    while (stats_.in_use + stats_.cached > most_ + kSlack) evict_oldest();
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    while (stats_.cached > 0) evict_oldest();
  }

  HostMemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peaks(bool in_use, bool reserved) {
    const std::lock_guard lock(mutex_);
    if (in_use) stats_.peak = stats_.in_use;
    if (reserved) stats_.peak_reserved = stats_.in_use + stats_.cached;
  }

 private:
  struct FreeList {
    std::vector<void*> blocks;
    int64_t size = 0;
    uint64_t last_use = 0;
  };

  void count(int64_t size) {
    stats_.in_use += size;
    stats_.peak = std::max(stats_.peak, stats_.in_use);
    most_ = std::max(most_, stats_.in_use);
  }

  void* take_cached(size_t index, int64_t size) {
    FreeList& list = free_[index];
    if (list.blocks.empty()) return nullptr;
    void* p = list.blocks.back();
    list.blocks.pop_back();
    list.last_use = ++clock_;
    stats_.cached -= size;
    return p;
  }

  void evict_oldest() {
    FreeList* oldest = nullptr;
    for (FreeList& list : free_) {
      if (!list.blocks.empty() && (oldest == nullptr || list.last_use < oldest->last_use)) oldest = &list;
    }
    std::free(oldest->blocks.back());
    oldest->blocks.pop_back();
    stats_.cached -= oldest->size;
  }

  std::mutex mutex_;
  const AtFork at_fork_{mutex_, AtFork::kMemory};
  std::array<FreeList, SizeClass::kCount> free_;
  uint64_t clock_ = 0;
  HostMemoryStats stats_;
  int64_t most_ = 0;  // largest in_use ever: bounds the cache, even if the peak statistics are reset
};

CachingAllocator& instance() {
  static CachingAllocator* a = new CachingAllocator;  // outlives static tensors
  return *a;
}
const bool kInstalled = [] {
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer must see every allocation and free
  set_host_allocator(&instance());
#endif
  return true;
}();

}  // namespace

HostMemoryStats host_memory_stats() { return instance().stats(); }
void reset_host_memory_peaks(bool in_use, bool reserved) { instance().reset_peaks(in_use, reserved); }
void release_cached_host_memory() {
  instance().trim();
#ifdef __GLIBC__
  malloc_trim(0);  // smaller blocks belong to the C library, which caches them too
#endif
}

}  // namespace sindri
