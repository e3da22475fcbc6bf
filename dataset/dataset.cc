// The fluent interface: every method checks its arguments and adds one node to the tree.
#include "sindri/dataset/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "dataset/node.h"
#include "dataset/order.h"
#include "dataset/plan.h"

namespace sindri::dataset {

namespace {

std::shared_ptr<Node> consume(const Dataset::Ptr& input, Node::Kind kind, const std::string& consumer) {
  if (!input) throw ValueError(fmt::format("{}: the dataset is null", consumer));
  const std::shared_ptr<Node>& in = input->node();
  if (!in->consumer.empty()) {
    throw ValueError(fmt::format("the data pipeline is not a tree: {} already feeds {} and cannot feed {} too", node_str(*in), in->consumer, consumer), "",
                     "build the dataset twice, once for each use");
  }
  in->consumer = consumer;
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inputs = {in};
  return node;
}

Dataset::Ptr wrap(std::shared_ptr<Node> node) { return std::make_shared<Dataset>(std::move(node)); }

void check_workers(const char* who, int n) {
  if (n < 0) throw ValueError(fmt::format("{}: num_parallel_workers must be at least 1, got {}", who, n), "", "omit it for the default");
}

}  // namespace

bool ColumnInfo::fully_known() const {
  if (!dtype_known || !rank_known) return false;
  for (int64_t d : shape) {
    if (d < 0) return false;
  }
  return true;
}

std::string Sampler::str() const {
  const std::string cap = num_samples ? fmt::format(", num_samples={}", *num_samples) : "";
  switch (kind) {
    case Kind::kSequential: return fmt::format("SequentialSampler(start_index={}{})", start_index, cap);
    case Kind::kRandom: return fmt::format("RandomSampler(replacement={}{})", replacement, cap);
    case Kind::kDistributed:
      return fmt::format("DistributedSampler(num_shards={}, shard_id={}, shuffle={}, offset={}, pad={}{})", num_shards, shard_id, shuffle, offset, pad, cap);
    case Kind::kSubset: return fmt::format("SubsetSampler({}{})", fmt::join(indices, ","), cap);
    default: return fmt::format("SubsetRandomSampler({}{})", fmt::join(indices, ","), cap);
  }
}

namespace {
void check_cap(const char* who, const std::optional<int64_t>& n) {
  if (n && *n <= 0) throw ValueError(fmt::format("{}: num_samples must be positive, got {}", who, *n), "", "omit it to read every row");
}
Sampler subset(const char* who, Sampler::Kind kind, std::vector<int64_t> indices, std::optional<int64_t> num_samples) {
  check_cap(who, num_samples);
  for (int64_t i : indices) {
    if (i < 0) throw ValueError(fmt::format("{}: index {} is negative", who, i));
  }
  Sampler s;
  s.kind = kind;
  s.indices = std::move(indices);
  s.num_samples = num_samples;
  return s;
}
}  // namespace

Sampler SequentialSampler(std::optional<int64_t> start_index, std::optional<int64_t> num_samples) {
  check_cap("SequentialSampler", num_samples);
  if (start_index.value_or(0) < 0) throw ValueError(fmt::format("SequentialSampler: start_index must not be negative, got {}", *start_index));
  Sampler s;
  s.start_index = start_index.value_or(0);
  s.num_samples = num_samples;
  return s;
}
Sampler RandomSampler(bool replacement, std::optional<int64_t> num_samples) {
  check_cap("RandomSampler", num_samples);
  Sampler s;
  s.kind = Sampler::Kind::kRandom;
  s.replacement = replacement;
  s.num_samples = num_samples;
  return s;
}
Sampler DistributedSampler(int64_t num_shards, int64_t shard_id, bool shuffle, std::optional<int64_t> num_samples, int64_t offset, bool pad) {
  check_cap("DistributedSampler", num_samples);
  if (num_shards < 1) throw ValueError(fmt::format("num_shards must be at least 1, got {}", num_shards));
  if (shard_id < 0 || shard_id >= num_shards) throw ValueError(fmt::format("shard_id must be from 0 to {}, got {}", num_shards - 1, shard_id));
  if (offset < -1 || offset >= num_shards)
    throw ValueError(fmt::format("DistributedSampler: offset must be from 0 to {} or -1 for none, got {}", num_shards - 1, offset));
  Sampler s;
  s.kind = Sampler::Kind::kDistributed;
  s.num_shards = num_shards;
  s.shard_id = shard_id;
  s.shuffle = shuffle;
  s.num_samples = num_samples;
  s.offset = offset;
  s.pad = pad;
  return s;
}
Sampler SubsetSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples) {
  return subset("SubsetSampler", Sampler::Kind::kSubset, std::move(indices), num_samples);
}
Sampler SubsetRandomSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples) {
  return subset("SubsetRandomSampler", Sampler::Kind::kSubsetRandom, std::move(indices), num_samples);
}

