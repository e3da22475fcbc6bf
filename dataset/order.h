// The order of one pass: the source row at each position.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dataset/node.h"

namespace sindri::dataset {

/// Number of rows of one pass of this shard, over a source of `rows` rows.
int64_t order_size(const OrderSpec& spec, int64_t rows);
/// Rows that appear twice in a pass over all shards, because shards are made equally long.
int64_t order_padding(const OrderSpec& spec, int64_t rows);

/// Fisher-Yates from the stream of (seed, "order", pass). Computed from scratch, so any pass can be made without the previous ones.
std::vector<int64_t> permutation(int64_t n, int64_t seed, uint64_t pass);
/// A reservoir of `buffer` rows: out[i] is the input row at output i.
std::vector<int64_t> reservoir_order(int64_t n, int64_t buffer, int64_t seed, uint64_t pass, uint32_t node);

/// The order of one pass of one shard.
class PassOrder {
 public:
  PassOrder(const OrderSpec& spec, int64_t rows, int64_t seed, uint64_t pass);
  int64_t size() const { return size_; }
  /// Position in the globally ordered pass of this shard's row i.
  int64_t position(int64_t i) const;
  int64_t row_id(int64_t position) const { return permuted_.empty() ? position + start_ : permuted_[static_cast<size_t>(position)]; }

 private:
  int64_t size_, rows_, shards_ = 1, shard_ = 0, offset_ = 0, start_ = 0;
  std::vector<int64_t> permuted_;  // row id at each position; empty: position + start_
};

/// The orders of the last few passes, shared by workers. Make is `std::shared_ptr<const T>(uint64_t pass)`.
template <class T> class PassCache {
 public:
  template <class Make> std::shared_ptr<const T> get(uint64_t pass, Make&& make) {
    std::lock_guard lock(mutex_);
    for (auto& [p, v] : kept_) {
      if (p == pass) return v;
    }
    std::shared_ptr<const T> made = make(pass);
    if (kept_.size() >= 3) kept_.erase(kept_.begin());
    kept_.emplace_back(pass, made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, std::shared_ptr<const T>>> kept_;
};

}  // namespace sindri::dataset
