// plans.json in the cache folder: the fastest measured engines of cuDNN and algorithms of cuBLASLt, by library version and
// GPU. May be used from any thread and process. If the file is missing, damaged or cannot be written, the only cost is time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sindri::cuda {

struct CachedChoice {
  std::string choice;  ///< as Candidate::choice
  double us = 0;  ///< measured time
  int64_t workspace = 0;  ///< bytes
  bool full = false;  ///< measured with SINDRI_TUNE=full
  int64_t at = 0;  ///< time of the measurement, in seconds since 1970
};

/// `owner`: library, its version and the GPU; `key`: the problem. The first call reads the file. A file that cannot be
/// read as a plan cache is reported once, in a warning, and renamed to plans.json.damaged. If the file only has choices
/// of other owners, one log line says so.
std::optional<CachedChoice> cached_choice(const std::string& owner, const std::string& key);
/// Reads the file again, adds the choice and replaces the file, under a lock. Keeps the newest 16 owners, and the
/// newest 2048 choices of each.
void keep_choice(const std::string& owner, const std::string& key, CachedChoice choice);

}  // namespace sindri::cuda
