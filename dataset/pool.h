// Blocks of batch memory, allocated once and reused: a block returns when its last tensor is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/core/fork.h"

namespace sindri::dataset {

class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  /// `limit`: blocks kept. If the consumer holds on to batches, more are allocated, and freed when they return.
  BlockPool(int64_t block_bytes, int64_t limit) : block_bytes_(block_bytes), limit_(limit) { free_.reserve(static_cast<size_t>(limit)); }
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  /// A block of block_bytes(), 64-byte aligned. It returns to the pool with the last copy of the pointer.
  std::shared_ptr<uint8_t> take();
  int64_t block_bytes() const { return block_bytes_; }
  int64_t blocks() const;
  int64_t overflow() const;

 private:
  uint8_t* make() const;
  void give_back(uint8_t* block);
  const int64_t block_bytes_, limit_;
  mutable std::mutex mutex_;
  const AtFork at_fork_{mutex_, AtFork::kPools};
  std::vector<uint8_t*> free_;
  int64_t made_ = 0, overflow_ = 0;
};

}  // namespace sindri::dataset
