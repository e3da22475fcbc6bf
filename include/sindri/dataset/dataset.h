// The data pipeline: sources, operations on them, iterators (MindSpore: mindspore.dataset).
//
//   auto d = ImageFolderDataset::make({.dataset_dir = dir, .shuffle = true});
//   d = d->map({vision::Decode(), vision::Resize({224, 224})}, {.input_columns = {"image"}, .num_parallel_workers = 2});
//   d = d->batch(128, {.drop_remainder = true});
//   auto it = d->create_iterator({.num_epochs = 3});
//   std::vector<Tensor> columns;
//   do { while (it->next(&columns)) { … } } while (it->next_epoch());
//
// A row's contents depend only on (seed, pass, position, row id): never on workers, queue depth, shards or the point of
// a resume.
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

/// Error of a row that cannot be read, decoded or transformed. Your functions throw it to report such a row.
class SINDRI_API BadSample : public DataError {
 public:
  /// `where` names the file or record, `fix` what to do about it.
  explicit BadSample(std::string message, std::string where = {}, std::string fix = {})
      : DataError(ErrorCode::kDataCorrupt, std::move(message), std::move(where), std::move(fix)) {}
  BadSample(ErrorCode code, std::string message, std::string where = {}, std::string fix = {})
      : DataError(code, std::move(message), std::move(where), std::move(fix)) {}
};

/// Facts about a column that are known before any row is read.
struct ColumnInfo {
  std::string name;
  DType dtype = DType::kUInt8;
  /// Shape of one row's value, with the batch dimension after batch(); -1 if a dimension varies. If rank_known is
  /// false, nothing is known.
  Shape shape;
  bool rank_known = true;  ///< whether the number of dimensions is known
  bool dtype_known = true;  ///< whether the element type is known
  /// Whether type and all dimensions are known.
  bool fully_known() const;
};

/// Selects and orders the rows of a source. Sizes are per shard.
class SINDRI_API Sampler {
 public:
  /// Order of the rows. Each kind uses the fields that its function below sets.
  enum class Kind { kSequential, kRandom, kDistributed, kSubset, kSubsetRandom };
  Kind kind = Kind::kSequential;
  std::optional<int64_t> num_samples;
  int64_t start_index = 0;
  bool replacement = false;
  int64_t num_shards = 1, shard_id = 0, offset = -1;
  bool shuffle = true;
  bool pad = true;
  std::vector<int64_t> indices;
  /// Text for messages and fingerprints.
  std::string str() const;
};
/// Rows in order, starting at start_index. Throws ValueError for a negative start and num_samples < 1.
SINDRI_API Sampler SequentialSampler(std::optional<int64_t> start_index = {}, std::optional<int64_t> num_samples = {});
/// A new permutation in each pass; with replacement, independent draws. Throws ValueError for num_samples < 1.
SINDRI_API Sampler RandomSampler(bool replacement = false, std::optional<int64_t> num_samples = {});
/// Every num_shards-th row. With pad, all shards are equally long, and the first rows appear again if needed. Without
/// pad, no row appears twice, and shards differ by at most one row (for sharded evaluation). `offset` is the shard of
/// the first row; -1: not set. Throws ValueError for values out of range.
SINDRI_API Sampler DistributedSampler(int64_t num_shards, int64_t shard_id, bool shuffle = true, std::optional<int64_t> num_samples = {}, int64_t offset = -1,
                                      bool pad = true);
/// These rows, in this order. Throws ValueError for negative indices and num_samples < 1.
SINDRI_API Sampler SubsetSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples = {});
/// These rows, in a new order in each pass. Throws the same errors as SubsetSampler.
SINDRI_API Sampler SubsetRandomSampler(std::vector<int64_t> indices, std::optional<int64_t> num_samples = {});

/// Columns and workers of map().
struct MapOptions {
  /// Columns passed to the first operation; empty: the first column.
  std::vector<std::string> input_columns = {};
  /// Names of the results; empty: input_columns.
  std::vector<std::string> output_columns = {};
  /// 0: min(8, usable cores). Limited to the usable cores.
  int num_parallel_workers = 0;
};
/// Options of batch().
struct BatchOptions {
  bool drop_remainder = false;  ///< drops a last batch that is not full
  int num_parallel_workers = 0;  ///< as in MapOptions
};

/// Treatment of a row that cannot be read, decoded or transformed.
enum class OnCorrupt {
  kFail,  ///< ends the run with an error that names the file
  kReplace,  ///< replaces the row by the next good row of the same order, with that row's random draws
  kSkip,  ///< drops the row; later rows move up, and shards are refilled from the start of their order
};

