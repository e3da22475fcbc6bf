// See watch.h.
#include "src/comm/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "src/comm/identity.h"
#include "src/comm/socket.h"

namespace sindri::comm {

namespace {

constexpr double kVerdictTime = 1.5;  // half a second to collect evidence, and the round trip on a busy machine
constexpr int kGuardTime = 5;  // seconds from the verdict to _exit

std::atomic<bool> g_guard{false};
std::atomic<bool> g_log_wanted{false};

void on_log_signal(int) { g_log_wanted = true; }

// SIGUSR2 would end the process; a handler installed by the program is kept.
void take_log_signal() {
  struct sigaction old {};
  if (sigaction(SIGUSR2, nullptr, &old) != 0 || (old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL) return;
  struct sigaction mine {};
  mine.sa_handler = on_log_signal;
  mine.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &mine, nullptr);
}

void start_guard(const CommError& error) {
  static std::atomic<bool> started{false};
  if (!g_guard || started.exchange(true)) return;
  const std::string text =
      fmt::format("error[E{}] the process still runs {} s after this, and is terminated: {}\n", static_cast<int>(error.code()), kGuardTime, error.what());
  std::thread([text, code = error.code()] {
    std::this_thread::sleep_for(std::chrono::seconds(kGuardTime));
    (void)!write(STDERR_FILENO, text.data(), text.size());
    leave_code(code);
    _exit(7);
  }).detach();
}

std::optional<CallRecord> last_call(const Session& session) {
  std::vector<CallRecord> all = session.calls();
  return all.empty() ? std::nullopt : std::optional(std::move(all.back()));
}

StoreConfig config_of(const Identity& identity, const Options& options) {
  StoreConfig c;
  c.address = identity.address;
  c.size = identity.size;
  c.token = job_token(process_environment(), options, identity);
  c.keeper = identity.source == "MS_ROLE" ? "the scheduler" : "rank 0";
  c.options = options;
  return c;
}

}  // namespace

void arm_exit_guard() { g_guard = true; }

void leave_code(ErrorCode code) {
  const char* const path = std::getenv("SINDRI_RESULT_FILE");
  if (path == nullptr || *path == '\0') return;
  if (std::FILE* const file = std::fopen(path, "we"); file != nullptr) {  // without this file, a launcher uses the exit code
    std::fprintf(file, "%d\n", static_cast<int>(code));
    std::fclose(file);
  }
}

void run_with_deadline(double seconds, const std::string& text, const std::function<void()>& f) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread clock(in_this_runtime([&] {
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return done; })) return;
    if (!g_guard) return log::warn("comm", text);
    const std::string line = fmt::format("error[E{}] {}\n", static_cast<int>(ErrorCode::kCommTimeout), text);
    (void)!write(STDERR_FILENO, line.data(), line.size());
    leave_code(ErrorCode::kCommTimeout);
    _exit(7);
  }));
  const auto end = [&] {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
    clock.join();
  };
  try {
    f();
  } catch (...) {
    end();
    throw;
  }
  end();
}

namespace {
std::atomic<bool> g_failed_at_end{false};

void exit_with_seven(int status, void*) {
  if (status != 0 || !g_failed_at_end) return;
  std::fflush(nullptr);
  _exit(7);
}
}  // namespace

void fail_at_exit() {
  static const int registered = on_exit(exit_with_seven, nullptr);
  (void)registered;
  g_failed_at_end = true;
}

Meeting meet(Identity* identity, const Options& options) {
  const StoreConfig config = config_of(*identity, options);
  Meeting m;
  if (identity->keeps_store) m.server = serve(config);
  m.client = connect(config, identity->rank);
  identity->rank = m.client->rank();
  m.peers = m.client->join();
  if (identity->local_rank >= 0 && identity->local_size > 0) return m;
  const std::string& machine = m.peers[static_cast<size_t>(identity->rank)].machine;
  const auto here = [&](const Peer& p) { return p.machine == machine; };
  identity->local_rank = static_cast<int>(std::count_if(m.peers.begin(), m.peers.begin() + identity->rank, here));
  identity->local_size = static_cast<int>(std::count_if(m.peers.begin(), m.peers.end(), here));
  return m;
}

