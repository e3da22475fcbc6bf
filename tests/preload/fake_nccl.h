// The interface between the tests and the fake NCCL (fake_nccl.cc).
#pragma once

namespace sindri::fake_nccl {

/// A cudaStream_t of the tests: submitted work runs later, in order, on another thread.
struct Stream {
  void (*put)(Stream* self, void (*run)(void*), void* argument);
};

/// A fault that occurs once. Ranks are those of the communicator; `after`: at the n-th time from now on, 1 for the next.
enum Fault : int {
  kNoId,  ///< ncclGetUniqueId returns `result`
  kInitRefused,  ///< ncclCommInitRankConfig returns `result` on the rank
  kInitNeverDone,  ///< the rank's communicator stays in progress, and so do all others
  kInitFails,  ///< creating it ends with `result` on the rank
  kRefused,  ///< a group's end returns `result` on the rank
  kAsync,  ///< the rank's call does nothing, and its communicator has the error `result` from then on
  kHang,  ///< the rank's call never ends
};

}  // namespace sindri::fake_nccl

extern "C" {
/// Clears faults and counts; sets the version, and how often a state is queried until the operation in progress is done.
void fake_nccl_reset(int version, int slow);
void fake_nccl_fault(sindri::fake_nccl::Fault fault, int rank, int after, int result);
/// Calls of a function so far, by its name without "nccl"; "live": communicators that are neither destroyed nor aborted.
long fake_nccl_count(const char* name);
}
