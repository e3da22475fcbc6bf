// NCCL for the host run: the functions that src/comm/nccl_api.h declares, exported by the plugin (SINDRI_NCCL_LIBRARY names it), for ranks that are processes
// or threads of one machine. A call is work on its stream: it reads and writes device memory in the stream's order, is captured and replayed with the graph,
// and never makes the host wait. A missing wait before or after a collective therefore changes results.
//
// Bytes are transferred through a file of shared memory that the id names, with a ring for each pair of ranks. Every call becomes a list of bytes to send and
// to receive for each peer, and proceeds as far as either side allows. So a group of sends and receives cannot block itself. Each message starts with the
// rank's call, and a peer that made another call gets an error. Nothing detects a dead rank: as with NCCL, the call lasts until it is aborted.
//
// Refused as NCCL does: two ranks on one device, blocking communicators, calls outside groups (Sindri has none), host memory, a stream of another device. A
// communicator that graphs still refer to is not finalized until they are destroyed.
//
// SINDRI_CUDA_HOST="nccl_async=N" gives the communicator an error at its N-th group, "nccl_hang=N" lets that group never end.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_host/runtime.h"
#include "src/comm/nccl_api.h"
#include "tests/preload/nccl_sums.h"

namespace sindri::cuda_host {
namespace {

namespace nccl = sindri::comm::nccl;
using nccl::Result;

constexpr int kMostRanks = 16;
constexpr uint64_t kRing = 1 << 16;

// From one rank to another. Zero is its initial state.
struct Ring {
  alignas(64) std::atomic<uint64_t> written, read;
  std::array<char, kRing> bytes;
};
struct Shared {
  std::atomic<int> joined;
  std::array<std::atomic<int>, kMostRanks> device;  // of each rank, plus one; 0: not yet present
  std::array<Ring, size_t{kMostRanks} * kMostRanks> rings;
};

enum class Kind : int32_t { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kRecv };
struct Work {
  Kind kind;
  const char* in;
  char* out;
  size_t count;
  nccl::Type type;
  nccl::Op op;
  int peer;  // or root
  size_t bytes() const { return count * nccl_sums::size_of(type); }
};
// Precedes each message.
struct Header {
  int32_t kind, type, op, root;
  uint64_t bytes;
  bool operator==(const Header&) const = default;
};
Header header_of(const Work& w, size_t bytes) {
  const bool message = w.kind == Kind::kSend || w.kind == Kind::kRecv;
  return {message ? static_cast<int32_t>(Kind::kSend) : static_cast<int32_t>(w.kind), w.type, w.op, message ? 0 : w.peer, bytes};
}

int64_t setting(const char* name) {
  const char* const text = std::getenv("SINDRI_CUDA_HOST");
  const std::string all = text != nullptr ? text : "", wanted = std::string(name) + "=";
  const size_t at = all.find(wanted);
  return at == std::string::npos ? 0 : std::stoll(all.substr(at + wanted.size()));
}

struct State {
  ~State() {
    if (shared != nullptr) munmap(shared, sizeof *shared);
  }
  Ring& ring(int from, int to) { return shared->rings[static_cast<size_t>(from) * kMostRanks + static_cast<size_t>(to)]; }

