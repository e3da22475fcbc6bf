// See strided_copy.h.
#include "ops/shape/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "src/device/cpu/parallel.h"

namespace sindri::shape_ops {

namespace {

constexpr int64_t kGrain = 16384;  // minimum elements per thread, below which waking a second one does not pay
constexpr int64_t kTile = 16;

struct Dim {
  int64_t size, dst, src;
};

// Dimensions from the slowest to the fastest of dst, without those of size 1, with neighbours merged if both sides allow it.
struct Plan {
  std::array<Dim, Shape::kMaxRank> dims{};
  int rank = 0;
  bool empty = false;
};

Plan make_plan(const Shape& shape, const Shape& dst, const Shape& src) {
  Plan p;
  std::array<Dim, Shape::kMaxRank> all{};
  int n = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 0) p.empty = true;
    if (shape[d] > 1) all[static_cast<size_t>(n++)] = {shape[d], dst[d], src[d]};
  }
  std::stable_sort(all.begin(), all.begin() + n, [](const Dim& a, const Dim& b) { return std::abs(a.dst) > std::abs(b.dst); });
  for (int i = 0; i < n; ++i) {
    const Dim& d = all[static_cast<size_t>(i)];
    Dim* last = p.rank > 0 ? &p.dims[static_cast<size_t>(p.rank - 1)] : nullptr;
    if (last != nullptr && last->dst == d.dst * d.size && last->src == d.src * d.size) *last = {last->size * d.size, d.dst, d.src};
    else p.dims[static_cast<size_t>(p.rank++)] = d;
  }
  return p;
}

// Iterates over the outer dimensions from a given position without a division per step.
class OuterWalk {
 public:
  OuterWalk(const Dim* dims, int rank, int64_t start) : dims_(dims), rank_(rank) {
    for (int d = rank - 1; d >= 0; --d) {
      at_[static_cast<size_t>(d)] = start % dims[d].size;
      start /= dims[d].size;
      dst += at_[static_cast<size_t>(d)] * dims[d].dst;
      src += at_[static_cast<size_t>(d)] * dims[d].src;
    }
  }
  void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      dst += dims_[d].dst;
      src += dims_[d].src;
      if (++at_[static_cast<size_t>(d)] < dims_[d].size) return;
      at_[static_cast<size_t>(d)] = 0;
      dst -= dims_[d].size * dims_[d].dst;
      src -= dims_[d].size * dims_[d].src;
    }
  }
  int64_t dst = 0, src = 0;

 private:
  const Dim* dims_;
  int rank_;
  std::array<int64_t, Shape::kMaxRank> at_{};
};

