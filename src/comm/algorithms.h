// How values are summed, and collective calls put together from messages between two ranks. Backends that have more (shared memory) bring their own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"

namespace sindri::comm {

/// out = in[0] ⊕ in[1] ⊕ …, element by element, along the fixed tree: neighbours first (0+1, 2+3, …; the last stays alone where the number is odd),
/// then neighbours of those, and so on. The tree over n·m leaves is the tree over m of trees over n where n is a power of two, which is why the
/// layout of ranks on hosts does not change bits. 16-bit floats are widened first and rounded once at the end. `out` may be any of `in`. kMean sums.
/// Bools: kSum and kMax are "or", kProd and kMin are "and". Integers wrap around.
void reduce_tree(std::span<const void* const> in, void* out, int64_t count, DType dtype, ReduceOp op);
/// The same with one rounding of what is stored: `in_dtype` or `out_dtype` may be float32 where the other is a half, and `factor` (not for integers)
/// multiplies the sum before it is rounded, so that a mean of halves does not overflow.
void reduce_tree(std::span<const void* const> in, DType in_dtype, void* out, DType out_dtype, int64_t count, ReduceOp op, double factor);
/// What sums of this type are formed in: float32 for 16-bit floats.
DType sum_dtype(DType dtype);
/// values *= factor, for kMean; rounds once.
void scale(void* values, int64_t count, DType dtype, double factor);

/// Messages between members of a communicator: what a backend without shared memory gives.
class Links {
 public:
  struct Message {
    int peer;
    void* data;  ///< not written to by sends
    int64_t bytes;
  };
  virtual ~Links() = default;
  /// A collective call begins; `call` is what all members must agree on ("all_reduce sum of 8 float32"). A backend may compare it.
  virtual void begin(const std::string& call) { static_cast<void>(call); }
  /// A message outside collective calls, either side of which may be null.
  virtual void send_recv(const Message* send, const Message* receive) {
    exchange(std::span(send, send != nullptr ? 1U : 0U), std::span(receive, receive != nullptr ? 1U : 0U));
  }
  /// All of them at once, in full duplex; returns when every one is done. Messages between two ranks arrive in the order of their sending, and a
  /// receive has the size of its send. Throws CommError; polls the session's failure.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
  /// The same while `work` is done, a part at each call, until it says false: what lets sums overlap reception. It touches nothing that is sent or
  /// received here. As it stands here, the one is done behind the other.
  virtual void exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) {
    exchange(sends, receives);
    while (work()) {}
  }
};

/// Where sums of a layout may be formed by host first: ranks of each host are consecutive, and there are equally many, a power of two.
struct Layout {
  int rank = 0, size = 1;
  int local_size = 1;  ///< of such a layout; 1 where there is none, so that every rank is a host of its own, or where all are on one
};
/// The layout of members on these hosts, by rank. Without strict order the ranks of a host need not be a power of two.
Layout layout_of(std::span<const int> hosts, int rank, bool strict_order);

// A rank gives and gets at most 2(N-1)/N of the bytes in an all-reduce of N ranks, each a host, by pairwise exchange in pieces; kMean is done with. `in`
// may be `out`; results are bit for bit those of reduce_tree over all ranks, but for layouts that are not of strict order. Calls of up to 2 kB need one
// exchange and more bytes.

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
