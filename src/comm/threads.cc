// Ranks as threads of one process: for tests, and the reference for other backends. All members of a communicator share
// a Rendezvous. A call posts its arguments, waits for the others, compares their arguments, does its part with all
// ranks' memory, and waits again, since others still read its memory. Between the two waits the session's failure is
// not polled: a rank that passes the first always reaches the second.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "src/comm/algorithms.h"
#include "src/comm/backends.h"
#include "src/core/tensor_impl.h"

namespace sindri::comm {

namespace {

using Clock = std::chrono::steady_clock;

struct Post {
  std::string call;  // the part on which all ranks must agree, as text
  const void* in = nullptr;
  void* out = nullptr;
  std::span<const Piece> pieces;
};

// A send that waits for its receive.
struct Parcel {
  const void* data;
  int64_t bytes;
  bool taken = false;
};

struct Rendezvous {
  explicit Rendezvous(std::vector<int> world_ranks) : members(std::move(world_ranks)), posts(members.size()), present(members.size(), false) {}
  const std::vector<int> members;
  std::mutex mutex;  // guards everything below, except a rank's post between the two waits of a call
  std::condition_variable changed;
  std::vector<Post> posts;
  std::vector<bool> present;
  size_t arrived = 0;
  int64_t generation = 0;
  std::map<std::pair<int, int>, std::deque<Parcel*>> parcels;  // by sender, receiver
};

// State that all ranks share.
struct Shared {
  std::mutex mutex;  // guards everything below; never held while a session or a meeting is locked
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<std::weak_ptr<Rendezvous>> meetings;
  std::vector<char> ended;
  std::shared_ptr<const CommError> failed;
  struct Opening {
    std::shared_ptr<Rendezvous> meeting;
    size_t joined = 0;
  };
  std::map<std::string, Opening> openings;  // groups that some members have not joined yet

  std::shared_ptr<Rendezvous> join(const std::string& key, const std::vector<int>& members) {
    const std::lock_guard lock(mutex);
    Opening& opening = openings[key];
    if (opening.meeting == nullptr) {
      opening.meeting = std::make_shared<Rendezvous>(members);
      meetings.push_back(opening.meeting);
    }
    const std::shared_ptr<Rendezvous> meeting = opening.meeting;
    if (++opening.joined == members.size()) openings.erase(key);
    return meeting;
  }
  bool has_ended(int world_rank) {
    const std::lock_guard lock(mutex);
    return ended[static_cast<size_t>(world_rank)] != 0;
  }
  void wake() {
    std::vector<std::shared_ptr<Rendezvous>> all;
    {
      const std::lock_guard lock(mutex);
      std::erase_if(meetings, [](const std::weak_ptr<Rendezvous>& m) { return m.expired(); });
      for (const std::weak_ptr<Rendezvous>& m : meetings)
        if (std::shared_ptr<Rendezvous> meeting = m.lock()) all.push_back(std::move(meeting));
    }
    for (const std::shared_ptr<Rendezvous>& meeting : all) {
      const std::lock_guard lock(meeting->mutex);  // with the lock held, no waiter is between checking its condition and sleeping
      meeting->changed.notify_all();
    }
  }
  std::shared_ptr<const CommError> failure() {
    const std::lock_guard lock(mutex);
    return failed;
  }
  void fail_all(const CommError& error) {
    std::vector<std::shared_ptr<Session>> all;
    {
      const std::lock_guard lock(mutex);
      all = sessions;
      if (failed == nullptr) failed = std::make_shared<const CommError>(error);
    }
    for (const std::shared_ptr<Session>& session : all)
      if (session != nullptr) session->fail(error);
  }
};

// Stages calls on device memory through the host, after synchronising the stream. Unlike with NCCL, several ranks may share a
// device. Used to test ranks on devices.
class ByHost {
 public:
  explicit ByHost(Stream& stream) : stream_(stream), device_(stream.device()) {
    if (stream.recording()) throw DeviceError("a call of the 'threads' backend cannot be captured", device_.str(), "run it eagerly, or use dist.backend=nccl");
  }
  std::vector<char> read(const void* from, int64_t bytes) const {
    std::vector<char> host(static_cast<size_t>(bytes));
    if (bytes == 0) return host;
    stream_.synchronize();
    const DeviceMemory::Read one{host.data(), from, device_, bytes};
    device_memory().read(std::span(&one, 1), "call between ranks");
    return host;
  }
  void write(void* to, const std::vector<char>& host) const {
    if (host.empty()) return;
    device_memory().write(device_, to, host.data(), static_cast<int64_t>(host.size()));
    Stream& writer = current_stream(device_);
    if (&writer != &stream_) stream_.wait(writer.record());
  }

