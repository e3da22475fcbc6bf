// Communicators: groups of ranks that train together, and collectives between them.
//
//   sindri::comm::init();                                   // rank and world from environment, rank table, mpirun, … (docs/guide/distributed.md)
//   sindri::comm::world().all_reduce(x, x, n, DType::kFloat32, ReduceOp::kSum, {"gradient bucket", 1});
//
// A call blocks the calling thread until this rank's part is done. Calls that run concurrently with computation are ops
// (ops/comm), whose lane has a separate thread or stream. All members make the same calls in the same order. Without init() the
// world is one rank, and every call below works for one member, so programs need no `if distributed`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/error.h"
#include "sindri/export.h"

namespace sindri {

class Stream;

/// Reduction of the ranks' values. 16-bit floats are summed in float32 and rounded when stored. kMean is kSum times 1/size, for
/// floating types only. kMax and kMin propagate NaN.
enum class ReduceOp : uint8_t { kSum, kMean, kMax, kMin, kProd };
/// Name of a reduction.
SINDRI_API const char* reduce_op_name(ReduceOp op);

namespace comm {

struct Session;

/// Purpose of a call, for errors, call logs and timelines. `stream` is the stream on which NCCL puts the call; null on the CPU.
struct Call {
  const char* what = "";  ///< purpose, such as "gradient bucket"
  int index = 0;  ///< number among calls of that purpose
  Stream* stream = nullptr;  ///< stream for NCCL; null on the CPU
};

/// A part of a buffer that is not contiguous; `in` and `out` may be the same memory.
struct Piece {
  const void* in;  ///< input elements
  void* out;  ///< result elements
  int64_t count;  ///< elements
};

/// Options of init(). Each is the setting dist.* of the same name (docs/settings.md).
struct Options {
  std::string backend = "auto";  ///< auto, single, mpi, gloo, nccl
  std::string rank_table = "";  ///< file; empty: from the environment
  std::string interface = "";  ///< name or subnet; empty: the interface that routes to the rendezvous host
  std::string job_id = "";  ///< empty: made by rank 0
  double init_timeout = 120;  ///< seconds for all ranks to join
  double op_warn = 30;  ///< seconds that a call waits before a warning names the missing ranks
  double op_timeout = 600;  ///< seconds that a call waits before the job ends
  double heartbeat = 1;  ///< seconds between heartbeats
  double lost_after = 8;  ///< seconds without a heartbeat after which a rank counts as lost
  bool check = false;  ///< compare each call's descriptor and result between ranks
  bool strict_order = true;  ///< sum along one fixed tree over ranks in every layout (docs/design/distributed.md)
  double test_delay_us = 0;  ///< tests: latency of each message between hosts
};

/// An ordered group of ranks, numbered 0 … size()-1; world() has all. Every call throws CommError with the code of the failure
/// (kPeerLost, kCommTimeout, kCommMismatch, kCommLibrary, …); after that all later calls throw it, too. Throws ValueError for
/// arguments that cannot be valid on any rank, and DeviceError for a stream that the backend does not support. Pointers are host
/// memory unless Call::stream is set. Zero elements are allowed.
class SINDRI_API Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }  ///< name of the group, for messages
  int rank() const { return rank_; }  ///< this process's rank, from 0
  int size() const { return static_cast<int>(members_.size()); }  ///< number of ranks
  /// World ranks of the members, in order.
  const std::vector<int>& members() const { return members_; }
  /// Name of the backend: "single", "threads", "mpi", "gloo", "nccl".
  virtual const char* backend() const = 0;
  /// Place among the members on this process's host; hosts are numbered by their first rank.
  int local_rank() const;
  int local_size() const;  ///< number of members on this host
  int host_index() const;  ///< number of this host
  int host_count() const;  ///< number of hosts

