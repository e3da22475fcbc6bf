// The rendezvous store: rank 0 (or a process with MS_ROLE=MS_SCHED) listens, every rank holds one connection to it for as long as the job lasts. It keeps
// texts by key, carries signs of life, and tells all ranks one verdict when the job fails (watch.h). Gradients never go this way.
//
// Lines of text, fields separated by blanks and percent-encoded. A connection begins with
//   server: SINDRI-STORE <protocol> <nonce>
//   client: HELLO <protocol> <version> <byte order> <job id> <rank> <size> <host> <pid> <nonce> <machine> <proof>
//   server: WELCOME <rank> <job id> <proof>   or   REFUSED <reason>
// where proofs are HMACs of both nonces and what was said, by the job's token. Then: SET id key value · GET id key (waits) · ADD id key n ·
// HB step phase call state … · ABORT … · BYE; answers OK id [value]; READY … when all ranks are there; WARN, VERDICT … from the server.
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

/// What both ends of a store know before they meet.
struct StoreConfig {
  std::string address;  ///< "host:port", "[::1]:port"; of a server, the port may be 0
  int size = 1;  ///< ranks of the job
  std::string token;  ///< job_token()
  std::string keeper = "rank 0";  ///< who keeps the store, in messages
  Options options;  ///< job_id, interface and times
};

/// A process of the job as it introduced itself.
struct Peer {
  int rank = 0;
  std::string host;  ///< its name, for messages
  std::string address;  ///< that its connection came from, numeric, without a port
  int64_t pid = 0;
  std::string machine = {};  ///< machine_id(): the same for processes of one host
};

/// What a rank is doing, for the detectors.
struct Pulse {
  int64_t step = 0;
  std::string phase;
  int64_t call = 0;  ///< number of the last call that was entered
  bool inside = false;  ///< and it has not been left
  double waited = 0;  ///< seconds in it
  std::string text;  ///< "all_reduce "gradient bucket 1" (89.4 MB)"
  std::string group = "world";  ///< name of its communicator
  std::vector<int> members;  ///< of that, world ranks; empty: all
};

/// The server's side; a thread of its own. Ends with the object: the destructor waits up to two seconds for the others' BYE.
class StoreServer {
 public:
  struct State;
  explicit StoreServer(std::unique_ptr<State> state);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  /// Where it listens, with the port it got.
  std::string address() const;
  int port() const;
  /// Until all ranks said BYE (null) or a verdict was given. For processes that do nothing else.
  std::shared_ptr<const CommError> wait_end();

 private:
  std::unique_ptr<State> state_;
};

/// Listens at the address. Throws CommError kRendezvous when the port is in use, naming who has it, or the address is not one of this host.
std::unique_ptr<StoreServer> serve(const StoreConfig& config);

/// A rank's side. set … add may be called from any thread; they throw the verdict once there is one, and kRendezvous at their time limit.
class StoreClient {
 public:
  struct State;
  explicit StoreClient(std::unique_ptr<State> state);
  ~StoreClient();
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  /// The number that it asked for, or was given by order of arrival.
  int rank() const;
  const std::string& job_id() const;
  /// This host's address on the connection, numeric: what others may reach it by.
  std::string own_address() const;

  /// Waits until all ranks are there; by rank. Throws CommError kRendezvous that lists who is missing.
  std::vector<Peer> join();
  void set(const std::string& key, const std::string& value);
  /// Waits until somebody has set the key. `timeout` in seconds; 0: init_timeout.
  std::string get(const std::string& key, double timeout = 0);
  void wait(const std::vector<std::string>& keys, double timeout = 0);
  /// The sum so far, this n included.
  int64_t add(const std::string& key, int64_t n);

  /// Signs of life, and what the server has to say; from now on until bye() (watch.h uses it). `pulse` is called each options.heartbeat. `verdict` is
  /// called once, on the client's thread, when the job has failed: what the server said, or that it cannot be reached any more.
  void start(std::function<Pulse()> pulse, std::function<void(const CommError&)> verdict);
  /// Tells the server why this rank cannot go on. The verdict comes later, and need not be this.
  void report(const CommError& error);
  /// The verdict, if it comes within so many seconds.
  std::shared_ptr<const CommError> verdict(double seconds);
  /// An orderly end. Afterwards nothing is heard any more.
  void bye();

 private:
  std::unique_ptr<State> state_;
};

/// Connects, waiting up to init_timeout for the server to listen. `rank` -1: by arrival. Throws CommError kRendezvous: who was to be reached where, from
/// where, and what came of it.
std::shared_ptr<StoreClient> connect(const StoreConfig& config, int rank);

/// What the launcher of a rank knows of its end ("signal 9", "exit code 3"): better evidence than a closed connection. Does nothing where there is no
/// server any more.
void report_end(const StoreConfig& config, int rank, const std::string& how);

/// A connection between two ranks that could not be made, for agree_on_pairs().
struct PairFailure {
  int peer = -1;
  std::string address;  ///< of the peer
  std::string from;  ///< own address or interface
  std::string reason;
};
/// All ranks call it with what they could not reach. Throws CommError kRendezvous on every rank when there is any failure, with all of them as a table on
/// rank 0.
void agree_on_pairs(StoreClient& client, const std::vector<PairFailure>& failures, int size, double timeout);

}  // namespace sindri::comm
