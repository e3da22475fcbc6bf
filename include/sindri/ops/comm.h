// Collectives as ops (sindri/comm/communicator.h): traced, differentiated and planned like any other op. All members of
// a group call the same collectives in the same order. In graphs they run on the communication lane, concurrently with
// ops that do not read their results. In a world of one rank, each returns what the only member of a group receives.
// `group` is "world" or a group that comm::create_group made.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

/// Options of all_reduce.
struct AllReduceAttrs {
  std::string op = "sum";  ///< sum, mean, max, min, prod
  std::string group = "world";  ///< "world" or a group that comm::create_group made
  std::string what = "all_reduce";  ///< purpose of the call, in errors and call logs
  int64_t index = 0;  ///< number of the call among those of this purpose, in errors and call logs
  double scale = 1;  ///< factor of float sums, applied once: after the sum, or before it if the sum is computed in 16 bits
  std::string wire = "";  ///< type in which float32 sums travel, bfloat16 or float16; empty: the tensors' own type
  bool watch = false;  ///< checks whether this rank's tensors are finite before they are reduced (take_nonfinite_operand)
};
/// Reduces tensors elementwise over the ranks; several tensors of one type form one call. The gradient of sum and mean
/// is all_reduce of the outputs' gradients. The gradient of max and min goes to the elements that equal the result;
/// prod has no gradient. Throws ValueError for unknown names or no tensors, DTypeError for tensors of different types
/// and for a mean or scale of integers.
SINDRI_API std::vector<Tensor> all_reduce(const std::vector<Tensor>& xs, const AllReduceAttrs& attrs = {});
/// The first tensor that a watched all_reduce found to be not finite.
struct NonFiniteOperand {
  int64_t index;  ///< AllReduceAttrs::index of the call
  int64_t tensor;  ///< position of the tensor in the call
  int64_t tensors;  ///< number of tensors in the call
};
/// Returns the first tensor that was not finite in the watched calls of this runtime since the last call of this
/// function; nullopt if all tensors were finite.
SINDRI_API std::optional<NonFiniteOperand> take_nonfinite_operand();
/// Adasum (Maleki et al. 2021, arXiv:2006.02924) over groups of `members` consecutive ranks; the ranks of a group hold
/// the same xs. Two tensors combine to
///   (1 - a·b/(2|a|²))·a + (1 - a·b/(2|b|²))·b,
/// each tensor separately, with products in float64. More than two combine as a tree that pairs neighbours first.
/// Results are bitwise identical on all ranks. A tensor of zeros adds nothing. The number of groups must be a power of
/// two; with `fold`, groups beyond the largest power of two are first combined with the first groups. Tensors have one
/// type, float32 or float64. One more tensor follows the sums, float64 [tensors, 2]: per tensor {|sum|², Σ over groups
/// of |x|²}. Their ratio is 1/groups for equal tensors and 1 for orthogonal ones. Has no gradient. Throws CommError
/// (kLayout) for other numbers of ranks or groups.
SINDRI_API std::vector<Tensor> adaptive_sum(const std::vector<Tensor>& xs, int64_t members = 1, bool fold = false, const std::string& group = "world");
/// Concatenates the tensors of all ranks along the first dimension, in rank order: [n, …] -> [size·n, …]. The gradient
/// is reduce_scatter. Throws ShapeError for a scalar.
SINDRI_API Tensor all_gather(const Tensor& x, const std::string& group = "world");
/// Reduces the ranks' tensors and returns this rank's part along the first dimension: [size·n, …] -> [n, …]. `op` as in
/// all_reduce. The gradient of sum and mean is all_gather; other reductions have none. Throws ShapeError unless the
/// first dimension is a multiple of the group's size.
SINDRI_API Tensor reduce_scatter(const Tensor& x, const std::string& op = "sum", const std::string& group = "world");
/// Returns the tensors of the group's rank `root` on every rank. The gradient is the sum over all ranks on the root and
/// zero elsewhere. Throws ValueError for a root outside the group.
SINDRI_API std::vector<Tensor> broadcast(const std::vector<Tensor>& xs, int64_t root = 0, const std::string& group = "world");
/// Exchanges equal parts along the first dimension, one per rank: part r of x goes to rank r and is replaced by rank
/// r's part for this rank. The gradient is all_to_all of the output's gradient. Throws ShapeError unless the first
/// dimension is a multiple of the group's size.
SINDRI_API Tensor all_to_all(const Tensor& x, const std::string& group = "world");

/// Exchanges messages between pairs of ranks, all at once. xs[i] goes to rank to[i] of the group. Result i, of shape
/// shapes[i] and type `dtype`, comes from rank from[i], whose message must have the same tag and size. Both sides name
/// each other; no two ranks wait for each other, whatever the order of the lists. With an empty `from` the result is
/// xs[0] unchanged. Gradients travel the other way: the gradient of result i goes to rank from[i], and the gradient of
/// xs[i] comes from rank to[i]. If xs[0] was returned, the gradient of the returned tensor is added. So the loss of
/// every rank concerned must depend on the returned tensors; otherwise the other ranks wait. Throws ValueError for
/// ranks that are unknown, named twice or not given at all, and DTypeError for tensors of a type other than `dtype`.
/// Throws CommError (kCommMismatch) if tag or size differ from what the other side sent.
SINDRI_API std::vector<Tensor> neighbor_exchange(const std::vector<Tensor>& xs, const std::vector<int64_t>& to, const std::vector<int64_t>& from,
                                                 const std::vector<Shape>& shapes, DType dtype, int64_t tag = 0, const std::string& group = "world");
/// Sends x to rank `to`, which calls recv with the same tag. Returns x; the gradient comes back through the returned
/// tensor.
SINDRI_API Tensor send(const Tensor& x, int64_t to, int64_t tag = 0, const std::string& group = "world");
/// Receives the next message of rank `from`, which must have this shape, type and tag. The gradient goes to that rank.
SINDRI_API Tensor recv(const Shape& shape, DType dtype, int64_t from, int64_t tag = 0, const std::string& group = "world");
/// Sends x to rank `to` and receives a tensor of x's shape and type from rank `from`, at once.
SINDRI_API Tensor send_recv(const Tensor& x, int64_t to, int64_t from, int64_t tag = 0, const std::string& group = "world");

}  // namespace sindri::ops
