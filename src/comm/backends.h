// How a world is opened: what communicator.cc's init() and run_ranks() know of the backends.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sindri/comm/communicator.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// The world of this process as the options and the environment say. Backends are chosen here and nowhere else (open_world.cc).
std::shared_ptr<Communicator> open_world(const Options& options);

/// A world of one rank.
std::shared_ptr<Communicator> open_single(const Options& options);

/// What the ranks of run_ranks share.
class ThreadsWorld {
 public:
  virtual ~ThreadsWorld() = default;
  /// Rank `rank`'s world; called once for each.
  virtual std::shared_ptr<Communicator> open(int rank) = 0;
  /// `rank` makes no more calls: those that wait for it fail. `error`: why, if it is that.
  virtual void ended(int rank, const CommError* error) = 0;
};
std::shared_ptr<ThreadsWorld> make_threads_world(int size, int local_size, const Options& options);

}  // namespace sindri::comm
