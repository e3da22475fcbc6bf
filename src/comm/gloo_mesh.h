// This process's Gloo connections to all other ranks. Each side of a connection proves that it belongs to the job, and
// messages end when the session fails. All communicators of the process share the connections.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "src/comm/gloo_table.h"
#include "src/comm/session.h"
#include "src/comm/store.h"

namespace sindri::comm {

/// How the ranks find each other, provided by the rendezvous store.
struct GlooConfig {
  std::string address;  ///< numeric address of this host, at which the others reach it
  std::string token;  ///< the job's token: each side of a connection proves that it knows it
  std::function<void(const std::string& key, const std::string& value)> set;
  std::function<std::string(const std::string& key)> get;  ///< waits for the key; throws kRendezvous at its time limit
  /// Called by all ranks, each with the peers that it could not reach. If any rank passes one, the call throws on all
  /// ranks. Null: each rank throws for itself.
  std::function<void(const std::vector<PairFailure>&)> agree;
};

class GlooConnections {
 public:
  /// Connects to all ranks of the session's world. Throws CommError kRendezvous (naming peers that could not be reached
  /// or failed the proof), kCommLibrary.
  GlooConnections(std::shared_ptr<Session> session, const GlooConfig& config);
  ~GlooConnections();
  GlooConnections(const GlooConnections&) = delete;
  GlooConnections& operator=(const GlooConnections&) = delete;

  struct Transfer {
    int peer;  ///< world rank
    void* data;
    int64_t bytes;
    uint64_t slot;
    bool send;
  };
  /// Starts all transfers at once and calls `work` meanwhile. The first `leading` transfers are receives; calls `first`
  /// when these are done. Throws CommError: the session's failure, kPeerLost, kCommTimeout.
  void exchange(std::span<const Transfer> transfers, size_t leading, const std::function<void()>& first, const std::function<bool()>& work);
  /// Returns whether the rank is on another host.
  bool far(int world_rank) const;

 private:
  struct Active;
  void connect_all(const GlooConfig& config);
  void prove(const GlooConfig& config);
  void watch();
  [[noreturn]] void lost(int peer, const char* said) const;
  void wait_for(Active& active, size_t index);

  std::shared_ptr<Session> session_;
  const GlooTable& gloo_;
  GlooMesh* mesh_ = nullptr;
  std::vector<std::string> addresses_;  // by rank

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  Active* active_ = nullptr;  // the session's calls come one at a time
  bool ending_ = false;
  bool proven_ = false;
  std::thread watcher_;  // ends waits that take too long
};

}  // namespace sindri::comm
