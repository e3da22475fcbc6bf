// The store's client: one thread reads and sends heartbeats; other threads leave requests and wait. See store.h.
#include "src/comm/store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "sindri/core/log.h"
#include "sindri/core/long_wait.h"
#include "src/comm/socket.h"
#include "src/comm/store_client.h"
#include "src/comm/store_wire.h"

namespace sindri::comm {

struct StoreClient::State {
  StoreConfig config;
  Socket socket, wake;
  int rank = -1;
  std::string job_id, buffer, own_address;
  int64_t owner = getpid();

  std::mutex mutex;
  std::condition_variable changed;
  std::string out;  // to be sent
  struct Answer {
    bool there = false;
    std::string value;
  };
  std::map<int64_t, Answer> requests;
  int64_t next_id = 1;
  std::vector<Peer> peers;  // from READY on
  std::shared_ptr<const CommError> verdict;
  bool leaving = false, stopped = false;
  std::function<Pulse()> pulse;
  std::function<void(const CommError&)> on_verdict;
  bool verdict_sent = false;

  // Used by the thread only.
  double heard = 0, beat = 0;
  std::thread thread;

  void run();
  bool turn(double* last_turn);
  void line(const std::string& text);
  void ended(int problem);
  void give(const CommError& error);
  void tell_verdict();
  void flush();
  void send_beat(double now);
  void post(const std::string& text);
  std::string ask(const std::vector<std::string>& command, double timeout, const std::string& what);
  CommError lost_contact(const std::string& how) const;
};

void StoreClient::State::post(const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    out += text;
  }
  const uint64_t one = 1;
  (void)!write(wake.get(), &one, sizeof one);
}

CommError StoreClient::State::lost_contact(const std::string& how) const {
  return CommError(ErrorCode::kPeerLost, fmt::format("rank {} lost contact with {} ({}): {}", rank, config.keeper, config.address, how), "",
                   fmt::format("see the log of {}; continue from the last checkpoint with --resume", config.keeper));
}

void StoreClient::State::give(const CommError& error) {
  {
    const std::lock_guard lock(mutex);
    if (verdict != nullptr || leaving) return;
    verdict = std::make_shared<CommError>(error);
    changed.notify_all();
  }
  tell_verdict();
}

void StoreClient::State::tell_verdict() {
  std::function<void(const CommError&)> f;
  {
    const std::lock_guard lock(mutex);
    if (verdict == nullptr || verdict_sent || !on_verdict) return;
    verdict_sent = true;
    f = on_verdict;
  }
  f(*verdict);
}

void StoreClient::State::ended(int problem) {
  socket.reset();
  const bool died = problem == 0 || problem == ECONNRESET || problem == EPIPE;
  if (!died) return give(lost_contact(std::strerror(problem)));
  std::string who = config.keeper;
  {
    // Waits as long as the server does when another rank dies. mpirun's exit code is that of the first process that it
    // sees end, and that has to be the rank that keeps the store.
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(kBetterEvidence), [&] { return leaving; });
    if (config.keeper == "rank 0" && !peers.empty()) who = fmt::format("rank 0 ({}, pid {})", peers[0].host, peers[0].pid);
  }
  give(CommError(ErrorCode::kPeerLost, fmt::format("{} died: it closed its connection to rank {}", who, rank), "the store at " + config.address,
                 fmt::format("see the log of {}; continue from the last checkpoint with --resume", config.keeper)));
}

void StoreClient::State::line(const std::string& text) {
  const std::optional<std::vector<std::string>> fields = split_line(text);
  if (!fields) return;
  const std::vector<std::string>& f = *fields;
  if (f[0] == "OK" && f.size() == 3) {
    const std::lock_guard lock(mutex);
    const auto it = requests.find(field_number(f[1]).value_or(0));
    if (it != requests.end()) it->second = {true, f[2]};
    changed.notify_all();
  } else if (f[0] == "READY") {
    const std::lock_guard lock(mutex);
    for (size_t i = 1; i + 3 < f.size(); i += 4)
      peers.push_back({static_cast<int>(peers.size()), f[i], f[i + 1], field_number(f[i + 2]).value_or(0), f[i + 3]});
    changed.notify_all();
  } else if (f[0] == "VERDICT") {
    give(error_of(f));
  } else if (f[0] == "WARN" && f.size() == 2) {
    log::warn("comm", f[1]);
  }
}

