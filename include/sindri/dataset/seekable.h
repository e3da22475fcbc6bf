// A store of JPEG files of which a window can be decoded without what lies above and beside it: the same pictures, with restart markers.
#pragma once

#include <cstdint>
#include <string>

#include "sindri/export.h"

namespace sindri::dataset {

/// What prepare_seekable() did, in files and bytes.
struct SeekableReport {
  int64_t files = 0;
  int64_t rewritten = 0;  // JPEG files that have markers now
  int64_t unsuited = 0;  // copied as they are: other formats, progressive, CMYK or damaged JPEG files
  int64_t kept = 0;  // there already, made of the same source
  int64_t orphaned = 0;  // there without a source: it was removed or renamed; they stay
  int64_t bytes_in = 0, bytes_out = 0;
};

/// Writes all files below `source` (symbolic links are followed for files) to the same places below `destination`, JPEG files with restart markers
/// about every 32 pixels and without loss: coefficients and texts stay as they are, any reader opens them. Files of which the source has the size and
/// the content that they were made of stay, so a run that was interrupted goes on; `.seekable.jsonl` there says what each was made of. A file has its
/// name once it is on disk. workers 0: min(8, usable cores). Throws IoError; ValueError where one folder lies inside the other.
SINDRI_API SeekableReport prepare_seekable(const std::string& source, const std::string& destination, int workers = 0);

}  // namespace sindri::dataset
