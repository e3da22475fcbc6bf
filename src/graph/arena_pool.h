// Arenas that executables share. A run needs its arena only while it lasts, and a function called with many shapes has
// one executable for each; separate arenas would add up. So a run borrows an arena from a pool. The pool has as many
// arenas as there are concurrent runs (threads, functions that call others), none larger than the largest claim of a
// living executable. On an asynchronous device the next run may get an arena while the last run still waits in the
// stream: all runs of a device use its compute lane, which keeps their order.
#pragma once

#include <cstdint>
#include <memory>

#include "src/core/tensor_impl.h"

namespace sindri {

/// One executable's claim to an arena of at least `bytes`, used for one run at a time.
class ArenaClaim {
 public:
  explicit ArenaClaim(int64_t bytes, Device device = {});
  ~ArenaClaim();
  ArenaClaim(const ArenaClaim&) = delete;
  ArenaClaim& operator=(const ArenaClaim&) = delete;

  /// An arena for one run, returned to the pool when destroyed. Its contents are undefined.
  class Lease {
   public:
    explicit Lease(const ArenaClaim& claim);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    void* data() const { return storage_->data(); }

   private:
    std::unique_ptr<Storage> storage_;
    Device device_;
  };

 private:
  int64_t bytes_;
  Device device_;
};

struct ArenaStats {
  int64_t arenas = 0;  ///< borrowed or free
  int64_t bytes = 0;  ///< total of all arenas
};
ArenaStats arena_stats(Device device = {});

}  // namespace sindri
