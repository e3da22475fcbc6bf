// The store's server: one thread that accepts, greets, answers, and asks the jury for verdicts. See store.h.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "sindri/core/log.h"
#include "sindri/version.h"
#include "src/comm/jury.h"
#include "src/comm/socket.h"
#include "src/comm/store.h"
#include "src/comm/store_wire.h"
#include "src/comm/token.h"

namespace sindri::comm {

namespace {

constexpr size_t kMostStrangers = 100;  // connections that have not greeted yet
constexpr double kFarewell = 2;  // seconds that the destructor waits for BYE
constexpr int kObserver = -2;

struct Connection {
  Socket socket;
  std::string from;  // "10.0.0.2:41234"
  std::string nonce, in, out;
  double since = 0;
  bool greeted = false, closing = false;  // closing: once `out` has been sent
  int rank = -1;  // kObserver: a launcher
};

// Prevents other processes from writing lines of their choice into the log.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return text.size() > 60 ? out + "…" : out;
}

}  // namespace

struct StoreServer::State {
  explicit State(StoreConfig c) : config(std::move(c)), jury(config, now_seconds()) {}

  StoreConfig config;
  Socket listener, wake;
  std::string job_id;
  int64_t owner = getpid();

  // Used by the thread only.
  Jury jury;
  std::list<Connection> connections;
  std::map<std::string, std::string> values;
  struct Wait {
    Connection* who;
    std::string id, key;
  };
  std::vector<Wait> waits;
  std::string reach;  // this host's address, as seen by a rank on another host
  int arrivals = 0;
  bool ready = false;
  double last_turn = 0;
  int refusals = 0;
  double quiet_until = 0;

  std::mutex mutex;
  std::condition_variable ended;
  bool stop = false, over = false;
  std::shared_ptr<const CommError> verdict;
  std::thread thread;

  void run();
  bool turn();
  void accept_all();
  void receive(Connection& c);
  void flush(Connection& c);
  void greet(Connection& c, const std::string& line);
  void welcome(Connection& c, const std::vector<std::string>& hello, const std::string& proof);
  std::string refusal(const std::vector<std::string>& hello, int* rank) const;
  void refuse(Connection& c, const std::string& reason);
  void answer(Connection& c, const std::string& line);
  void store(Connection& c, const std::vector<std::string>& f);
  void announce();
  void closed(Connection& c, int problem);
  void tell_all(const std::string& line);
  void give(const CommError& error);
  void note_refusal(const std::string& text);
  bool answers(int rank);
};

// At most a few lines per minute: flooding the port must not flood the log.
void StoreServer::State::note_refusal(const std::string& text) {
  const double now = now_seconds();
  if (now >= quiet_until) refusals = 0;
  if (refusals == 0) quiet_until = now + 60;
  if (++refusals <= 20) log::warn("comm", text);
  if (refusals == 20) log::warn("comm", "further refusals of this minute are not shown");
}

void StoreServer::State::refuse(Connection& c, const std::string& reason) {
  note_refusal(fmt::format("refused a connection from {} to {}: {}", c.from, config.address, reason));
  c.out += make_line({"REFUSED", reason});
  c.closing = true;
  c.since = now_seconds();
}

void StoreServer::State::accept_all() {
  for (;;) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    Socket s(accept4(listener.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!s.open()) return;  // none left; or out of descriptors, which may be temporary
    watch_link(s.get());
    Connection& c = connections.emplace_back();
    const auto [host, port] = remote_end(s.get());
    c.from = join_address(host, port);
    c.socket = std::move(s);
    c.since = now_seconds();
    const auto strangers = std::count_if(connections.begin(), connections.end(), [](const Connection& o) { return !o.greeted && !o.closing; });
    if (static_cast<size_t>(strangers) > kMostStrangers) {
      const std::string line = make_line({"REFUSED", "busy"});
      note_refusal(fmt::format("refused a connection from {} to {}: {} others have not greeted yet", c.from, config.address, kMostStrangers));
      (void)!send(c.socket.get(), line.data(), line.size(), MSG_NOSIGNAL);
      connections.pop_back();
      continue;
    }
    c.nonce = random_text();
    c.out = make_line({"SINDRI-STORE", kStoreProtocol, c.nonce});
  }
}

void StoreServer::State::greet(Connection& c, const std::string& line) {
  const std::optional<std::vector<std::string>> fields = split_line(line);
  if (!fields || fields->empty() || (*fields)[0] != "HELLO") return refuse(c, fmt::format("it does not speak the store's protocol ('{}')", printable(line)));
  std::vector<std::string> hello = *fields;
  if (hello.size() < 2 || hello[1] != kStoreProtocol)
    return refuse(c, fmt::format("another version of the store's protocol: {}, this is {}", hello.size() < 2 ? "none" : printable(hello[1]), kStoreProtocol));
  if (hello.size() != 12) return refuse(c, "its greeting is malformed");
  const std::string proof = hello.back();
  hello.pop_back();
  welcome(c, hello, proof);
}

