// How a call waits for other ranks: it first spins, then yields the core, then sleeps. It never waits forever.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "src/comm/session.h"

namespace sindri::comm {

/// A wait for other ranks. `missing` returns the world ranks that it waits for; it is called for messages only.
class Patience {
 public:
  Patience(Session& session, std::function<std::vector<int>()> missing);

  /// Returns whether to sleep (at most nap()) before the next poll. Call it after a poll that found nothing. The first
  /// calls return false at once, the next ones yield the core and return false, and later ones return true.
  bool should_sleep();
  /// Longest sleep before look() must run again.
  static constexpr std::chrono::milliseconds nap() { return std::chrono::milliseconds(20); }
  /// Throws the session's failure, or kCommTimeout after op_timeout. Call it with every sleep.
  void look();

 private:
  Session& session_;
  std::function<std::vector<int>()> missing_;
  std::chrono::steady_clock::time_point begin_;
  int looks_ = 0;
};

/// Returns "rank 3", "ranks 1, 4 and 5".
std::string rank_list(const std::vector<int>& ranks);

/// Sets the number of polls before a wait yields: few if there are more ranks than cores. Set once by a backend that
/// knows the number of ranks on this host.
void set_spinning(int ranks_of_host);

}  // namespace sindri::comm
