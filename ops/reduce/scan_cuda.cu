// cumsum, cumprod and linear_scan on CUDA devices. If the axis is the last dimension, a block processes a line in tiles; otherwise a thread processes a line,
// with neighbours in memory in neighbouring threads. If there are few long lines, they are cut into chunks: first the chunks' totals are computed, then the
// prefix of each chunk, then the elements again. Memory traffic: operands once (twice in chunks), the result once. Arithmetic is in double and int64, and each
// element is rounded once, as on the CPU.
//
// A policy has Acc, begin(), combine(first, second) for adjacent stretches, take(at, i) and write(at, acc). take returns the element at offset `at`, which is
// the i-th that the scan visits.
#include <algorithm>
#include <string_view>

#include "ops/reduce/reduce_impl.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/reduce.h"

namespace sindri::cuda {
namespace {

using namespace reduce;

template <class E> using Wide = std::conditional_t<kIsFloating<E>, double, int64_t>;

template <class E> struct Running {
  using Acc = Wide<E>;
  const E* x;
  void* y;  // int64 for bool and uint8 sums, otherwise E
  bool product, to_int64;
  SINDRI_DEVICE Acc begin() const { return product ? Acc(1) : Acc(0); }
  SINDRI_DEVICE Acc combine(Acc a, Acc b) const {
    if (!product) return Add()(a, b);
    if constexpr (kIsFloating<E>) return a * b;
    else return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  SINDRI_DEVICE Acc take(int64_t at, int64_t) const { return static_cast<Acc>(load(x[at])); }
  SINDRI_DEVICE void write(int64_t at, Acc v) const {
    if (to_int64) static_cast<int64_t*>(y)[at] = static_cast<int64_t>(v);
    else static_cast<E*>(y)[at] = store_as<E>(v);
  }
};

/// h -> scale·h + shift.
struct Affine {
  double scale, shift;
};
template <class E> struct Recurrence {
  using Acc = Affine;
  const E *a, *b;
  E* h;
  int64_t late;  // offset of the coefficient from the element
  SINDRI_DEVICE Acc begin() const { return {1, 0}; }
  SINDRI_DEVICE Acc combine(const Acc& first, const Acc& second) const { return {second.scale * first.scale, second.scale * first.shift + second.shift}; }
  // Nothing precedes the first element, so it has no coefficient.
  SINDRI_DEVICE Acc take(int64_t at, int64_t i) const { return {i == 0 ? 0.0 : static_cast<double>(load(a[at + late])), static_cast<double>(load(b[at]))}; }
  SINDRI_DEVICE void write(int64_t at, const Acc& v) const { h[at] = store_as<E>(v.shift); }
};

struct ScanLines {
  int64_t lines, size, inner;
  bool reverse;
  int64_t chunk, chunks;  // elements per chunk; chunks per line
  // Offset of the i-th element that the scan of a line visits.
  SINDRI_DEVICE int64_t at(int64_t line, int64_t i) const {
    const int64_t outer = inner == 1 ? line : line / inner;
    return (outer * size + (reverse ? size - 1 - i : i)) * inner + (line - outer * inner);
  }
};

// Replaces the chunks' totals [lines, chunks] of a line by the prefix of each chunk.
template <class Policy> __global__ void scan_totals(Policy p, ScanLines l, typename Policy::Acc* totals) {
  for (int64_t line = global_thread(); line < l.lines; line += global_threads()) {
    auto before = p.begin();
    for (int64_t c = 0; c < l.chunks; ++c) {
      const auto total = totals[line * l.chunks + c];
      totals[line * l.chunks + c] = before;
      before = p.combine(before, total);
    }
  }
}

// One thread per chunk of each line. With totals_only, `chunks_of` receives the totals; otherwise it holds each chunk's prefix, or is null.
template <class Policy> __global__ void scan_lines(Policy p, ScanLines l, typename Policy::Acc* chunks_of, bool totals_only) {
  for (int64_t t = global_thread(); t < l.lines * l.chunks; t += global_threads()) {
    const int64_t c = t / l.lines, line = t - c * l.lines, begin = c * l.chunk, end = begin + l.chunk < l.size ? begin + l.chunk : l.size;
    auto acc = totals_only || chunks_of == nullptr ? p.begin() : chunks_of[line * l.chunks + c];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = l.at(line, i);
      acc = p.combine(acc, p.take(at, i));
      if (!totals_only) p.write(at, acc);
    }
    if (totals_only) chunks_of[line * l.chunks + c] = acc;
  }
}

// The same for lines with contiguous elements: one block per chunk, which processes tiles of `kEach` elements per thread.
template <class Policy> __global__ void scan_rows(Policy p, ScanLines l, typename Policy::Acc* chunks_of, bool totals_only) {
  using Acc = typename Policy::Acc;
  constexpr int kEach = 4;
  SINDRI_SHARED(Acc, warp_totals, 32);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  for (int64_t task = blockIdx.x; task < l.lines * l.chunks; task += gridDim.x) {
    const int64_t line = task / l.chunks, c = task - line * l.chunks, begin = c * l.chunk, end = begin + l.chunk < l.size ? begin + l.chunk : l.size;
    Acc before = totals_only || chunks_of == nullptr ? p.begin() : chunks_of[task];
    for (int64_t tile = begin; tile < end; tile += int64_t{blockDim.x} * kEach) {
      const int64_t mine = tile + int64_t{threadIdx.x} * kEach;
      Acc v[kEach], sum = p.begin();
      for (int j = 0; j < kEach; ++j) {
        v[j] = mine + j < end ? p.take(l.at(line, mine + j), mine + j) : p.begin();
        sum = p.combine(sum, v[j]);
      }
      Acc up_to = sum;  // sum over the lanes of the warp up to this one, included
      for (int by = 1; by < 32; by *= 2) {
        const Acc other = exchange_up(up_to, by);
        if (lane >= by) up_to = p.combine(other, up_to);
      }
      __syncthreads();  // others may still read the previous tile's values
      if (lane == 31) warp_totals[warp] = up_to;
      __syncthreads();
      Acc all = before, here = before;
      for (int w = 0; w < warps; ++w) {
        if (w == warp) here = all;
        all = p.combine(all, static_cast<Acc>(warp_totals[w]));
      }
      const Acc neighbours = exchange_up(up_to, 1);
      if (lane > 0) here = p.combine(here, neighbours);
      for (int j = 0; j < kEach && mine + j < end; ++j) {
        here = p.combine(here, v[j]);
        if (!totals_only) p.write(l.at(line, mine + j), here);
      }
      before = all;
    }
    if (totals_only && threadIdx.x == 0) chunks_of[task] = before;
  }
}

// ----- host code -----

ScanLines lines_of(const char* op, const Shape& shape, int64_t axis, bool reverse) {
  const AxisView v = view_along(op, shape, axis);
  ScanLines l{v.outer * v.inner, v.size, v.inner, reverse, v.size, 1};
  // If there are few lines: enough chunks to keep blocks (or threads) busy, each of at least some thousand (some hundred) elements.
  const int64_t wanted = v.inner == 1 ? 132 * 4 : 132 * 1024, least = v.inner == 1 ? 8192 : 256;
  if (l.lines > 0 && l.lines < wanted) l.chunks = std::clamp<int64_t>(std::min(wanted / l.lines, v.size / least), 1, 1024);
  l.chunk = std::max<int64_t>(1, ceil_div(v.size, l.chunks));
  l.chunks = std::max<int64_t>(1, ceil_div(v.size, l.chunk));
  return l;
}
template <class Policy> int64_t scan_workspace(const Policy&, const ScanLines& l) {
  return l.chunks > 1 ? l.lines * l.chunks * static_cast<int64_t>(sizeof(typename Policy::Acc)) : 0;
}
template <class Policy> void run_scan(const Call& call, const Policy& p, const ScanLines& l) {
  if (l.lines == 0 || l.size == 0) return;
  auto* const totals = static_cast<typename Policy::Acc*>(l.chunks > 1 ? call.workspace : nullptr);
  const int64_t tasks = l.lines * l.chunks;
  const bool rows = l.inner == 1 && l.size > 64;
  const Grid grid = rows ? Grid{dim3(static_cast<unsigned>(std::min<int64_t>(tasks, 132 * 32))), dim3(kThreads), 0} : grid_for(tasks);
  const auto kernel = rows ? scan_rows<Policy> : scan_lines<Policy>;
  if (l.chunks > 1) {
    launch(call, grid, kernel, p, l, totals, true);
    launch(call, grid_for(l.lines), scan_totals<Policy>, p, l, totals);
  }
  launch(call, grid, kernel, p, l, totals, false);
}

// Calls f(policy, lines).
template <class F> void with_running(const KernelQuery& q, const void* x, void* y, F&& f) {
  const bool product = std::string_view(q.op.name) == "cumprod";
  const int64_t axis = product ? q.attrs.as<CumprodAttrs>().axis : q.attrs.as<CumsumAttrs>().axis;
  const bool reverse = product ? q.attrs.as<CumprodAttrs>().reverse : q.attrs.as<CumsumAttrs>().reverse;
  // bool is read as its byte, which is 0 or 1.
  dispatch_element(q.in[0].dtype == DType::kBool ? DType::kUInt8 : q.in[0].dtype, [&]<class E>() {
    f(Running<E>{static_cast<const E*>(x), y, product, q.out[0].dtype == DType::kInt64}, lines_of(q.op.name, q.in[0].shape, axis, reverse));
  });
}
int64_t running_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  with_running(q, nullptr, nullptr, [&](const auto& p, const ScanLines& l) { bytes = scan_workspace(p, l); });
  return bytes;
}
void run_running(const Call& call) {
  with_running(call.query, call.in[0].data, call.out[0].data, [&](const auto& p, const ScanLines& l) { run_scan(call, p, l); });
}

template <class F> void with_recurrence(const KernelQuery& q, const void* a, const void* b, void* h, F&& f) {
  const auto& attrs = q.attrs.as<LinearScanAttrs>();
  const ScanLines l = lines_of(q.op.name, q.in[0].shape, attrs.axis, attrs.reverse);
  const int64_t late = attrs.late ? (attrs.reverse ? l.inner : -l.inner) : 0;
  dispatch_floating_element(q.in[0].dtype, [&]<class E>() {
    f(Recurrence<E>{static_cast<const E*>(a), static_cast<const E*>(b), static_cast<E*>(h), late}, l);
  });
}
int64_t recurrence_workspace(const KernelQuery& q) {
  int64_t bytes = 0;
  with_recurrence(q, nullptr, nullptr, nullptr, [&](const auto& p, const ScanLines& l) { bytes = scan_workspace(p, l); });
  return bytes;
}
void run_recurrence(const Call& call) {
  with_recurrence(call.query, call.in[0].data, call.in[1].data, call.out[0].data, [&](const auto& p, const ScanLines& l) { run_scan(call, p, l); });
}

const bool kCumsum = register_cuda_kernel({.op = "cumsum", .run = run_running, .workspace = running_workspace});
const bool kCumprod = register_cuda_kernel({.op = "cumprod", .run = run_running, .workspace = running_workspace});
const bool kLinearScan = register_cuda_kernel({.op = "linear_scan", .run = run_recurrence, .workspace = recurrence_workspace});

}  // namespace
}  // namespace sindri::cuda