 private:
  Stream& stream_;
  const Device device_;
};

class Threads final : public Communicator {
 public:
  Threads(std::shared_ptr<Session> session, std::string name, std::vector<int> members, int rank, std::shared_ptr<Shared> shared,
          std::shared_ptr<Rendezvous> meeting)
      : Communicator(std::move(session), std::move(name), std::move(members), rank), shared_(std::move(shared)), meeting_(std::move(meeting)) {}
  const char* backend() const override { return "threads"; }

 protected:
  bool takes_streams() const override { return true; }
  void do_all_reduce(std::span<const Piece> pieces, DType dtype, ReduceOp op, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      std::vector<std::vector<char>> memory;
      std::vector<Piece> there;
      for (const Piece& p : pieces) {
        memory.push_back(by.read(p.in, p.count * static_cast<int64_t>(dtype_size(dtype))));
        there.push_back({memory.back().data(), memory.back().data(), p.count});
      }
      do_all_reduce(there, dtype, op, nullptr);
      for (size_t i = 0; i < memory.size(); ++i) by.write(pieces[i].out, memory[i]);
      return;
    }
    std::vector<int64_t> counts;
    for (const Piece& p : pieces) counts.push_back(p.count);
    Post post{fmt::format("all_reduce {} of {} {}", reduce_op_name(op), fmt::join(counts, "+"), dtype_name(dtype)), nullptr, nullptr, pieces};
    together(std::move(post), [&] {
      for (size_t i = 0; i < pieces.size(); ++i) {
        const auto [begin, end] = slice(counts[i]);
        std::vector<const void*> in;
        for (const Post& p : meeting_->posts) in.push_back(at(p.pieces[i].in, begin, dtype));
        // Only this rank touches these elements, in any rank's memory, so it may write them in place.
        void* const first = at(meeting_->posts[0].pieces[i].out, begin, dtype);
        reduce_tree(in, dtype, first, dtype, end - begin, op, factor(op));
        for (size_t r = 1; r < meeting_->posts.size(); ++r) copy(first, at(meeting_->posts[r].pieces[i].out, begin, dtype), end - begin, dtype);
      }
    });
  }
  void do_reduce(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      const std::vector<char> given = by.read(in, count * static_cast<int64_t>(dtype_size(dtype)));
      std::vector<char> made(given.size());
      do_reduce(given.data(), made.data(), count, dtype, op, root, nullptr);
      if (rank() == root) by.write(out, made);
      return;
    }
    together({fmt::format("reduce {} of {} {} to rank {}", reduce_op_name(op), count, dtype_name(dtype), root), in, out, {}}, [&] {
      const auto [begin, end] = slice(count);
      reduce_tree(inputs(begin, dtype), dtype, at(meeting_->posts[static_cast<size_t>(root)].out, begin, dtype), dtype, end - begin, op, factor(op));
    });
  }
  void do_broadcast(void* data, int64_t bytes, int root, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      std::vector<char> memory = rank() == root ? by.read(data, bytes) : std::vector<char>(static_cast<size_t>(bytes));
      do_broadcast(memory.data(), bytes, root, nullptr);
      if (rank() != root) by.write(data, memory);
      return;
    }
    together({fmt::format("broadcast of {} bytes from rank {}", bytes, root), data, nullptr, {}}, [&] {
      if (rank() != root) copy(meeting_->posts[static_cast<size_t>(root)].in, data, bytes, DType::kUInt8);
    });
  }
  void do_all_gather_v(const void* in, void* out, std::span<const int64_t> bytes, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      const std::vector<char> given = by.read(in, bytes[static_cast<size_t>(rank())]);
      std::vector<char> made(static_cast<size_t>(std::accumulate(bytes.begin(), bytes.end(), int64_t{0})));
      do_all_gather_v(given.data(), made.data(), bytes, nullptr);
      return by.write(out, made);
    }
    together({fmt::format("all_gather of {} bytes", fmt::join(bytes, "+")), in, nullptr, {}}, [&] {
      int64_t begin = 0;
      for (size_t r = 0; r < bytes.size(); ++r) {
        copy(meeting_->posts[r].in, at(out, begin, DType::kUInt8), bytes[r], DType::kUInt8);
        begin += bytes[r];
      }
    });
  }
  void do_reduce_scatter(const void* in, void* out, int64_t count, DType dtype, ReduceOp op, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      const std::vector<char> given = by.read(in, size() * count * static_cast<int64_t>(dtype_size(dtype)));
      std::vector<char> made(static_cast<size_t>(count) * dtype_size(dtype));
      do_reduce_scatter(given.data(), made.data(), count, dtype, op, nullptr);
      return by.write(out, made);
    }
    std::vector<char> result(static_cast<size_t>(count) * dtype_size(dtype));  // out may overlap in, which others read
    together({fmt::format("reduce_scatter {} of {} times {} {}", reduce_op_name(op), size(), count, dtype_name(dtype)), in, nullptr, {}},
             [&] { reduce_tree(inputs(rank() * count, dtype), dtype, result.data(), dtype, count, op, factor(op)); });
    copy(result.data(), out, count, dtype);
  }
  void do_all_to_all(const void* in, void* out, int64_t bytes, Stream* stream) override {
    if (stream != nullptr) {
      const ByHost by(*stream);
      const std::vector<char> given = by.read(in, size() * bytes);
      std::vector<char> made(given.size());
      do_all_to_all(given.data(), made.data(), bytes, nullptr);
      return by.write(out, made);
    }
    std::vector<char> result(static_cast<size_t>(bytes * size()));
    together({fmt::format("all_to_all of {} times {} bytes", size(), bytes), in, nullptr, {}}, [&] {
      for (int r = 0; r < size(); ++r)
        copy(at(meeting_->posts[static_cast<size_t>(r)].in, rank() * bytes, DType::kUInt8), result.data() + r * bytes, bytes, DType::kUInt8);
    });
    copy(result.data(), out, bytes * size(), DType::kUInt8);
  }
  void do_barrier() override {
    together({"barrier", nullptr, nullptr, {}}, [] {});
  }
  void do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream*) override;
  std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks, const std::string& name) override {
    std::vector<int> world_ranks;
    for (const int r : ranks) world_ranks.push_back(members()[static_cast<size_t>(r)]);
    std::string key = fmt::format("{} of {}", name, fmt::join(world_ranks, ","));
    key += fmt::format(" time {}", ++times_made_[key]);
    const int mine = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
    return std::make_shared<Threads>(session(), name, world_ranks, mine, shared_, shared_->join(key, world_ranks));
  }

 private:
  static const void* at(const void* memory, int64_t index, DType dtype) {
    return static_cast<const char*>(memory) + index * static_cast<int64_t>(dtype_size(dtype));
  }
  static void* at(void* memory, int64_t index, DType dtype) { return static_cast<char*>(memory) + index * static_cast<int64_t>(dtype_size(dtype)); }
  static void copy(const void* from, void* to, int64_t count, DType dtype) {
    if (from != to && count > 0) std::memmove(to, from, static_cast<size_t>(count) * dtype_size(dtype));
  }
  double factor(ReduceOp op) const { return op == ReduceOp::kMean ? 1.0 / size() : 1.0; }
  // Returns this rank's part of the elements.
  std::pair<int64_t, int64_t> slice(int64_t count) const { return {count * rank() / size(), count * (rank() + 1) / size()}; }
  std::vector<const void*> inputs(int64_t begin, DType dtype) const {
    std::vector<const void*> in;
    for (const Post& p : meeting_->posts) in.push_back(at(p.in, begin, dtype));
    return in;
  }

  // Waits on the meeting's lock until `done`; throws if the session fails meanwhile. `missing`: the members that are waited for.
  template <class Done, class Missing> void wait(std::unique_lock<std::mutex>& lock, const std::string& call, Done done, Missing missing);
  void arrive_and_wait(const std::string& call, bool give_up);
  template <class F> void together(Post post, F part);

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Rendezvous> meeting_;
  std::map<std::string, int> times_made_;
};

