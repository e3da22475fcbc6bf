// Communicators: the ranks that train together, and the collective calls between them.
//
//   sindri::comm::init();                                   // who am I: environment, rank table, mpirun, … (docs/guide/distributed.md)
//   sindri::comm::world().all_reduce(x, x, n, DType::kFloat32, ReduceOp::kSum, {"gradient bucket", 1});
//
// A call blocks the calling thread until this rank's part is done; calls that are to run beside computing are ops (ops/comm), whose lane has a
// thread or a stream of its own. All members make the same calls in the same order. Without init() the world is one rank, and every call below does
// what it does for one member, so programs need no `if distributed`.
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

/// How values of ranks are put together. Sums of 16-bit floats are formed in float32 and rounded when stored; kMean is kSum times 1/size; kMax and
/// kMin hand NaN on.
enum class ReduceOp : uint8_t { kSum, kMean, kMax, kMin, kProd };
SINDRI_API const char* reduce_op_name(ReduceOp op);

namespace comm {

struct Session;

/// What a call is for: in errors, call logs and timelines. `stream`: of NCCL, where the call is put; null on the CPU.
struct Call {
  const char* what = "";
  int index = 0;
  Stream* stream = nullptr;
};

/// Part of a buffer that lies in several places: `in` and `out` may be the same memory.
struct Piece {
  const void* in;
  void* out;
  int64_t count;  ///< elements
};

/// Setting dist.* of the same name each (docs/settings.md).
struct Options {
  std::string backend = "auto";  ///< auto, single, mpi, gloo, nccl
  std::string rank_table = "";  ///< file; empty: what the environment says
  std::string interface = "";  ///< name or subnet; empty: the one that routes to the rendezvous host
  std::string job_id = "";  ///< empty: made by rank 0
  double init_timeout = 120;  ///< seconds until all ranks have come together
  double op_warn = 30;  ///< seconds a call waits before a warning names who is missing
  double op_timeout = 600;  ///< … before the job ends
  double heartbeat = 1;  ///< seconds between signs of life
  double lost_after = 8;  ///< seconds without one until a rank counts as lost
  bool check = false;  ///< compare each call's descriptor and result between ranks
  bool strict_order = true;  ///< sums along one fixed tree over ranks, whatever the layout (docs/design/distributed.md)
  double test_delay_us = 0;  ///< tests: latency of each message between hosts
};

/// Some ranks, in an order: world() has all. Its ranks are 0 … size()-1. Every call throws CommError with the code of what happened (kPeerLost,
/// kCommTimeout, kCommMismatch, kCommLibrary, …), and once one has, all later ones do. ValueError for arguments that could not be right on any rank.
/// Pointers are host memory unless Call::stream is set. Zero elements are allowed.
class SINDRI_API Communicator {
 public:
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  /// World ranks of the members, in order.
  const std::vector<int>& members() const { return members_; }
  /// "single", "threads", "mpi", "gloo", "nccl".
  virtual const char* backend() const = 0;
  /// Among the members: those of this process's host; hosts are numbered by their first rank.
  int local_rank() const;
  int local_size() const;
  int host_index() const;
  int host_count() const;

  /// out may be in.
  void all_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call = {});
  /// One reduction of all pieces, as if they lay one behind the other.
  void all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, const Call& call = {});
  /// `out` is written on `root` only.
  void reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, const Call& call = {});
  void broadcast(void* data, int64_t count, DType dtype, int root, const Call& call = {});
  /// out: size() parts of `count` elements, by rank.
  void all_gather(const void* in, void* out, int64_t count, DType dtype, const Call& call = {});
  /// Rank r gives counts[r] elements; the same counts on all ranks.
  void all_gather_v(const void* in, void* out, std::span<const int64_t> counts, DType dtype, const Call& call = {});
  /// in: size() parts of `count` elements; out: this rank's part of their reduction.
  void reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call = {});
  /// in and out: size() parts of `count` elements; part r goes to, and comes from, rank r.
  void all_to_all(const void* in, void* out, int64_t count, DType dtype, const Call& call = {});
  void send(const void* data, int64_t count, DType dtype, int to, const Call& call = {});
  void recv(void* data, int64_t count, DType dtype, int from, const Call& call = {});
  /// Both at once: cannot wait for each other. The one way of a rank to send to itself; send() and recv() throw CommError kCommMismatch then.
  void send_recv(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from, DType dtype, const Call& call = {});
  void barrier(const Call& call = {});
  /// The texts of all ranks, by rank, on every rank.
  std::vector<std::string> all_gather_text(const std::string& text, const Call& call = {});

  /// Memory that the backend reduces without a copy of its own (a shared window), 64-byte aligned and zero; the same size on all ranks, which all call
  /// it. Kept as long as the handle and the communicator.
  virtual std::shared_ptr<void> flat_buffer(int64_t bytes);
  /// A communicator of these members (ranks in this one, in their order), which all call it at the same time with the same name.
  std::shared_ptr<Communicator> group(std::span<const int> ranks, const std::string& name);
  /// Members of one colour, ordered by key, then rank; null for a negative colour. All ranks of this one call it.
  std::shared_ptr<Communicator> split(int color, int key);

  /// Throws what other ranks or the watch have found meanwhile.
  void check() const;
  const std::shared_ptr<Session>& session() const { return session_; }

 protected:
  Communicator(std::shared_ptr<Session> session, std::string name, std::vector<int> members, int rank);
  /// What backends do. Arguments are checked; calls come one at a time. `parts` is in pieces of one reduction; `count` in elements.
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
  friend class NcclCommunicator;  // whose calls of host memory are another communicator's
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

/// Joins the group that this process was started in, and makes its world the runtime's. A second call with the same options does nothing; with others
/// it is a ValueError. Throws SettingsError or CommError (kRendezvous, kLaunchedAlone) saying what was found.
SINDRI_API Communicator& init(const Options& options = {});
/// Whether init() was called in this runtime.
SINDRI_API bool initialized();
/// One rank before init().
SINDRI_API Communicator& world();
/// A barrier and an orderly end; the world is one rank again. Also at exit.
SINDRI_API void finalize();

/// Named groups of the world, for ops. "world" is the world. Throws ValueError for a name that is not there, with those that are.
SINDRI_API Communicator& find_group(const std::string& name);
/// Called by the members; world ranks in order. Throws ValueError for a name in use, ranks that are not there or twice.
SINDRI_API Communicator& create_group(const std::string& name, std::span<const int> ranks);
SINDRI_API void destroy_group(const std::string& name);

/// Ends the job because of this rank: all ranks' calls throw `code`, naming it and the reason. For errors that only one rank meets (data, disk).
SINDRI_API void abort(const std::string& reason, ErrorCode code = ErrorCode::kRankData);

/// `f(rank)` as ranks that are threads of this process, each in a runtime of its own with a world of `size`: for tests and single machines. Rethrows the
/// error that was there first; a rank that ends early or throws ends the calls that wait for it. `local_size`: ranks of a host, for layouts; 0: one host.
SINDRI_API void run_ranks(int size, const std::function<void(int rank)>& f, int local_size = 0, const Options& options = {});

}  // namespace comm
}  // namespace sindri
