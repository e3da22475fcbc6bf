// Sums of values, and collective calls built from messages between two ranks. Backends with shared memory implement their own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"

namespace sindri::comm {

/// Computes out = in[0] ⊕ in[1] ⊕ …, element by element, along the fixed tree: neighbours are combined first (0+1, 2+3,
/// …; with an odd number the last stays alone), then neighbours of the results, and so on. If n is a power of two, the
/// tree over n·m leaves equals the tree over m subtrees of n leaves each, so the layout of ranks on hosts does not
/// change the result. 16-bit floats are widened first and rounded once at the end. `out` may be any of `in`. kMean
/// computes the sum. For bools, kSum and kMax are "or", kProd and kMin are "and". Integers wrap around.
void reduce_tree(std::span<const void* const> in, void* out, int64_t count, DType dtype, ReduceOp op);
/// Like reduce_tree above, but rounds once when it stores the result: `in_dtype` or `out_dtype` may be float32 while
/// the other is a half type. `factor` (not for integers) multiplies the sum before it is rounded, so that a mean of
/// halves does not overflow.
void reduce_tree(std::span<const void* const> in, DType in_dtype, void* out, DType out_dtype, int64_t count, ReduceOp op, double factor);
/// Returns the type in which sums of this type are computed: float32 for 16-bit floats.
DType sum_dtype(DType dtype);
/// values *= factor, for kMean; rounds once.
void scale(void* values, int64_t count, DType dtype, double factor);

/// Messages between the members of a communicator, for backends without shared memory.
class Links {
 public:
  struct Message {
    int peer;
    void* data;  ///< not written by sends
    int64_t bytes;
  };
  virtual ~Links() = default;
  /// Starts a collective call; `call` is the part on which all members must agree ("all_reduce sum of 8 float32"). A
  /// backend may compare it.
  virtual void begin(const std::string& call) { static_cast<void>(call); }
  /// Sends and receives a message outside collective calls; either may be null.
  virtual void send_recv(const Message* send, const Message* receive) {
    exchange(std::span(send, send != nullptr ? 1U : 0U), std::span(receive, receive != nullptr ? 1U : 0U));
  }
  /// Exchanges all messages at once, in full duplex, and returns when every one is done. Messages between two ranks arrive in
  /// the order in which they were sent, and a receive has the size of its send. Throws CommError; polls the session's failure.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
  /// Like exchange, but calls `work` repeatedly until it returns false, so that sums can overlap with reception. `work`
  /// does not touch the memory of these messages. This default implementation exchanges first and works afterwards.
  virtual void exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) {
    exchange(sends, receives);
    while (work()) {}
  }
};

/// Describes whether sums may be computed by host first: the ranks of each host are consecutive, and every host has the
/// same number of them, a power of two.
struct Layout {
  int rank = 0, size = 1;
  int local_size = 1;  ///< ranks per host; 1 without a regular layout (every rank then counts as a host), or if all are on one host
};
/// Returns the layout of members on these hosts, by rank. Without strict order the number of ranks per host need not be a power of two.
Layout layout_of(std::span<const int> hosts, int rank, bool strict_order);

// In an all-reduce of N ranks, each on its own host, a rank sends and receives at most 2(N-1)/N of the bytes, by
// pairwise exchange in pieces. Calls of up to 2 kB use a single exchange, which transmits more bytes. kMean divides the
// sum by the number of ranks. `in` may be `out`. Results are bitwise identical to reduce_tree over all ranks, except
// for layouts that are not in strict order.

void all_reduce_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op);
inline void all_reduce_by_links(Links& links, const Layout& layout, void* data, int64_t count, DType dtype, ReduceOp op) {
  all_reduce_by_links(links, layout, data, data, count, dtype, op);
}
void reduce_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root);
void broadcast_by_links(Links& links, const Layout& layout, void* data, int64_t bytes, int root);
void all_gather_v_by_links(Links& links, const Layout& layout, const void* in, void* out, std::span<const int64_t> bytes);
void reduce_scatter_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op);
void all_to_all_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t bytes);
void barrier_by_links(Links& links, const Layout& layout);

}  // namespace sindri::comm