template <class Done, class Missing> void Threads::wait(std::unique_lock<std::mutex>& lock, const std::string& call, Done done, Missing missing) {
  const auto start = Clock::now();
  const auto seconds = [](double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); };
  const auto give_up = start + seconds(session()->options.op_timeout);
  auto warn = start + seconds(session()->options.op_warn);
  while (!done()) {
    session()->check();
    for (const int m : missing()) {
      const int world_rank = members()[static_cast<size_t>(m)];
      if (shared_->has_ended(world_rank))
        throw CommError(ErrorCode::kCommMismatch,
                        fmt::format("rank {} has ended, and rank {} waits for it in {}", world_rank, members()[static_cast<size_t>(rank())], call),
                        session()->where(), "let all ranks make the same calls in the same order");
    }
    const auto now = Clock::now();
    if (now >= give_up)
      throw CommError(ErrorCode::kCommTimeout, fmt::format("{} waited {:.4g} s for ranks {}", call, session()->options.op_timeout, fmt::join(missing(), ", ")),
                      session()->where(), "check what these ranks do; dist.op_timeout limits how long a call waits");
    if (now >= warn) {
      log::warn("comm", fmt::format("rank {}: {} has waited {:.4g} s for ranks {}", rank(), call, session()->options.op_warn, fmt::join(missing(), ", ")));
      warn = give_up;
    }
    meeting_->changed.wait_until(lock, std::min(warn, give_up));
  }
}

