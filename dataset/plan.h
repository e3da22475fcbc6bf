// The tree compiled for execution: index arithmetic down to each source, and one list of steps per row.
//
// shuffle, repeat, skip, take and concat never touch a row: they only decide which row of their input is at which position. So
// every tree is a map from (pass, index) to source rows. Each node costs O(1) per row once its permutation of the pass exists, and
// resuming anywhere only means to start counting there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "dataset/node.h"
#include "dataset/order.h"
#include "dataset/row.h"

namespace sindri::dataset {

struct Program;
struct Worker;

/// One index operation on the path from a row to its leaf.
struct IndexOp {
  Node::Kind kind = Node::Kind::kSkip;
  int64_t count = 0;  // number of repeats, rows skipped, or buffer size
  int64_t rows = 0;  // rows of its input per pass
  uint32_t number = 0;  // of the node, for the shuffle stream
  int cache = -1;  // kShuffle: index of its PassCache
  ShardSpec shard = {};  // kShard
};

/// Rows of a sequential source. Workers call read_to() one after another, in the order of the batches, and take() when they need the row. A pass is therefore
/// read as far as its batches need before the next one is opened, so one object may be the iterator of every pass. An error belongs to the row for which the
/// source was read. `generation` counts the engine's seeks: a new one restarts all passes, and take() throws for batches of an older one.
class SequentialReader {
 public:
  /// The order in which rows are requested. kRising: in rising order, so rows in between are not kept. kAnyOfAPass: any order within a pass, because there is a
  /// shuffle above. kAnyOfSeveral: a shuffle above a repeat mixes passes, each of which needs its own iterator.
  enum class Order { kRising, kAnyOfAPass, kAnyOfSeveral };
  SequentialReader(const Source& source, Order order) : source_(source), order_(order) {}
  /// Reads forward to row `index`. Errors are stored for the take() of that row.
  void read_to(uint64_t generation, uint64_t pass, int64_t index);
  /// Returns the row. Throws the error of read_to(index), if any.
  std::vector<Tensor> take(uint64_t generation, uint64_t pass, int64_t index);

 private:
  struct Pass {
    std::function<bool(std::vector<Tensor>*)> next;
    int64_t read = 0;
    std::map<int64_t, std::vector<Tensor>> kept;
    std::set<int64_t> asked;  // rows requested by read_to and not taken yet
    std::exception_ptr error;
    int64_t error_row = -1;  // the row for which the source was read when the error occurred
  };
  void open(uint64_t pass);
  void read_one(Pass& p, int64_t index);
  const Source& source_;
  Order order_;
  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::map<uint64_t, Pass> passes_;  // only the newest is read, except with kAnyOfSeveral
};

/// The origin of a row's values: a source, or a node with its own programs below it.
struct Leaf {
  Node::Kind kind = Node::Kind::kSource;  // kSource, kConcat or kBatch
  std::vector<IndexOp> path;  // from the program's index to this leaf's
  std::vector<int> regs;  // registers that it fills, one per column
  Node* node = nullptr;
  int id = 0;  // of a source, unique in the plan
  int cache = -1;  // kSource: index of its order's PassCache
  int64_t rows = 0;  // rows of its pass: for sources this shard's rows, for batches the input's
  std::vector<std::unique_ptr<Program>> programs;  // kConcat: one per input; kBatch: the input
  std::vector<int64_t> sizes;  // kConcat: rows of each input
  std::unique_ptr<SequentialReader> reader;
};

struct Step {
  std::shared_ptr<const RowOp> op;
  std::vector<int> in, out;  // registers
  std::vector<int> dest;  // output column of each result; -1: intermediate
  uint32_t number = 0;  // of the operation in the tree, for its random draws
  size_t leaf = 0;  // whose key its draws use
  std::string where;
};

struct Program {
  std::vector<std::unique_ptr<Leaf>> leaves;
  std::vector<Step> steps;
  int num_regs = 0;
  std::vector<int> outputs;  // register of each output column
  std::vector<int> direct;  // output columns that no step writes: copied from a leaf
  std::vector<ColumnInfo> columns;
};

/// Bad rows found in a run, by source and row id.
class BadRows {
 public:
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  bool contains(int source, int64_t row_id) const;
  /// Returns false if the row was known already.
  bool add(int source, BadRow row);
  int64_t size() const { return count_.load(); }
  std::vector<BadRow> list() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<int64_t> count_{0};
  std::set<std::pair<int, int64_t>> known_;
  std::vector<BadRow> rows_;
};

/// A compiled pipeline, shared by the workers. Read-only except for its caches and bad rows.
struct Plan {
  std::unique_ptr<Program> top;  // one "row" of it is one result of next()
  int64_t seed = 0;
  uint64_t draw_key = 0;
  OnCorrupt on_corrupt = OnCorrupt::kFail;
  int64_t max_corrupt = 0;
  bool sharded = false;
  bool in_shards = false;  // rows are distributed to shards, even if all of them are read here
  bool several_shards = false;  // several shards of one pipeline are read together
  int workers = 1;  // requested by the nodes
  int64_t rows_padded = 0;
  std::vector<std::unique_ptr<PassCache<PassOrder>>> orders;
  std::vector<std::unique_ptr<PassCache<std::vector<int64_t>>>> shuffles;
  std::vector<std::string> tree;  // node_str of every node, depth first: part of the fingerprint
  uint64_t listing = 0;  // hash over all sources' listings
  int64_t items = 0;  // per epoch, -1: endless
  bool has_sequential = false;  // a source whose rows must be read in the order of the batches
  BadRows bad;

