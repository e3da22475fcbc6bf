// Divides the single workspace of a kernel.
#pragma once

#include <cstdint>

namespace sindri {

/// Offsets of 64-byte aligned regions of one workspace.
class WorkspaceLayout {
 public:
  int64_t add(int64_t bytes) {
    const int64_t at = size_;
    size_ += (bytes + 63) / 64 * 64;
    return at;
  }
  int64_t size() const { return size_; }

 private:
  int64_t size_ = 0;
};
inline void* workspace_at(void* workspace, int64_t offset) { return static_cast<char*>(workspace) + offset; }

}  // namespace sindri
