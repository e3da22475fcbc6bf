// A store of image files whose JPEG files have restart markers. A window of such an image can be decoded without the
// parts above and next to it.
#pragma once

#include <cstdint>
#include <string>

#include "sindri/export.h"

namespace sindri::dataset {

/// Results of prepare_seekable(), in files and bytes.
struct SeekableReport {
  int64_t files = 0;  ///< files below `source`
  int64_t rewritten = 0;  // JPEG files that now have markers
  int64_t unsuited = 0;  // copied unchanged: other formats, progressive, CMYK or damaged JPEG files
  int64_t kept = 0;  // already in the store, made from the same source
  int64_t orphaned = 0;  // files of the store whose source was removed or renamed; they stay
  int64_t bytes_in = 0, bytes_out = 0;  ///< bytes read from `source` and written to the store
};

/// Copies all files below `source` (symbolic links to files are followed) to the same places below `destination`. JPEG
/// files get restart markers about every 32 pixels, without loss: coefficients and metadata stay unchanged, and any
/// JPEG reader opens them. Files whose source still has the size and content they were made from are kept, so a second
/// call continues an interrupted one; `.seekable.jsonl` in the destination lists what each file was made from. A file
/// gets its final name once its content is on disk. workers 0: min(8, usable cores). Throws IoError, or ValueError if
/// one folder is inside the other.
SINDRI_API SeekableReport prepare_seekable(const std::string& source, const std::string& destination, int workers = 0);

}  // namespace sindri::dataset
