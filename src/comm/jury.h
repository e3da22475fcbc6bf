// From signs of life and reports to one verdict: rules without sockets or clocks, so that tests can play any order of events. Times are seconds of one
// clock that the caller reads; the store's server is the only caller outside of tests.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sindri/core/error.h"
#include "src/comm/store.h"

namespace sindri::comm {

class Jury {
 public:
  /// `config`: size and the options' times.
  Jury(const StoreConfig& config, double now);

  void joined(const Peer& peer, double now);
  bool there(int rank) const { return members_[static_cast<size_t>(rank)].there; }
  const Peer& peer(int rank) const { return members_[static_cast<size_t>(rank)].peer; }
  std::vector<int> missing() const;
  bool complete() const { return missing().empty(); }
  /// All that came have said BYE, and all had come.
  bool over() const;

  void pulse(int rank, const Pulse& pulse, double now);
  void bye(int rank, double now);
  /// A connection ended without BYE. `problem`: an errno; 0 for an orderly end of the socket, which is how the kernel tells that a process has died.
  void lost(int rank, int problem, double now);
  /// A rank says why it cannot go on.
  void reported(int rank, const CommError& error, double now);
  /// The launcher knows how a rank ended: "signal 9".
  void told(int rank, const std::string& how, double now);
  /// The server's own process did not run for so long: what it would have heard meanwhile is not held against anybody.
  void slept(int rank, double seconds, double now);

  /// Looks for what did not happen: missing ranks, signs of life, calls. Call it a few times a second. `answers(rank)`: whether the rank's host
  /// acknowledges what it is sent.
  void tick(double now, const std::function<bool(int)>& answers);
  /// Warnings since the last call of this.
  std::vector<std::string> warnings();
  /// Half a second after the first evidence: the strongest, of equals the earliest. Once.
  std::optional<CommError> verdict(double now);
  bool any_evidence() const { return !evidence_.empty(); }

 private:
  struct Member {
    bool there = false, gone = false, beats = false, bye = false;
    Peer peer;
    double heard = 0, said_bye = 0, ended = 0;
    Pulse pulse;
    std::string how;  // told by the launcher
  };
  // In the order of their strength.
  enum Strength { kWaitedThere, kWaited, kBroken, kLost, kDied, kSaid };
  struct Evidence {
    double time;
    Strength strength;
    int rank;  // -1: none in particular
    ErrorCode code;
    std::string message, where, fix;
  };
  Member& at(int rank) { return members_[static_cast<size_t>(rank)]; }
  const Member& at(int rank) const { return members_[static_cast<size_t>(rank)]; }
  std::string name(int rank) const;
  std::string names(const std::vector<int>& ranks) const;
  std::string last_seen(int rank) const;
  void add(double now, Strength strength, int rank, ErrorCode code, const std::string& message, const std::string& where, const std::string& fix);
  void tick_join(double now);
  void tick_beats(double now, const std::function<bool(int)>& answers);
  void tick_calls(double now);
  std::vector<int> not_in(int rank, bool* someone_left) const;
  CommError compose(const Evidence& best) const;

  StoreConfig config_;
  double began_, looked_ = -1;
  std::vector<Member> members_;
  std::vector<Evidence> evidence_;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
  bool given_ = false, all_came_ = false;
};

}  // namespace sindri::comm