  Shared* shared = nullptr;
  int rank = 0, size = 0, device = 0;
  std::atomic<int> error{nccl::kSuccess}, calls{0}, captured{0};
  std::atomic<bool> aborted{false}, finalized{false}, told{false};
};

// A group's work on a stream. A captured one lives as long as its graph.
struct Launch {
  Launch(std::shared_ptr<State> s, std::vector<Work> w, bool in_graph) : state(std::move(s)), works(std::move(w)), captured(in_graph) {
    if (captured) ++state->captured;
  }
  ~Launch() {
    if (captured) --state->captured;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  const std::shared_ptr<State> state;
  const std::vector<Work> works;
  const bool captured;
};

// Bytes in transit between this rank and one other, in order.
class Flow {
 public:
  Flow(Ring& out, Ring& in) : out_(&out), in_(&in) {}
  void send(const Work& w, const char* from, size_t bytes) {
    headers_.push_back(std::make_unique<Header>(header_of(w, bytes)));
    sends_.push_back({reinterpret_cast<char*>(headers_.back().get()), sizeof(Header), nullptr});
    sends_.push_back({const_cast<char*>(from), bytes, nullptr});
  }
  void receive(const Work& w, char* to, size_t bytes) {
    headers_.push_back(std::make_unique<Header>());
    expected_.push_back(std::make_unique<Header>(header_of(w, bytes)));
    receives_.push_back({reinterpret_cast<char*>(headers_.back().get()), sizeof(Header), expected_.back().get()});
    receives_.push_back({to, bytes, nullptr});
  }
  bool done() const { return sent_ == sends_.size() && received_ == receives_.size(); }
  // Transfers as much as the rings allow. Returns false if the peer made another call.
  bool advance() {
    while (sent_ < sends_.size()) {
      const uint64_t written = out_->written.load(std::memory_order_relaxed), room = kRing - (written - out_->read.load(std::memory_order_acquire));
      Part& p = sends_[sent_];
      const uint64_t n = std::min<uint64_t>(room, p.bytes - send_at_), at = written % kRing, whole = std::min(n, kRing - at);
      std::memcpy(out_->bytes.data() + at, p.data + send_at_, whole);
      std::memcpy(out_->bytes.data(), p.data + send_at_ + whole, n - whole);
      out_->written.store(written + n, std::memory_order_release);
      send_at_ += n;
      if (send_at_ < p.bytes) break;
      send_at_ = 0;
      ++sent_;
    }
    while (received_ < receives_.size()) {
      const uint64_t read = in_->read.load(std::memory_order_relaxed), there = in_->written.load(std::memory_order_acquire) - read;
      Part& p = receives_[received_];
      const uint64_t n = std::min<uint64_t>(there, p.bytes - receive_at_), at = read % kRing, whole = std::min(n, kRing - at);
      std::memcpy(p.data + receive_at_, in_->bytes.data() + at, whole);
      std::memcpy(p.data + receive_at_ + whole, in_->bytes.data(), n - whole);
      in_->read.store(read + n, std::memory_order_release);
      receive_at_ += n;
      if (receive_at_ < p.bytes) break;
      if (p.expected != nullptr && *reinterpret_cast<const Header*>(p.data) != *p.expected) return false;
      receive_at_ = 0;
      ++received_;
    }
    return true;
  }

