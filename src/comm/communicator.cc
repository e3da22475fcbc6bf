// The public calls of Communicator: check arguments, number and record calls. An error in one call ends all calls.
#include "sindri/comm/communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "sindri/device/backend.h"
#include "src/comm/algorithms.h"
#include "src/comm/session.h"

namespace sindri {

const char* reduce_op_name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kMean: return "mean";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kMin: return "min";
    default: return "prod";
  }
}

namespace comm {

namespace {

int64_t bytes_of(int64_t count, DType dtype) { return count * static_cast<int64_t>(dtype_size(dtype)); }

void check_count(const char* kind, int64_t count) {
  if (count < 0) throw ValueError(fmt::format("{} of {} elements", kind, count), "comm", "give a count of 0 or more");
}

void check_memory(const char* kind, const void* memory, int64_t count) {
  check_count(kind, count);
  if (memory == nullptr && count > 0) throw ValueError(fmt::format("{} of {} elements at a null pointer", kind, count), "comm");
}

void check_op(const char* kind, DType dtype, ReduceOp op) {
  if (op == ReduceOp::kMean && !is_floating(dtype))
    throw ValueError(fmt::format("{}: the mean of {} values is not defined", kind, dtype_name(dtype)), "comm",
                     "reduce with kSum, or cast to a floating type first");
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Session> session, std::string name, std::vector<int> members, int rank)
    : session_(std::move(session)), name_(std::move(name)), members_(std::move(members)), rank_(rank) {}
Communicator::~Communicator() = default;

namespace {
int host_of(const Session& session, int world_rank) { return session.host_of.empty() ? 0 : session.host_of[static_cast<size_t>(world_rank)]; }
}  // namespace

int Communicator::local_rank() const {
  const int host = host_of(*session_, members_[static_cast<size_t>(rank_)]);
  return static_cast<int>(std::count_if(members_.begin(), members_.begin() + rank_, [&](int m) { return host_of(*session_, m) == host; }));
}
int Communicator::local_size() const {
  const int host = host_of(*session_, members_[static_cast<size_t>(rank_)]);
  return static_cast<int>(std::count_if(members_.begin(), members_.end(), [&](int m) { return host_of(*session_, m) == host; }));
}
int Communicator::host_index() const {
  std::vector<int> hosts;
  for (const int m : members_) {
    const int host = host_of(*session_, m);
    if (host == host_of(*session_, members_[static_cast<size_t>(rank_)])) break;
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return static_cast<int>(hosts.size());
}
int Communicator::host_count() const {
  std::vector<int> hosts;
  for (const int m : members_) hosts.push_back(host_of(*session_, m));
  std::sort(hosts.begin(), hosts.end());
  return static_cast<int>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
}

void Communicator::check_rank(const char* kind, const char* argument, int rank) const {
  if (rank < 0 || rank >= size())
    throw ValueError(fmt::format("{}: '{}' is rank {}, but '{}' has {} ranks", kind, argument, rank, name_, size()), "comm",
                     fmt::format("give 0 to {}", size() - 1));
}

// A message to oneself is sent and received by one call: no other call would match it.
void Communicator::check_itself(int to, int64_t out_bytes, int from, int64_t in_bytes) const {
  if ((to == rank_) != (from == rank_))
    throw CommError(ErrorCode::kCommMismatch, fmt::format("rank {} waits for itself", rank_), "", "send to itself with send_recv");
  if (to == rank_ && out_bytes != in_bytes)
    throw CommError(ErrorCode::kCommMismatch, fmt::format("rank {} sends itself {} bytes, and receives {}", rank_, out_bytes, in_bytes), "",
                    "send as much as is received");
}

// All calls throw the first error found on any rank; if it names no place, the place of this rank's call is added.
template <class F> void Communicator::run(const char* kind, DType dtype, int64_t count, const Call& call, F body) {
  const std::lock_guard lock(session_->mutex);
  session_->check();
  if (call.stream != nullptr && !takes_streams())
    throw DeviceError(fmt::format("{} of memory on {}: the backend {} can only access host memory", kind, call.stream->device().str(), backend()), name_,
                      "use dist.backend=nccl, which GPU memory requires");
  CallRecord& record = session_->enter(kind, call, bytes_of(count, dtype), name_, members_.size() < session_->host_of.size() ? members_ : std::vector<int>());
  try {
    body();
  } catch (const CommError& error) {
    CommError first = error;
    if (first.where().empty()) first.add_where(session_->where());
    if (!session_->failed()) session_->fail(session_->judge ? session_->judge(first) : first);
    session_->leave(record);
    session_->check();
  } catch (const Error&) {  // rejected before anything started, on all ranks alike
    session_->leave(record);
    throw;
  } catch (const std::exception& error) {  // for example out of memory on this rank alone, while the others wait for it
    session_->fail(
        CommError(ErrorCode::kCommLibrary, fmt::format("rank {} ends the job: {}: {}", session_->identity.rank, kind, error.what()), session_->where()));
    session_->leave(record);
    throw;
  }
  session_->leave(record);
}

bool Communicator::checking() const { return session_->options.check && size() > 1; }

// dist.check: compares what the ranks are about to do before they do it.
void Communicator::compare_calls(const std::string& text, const Call& call) {
  std::array<char, 192> mine{};
  std::strncpy(mine.data(), fmt::format("{} \"{} {}\" as its call {}", text, call.what, call.index, ++compared_).c_str(), mine.size() - 1);
  const auto n = static_cast<size_t>(size());
  std::vector<std::array<char, 192>> all(n);
  const std::vector<int64_t> bytes(n, sizeof mine);
  do_all_gather_v(&mine, all.data(), bytes, nullptr);
  for (size_t r = 1; r < n; ++r)
    if (all[r] != all[0])
      throw CommError(ErrorCode::kCommMismatch,
                      fmt::format("in '{}' rank {} calls {}, rank {} calls {}", name_, members_[0], all[0].data(), members_[r], all[r].data()),
                      session_->where(), "let all ranks make the same calls in the same order");
}

// dist.check: compares results that must be equal on all ranks. Results on a stream are not available yet.
void Communicator::compare_results(const std::vector<std::pair<const void*, int64_t>>& parts, const Call& call) {
  if (call.stream != nullptr) return;
  uint64_t mine = 0;
  for (const auto& [data, bytes] : parts) mine = XXH3_64bits_withSeed(data, static_cast<size_t>(bytes), mine);
  std::vector<uint64_t> all(static_cast<size_t>(size()));
  const std::vector<int64_t> sizes(all.size(), sizeof mine);
  do_all_gather_v(&mine, all.data(), sizes, nullptr);
  std::vector<int> others;
  for (size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0]) others.push_back(members_[r]);
  if (!others.empty())
    throw CommError(ErrorCode::kReplicas,
                    fmt::format("in '{}' the results of ranks {} differ from those of rank {}", name_, fmt::join(others, ", "), members_[0]), session_->where(),
                    "the memory or the network of one of them is at fault: run without these hosts");
}

void Communicator::all_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call) {
  const Piece piece{in, out, count};
  all_reduce(std::span(&piece, 1), dtype, op, call);
}
void Communicator::all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, const Call& call) {
  check_op("all_reduce", dtype, op);
  int64_t count = 0;
  for (const Piece& p : pieces) {
    check_memory("all_reduce", p.in, p.count);
    check_memory("all_reduce", p.out, p.count);
    count += p.count;
  }
  run("all_reduce", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("all_reduce {} of {} {}", reduce_op_name(op), count, dtype_name(dtype)), call);
    do_all_reduce(pieces, dtype, op, call.stream);
    if (!checking()) return;
    std::vector<std::pair<const void*, int64_t>> parts;
    for (const Piece& p : pieces) parts.emplace_back(p.out, bytes_of(p.count, dtype));
    compare_results(parts, call);
  });
}
void Communicator::reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, const Call& call) {
  check_op("reduce", dtype, op);
  check_rank("reduce", "root", root);
  check_memory("reduce", in, count);
  if (root == rank_) check_memory("reduce", out, count);
  run("reduce", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("reduce {} of {} {} to rank {}", reduce_op_name(op), count, dtype_name(dtype), root), call);
    do_reduce(in, out, count, dtype, op, root, call.stream);
  });
}
void Communicator::broadcast(void* data, int64_t count, DType dtype, int root, const Call& call) {
  check_rank("broadcast", "root", root);
  check_memory("broadcast", data, count);
  run("broadcast", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("broadcast of {} {} from rank {}", count, dtype_name(dtype), root), call);
    do_broadcast(data, bytes_of(count, dtype), root, call.stream);
    if (checking()) compare_results({{data, bytes_of(count, dtype)}}, call);
  });
}
void Communicator::all_gather(const void* in, void* out, int64_t count, DType dtype, const Call& call) {
  check_memory("all_gather", in, count);
  check_memory("all_gather", out, count);
  const std::vector<int64_t> bytes(static_cast<size_t>(size()), bytes_of(count, dtype));
  run("all_gather", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("all_gather of {} {}", count, dtype_name(dtype)), call);
    do_all_gather_v(in, out, bytes, call.stream);
    if (checking()) compare_results({{out, bytes_of(count, dtype) * size()}}, call);
  });
}
void Communicator::all_gather_v(const void* in, void* out, std::span<const int64_t> counts, DType dtype, const Call& call) {
  if (counts.size() != static_cast<size_t>(size()))
    throw ValueError(fmt::format("all_gather_v: got {} counts, but '{}' has {} ranks", counts.size(), name_, size()), "comm", "give one for each rank");
  std::vector<int64_t> bytes;
  for (const int64_t count : counts) {
    check_count("all_gather_v", count);
    bytes.push_back(bytes_of(count, dtype));
  }
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  check_memory("all_gather_v", in, counts[static_cast<size_t>(rank_)]);
  check_memory("all_gather_v", out, total);
  run("all_gather_v", dtype, total, call, [&] {
    if (checking()) compare_calls(fmt::format("all_gather_v of {} {}", fmt::join(counts, "+"), dtype_name(dtype)), call);
    do_all_gather_v(in, out, bytes, call.stream);
    if (checking()) compare_results({{out, bytes_of(total, dtype)}}, call);
  });
}
void Communicator::reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, const Call& call) {
  check_op("reduce_scatter", dtype, op);
  check_memory("reduce_scatter", in, count);
  check_memory("reduce_scatter", out, count);
  run("reduce_scatter", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("reduce_scatter {} of {} {}", reduce_op_name(op), count, dtype_name(dtype)), call);
    do_reduce_scatter(in, out, count, dtype, op, call.stream);
  });
}
void Communicator::all_to_all(const void* in, void* out, int64_t count, DType dtype, const Call& call) {
  check_memory("all_to_all", in, count);
  check_memory("all_to_all", out, count);
  run("all_to_all", dtype, count, call, [&] {
    if (checking()) compare_calls(fmt::format("all_to_all of {} {}", count, dtype_name(dtype)), call);
    do_all_to_all(in, out, bytes_of(count, dtype), call.stream);
  });
}
void Communicator::send(const void* data, int64_t count, DType dtype, int to, const Call& call) {
  check_rank("send", "to", to);
  check_memory("send", data, count);
  check_itself(to, 0, -1, 0);
  run("send", dtype, count, call, [&] { do_send_recv(data, bytes_of(count, dtype), to, nullptr, 0, -1, call.stream); });
}
void Communicator::recv(void* data, int64_t count, DType dtype, int from, const Call& call) {
  check_rank("recv", "from", from);
  check_memory("recv", data, count);
  check_itself(-1, 0, from, 0);
  run("recv", dtype, count, call, [&] { do_send_recv(nullptr, 0, -1, data, bytes_of(count, dtype), from, call.stream); });
}
void Communicator::send_recv(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from, DType dtype, const Call& call) {
  check_rank("send_recv", "to", to);
  check_rank("send_recv", "from", from);
  check_memory("send_recv", out, out_count);
  check_memory("send_recv", in, in_count);
  check_itself(to, bytes_of(out_count, dtype), from, bytes_of(in_count, dtype));
  run("send_recv", dtype, out_count, call, [&] { do_send_recv(out, bytes_of(out_count, dtype), to, in, bytes_of(in_count, dtype), from, call.stream); });
}
void Communicator::barrier(const Call& call) {
  run("barrier", DType::kUInt8, 0, call, [&] {
    if (checking()) compare_calls("barrier", call);
    do_barrier();
  });
}

