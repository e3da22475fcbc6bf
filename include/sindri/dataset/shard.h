// Shards of a pipeline's rows: the part that one rank reads.
//
//   // rank s of n, which computes the virtual ranks 2 s and 2 s + 1 of 2 n, 32 samples of each per step
//   auto part = dataset::shard(images, {.num_shards = 2 * n, .first = 2 * s, .count = 2, .block = 32})->batch(64, {.drop_remainder = true});
//
// Sharding selects rows and changes none: a row's contents, random augmentation included, depend on its position before
// sharding.
#pragma once
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

/// The shards `first` … `first + count - 1` of `num_shards`. Shard v of V has the rows v, v + V, v + 2V, … of each
/// pass.
struct ShardSpec {
  int64_t num_shards = 1;
  int64_t first = 0;
  int64_t count = 1;
  /// With several shards: number of consecutive rows of one shard before the same number of rows of the next. After
  /// batch(count * block), a batch consists of the batches of `block` rows that each shard alone would give, in order.
  /// At the end of a pass the parts are shorter if those batches are.
  int64_t block = 1;
  /// true: all shards are equally long; the first rows of the order appear again if num_shards does not divide the
  /// number of rows. false: no row appears twice, shards differ by at most one row and may be empty; only for a single
  /// shard.
  bool pad = true;
};

/// Number of rows of these shards per pass, for `rows` rows.
SINDRI_API int64_t shard_size(const ShardSpec& spec, int64_t rows);
/// Index, among `rows` rows, of row `i` of these shards.
SINDRI_API int64_t shard_row(const ShardSpec& spec, int64_t rows, int64_t i);
/// Keeps the rows of these shards; place it before batch() and after a shuffle. O(1) per row. The state of its iterator
/// does not depend on which shards were read: any rank, of any number of ranks, can continue from it if it reads as
/// many rows of all shards per batch. Throws ValueError for inconsistent values of `spec`. If the rows of a source can
/// only be read in sequence, throws ValueError when the data is first used.
SINDRI_API Dataset::Ptr shard(const Dataset::Ptr& data, const ShardSpec& spec);

}  // namespace sindri::dataset
