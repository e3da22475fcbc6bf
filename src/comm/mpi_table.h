// The functions of an MPI library that the mpi backend uses, as a table of C functions. The only file that includes mpi.h
// (mpi_plugin/) is built as a separate library, libsindri_mpi.so, which is opened when the mpi backend is requested. So
// libsindri runs without MPI, its start does not pay for loading one, and a site can build the plugin against its own MPI.
#pragma once

#include <cstdint>

namespace sindri::comm {

/// MPI's handles: pointers in Open MPI, numbers in MPICH.
struct MpiHandle {
  std::intptr_t bits = 0;
};

/// Functions that return an int return MPI's error code, 0 for success. Byte counts are 64-bit here; messages are at most INT_MAX bytes.
struct MpiTable {
  static constexpr int kVersion = 2;
  int version;

  const char* (*library)();  ///< "Open MPI v4.1.4, …", one line
  void (*error_text)(int code, char* text, int size);

  /// Initialises MPI with MPI_THREAD_SERIALIZED unless the program has initialised MPI itself (*ours is then 0).
  /// *serialized: whether the library provides that level.
  int (*init)(int* ours, int* serialized);
  int (*initialized)();
  int (*finalized)();
  int (*finalize)();
  int (*processor)(char* name, int size);

  /// Makes a duplicate of MPI_COMM_WORLD that returns errors.
  int (*world)(MpiHandle* comm, int* rank, int* size);
  /// Makes a communicator of the ranks that can share memory with this one, in rank order.
  int (*split_host)(MpiHandle comm, MpiHandle* out);
  int (*split)(MpiHandle comm, int color, int key, MpiHandle* out);
  /// Makes a communicator of these `ranks` of `comm`. Called by the members only.
  int (*group)(MpiHandle comm, const int* ranks, int count, int tag, MpiHandle* out);
  int (*size)(MpiHandle comm, int* rank, int* size);

  /// Allocates memory that all ranks of `comm` share: `bytes` for each, addresses in `bases` by rank. Collective.
  int (*window)(MpiHandle comm, int64_t bytes, MpiHandle* window, void** bases);

  /// MPI_Issend: completes when the receiver has the message. A completed MPI_Isend may still have bytes to send, and
  /// nothing would drive the library while the program computes.
  int (*isend)(MpiHandle comm, const void* data, int64_t bytes, int to, int tag, MpiHandle* request);
  int (*irecv)(MpiHandle comm, void* data, int64_t bytes, int from, int tag, MpiHandle* request);
  /// Drives the library. *done: number of requests that completed, which are null afterwards; -1 if all were null.
  int (*test_some)(int count, MpiHandle* requests, int* done);
  int (*is_null)(MpiHandle request);
  int (*tag_limit)(MpiHandle comm, int* largest);

  // Blocking; for exchanges at the start, and for the library's own times in `sindri comm-bench`.
  int (*barrier)(MpiHandle comm);
  int (*broadcast)(MpiHandle comm, void* data, int64_t bytes, int root);
  int (*all_gather)(MpiHandle comm, const void* in, void* out, int64_t bytes);
  int (*all_reduce_float)(MpiHandle comm, float* data, int64_t count);  ///< in place, sum
  int (*reduce_float)(MpiHandle comm, const float* in, float* out, int64_t count, int root);
  int (*reduce_scatter_float)(MpiHandle comm, const float* in, float* out, int64_t count);
  int (*all_to_all)(MpiHandle comm, const void* in, void* out, int64_t bytes);
};

/// The plugin's only symbol.
using MpiTableFunction = const MpiTable* (*)();
inline constexpr const char* kMpiTableSymbol = "sindri_mpi_table";

}  // namespace sindri::comm
