// The functions of the Gloo library that the gloo backend uses, as a table of C functions. The only file that includes
// Gloo's headers (gloo_plugin/) is built as a separate library, libsindri_gloo.so, which is opened when the backend is
// requested. So libsindri runs without Gloo, and its start does not pay for loading Gloo with its RDMA and Redis libraries.
#pragma once

#include <cstdint>

namespace sindri::comm {

/// An error message of a function, truncated to fit.
struct GlooError {
  char text[512];
};

/// The connections of one rank to all others, and a message in flight.
struct GlooMesh;
struct GlooMessage;

struct GlooTable {
  static constexpr int kVersion = 1;
  int version;

  /// Listens at a numeric address of this host, with a separate port for each other rank. Returns null on error. A
  /// thread of the mesh moves the data.
  GlooMesh* (*open)(const char* address, int rank, int size, int64_t connect_ms, GlooError* error);
  /// Writes the endpoint that `peer` passes to its connect(). Returns the number of bytes, or -1 on error.
  int (*address)(GlooMesh* mesh, int peer, char* bytes, int capacity, GlooError* error);
  /// Waits for the connection to the peer, which must call connect() too. Returns 0, or -1 on error. May be called for
  /// several peers at once.
  int (*connect)(GlooMesh* mesh, int peer, const char* bytes, int size, GlooError* error);
  /// Closes all connections at once. Waits end.
  void (*cut)(GlooMesh* mesh);
  /// Shuts down in order.
  void (*close)(GlooMesh* mesh);

  /// Posts a send to the peer or a receive from it, matched by slot and order. The memory must stay valid until
  /// release(). Returns null on error.
  GlooMessage* (*post)(GlooMesh* mesh, int peer, void* data, int64_t bytes, uint64_t slot, int send, GlooError* error);
  /// Returns 0: done; 1: aborted; -1: error. Has no time limit, as Gloo closes all connections when one wait exceeds its limit.
  int (*wait)(GlooMessage* message, GlooError* error);
  /// Ends wait(), from another thread, or the next wait().
  void (*abort)(GlooMessage* message);
  void (*release)(GlooMessage* message);
};

/// The plugin's only symbol.
constexpr const char* kGlooTableSymbol = "sindri_gloo_table";
using GlooTableFunction = const GlooTable* (*)();

}  // namespace sindri::comm
