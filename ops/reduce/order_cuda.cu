// topk and its gradient on CUDA devices. Elements become items whose order as unsigned integers is the order of the result. Ties are ordered by index, so all
// items differ and any sorting method gives the CPU's result. Blocks sort tiles of up to 1024 items (bitonic networks, Batcher 1968), then runs are merged in
// pairs: an item's position is its own plus the number of items of the other run before it, found by binary search. No run keeps more than k items.
//
// Memory traffic: for lines within a tile, the input and the results once. For longer lines 8 or 16 bytes per item, written and read once in each of log2(size
// / 1024) merges of at most k items per run. Lines along a dimension other than the last are read element by element.
#include <algorithm>
#include <bit>

#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

constexpr int kTile = 1024;

// ----- items -----

// Bits that increase with the value; NaN is the largest, zeros are equal.
SINDRI_DEVICE uint32_t ordered(float v) {
  if (v != v) return 0xffffffffu;
  const uint32_t b = __float_as_uint(v == 0.0f ? 0.0f : v);
  return (b & 0x80000000u) != 0 ? ~b : b | 0x80000000u;
}
SINDRI_DEVICE uint64_t ordered(double v) {
  if (v != v) return ~uint64_t{0};
  const auto b = static_cast<uint64_t>(__double_as_longlong(v == 0.0 ? 0.0 : v));
  return (b >> 63) != 0 ? ~b : b | (uint64_t{1} << 63);
}
SINDRI_DEVICE uint32_t ordered(int32_t v) { return static_cast<uint32_t>(v) ^ 0x80000000u; }
SINDRI_DEVICE uint32_t ordered(uint8_t v) { return v; }
SINDRI_DEVICE uint64_t ordered(int64_t v) { return static_cast<uint64_t>(v) ^ (uint64_t{1} << 63); }

// A key of 32 bits and an index below 2^32 - 1 in one number.
struct Packed {
  uint64_t bits;
  SINDRI_DEVICE static Packed of(uint32_t key, int64_t index) { return {static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(index)}; }
  SINDRI_DEVICE static Packed last() { return {~uint64_t{0}}; }
  SINDRI_DEVICE int64_t index() const { return static_cast<int64_t>(bits & 0xffffffffu); }
  SINDRI_DEVICE bool before(const Packed& o) const { return bits < o.bits; }
};
struct Pair {
  uint64_t key, at;
  SINDRI_DEVICE static Pair of(uint64_t key, int64_t index) { return {key, static_cast<uint64_t>(index)}; }
  SINDRI_DEVICE static Pair last() { return {~uint64_t{0}, ~uint64_t{0}}; }
  SINDRI_DEVICE int64_t index() const { return static_cast<int64_t>(at); }
  SINDRI_DEVICE bool before(const Pair& o) const { return key != o.key ? key < o.key : at < o.at; }
};

struct Lines {
  int64_t lines, size, inner, k;
  SINDRI_DEVICE int64_t from(int64_t line, int64_t i) const {
    const int64_t o = line / inner;
    return (o * size + i) * inner + (line - o * inner);
  }
  SINDRI_DEVICE int64_t to(int64_t line, int64_t i) const {
    const int64_t o = line / inner;
    return (o * k + i) * inner + (line - o * inner);
  }
};
// Runs of `span` elements of a line. At most the first `kept` of a run are kept, in order: item p of run r of a line is at (line·runs + r)·kept + p.
struct Runs {
  int64_t span, kept, runs;
  SINDRI_DEVICE int64_t count(int64_t r, int64_t size) const {
    const int64_t rest = size - r * span, n = rest < span ? rest : span;
    return n < kept ? n : kept;
  }
};

template <class E, class Item>
SINDRI_DEVICE void write_result(const E* x, E* values, int64_t* indices, const Lines& l, int64_t line, int64_t p, const Item& item) {
  const int64_t index = item.index(), to = l.to(line, p);
  values[to] = x[l.from(line, index)];
  indices[to] = index;
}

// A block sorts kTile / tile runs of `tile` elements, a power of two. If a line is one run the results are written, otherwise items.
template <class E, class Item> __global__ void sort_tiles(const E* x, Lines l, Runs runs, int tile, bool largest, E* values, int64_t* indices, Item* items) {
  SINDRI_SHARED(Item, s, kTile);
  const int t = static_cast<int>(threadIdx.x), each = kTile / tile;
  const int64_t all = l.lines * runs.runs;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * each; first < all; first += static_cast<int64_t>(gridDim.x) * each) {
    for (int i = t; i < kTile; i += kThreads) {
      const int64_t run = first + i / tile, line = run / runs.runs, at = (run - line * runs.runs) * runs.span + i % tile;
      Item item = Item::last();
      if (run < all && at < l.size) {
        const auto key = ordered(load(x[l.from(line, at)]));
        item = Item::of(largest ? static_cast<decltype(key)>(~key) : key, at);
      }
      s[i] = item;
    }
    for (int block = 2; block <= tile; block *= 2) {
      for (int apart = block / 2; apart > 0; apart /= 2) {
        __syncthreads();
        for (int pair = t; pair < kTile / 2; pair += kThreads) {
          const int i = 2 * pair - (pair & (apart - 1)), j = i + apart;
          const bool up = (i % tile & block) == 0;
          const Item a = s[i], b = s[j];
          if (b.before(a) == up) {
            s[i] = b;
            s[j] = a;
          }
        }
      }
    }
    __syncthreads();
    for (int i = t; i < kTile; i += kThreads) {
      const int64_t run = first + i / tile, line = run / runs.runs, r = run - line * runs.runs, p = i % tile;
      if (run >= all || p >= runs.count(r, l.size)) continue;
      const Item item = s[i];
      if (items != nullptr) items[run * runs.kept + p] = item;
      else write_result(x, values, indices, l, line, p, item);
    }
    __syncthreads();
  }
}

