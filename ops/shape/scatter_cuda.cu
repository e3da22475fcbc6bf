// scatter_add, embedding_grad and gather_elements_grad on CUDA devices: sums of the updates for each row, in index order, without floating-point atomics.
//
// The updates' indices are sorted by row. A thread processes a chunk of 32 of them in one column. Rows that start and end in the chunk are complete and are
// added to the result. The part of a row that extends beyond the chunk is stored as the chunk's first (`head`) or last (`tail`) sum, and a second kernel adds
// these in order. So a row that all updates select takes 32 times fewer steps than there are updates, and the loads of each step are independent. Memory
// traffic: updates are read once, indexed rows are read and written once, and there are partial sums of 1/16 of the updates' size and the sort of the indices.
#include "ops/shape/fill_cuda.h"
#include "ops/shape/indices_cuda.h"
#include "ops/shape/row_sort_cuda.h"
#include "ops/shape/scatter.h"
#include "ops/shape/shape_ops.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

constexpr int64_t kChunk = 32;

// Integers are summed modulo 2^64.
template <class E> using Acc = std::conditional_t<kIsFloating<E>, Sum<E>, uint64_t>;

// Indices out of range get the key `rows`, which sorts after all others, and are skipped.
template <class K> __global__ void number_rows(Indices indices, int64_t n, K* keys, K* positions) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t row = row_at(indices, i);
    keys[i] = static_cast<K>(row < 0 ? indices.size : row);
    positions[i] = static_cast<K>(i);
  }
}
template <class K> __global__ void number_elements(Picks p, int64_t n, int64_t elements, K* keys, K* positions) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t at = picked_at(p, i);
    keys[i] = static_cast<K>(at < 0 ? elements : at);
    positions[i] = static_cast<K>(i);
  }
}

// y [outer, rows, inner] += updates [outer, n, inner] by sorted keys.
struct Scatter {
  int64_t n = 0, rows = 0, chunks = 0, all = 0;  // all: outer·chunks·inner
  Divisor inner, chunks_of;
};
struct Place {
  int64_t outer, chunk, column;
};
SINDRI_DEVICE Place place_of(const Scatter& s, int64_t i) {
  const int64_t q = s.inner.quotient(i), outer = s.chunks_of.quotient(q);
  return {outer, q - outer * s.chunks, i - q * s.inner.value};
}

template <class E> SINDRI_DEVICE void add_to(E* y, Acc<E> sum) {
  if constexpr (kIsFloating<E>) *y = store_as<E>(load(*y) + sum);
  else *y = static_cast<E>(static_cast<uint64_t>(load(*y)) + sum);
}

template <class E, class K> __global__ void add_chunks(Scatter s, const K* keys, const K* positions, const E* updates, E* y, Acc<E>* heads, Acc<E>* tails) {
  for (int64_t i = global_thread(); i < s.all; i += global_threads()) {
    const Place at = place_of(s, i);
    const int64_t begin = at.chunk * kChunk, end = min(begin + kChunk, s.n), inner = s.inner.value;
    K key = keys[begin];
    bool from_before = begin > 0 && keys[begin - 1] == key;
    Acc<E> sum = 0;
    for (int64_t k = begin; k < end && static_cast<int64_t>(key) < s.rows; ++k) {
      sum += static_cast<Acc<E>>(load(updates[(at.outer * s.n + static_cast<int64_t>(positions[k])) * inner + at.column]));
      const bool last = k + 1 == s.n;
      const K next = last ? key : keys[k + 1];
      const bool goes_on = !last && next == key;
      if (goes_on && k + 1 < end) continue;
      if (from_before) heads[i] = sum;
      else if (goes_on) tails[i] = sum;
      else add_to(&y[(at.outer * s.rows + static_cast<int64_t>(key)) * inner + at.column], sum);
      from_before = false;
      sum = 0;
      key = next;
    }
  }
}

// The chunk in which a row that extends beyond it starts adds all parts of that row.
template <class E, class K> __global__ void add_rows_across(Scatter s, const K* keys, const Acc<E>* heads, const Acc<E>* tails, E* y) {
  for (int64_t i = global_thread(); i < s.all; i += global_threads()) {
    const Place at = place_of(s, i);
    const int64_t begin = at.chunk * kChunk;
    int64_t end = begin + kChunk;
    if (end >= s.n) continue;
    const K key = keys[end];
    if (keys[end - 1] != key || static_cast<int64_t>(key) >= s.rows) continue;
    if (begin > 0 && keys[begin - 1] == key) continue;  // the row started before: all sorted keys in between are equal
    Acc<E> sum = tails[i];
    for (int64_t next = i + s.inner.value; end < s.n && keys[end] == key && keys[end - 1] == key; end += kChunk, next += s.inner.value) sum += heads[next];
    add_to(&y[(at.outer * s.rows + static_cast<int64_t>(key)) * s.inner.value + at.column], sum);
  }
}

// For indices that select each element at most once.
template <class E> __global__ void put_elements(Picks p, int64_t n, const E* updates, E* y) {
  for (int64_t i = global_thread(); i < n; i += global_threads())
    if (const int64_t at = picked_at(p, i); at >= 0) y[at] = updates[i];
}

// ----- host code -----

