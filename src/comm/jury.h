// Derives one verdict from signs of life and reports: rules without sockets or clocks, so that tests can play any order of
// events. Times are seconds of one clock that the caller reads; the store's server is the only caller outside of tests.
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
  /// `config`: the size and the options' time limits.
  Jury(const StoreConfig& config, double now);

  void joined(const Peer& peer, double now);
  bool there(int rank) const { return members_[static_cast<size_t>(rank)].there; }
  const Peer& peer(int rank) const { return members_[static_cast<size_t>(rank)].peer; }
  std::vector<int> missing() const;
  bool complete() const { return missing().empty(); }
  /// Returns whether all ranks had joined and all have said BYE.
  bool over() const;

  void pulse(int rank, const Pulse& pulse, double now);
  void bye(int rank, double now);
  /// A connection ended without BYE. `problem`: an errno; 0 for an orderly end of the socket, which is what the kernel
  /// sends when a process dies.
  void lost(int rank, int problem, double now);
  /// A rank reports why it cannot continue.
  void reported(int rank, const CommError& error, double now);
  /// The launcher reports how a rank ended: "signal 9".
  void told(int rank, const std::string& how, double now);
  /// Reports that the server's own process did not run for this many seconds. No rank is blamed for signs of life that the server missed meanwhile.
  void slept(int rank, double seconds, double now);

  /// Checks for what is overdue: ranks that have not joined, signs of life, and calls that do not end. Call it a few
  /// times a second. `answers(rank)` returns whether the rank's host acknowledges packets.
  void tick(double now, const std::function<bool(int)>& answers);
  /// Returns the warnings since the last call of this.
  std::vector<std::string> warnings();
  /// Returns the strongest evidence, the earliest among equals, half a second after the first evidence. Returns it only once.
  std::optional<CommError> verdict(double now);
  bool any_evidence() const { return !evidence_.empty(); }

 private:
  struct Member {
    bool there = false, gone = false, beats = false, bye = false;
    Peer peer;
    double heard = 0, left_at = 0, ended = 0;
    Pulse pulse;
    std::string how;  // as reported by the launcher
  };
  // In increasing order of strength.
  enum Strength { kWaitedThere, kWaited, kBroken, kLost, kDied, kReported };
  struct Evidence {
    double time;
    Strength strength;
    int rank;  // -1: no particular rank
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
