// The mpi backend: ranks that mpirun, srun or another MPI launcher started.
#pragma once

#include <memory>
#include <string>

#include "sindri/comm/communicator.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// Joins the job: initialises MPI unless the program has, and works on a duplicate of MPI_COMM_WORLD. Writes the session's identity (rank, size, local rank
/// and size) and host_of. Session::close() ends MPI, when this began it and the job has not failed.
/// Throws CommError: kCommLibrary, kRendezvous where the identity in the session (source not "none") is another.
std::shared_ptr<Communicator> open_mpi_world(const std::shared_ptr<Session>& session);

/// Whether an MPI launcher started this process: mpirun, or one that speaks PMI (srun --mpi=pmix).
bool launched_by_mpi();

/// `text` of world rank 0, on all; before any other call of the session, for what ranks need to know to meet elsewhere (the store's address).
std::string mpi_broadcast_text(const std::string& text);

/// The library's own calls, for comparisons: in place, sums of float32. Only on worlds of this backend.
class MpiPlainCalls {
 public:
  explicit MpiPlainCalls(Communicator& world);
  void all_reduce(float* data, int64_t count);
  void reduce(const float* in, float* out, int64_t count, int root);
  void reduce_scatter(const float* in, float* out, int64_t count);
  void broadcast(void* data, int64_t bytes, int root);
  void all_gather(const void* in, void* out, int64_t bytes);
  void all_to_all(const void* in, void* out, int64_t bytes);
  void barrier();

 private:
  Session& session_;
};

}  // namespace sindri::comm