// Returns why a greeting with a correct proof is refused. If it is accepted, returns an empty string and sets *rank to the requested rank.
std::string StoreServer::State::refusal(const std::vector<std::string>& hello, int* rank) const {
  if (hello[2] != SINDRI_VERSION_STRING) return fmt::format("it runs version {} of Sindri, this is {}", printable(hello[2]), SINDRI_VERSION_STRING);
  if (hello[3] != byte_order()) return fmt::format("its byte order is {}, here it is {}", printable(hello[3]), byte_order());
  if (hello[5] == "launcher") {
    *rank = kObserver;
    return "";
  }
  if (hello[6] != std::to_string(config.size)) return fmt::format("it expects {} ranks, this job has {}", printable(hello[6]), config.size);
  const std::optional<int64_t> wanted = field_number(hello[5]);
  if (!wanted || *wanted < -1 || *wanted >= config.size) return fmt::format("rank '{}' is not one of 0 … {}", printable(hello[5]), config.size - 1);
  *rank = static_cast<int>(*wanted);
  for (int r = 0; *rank < 0 && r < config.size; ++r)
    if (!jury.there(r)) *rank = r;
  if (*rank < 0) return fmt::format("all {} ranks have joined already", config.size);
  if (jury.there(*rank)) return fmt::format("rank {} has joined already ({}, pid {})", *rank, jury.peer(*rank).host, jury.peer(*rank).pid);
  return "";
}

void StoreServer::State::welcome(Connection& c, const std::vector<std::string>& hello, const std::string& proof) {
  const std::string tag = job_tag(config.options.job_id);
  if (!tag.empty() && !hello[4].empty() && hello[4] != tag) return refuse(c, "it belongs to another job (dist.job_id)");
  if (!same_proof(proof, client_proof(config, c.nonce, hello)))
    return refuse(c, "wrong token: it belongs to another job, or its SINDRI_JOB_TOKEN, rank table or address differs from this job's");
  int rank = -1;
  const std::string reason = refusal(hello, &rank);
  if (!reason.empty()) return refuse(c, reason);
  c.greeted = true;
  c.rank = rank;
  c.out += make_line({"WELCOME", std::to_string(rank), job_id, server_proof(config, c.nonce, hello[9], std::to_string(rank), job_id)});
  if (rank == kObserver) return;
  const auto [host, port] = remote_end(c.socket.get());
  jury.joined({rank, hello[7], host, field_number(hello[8]).value_or(0), hello[10]}, now_seconds());
  const std::string here = local_end(c.socket.get()).first;
  if (!is_loopback(here) && (reach.empty() || here != host)) reach = here;
  log::info("comm", fmt::format("rank {} ({}, pid {}) joined from {}", rank, printable(hello[7]), printable(hello[8]), c.from));
  if (jury.complete() && !ready) announce();
}

void StoreServer::State::announce() {
  ready = true;
  std::vector<std::string> line = {"READY"};
  for (int r = 0; r < config.size; ++r) {
    const Peer& p = jury.peer(r);
    // A rank that connected over the loopback is on this host: the others reach it at this host's address.
    const std::string address = is_loopback(p.address) && !reach.empty() ? reach : p.address;
    line.insert(line.end(), {p.host, address, std::to_string(p.pid), p.machine});
  }
  tell_all(make_line(line));
}

void StoreServer::State::tell_all(const std::string& line) {
  for (Connection& c : connections)
    if (c.greeted && c.rank >= 0 && !c.closing) c.out += line;
}

void StoreServer::State::store(Connection& c, const std::vector<std::string>& f) {
  if (f[0] == "GET") {
    const auto it = values.find(f[2]);
    if (it != values.end()) {
      c.out += make_line({"OK", f[1], it->second});
    } else {
      waits.push_back({&c, f[1], f[2]});
    }
    return;
  }
  std::string value = f[3];
  if (f[0] == "ADD") {
    const auto it = values.find(f[2]);
    const int64_t old = it == values.end() ? 0 : field_number(it->second).value_or(0);
    value = std::to_string(old + field_number(value).value_or(0));
  }
  values[f[2]] = value;
  c.out += make_line({"OK", f[1], f[0] == "ADD" ? value : ""});
  std::erase_if(waits, [&](const Wait& w) {
    if (w.key != f[2]) return false;
    w.who->out += make_line({"OK", w.id, value});
    return true;
  });
}