OrderSpec make_order(const char* who, std::optional<int64_t> num_samples, std::optional<bool> shuffle, const std::optional<Sampler>& sampler,
                     std::optional<int64_t> num_shards, std::optional<int64_t> shard_id) {
  check_cap(who, num_samples);
  if (num_shards.has_value() != shard_id.has_value()) {
    throw ValueError(fmt::format("{}: num_shards and shard_id must be given together, got only {}", who, num_shards ? "num_shards" : "shard_id"), "",
                     "give both or neither");
  }
  if (sampler && (shuffle || num_shards)) {
    throw ValueError(fmt::format("{}: a sampler excludes {}", who, shuffle ? "shuffle" : "num_shards and shard_id"), "",
                     "use the sampler's own parameters, e.g. DistributedSampler(num_shards, shard_id, shuffle)");
  }
  OrderSpec spec;
  if (sampler) {
    spec.sampler = *sampler;
    if (num_samples) spec.sampler.num_samples = spec.sampler.num_samples ? std::min(*num_samples, *spec.sampler.num_samples) : *num_samples;
  } else if (num_shards) {
    spec.sampler = DistributedSampler(*num_shards, *shard_id, shuffle.value_or(true), num_samples);
  } else {
    spec.sampler = shuffle.value_or(true) ? RandomSampler(false, num_samples) : SequentialSampler({}, num_samples);
  }
  return spec;
}