void StoreClient::State::flush() {
  for (;;) {
    std::string part;
    {
      const std::lock_guard lock(mutex);
      part = out.substr(0, 1 << 16);
    }
    if (part.empty() || !socket.open()) return;
    const ssize_t n = send(socket.get(), part.data(), part.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // buffer full, or connection ended: reading will tell
    const std::lock_guard lock(mutex);
    out.erase(0, static_cast<size_t>(n));
  }
}

void StoreClient::State::send_beat(double now) {
  if (now - beat < config.options.heartbeat || !socket.open()) return;
  beat = now;
  std::function<Pulse()> f;
  {
    const std::lock_guard lock(mutex);
    if (verdict != nullptr || leaving || out.size() > (1 << 20)) return;
    f = pulse;
  }
  Pulse p;
  p.phase = "start";
  if (f) p = f();
  const std::string text = make_line({"HB", std::to_string(p.step), p.phase, std::to_string(p.call), p.inside ? "1" : "0", fmt::format("{:.3f}", p.waited),
                                      p.text, p.group, fmt::format("{}", fmt::join(p.members, ","))});
  const std::lock_guard lock(mutex);
  out += text;
}

bool StoreClient::State::turn(double* last_turn) {
  bool waiting = false;
  {
    const std::lock_guard lock(mutex);
    waiting = !out.empty();
    if (stopped) return false;
  }
  pollfd polled[2] = {{wake.get(), POLLIN, 0}, {socket.get(), static_cast<short>(POLLIN | (waiting ? POLLOUT : 0)), 0}};
  poll(polled, socket.open() ? 2 : 1, static_cast<int>(std::min(1.0, std::max(0.01, config.options.heartbeat / 4)) * 1000));
  uint64_t woken = 0;
  if (polled[0].revents != 0) (void)!read(wake.get(), &woken, sizeof woken);
  const double now = now_seconds();
  // This process did not run for a while: the server's messages wait in the socket, or will come with its next answer.
  if (now - *last_turn > std::min(2.0, config.options.lost_after / 2)) heard = std::max(heard, now - config.options.lost_after + 2);
  *last_turn = now;
  if (socket.open() && polled[1].revents != 0) {
    char block[65536];
    const ssize_t n = recv(socket.get(), block, sizeof block, 0);
    const int problem = n == 0 ? 0 : errno;
    if (n > 0) {
      heard = now;
      buffer.append(block, static_cast<size_t>(n));
      while (const std::optional<std::string> text = take_line(&buffer)) line(*text);
    } else if (n == 0 || (problem != EAGAIN && problem != EWOULDBLOCK && problem != EINTR)) {
      ended(problem);
    }
  }
  if (socket.open() && now - heard > config.options.lost_after) {
    const bool alive = all_acknowledged(socket.get());
    give(lost_contact(fmt::format("no sign of life for {:.1f} s; {}", now - heard,
                                  alive ? "its process is stopped or hangs, as its host still answers" : "its host or the link to it is gone")));
  }
  send_beat(now);
  flush();
  return true;
}

void StoreClient::State::run() {
  double last_turn = now_seconds();
  while (turn(&last_turn)) {}
}

// Sends a request and waits for its answer, or for the verdict.
std::string StoreClient::State::ask(const std::vector<std::string>& command, double timeout, const std::string& what) {
  int64_t id = 0;
  std::vector<std::string> fields = command;
  {
    const std::lock_guard lock(mutex);
    id = next_id++;
    requests[id] = {};
  }
  fields.insert(fields.begin() + 1, std::to_string(id));
  post(make_line(fields));
  const double limit = timeout > 0 ? timeout : config.options.init_timeout;
  std::string value;
  long_wait([&] {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(limit), [&] { return requests[id].there || verdict != nullptr || leaving; });
    const Answer answer = requests[id];
    requests.erase(id);
    if (answer.there) {
      value = answer.value;
      return;
    }
    if (verdict != nullptr) throw CommError(*verdict);
    const bool left = leaving;
    lock.unlock();
    if (left) throw CommError(ErrorCode::kComm, fmt::format("rank {} has left the job's store", rank));
    post(make_line({"FORGET", std::to_string(id)}));
    throw CommError(ErrorCode::kRendezvous, fmt::format("rank {} waited {:g} s for {}", rank, limit, what), "the store at " + config.address,
                    "see the logs of the other ranks: one of them did not get this far");
  });
  return value;
}