void StoreServer::State::answer(Connection& c, const std::string& line) {
  const std::optional<std::vector<std::string>> fields = split_line(line);
  const double now = now_seconds();
  if (fields && c.rank == kObserver) {
    if ((*fields)[0] == "ENDED" && fields->size() == 3) jury.told(static_cast<int>(field_number((*fields)[1]).value_or(-1)), (*fields)[2], now);
    c.out += make_line({"OK"});
    return;
  }
  const std::vector<std::string> f = fields.value_or(std::vector<std::string>{""});
  if (f[0] == "HB" && f.size() == 9) {
    Pulse p{field_number(f[1]).value_or(0), f[2], field_number(f[3]).value_or(0), f[4] == "1", std::atof(f[5].c_str()), f[6], f[7], {}};
    size_t at = 0;
    while (at < f[8].size()) {
      const size_t comma = std::min(f[8].find(',', at), f[8].size());
      p.members.push_back(static_cast<int>(field_number(f[8].substr(at, comma - at)).value_or(-1)));
      at = comma + 1;
    }
    jury.pulse(c.rank, p, now);
    c.out += make_line({"BEAT"});
  } else if ((f[0] == "SET" || f[0] == "ADD") && f.size() == 4) {
    store(c, f);
  } else if (f[0] == "GET" && f.size() == 3) {
    store(c, f);
  } else if (f[0] == "FORGET" && f.size() == 2) {  // a GET that has reached its time limit
    std::erase_if(waits, [&](const Wait& w) { return w.who == &c && w.id == f[1]; });
  } else if (f[0] == "ABORT" && f.size() == 5) {
    jury.reported(c.rank, error_of(f), now);
  } else if (f[0] == "BYE") {
    jury.bye(c.rank, now);
    c.closing = true;
  } else {
    jury.reported(c.rank, CommError(ErrorCode::kComm, fmt::format("a line that the store does not know: '{}'", printable(line))), now);
  }
}

void StoreServer::State::closed(Connection& c, int problem) {
  if (c.greeted && c.rank >= 0) {
    jury.lost(c.rank, problem, now_seconds());
  } else if (!c.greeted && !c.closing) {
    note_refusal(fmt::format("a connection from {} to {} ended before its greeting", c.from, config.address));
  }
  c.socket.reset();
}

void StoreServer::State::receive(Connection& c) {
  char block[65536];
  int problem = -1;
  for (int blocks = 0; blocks < 64; ++blocks) {
    const ssize_t n = recv(c.socket.get(), block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) {
      problem = n == 0 ? 0 : errno;
      break;
    }
    if (!c.closing) c.in.append(block, static_cast<size_t>(n));
    if (c.in.size() > (c.greeted ? kMostLine : kMostGreeting)) break;
  }
  while (!c.closing) {
    const std::optional<std::string> line = take_line(&c.in);
    if (!line) break;
    if (c.greeted) {
      answer(c, *line);
    } else {
      greet(c, *line);
    }
  }
  if (!c.closing && c.in.size() > (c.greeted ? kMostLine : kMostGreeting)) {
    const std::string reason = fmt::format("a line of more than {} bytes", c.greeted ? kMostLine : kMostGreeting);
    if (c.greeted && c.rank >= 0) jury.reported(c.rank, CommError(ErrorCode::kComm, "its store was sent " + reason), now_seconds());
    refuse(c, reason);
  }
  if (problem >= 0) closed(c, problem);
}

