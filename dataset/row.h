// The data of one row in a worker: values, destinations of results, scratch memory, random draws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/rng.h"
#include "sindri/core/shape.h"
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

/// Everything that a row's randomness depends on, besides the seed and the operation's number.
struct RowKey {
  uint64_t pass = 0;
  int64_t position = 0;  // in the globally ordered pass, before sharding
  int64_t row_id = 0;  // index in the source's fixed listing
};

/// A column's value in a worker. The memory belongs to the source, the scratch arena or a batch slot.
struct Value {
  const uint8_t* data = nullptr;
  DType dtype = DType::kUInt8;
  Shape shape;
  int64_t nbytes() const { return shape.numel() * static_cast<int64_t>(dtype_size(dtype)); }
};

/// Memory for the values of one row: allocated by advancing a pointer, released all at once. Chunks are kept, so a steady stream of
/// rows allocates nothing. It shrinks if it was 16 times too large for 256 rows.
class Arena {
 public:
  uint8_t* allocate(int64_t bytes);
  void reset();
  int64_t capacity() const { return capacity_; }

 private:
  struct Chunk {
    std::unique_ptr<uint8_t[]> data;
    int64_t bytes;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;
  int64_t offset_ = 0, used_ = 0, high_ = 0, capacity_ = 0;
  int rows_ = 0;
};

/// Counters of one worker; summed under the engine's lock.
struct Counters {
  int64_t rows = 0, decoded_full = 0, decoded_window = 0, decode_warnings = 0, bytes_read = 0;
  void add(const Counters& o) {
    rows += o.rows;
    decoded_full += o.decoded_full;
    decoded_window += o.decoded_window;
    decode_warnings += o.decode_warnings;
    bytes_read += o.bytes_read;
  }
};

class JpegDecoder;

/// The data that a worker thread owns.
struct Scratch {
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Arena arena;
  Counters counters;
  std::string path;  // name of the file being opened
  int64_t file_bytes = 1 << 16;  // size of the largest file so far; the first guess for the next
  std::unique_ptr<JpegDecoder> jpeg;
  std::vector<Tensor> tensors;  // keeps values alive that user functions returned
};

/// Key of the draws of one operation for one row: counter = (draw / 4, operation, pass, position).
struct DrawKey {
  uint64_t seed_key = 0;
  uint32_t op = 0;
  uint64_t pass = 0;
  int64_t position = 0;
  PhiloxSequence sequence() const {
    // Positions beyond 2^32 and passes beyond 2^32 go into the key, so that the counter words stay 32 bits.
    const uint64_t high = (static_cast<uint64_t>(position) >> 32) | (pass & 0xffffffff00000000ull);
    return {high == 0 ? seed_key : hash_combine(seed_key, high), op, static_cast<uint32_t>(pass), static_cast<uint32_t>(position)};
  }
};
inline uint64_t seed_key(int64_t seed) { return mix64(static_cast<uint64_t>(seed)); }

/// The destination of an operation's result: the batch slot if it is the last to change the column, else scratch.
struct Slot {
  uint8_t* data = nullptr;  // null: use scratch
  DType dtype = DType::kUInt8;
  Shape shape;
};

/// One call of an operation.
class RowCall {
 public:
  RowCall(Scratch& s, DrawKey key, std::span<const Value> in, std::span<Value> out, std::span<const Slot> slots)
      : scratch(s), draws_key(key), inputs(in), outputs(out), slots_(slots) {}
  /// Memory for output k; sets outputs[k].
  uint8_t* output(size_t k, DType dtype, const Shape& shape);
  /// Makes output k an existing value (a view), copied into the slot if there is one.
  void forward(size_t k, const Value& v);
  PhiloxSequence draws() const { return draws_key.sequence(); }

  Scratch& scratch;
  DrawKey draws_key;
  std::span<const Value> inputs;
  std::span<Value> outputs;

 private:
  std::span<const Slot> slots_;
};

/// An operation on a row. Immutable: everything that changes between rows is passed with the call.
class RowOp {
 public:
  virtual ~RowOp() = default;
  /// Name with parameters, for messages and the fingerprint.
  virtual std::string str() const = 0;
  virtual bool random() const { return false; }
  /// Whether exceptions make a bad sample. Those of user functions pass through instead, unless they are BadSample.
  virtual bool native() const { return true; }
  /// Number of inputs; 0: any.
  virtual int num_inputs() const { return 1; }
  virtual int num_outputs() const { return 1; }
  /// Types and shapes of the results. Throws if the inputs are unusable for every row.
  virtual std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const = 0;
  virtual void run(RowCall& call) const = 0;
};

/// "uint8[32, 32, 3]", for messages.
std::string value_str(const Value& v);

}  // namespace sindri::dataset
