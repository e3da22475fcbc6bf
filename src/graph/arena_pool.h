// Arenas that executables share. A run needs its arena only while it lasts, and a function that meets many shapes has an executable for each: with
// an arena of its own each, their memory would add up. So a run borrows one. There are as many as runs at a time (threads, functions that
// call others), and each is no larger than what one of the living executables asked for. On an asynchronous device the next run may get it while
// the last one still waits in the stream: all runs of a device are on its compute lane, which keeps their order.
#pragma once

#include <cstdint>
#include <memory>

#include "src/core/tensor_impl.h"

namespace sindri {

/// The claim of one executable to an arena of `bytes` (at least), which it uses for one run at a time.
class ArenaClaim {
 public:
  explicit ArenaClaim(int64_t bytes, Device device = {});
  ~ArenaClaim();
  ArenaClaim(const ArenaClaim&) = delete;
  ArenaClaim& operator=(const ArenaClaim&) = delete;

  /// An arena for one run; goes back when destroyed. Its contents are undefined.
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
  int64_t bytes = 0;  ///< of them together
};
ArenaStats arena_stats(Device device = {});

}  // namespace sindri
