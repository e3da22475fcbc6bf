// How values are summed, and collective calls put together from messages between two ranks. Backends that have more (shared memory) bring their own.
#pragma once

#include <cstdint>
#include <span>
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
  /// All of them at once, in full duplex; returns when every one is done. Messages between two ranks arrive in the order of their sending, and a
  /// receive has the size of its send. Throws CommError; polls the session's failure.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
};

/// Where sums of a layout may be formed by host first: ranks of each host are consecutive, and there are equally many, a power of two.
struct Layout {
  int rank = 0, size = 1;
  int local_size = 1;  ///< of such a layout; 1 where there is none, so that every rank is a host of its own
};

void all_reduce_by_links(Links& links, const Layout& layout, void* data, int64_t count, DType dtype, ReduceOp op);
void reduce_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root);
void broadcast_by_links(Links& links, const Layout& layout, void* data, int64_t bytes, int root);
void all_gather_v_by_links(Links& links, const Layout& layout, const void* in, void* out, std::span<const int64_t> bytes);
void reduce_scatter_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op);
void all_to_all_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t bytes);
void barrier_by_links(Links& links, const Layout& layout);

}  // namespace sindri::comm
