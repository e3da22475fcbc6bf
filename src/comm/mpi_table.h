// What the mpi backend needs of an MPI library, as a table of C functions. The one file that includes mpi.h (mpi_plugin/) is built as a library of its
// own, libsindri_mpi.so, which is opened when the mpi backend is asked for: libsindri runs where there is no MPI, its start does not pay for loading one,
// and a site can build the plugin against its own MPI.
#pragma once

#include <cstdint>

namespace sindri::comm {

/// MPI's handles: pointers in Open MPI, numbers in MPICH.
struct MpiHandle {
  std::intptr_t bits = 0;
};

/// Every function that returns an int gives MPI's error code, 0 for success. Byte counts are 64-bit here; messages are at most INT_MAX bytes.
struct MpiTable {
  static constexpr int kVersion = 2;
  int version;

  const char* (*library)();  ///< "Open MPI v4.1.4, …", one line
  void (*error_text)(int code, char* text, int size);

  /// MPI_THREAD_SERIALIZED, unless the program has initialised MPI itself (*ours is 0 then). *serialized: whether the library gives that.
  int (*init)(int* ours, int* serialized);
  int (*initialized)();
  int (*finalized)();
  int (*finalize)();
  int (*processor)(char* name, int size);

  /// A duplicate of MPI_COMM_WORLD that returns errors.
  int (*world)(MpiHandle* comm, int* rank, int* size);
  /// The members that can share memory, in rank order.
  int (*split_host)(MpiHandle comm, MpiHandle* out);
  int (*split)(MpiHandle comm, int color, int key, MpiHandle* out);
  /// Called by the members only; `ranks` of `comm`.
  int (*group)(MpiHandle comm, const int* ranks, int count, int tag, MpiHandle* out);
  int (*size)(MpiHandle comm, int* rank, int* size);

  /// Memory that all ranks of `comm` see: `bytes` of each, in `bases` by rank. Collective.
  int (*window)(MpiHandle comm, int64_t bytes, MpiHandle* window, void** bases);

  /// MPI_Issend: ends when the other side has the message. An MPI_Isend that has ended may still have bytes to push, which nobody would do while the
  /// program computes.
  int (*isend)(MpiHandle comm, const void* data, int64_t bytes, int to, int tag, MpiHandle* request);
  int (*irecv)(MpiHandle comm, void* data, int64_t bytes, int from, int tag, MpiHandle* request);
  /// Drives the library. *done: how many requests have ended, which are null afterwards; -1 where all were null.
  int (*test_some)(int count, MpiHandle* requests, int* done);
  int (*is_null)(MpiHandle request);
  int (*tag_limit)(MpiHandle comm, int* largest);

  // Blocking; for what is exchanged once at the start, and for the library's own times in `sindri comm-bench`.
  int (*barrier)(MpiHandle comm);
  int (*broadcast)(MpiHandle comm, void* data, int64_t bytes, int root);
  int (*all_gather)(MpiHandle comm, const void* in, void* out, int64_t bytes);
  int (*all_reduce_float)(MpiHandle comm, float* data, int64_t count);  ///< in place, sum
  int (*reduce_float)(MpiHandle comm, const float* in, float* out, int64_t count, int root);
  int (*reduce_scatter_float)(MpiHandle comm, const float* in, float* out, int64_t count);
  int (*all_to_all)(MpiHandle comm, const void* in, void* out, int64_t bytes);
};

/// The plugin's one symbol.
using MpiTableFunction = const MpiTable* (*)();
inline constexpr const char* kMpiTableSymbol = "sindri_mpi_table";

}  // namespace sindri::comm
