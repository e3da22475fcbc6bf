// libsindri_mpi.so: implements the table of mpi_table.h with the MPI that this file is built against. Uses nothing of
// libsindri; no other file of Sindri includes mpi.h.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "src/comm/mpi_table.h"

namespace {

using sindri::comm::MpiHandle;
using sindri::comm::MpiTable;

template <class T> MpiHandle pack(T handle) {
  static_assert(sizeof(T) <= sizeof(MpiHandle::bits));
  MpiHandle h;
  std::memcpy(&h.bits, &handle, sizeof(T));
  return h;
}
template <class T> T unpack(MpiHandle h) {
  T handle;
  std::memcpy(&handle, &h.bits, sizeof(T));
  return handle;
}
MPI_Comm comm_of(MpiHandle h) { return unpack<MPI_Comm>(h); }

// Returns a communicator to the caller, set to return errors.
int give(int code, MPI_Comm comm, MpiHandle* out) {
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL) code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *out = pack(comm);
  return code;
}

const char* library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  if (char* const end = std::strpbrk(text, "\n\r")) *end = '\0';
  return text;
}

void error_text(int code, char* text, int size) {
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) std::snprintf(message, sizeof message, "error %d", code);
  std::snprintf(text, static_cast<size_t>(size), "%s", message);
}

int init(int* ours, int* serialized) {
  int there = 0, level = 0;
  int code = MPI_Initialized(&there);
  if (code != MPI_SUCCESS) return code;
  *ours = there == 0;
  code = there != 0 ? MPI_Query_thread(&level) : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  *serialized = level >= MPI_THREAD_SERIALIZED;
  return code;
}
int initialized() {
  int flag = 0;
  return MPI_Initialized(&flag) == MPI_SUCCESS && flag != 0;
}
int finalized() {
  int flag = 0;
  return MPI_Finalized(&flag) == MPI_SUCCESS && flag != 0;
}
int finalize() { return MPI_Finalize(); }
int processor(char* name, int size) {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  const int code = MPI_Get_processor_name(text, &length);
  std::snprintf(name, static_cast<size_t>(size), "%s", text);
  return code;
}

int comm_size(MpiHandle comm, int* rank, int* size) {
  const int code = MPI_Comm_rank(comm_of(comm), rank);
  return code != MPI_SUCCESS ? code : MPI_Comm_size(comm_of(comm), size);
}
int world(MpiHandle* comm, int* rank, int* size) {
  MPI_Comm copy = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (const int given = give(code, copy, comm); given != MPI_SUCCESS) return given;
  return comm_size(*comm, rank, size);
}
int split_host(MpiHandle comm, MpiHandle* out) {
  int rank = 0;
  if (const int code = MPI_Comm_rank(comm_of(comm), &rank); code != MPI_SUCCESS) return code;
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split_type(comm_of(comm), MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part);
  return give(code, part, out);
}
int split(MpiHandle comm, int color, int key, MpiHandle* out) {
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split(comm_of(comm), color, key, &part);
  return give(code, part, out);
}
int group(MpiHandle comm, const int* ranks, int count, int tag, MpiHandle* out) {
  MPI_Group all, some;
  int code = MPI_Comm_group(comm_of(comm), &all);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Group_incl(all, count, ranks, &some);
  MPI_Group_free(&all);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm part = MPI_COMM_NULL;
  code = MPI_Comm_create_group(comm_of(comm), some, tag, &part);
  MPI_Group_free(&some);
  return give(code, part, out);
}

int window(MpiHandle comm, int64_t bytes, MpiHandle* out, void** bases) {
  void* mine = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm_of(comm), &mine, &win);
  if (code != MPI_SUCCESS) return code;
  *out = pack(win);
  int size = 0;
  code = MPI_Comm_size(comm_of(comm), &size);
  for (int r = 0; r < size && code == MPI_SUCCESS; ++r) {
    MPI_Aint length = 0;
    int unit = 0;
    code = MPI_Win_shared_query(win, r, &length, &unit, &bases[r]);
  }
  return code;
}