/// How an iterator reads a pipeline.
struct IteratorOptions {
  /// Number of epochs that will be read; -1: no limit. Batches of the next epoch are prepared while one ends.
  int64_t num_epochs = -1;
  /// First epoch, and first batch within it (as load_state sets them).
  int64_t start_epoch = 0;
  int64_t start_batch = 0;
  /// Unset: the seed of set_seed() if it was called, else one drawn from the system (unsharded) or 0 (sharded).
  std::optional<int64_t> seed = {};
  /// Treatment of rows that cannot be read, decoded or transformed.
  OnCorrupt on_corrupt = OnCorrupt::kFail;
  /// Number of distinct bad rows that are tolerated; -1: 100 or 0.1 % of the rows, whichever is larger.
  int64_t max_corrupt = -1;
  /// Number of finished batches kept ready.
  int prefetch = 2;
  /// Number of worker threads; 0: as the pipeline's operations request, within the usable cores.
  int num_workers = 0;
  /// Upper limit in bytes of the pipeline's memory; 0: half of the machine's (or control group's) memory.
  int64_t memory_limit = 0;
};

/// A bad row found so far.
struct BadRow {
  int64_t row_id = 0;  ///< index of the row in its source
  std::string name;  ///< file or record
  std::string reason;  ///< what is wrong with the row
};
/// Counters of a pipeline since its start.
struct Stats {
  int64_t rows = 0;  ///< rows read, prefetched ones included
  int64_t batches = 0;  ///< batches returned to the consumer
  int64_t rows_padded = 0;  ///< rows repeated per pass so that shards are equally long
  int64_t decoded_full = 0;  ///< whole images decoded
  int64_t decoded_window = 0;  ///< images decoded only as far as a crop needs
  int64_t decode_warnings = 0;  ///< damage that the JPEG library could ignore (extraneous bytes before a marker)
  int64_t bytes_read = 0;  ///< bytes read from files
  int64_t replaced = 0;  ///< rows replaced by another
  int64_t pool_overflow = 0;  ///< extra blocks allocated because the consumer held more blocks than the pool has
  int64_t blocks = 0, block_bytes = 0;  ///< blocks of the pool, and bytes of each
  int workers = 0;  ///< worker threads
  double busy_seconds = 0;  ///< time that workers spent on rows, summed over workers
  double consumer_wait_seconds = 0;  ///< time spent inside next() without a batch ready
  std::vector<BadRow> bad_samples;  ///< bad rows found so far
  std::string str() const;  ///< the counters as one line
};

/// Reads a pipeline. Nothing runs before the first next(); the destructor stops and joins every worker. Use it from one
/// thread at a time. It belongs to the process that reads it first: a process forked later cannot use it and creates
/// its own.
class SINDRI_API Iterator {
 public:
  virtual ~Iterator() = default;
  /// Stores the next batch (or row, without batch()), one tensor per column, and returns true. Returns false at the end
  /// of the epoch until next_epoch() is called. The tensors stay valid as long as they are held. Errors of workers are
  /// thrown here with their own type.
  virtual bool next(std::vector<Tensor>* columns) = 0;
  /// Waits at most `seconds` for a batch and returns whether next() will not block. Starts the workers if necessary.
  virtual bool wait(double seconds) = 0;
  /// Moves to the next epoch and drops the rest of this one. Returns false after num_epochs.
  virtual bool next_epoch() = 0;
  /// Number of the epoch being read.
  virtual int64_t epoch() const = 0;
  /// Number of batches of this epoch that were returned.
  virtual int64_t batch() const = 0;
  /// The consumer's position and a fingerprint of the pipeline, as a short JSON text.
  virtual std::string state_dict() const = 0;
  /// Continues from a state: the next batch is bitwise identical to the one that would have followed. Call it before
  /// the first next(). Throws DataError, naming the field that differs, if the state belongs to another pipeline.
  virtual void load_state(const std::string& json) = 0;
  /// Counters so far.
  virtual Stats stats() const = 0;
  /// Seed in use.
  virtual int64_t seed() const = 0;
};

/// Throws the DataError of an iterator that is used in a process forked after it was first read: create a new iterator
/// there.
[[noreturn]] SINDRI_API void throw_read_elsewhere(int64_t process);

struct Node;

