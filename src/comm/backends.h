// How a world is opened: the backends' interface to init() and run_ranks() in communicator.cc.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sindri/comm/communicator.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// Returns this process's world, selected by the options and the environment. The only place that selects a backend (open_world.cc).
std::shared_ptr<Communicator> open_world(const Options& options);

/// A world of one rank.
std::shared_ptr<Communicator> open_single(const Options& options);

/// State shared by the ranks of run_ranks.
class ThreadsWorld {
 public:
  virtual ~ThreadsWorld() = default;
  /// Returns the world of `rank`; called once for each.
  virtual std::shared_ptr<Communicator> open(int rank) = 0;
  /// Announces that `rank` makes no more calls: ranks that wait for it fail. `error`: the reason, if it failed.
  virtual void ended(int rank, const CommError* error) = 0;
};
std::shared_ptr<ThreadsWorld> make_threads_world(int size, int local_size, const Options& options);

}  // namespace sindri::comm
