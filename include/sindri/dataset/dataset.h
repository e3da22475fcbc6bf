// The data pipeline: sources, operations on them, iterators (MindSpore: mindspore.dataset).
//
//   auto d = ImageFolderDataset::make({.dataset_dir = dir, .shuffle = true});
//   d = d->map({vision::Decode(), vision::Resize({224, 224})}, {.input_columns = {"image"}, .num_parallel_workers = 2});
//   d = d->batch(128, {.drop_remainder = true});
//   auto it = d->create_iterator({.num_epochs = 3});
//   std::vector<Tensor> columns;
//   do { while (it->next(&columns)) { … } } while (it->next_epoch());
//
// What a row holds depends on (seed, pass, position, row id) only: never on workers, queue depth, shards or where a run resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/core/tensor.h"
#include "sindri/dataset/transforms.h"
#include "sindri/export.h"

namespace sindri::dataset {

/// One row cannot be read, decoded or transformed. Functions of the caller's throw it to say so.
class SINDRI_API BadSample : public DataError {
 public:
  explicit BadSample(std::string message, std::string where = {}, std::string fix = {})
      : DataError(ErrorCode::kDataCorrupt, std::move(message), std::move(where), std::move(fix)) {}
  BadSample(ErrorCode code, std::string message, std::string where = {}, std::string fix = {})
      : DataError(code, std::move(message), std::move(where), std::move(fix)) {}
};

/// What is known of a column before any row is read.
struct ColumnInfo {
  std::string name;
  DType dtype = DType::kUInt8;
  /// Shape of one row's value (with the batch dimension behind batch()); -1 where it varies. Empty and rank_known = false: nothing known.
  Shape shape;
  bool rank_known = true;
  bool dtype_known = true;
  bool fully_known() const;
};

/// Which rows of a source are read, in which order. Sizes are per shard.
class SINDRI_API Sampler {
 public:
  enum class Kind { kSequential, kRandom, kDistributed, kSubset, kSubsetRandom };
  Kind kind = Kind::kSequential;
  std::optional<int64_t> num_samples;
  int64_t start_index = 0;
  bool replacement = false;
  int64_t num_shards = 1, shard_id = 0, offset = -1;
  bool shuffle = true;
  bool pad = true;
  std::vector<int64_t> indices;
  std::string str() const;
};
/// Rows in their order, from start_index on.
SINDRI_API Sampler SequentialSampler(std::optional<int64_t> start_index = {}, std::optional<int64_t> num_samples = {});
/// A new permutation each pass; with replacement, independent draws.
SINDRI_API Sampler RandomSampler(bool replacement = false, std::optional<int64_t> num_samples = {});
/// pad = false: no row appears twice, shards differ by at most one row (for sharded evaluation). offset: -1 for none.
SINDRI_API Sampler DistributedSampler(int64_t num_shards, int64_t shard_id, bool shuffle = true, std::optional<int64_t> num_samples = {}, int64_t offset = -1,
                                      bool pad = true);
/// These rows, in this order.
SINDRI_API Sampler SubsetSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples = {});
/// These rows, in a new order each pass.
SINDRI_API Sampler SubsetRandomSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples = {});

/// Where map() reads and writes.
struct MapOptions {
  /// Columns handed to the first operation; none: the first column.
  std::vector<std::string> input_columns = {};
  /// Names of the results; none: as input_columns.
  std::vector<std::string> output_columns = {};
  /// 0: min(8, usable cores). Clamped to the usable cores.
  int num_parallel_workers = 0;
};
/// drop_remainder leaves out a last batch that is not full.
struct BatchOptions {
  bool drop_remainder = false;
  int num_parallel_workers = 0;
};

/// What to do with a row that cannot be read, decoded or transformed.
enum class OnCorrupt {
  kFail,  ///< the run ends with an error that names the file
  kReplace,  ///< the next good row of the same order stands in, with its own random draws
  kSkip,  ///< the row vanishes and later ones move up; shards are refilled from the start of their order
};

/// How a pipeline is read.
struct IteratorOptions {
  /// How many epochs will be asked for; -1: no end. Batches of a next epoch are prepared while one ends.
  int64_t num_epochs = -1;
  /// Where to begin: epoch number and batch within it (as load_state does).
  int64_t start_epoch = 0;
  int64_t start_batch = 0;
  /// Unset: set_seed()'s if that was called, else drawn from the system (unsharded) or 0 (sharded).
  std::optional<int64_t> seed = {};
  OnCorrupt on_corrupt = OnCorrupt::kFail;
  /// Distinct bad rows tolerated; -1: 100 or 0.1 % of the rows, the larger.
  int64_t max_corrupt = -1;
  /// Finished batches kept ready.
  int prefetch = 2;
  /// 0: as the pipeline's operations ask, within the usable cores. Otherwise exactly this many.
  int num_workers = 0;
  /// Upper bound in bytes on what the pipeline may hold; 0: half of the machine's (or control group's) memory.
  int64_t memory_limit = 0;
};

