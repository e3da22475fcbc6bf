// The ranks of a host in memory that all of them see: barriers, a staging area of bounded size, and collectives through
// it. The caller provides the memory (an MPI window; a test's own). Between hosts: host_sums.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/comm/algorithms.h"
#include "src/comm/session.h"

namespace sindri::comm {

/// Describes the call that a rank enters; ranks compare it before any data moves.
struct CallCard {
  enum Kind : int32_t { kNone, kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kAllToAll, kBarrier, kFlatBuffer };
  int32_t kind = kNone;
  int32_t dtype = 0, op = 0, root = 0;
  int64_t count = 0;  ///< elements, or bytes if there is no type
  uint64_t place = 0;  ///< position of the pieces in the flat buffers; 0: not in one. May differ between ranks
};

/// The members of one communicator on one host.
class SharedWindow {
 public:
  /// A staging area: the number of buffers (three at least) and their size, a multiple of 64 bytes.
  struct Staging {
    int64_t buffer;
    int buffers;
  };
  /// Returns the size in bytes of each rank's part.
  static int64_t part_bytes(const Staging& staging);
  /// `parts` by local rank, aligned to 64 bytes, zero; `ranks`: world ranks, for messages. All members construct it, then call meet().
  SharedWindow(Session& session, std::vector<int> ranks, int local, std::vector<std::byte*> parts, const Staging& staging);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  int local() const { return local_; }
  int size() const { return static_cast<int>(parts_.size()); }
  int64_t buffer_bytes() const { return buffer_; }

  /// A barrier; afterwards waits notice if the process of another member ends.
  void meet();
  /// Sleeps while waiting, polling the session's failure and whether the other processes live. Throws CommError.
  void barrier();
  /// A barrier that compares the cards. Throws kCommMismatch on every rank. Returns the cards by local rank, valid until the call after the next.
  std::span<const CallCard* const> enter(const CallCard& card);
  /// Like enter, but returns the bitwise AND of every rank's `value`.
  uint64_t agree(CallCard card, uint64_t value);

  /// Returns whether the pieces of all ranks lie at the same position of their flat buffers.
  static bool agree_on_place(std::span<const CallCard* const> cards);

  // Collectives through the staging area; `card` describes the call. Pieces as in Communicator.

  /// If card.place is not 0, all pieces lie in memory that the host's ranks share; `flat` lists its parts by local
  /// rank. When the places of all ranks agree, rows are reduced in place.
  void all_reduce(const CallCard& card, std::span<const Piece> pieces, std::span<std::byte* const> flat, double factor);
  void reduce(const CallCard& card, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, double factor, int root);
  void broadcast(const CallCard& card, void* data, int64_t bytes, int root);
  void all_gather_v(const CallCard& card, const void* in, void* out, std::span<const int64_t> bytes);
  void reduce_scatter(const CallCard& card, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, double factor);
  void all_to_all(const CallCard& card, const void* in, void* out, int64_t bytes);

  /// Returns a local rank's staging buffer for the turn; next_turn() advances turns. Data written in a turn may be read
  /// after the next barrier, until the barrier after that.
  std::byte* stage(int local, int64_t ahead = 0) const;
  void next_turn(int64_t by = 1) { turn_ += by; }

 private:
  struct Header;
  struct Slot;
  Header& header() const;
  Slot& slot(int local) const;
  void wait_generation(uint32_t generation);
  void check_lives();
  std::vector<int> missing(uint32_t generation) const;
  int64_t room_of_part() const;  // bytes of a staging buffer available to each of size() parts
  void all_reduce_in_place(const class PieceList& list, std::span<std::byte* const> flat, DType dtype, ReduceOp op, double factor);
  [[noreturn]] void mismatch(std::span<const CallCard* const> cards) const;

  Session& session_;
  std::vector<int> ranks_;
  int local_;
  std::vector<std::byte*> parts_;
  int64_t buffer_, buffers_;
  int64_t turn_ = 0;
  uint32_t calls_ = 0;
  std::vector<const CallCard*> cards_;
  std::vector<int> lives_;  // pidfd of each process, -1: not watched
};

/// The pieces of a reduction as one sequence of bytes; adjacent pieces are merged.
class PieceList {
 public:
  PieceList(std::span<const Piece> pieces, int64_t element);
  int64_t bytes() const { return bytes_; }
  void copy_in(int64_t begin, int64_t bytes, void* to) const;
  void copy_out(int64_t begin, int64_t bytes, const void* from) const;
  struct Run {
    const std::byte* in;
    std::byte* out;
    int64_t bytes;
    int64_t begin;  ///< position in the sequence
  };
  const std::vector<Run>& runs() const { return runs_; }
  /// Calls f(run, first byte in it, bytes) for the runs in [begin, begin + bytes).
  template <class F> void each(int64_t begin, int64_t bytes, F f) const {
    if (bytes <= 0) return;
    for (size_t i = find(begin); bytes > 0; ++i) {
      const int64_t skip = begin - runs_[i].begin, n = std::min(bytes, runs_[i].bytes - skip);
      f(runs_[i], skip, n);
      begin += n;
      bytes -= n;
    }
  }

 private:
  size_t find(int64_t begin) const;
  std::vector<Run> runs_;
  int64_t bytes_ = 0;
};

/// Reduces rows of equal length; the result is stored in all of them.
void reduce_rows(std::span<std::byte* const> rows, int64_t count, DType dtype, ReduceOp op, double factor);

/// The rank's part of [0, count), divided among `size` ranks at multiples of a cache line of 64 bytes.
struct Part {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};
Part part_of(int64_t count, int64_t element, int size, int rank);

}  // namespace sindri::comm