// Merges runs 2r and 2r + 1 into run r.
template <class Item> __global__ void merge_runs(const Item* from, Item* to, Lines l, Runs a, Runs b) {
  const int64_t n = l.lines * a.runs * a.kept;
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t run = i / a.kept, p = i - run * a.kept, line = run / a.runs, r = run - line * a.runs, other = r ^ 1;
    if (p >= a.count(r, l.size)) continue;
    const Item item = from[i];
    int64_t low = 0;
    if (other < a.runs) {
      const Item* const list = from + (line * a.runs + other) * a.kept;
      int64_t high = a.count(other, l.size);
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (list[middle].before(item)) low = middle + 1;
        else high = middle;
      }
    }
    if (p + low < b.kept) to[(line * b.runs + r / 2) * b.kept + p + low] = item;
  }
}

template <class E, class Item> __global__ void write_results(const E* x, E* values, int64_t* indices, Lines l, const Item* items) {
  for (int64_t i = global_thread(); i < l.lines * l.k; i += global_threads()) {
    const int64_t line = i / l.k;
    write_result(x, values, indices, l, line, i - line * l.k, items[i]);
  }
}

// ----- host code -----

Lines lines_of(const KernelQuery& q) {
  const auto& a = q.attrs.as<TopkAttrs>();
  const AxisView v = view_along("topk", q.in[0].shape, a.axis);
  return {v.outer * v.inner, v.size, v.inner, a.k};
}
Runs first_runs(const Lines& l) { return {kTile, std::min<int64_t>(l.k, kTile), ceil_div(l.size, kTile)}; }
bool packs(const KernelQuery& q, const Lines& l) { return dtype_size(q.in[0].dtype) <= 4 && l.size < INT64_C(0xffffffff); }
int64_t buffer_bytes(const KernelQuery& q, const Lines& l) {
  const Runs r = first_runs(l);
  if (r.runs <= 1) return 0;
  // The last run, if it has no partner, has room for a whole one, so that merged runs never need more than this.
  const auto most = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(r.runs)));
  return (l.lines * most * r.kept * static_cast<int64_t>(packs(q, l) ? sizeof(Packed) : sizeof(Pair)) + 255) / 256 * 256;
}
int64_t topk_workspace(const KernelQuery& q) { return 2 * buffer_bytes(q, lines_of(q)); }

template <class E, class Item> void sort_lines(const Call& call, const Lines& l, bool largest) {
  const E* const x = call.input<E>(0);
  E* const values = call.output<E>(0);
  auto* const indices = call.output<int64_t>(1);
  Runs runs = first_runs(l);
  auto* from = static_cast<Item*>(runs.runs > 1 ? call.workspace : nullptr);
  auto* to = reinterpret_cast<Item*>(static_cast<char*>(call.workspace) + buffer_bytes(call.query, l));
  const int tile = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(l.size, 2, kTile))));
  const int64_t blocks = std::min<int64_t>(ceil_div(l.lines * runs.runs, kTile / tile), 132 * 32);
  launch(call, Grid{dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0}, sort_tiles<E, Item>, x, l, runs, tile, largest, values, indices, from);
  if (from == nullptr) return;
  while (runs.runs > 1) {
    const Runs next{runs.span * 2, std::min(l.k, runs.kept * 2), ceil_div(runs.runs, 2)};
    launch(call, grid_for(l.lines * runs.runs * runs.kept), merge_runs<Item>, static_cast<const Item*>(from), to, l, runs, next);
    std::swap(from, to);
    runs = next;
  }
  launch(call, grid_for(l.lines * l.k), write_results<E, Item>, x, values, indices, l, static_cast<const Item*>(from));
}
void run_topk(const Call& call) {
  const KernelQuery& q = call.query;
  const Lines l = lines_of(q);
  if (l.lines == 0 || l.k == 0) return;
  const bool largest = q.attrs.as<TopkAttrs>().largest;
  // bool is compared as its byte, which is 0 or 1.
  dispatch_element(q.in[0].dtype == DType::kBool ? DType::kUInt8 : q.in[0].dtype, [&]<class E>() {
    if constexpr (sizeof(E) <= 4) {
      if (packs(q, l)) return sort_lines<E, Packed>(call, l, largest);
    }
    return sort_lines<E, Pair>(call, l, largest);
  });
}

// Indices along the axis are distinct.
template <class E> __global__ void topk_grad(const E* dy, const int64_t* indices, E* dx, int64_t n, int64_t inner, int64_t from_size, int64_t size) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t index = indices[i], line = i / inner, outer = line / from_size;
    if (index >= 0 && index < size) dx[(outer * size + index) * inner + (i - line * inner)] = dy[i];
  }
}
void run_topk_grad(const Call& call) {
  const KernelQuery& q = call.query;
  const AxisView from = view_along("topk_grad", q.in[0].shape, q.attrs.as<TopkGradAttrs>().axis);
  fill_bytes(call, call.out[0].data, 0, q.out[0].nbytes());
  const int64_t n = q.in[0].numel();
  if (n == 0) return;
  dispatch_bytes(q.in[0].dtype, [&]<class E>() {
    launch(call, grid_for(n), topk_grad<E>, call.input<E>(0), call.input<int64_t>(1), call.output<E>(0), n, from.inner, from.size,
           q.attrs.as<TopkGradAttrs>().size);
  });
}

const bool kTopk = register_cuda_kernel({.op = "topk", .run = run_topk, .workspace = topk_workspace});
const bool kTopkGrad = register_cuda_kernel({.op = "topk_grad", .run = run_topk_grad});

}  // namespace
}  // namespace sindri::cuda
