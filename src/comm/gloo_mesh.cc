// See gloo_mesh.h.
#include "src/comm/gloo_mesh.h"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstring>

#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "src/comm/plugin.h"
#include "src/comm/token.h"

namespace sindri::comm {

namespace {

using Clock = std::chrono::steady_clock;

const GlooTable& gloo_library() {
  static const GlooTable* const table = [] {
    const char* const fix = "install the package libgloo0, or choose another dist.backend";
    const auto function = reinterpret_cast<GlooTableFunction>(open_plugin("libsindri_gloo.so", kGlooTableSymbol, false, fix));
    const GlooTable* const found = function();
    if (found->version != GlooTable::kVersion)
      throw CommError(ErrorCode::kCommLibrary, "libsindri_gloo.so belongs to another version of Sindri", "comm::init", fix);
    return found;
  }();
  return *table;
}

constexpr size_t kNonce = 32, kProof = 64;  // number of hexadecimal digits
constexpr uint64_t kNonceSlot = 1, kProofSlot = 2;  // used before any group has slots

std::string proof(const std::string& token, int from, int to, std::string_view nonce_from, std::string_view nonce_to) {
  return hmac_sha256(token, fmt::format("sindri data connection {} {} {} {}", from, to, nonce_from, nonce_to));
}

// Gloo writes to sockets whose other end may be closed. It handles the error but not SIGPIPE, which would end the
// process. Threads created while the signal is blocked keep it blocked.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    mine_ = sigismember(&pending, SIGPIPE) == 0 && pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~NoBrokenPipe() {
    if (!mine_) return;
    const timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) {}  // signals raised by these calls
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool mine_ = false;
};

Clock::duration seconds(double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); }

}  // namespace

struct GlooConnections::Active {
  std::vector<GlooMessage*> messages;
  std::span<const Transfer> transfers;
  Clock::time_point begin = Clock::now();
  size_t waiting = 0;  // index of the transfer that is waited for
  bool warned = false;
};

GlooConnections::GlooConnections(std::shared_ptr<Session> session, const GlooConfig& config) : session_(std::move(session)), gloo_(gloo_library()) {
  const NoBrokenPipe quiet;
  GlooError error;
  mesh_ =
      gloo_.open(config.address.c_str(), session_->identity.rank, session_->identity.size, static_cast<int64_t>(session_->options.init_timeout * 1000), &error);
  if (mesh_ == nullptr)
    throw CommError(ErrorCode::kRendezvous, fmt::format("Gloo cannot listen at {}: {}", config.address, error.text), "comm::init",
                    "dist.interface names the network interface, or its subnet, that the other hosts reach");
  watcher_ = std::thread(in_this_runtime([this] { watch(); }));
  try {
    connect_all(config);
    prove(config);
    const std::lock_guard lock(mutex_);
    proven_ = true;
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    watcher_.join();
    gloo_.close(mesh_);
    throw;
  }
}

GlooConnections::~GlooConnections() {
  const NoBrokenPipe quiet;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watcher_.join();
  gloo_.close(mesh_);
}

bool GlooConnections::far(int world_rank) const {
  return session_->host_of[static_cast<size_t>(world_rank)] != session_->host_of[static_cast<size_t>(session_->identity.rank)];
}

void GlooConnections::connect_all(const GlooConfig& config) {
  const int me = session_->identity.rank, size = session_->identity.size;
  // One value for each rank: its address, and the endpoints that each other rank connects to.
  GlooError error;
  std::string mine = config.address + '\n';
  for (int peer = 0; peer < size; ++peer) {
    std::array<char, 512> bytes{};
    const int n = peer == me ? 0 : gloo_.address(mesh_, peer, bytes.data(), static_cast<int>(bytes.size()), &error);
    if (n < 0) throw CommError(ErrorCode::kCommLibrary, fmt::format("Gloo: {}", error.text), "comm::init");
    for (int i = 0; i < n; ++i) mine += fmt::format("{:02x}", static_cast<unsigned char>(bytes[static_cast<size_t>(i)]));
    mine += '\n';
  }
  config.set(fmt::format("gloo/{}", me), mine);
  std::vector<PairFailure> failures;
  addresses_.resize(static_cast<size_t>(size));
  for (int peer = 0; peer < size; ++peer) {
    if (peer == me) continue;
    session_->check();
    const std::string theirs = config.get(fmt::format("gloo/{}", peer));
    size_t begin = theirs.find('\n');
    const std::string address = addresses_[static_cast<size_t>(peer)] = theirs.substr(0, begin);
    for (int skip = 0; skip < me && begin != std::string::npos; ++skip) begin = theirs.find('\n', begin + 1);
    const size_t end = begin == std::string::npos ? begin : theirs.find('\n', begin + 1);
    if (end == std::string::npos) throw CommError(ErrorCode::kRendezvous, fmt::format("rank {} published no address for rank {}", peer, me), "comm::init");
    std::string bytes;
    for (size_t i = begin + 1; i + 1 < end; i += 2) bytes += static_cast<char>(std::stoi(theirs.substr(i, 2), nullptr, 16));
    if (gloo_.connect(mesh_, peer, bytes.data(), static_cast<int>(bytes.size()), &error) != 0) failures.push_back({peer, address, config.address, error.text});
  }
  if (config.agree) return config.agree(failures);
  if (!failures.empty())
    throw CommError(ErrorCode::kRendezvous,
                    fmt::format("rank {} at {} cannot reach rank {} at {}: {}", me, config.address, failures[0].peer, failures[0].address, failures[0].reason),
                    "comm::init", "dist.interface names the network interface, or its subnet, that the other hosts reach");
}