void Threads::arrive_and_wait(const std::string& call, bool give_up) {
  Rendezvous& m = *meeting_;
  const auto me = static_cast<size_t>(rank());
  std::unique_lock lock(m.mutex);
  const int64_t generation = m.generation;
  m.present[me] = true;
  if (++m.arrived == m.present.size()) {
    m.arrived = 0;
    ++m.generation;
    m.present.assign(m.present.size(), false);
    m.changed.notify_all();
    return;
  }
  const auto done = [&] { return m.generation != generation; };
  if (!give_up) return m.changed.wait(lock, done);
  const auto missing = [&] {
    std::vector<int> ranks;
    for (size_t r = 0; r < m.present.size(); ++r)
      if (!m.present[r]) ranks.push_back(static_cast<int>(r));
    return ranks;
  };
  try {
    wait(lock, call, done, missing);
  } catch (...) {  // the meeting will not complete. Decremented under the lock, so that another rank that gives up now counts this one as present
    --m.arrived;
    throw;
  }
}

template <class F> void Threads::together(Post post, F part) {
  Rendezvous& m = *meeting_;
  const std::string call = post.call;
  {
    const std::lock_guard lock(m.mutex);
    m.posts[static_cast<size_t>(rank())] = std::move(post);
  }
  arrive_and_wait(call, true);
  // All ranks compare the same posts, so that either all or none continue.
  for (size_t r = 1; r < m.posts.size(); ++r) {
    if (m.posts[r].call == m.posts[0].call) continue;
    throw CommError(ErrorCode::kCommMismatch,
                    fmt::format("in '{}' rank {} calls {}, rank {} calls {}", name(), m.members[0], m.posts[0].call, m.members[r], m.posts[r].call),
                    session()->where(), "let all ranks make the same calls in the same order");
  }
  try {
    part();
  } catch (...) {
    arrive_and_wait(call, false);
    throw;
  }
  arrive_and_wait(call, false);
}