/// A pipeline up to some operation, created by the sources' make() and the methods below. Each has one consumer, so
/// that the pipeline is a tree; a second consumer throws ValueError. The methods throw ValueError for arguments out of
/// range.
class SINDRI_API Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  /// Shared ownership of a pipeline.
  using Ptr = std::shared_ptr<Dataset>;
  explicit Dataset(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  /// Applies operations in sequence to the input columns of every row (after batch(), of every batch).
  Ptr map(std::vector<Transform> operations, MapOptions options = {});
  /// Combines batch_size consecutive rows into batches.
  Ptr batch(int64_t batch_size, BatchOptions options = {});
  /// Shuffles within a window of buffer_size rows: each output is a uniformly drawn row of it. 1 keeps the order.
  Ptr shuffle(int64_t buffer_size);
  /// Repeats the rows count times; unset: without end, and get_dataset_size() is -1.
  Ptr repeat(std::optional<int64_t> count = {});
  /// Skips the first count rows or batches.
  Ptr skip(int64_t count);
  /// Keeps the first count rows or batches; -1 keeps all.
  Ptr take(int64_t count = -1);
  /// Renames columns.
  Ptr rename(std::vector<std::string> input_columns, std::vector<std::string> output_columns);
  /// Keeps these columns, in this order.
  Ptr project(std::vector<std::string> columns);
  /// Joins the columns of several datasets, row by row, up to the end of the shortest.
  static Ptr zip(const std::vector<Ptr>& datasets);
  /// Appends the rows of another dataset. Columns must agree.
  Ptr concat(const Ptr& other);

  /// Number of batches (without batch(), rows) per epoch; -1 for an endless repeat. Throws DataError (kDataEmpty) if it
  /// is 0.
  int64_t get_dataset_size() const;
  /// Rows per batch; 1 without batch().
  int64_t get_batch_size() const;
  /// Product of the repeats; 1 without repeat(), -1 for an endless one.
  int64_t get_repeat_count() const;
  /// Names of the columns that next() returns.
  std::vector<std::string> get_col_names() const;
  /// Names, element types and shapes of the columns that next() returns.
  std::vector<ColumnInfo> columns() const;
  /// Labels by folder name for image folders; empty for other sources.
  std::map<std::string, int32_t> get_class_indexing() const;
  /// Number of classes of the source, if known.
  std::optional<int64_t> num_classes() const;
  /// Identifies the contents of the pipeline's files, wherever they are stored, so that changes are noticed. "sizes:HEX
  /// times:HEX" covers their names, sizes and modification times (of at most about 50,000 image files), "contents:HEX"
  /// all their bytes. Binary datasets and tables are always read completely. Throws IoError if a file cannot be read.
  std::string fingerprint(bool contents = false) const;
  /// Creates an iterator. Throws ValueError for options out of range.
  std::unique_ptr<Iterator> create_iterator(IteratorOptions options = {}) const;

  /// The pipeline's internal node.
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  std::shared_ptr<Node> node_;
};

// Options of every source. num_samples limits the rows per shard, after shuffling. With shuffle unset, rows are
// shuffled unless there is a sampler. num_shards and shard_id are given together; a sampler excludes shuffle,
// num_shards and shard_id.
#define SINDRI_DATASET_SOURCE_OPTIONS \
  std::optional<int64_t> num_samples = {}; \
  int num_parallel_workers = 0; \
  std::optional<bool> shuffle = {}; \
  std::optional<Sampler> sampler = {}; \
  std::optional<int64_t> num_shards = {}; \
  std::optional<int64_t> shard_id = {};

/// Images in class folders, root/class/file. Columns are image (uint8 file bytes, or [H, W, 3] with decode) and label
/// (int32). Classes are sorted by byte value (MindSpore: dataset.ImageFolderDataset).
struct SINDRI_API ImageFolderDataset {
  /// Options of the source.
  struct Options {
    std::string dataset_dir = {};  ///< folder of the class folders
    SINDRI_DATASET_SOURCE_OPTIONS
    /// Suffixes with a dot, case-sensitive. Empty: .jpg .jpeg .png .bmp .webp .tif .tiff in upper or lower case, except
    /// hidden files.
    std::vector<std::string> extensions = {};
    /// Without extensions: reads every file of a class folder except hidden files, whatever its suffix.
    bool any_extension = false;
    /// Labels by folder name; other folders are skipped. Empty: folders are numbered in sorted order.
    std::map<std::string, int32_t> class_indexing = {};
    bool decode = false;  ///< decodes images to uint8 [H, W, 3]
    /// false: a class without images throws; true: it keeps its label, with a warning.
    bool allow_empty_classes = true;
  };
  /// Creates the source. Files are listed on first use, not here; the same holds for the sources below.
  static Dataset::Ptr make(Options options);
};

