// What writing and reading .ckpt share: protobuf's wire format, MindSpore's dtype names, and the integrity text.
//
// The file is one proto2 message (mindspore-ai/mindspore: mindspore/ccsrc/utils/checkpoint.proto)
//   Checkpoint  { repeated Value value = 1; }
//   Value       { required string tag = 1; oneof { TensorProto tensor = 2; MapTensorProto maptensor = 3; } }
//   TensorProto { repeated int64 dims = 1; required string tensor_type = 2; required bytes tensor_content = 3; }
// The integrity text comes first, as field 15 of Checkpoint, which other readers skip. (Earlier files of Sindri 0.1 store it as a value named
// kIntegrityName, which still verifies.) The file ends with "crc_num" and ten bytes, the big-endian CRC-32 of everything before it.
//
// The format is coded by hand because libprotobuf holds a message whole and is limited to 2 GiB. Here tensors are written and read one by one.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train::ckpt {

inline constexpr const char* kIntegrityName = "sindri.integrity";
inline constexpr uint32_t kIntegrityField = 15;
inline constexpr char kTrailerMark[] = "crc_num";
inline constexpr int64_t kTrailerBytes = 17;
inline constexpr size_t kMaxTagBytes = 1024;
inline constexpr int64_t kMaxEntries = 1 << 20;

// Returns MindSpore's name ("Float32"); empty for a name or type that has none.
const char* type_name(DType t);
bool parse_type_name(const std::string& name, DType* t);

// An integer type that files have and tensors do not: its size, and the type that holds its values.
struct NarrowType {
  const char* name;
  int64_t bytes;
  bool is_signed;
  DType wide;
};
const NarrowType* find_narrow_type(const std::string& name);  // null for any other name
// Widens its elements into `wide`, and narrows them back. Returns false if a value does not fit.
bool widen(const NarrowType& type, const char* from, int64_t count, void* to);
bool narrow(const NarrowType& type, const Tensor& from, std::string* to);

// Checksums, accumulated over a file. An entry's digest covers its name, type, dims and content, so that a flipped bit in any of them is detected.
class Integrity {
 public:
  void begin(const std::string& name, const std::string& type, const std::vector<int64_t>& dims);
  void content(const void* data, int64_t bytes);
  void end();
  int64_t entries() const { return static_cast<int64_t>(digests_.size()); }
  // "sindri-integrity 1\nentries N\nbytes B\n<16 hex digits per entry>\nself <xxh64 of all before>\n"
  std::string text() const;

  Integrity() = default;
  Integrity(const Integrity&) = delete;
  Integrity& operator=(const Integrity&) = delete;
  ~Integrity() { XXH64_freeState(state_); }

 private:
  XXH64_state_t* state_ = XXH64_createState();
  std::vector<uint64_t> digests_;
  int64_t bytes_ = 0;
};

// Returns the name of the file that holds the integrity text of a mindspore1 checkpoint.
inline std::string sum_path(const std::string& path) { return path + ".sum"; }

}  // namespace sindri::train::ckpt
