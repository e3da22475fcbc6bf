// How a call waits for other ranks: briefly at full speed, then giving the core away, then asleep; and never for ever.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "src/comm/session.h"

namespace sindri::comm {

/// One wait. `missing` tells which world ranks are waited for; it is asked for messages only.
class Patience {
 public:
  Patience(Session& session, std::function<std::vector<int>()> missing);

  /// A look that found nothing. The first ones return at once, some yield the core; from then on it says true: sleep (at most nap()) before the next look.
  bool should_sleep();
  /// How long a sleep may be until look() wants to run again.
  static constexpr std::chrono::milliseconds nap() { return std::chrono::milliseconds(20); }
  /// Throws the session's failure, or kCommTimeout after op_timeout. Called with every sleep.
  void look();

 private:
  Session& session_;
  std::function<std::vector<int>()> missing_;
  std::chrono::steady_clock::time_point begin_;
  int looks_ = 0;
};

/// "rank 3", "ranks 1, 4 and 5".
std::string rank_list(const std::vector<int>& ranks);

/// Looks of a wait that do not yield: few where ranks outnumber cores. Set once by a backend that knows how many ranks this host has.
void set_spinning(int ranks_of_host);

}  // namespace sindri::comm