/// CIFAR-10's data_batch_*.bin and test_batch.bin: image uint8 [32, 32, 3], label int32 (MindSpore:
/// dataset.Cifar10Dataset).
struct SINDRI_API Cifar10Dataset {
  /// Options of the source.
  struct Options {
    std::string dataset_dir = {};  ///< folder of the binary files
    std::string usage = {};  ///< "train", "test" or "all" (also "")
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};
/// CIFAR-100's train.bin and test.bin: image uint8 [32, 32, 3], coarse_label and fine_label (MindSpore:
/// dataset.Cifar100Dataset).
struct SINDRI_API Cifar100Dataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};
/// MNIST's idx files: image uint8 [28, 28, 1], label int32 (MindSpore: dataset.MnistDataset).
struct SINDRI_API MnistDataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};
/// Fashion-MNIST, with the files and columns of MnistDataset.
struct SINDRI_API FashionMnistDataset {
  using Options = Cifar10Dataset::Options;
  static Dataset::Ptr make(Options options);
};

/// The 1,797 handwritten digits of dataset/digits: image uint8 [8, 8, 1] with values 0 to 16, label int32. Every fifth
/// sample belongs to the test set.
struct SINDRI_API DigitsDataset {
  /// Options of the source.
  struct Options {
    std::string dataset_file = {};  ///< CSV file, compressed or not, or its folder; empty: dataset/digits/digits.csv.gz
    std::string usage = {};  ///< "train", "test" or "all" (also "")
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};

/// Tensors in memory, sliced along dimension 0 without copies (MindSpore: dataset.NumpySlicesDataset).
struct SINDRI_API NumpySlicesDataset {
  /// Options of the source.
  struct Options {
    std::vector<std::pair<std::string, Tensor>> columns = {};  ///< names and tensors of the columns
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};

/// Rows from a function (MindSpore: dataset.GeneratorDataset). For random access give `row` and `size`. For sequential
/// access give `rows`: it is called once per pass and returns a function that fills one row and returns false at the
/// end. A sequential source takes no sampler, shuffle or shards; unless `size` is given, one extra pass counts its
/// rows. Calls of `row` are serialised unless num_parallel_workers is above 1.
struct SINDRI_API GeneratorDataset {
  /// The values of one row, one per column.
  using Row = std::vector<Tensor>;
  /// Options of the source.
  struct Options {
    std::function<Row(int64_t)> row = {};  ///< returns the row of this index
    /// Used instead of row: also receives the number of the pass over the source, from 0.
    std::function<Row(int64_t, int64_t)> row_of_pass = {};
    std::function<std::function<bool(Row*)>()> rows = {};  ///< returns the function that reads one pass
    std::optional<int64_t> size = {};  ///< number of rows
    std::vector<std::string> column_names = {};  ///< required
    /// Element types to convert to; empty: the types of the first row.
    std::vector<DType> column_types = {};
    SINDRI_DATASET_SOURCE_OPTIONS
  };
  static Dataset::Ptr make(Options options);
};
#undef SINDRI_DATASET_SOURCE_OPTIONS

/// A dataset found in a folder.
struct FoundData {
  enum class Kind { kImageFolder, kCifar10, kCifar100, kMnist };
  Kind kind = Kind::kImageFolder;
  std::string dir;  ///< value for dataset_dir
  std::string usage;  ///< "train" or "test"; empty for image folders
  /// Text for messages, such as "CIFAR-10 binary".
  const char* kind_name() const;
};
/// Finds the data for `usage` ("train" or "eval") in `root`: CIFAR binaries, MNIST idx files or class folders. Searches
/// `root` itself and its folders train and ilsvrc for "train", or val, validation_preprocess, ilsvrc_eval, validation,
/// eval and test for "eval". Throws DataError (kDataMissing), listing what was looked for and what is there, and
/// ValueError for any other usage.
SINDRI_API FoundData find_data(const std::string& root, const std::string& usage);
/// Creates the matching source with default columns.
SINDRI_API Dataset::Ptr open_data(const FoundData& found, std::optional<bool> shuffle = {}, std::optional<int64_t> num_shards = {},
                                  std::optional<int64_t> shard_id = {});

}  // namespace sindri::dataset
