// What a source of rows offers to the pipeline.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataset/row.h"

namespace sindri::dataset {

/// Hash of names with sizes or contents, and of the times of last change; 0 where the contents are known.
struct FilesHash {
  uint64_t files = 0, times = 0;
};

/// A listing of rows. open() does whatever needs a file and runs once, before anything else is asked; afterwards all methods are
/// thread-safe and hold no hidden state.
class Source {
 public:
  virtual ~Source() = default;
  /// Name and parameters that decide the rows, without folder names (a data set may move between runs).
  virtual std::string str() const = 0;
  virtual void open() = 0;
  virtual int64_t rows() const = 0;
  virtual std::vector<ColumnInfo> columns() const = 0;
  /// Hash of the listing, for the fingerprint.
  virtual uint64_t listing_hash() const = 0;
  /// What tells these files from others of the same listing, for runs that are resumed. `contents`: read all bytes rather than sizes and times.
  virtual FilesHash files_hash(bool contents) const {
    (void)contents;
    return {listing_hash(), 0};
  }
  /// Fills one value per column; they stay valid until the scratch arena is reset. `pass` matters to sequential sources only.
  virtual void read(uint64_t pass, int64_t row_id, Scratch& scratch, std::span<Value> out) const = 0;
  /// File or record, for messages.
  virtual std::string row_name(int64_t row_id) const = 0;
  virtual std::map<std::string, int32_t> class_indexing() const { return {}; }
  virtual std::optional<int64_t> num_classes() const { return {}; }
  /// False where exceptions come from a function of the caller's.
  virtual bool native() const { return true; }
  /// Sequential sources: a function that fills one row after another of a pass, false at its end.
  virtual std::function<bool(std::vector<Tensor>*)> open_pass(uint64_t pass) const {
    (void)pass;
    return {};
  }
  /// True: rows come one after another from row 0 of each pass.
  virtual bool sequential() const { return false; }
};

/// Reads a whole file into scratch. Throws IoError naming the file.
Value read_file(const std::string& path, Scratch& scratch);

/// Bytes of a plain file, read to its end: unlike a mapping they stay when the file is cut short meanwhile. `who` asks, for messages. Throws IoError.
std::vector<uint8_t> read_plain_file(const std::string& path, const std::string& who);
/// Makes or replaces a plain file (one behind a symbolic link, the link stays), whole or not at all as others see it; permissions stay. The disk is
/// not waited for. `who` asks, for messages. Throws IoError.
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

/// Whether `path` is a folder, behind links too. False only where there is none: throws IoError when the system cannot tell.
bool is_folder(const std::string& path);

/// Checks that `dir` can be read as a folder and lists it, sorted by byte value. Throws IoError(kIo) or DataError(kDataMissing).
struct DirEntry {
  std::string name;
  unsigned char type;
};  // type: DT_DIR, DT_REG, DT_LNK, DT_UNKNOWN as readdir gives it
std::vector<DirEntry> list_folder(const std::string& dir, const char* who);

}  // namespace sindri::dataset