std::vector<std::string> Communicator::all_gather_text(const std::string& text, const Call& call) {
  const auto length = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(static_cast<size_t>(size()));
  all_gather(&length, lengths.data(), 1, DType::kInt64, call);
  std::string all(static_cast<size_t>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0})), '\0');
  all_gather_v(text.data(), all.data(), lengths, DType::kUInt8, call);
  std::vector<std::string> result;
  size_t begin = 0;
  for (const int64_t n : lengths) {
    result.push_back(all.substr(begin, static_cast<size_t>(n)));
    begin += static_cast<size_t>(n);
  }
  return result;
}

std::shared_ptr<void> Communicator::flat_buffer(int64_t bytes) {
  check_count("flat_buffer", bytes);
  const auto rounded = static_cast<size_t>((std::max<int64_t>(bytes, 1) + 63) / 64 * 64);
  void* const memory = std::aligned_alloc(64, rounded);
  if (memory == nullptr) throw IoError(ErrorCode::kMemory, fmt::format("no memory for a flat buffer of {}", bytes_text(bytes)), "comm");
  std::memset(memory, 0, rounded);
  return {memory, [](void* p) { std::free(p); }};
}

std::shared_ptr<Communicator> Communicator::group(std::span<const int> ranks, const std::string& name) {
  std::vector<int> sorted(ranks.begin(), ranks.end());
  for (const int r : sorted) check_rank("group", name.c_str(), r);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw ValueError(fmt::format("group '{}' of ranks {}: a rank occurs twice", name, fmt::join(ranks, ", ")), "comm");
  if (!std::binary_search(sorted.begin(), sorted.end(), rank_))
    throw ValueError(fmt::format("group '{}' of ranks {} is made by rank {}, which is not a member", name, fmt::join(ranks, ", "), rank_), "comm",
                     "make it on its members only");
  std::shared_ptr<Communicator> made;
  run("group", DType::kInt32, static_cast<int64_t>(ranks.size()), {name.c_str()}, [&] { made = do_group({ranks.begin(), ranks.end()}, name); });
  return made;
}

std::shared_ptr<Communicator> Communicator::split(int color, int key) {
  const int mine[2] = {color, key};
  std::vector<int> all(2 * static_cast<size_t>(size()));
  all_gather(mine, all.data(), 2, DType::kInt32, {"split"});
  const int number = ++splits_;
  if (color < 0) return nullptr;
  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r)
    if (all[2 * static_cast<size_t>(r)] == color) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) { return all[2 * static_cast<size_t>(a) + 1] < all[2 * static_cast<size_t>(b) + 1]; });
  return group(ranks, fmt::format("{}/split {} color {}", name_, number, color));
}

void Communicator::check() const { session_->check(); }

}  // namespace comm
}  // namespace sindri
