// plans.json in the cache folder: which engines of cuDNN and algorithms of cuBLASLt measured fastest, by library version and GPU. Any thread and process; a file
// that is missing, damaged or cannot be written costs time only.
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
  int64_t at = 0;  ///< when, in seconds since 1970
};

/// `owner`: library, its version and the GPU; `key`: the problem. The first call reads the file. A file of another kind is reported once, in a warning, and
/// renamed to plans.json.damaged. If it has choices of other owners only, one log line says so.
std::optional<CachedChoice> cached_choice(const std::string& owner, const std::string& key);
/// Reads the file again, adds the choice and replaces the file, under a lock. Of the owners the latest 16 stay, of each the latest 2048 choices.
void keep_choice(const std::string& owner, const std::string& key, CachedChoice choice);

}  // namespace sindri::cuda
