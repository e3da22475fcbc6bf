// Who has died, is lost, or is stuck: signs of life over the store's connections, and one verdict for all ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/comm/trace.h"
#include "src/comm/session.h"
#include "src/comm/store.h"

namespace sindri::comm {

/// How this process met the others; made by meet().
struct Meeting {
  std::unique_ptr<StoreServer> server;  ///< of the rank that keeps the store
  std::shared_ptr<StoreClient> client;
  std::vector<Peer> peers;  ///< by rank
};
/// Keeps the store where the identity says so, connects to it, and waits for all ranks. Writes identity.rank where it was to come by arrival, and local
/// ranks where the source did not say, from machine_id(). Throws CommError kRendezvous.
Meeting meet(Identity* identity, const Options& options);
/// The process with MS_ROLE=MS_SCHED: keeps the store until the workers have ended. Throws the verdict when the job failed.
void run_scheduler(const Identity& identity, const Options& options);

/// The signs of life of this rank, and its ears. A verdict becomes session->fail(). Ends with an orderly BYE.
class Watch {
 public:
  Watch(std::shared_ptr<Session> session, Meeting meeting);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What is behind an error that a call met: tells the others, waits a second or so for the verdict (a process that died outranks a connection that
  /// was reset), and returns that or, without one, `seen`. Session::fail() wants its result.
  CommError judge(const CommError& seen);
  const Meeting& meeting() const { return meeting_; }

 private:
  struct Core;
  std::shared_ptr<Session> session_;
  Meeting meeting_;
  std::shared_ptr<Core> core_;  // also of callbacks that outlive this
};

/// Calls f, which cannot be told to give up. Where it still runs after `seconds`, a process with an exit guard prints `text` and ends with code 7; another
/// one is warned with it, once, and goes on waiting.
void run_with_deadline(double seconds, const std::string& text, const std::function<void()>& f);

/// The call log of this rank as comm_<rank>.json; its path. In SINDRI_COMM_LOG_DIR, else where set_call_log_folder() says, else in a folder
/// sindri-comm-<job id> of the system's temporary folder: never where the program happened to be started. Empty when it cannot be written.
std::string write_call_log(const Session& session, const std::string& job_id);

}  // namespace sindri::comm