  /// Throws DataError if more than max_corrupt rows are bad. Called wherever a bad row is found or omitted, because the batch in which it was found may have
  /// been dropped together with its error when another worker found a bad row.
  void check_bad_limit() const;
  /// The batch leaf whose rows all workers can make separately; null if each item is made by one worker.
  const Leaf* fused_batch() const {
    const bool one = top->leaves.size() == 1 && top->leaves[0]->kind == Node::Kind::kBatch;
    return one ? top->leaves[0].get() : nullptr;
  }
};

struct PlanOptions {
  int64_t seed = 0;
  OnCorrupt on_corrupt = OnCorrupt::kFail;
  int64_t max_corrupt = -1;
};
std::unique_ptr<Plan> make_plan(Node& root, const PlanOptions& options);
/// Whether a sampler without padding may leave this shard without rows.
bool may_be_empty(const Node& node);
/// Whether a source of the tree is read in shards.
bool is_sharded(const Node& node);

/// A dropped row (OnCorrupt::kSkip); only the engine catches it.
struct SkippedRow {};

/// One thread's use of a plan: scratch, registers, and the orders it used last.
struct Worker {
  explicit Worker(Plan& p) : plan(p), orders(p.orders.size()), shuffles(p.shuffles.size()) {}
  Plan& plan;
  Scratch scratch;
  int64_t replaced = 0;
  uint64_t generation = 0;  // of its current batch (SequentialReader)
  template <class T> struct Last {
    uint64_t pass = ~0ull;
    std::shared_ptr<const T> value;
  };
  std::vector<Last<PassOrder>> orders;
  std::vector<Last<std::vector<int64_t>>> shuffles;
  std::vector<Value> regs, call_in, call_out;
  std::vector<RowKey> keys;
  std::vector<Slot> call_slots;

  /// Makes one row of `program`. Values are written to `slots` if given (one per output column), else to scratch until the
  /// next row. Bad rows are replaced or dropped (SkippedRow) as the plan says.
  std::span<const Value> row(const Program& program, uint64_t pass, int64_t index, std::span<const Slot> slots);
  /// Runs the steps of `program` on filled registers (a whole batch, for operations after batch()).
  void run_steps(const Program& program, RowKey key, std::span<Value> r);
  /// Whether a row is known to be bad, without reading it.
  bool known_bad(const Program& program, uint64_t pass, int64_t index);
  /// Reads the sequential sources' part of a row (SequentialReader::read_to).
  void read_ahead(const Program& program, uint64_t pass, int64_t index);
  /// Applies a leaf's index operations.
  void resolve(const Leaf& leaf, uint64_t* pass, int64_t* index);

 private:
  struct Origin {
    const Leaf* source = nullptr;
    RowKey key;
  };
  void run(const Program& program, uint64_t pass, int64_t index, int64_t shift, std::span<Value> r, std::span<RowKey> k, std::span<const Slot> slots);
  RowKey read_leaf(const Leaf& leaf, uint64_t pass, int64_t index, int64_t shift, std::span<Value> r, std::span<Value> out);
  RowKey read_source(const Leaf& leaf, uint64_t pass, int64_t index, int64_t shift, std::span<Value> out);
  void read_batch(const Leaf& leaf, uint64_t pass, int64_t index, std::span<Value> out);
  void run_step(const Step& step, RowKey key, std::span<Value> r, std::span<const Slot> slots);
  std::string add_place(Error& e) const;
  void note_bad(Error& e);
  const PassOrder& order(const Leaf& leaf, uint64_t pass);
  int64_t source_rows(const Program& program) const;
  Origin origin_;  // of the value being read or transformed
  const Step* step_ = nullptr;  // null while reading
  std::vector<Origin> leaf_origin_;
};

}  // namespace sindri::dataset
