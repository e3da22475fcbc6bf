// State that all communicators of a process share: its identity, the failure of the job, and the log of calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"

namespace sindri::comm {

/// Which rank this process is (docs/guide/distributed.md, "How a process finds its rank").
struct Identity {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  std::string host, address;  ///< of the rendezvous: address is "host:port", empty if the backend needs none
  std::string source = "none";  ///< "SINDRI_*", "rank table FILE", "torchrun", "Open MPI", "Slurm", …
  int device = -1;  ///< DEVICE_ID; -1: local_rank
  bool scheduler = false;  ///< MS_ROLE=MS_SCHED: keeps the store and is not a rank
  bool keeps_store = false;  ///< this process listens at the address: rank 0, or the scheduler
  std::string seed;  ///< data that the ranks share if no token was given (job_token())
};

struct CallRecord {
  int64_t number = 0;
  const char* kind = "";
  std::string what;
  int index = 0;
  int64_t bytes = 0;
  double entered = 0, left = 0;  ///< seconds since the epoch; left 0 while it runs
  double began = 0;  ///< now_seconds() at entry, for durations: the wall clock may be set meanwhile
  std::string group = "world";  ///< name of the communicator
  std::vector<int> members;  ///< its world ranks; empty: all
};

/// "89.4 MB"
std::string bytes_text(int64_t bytes);
/// all_reduce "gradient bucket 1" (89.4 MB)
std::string call_text(const char* kind, const std::string& what, int index, int64_t bytes);

/// Shared by the threads that communicate, the watch thread, and the writer of the call log. `mutex` serialises calls.
struct Session {
  Identity identity;
  Options options;
  std::vector<int> host_of;  ///< by world rank: index of its host
  std::mutex mutex;

  /// Returns why calls must not continue: set once, by a call that failed or by the watch; waits poll it. Null: no failure.
  std::shared_ptr<const CommError> failure() const;
  /// Sets the failure unless one is already set. Returns whether this call set it.
  bool fail(const CommError& error);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Throws failure(), if there is one.
  void check() const;
  /// Returns the cause of an error that a backend met (`Watch::judge`); pass the result to fail(). Set by the watch before the first call.
  std::function<CommError(const CommError&)> judge;
  /// Registers a function that the failing thread calls when fail() succeeds: informs the watch, wakes waits of the backend.
  void on_failure(std::function<void(const CommError&)> f);
  /// Registers a function that close() calls, the last one first: says BYE to the store, closes the transport.
  void on_close(std::function<void()> f);
  /// Shuts down in order, once. No communication is possible afterwards.
  void close();

  /// Call under `mutex`. `members`: world ranks, empty for all.
  CallRecord& enter(const char* kind, const Call& call, int64_t bytes, const std::string& group = "world", const std::vector<int>& members = {});
  void leave(CallRecord& record);
  std::vector<CallRecord> calls() const;  ///< the last 1024, the oldest first
  /// "step 1203, call 4812 all_reduce "gradient bucket 1" (89.4 MB)": the running or last call; empty before the first.
  std::string where() const;
  std::atomic<int64_t> call_number{0};
  std::atomic<int64_t> nanoseconds_in_calls{0};  ///< of all calls so far
  std::atomic<std::thread::id> trainer{};  ///< the thread whose steps are timed, if any
  std::atomic<int64_t> nanoseconds_trainer_in_calls{0};  ///< of the calls that it made itself
  std::atomic<int64_t> step{0};  ///< current training step, for heartbeats and messages
  std::atomic<const char*> phase{""};  ///< "data", "forward", …, a literal

 private:
  mutable std::mutex guard_;  // guards everything below
  std::atomic<bool> failed_{false};
  std::shared_ptr<const CommError> failure_;
  std::vector<std::function<void(const CommError&)>> listeners_;
  std::vector<std::function<void()>> closers_;
  std::vector<CallRecord> ring_;
};

}  // namespace sindri::comm