 private:
  struct Part {
    char* data;
    uint64_t bytes;
    const Header* expected;  // if this part is a header: the header that the peer must send
  };
  Ring *out_, *in_;
  std::vector<std::unique_ptr<Header>> headers_, expected_;
  std::vector<Part> sends_, receives_;
  size_t sent_ = 0, received_ = 0;
  uint64_t send_at_ = 0, receive_at_ = 0;
};

template <class F> bool wait(const State& s, F done) {
  for (int turn = 0; !done(); ++turn) {
    if (s.aborted) return false;
    if (turn < 100) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

// A rank's data of one call during the transfer. Results are written once every rank's bytes have arrived, because they may overlap the operands.
struct Under {
  Work work;  // addresses as work on the device sees them
  std::vector<std::vector<char>> from;  // by rank
};

void plan(State& s, Under* u, std::vector<Flow>* flows) {
  const Work& w = u->work;
  const size_t bytes = w.bytes(), n = static_cast<size_t>(s.size), root = static_cast<size_t>(w.peer), me = static_cast<size_t>(s.rank);
  u->from.resize(n);
  const auto receive = [&](size_t r) {
    u->from[r].resize(bytes);
    (*flows)[r].receive(w, u->from[r].data(), bytes);
  };
  for (size_t r = 0; r < n; ++r) {
    switch (w.kind) {
      case Kind::kAllReduce:
      case Kind::kAllGather:
        (*flows)[r].send(w, w.in, bytes);
        receive(r);
        break;
      case Kind::kReduceScatter:
        (*flows)[r].send(w, w.in + r * bytes, bytes);
        receive(r);
        break;
      case Kind::kReduce:
        if (r == root) (*flows)[r].send(w, w.in, bytes);
        if (me == root) receive(r);
        break;
      case Kind::kBroadcast:
        if (me == root) (*flows)[r].send(w, w.in, bytes);
        if (r == root) receive(r);
        break;
      case Kind::kSend:
        if (r == root) (*flows)[r].send(w, w.in, bytes);
        break;
      case Kind::kRecv:
        if (r == root) receive(r);
        break;
    }
  }
}

void finish(const State& s, const Under& u) {
  const Work& w = u.work;
  const size_t bytes = w.bytes();
  std::vector<const void*> in;
  for (const std::vector<char>& v : u.from) in.push_back(v.data());
  switch (w.kind) {
    case Kind::kReduce:
      if (s.rank != w.peer) return;
      [[fallthrough]];
    case Kind::kAllReduce:
    case Kind::kReduceScatter: return nccl_sums::reduce(in, w.out, w.count, w.type, w.op);
    case Kind::kAllGather:
      for (size_t r = 0; r < u.from.size(); ++r) std::memcpy(w.out + r * bytes, u.from[r].data(), bytes);
      return;
    case Kind::kBroadcast:
    case Kind::kRecv: std::memcpy(w.out, u.from[static_cast<size_t>(w.peer)].data(), bytes); return;
    case Kind::kSend: return;
  }
}

void run_group(const Launch& launch) {
  State& s = *launch.state;
  if (s.aborted) return;
  const int call = ++s.calls;
  const auto never = [] { return false; };
  if (call == setting("nccl_async")) {
    s.error = nccl::kSystemError;
    wait(s, never);
    return;
  }
  if (call == setting("nccl_hang")) {
    wait(s, never);
    return;
  }
  std::vector<Flow> flows;
  for (int r = 0; r < s.size; ++r) flows.emplace_back(s.ring(s.rank, r), s.ring(r, s.rank));
  std::vector<Under> all;
  for (const Work& w : launch.works) {
    Work seen = w;
    if (w.in != nullptr) seen.in = static_cast<const char*>(machine().inside(w.in, "NCCL"));
    if (w.out != nullptr) seen.out = static_cast<char*>(machine().inside(w.out, "NCCL"));
    all.push_back({seen, {}});
  }
  for (Under& u : all) plan(s, &u, &flows);
  bool agree = true;
  const bool whole = wait(s, [&] {
    for (Flow& f : flows) agree = agree && f.advance();
    return !agree || std::all_of(flows.begin(), flows.end(), [](const Flow& f) { return f.done(); });
  });
  if (!agree) {
    s.error = nccl::kInvalidUsage;
    wait(s, never);
  }
  if (!whole || !agree) return;
  for (const Under& u : all) finish(s, u);
}

struct Group {
  int depth = 0;
  Result result = nccl::kSuccess;
  std::shared_ptr<State> state;
  cudaStream_t stream = nullptr;
  std::vector<Work> works;
};
thread_local Group t_group;

Shared* open_shared(const nccl::Id& id) {
  const int fd = shm_open(id.internal, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* p = MAP_FAILED;
  if (ftruncate(fd, sizeof(Shared)) == 0) p = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return p == MAP_FAILED ? nullptr : static_cast<Shared*>(p);
}

const char* name_of(Kind k) {
  constexpr const char* kNames[] = {"ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclReduceScatter", "ncclSend", "ncclRecv"};
  return kNames[static_cast<size_t>(k)];
}

}  // namespace
}  // namespace sindri::cuda_host

struct sindri::comm::nccl::CommState {
  std::shared_ptr<sindri::cuda_host::State> state;
};

using namespace sindri::cuda_host;

#pragma GCC visibility push(default)
extern "C" {

Result ncclGetVersion(int* version) {
  *version = 22809;
  return nccl::kSuccess;
}
const char* ncclGetErrorString(Result r) {
  constexpr const char* kTexts[] = {"no error",
                                    "unhandled cuda error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage",
                                    "remote process exited or there was a network error",
                                    "in progress"};
  return kTexts[static_cast<size_t>(r)];
}
const char* ncclGetLastError(nccl::Comm) { return ""; }

Result ncclGetUniqueId(nccl::Id* id) {
  static std::atomic<int> next{0};
  *id = {};
  const std::string name = fmt::format("/sindri_nccl_host_{}_{}", getpid(), ++next);
  std::copy(name.begin(), name.end(), id->internal);
  return nccl::kSuccess;
}

Result ncclCommInitRankConfig(nccl::Comm* comm, int ranks, nccl::Id id, int rank, nccl::Config* config) {
  *comm = nullptr;
  if (config->blocking != 0 || ranks > kMostRanks || rank < 0 || rank >= ranks) return nccl::kInvalidArgument;
  auto state = std::make_shared<State>();
  state->rank = rank;
  state->size = ranks;
  if (cudaGetDevice(&state->device) != cudaSuccess) return nccl::kUnhandledCudaError;
  state->shared = open_shared(id);
  if (state->shared == nullptr) return nccl::kSystemError;
  state->shared->device[static_cast<size_t>(rank)] = state->device + 1;
  if (++state->shared->joined == ranks) {
    shm_unlink(id.internal);
    for (int r = 0; r < ranks; ++r)
      for (int other = 0; other < r; ++other)
        if (state->shared->device[static_cast<size_t>(r)] == state->shared->device[static_cast<size_t>(other)]) state->error = nccl::kInvalidUsage;
  }
  *comm = new nccl::CommState{state};
  return nccl::kInProgress;
}

Result ncclCommGetAsyncError(nccl::Comm comm, Result* result) {
  State& s = *comm->state;
  *result = static_cast<Result>(s.error.load());
  if (*result != nccl::kSuccess) return nccl::kSuccess;
  if (s.shared->joined < s.size) *result = nccl::kInProgress;
  if (!s.finalized || s.captured == 0) return nccl::kSuccess;
  if (!s.told.exchange(true)) fmt::print(stderr, "NCCL: a communicator is finalized while graphs refer to it ({} calls)\n", s.captured.load());
  *result = nccl::kInProgress;
  return nccl::kSuccess;
}

Result ncclCommFinalize(nccl::Comm comm) { return comm->state->finalized.exchange(true) ? nccl::kInvalidUsage : nccl::kInProgress; }
Result ncclCommDestroy(nccl::Comm comm) {
  if (!comm->state->finalized || comm->state->captured > 0) return nccl::kInvalidUsage;
  delete comm;
  return nccl::kSuccess;
}
Result ncclCommAbort(nccl::Comm comm) {
  comm->state->aborted = true;
  delete comm;
  return nccl::kSuccess;
}

Result ncclGroupStart() {
  ++t_group.depth;
  return nccl::kSuccess;
}
Result ncclGroupEnd() {
  if (t_group.depth == 0) return nccl::kInvalidUsage;
  if (--t_group.depth > 0) return nccl::kSuccess;
  Group g = std::exchange(t_group, {});
  if (g.result != nccl::kSuccess || g.works.empty()) return g.result;
  int before = 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(g.state->device) != cudaSuccess || cudaStreamIsCapturing(g.stream, &status) != cudaSuccess)
    return nccl::kUnhandledCudaError;
  const char* const name = name_of(g.works[0].kind);
  const auto launch = std::make_shared<const Launch>(g.state, std::move(g.works), status != cudaStreamCaptureStatusNone);
  const cudaError_t put = run_library(g.stream, name, [launch] { run_group(*launch); });
  (void)cudaSetDevice(before);
  return put == cudaSuccess ? nccl::kSuccess : nccl::kUnhandledCudaError;
}

static Result add(nccl::Comm comm, void* stream, const Work& work) {
  if (t_group.depth == 0) return nccl::kInvalidUsage;
  const std::shared_ptr<State>& s = comm->state;
  const bool other = t_group.state != nullptr && (t_group.state != s || t_group.stream != stream);  // Sindri's groups are of one communicator and one stream
  const bool bad = other || s->finalized || work.count == 0 || work.peer < 0 || work.peer >= s->size || (work.in == nullptr && work.kind != Kind::kRecv) ||
      (work.out == nullptr && work.kind != Kind::kSend);
  if (bad) return t_group.result = nccl::kInvalidArgument;
  t_group.state = s;
  t_group.stream = static_cast<cudaStream_t>(stream);
  t_group.works.push_back(work);
  return nccl::kSuccess;
}

Result ncclAllReduce(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kAllReduce, static_cast<const char*>(in), static_cast<char*>(out), n, type, op, 0});
}
Result ncclReduce(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, int root, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kReduce, static_cast<const char*>(in), static_cast<char*>(out), n, type, op, root});
}
Result ncclBroadcast(const void* in, void* out, size_t n, nccl::Type type, int root, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kBroadcast, static_cast<const char*>(in), static_cast<char*>(out), n, type, nccl::kSum, root});
}
Result ncclAllGather(const void* in, void* out, size_t n, nccl::Type type, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kAllGather, static_cast<const char*>(in), static_cast<char*>(out), n, type, nccl::kSum, 0});
}
Result ncclReduceScatter(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kReduceScatter, static_cast<const char*>(in), static_cast<char*>(out), n, type, op, 0});
}
Result ncclSend(const void* in, size_t n, nccl::Type type, int peer, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kSend, static_cast<const char*>(in), nullptr, n, type, nccl::kSum, peer});
}
Result ncclRecv(void* out, size_t n, nccl::Type type, int peer, nccl::Comm comm, void* stream) {
  return add(comm, stream, {Kind::kRecv, nullptr, static_cast<char*>(out), n, type, nccl::kSum, peer});
}

}  // extern "C"
#pragma GCC visibility pop
