// All-reduce over several hosts. Each host first sums within its shared window; ranks with the same local index then
// exchange these sums between hosts; finally the results are distributed to all ranks of the host. Only for layouts in
// which this order of summation is the fixed tree over all ranks: every host has the same number of consecutive ranks,
// a power of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/comm/mpi_links.h"
#include "src/comm/shared_window.h"

namespace sindri::comm {

class HostSums {
 public:
  /// Number of buffers in the window's staging area.
  static constexpr int kBuffers = 7;
  /// `peers`: the members that have this rank's local index, by host. `window` is null if each host has one rank.
  HostSums(MpiLinks& links, SharedWindow* window, std::vector<int> peers, int host, int64_t chunk);
  ~HostSums();

  /// `flat`: as in SharedWindow::all_reduce().
  void all_reduce(const CallCard& card, std::span<const Piece> pieces, std::span<std::byte* const> flat, double factor);

 private:
  struct Chunk;
  struct Job;
  void produce(const Job& job, int64_t k, Chunk* chunk);
  void begin(const Job& job, int step, Chunk* chunk);
  void end(const Job& job, int step, Chunk* chunk);
  void consume(const Job& job, Chunk* chunk);
  Part halves(const Chunk& chunk, int step) const;

  MpiLinks& links_;
  SharedWindow* window_;
  std::vector<int> peers_;
  int host_;
  int64_t chunk_;  // bytes of a chunk, over all ranks of a host
  bool halving_;
  int half_steps_;  // number of steps that compute the sums; as many distribute them
  int steps_each_;  // steps of a chunk per iteration
  std::vector<Chunk> chunks_;
};

}  // namespace sindri::comm
