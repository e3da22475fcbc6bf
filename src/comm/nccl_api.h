// The part of NCCL's C interface (2.18 and newer) that Sindri uses, declared here and loaded from libnccl.so.2 at run
// time: a build needs nothing of CUDA, and a program without GPUs never loads it. Values are those of nccl.h of 2.28;
// if that header is available, nccl_check.cc compares them at compile time.
#pragma once

#include <climits>
#include <cstddef>
#include <string>

namespace sindri::comm::nccl {

enum Result : int { kSuccess, kUnhandledCudaError, kSystemError, kInternalError, kInvalidArgument, kInvalidUsage, kRemoteError, kInProgress };
enum Type : int { kUint8 = 1, kInt32 = 2, kInt64 = 4, kFloat16 = 6, kFloat32 = 7, kFloat64 = 8, kBfloat16 = 9 };
enum Op : int { kSum, kProd, kMax, kMin, kAvg };

constexpr int kIdBytes = 128;
struct Id {
  char internal[kIdBytes];
};
struct CommState;
using Comm = CommState*;

/// ncclConfig_t as of 2.18. Later versions append to it; the library accepts the older form by `size` and `version`.
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21800;
  int blocking = INT_MIN;  // INT_MIN: the library's default, also for the members below
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

constexpr int kOldest = 21800;  ///< oldest supported version, as returned by version(); it has non-blocking communicators that can be finalized

/// The library's functions, named as there without "nccl". Streams are cudaStream_t (Stream::native_handle).
struct Api {
  Result (*GetVersion)(int* version) = nullptr;
  Result (*GetUniqueId)(Id* id) = nullptr;
  Result (*CommInitRankConfig)(Comm* comm, int ranks, Id id, int rank, Config* config) = nullptr;
  Result (*CommGetAsyncError)(Comm comm, Result* state) = nullptr;
  Result (*CommFinalize)(Comm comm) = nullptr;
  Result (*CommDestroy)(Comm comm) = nullptr;
  Result (*CommAbort)(Comm comm) = nullptr;
  const char* (*GetErrorString)(Result result) = nullptr;
  const char* (*GetLastError)(Comm comm) = nullptr;
  Result (*GroupStart)() = nullptr;
  Result (*GroupEnd)() = nullptr;
  Result (*AllReduce)(const void* in, void* out, size_t count, Type type, Op op, Comm comm, void* stream) = nullptr;
  Result (*Reduce)(const void* in, void* out, size_t count, Type type, Op op, int root, Comm comm, void* stream) = nullptr;
  Result (*Broadcast)(const void* in, void* out, size_t count, Type type, int root, Comm comm, void* stream) = nullptr;
  Result (*AllGather)(const void* in, void* out, size_t count, Type type, Comm comm, void* stream) = nullptr;
  Result (*ReduceScatter)(const void* in, void* out, size_t count, Type type, Op op, Comm comm, void* stream) = nullptr;
  Result (*Send)(const void* in, size_t count, Type type, int peer, Comm comm, void* stream) = nullptr;
  Result (*Recv)(void* out, size_t count, Type type, int peer, Comm comm, void* stream) = nullptr;

  int version = 0;  ///< 22803 is 2.28.3
  std::string path;  ///< of the file that was loaded
};

/// "2.28.3"
std::string version_text(int version);

/// Loads a file. If the name is empty, loads the one in SINDRI_NCCL_LIBRARY, else libnccl.so.2: the copy that the
/// process has already loaded, or the one that the dynamic linker finds. Another framework may have loaded a copy, and
/// two copies do not work together. Throws CommError (kCommLibrary) that says how to get one, and which version is
/// needed.
Api load(const std::string& file = "");

}  // namespace sindri::comm::nccl