int isend(MpiHandle comm, const void* data, int64_t bytes, int to, int tag, MpiHandle* out) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Issend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_of(comm), &request);
  *out = pack(request);
  return code;
}
int irecv(MpiHandle comm, void* data, int64_t bytes, int from, int tag, MpiHandle* out) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_of(comm), &request);
  *out = pack(request);
  return code;
}
int test_some(int count, MpiHandle* requests, int* done) {
  // Kept between calls, which come one at a time. Never destroyed: the last barrier runs at process exit, after
  // thread-local objects are destroyed.
  static std::vector<MPI_Request>& list = *new std::vector<MPI_Request>;
  static std::vector<MPI_Status>& statuses = *new std::vector<MPI_Status>;
  static std::vector<int>& indices = *new std::vector<int>;
  const auto n = static_cast<size_t>(count);
  list.resize(n);
  statuses.resize(n);
  indices.resize(n);
  for (size_t i = 0; i < n; ++i) list[i] = unpack<MPI_Request>(requests[i]);
  int code = MPI_Testsome(count, list.data(), done, indices.data(), statuses.data());
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < *done; ++i) {
      if (const int error = statuses[static_cast<size_t>(i)].MPI_ERROR; error != MPI_SUCCESS && error != MPI_ERR_PENDING) code = error;
    }
  }
  if (*done == MPI_UNDEFINED) *done = -1;
  else if (*done > 0) {
    for (size_t i = 0; i < n; ++i) requests[i] = pack(list[i]);
  }
  return code;
}
int is_null(MpiHandle request) { return unpack<MPI_Request>(request) == MPI_REQUEST_NULL; }
int tag_limit(MpiHandle comm, int* largest) {
  void* value = nullptr;
  int found = 0;
  const int code = MPI_Comm_get_attr(comm_of(comm), MPI_TAG_UB, &value, &found);
  *largest = found != 0 ? *static_cast<int*>(value) : 32767;
  return code;
}

int barrier(MpiHandle comm) { return MPI_Barrier(comm_of(comm)); }
int broadcast(MpiHandle comm, void* data, int64_t bytes, int root) { return MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, comm_of(comm)); }
int all_gather(MpiHandle comm, const void* in, void* out, int64_t bytes) {
  return MPI_Allgather(in, static_cast<int>(bytes), MPI_BYTE, out, static_cast<int>(bytes), MPI_BYTE, comm_of(comm));
}
int all_reduce_float(MpiHandle comm, float* data, int64_t count) {
  return MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm_of(comm));
}
int reduce_float(MpiHandle comm, const float* in, float* out, int64_t count, int root) {
  return MPI_Reduce(in, out, static_cast<int>(count), MPI_FLOAT, MPI_SUM, root, comm_of(comm));
}
int reduce_scatter_float(MpiHandle comm, const float* in, float* out, int64_t count) {
  return MPI_Reduce_scatter_block(in, out, static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm_of(comm));
}
int all_to_all(MpiHandle comm, const void* in, void* out, int64_t bytes) {
  return MPI_Alltoall(in, static_cast<int>(bytes), MPI_BYTE, out, static_cast<int>(bytes), MPI_BYTE, comm_of(comm));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MpiTable* sindri_mpi_table() {
  static const MpiTable table = {
      .version = MpiTable::kVersion,
      .library = library,
      .error_text = error_text,
      .init = init,
      .initialized = initialized,
      .finalized = finalized,
      .finalize = finalize,
      .processor = processor,
      .world = world,
      .split_host = split_host,
      .split = split,
      .group = group,
      .size = comm_size,
      .window = window,
      .isend = isend,
      .irecv = irecv,
      .test_some = test_some,
      .is_null = is_null,
      .tag_limit = tag_limit,
      .barrier = barrier,
      .broadcast = broadcast,
      .all_gather = all_gather,
      .all_reduce_float = all_reduce_float,
      .reduce_float = reduce_float,
      .reduce_scatter_float = reduce_scatter_float,
      .all_to_all = all_to_all,
  };
  return &table;
}
