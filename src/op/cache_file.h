// Files in the cache folder that several processes change: kernels.json (kernel_choice.cc), plans.json of the CUDA backend.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

/// Returns the path of `name` in the cache folder: SINDRI_CACHE_DIR, else $XDG_CACHE_HOME/sindri or ~/.cache/sindri.
/// Empty if HOME is not set.
SINDRI_API std::string cache_file(const std::string& name);

/// Prevents other processes from changing a cache file, by a lock on FILE.lock. If locking is not possible, or a
/// stopped process holds the lock for ten seconds, this process continues without the lock: at worst the two processes
/// make different choices.
class SINDRI_API CacheLock {
 public:
  explicit CacheLock(const std::string& file);
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  void wait() const;
  int fd_ = -1;
};

/// Replaces the file atomically: readers see the old text or the new one. Returns an empty string, or why it cannot be written.
SINDRI_API std::string replace_cache_file(const std::string& file, const std::string& text);

}  // namespace sindri