void Threads::do_send_recv(const void* out, int64_t out_bytes, int to, void* in, int64_t in_bytes, int from, Stream* stream) {
  if (stream != nullptr) {
    const ByHost by(*stream);
    const std::vector<char> given = to >= 0 ? by.read(out, out_bytes) : std::vector<char>();
    std::vector<char> made(from >= 0 ? static_cast<size_t>(in_bytes) : 0);
    do_send_recv(given.data(), out_bytes, to, made.data(), in_bytes, from, nullptr);
    return by.write(in, made);
  }
  Rendezvous& m = *meeting_;
  Parcel parcel{out, out_bytes};
  std::unique_lock lock(m.mutex);
  if (to >= 0) {
    m.parcels[{rank(), to}].push_back(&parcel);
    m.changed.notify_all();
  }
  const auto take_back = [&] {
    if (to < 0 || parcel.taken) return;
    std::erase(m.parcels[{rank(), to}], &parcel);
  };
  try {
    if (from >= 0) {
      std::deque<Parcel*>& queue = m.parcels[{from, rank()}];
      wait(
          lock, fmt::format("recv of {} bytes", in_bytes), [&] { return !queue.empty(); }, [&] { return std::vector<int>{from}; });
      Parcel& got = *queue.front();
      if (got.bytes != in_bytes)
        throw CommError(ErrorCode::kCommMismatch,
                        fmt::format("in '{}' rank {} sends {} bytes, and rank {} receives {}", name(), m.members[static_cast<size_t>(from)], got.bytes,
                                    m.members[static_cast<size_t>(rank())], in_bytes),
                        session()->where());
      copy(got.data, in, in_bytes, DType::kUInt8);
      got.taken = true;
      queue.pop_front();
      m.changed.notify_all();
    }
    if (to >= 0)
      wait(
          lock, fmt::format("send of {} bytes", out_bytes), [&] { return parcel.taken; }, [&] { return std::vector<int>{to}; });
  } catch (...) {
    take_back();
    throw;
  }
}

class World final : public ThreadsWorld {
 public:
  World(int size, int local_size, const Options& options) : size_(size), local_size_(local_size), options_(options), shared_(std::make_shared<Shared>()) {
    shared_->sessions.resize(static_cast<size_t>(size));
    shared_->ended.resize(static_cast<size_t>(size));
  }
  std::shared_ptr<Communicator> open(int rank) override {
    auto session = std::make_shared<Session>();
    session->options = options_;
    session->identity.rank = rank;
    session->identity.size = size_;
    session->identity.local_rank = rank % local_size_;
    session->identity.local_size = local_size_;
    session->identity.source = "threads";
    std::vector<int> members;
    for (int r = 0; r < size_; ++r) {
      members.push_back(r);
      session->host_of.push_back(r / local_size_);
    }
    // A weak pointer: the callback must not keep its owner alive.
    session->on_failure([shared = std::weak_ptr<Shared>(shared_)](const CommError& error) {
      if (const std::shared_ptr<Shared> s = shared.lock()) {
        s->fail_all(error);
        s->wake();
      }
    });
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->sessions[static_cast<size_t>(rank)] = session;
    }
    if (const std::shared_ptr<const CommError> before = shared_->failure()) session->fail(*before);  // a failure from before this rank joined
    return std::make_shared<Threads>(session, "world", members, rank, shared_, shared_->join("world", members));
  }
  void ended(int rank, const CommError* error) override {
    if (error != nullptr) shared_->fail_all(*error);  // before it counts as ended, so that the others report its error
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->ended[static_cast<size_t>(rank)] = 1;
    }
    shared_->wake();
  }

 private:
  const int size_, local_size_;
  const Options options_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<ThreadsWorld> make_threads_world(int size, int local_size, const Options& options) {
  return std::make_shared<World>(size, local_size, options);
}

}  // namespace sindri::comm