template <class T> void copy_run(T* dst, const T* src, const Dim& d) {
  if (d.dst == 1 && d.src == 1) {
    if (d.size >= 16) {
      std::memcpy(dst, src, static_cast<size_t>(d.size) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < d.size; ++i) dst[i] = src[i];
  } else if (d.dst == 1 && d.src == 0) {
    std::fill(dst, dst + d.size, *src);
  } else if (d.dst == 1) {
    for (int64_t i = 0; i < d.size; ++i) dst[i] = src[i * d.src];
  } else {
    for (int64_t i = 0; i < d.size; ++i) dst[i * d.dst] = src[i * d.src];
  }
}

// Rows of src (along `across`, stride 1) become columns of dst. The tile passes through a buffer, so that src lines whose
// addresses differ by a power of two do not evict each other before they are read a second time.
template <class T> void copy_tile(T* dst, const T* src, const Dim& along, const Dim& across, int64_t i0, int64_t j0) {
  T buffer[kTile][kTile];
  const int64_t ni = std::min(kTile, along.size - i0), nj = std::min(kTile, across.size - j0);
  for (int64_t i = 0; i < ni; ++i) {
    const T* row = src + (i0 + i) * along.src + j0;
    for (int64_t j = 0; j < nj; ++j) buffer[i][j] = row[j];
  }
  for (int64_t j = 0; j < nj; ++j) {
    T* row = dst + (j0 + j) * across.dst + i0;
    for (int64_t i = 0; i < ni; ++i) row[i] = buffer[i][j];
  }
}

// The dimension to tile against the fastest one of dst, the one along which src is contiguous. -1: none.
int tile_dimension(const Plan& p) {
  const Dim& inner = p.dims[static_cast<size_t>(p.rank - 1)];
  if (inner.dst != 1 || inner.src == 0 || inner.src == 1 || inner.size < 4) return -1;
  for (int d = 0; d < p.rank - 1; ++d) {
    if (p.dims[static_cast<size_t>(d)].src == 1 && p.dims[static_cast<size_t>(d)].size >= 4) return d;
  }
  return -1;
}

template <class T> void copy_tiled(const Plan& p, int tiled, T* dst, const T* src) {
  const Dim along = p.dims[static_cast<size_t>(p.rank - 1)], across = p.dims[static_cast<size_t>(tiled)];
  std::array<Dim, Shape::kMaxRank> outer{};
  int rank = 0;
  for (int d = 0; d < p.rank - 1; ++d) {
    if (d != tiled) outer[static_cast<size_t>(rank++)] = p.dims[static_cast<size_t>(d)];
  }
  // One item: a strip of kTile columns of src, kTile rows of dst.
  const int64_t strips = (across.size + kTile - 1) / kTile;
  outer[static_cast<size_t>(rank++)] = {strips, 0, 0};
  int64_t items = 1;
  for (int d = 0; d < rank; ++d) items *= outer[static_cast<size_t>(d)].size;
  parallel_for(items, std::max<int64_t>(1, kGrain / (kTile * along.size)), [&](int64_t begin, int64_t end) {
    OuterWalk walk(outer.data(), rank, begin);
    for (int64_t item = begin; item < end; ++item, walk.next()) {
      for (int64_t i0 = 0; i0 < along.size; i0 += kTile) copy_tile(dst + walk.dst, src + walk.src, along, across, i0, item % strips * kTile);
    }
  });
}

template <class T> void copy(const Plan& p, T* dst, const T* src) {
  if (p.rank == 0) {
    *dst = *src;
    return;
  }
  const int tiled = tile_dimension(p);
  if (tiled >= 0) {
    copy_tiled(p, tiled, dst, src);
    return;
  }
  const Dim inner = p.dims[static_cast<size_t>(p.rank - 1)];
  if (p.rank == 1) {
    parallel_for(inner.size, kGrain, [&](int64_t b, int64_t e) { copy_run(dst + b * inner.dst, src + b * inner.src, {e - b, inner.dst, inner.src}); });
    return;
  }
  int64_t items = 1;
  for (int d = 0; d < p.rank - 1; ++d) items *= p.dims[static_cast<size_t>(d)].size;
  parallel_for(items, std::max<int64_t>(1, kGrain / inner.size), [&](int64_t begin, int64_t end) {
    OuterWalk walk(p.dims.data(), p.rank - 1, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) copy_run(dst + walk.dst, src + walk.src, inner);
  });
}

// Calls f(T{}) with an unsigned type of `size` bytes.
template <class F> void with_width(size_t size, F&& f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

}  // namespace

void strided_copy(const Shape& shape, void* dst, const Shape& dst_strides, const void* src, const Shape& src_strides, size_t size) {
  const Plan plan = make_plan(shape, dst_strides, src_strides);
  if (plan.empty) return;
  with_width(size, [&](auto width) {
    using T = decltype(width);
    copy(plan, static_cast<T*>(dst), static_cast<const T*>(src));
  });
}

void fill_elements(void* dst, int64_t n, const void* value, size_t size) {
  with_width(size, [&](auto width) {
    using T = decltype(width);
    T v;
    std::memcpy(&v, value, sizeof v);
    parallel_for(n, 2 * kGrain, [&](int64_t b, int64_t e) { std::fill(static_cast<T*>(dst) + b, static_cast<T*>(dst) + e, v); });
  });
}

}  // namespace sindri::shape_ops
