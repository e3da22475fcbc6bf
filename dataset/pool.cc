// Blocks are mapped directly, so that huge pages can be requested and the pages of a block are faulted in once per run.
#include "dataset/pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "sindri/core/log.h"

namespace sindri::dataset {

namespace {
size_t mapped_bytes(int64_t block_bytes) { return static_cast<size_t>(std::max<int64_t>(block_bytes, 4096)); }
}  // namespace

uint8_t* BlockPool::make() const {
  void* p = ::mmap(nullptr, mapped_bytes(block_bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate a batch block of {} bytes", block_bytes_), "",
                      "reduce the batch size or the prefetch depth");
  }
  ::madvise(p, mapped_bytes(block_bytes_), MADV_HUGEPAGE);  // a hint; kernels without it use small pages
  return static_cast<uint8_t*>(p);
}

BlockPool::~BlockPool() {
  for (uint8_t* b : free_) ::munmap(b, mapped_bytes(block_bytes_));
}

std::shared_ptr<uint8_t> BlockPool::take() {
  uint8_t* block = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      block = free_.back();
      free_.pop_back();
    } else {
      block = make();
      if (++made_ > limit_) {
        ++overflow_;
        int64_t power = overflow_;
        while (power % 10 == 0) power /= 10;
        if (power == 1) {
          log::info("data", fmt::format("the consumer holds more batches than the pool's {} blocks; one more was made ({} so far)", limit_, overflow_));
        }
      }
    }
  }
  return {block, [self = shared_from_this()](uint8_t* b) { self->give_back(b); }};
}

void BlockPool::give_back(uint8_t* block) {
  std::lock_guard lock(mutex_);
  if (made_ > limit_) {
    --made_;
    ::munmap(block, mapped_bytes(block_bytes_));
    return;
  }
  free_.push_back(block);
}

int64_t BlockPool::blocks() const {
  std::lock_guard lock(mutex_);
  return made_;
}
int64_t BlockPool::overflow() const {
  std::lock_guard lock(mutex_);
  return overflow_;
}

}  // namespace sindri::dataset