void run_scheduler(const Identity& identity, const Options& options) {
  const std::unique_ptr<StoreServer> server = serve(config_of(identity, options));
  if (const std::shared_ptr<const CommError> verdict = server->wait_end()) throw CommError(*verdict);
}

struct Watch::Core {
  std::shared_ptr<StoreClient> client;
  std::weak_ptr<Session> session;  // weak: the session owns callbacks that own this object
  std::atomic<bool> told{false};  // the server knows, either from this rank or because it gave the verdict
  std::atomic<bool> closed{false};

  Pulse pulse();
  static CommError seen_from_here(const Session& s, const CommError& error);
  void verdict(const CommError& error);
  void failed(const CommError& error);
  CommError judge(const CommError& seen);
};

Pulse Watch::Core::pulse() {
  Pulse p;
  const std::shared_ptr<Session> s = session.lock();
  if (s == nullptr) return p;
  if (g_log_wanted.exchange(false)) {
    const std::string file = write_call_log(*s, client->job_id());
    if (!file.empty()) log::warn("comm", fmt::format("SIGUSR2: the calls of rank {} are in {}", s->identity.rank, file));
  }
  p.step = s->step;
  p.phase = s->phase.load();
  const std::optional<CallRecord> last = last_call(*s);
  if (!last) return p;
  p.call = last->number;
  p.inside = last->left == 0;
  p.waited = p.inside ? now_seconds() - last->began : 0;
  p.text = call_text(last->kind, last->what, last->index, last->bytes);
  p.group = last->group;
  p.members = last->members;
  return p;
}

// Returns the verdict with this rank's place before the server's.
CommError Watch::Core::seen_from_here(const Session& s, const CommError& error) {
  std::string where = s.where();
  const std::optional<CallRecord> last = last_call(s);
  if (last && last->left == 0) where += fmt::format("; this rank, {}, waited {:.1f} s", s.identity.rank, now_seconds() - last->began);
  if (!error.where().empty()) where += (where.empty() ? "" : "; ") + error.where();
  return CommError(error.code(), error.message(), where, error.fix());
}

// Runs on the client's thread.
void Watch::Core::verdict(const CommError& error) {
  const std::shared_ptr<Session> s = session.lock();
  told = true;
  if (s != nullptr && !closed) s->fail(seen_from_here(*s, error));
}

// Runs on the thread that found the error: the others are informed before this process may end.
void Watch::Core::failed(const CommError& error) {
  const std::shared_ptr<Session> s = session.lock();
  if (s == nullptr || closed) return;
  start_guard(error);
  const bool tells = !told.exchange(true);
  if (tells) client->report(error);  // before the call log, whose disk may hang
  write_call_log(*s, client->job_id());
  if (tells) client->verdict(kVerdictTime);
}

CommError Watch::Core::judge(const CommError& seen) {
  const std::shared_ptr<Session> s = session.lock();
  if (s != nullptr && s->failed()) return *s->failure();
  if (!told.exchange(true)) client->report(seen);
  const std::shared_ptr<const CommError> verdict = client->verdict(kVerdictTime);
  return verdict != nullptr && s != nullptr ? seen_from_here(*s, *verdict) : seen;
}

Watch::Watch(std::shared_ptr<Session> session, Meeting meeting) : session_(std::move(session)), meeting_(std::move(meeting)), core_(std::make_shared<Core>()) {
  core_->client = meeting_.client;
  core_->session = session_;
  take_log_signal();
  session_->judge = [core = core_](const CommError& seen) { return core->judge(seen); };
  session_->on_failure([core = core_](const CommError& error) { core->failed(error); });
  meeting_.client->start([core = core_] { return core->pulse(); }, [core = core_](const CommError& error) { core->verdict(error); });
}

Watch::~Watch() {
  core_->closed = true;
  meeting_.client->bye();
  meeting_.server.reset();
}

CommError Watch::judge(const CommError& seen) { return core_->judge(seen); }

}  // namespace sindri::comm
