// Detects dead, lost or stuck ranks: signs of life over the store's connections, and one verdict for all ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/comm/trace.h"
#include "src/comm/session.h"
#include "src/comm/store.h"

namespace sindri::comm {

/// How this process met the other ranks; made by meet().
struct Meeting {
  std::unique_ptr<StoreServer> server;  ///< on the rank that keeps the store
  std::shared_ptr<StoreClient> client;
  std::vector<Peer> peers;  ///< by rank
};
/// Keeps the store if the identity says so, connects to it, and waits for all ranks. Writes identity.rank if it is assigned
/// by arrival, and the local ranks, from machine_id(), if the source did not give them. Throws CommError kRendezvous.
Meeting meet(Identity* identity, const Options& options);
/// Runs the process with MS_ROLE=MS_SCHED: keeps the store until the workers have ended. Throws the verdict if the job failed.
void run_scheduler(const Identity& identity, const Options& options);

/// Sends this rank's signs of life and receives the server's messages. A verdict becomes session->fail(). Ends with an orderly BYE.
class Watch {
 public:
  Watch(std::shared_ptr<Session> session, Meeting meeting);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Finds the cause of an error that a call met. Reports the error to the other ranks and waits about a second for the
  /// verdict, as a process that died is stronger evidence than a connection that was reset. Returns the verdict or,
  /// without one, `seen`. Pass the result to Session::fail().
  CommError judge(const CommError& seen);
  const Meeting& meeting() const { return meeting_; }

 private:
  struct Core;
  std::shared_ptr<Session> session_;
  Meeting meeting_;
  std::shared_ptr<Core> core_;  // also held by callbacks that outlive this object
};

/// Calls f, which cannot be cancelled. If it still runs after `seconds`, a process with an exit guard prints `text` and
/// ends with code 7; another one prints it once as a warning and keeps waiting.
void run_with_deadline(double seconds, const std::string& text, const std::function<void()>& f);

/// Writes this rank's call log as comm_<rank>.json and returns its path. The folder is SINDRI_COMM_LOG_DIR, else the
/// one given to set_call_log_folder(), else sindri-comm-<job id> in the system's temporary folder. It is never the
/// folder in which the program happened to be started. Returns an empty path if the file cannot be written.
std::string write_call_log(const Session& session, const std::string& job_id);

}  // namespace sindri::comm