bool needs_wide_keys(int64_t n, int64_t rows) { return n > INT32_MAX || rows >= int64_t{UINT32_MAX}; }
int64_t sort_bytes(int64_t n, int64_t rows) { return needs_wide_keys(n, rows) ? RowSort<uint64_t>::bytes(n) : RowSort<uint32_t>::bytes(n); }
constexpr int64_t acc_size(DType t) { return t == DType::kFloat64 || !is_floating(t) ? 8 : 4; }
int64_t scatter_bytes(const Rows& r, int64_t n, DType t) { return sort_bytes(n, r.rows) + 2 * r.outer * ceil_div(n, kChunk) * r.inner * acc_size(t); }

template <class E, class K> void add_sorted(const Call& call, const Rows& r, const RowSort<K>& sorted, const E* updates, E* y, void* partial) {
  Scatter s;
  s.n = sorted.n;
  s.rows = r.rows;
  s.chunks = ceil_div(s.n, kChunk);
  s.all = r.outer * s.chunks * r.inner;
  s.inner = Divisor(r.inner, s.all);
  s.chunks_of = Divisor(s.chunks, s.all);
  auto* const heads = static_cast<Acc<E>*>(partial);
  Acc<E>* const tails = heads + s.all;
  launch(call, grid_for(s.all), add_chunks<E, K>, s, sorted.keys, sorted.positions, updates, y, heads, tails);
  if (s.chunks > 1) launch(call, grid_for(s.all), add_rows_across<E, K>, s, sorted.keys, heads, tails, y);
}

// Adds updates [outer, n, inner] to y; number(sort) writes their keys.
template <class Number> void scatter(const Call& call, const Rows& r, int64_t n, const Buffer& updates, const Buffer& y, Number&& number) {
  if (n == 0) return;
  const auto with = [&]<class K>() {
    RowSort<K> sort(n, call.workspace);
    number(sort);
    sort.run(call, static_cast<uint64_t>(r.rows));
    dispatch_element(y.meta->dtype, [&]<class E>() {
      if constexpr (!std::is_same_v<E, Bool>)  // rejected by infer
        add_sorted(call, r, sort, static_cast<const E*>(updates.data), static_cast<E*>(y.data), static_cast<char*>(call.workspace) + RowSort<K>::bytes(n));
    });
  };
  if (needs_wide_keys(n, r.rows)) with.template operator()<uint64_t>();
  else with.template operator()<uint32_t>();
}

void scatter_rows(const Call& call, const Rows& r, const Buffer& indices, bool wrap, const Buffer& updates) {
  const int64_t n = indices.meta->numel();
  const Indices rows = indices_of(call, indices, r.rows, wrap);
  if (call.out[0].meta->numel() == 0) return check_rows(call, rows, n);
  scatter(call, r, n, updates, call.out[0],
          [&]<class K>(const RowSort<K>& sort) { launch(call, grid_for(n), number_rows<K>, rows, n, sort.keys, sort.positions); });
}

Rows rows_of(const KernelQuery& q) { return rows_around(q.in[0].shape, normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "scatter_add")); }
void run_scatter_add(const Call& call) {
  const int64_t bytes = call.out[0].meta->nbytes();
  if (bytes > 0 && call.in[0].data != call.out[0].data) copy_bytes(call, call.out[0].data, call.in[0].data, bytes);
  scatter_rows(call, rows_of(call.query), call.in[1], true, call.in[2]);
}
int64_t scatter_add_workspace(const KernelQuery& q) { return scatter_bytes(rows_of(q), q.in[1].numel(), q.in[0].dtype); }

Rows table_rows(const KernelQuery& q) { return {1, q.out[0].shape[0], q.out[0].shape[1]}; }
void run_embedding_grad(const Call& call) {
  fill(call, call.out[0], 0);
  scatter_rows(call, table_rows(call.query), call.in[1], false, call.in[0]);
}
int64_t embedding_grad_workspace(const KernelQuery& q) { return scatter_bytes(table_rows(q), q.in[1].numel(), q.in[0].dtype); }

void run_gather_elements_grad(const Call& call) {
  const auto& a = call.query.attrs.as<GatherElementsGradAttrs>();
  const int axis = normalize_axis(a.axis, a.shape.rank(), "gather_elements_grad");
  fill(call, call.out[0], 0);
  const int64_t n = call.in[1].meta->numel(), elements = call.out[0].meta->numel();
  const Picks p = picks_of(call, call.in[1], a.shape, axis);
  if (elements == 0) return check_rows(call, p.indices, n);
  if (n == 0) return;
  if (call.in[1].meta->shape[axis] == 1) {
    dispatch_bytes(call.in[0].meta->dtype, [&]<class E>() { launch(call, grid_for(n), put_elements<E>, p, n, call.input<E>(0), call.output<E>(0)); });
    return;
  }
  scatter(call, {1, elements, 1}, n, call.in[0], call.out[0],
          [&]<class K>(const RowSort<K>& sort) { launch(call, grid_for(n), number_elements<K>, p, n, elements, sort.keys, sort.positions); });
}
int64_t gather_elements_grad_workspace(const KernelQuery& q) { return scatter_bytes({1, q.out[0].numel(), 1}, q.in[1].numel(), q.in[0].dtype); }

const bool kScatterAdd = register_cuda_kernel({.op = "scatter_add", .run = run_scatter_add, .workspace = scatter_add_workspace});
const bool kEmbeddingGrad = register_cuda_kernel({.op = "embedding_grad", .run = run_embedding_grad, .workspace = embedding_grad_workspace});
const bool kGatherElementsGrad =
    register_cuda_kernel({.op = "gather_elements_grad", .run = run_gather_elements_grad, .workspace = gather_elements_grad_workspace});

}  // namespace
}  // namespace sindri::cuda
