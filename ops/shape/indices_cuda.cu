// See indices_cuda.h.
#include "ops/shape/indices_cuda.h"

#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "ops/shape/indices.h"

namespace sindri::cuda {
namespace {

// The parts of a message about an invalid index that describe its tensor. Never freed, because recorded graphs hold its address; there is one per shape of
// index tensors.
struct Described {
  std::vector<int64_t> shape;
  int64_t dimension;
  bool operator<(const Described& o) const { return std::tie(shape, dimension) < std::tie(o.shape, o.dimension); }
};
const Described& described(const Shape& shape, int64_t dimension) {
  static std::mutex mutex;
  static auto* const all = new std::set<Described>;
  const std::lock_guard lock(mutex);
  return *all->insert({shape.vec(), dimension}).first;
}

void throw_reported_index(const ErrorFound& e) {
  const auto& d = *reinterpret_cast<const Described*>(e.known[2]);  // NOLINT(performance-no-int-to-ptr)
  shape_ops::throw_bad_index(e.op, e.found[0], e.found[1], Shape(d.shape), e.known[0], e.known[1] != 0, d.dimension);
}

__global__ void look_at_rows(Indices indices, int64_t n) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) (void)row_at(indices, i);
}

}  // namespace

Indices indices_of(const Call& call, const Buffer& b, int64_t size, bool wrap, int64_t dimension) {
  const auto text = reinterpret_cast<intptr_t>(&described(b.meta->shape, dimension));
  return {b.data, size, b.meta->dtype == DType::kInt64, wrap, error_site(call, throw_reported_index, {size, wrap ? 1 : 0, text})};
}

void check_rows(const Call& call, const Indices& indices, int64_t n) {
  if (n > 0) launch(call, grid_for(n), look_at_rows, indices, n);
}

}  // namespace sindri::cuda
