// The mpi backend, for ranks started by mpirun, srun or another MPI launcher.
#pragma once

#include <memory>
#include <string>

#include "sindri/comm/communicator.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// Joins the job: initialises MPI unless the program has, and uses a duplicate of MPI_COMM_WORLD. Writes the session's
/// identity (rank, size, local rank and size) and host_of. Session::close() finalizes MPI if this call initialised it and the
/// job has not failed. Throws CommError: kCommLibrary; kRendezvous if the session's identity (source not "none") differs.
std::shared_ptr<Communicator> open_mpi_world(const std::shared_ptr<Session>& session);

/// Returns whether an MPI launcher started this process: mpirun, or one that uses PMI (srun --mpi=pmix).
bool launched_by_mpi();

/// Returns rank 0's `text` on all ranks, for data that they need to meet elsewhere (the store's address). Must precede
/// any other call of the session.
std::string mpi_broadcast_text(const std::string& text);

/// The MPI library's own calls, for comparison: in place, float32 sums. Only on worlds of this backend.
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
