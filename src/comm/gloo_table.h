// What the gloo backend needs of the Gloo library, as a table of C functions. The one file that includes Gloo's headers (gloo_plugin/) is built as a
// library of its own, libsindri_gloo.so, which is opened when the backend is asked for: libsindri runs where there is no Gloo, and its start does not pay
// for loading it with RDMA and Redis libraries behind it.
#pragma once

#include <cstdint>

namespace sindri::comm {

/// Where a function puts what went wrong: a text, cut to fit.
struct GlooError {
  char text[512];
};

/// The connections of one rank to all others, and a message on its way.
struct GlooMesh;
struct GlooMessage;

struct GlooTable {
  static constexpr int kVersion = 1;
  int version;

  /// Listens at a numeric address of this host, for the others each at a port of its own; null: see error. A thread of the mesh moves the data.
  GlooMesh* (*open)(const char* address, int rank, int size, int64_t connect_ms, GlooError* error);
  /// What `peer` connects to, for its connect(); the number of bytes, -1: see error.
  int (*address)(GlooMesh* mesh, int peer, char* bytes, int capacity, GlooError* error);
  /// Waits for the connection to the peer: its connect() makes the other end. 0, or -1: see error. May be called for several peers at once.
  int (*connect)(GlooMesh* mesh, int peer, const char* bytes, int size, GlooError* error);
  /// Cuts all connections at once. Waits end.
  void (*cut)(GlooMesh* mesh);
  /// The orderly end.
  void (*close)(GlooMesh* mesh);

  /// A send to, or a receive from, the peer, matched by slot and order. The memory stays until release(). Null: see error.
  GlooMessage* (*post)(GlooMesh* mesh, int peer, void* data, int64_t bytes, uint64_t slot, int send, GlooError* error);
  /// 0: done; 1: aborted; -1: see error. Without a time limit: Gloo cuts all connections at one.
  int (*wait)(GlooMessage* message, GlooError* error);
  /// Ends wait(), from another thread, or the next one.
  void (*abort)(GlooMessage* message);
  void (*release)(GlooMessage* message);
};

/// The plugin's one symbol.
constexpr const char* kGlooTableSymbol = "sindri_gloo_table";
using GlooTableFunction = const GlooTable* (*)();

}  // namespace sindri::comm