  /// Reduces over all ranks; every rank receives the result. `out` may be `in`.
  void all_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call = {});
  /// Reduces all pieces at once, as if they were contiguous.
  void all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, const Call& call = {});
  /// Reduces to `root`; other ranks' `out` is not written.
  void reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, const Call& call = {});
  /// Copies `root`'s data to all ranks.
  void broadcast(void* data, int64_t count, DType dtype, int root, const Call& call = {});
  /// Gathers `count` elements of each rank. out: size() parts of `count` elements, in rank order.
  void all_gather(const void* in, void* out, int64_t count, DType dtype, const Call& call = {});
  /// Gathers counts[r] elements of each rank r. All ranks pass the same counts.
  void all_gather_v(const void* in, void* out, std::span<const int64_t> counts, DType dtype, const Call& call = {});
  /// Reduces and distributes the result. in: size() parts of `count` elements; out: this rank's part of their reduction.
  void reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call = {});
  /// Exchanges parts. in and out: size() parts of `count` elements; part r is sent to, and received from, rank r.
  void all_to_all(const void* in, void* out, int64_t count, DType dtype, const Call& call = {});
  /// Sends to one rank, which calls recv().
  void send(const void* data, int64_t count, DType dtype, int to, const Call& call = {});
  /// Receives from one rank, which calls send().
  void recv(void* data, int64_t count, DType dtype, int from, const Call& call = {});
  /// Sends and receives at once, so that two ranks cannot deadlock. Only this call can send to the rank itself; send() and recv()
  /// then throw CommError (kCommMismatch).
  void send_recv(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from, DType dtype, const Call& call = {});
  /// Waits until all ranks have called it.
  void barrier(const Call& call = {});
  /// Gathers a string from each rank; every rank receives all of them, in rank order.
  std::vector<std::string> all_gather_text(const std::string& text, const Call& call = {});

  /// Memory that the backend reduces without copying it first (a shared window), 64-byte aligned and zeroed. Collective, with the
  /// same size on all ranks. Valid as long as both the handle and the communicator live. Throws IoError (kMemory) if the memory
  /// cannot be allocated.
  virtual std::shared_ptr<void> flat_buffer(int64_t bytes);
  /// Makes a communicator of these ranks of this communicator, in the given order. All of them call it at the same time with the
  /// same name. Throws ValueError for a rank listed twice or a caller that is not listed.
  std::shared_ptr<Communicator> group(std::span<const int> ranks, const std::string& name);
  /// Groups the ranks that pass the same `color`, ordered by `key`, then by rank; null if `color` is negative. Collective
  /// (MPI_Comm_split).
  std::shared_ptr<Communicator> split(int color, int key);

  /// Throws CommError if the job has failed: another rank reported a failure, or the thread that watches the ranks found one.
  void check() const;
  const std::shared_ptr<Session>& session() const { return session_; }

 protected:
  Communicator(std::shared_ptr<Session> session, std::string name, std::vector<int> members, int rank);
  /// Implemented by backends. Arguments are already checked; calls come one at a time. `pieces` are the parts of one reduction;
  /// `count` is in elements.
  virtual void do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream* stream) = 0;
  virtual void do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream* stream) = 0;
  virtual void do_broadcast(void* data, int64_t bytes, int root, Stream* stream) = 0;
  virtual void do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream* stream) = 0;
  virtual void do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream* stream) = 0;
  virtual void do_all_to_all(const void* in, void* out, int64_t bytes, Stream* stream) = 0;
  /// Either side may be absent (rank -1).
  virtual void do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream* stream) = 0;
  virtual void do_barrier() = 0;
  /// Whether calls may have a stream.
  virtual bool takes_streams() const { return false; }
  virtual std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks, const std::string& name) = 0;

 private:
  friend class NcclCommunicator;  // forwards calls on host memory to another communicator
  template <class F> void run(const char* kind, DType dtype, int64_t count, const Call& call, F body);
  void check_rank(const char* kind, const char* argument, int rank) const;
  void check_itself(int to, int64_t out_bytes, int from, int64_t in_bytes) const;
  bool checking() const;
  void compare_calls(const std::string& text, const Call& call);
  void compare_results(const std::vector<std::pair<const void*, int64_t>>& parts, const Call& call);
  std::shared_ptr<Session> session_;
  std::string name_;
  std::vector<int> members_;
  int rank_;
  int splits_ = 0;
  int64_t compared_ = 0;
};

/// Joins the group that this process was started in and makes its world the runtime's. A second call with the same options has no
/// effect. Throws ValueError for a second call with other options, and SettingsError or CommError (kRendezvous, kLaunchedAlone)
/// that says what was found.
SINDRI_API Communicator& init(const Options& options = {});
/// Whether init() has been called in this runtime.
SINDRI_API bool initialized();
/// The communicator of all ranks; one rank before init().
SINDRI_API Communicator& world();
/// Leaves the group after a barrier; the world is one rank again. Also called at exit.
SINDRI_API void finalize();

/// A named group of the world, for ops; "world" is the world itself. Throws ValueError, listing the existing names, for an
/// unknown name.
SINDRI_API Communicator& find_group(const std::string& name);
/// Creates a named group of world ranks, in order. All of its members must call it. Throws ValueError for a name in use, and for
/// ranks that do not exist or are listed twice.
SINDRI_API Communicator& create_group(const std::string& name, std::span<const int> ranks);
/// Removes a named group.
SINDRI_API void destroy_group(const std::string& name);

/// Ends the job because of this rank: the calls of all ranks throw `code`, naming the rank and the reason. For errors that only
/// one rank meets (data, disk).
SINDRI_API void abort(const std::string& reason, ErrorCode code = ErrorCode::kRankData);

/// Runs `f(rank)` on `size` ranks that are threads of this process, each in its own runtime with a world of `size`; for tests and
/// single machines. Rethrows the first error; a rank that returns early or throws ends the calls that wait for it. `local_size`
/// is the number of ranks per simulated host; 0: one host.
SINDRI_API void run_ranks(int size, const std::function<void(int rank)>& f, int local_size = 0, const Options& options = {});

}  // namespace comm
}  // namespace sindri