// Gloo accepts any peer that connects first. Before any data of the job is sent, both sides prove over the connection
// itself that they know the token.
void GlooConnections::prove(const GlooConfig& config) {
  const int me = session_->identity.rank, size = session_->identity.size;
  const auto count = static_cast<size_t>(size);
  std::vector<std::string> own(count), theirs(count, std::string(kNonce, '\0')), shown(count), seen(count, std::string(kProof, '\0'));
  std::vector<Transfer> nonces, proofs;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == me) continue;
    const auto p = static_cast<size_t>(peer);
    own[p] = random_text();
    nonces.push_back({peer, theirs[p].data(), kNonce, kNonceSlot, false});
    nonces.push_back({peer, own[p].data(), kNonce, kNonceSlot, true});
  }
  const auto idle = [] { return false; };
  exchange(nonces, 0, nullptr, idle);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == me) continue;
    const auto p = static_cast<size_t>(peer);
    shown[p] = proof(config.token, me, peer, own[p], theirs[p]);
    proofs.push_back({peer, seen[p].data(), kProof, kProofSlot, false});
    proofs.push_back({peer, shown[p].data(), kProof, kProofSlot, true});
  }
  exchange(proofs, 0, nullptr, idle);
  for (int peer = 0; peer < size; ++peer) {
    const auto p = static_cast<size_t>(peer);
    if (peer == me || same_proof(seen[p], proof(config.token, peer, me, theirs[p], own[p]))) continue;
    throw CommError(ErrorCode::kRendezvous, fmt::format("the process at {} that claims to be rank {} does not know the token of this job", addresses_[p], peer),
                    "comm::init", "end processes of earlier jobs there, and give all ranks the same SINDRI_JOB_TOKEN");
  }
}

void GlooConnections::lost(int peer, const char* said) const {
  session_->check();
  const auto& address = addresses_[static_cast<size_t>(peer)];
  throw CommError(proven_ ? ErrorCode::kPeerLost : ErrorCode::kRendezvous,
                  fmt::format("the connection of rank {} to rank {} ({}) ended: {}", session_->identity.rank, peer, address, said), "",
                  fmt::format("see the last lines of rank {}", peer));
}

void GlooConnections::wait_for(Active& active, size_t index) {
  {
    const std::lock_guard lock(mutex_);
    active.waiting = index;
  }
  GlooError error;
  const int result = gloo_.wait(active.messages[index], &error);
  if (result == 0) return;
  if (result < 0) lost(active.transfers[index].peer, error.text);
  session_->check();
  throw InternalError("a wait in Gloo was aborted although nothing has failed");
}

void GlooConnections::exchange(std::span<const Transfer> transfers, size_t leading, const std::function<void()>& first, const std::function<bool()>& work) {
  session_->check();
  if (transfers.empty()) {  // a world of one rank
    while (work()) {}
    return;
  }
  const NoBrokenPipe quiet;
  Active active;
  active.transfers = transfers;
  // The watch thread must not use a message after its release.
  struct Release {
    GlooConnections& mesh;
    Active& active;
    ~Release() {
      {
        const std::lock_guard lock(mesh.mutex_);
        mesh.active_ = nullptr;
      }
      for (GlooMessage* const m : active.messages) mesh.gloo_.release(m);
    }
  } release{*this, active};
  active.messages.reserve(transfers.size());
  GlooError error;
  for (const Transfer& t : transfers) {
    GlooMessage* const message = gloo_.post(mesh_, t.peer, t.data, t.bytes, t.slot, t.send ? 1 : 0, &error);
    if (message == nullptr) lost(t.peer, error.text);
    active.messages.push_back(message);
  }
  {
    const std::lock_guard lock(mutex_);
    active_ = &active;
  }
  changed_.notify_all();
  session_->check();  // a failure before active_ was set has aborted none of these messages
  while (work()) session_->check();
  for (size_t i = 0; i < leading; ++i) wait_for(active, i);
  if (first) first();
  for (const bool send : {false, true})
    for (size_t i = leading; i < transfers.size(); ++i)
      if (transfers[i].send == send) wait_for(active, i);
}

// Ends waits that take too long, as Gloo's have no time limit. Runs until the connections are closed.
void GlooConnections::watch() {
  const Options& options = session_->options;
  bool told = false;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    // Sleeps until a call or a failure. The time limit is needed because a failure is not signalled while connections are still being made.
    changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (session_->failed() && !told) {
      told = true;
      if (active_ != nullptr)
        for (GlooMessage* const m : active_->messages) gloo_.abort(m);
      lock.unlock();
      gloo_.cut(mesh_);  // ends the other ranks' waits too
      lock.lock();
      continue;
    }
    if (active_ == nullptr || told) continue;
    const auto waited = Clock::now() - active_->begin;
    const int peer = active_->transfers[active_->waiting].peer;
    // If the session has a watch, which knows what the other ranks do, it reports first.
    const double limit = proven_ ? options.op_timeout + (session_->judge ? 2 : 0) : options.init_timeout;
    if (waited > seconds(limit)) {
      lock.unlock();
      session_->fail(
          CommError(proven_ ? ErrorCode::kCommTimeout : ErrorCode::kRendezvous,
                    fmt::format("rank {} waited {:.4g} s for rank {} ({})", session_->identity.rank, limit, peer, addresses_[static_cast<size_t>(peer)]),
                    session_->where(), "check what that rank does; dist.op_timeout limits how long a call waits"));
      lock.lock();
    } else if (waited > seconds(options.op_warn) && !active_->warned && !session_->judge) {
      active_->warned = true;
      log::warn("comm", fmt::format("rank {}: {} has waited {:.4g} s for rank {}", session_->identity.rank, session_->where(), options.op_warn, peer));
    }
  }
}

}  // namespace sindri::comm
