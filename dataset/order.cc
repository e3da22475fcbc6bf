// Permutations, shards and the shuffle buffer, all on row indices.
#include "dataset/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sindri::dataset {

namespace {

constexpr uint64_t kOrderStream = 0x6f72646572ull;  // "order"
constexpr uint64_t kShuffleStream = 0x73687566666c65ull;  // "shuffle"

PhiloxSequence stream(uint64_t name, int64_t seed, uint64_t pass, uint32_t node) {
  return {hash_combine(seed_key(seed), name), node, static_cast<uint32_t>(pass), static_cast<uint32_t>(pass >> 32)};
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::vector<int64_t> permutation(int64_t n, int64_t seed, uint64_t pass) {
  std::vector<int64_t> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  PhiloxSequence draws = stream(kOrderStream, seed, pass, 0);
  for (int64_t i = n - 1; i > 0; --i) std::swap(v[static_cast<size_t>(i)], v[draws.next_below(static_cast<uint64_t>(i) + 1)]);
  return v;
}

std::vector<int64_t> reservoir_order(int64_t n, int64_t buffer, int64_t seed, uint64_t pass, uint32_t node) {
  std::vector<int64_t> window(static_cast<size_t>(std::min(n, buffer)));
  std::iota(window.begin(), window.end(), 0);
  int64_t next = static_cast<int64_t>(window.size());
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(n));
  PhiloxSequence draws = stream(kShuffleStream, seed, pass, node);
  while (!window.empty()) {
    const size_t k = draws.next_below(window.size());
    out.push_back(window[k]);
    if (next < n) {
      window[k] = next++;
    } else {
      window[k] = window.back();
      window.pop_back();
    }
  }
  return out;
}

int64_t order_size(const OrderSpec& spec, int64_t rows) {
  const Sampler& s = spec.sampler;
  int64_t n = rows;
  switch (s.kind) {
    case Sampler::Kind::kSequential: n = std::max<int64_t>(0, rows - s.start_index); break;
    case Sampler::Kind::kRandom: break;
    case Sampler::Kind::kSubset:
    case Sampler::Kind::kSubsetRandom: n = static_cast<int64_t>(s.indices.size()); break;
    case Sampler::Kind::kDistributed:
      if (s.offset >= 0) {
        n = (rows + s.offset) / s.num_shards + (s.shard_id < (rows + s.offset) % s.num_shards ? 1 : 0) - (s.shard_id < s.offset ? 1 : 0);
      } else if (!s.pad) {
        n = rows / s.num_shards + (s.shard_id < rows % s.num_shards ? 1 : 0);
      } else {
        n = ceil_div(rows, s.num_shards);
      }
      break;
  }
  // A sampler with replacement may draw more rows than there are; all others are limited.
  if (s.kind == Sampler::Kind::kRandom && s.replacement) return rows == 0 ? 0 : s.num_samples.value_or(rows);
  return s.num_samples ? std::min(n, *s.num_samples) : n;
}

int64_t order_padding(const OrderSpec& spec, int64_t rows) {
  const Sampler& s = spec.sampler;
  if (s.kind != Sampler::Kind::kDistributed || s.offset >= 0 || !s.pad) return 0;
  return s.num_shards * ceil_div(rows, s.num_shards) - rows;
}

int64_t shard_size(const ShardSpec& spec, int64_t rows) {
  if (spec.pad) return spec.count * ceil_div(rows, spec.num_shards);
  return rows / spec.num_shards + (spec.first < rows % spec.num_shards ? 1 : 0);
}

// The source row of row i of those that this reader's shards read. The shards are read in rounds: a block from each shard in turn. In the last round the blocks
// hold the remaining rows. `at` is the row within shard `part`.
int64_t shard_row(const ShardSpec& spec, int64_t rows, int64_t i) {
  int64_t part = 0, at = i;
  if (spec.count > 1) {
    const int64_t each = ceil_div(rows, spec.num_shards), round = i / (spec.count * spec.block), within = i % (spec.count * spec.block);
    const int64_t length = std::min(spec.block, each - round * spec.block);
    part = within / length;
    at = round * spec.block + within % length;
  }
  return (spec.first + part + at * spec.num_shards) % rows;
}

PassOrder::PassOrder(const OrderSpec& spec, int64_t rows, int64_t seed, uint64_t pass) : size_(order_size(spec, rows)), rows_(rows) {
  const Sampler& s = spec.sampler;
  switch (s.kind) {
    case Sampler::Kind::kSequential: start_ = s.start_index; break;
    case Sampler::Kind::kRandom:
      if (s.replacement) {
        PhiloxSequence draws = stream(kOrderStream, seed, pass, 1);
        permuted_.resize(static_cast<size_t>(size_));
        for (auto& id : permuted_) id = static_cast<int64_t>(draws.next_below(static_cast<uint64_t>(rows)));
        rows_ = size_;
      } else {
        permuted_ = permutation(rows, seed, pass);
      }
      break;
    case Sampler::Kind::kSubset:
    case Sampler::Kind::kSubsetRandom: {
      permuted_ = s.indices;
      rows_ = static_cast<int64_t>(s.indices.size());
      if (s.kind == Sampler::Kind::kSubsetRandom) {
        const std::vector<int64_t> p = permutation(rows_, seed, pass);
        for (size_t i = 0; i < p.size(); ++i) permuted_[i] = s.indices[static_cast<size_t>(p[i])];
      }
      break;
    }
    case Sampler::Kind::kDistributed:
      shards_ = s.num_shards;
      shard_ = s.shard_id;
      offset_ = std::max<int64_t>(0, s.offset);
      if (s.shuffle) permuted_ = permutation(rows, seed, pass);
      break;
  }
}

int64_t PassOrder::position(int64_t i) const {
  if (shards_ == 1 && offset_ == 0) return i;
  // An offset moves positions left: the first `offset` rows of the shifted order are before position 0 and belong to no shard.
  const int64_t first = shard_ < offset_ ? shard_ + shards_ - offset_ : shard_ - offset_;
  return (first + i * shards_) % rows_;
}

}  // namespace sindri::dataset