/// One bad row met so far.
struct BadRow {
  int64_t row_id = 0;
  std::string name;  ///< file or record
  std::string reason;
};
/// What a pipeline did so far.
struct Stats {
  int64_t rows = 0;  ///< rows made, prefetched ones included
  int64_t batches = 0;  ///< batches handed to the consumer
  int64_t rows_padded = 0;  ///< rows repeated per pass so that shards are equally long
  int64_t decoded_full = 0;  ///< whole images decoded
  int64_t decoded_window = 0;  ///< only the part that a crop needs decoded
  int64_t decode_warnings = 0;  ///< damage the JPEG library could ignore (extraneous bytes before a marker)
  int64_t bytes_read = 0;  ///< of files
  int64_t replaced = 0;  ///< rows that another one stood in for
  int64_t pool_overflow = 0;  ///< blocks made because the consumer held more than the pool has
  int64_t blocks = 0, block_bytes = 0;
  int workers = 0;
  double busy_seconds = 0;  ///< summed over workers
  double consumer_wait_seconds = 0;  ///< time spent inside next() without a batch ready
  std::vector<BadRow> bad_samples;
  std::string str() const;  ///< one line
};

/// Reads a pipeline. Nothing runs before the first next(); the destructor stops and joins every worker. For one thread at a time.
/// It belongs to the process that reads it first: one forked later can make its own, and is refused this one.
class SINDRI_API Iterator {
 public:
  virtual ~Iterator() = default;
  /// The next batch (or row, without batch()), one tensor per column. False at the end of the epoch, again and again until next_epoch().
  /// The tensors stay valid for as long as they are held. Errors of workers are thrown here with their own type.
  virtual bool next(std::vector<Tensor>* columns) = 0;
  /// Waits at most `seconds` for a batch; true when next() will not block. Workers start if they have not.
  virtual bool wait(double seconds) = 0;
  /// Moves to the next epoch (dropping what is left of this one). False when num_epochs are done.
  virtual bool next_epoch() = 0;
  /// Epoch being read, and batches of it handed out.
  virtual int64_t epoch() const = 0;
  virtual int64_t batch() const = 0;
  /// Small JSON: where the consumer stands, and a fingerprint of the pipeline.
  virtual std::string state_dict() const = 0;
  /// Continues from a state; the next batch is bit for bit what it would have been. Throws DataError naming the field that differs
  /// when the state belongs to another pipeline. Only before the first next().
  virtual void load_state(const std::string& json) = 0;
  virtual Stats stats() const = 0;
  /// Seed in use.
  virtual int64_t seed() const = 0;
};

/// What an iterator says in a process that was forked after it had been read: make a new one there. Throws DataError.
[[noreturn]] SINDRI_API void throw_read_elsewhere(int64_t process);

struct Node;

/// A pipeline up to some operation. Each has one consumer: the pipeline is a tree. Made by the sources' make() and by the methods below.
class SINDRI_API Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  using Ptr = std::shared_ptr<Dataset>;
  explicit Dataset(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  /// Applies operations in order to the input columns of every row (of every batch, behind batch()).
  Ptr map(std::vector<Transform> operations, MapOptions options = {});
  Ptr batch(int64_t batch_size, BatchOptions options = {});
  /// Mixes within a window of buffer_size rows: each output is a uniform slot of it. 1 keeps the order.
  Ptr shuffle(int64_t buffer_size);
  /// No count: without end, get_dataset_size() is -1.
  Ptr repeat(std::optional<int64_t> count = {});
  Ptr skip(int64_t count);
  /// -1 takes everything.
  Ptr take(int64_t count = -1);
  Ptr rename(std::vector<std::string> input_columns, std::vector<std::string> output_columns);
  /// Keeps these columns, in this order.
  Ptr project(std::vector<std::string> columns);
  /// Rows side by side; as long as the shortest.
  static Ptr zip(const std::vector<Ptr>& datasets);
  /// This one's rows, then the other's. Columns must agree.
  Ptr concat(const Ptr& other);

  /// Batches (rows, without batch()) per epoch; -1 for an endless repeat. Throws DataError(kDataEmpty) when it is 0.
  int64_t get_dataset_size() const;
  /// 1 without batch().
  int64_t get_batch_size() const;
  int64_t get_repeat_count() const;
  std::vector<std::string> get_col_names() const;
  /// Names, element types and shapes of what next() gives.
  std::vector<ColumnInfo> columns() const;
  /// Folder name -> label for image folders, empty for other sources.
  std::map<std::string, int32_t> get_class_indexing() const;
  std::optional<int64_t> num_classes() const;
  /// Tells whether the files behind a pipeline are those of another time, wherever they lie: "sizes:HEX times:HEX" of their names, sizes and
  /// times of last change (of at most some 50,000 image files), or "contents:HEX" of all their bytes. Binary sets and tables are always read
  /// in full.
  std::string fingerprint(bool contents = false) const;
  std::unique_ptr<Iterator> create_iterator(IteratorOptions options = {}) const;

  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  std::shared_ptr<Node> node_;
};

