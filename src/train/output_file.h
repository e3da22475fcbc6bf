// A file that the user named for a JSON result (--json). Unlike a checkpoint it may be anything that can be written to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sindri/export.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

/// Opened before the work starts, so that a path that cannot be written, or that holds something other than JSON (check_replaceable), is reported early. A
/// plain file, directly or through a symbolic link, is replaced when its new content is on disk. A device, a pipe, a file with several hard links and the file
/// that standard output goes to are written in place: replacing them would leave a plain file instead.
class SINDRI_API OutputFile {
 public:
  OutputFile(const std::string& path, std::string what);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Writes the whole content, once.
  void write(std::string_view content);

 private:
  void open_through(const std::string& path, int more_flags);

  std::string path_, what_;
  std::unique_ptr<AtomicFile> atomic_;
  int fd_ = -1;
  bool truncate_ = false;
};

}  // namespace sindri::train
