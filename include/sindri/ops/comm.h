// Collective calls between ranks as ops (sindri/comm/communicator.h): traced, differentiated and planned as any other op. All members of a group
// run the same ones in the same order. In graphs they run on the communication lane, beside the ops that do not read their results. In a world of
// one rank they give what one member would get. `group`: "world", or what comm::create_group made.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// What all_reduce does beside adding up.
struct AllReduceAttrs {
  std::string op = "sum";  ///< sum, mean, max, min, prod
  std::string group = "world";
  std::string what = "all_reduce";  ///< what the call is for, in errors and call logs
  int64_t index = 0;  ///< which of these, likewise
  double scale = 1;  ///< float sums are multiplied by this, once: behind the sum, or before it where it is formed in 16 bits
  std::string wire = "";  ///< float32 sums: bfloat16 or float16 is what travels; empty: the tensors' own type
  bool watch = false;  ///< looks whether this rank's own tensors are finite before they are not its own any more (take_nonfinite_operand)
};
/// The elements of all ranks put together; several tensors of one type are one call. The gradient of sum and mean is all_reduce of the outputs', that
/// of max and min goes to where the value came from, prod has none. Throws ValueError for unknown names, DTypeError for types that differ.
SINDRI_API std::vector<Tensor> all_reduce(const std::vector<Tensor>& xs, const AllReduceAttrs& attrs = {});
/// What watched calls of this runtime have found since the last time this was asked: the first tensor that was not finite.
struct NonFiniteOperand {
  int64_t index;  ///< of the call (AllReduceAttrs)
  int64_t tensor;  ///< of that call's
  int64_t tensors;  ///< how many that call had
};
SINDRI_API std::optional<NonFiniteOperand> take_nonfinite_operand();
/// Adasum (Maleki et al. 2021, arXiv:2006.02924) over groups of `members` ranks that follow each other, whose ranks have the same xs: of two tensors
///   (1 - a·b/(2|a|²))·a + (1 - a·b/(2|b|²))·b,
/// each tensor by itself, products in float64, of more the tree that pairs neighbours first; the same bits on all ranks. A tensor of zeros adds nothing. The number
/// of groups must be a power of two; `fold`: of others, those beyond the largest one are first put together with the first groups'. Tensors of one type, float32
/// or float64. Behind the sums comes one tensor more: of each {|sum|², Σ over groups of |x|²}, float64 [tensors, 2], whose ratio is 1/groups where all are
/// parallel and alike, 1 where they are orthogonal. No gradient. Throws CommError (kLayout) for other numbers of ranks or groups.
SINDRI_API std::vector<Tensor> adaptive_sum(const std::vector<Tensor>& xs, int64_t members = 1, bool fold = false, const std::string& group = "world");
/// The tensors of all ranks one behind the other along the first dimension, by rank: [n, …] -> [size·n, …].
SINDRI_API Tensor all_gather(const Tensor& x, const std::string& group = "world");
/// This rank's part, along the first dimension, of the tensors put together: [size·n, …] -> [n, …]. `op` as all_reduce's; the gradient of sum and
/// mean is all_gather, others have none. Throws ShapeError where the first dimension is no multiple of the group's size.
SINDRI_API Tensor reduce_scatter(const Tensor& x, const std::string& op = "sum", const std::string& group = "world");
/// The tensors of rank `root` of the group, on every rank. The gradient is the sum of all ranks' on the root, and zero elsewhere.
SINDRI_API std::vector<Tensor> broadcast(const std::vector<Tensor>& xs, int64_t root = 0, const std::string& group = "world");
/// Part r of x along the first dimension, of `size` equal ones, goes to rank r, and is replaced by that rank's part for this one.
SINDRI_API Tensor all_to_all(const Tensor& x, const std::string& group = "world");

/// Messages between pairs of ranks, all at once: xs[i] goes to rank to[i] of the group, result i, of shapes[i] and the type `dtype`, comes from rank from[i],
/// whose message has the same tag and size. Both sides name each other; no two ranks wait for each other, whatever the order of the lists. Where `from` is
/// empty the result is xs[0] as it was. The gradients travel back: those of the results to where they came from, and those of xs come from where these went,
/// with that of the tensor that is given back added. So the loss of every rank concerned must depend on what its call returned, or the others wait.
/// Throws ValueError for ranks that are not there or named twice, or no ranks at all, DTypeError for tensors of another type than `dtype`; CommError
/// (kCommMismatch) where tag or size are not what the other side sent.
SINDRI_API std::vector<Tensor> neighbor_exchange(const std::vector<Tensor>& xs, const std::vector<int64_t>& to, const std::vector<int64_t>& from,
                                                 const std::vector<Shape>& shapes, DType dtype, int64_t tag = 0, const std::string& group = "world");
/// To rank `to`, which calls recv with the same tag; gives x back, through which its gradient comes.
SINDRI_API Tensor send(const Tensor& x, int64_t to, int64_t tag = 0, const std::string& group = "world");
/// What rank `from` sends next, which must be of this shape, type and tag. The gradient goes there.
SINDRI_API Tensor recv(const Shape& shape, DType dtype, int64_t from, int64_t tag = 0, const std::string& group = "world");
/// Both at once: x to rank `to`, a tensor of x's shape and type from rank `from`.
SINDRI_API Tensor send_recv(const Tensor& x, int64_t to, int64_t from, int64_t tag = 0, const std::string& group = "world");

}  // namespace sindri::ops