StoreClient::StoreClient(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->heard = now_seconds();
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

StoreClient::~StoreClient() {
  if (state_->owner != getpid()) {  // in a forked child the thread belongs to the parent
    (void)state_.release();
    return;
  }
  bye();
}

int StoreClient::rank() const { return state_->rank; }
const std::string& StoreClient::job_id() const { return state_->job_id; }

std::string StoreClient::own_address() const {
  const std::lock_guard lock(state_->mutex);
  const auto rank = static_cast<size_t>(state_->rank);
  return is_loopback(state_->own_address) && rank < state_->peers.size() ? state_->peers[rank].address : state_->own_address;
}

std::vector<Peer> StoreClient::join() {
  std::vector<Peer> peers;
  long_wait([&] {
    std::unique_lock lock(state_->mutex);
    // The server's verdict names the missing ranks; the extra time lets it arrive.
    const double limit = state_->config.options.init_timeout + state_->config.options.lost_after + 2;
    state_->changed.wait_for(lock, std::chrono::duration<double>(limit), [&] { return !state_->peers.empty() || state_->verdict != nullptr; });
    if (state_->verdict != nullptr) throw CommError(*state_->verdict);
    if (state_->peers.empty())
      throw CommError(ErrorCode::kRendezvous, fmt::format("rank {} waited {:g} s for the others", state_->rank, limit),
                      "the store at " + state_->config.address, "see the log of " + state_->config.keeper);
    peers = state_->peers;
  });
  return peers;
}

void StoreClient::set(const std::string& key, const std::string& value) { state_->ask({"SET", key, value}, 0, fmt::format("the store to take '{}'", key)); }

std::string StoreClient::get(const std::string& key, double timeout) { return state_->ask({"GET", key}, timeout, fmt::format("'{}' from another rank", key)); }

void StoreClient::wait(const std::vector<std::string>& keys, double timeout) {
  const double limit = timeout > 0 ? timeout : state_->config.options.init_timeout, end = now_seconds() + limit;
  for (const std::string& key : keys) get(key, std::max(0.001, end - now_seconds()));
}

int64_t StoreClient::add(const std::string& key, int64_t n) {
  return field_number(state_->ask({"ADD", key, std::to_string(n)}, 0, fmt::format("the store to count '{}'", key))).value_or(0);
}

void StoreClient::start(std::function<Pulse()> pulse, std::function<void(const CommError&)> verdict) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->pulse = std::move(pulse);
    state_->on_verdict = std::move(verdict);
  }
  state_->tell_verdict();
}

void StoreClient::report(const CommError& error) { state_->post(make_line(error_fields("ABORT", error))); }

std::shared_ptr<const CommError> StoreClient::verdict(double seconds) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return state_->verdict != nullptr; });
  return state_->verdict;
}

void StoreClient::bye() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    if (state_->verdict == nullptr) state_->out += make_line({"BYE"});
    state_->leaving = true;
    state_->stopped = true;
    state_->changed.notify_all();
  }
  const uint64_t one = 1;
  (void)!write(state_->wake.get(), &one, sizeof one);
  state_->thread.join();
  // This thread sends the remaining output; the server answers BYE by closing. One second suffices for a server that is alive.
  const double end = now_seconds() + 1;
  while (state_->socket.open() && state_->verdict == nullptr && now_seconds() < end) {
    state_->flush();
    pollfd p{state_->socket.get(), POLLIN, 0};
    poll(&p, 1, 20);
    char block[4096];
    const ssize_t n = recv(state_->socket.get(), block, sizeof block, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) break;
  }
  state_->socket.reset();
}

std::shared_ptr<StoreClient> connect(const StoreConfig& config, int rank) {
  std::shared_ptr<StoreClient> client;
  long_wait([&] {
    StoreLink link = open_link(config, std::to_string(rank));
    auto state = std::make_unique<StoreClient::State>();
    state->config = config;
    state->own_address = local_end(link.socket.get()).first;
    state->socket = std::move(link.socket);
    state->buffer = std::move(link.buffer);
    state->wake = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    state->rank = link.rank;
    state->job_id = link.job_id;
    client = std::make_shared<StoreClient>(std::move(state));
  });
  return client;
}

}  // namespace sindri::comm
