// NCCL for ranks that are threads of one process and whose "devices" are host memory: the functions that src/comm/nccl_api.h declares, with faults on demand.
// The functions enforce the rules of the real ones that a program can break (groups, non-blocking states, one state machine per communicator). This is a shared
// object that SINDRI_NCCL_LIBRARY names. Sums of floating types are computed rank by rank in their own type, as a ring does.
#include "tests/preload/fake_nccl.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/comm/nccl_api.h"
#include "tests/preload/nccl_sums.h"

namespace sindri::fake_nccl {
namespace {

namespace nccl = sindri::comm::nccl;
using nccl::Result;
using nccl_sums::reduce;
using nccl_sums::size_of;

struct Injected {
  Fault fault;
  int rank, after;
  Result result;
};

struct Board {
  std::mutex mutex;
  int version = 22803;
  std::atomic<int> slow{0};
  std::vector<Injected> faults;
  std::map<std::string, long> counts;
  int next_id = 0;
};
Board& board() {
  static Board* const b = new Board;
  return *b;
}
void count(const std::string& name, long n = 1) {
  const std::lock_guard lock(board().mutex);
  board().counts[name] += n;
}
// Whether a fault is due now, and with what result.
bool due(Fault fault, int rank, Result* result) {
  const std::lock_guard lock(board().mutex);
  auto& all = board().faults;
  for (auto i = all.begin(); i != all.end(); ++i) {
    if (i->fault != fault || i->rank != rank || --i->after > 0) continue;
    *result = i->result;
    all.erase(i);
    return true;
  }
  return false;
}

enum class Kind { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kRecv };
struct Work {
  Kind kind;
  const void* in;
  void* out;
  size_t count;
  nccl::Type type;
  nccl::Op op;
  int peer;  // or root
};

// A collective call, where its ranks meet.
struct Meeting {
  std::vector<Work> parts;
  int arrived = 0, left = 0;
  bool done = false;
};
struct Message {
  const void* from;
  size_t bytes;
  bool taken = false;
};
struct Clique {
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0, joined = 0;
  std::map<int64_t, Meeting> meetings;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> mail;  // (from, to)
};

struct State {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  bool stuck = false;  // its creation never ends
  std::atomic<int> error{nccl::kSuccess}, polls{0};
  std::atomic<bool> aborted{false}, ready{false}, finalized{false};
  int64_t calls = 0;  // on its stream
};

std::map<int, std::shared_ptr<Clique>>& cliques() {
  static auto* const c = new std::map<int, std::shared_ptr<Clique>>;
  return *c;
}

const char* at(const void* p, size_t bytes) { return static_cast<const char*>(p) + bytes; }

// All parts have arrived. Results are kept separately until every input has been read.
void carry_out(std::vector<Work>& parts) {
  const Work& first = parts[0];
  const size_t bytes = first.count * size_of(first.type), n = parts.size();
  std::vector<const void*> in;
  for (const Work& w : parts) in.push_back(w.in);
  std::vector<char> whole(bytes * n + 8);
  switch (first.kind) {
    case Kind::kAllReduce:
      reduce(in, whole.data(), first.count, first.type, first.op);
      for (Work& w : parts) std::memcpy(w.out, whole.data(), bytes);
      return;
    case Kind::kReduce:
      reduce(in, whole.data(), first.count, first.type, first.op);
      std::memcpy(parts[static_cast<size_t>(first.peer)].out, whole.data(), bytes);
      return;
    case Kind::kBroadcast:
      std::memcpy(whole.data(), in[static_cast<size_t>(first.peer)], bytes);
      for (Work& w : parts) std::memcpy(w.out, whole.data(), bytes);
      return;
    case Kind::kAllGather:
      for (size_t r = 0; r < n; ++r) std::memcpy(whole.data() + r * bytes, in[r], bytes);
      for (Work& w : parts) std::memcpy(w.out, whole.data(), bytes * n);
      return;
    case Kind::kReduceScatter:
      for (size_t r = 0; r < n; ++r) {
        std::vector<const void*> slices;
        for (const void* p : in) slices.push_back(at(p, r * bytes));
        reduce(slices, whole.data() + r * bytes, first.count, first.type, first.op);
      }
      for (size_t r = 0; r < n; ++r) std::memcpy(parts[r].out, whole.data() + r * bytes, bytes);
      return;
    default: return;
  }
}

template <class F> void wait(State& s, std::unique_lock<std::mutex>& lock, F done) {
  while (!done() && !s.aborted) s.clique->changed.wait_for(lock, std::chrono::milliseconds(2));
}

void meet(State& s, const Work& w) {
  Clique& c = *s.clique;
  std::unique_lock lock(c.mutex);
  const int64_t number = s.calls++;
  Meeting& m = c.meetings[number];
  m.parts.resize(static_cast<size_t>(c.size));
  m.parts[static_cast<size_t>(s.rank)] = w;
  if (++m.arrived == c.size) {
    for (const Work& o : m.parts)
      if (o.kind != w.kind || o.count != w.count || o.type != w.type || o.op != w.op) s.error = nccl::kInvalidUsage;
    if (s.error == nccl::kSuccess) {
      carry_out(m.parts);
      m.done = true;
      c.changed.notify_all();
    }
  }
  wait(s, lock, [&] { return m.done; });
  if (m.done && ++m.left == c.size) c.meetings.erase(number);
}

// The work that a group submitted to the stream: all messages are sent before one is waited for.
void run_group(State& s, const std::vector<Work>& works) {
  Result result{};
  if (due(kAsync, s.rank, &result)) {
    s.error = result;
    std::unique_lock lock(s.clique->mutex);
    return wait(s, lock, [] { return false; });
  }
  if (due(kHang, s.rank, &result)) {
    std::unique_lock lock(s.clique->mutex);
    return wait(s, lock, [] { return false; });
  }
  std::vector<std::shared_ptr<Message>> sent;
  Clique& c = *s.clique;
  for (const Work& w : works) {
    if (w.kind != Kind::kSend) continue;
    const std::lock_guard lock(c.mutex);
    sent.push_back(std::make_shared<Message>(Message{w.in, w.count * size_of(w.type)}));
    c.mail[{s.rank, w.peer}].push_back(sent.back());
    c.changed.notify_all();
  }
  for (const Work& w : works) {
    if (w.kind == Kind::kSend) continue;
    if (w.kind != Kind::kRecv) {
      meet(s, w);
      continue;
    }
    std::unique_lock lock(c.mutex);
    auto& box = c.mail[{w.peer, s.rank}];
    wait(s, lock, [&] { return !box.empty(); });
    if (box.empty()) return;
    const std::shared_ptr<Message> m = box.front();
    box.pop_front();
    if (m->bytes != w.count * size_of(w.type)) s.error = nccl::kInvalidUsage;
    else std::memmove(w.out, m->from, m->bytes);
    m->taken = true;
    c.changed.notify_all();
  }
  std::unique_lock lock(c.mutex);
  wait(s, lock, [&] { return std::all_of(sent.begin(), sent.end(), [](const auto& m) { return m->taken; }); });
}

struct Launch {
  std::shared_ptr<State> state;
  std::vector<Work> works;
};
struct Group {
  int depth = 0;
  Result result = nccl::kSuccess;
  std::vector<std::pair<std::pair<std::shared_ptr<State>, Stream*>, Work>> works;
};
thread_local Group t_group;

}  // namespace
}  // namespace sindri::fake_nccl