Dataset::Ptr make_source(std::shared_ptr<Source> source, OrderSpec order, int workers) {
  check_workers("source", workers);
  auto node = std::make_shared<Node>();
  node->source = std::move(source);
  node->order = std::move(order);
  node->workers = workers;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::map(std::vector<Transform> operations, MapOptions options) {
  if (operations.empty()) throw ValueError("map: no operations are given");
  check_workers("map", options.num_parallel_workers);
  auto node = consume(shared_from_this(), Node::Kind::kMap, "map");
  node->ops = std::move(operations);
  node->in_names = std::move(options.input_columns);
  node->out_names = std::move(options.output_columns);
  node->workers = options.num_parallel_workers;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::batch(int64_t batch_size, BatchOptions options) {
  if (batch_size < 1) throw ValueError(fmt::format("batch: batch_size must be at least 1, got {}", batch_size));
  check_workers("batch", options.num_parallel_workers);
  auto node = consume(shared_from_this(), Node::Kind::kBatch, fmt::format("batch({})", batch_size));
  node->count = batch_size;
  node->drop_remainder = options.drop_remainder;
  node->workers = options.num_parallel_workers;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::shuffle(int64_t buffer_size) {
  if (buffer_size < 1) throw ValueError(fmt::format("shuffle: buffer_size must be at least 1, got {}", buffer_size));
  auto node = consume(shared_from_this(), Node::Kind::kShuffle, fmt::format("shuffle({})", buffer_size));
  node->count = buffer_size;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::repeat(std::optional<int64_t> count) {
  const int64_t n = count.value_or(-1);
  if (n == 0 || n < -1) throw ValueError(fmt::format("repeat: count must be at least 1, or -1 for no end, got {}", n));
  auto node = consume(shared_from_this(), Node::Kind::kRepeat, "repeat");
  node->count = n;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::skip(int64_t count) {
  if (count < 0) throw ValueError(fmt::format("skip: count must not be negative, got {}", count));
  auto node = consume(shared_from_this(), Node::Kind::kSkip, "skip");
  node->count = count;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::take(int64_t count) {
  if (count == 0 || count < -1) throw ValueError(fmt::format("take: count must be at least 1, or -1 for all, got {}", count));
  auto node = consume(shared_from_this(), Node::Kind::kTake, "take");
  node->count = count;
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::rename(std::vector<std::string> input_columns, std::vector<std::string> output_columns) {
  if (input_columns.size() != output_columns.size() || input_columns.empty())
    throw ValueError(fmt::format("rename: {} input and {} output columns", input_columns.size(), output_columns.size()), "", "give one new name per column");
  auto node = consume(shared_from_this(), Node::Kind::kRename, "rename");
  node->in_names = std::move(input_columns);
  node->out_names = std::move(output_columns);
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::project(std::vector<std::string> columns) {
  if (columns.empty()) throw ValueError("project: columns must name at least one column, got none");
  auto node = consume(shared_from_this(), Node::Kind::kProject, "project");
  node->in_names = std::move(columns);
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::zip(const std::vector<Ptr>& datasets) {
  if (datasets.size() < 2) throw ValueError(fmt::format("zip: at least two datasets are needed, got {}", datasets.size()));
  std::shared_ptr<Node> node = consume(datasets[0], Node::Kind::kZip, "zip");
  for (size_t i = 1; i < datasets.size(); ++i) node->inputs.push_back(consume(datasets[i], Node::Kind::kZip, "zip")->inputs[0]);
  return wrap(std::move(node));
}

Dataset::Ptr Dataset::concat(const Ptr& other) {
  auto node = consume(shared_from_this(), Node::Kind::kConcat, "concat");
  node->inputs.push_back(consume(other, Node::Kind::kConcat, "concat")->inputs[0]);
  return wrap(std::move(node));
}

Dataset::Ptr shard(const Dataset::Ptr& data, const ShardSpec& spec) {
  if (spec.num_shards < 1 || spec.count < 1 || spec.first < 0 || spec.first + spec.count > spec.num_shards)
    throw ValueError(fmt::format("shard: shards {} to {} of {} do not exist", spec.first, spec.first + spec.count - 1, spec.num_shards));
  if (spec.block < 1) throw ValueError(fmt::format("shard: block must be at least 1, got {}", spec.block));
  if (!spec.pad && spec.count > 1) throw ValueError("shard: several shards without padding are of different lengths", "", "use one, or pad");
  auto node = consume(data, Node::Kind::kShard, "shard");
  node->shard = spec;
  return wrap(std::move(node));
}

namespace {
[[noreturn]] void raise_empty(Node& node) {
  if (node.kind == Node::Kind::kBatch) {
    const int64_t rows = node_rows(*node.inputs[0]);
    if (rows > 0) {
      throw DataError(ErrorCode::kDataEmpty,
                      fmt::format("0 batches: {} rows, batch_size={}, drop_remainder={}", rows, node.count, node.drop_remainder ? "True" : "False"),
                      node_str(node), "use a smaller batch_size, or drop_remainder=False");
    }
  }
  for (auto& in : node.inputs) {
    if (node_rows(*in) == 0) raise_empty(*in);
  }
  throw DataError(ErrorCode::kDataEmpty, fmt::format("the dataset has no rows after {}", node_str(node)), node_str(node),
                  "check the counts of skip, num_samples and the source");
}
}  // namespace

int64_t Dataset::get_dataset_size() const {
  const int64_t n = node_rows(*node_);
  // With a sampler without padding a shard may be empty; it then ends its epoch together with the other shards.
  if (n == 0 && !may_be_empty(*node_)) raise_empty(*node_);
  return n;
}

int64_t Dataset::get_batch_size() const {
  const Node* n = node_.get();
  while (n->kind != Node::Kind::kBatch && !n->inputs.empty()) n = n->inputs[0].get();
  return n->kind == Node::Kind::kBatch ? n->count : 1;
}

int64_t Dataset::get_repeat_count() const {
  int64_t count = 1;
  for (const Node* n = node_.get();; n = n->inputs[0].get()) {
    if (n->kind == Node::Kind::kRepeat) count = n->count < 0 || count < 0 ? -1 : count * n->count;
    if (n->inputs.empty()) return count;
  }
}

std::vector<ColumnInfo> Dataset::columns() const { return node_columns(*node_); }

std::vector<std::string> Dataset::get_col_names() const {
  std::vector<std::string> names;
  for (const auto& c : columns()) names.push_back(c.name);
  return names;
}

std::map<std::string, int32_t> Dataset::get_class_indexing() const {
  Node* n = node_.get();
  while (!n->inputs.empty()) n = n->inputs[0].get();
  return opened_source(*n).class_indexing();
}

namespace {
void add_files(Node& node, bool contents, FilesHash* h) {
  for (const auto& in : node.inputs) add_files(*in, contents, h);
  if (node.kind != Node::Kind::kSource) return;
  const FilesHash one = opened_source(node).files_hash(contents);
  h->files = hash_combine(h->files, one.files);
  if (one.times != 0) h->times = hash_combine(h->times, one.times);
}
}  // namespace

std::string Dataset::fingerprint(bool contents) const {
  FilesHash h;
  add_files(*node_, contents, &h);
  return contents ? fmt::format("contents:{:016x}", h.files) : fmt::format("sizes:{:016x} times:{:016x}", h.files, h.times);
}

std::optional<int64_t> Dataset::num_classes() const {
  Node* n = node_.get();
  while (!n->inputs.empty()) n = n->inputs[0].get();
  return opened_source(*n).num_classes();
}

}  // namespace sindri::dataset
