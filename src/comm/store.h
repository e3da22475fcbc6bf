// The rendezvous store: rank 0 (or a process with MS_ROLE=MS_SCHED) listens, and every rank keeps one connection to it
// for the duration of the job. It stores strings by key, carries signs of life, and sends all ranks one verdict when the job fails (watch.h). Gradients never
// use it.
//
// The protocol is lines of text, with fields separated by blanks and percent-encoded. A connection starts with
//    server: SINDRI-STORE <protocol> <nonce>
//    client: HELLO <protocol> <version> <byte order> <job id> <rank> <size> <host> <pid> <nonce> <machine> <proof>
//    server: WELCOME <rank> <job id> <proof>   or   REFUSED <reason>
// where proofs are HMACs of both nonces and the greeting, keyed by the job's token. Then: SET id key value · GET id key
// (waits) · ADD id key n · HB step phase call state … · ABORT … · BYE; answers OK id [value]; READY … when all ranks
// have joined; WARN, VERDICT … from the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"

namespace sindri::comm {

/// What both ends of a store know before they connect.
struct StoreConfig {
  std::string address;  ///< "host:port", "[::1]:port"; a server's port may be 0
  int size = 1;  ///< ranks of the job
  std::string token;  ///< job_token()
  std::string keeper = "rank 0";  ///< the store's keeper, for messages
  Options options;  ///< job_id, interface and times
};

/// A process of the job, as it introduced itself.
struct Peer {
  int rank = 0;
  std::string host;  ///< its host's name, for messages
  std::string address;  ///< source address of its connection, numeric, without a port
  int64_t pid = 0;
  std::string machine = {};  ///< machine_id(): equal for processes of one host
};

/// A rank's current activity, for failure detection.
struct Pulse {
  int64_t step = 0;
  std::string phase;
  int64_t call = 0;  ///< number of the last call entered
  bool inside = false;  ///< whether that call is still running
  double waited = 0;  ///< seconds in the call
  std::string text;  ///< "all_reduce "gradient bucket 1" (89.4 MB)"
  std::string group = "world";  ///< name of its communicator
  std::vector<int> members;  ///< world ranks of that communicator; empty: all
};

/// The server's side, on a separate thread. Its destructor waits up to two seconds for the other ranks' BYE.
class StoreServer {
 public:
  struct State;
  explicit StoreServer(std::unique_ptr<State> state);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  /// Returns the address it listens at, with the actual port.
  std::string address() const;
  int port() const;
  /// Waits until all ranks have said BYE (returns null) or a verdict was given. For processes that do nothing else.
  std::shared_ptr<const CommError> wait_end();

 private:
  std::unique_ptr<State> state_;
};

/// Listens at the address. Throws CommError kRendezvous if the port is in use, naming its owner, or if the address does
/// not belong to this host.
std::unique_ptr<StoreServer> serve(const StoreConfig& config);

/// A rank's side. set … add may be called from any thread; they throw the verdict once there is one, and kRendezvous at their time limit.
class StoreClient {
 public:
  struct State;
  explicit StoreClient(std::unique_ptr<State> state);
  ~StoreClient();
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  /// Returns the rank it requested, or was assigned by order of arrival.
  int rank() const;
  const std::string& job_id() const;
  /// Returns this host's numeric address on the connection, at which other ranks may reach it.
  std::string own_address() const;

  /// Waits until all ranks have joined and returns them by rank. Throws CommError kRendezvous that lists the missing ones.
  std::vector<Peer> join();
  void set(const std::string& key, const std::string& value);
  /// Waits until the key has been set. `timeout` in seconds; 0: init_timeout.
  std::string get(const std::string& key, double timeout = 0);
  void wait(const std::vector<std::string>& keys, double timeout = 0);
  /// Adds n and returns the new sum.
  int64_t add(const std::string& key, int64_t n);

  /// Starts sending signs of life and receiving the server's messages, until bye() (watch.h uses it). `pulse` is called
  /// every options.heartbeat. `verdict` is called once, on the client's thread, when the job has failed: with the
  /// server's message, or because it cannot be reached any more.
  void start(std::function<Pulse()> pulse, std::function<void(const CommError&)> verdict);
  /// Reports to the server why this rank cannot continue. The verdict comes later and may differ.
  void report(const CommError& error);
  /// Waits up to `seconds` for the verdict; null if there is none.
  std::shared_ptr<const CommError> verdict(double seconds);
  /// Leaves in order. Nothing is received afterwards.
  void bye();

 private:
  std::unique_ptr<State> state_;
};

/// Connects, waiting up to init_timeout for the server to listen. `rank` -1: assigned by arrival. Throws CommError
/// kRendezvous with the server's address, the source address and the reason.
std::shared_ptr<StoreClient> connect(const StoreConfig& config, int rank);

/// Reports how a rank ended as its launcher saw it ("signal 9", "exit code 3"): better evidence than a closed
/// connection. Does nothing if the server is gone.
void report_end(const StoreConfig& config, int rank, const std::string& how);

/// A connection between two ranks that could not be made, for agree_on_pairs().
struct PairFailure {
  int peer = -1;
  std::string address;  ///< of the peer
  std::string from;  ///< own address or interface
  std::string reason;
};
/// Called by all ranks with the peers they could not reach. If there is any failure, throws CommError kRendezvous on
/// every rank, with all failures as a table on rank 0.
void agree_on_pairs(StoreClient& client, const std::vector<PairFailure>& failures, int size, double timeout);

}  // namespace sindri::comm