struct sindri::comm::nccl::CommState {
  std::shared_ptr<sindri::fake_nccl::State> state;
};

using namespace sindri::fake_nccl;

#pragma GCC visibility push(default)
extern "C" {

void fake_nccl_reset(int version, int slow) {
  const std::lock_guard lock(board().mutex);
  board().version = version;
  board().slow = slow;
  board().faults.clear();
  const long live = board().counts["live"];
  board().counts = {{"live", live}};
}
void fake_nccl_fault(Fault fault, int rank, int after, int result) {
  const std::lock_guard lock(board().mutex);
  board().faults.push_back({fault, rank, after, static_cast<Result>(result)});
}
long fake_nccl_count(const char* name) {
  const std::lock_guard lock(board().mutex);
  return board().counts[name];
}

Result ncclGetVersion(int* version) {
  const std::lock_guard lock(board().mutex);
  *version = board().version;
  return nccl::kSuccess;
}
const char* ncclGetErrorString(Result r) {
  static const std::array<const char*, 8> texts = {"no error",
                                                   "unhandled cuda error",
                                                   "unhandled system error",
                                                   "internal error",
                                                   "invalid argument",
                                                   "invalid usage",
                                                   "remote process exited or there was a network error",
                                                   "in progress"};
  return texts[static_cast<size_t>(r)];
}
const char* ncclGetLastError(nccl::Comm) { return "told by the fake"; }

Result ncclGetUniqueId(nccl::Id* id) {
  Result r{};
  if (due(kNoId, 0, &r)) return r;
  count("GetUniqueId");
  const std::lock_guard lock(board().mutex);
  std::memset(id, 0, sizeof *id);
  const int n = ++board().next_id;
  std::memcpy(id->internal, &n, sizeof n);
  std::memset(id->internal + sizeof n, 'x', sizeof id->internal - sizeof n);
  return nccl::kSuccess;
}

Result ncclCommInitRankConfig(nccl::Comm* comm, int ranks, nccl::Id id, int rank, nccl::Config* config) {
  count("CommInitRankConfig");
  *comm = nullptr;
  if (config->magic != 0xcafebeef || config->size < 16 || config->blocking != 0 || rank < 0 || rank >= ranks) return nccl::kInvalidArgument;
  if (id.internal[nccl::kIdBytes - 1] != 'x') return nccl::kInvalidArgument;
  Result r{};
  if (due(kInitRefused, rank, &r)) return r;
  auto state = std::make_shared<State>();
  state->rank = rank;
  int n = 0;
  std::memcpy(&n, id.internal, sizeof n);
  {
    const std::lock_guard lock(board().mutex);
    auto& c = cliques()[n];
    if (c == nullptr) c = std::make_shared<Clique>();
    state->clique = c;
  }
  state->polls = board().slow.load();
  if (due(kInitFails, rank, &r)) state->error = r;
  else if (due(kInitNeverDone, rank, &r)) state->stuck = true;
  else {
    const std::lock_guard lock(state->clique->mutex);
    state->clique->size = ranks;
    ++state->clique->joined;
  }
  count("live");
  *comm = new nccl::CommState{state};
  return nccl::kInProgress;
}

Result ncclCommGetAsyncError(nccl::Comm comm, Result* state) {
  State& s = *comm->state;
  *state = static_cast<Result>(s.error.load());
  if (*state != nccl::kSuccess) return nccl::kSuccess;
  if (!s.ready) {
    const std::lock_guard lock(s.clique->mutex);
    s.ready = !s.stuck && s.clique->size > 0 && s.clique->joined == s.clique->size;
  }
  if (!s.ready || s.polls > 0) {
    --s.polls;
    *state = nccl::kInProgress;
  }
  return nccl::kSuccess;
}

Result ncclCommFinalize(nccl::Comm comm) {
  count("CommFinalize");
  if (comm->state->finalized.exchange(true)) return nccl::kInvalidUsage;
  comm->state->polls = board().slow.load();
  return nccl::kInProgress;
}
Result ncclCommDestroy(nccl::Comm comm) {
  count("CommDestroy");
  if (!comm->state->finalized) return nccl::kInvalidUsage;
  count("live", -1);
  delete comm;
  return nccl::kSuccess;
}
Result ncclCommAbort(nccl::Comm comm) {
  count("CommAbort");
  count("live", -1);
  comm->state->aborted = true;
  comm->state->clique->changed.notify_all();
  delete comm;
  return nccl::kSuccess;
}

Result ncclGroupStart() {
  ++t_group.depth;
  return nccl::kSuccess;
}
Result ncclGroupEnd() {
  count("GroupEnd");
  if (t_group.depth == 0) return nccl::kInvalidUsage;
  if (--t_group.depth > 0) return nccl::kSuccess;
  Group g = std::exchange(t_group, {});
  if (g.result != nccl::kSuccess || g.works.empty()) return g.result;
  const auto [state, stream] = g.works[0].first;
  Result r{};
  if (due(kRefused, state->rank, &r)) return r;
  auto launch = std::make_unique<Launch>();
  launch->state = state;
  for (const auto& [where, work] : g.works) {
    if (where.first != state || where.second != stream) return nccl::kInvalidUsage;  // not used by Sindri
    launch->works.push_back(work);
  }
  state->polls = board().slow.load();
  stream->put(
      stream,
      [](void* argument) {
        const std::unique_ptr<Launch> l(static_cast<Launch*>(argument));
        if (!l->state->aborted) run_group(*l->state, l->works);
      },
      launch.release());
  return board().slow > 0 ? nccl::kInProgress : nccl::kSuccess;
}

static Result add(const char* name, nccl::Comm comm, void* stream, const Work& work) {
  count(name);
  if (t_group.depth == 0) return nccl::kInvalidUsage;  // Sindri's calls are all in groups
  const State& s = *comm->state;
  const bool reduces = work.kind == Kind::kAllReduce || work.kind == Kind::kReduce || work.kind == Kind::kReduceScatter;
  const bool bad = !s.ready || s.finalized || work.count == 0 || (work.in == nullptr && work.kind != Kind::kRecv) || work.peer < 0 ||
      work.peer >= s.clique->size || (!reduces && work.type != nccl::kUint8);
  if (bad) return t_group.result = nccl::kInvalidArgument;
  t_group.works.push_back({{comm->state, static_cast<Stream*>(stream)}, work});
  return nccl::kSuccess;
}

Result ncclAllReduce(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, nccl::Comm comm, void* stream) {
  return add("AllReduce", comm, stream, {Kind::kAllReduce, in, out, n, type, op, 0});
}
Result ncclReduce(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, int root, nccl::Comm comm, void* stream) {
  return add("Reduce", comm, stream, {Kind::kReduce, in, out, n, type, op, root});
}
Result ncclBroadcast(const void* in, void* out, size_t n, nccl::Type type, int root, nccl::Comm comm, void* stream) {
  return add("Broadcast", comm, stream, {Kind::kBroadcast, in, out, n, type, nccl::kSum, root});
}
Result ncclAllGather(const void* in, void* out, size_t n, nccl::Type type, nccl::Comm comm, void* stream) {
  return add("AllGather", comm, stream, {Kind::kAllGather, in, out, n, type, nccl::kSum, 0});
}
Result ncclReduceScatter(const void* in, void* out, size_t n, nccl::Type type, nccl::Op op, nccl::Comm comm, void* stream) {
  return add("ReduceScatter", comm, stream, {Kind::kReduceScatter, in, out, n, type, op, 0});
}
Result ncclSend(const void* in, size_t n, nccl::Type type, int peer, nccl::Comm comm, void* stream) {
  return add("Send", comm, stream, {Kind::kSend, in, nullptr, n, type, nccl::kSum, peer});
}
Result ncclRecv(void* out, size_t n, nccl::Type type, int peer, nccl::Comm comm, void* stream) {
  return add("Recv", comm, stream, {Kind::kRecv, nullptr, out, n, type, nccl::kSum, peer});
}

}  // extern "C"