// What every source accepts. num_samples caps the rows per shard, after shuffling. shuffle unset means shuffled when there is no
// sampler. num_shards and shard_id come together; a sampler excludes shuffle, num_shards and shard_id.
#define SINDRI_DATASET_SOURCE_OPTIONS \
  std::optional<int64_t> num_samples = {}; \
  int num_parallel_workers = 0; \
  std::optional<bool> shuffle = {}; \
  std::optional<Sampler> sampler = {}; \
  std::optional<int64_t> num_shards = {}; \
  std::optional<int64_t> shard_id = {};

/// root/class/file; columns image (uint8 file bytes, or [H, W, 3] with decode) and label (int32). Classes are sorted by byte value.
struct SINDRI_API ImageFolderDataset {
  /// Folder, order, shard and decoding.
  struct Options {
    std::string dataset_dir = {};
    SINDRI_DATASET_SOURCE_OPTIONS
    /// Suffixes with dot, case-sensitive; none: .jpg .jpeg .png .bmp .webp .tif .tiff in any case, no dot files.
    std::vector<std::string> extensions = {};
    /// Without extensions: every file of a class folder that is no dot file, whatever its suffix.
    bool any_extension = false;
    /// Folder -> label; folders not named are left out.
    std::map<std::string, int32_t> class_indexing = {};
    bool decode = false;
    /// false: a class without images is an error; true: it keeps its index, with a warning.
    bool allow_empty_classes = true;
  };
  static Dataset::Ptr make(Options options);
};

/// data_batch_*.bin and test_batch.bin: image uint8 [32, 32, 3], label int32. usage: "train", "test" or "all" (also "").
struct SINDRI_API Cifar10Dataset {
  /// Folder of the binary files, part, order and shard.
  struct Options {
    std::string dataset_dir = {};
    std::string usage = {};
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};
/// train.bin and test.bin: image, coarse_label, fine_label.
struct SINDRI_API Cifar100Dataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};
/// idx files: image uint8 [28, 28, 1], label int32.
struct SINDRI_API MnistDataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};
/// As MnistDataset: the same files and columns.
struct SINDRI_API FashionMnistDataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};

/// The 1,797 handwritten digits of dataset/digits: image uint8 [8, 8, 1] with values 0 to 16, label int32. Every fifth sample is the
/// test set. dataset_file: the CSV file, packed or not, or its folder; empty: dataset/digits/digits.csv.gz.
struct SINDRI_API DigitsDataset {
  /// File, part, order and shard.
  struct Options {
    std::string dataset_file = {};
    std::string usage = {};  ///< "train", "test" or "all" (also "")
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};

/// Tensors in memory, sliced along dimension 0. Nothing is copied.
struct SINDRI_API NumpySlicesDataset {
  /// Names of the columns, order and shard.
  struct Options {
    std::vector<std::pair<std::string, Tensor>> columns = {};
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};

/// Rows from a function. Random access: `row` and `size`. Sequential: `rows`, called once per pass, gives a function that fills one
/// row and returns false at the end; it takes no sampler, shuffle or shards, and is counted by one extra pass unless `size` is given.
struct SINDRI_API GeneratorDataset {
  using Row = std::vector<Tensor>;
  /// Columns, number of rows, order and shard.
  struct Options {
    std::function<Row(int64_t)> row = {};
    /// Instead of row: it is also told the pass over the source, from 0.
    std::function<Row(int64_t, int64_t)> row_of_pass = {};
    std::function<std::function<bool(Row*)>()> rows = {};
    std::optional<int64_t> size = {};
    std::vector<std::string> column_names = {};
    /// Element types to convert to; none: as the first row has them.
    std::vector<DType> column_types = {};
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};
#undef SINDRI_DATASET_SOURCE_OPTIONS

/// A data set found below a folder.
struct FoundData {
  enum class Kind { kImageFolder, kCifar10, kCifar100, kMnist };
  Kind kind = Kind::kImageFolder;
  std::string dir;  ///< what to give as dataset_dir
  std::string usage;  ///< "train" or "test"; empty for image folders
  const char* kind_name() const;
};
/// Looks below `root` for the data of `usage` ("train" or "eval"): CIFAR binaries, MNIST idx files, or class folders under the names
/// train and ilsvrc, or val, validation_preprocess, ilsvrc_eval, validation, eval and test; also root itself when it holds them.
/// Throws DataError(kDataMissing) that lists what was looked for and what is there.
SINDRI_API FoundData find_data(const std::string& root, const std::string& usage);
/// The matching source with default columns.
SINDRI_API Dataset::Ptr open_data(const FoundData& found, std::optional<bool> shuffle = {}, std::optional<int64_t> num_shards = {},
                                  std::optional<int64_t> shard_id = {});

}  // namespace sindri::dataset