void StoreServer::State::flush(Connection& c) {
  while (c.socket.open() && !c.out.empty()) {
    const ssize_t n = send(c.socket.get(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) return closed(c, errno);
    c.out.erase(0, static_cast<size_t>(n));
  }
  if (c.socket.open() && c.closing) {
    shutdown(c.socket.get(), SHUT_WR);
    // The other side must read its messages before it sees the end; a reset would discard them.
    if (now_seconds() - c.since > 1 || c.greeted) c.socket.reset();
  }
}

bool StoreServer::State::answers(int rank) {
  for (const Connection& c : connections)
    if (c.rank == rank && c.socket.open()) return all_acknowledged(c.socket.get());
  return false;
}

void StoreServer::State::give(const CommError& error) {
  tell_all(make_line(error_fields("VERDICT", error)));
  // The rank of this process comes last: it may end the process at once, and the others must have received the verdict by then.
  for (const bool own : {false, true})
    for (Connection& c : connections)
      if ((c.rank == 0 && config.keeper == "rank 0") == own) flush(c);
  const std::lock_guard lock(mutex);
  verdict = std::make_shared<CommError>(error);
  ended.notify_all();
}

// Polls the sockets and the clock once; returns false at the end.
bool StoreServer::State::turn() {
  std::vector<pollfd> polled = {{listener.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}};
  std::vector<Connection*> who;
  for (Connection& c : connections) {
    polled.push_back({c.socket.get(), static_cast<short>(POLLIN | (c.out.empty() ? 0 : POLLOUT)), 0});
    who.push_back(&c);
  }
  poll(polled.data(), polled.size(), static_cast<int>(kTick * 1000));
  uint64_t woken = 0;
  if (polled[1].revents != 0) (void)!read(wake.get(), &woken, sizeof woken);
  const double now = now_seconds();
  // This process did not run (SIGSTOP, a laptop's lid): signs of life wait in the sockets.
  const double gap = now - last_turn;
  last_turn = now;
  for (size_t i = 0; i < who.size(); ++i)
    if (polled[i + 2].revents != 0 && who[i]->socket.open()) receive(*who[i]);
  if (polled[0].revents != 0) accept_all();
  if (gap > std::min(2.0, config.options.lost_after / 2)) jury.slept(config.keeper == "rank 0" ? 0 : -1, gap, now);
  for (Connection& c : connections) {
    if (!c.greeted && !c.closing && now - c.since > kGreetingTime) refuse(c, fmt::format("no greeting within {:g} s", kGreetingTime));
  }
  jury.tick(now, [this](int r) { return answers(r); });
  for (const std::string& w : jury.warnings()) {
    bool told = false;
    for (Connection& c : connections)
      if (c.rank == 0 && c.greeted) {
        c.out += make_line({"WARN", w});
        told = true;
      }
    if (!told) log::warn("comm", w);
  }
  if (const std::optional<CommError> error = jury.verdict(now)) give(*error);
  for (Connection& c : connections) flush(c);
  std::erase_if(waits, [](const Wait& w) { return !w.who->socket.open(); });
  connections.remove_if([](const Connection& c) { return !c.socket.open(); });
  const std::lock_guard lock(mutex);
  if (jury.over() && !over) {
    over = true;
    ended.notify_all();
  }
  return !stop;
}

void StoreServer::State::run() {
  last_turn = now_seconds();
  while (turn()) {}
  // Ranks that are still in their last call, or have not received the verdict yet.
  const double end = now_seconds() + kFarewell;
  const auto listens = [&](const Connection& c) { return c.greeted && c.rank >= 0 && (verdict == nullptr || !c.out.empty()); };
  while (std::any_of(connections.begin(), connections.end(), listens) && now_seconds() < end) turn();
}

StoreServer::StoreServer(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

StoreServer::~StoreServer() {
  if (state_->owner != getpid()) {  // in a forked child the thread belongs to the parent
    (void)state_.release();
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  const uint64_t one = 1;
  (void)!write(state_->wake.get(), &one, sizeof one);
  state_->thread.join();
}

int StoreServer::port() const { return local_end(state_->listener.get()).second; }

std::string StoreServer::address() const { return state_->config.address; }

std::shared_ptr<const CommError> StoreServer::wait_end() {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [this] { return state_->over || state_->verdict != nullptr; });
  return state_->verdict;
}

std::unique_ptr<StoreServer> serve(const StoreConfig& config) {
  const auto [host, port] = split_address(config.address);
  Socket listener;
  const std::optional<SocketProblem> problem = listen_at(host, port, &listener);
  if (problem && problem->number == EADDRINUSE) {
    const std::string owner = port_owner(port);
    throw CommError(ErrorCode::kRendezvous,
                    fmt::format("port {} for the rendezvous is in use{}", port, owner.empty() ? " by a process that is not visible here" : " by " + owner),
                    fmt::format("{} at {}", config.keeper, config.address), "end that process, or set another port for all ranks (SINDRI_MASTER_PORT)");
  }
  if (problem && problem->number == EADDRNOTAVAIL)
    throw CommError(ErrorCode::kRendezvous, fmt::format("{} should listen at {}, which is not an address of this host", config.keeper, config.address), "",
                    "start rank 0 on that host, or give all ranks the address of the host that it is on");
  if (problem)
    throw CommError(ErrorCode::kRendezvous, fmt::format("{} cannot listen at {}: {}", config.keeper, config.address, problem->text), "",
                    "set SINDRI_MASTER to host:port of rank 0");
  StoreConfig found = config;
  found.address = join_address(host, local_end(listener.get()).second);
  auto state = std::make_unique<StoreServer::State>(found);
  state->listener = std::move(listener);
  state->wake = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  state->job_id = config.options.job_id.empty() ? random_text() : config.options.job_id;
  log::info("comm", fmt::format("{} keeps the store at {} for {} ranks", config.keeper, found.address, config.size));
  return std::make_unique<StoreServer>(std::move(state));
}

}  // namespace sindri::comm
