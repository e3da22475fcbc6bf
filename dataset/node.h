// The tree of operations as the user wrote it. Immutable apart from the record of a node's consumer; plan.cc compiles it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/source.h"
#include "sindri/dataset/dataset.h"
#include "sindri/dataset/shard.h"
#include "src/core/once.h"

namespace sindri::dataset {

/// Order, limit and shard of a source's rows.
struct OrderSpec {
  Sampler sampler;  // includes the source's num_shards, shard_id and shuffle
  bool sharded() const { return sampler.kind == Sampler::Kind::kDistributed && sampler.num_shards > 1; }
  std::string str() const { return sampler.str(); }
};

struct Node {
  enum class Kind { kSource, kMap, kBatch, kShuffle, kRepeat, kSkip, kTake, kRename, kProject, kZip, kConcat, kShard };
  Kind kind = Kind::kSource;
  std::vector<std::shared_ptr<Node>> inputs;
  std::string consumer;  // the user of this node; a second use is an error

  std::shared_ptr<Source> source;  // kSource
  OrderSpec order;
  Once opened;
  std::vector<Transform> ops;  // kMap
  std::vector<std::string> in_names, out_names;  // kMap, kRename, kProject
  int64_t count = 0;  // batch size, buffer size, repeats (-1: endless), rows to skip or take
  bool drop_remainder = false;
  ShardSpec shard;  // kShard
  int workers = 0;  // requested; 0: default
};

/// Combines a source's options into an order. Throws ValueError for options that exclude each other.
OrderSpec make_order(const char* who, std::optional<int64_t> num_samples, std::optional<bool> shuffle, const std::optional<Sampler>& sampler,
                     std::optional<int64_t> num_shards, std::optional<int64_t> shard_id);
std::shared_ptr<Dataset> make_source(std::shared_ptr<Source> source, OrderSpec order, int workers);

/// Opens the source on first use and returns it.
Source& opened_source(Node& node);
/// Rows (after batch(): batches) per epoch; -1: endless. Does not throw for 0.
int64_t node_rows(Node& node);
std::vector<ColumnInfo> node_columns(Node& node);
/// Rows of all shards that correspond to `rows` rows of this node; `rows` if nothing below it is sharded.
int64_t rows_of_all_shards(const Node& node, int64_t rows);
/// The printed form, such as "Map(image: Decode(), Resize(...))", for messages and the fingerprint.
std::string node_str(const Node& node);
int column_index(const std::vector<ColumnInfo>& columns, const std::string& name, const std::string& who);
/// For a map: its input columns, their names afterwards, and the columns of the result.
struct MapColumns {
  std::vector<int> in;
  std::vector<std::string> out_names;
};
MapColumns map_columns(const Node& node, const std::vector<ColumnInfo>& columns);
/// Infers the types through the operations of a map over its input columns.
std::vector<ColumnInfo> infer_ops(const Node& node, std::vector<ColumnInfo> in);

}  // namespace sindri::dataset
