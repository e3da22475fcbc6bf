// The interface between sources of rows and the pipeline.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataset/row.h"

namespace sindri::dataset {

/// Two hashes: of names with sizes or contents, and of the modification times. The latter is 0 if the contents are hashed.
struct FilesHash {
  uint64_t files = 0, times = 0;
};

/// A listing of rows. open() does everything that needs a file and runs once, before any other call. After that all methods are
/// thread-safe and hold no hidden state.
class Source {
 public:
  virtual ~Source() = default;
  /// Name and parameters that decide the rows, without folder names (a dataset may move between runs).
  virtual std::string str() const = 0;
  virtual void open() = 0;
  virtual int64_t rows() const = 0;
  virtual std::vector<ColumnInfo> columns() const = 0;
  /// Hash of the listing, for the fingerprint.
  virtual uint64_t listing_hash() const = 0;
  /// Distinguishes these files from others with the same listing, for resumed runs. `contents`: reads all bytes instead of sizes and times.
  virtual FilesHash files_hash(bool contents) const {
    (void)contents;
    return {listing_hash(), 0};
  }
  /// Fills one value per column; they stay valid until the scratch arena is reset. Only sequential sources use `pass`.
  virtual void read(uint64_t pass, int64_t row_id, Scratch& scratch, std::span<Value> out) const = 0;
  /// File or record, for messages.
  virtual std::string row_name(int64_t row_id) const = 0;
  virtual std::map<std::string, int32_t> class_indexing() const { return {}; }
  virtual std::optional<int64_t> num_classes() const { return {}; }
  /// False if exceptions come from a user function.
  virtual bool native() const { return true; }
  /// For sequential sources: a function that fills the rows of a pass in sequence and returns false at its end.
  virtual std::function<bool(std::vector<Tensor>*)> open_pass(uint64_t pass) const {
    (void)pass;
    return {};
  }
  /// Whether rows are read in sequence from row 0 of each pass.
  virtual bool sequential() const { return false; }
};

/// Reads a whole file into scratch. Throws IoError naming the file.
Value read_file(const std::string& path, Scratch& scratch);

/// Returns the bytes of a regular file, read to its end: unlike a mapping they stay valid if the file is truncated meanwhile. `who`: the caller, for
/// messages. Throws IoError.
std::vector<uint8_t> read_plain_file(const std::string& path, const std::string& who);
/// Creates or replaces a regular file. If `path` is a symbolic link, its target is replaced. Other processes see the old or the whole new file;
/// permissions are kept. Does not wait for the disk. `who`: the caller, for messages. Throws IoError.
void write_plain_file(const std::string& path, const uint8_t* data, int64_t bytes, const std::string& who);

/// Read-only bytes of a file, mapped. Throws IoError.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const uint8_t* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  uint64_t content_hash(uint64_t seed) const;

 private:
  std::string path_;
  const uint8_t* data_ = nullptr;
  int64_t bytes_ = 0;
};

/// Whether `path` is a folder or a link to one. Returns false only if there is none: throws IoError if the system cannot tell.
bool is_folder(const std::string& path);

/// Checks that `dir` can be read as a folder and lists it, sorted by byte value. Throws IoError(kIo) or DataError(kDataMissing).
struct DirEntry {
  std::string name;
  unsigned char type;
};  // type: DT_DIR, DT_REG, DT_LNK, DT_UNKNOWN as readdir gives it
std::vector<DirEntry> list_folder(const std::string& dir, const char* who);

}  // namespace sindri::dataset
