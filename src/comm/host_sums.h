// All-reduce where ranks are on several hosts: sums inside each host by its window, an exchange between ranks of equal local index, and the sums again to
// all ranks of the host. For layouts where that is the fixed tree over all ranks: every host has the same power of two of them, one behind the other.
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
  /// Buffers of the window's staging area.
  static constexpr int kBuffers = 7;
  /// `peers`: the members that have this rank's local index, by host. `window` is null where each host has one rank.
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
  int64_t chunk_;  // bytes of all ranks of a host
  bool halving_;
  int half_steps_;  // to the sums, and as many from them
  int steps_each_;  // of a chunk in an iteration
  std::vector<Chunk> chunks_;
};

}  // namespace sindri::comm
