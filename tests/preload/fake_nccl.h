// What the tests and the NCCL that is none (fake_nccl.cc) know of each other.
#pragma once

namespace sindri::fake_nccl {

/// A cudaStream_t of the tests: work that is put there runs later, in order, on another thread.
struct Stream {
  void (*put)(Stream* self, void (*run)(void*), void* argument);
};

/// What goes wrong, once. Ranks are those of the communicator; `after`: at the n-th time from now on, 1 for the next.
enum Fault : int {
  kNoId,  ///< ncclGetUniqueId gives `result`
  kInitRefused,  ///< ncclCommInitRankConfig gives `result` on the rank
  kInitNeverDone,  ///< the rank's communicator stays in progress, and so do all others'
  kInitFails,  ///< making it ends with `result` on the rank
  kRefused,  ///< a group's end gives `result` on the rank
  kAsync,  ///< the rank's call does nothing, and its communicator has the error `result` from then on
  kHang,  ///< the rank's call does not come to an end
};

}  // namespace sindri::fake_nccl

extern "C" {
/// Forgets faults and counts; the version it tells; how often a state is asked for until what is under way is done.
void fake_nccl_reset(int version, int slow);
void fake_nccl_fault(sindri::fake_nccl::Fault fault, int rank, int after, int result);
/// Calls of a function so far, by its name less "nccl"; "live": communicators that are neither destroyed nor aborted.
long fake_nccl_count(const char* name);
}
