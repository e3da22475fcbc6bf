// One rank's part of a pipeline's rows.
//
//   // rank s of n, which computes the virtual ranks 2 s and 2 s + 1 of 2 n, 32 samples of each per step
//   auto part = dataset::shard(images, {.num_shards = 2 * n, .first = 2 * s, .count = 2, .block = 32})->batch(64, {.drop_remainder = true});
//
// Sharding chooses rows and changes none: what a row holds, random augmentation included, goes by its place in the order before the shards.
#pragma once
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

/// The shards `first` … `first + count - 1` of `num_shards`. Shard v of V has rows v, v + V, v + 2V, … of each pass.
struct ShardSpec {
  int64_t num_shards = 1;
  int64_t first = 0;
  int64_t count = 1;
  /// With several shards: after `block` rows of one come as many of the next. Behind batch(count * block), a batch is the batches of `block` rows that each
  /// shard alone would give, in their order; where they are shorter at the end of a pass, so is each part.
  int64_t block = 1;
  /// All shards equally long: the first rows of the order appear once more where num_shards does not divide them. false: none appears twice, shards
  /// differ by at most one row and may be empty; for one shard at a time.
  bool pad = true;
};

/// Rows of these shards per pass, over `rows` rows.
SINDRI_API int64_t shard_size(const ShardSpec& spec, int64_t rows);
/// Which of the `rows` rows is row `i` of these shards.
SINDRI_API int64_t shard_row(const ShardSpec& spec, int64_t rows, int64_t i);
/// The rows of these shards only; put it before batch(), above a shuffle. O(1) per row. The state of an iterator over it does not tell which
/// shards were read, so any rank of any number may go on from it that reads as many rows of all shards per batch. Throws ValueError for numbers that
/// do not fit together; at the first look at the data, for sources whose rows can only be read one after the other.
SINDRI_API Dataset::Ptr shard(const Dataset::Ptr& data, const ShardSpec& spec);

}  // namespace sindri::dataset
