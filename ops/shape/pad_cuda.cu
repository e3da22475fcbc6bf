// pad, pad_grad and slice_grad on CUDA devices, each in one pass: a thread computes the source of an element of the result. Memory traffic: the result is
// written once, the operand read once (pad repeats elements from the cache).
#include <algorithm>
#include <vector>

#include "ops/shape/fill_cuda.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"
#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

enum class Rule : uint8_t { kSame, kConstant, kReflect, kSymmetric, kEdge, kStrided };
Rule rule_of(PadMode m) {
  switch (m) {
    case PadMode::kConstant: return Rule::kConstant;
    case PadMode::kReflect: return Rule::kReflect;
    case PadMode::kSymmetric: return Rule::kSymmetric;
    default: return Rule::kEdge;
  }
}

// One dimension of the larger tensor, and the part of it that comes from the smaller one: `count` elements from `before` on, `step` apart (only kStrided;
// backwards if `reversed`).
struct Side {
  Divisor size, step;
  int64_t before = 0, count = 0;
  int64_t stride = 0;  // in the smaller tensor
  Rule rule = Rule::kSame;
  bool reversed = false;
};
// Dimensions of the larger tensor in its physical order.
struct Places {
  int64_t n = 1;
  int rank = 0;
  Side side[Shape::kMaxRank];
};

// Index in the smaller tensor of index i of the larger one; negative: none.
SINDRI_DEVICE int64_t source_of(const Side& s, int64_t i) {
  const int64_t j = i - s.before;
  switch (s.rule) {
    case Rule::kSame: return i;
    case Rule::kStrided: {
      const int64_t t = s.reversed ? -j : j;
      if (t < 0) return -1;
      const int64_t q = s.step.quotient(t);
      return q * s.step.value == t && q < s.count ? q : -1;
    }
    default: break;
  }
  if (j >= 0 && j < s.count) return j;
  switch (s.rule) {
    case Rule::kConstant: return -1;
    case Rule::kEdge: return j < 0 ? 0 : s.count - 1;
    case Rule::kReflect: return j < 0 ? -j : 2 * (s.count - 1) - j;
    default: return j < 0 ? -1 - j : 2 * s.count - 1 - j;
  }
}

template <class E> __global__ void place(Places p, const E* small, E* large, E value) {
  for (int64_t i = global_thread(); i < p.n; i += global_threads()) {
    int64_t rest = i, at = 0;
    for (int d = p.rank - 1; d >= 0 && at >= 0; --d) {
      const Side& s = p.side[d];
      const int64_t q = d > 0 ? s.size.quotient(rest) : 0, j = source_of(s, rest - q * s.size.value);
      at = j < 0 ? -1 : at + j * s.stride;
      rest = q;
    }
    large[i] = at < 0 ? value : small[at];
  }
}

// ----- the gradient of pad -----

// Indices of the larger tensor that hold index s of the smaller one: a run from `at[0]` on, or up to three separate ones.
struct Copies {
  int64_t at[3];
  int64_t count;
  bool run;
};
struct GradSide {
  Divisor size;  // of the smaller tensor
  int64_t before = 0, out = 0, stride = 0;  // `out` and `stride` of the larger tensor
  Rule rule = Rule::kConstant;
};
struct GradPlaces {
  int64_t n = 1;
  int rank = 0;
  GradSide side[Shape::kMaxRank];
};

SINDRI_DEVICE Copies copies_of(const GradSide& side, int64_t s) {
  const int64_t size = side.size.value, before = side.before, self = before + s;
  Copies c{{self, 0, 0}, 1, false};
  if (side.rule == Rule::kEdge) {
    const int64_t first = s == 0 ? 0 : self, last = s == size - 1 ? side.out - 1 : self;
    return {{first, 0, 0}, last - first + 1, true};
  }
  if (side.rule == Rule::kConstant) return c;
  const bool reflect = side.rule == Rule::kReflect;
  const int64_t left = reflect ? before - s : before - 1 - s, right = before + (reflect ? 2 * (size - 1) : 2 * size - 1) - s;
  const bool has_left = left >= 0 && (!reflect || s > 0), has_right = right < side.out && (!reflect || s < size - 1);
  c.count = 0;
  if (has_left) c.at[c.count++] = left;
  c.at[c.count++] = self;
  if (has_right) c.at[c.count++] = right;
  return c;
}

// In mode edge one thread adds a whole run, whose length is the padding's: networks use narrow padding.
template <class E> __global__ void gather_copies(GradPlaces p, const E* large, E* small) {
  for (int64_t i = global_thread(); i < p.n; i += global_threads()) {
    Copies copies[Shape::kMaxRank];
    int64_t rest = i, total = 1;
    for (int d = p.rank - 1; d >= 0; --d) {
      const int64_t q = d > 0 ? p.side[d].size.quotient(rest) : 0;
      copies[d] = copies_of(p.side[d], rest - q * p.side[d].size.value);
      total *= copies[d].count;
      rest = q;
    }
    Sum<E> sum = 0;
    for (int64_t k = 0; k < total; ++k) {
      int64_t left = k, at = 0;
      for (int d = p.rank - 1; d >= 0; --d) {
        const Copies& c = copies[d];
        const int64_t q = c.count == 1 ? left : left / c.count, j = left - q * c.count;
        at += (c.run ? c.at[0] + j : c.at[j]) * p.side[d].stride;
        left = q;
      }
      sum += load(large[at]);
    }
    small[i] = store_as<E>(sum);
  }
}

// ----- host code -----

int physical_dim(const TensorMeta& m, int d) {
  constexpr int kChannelsLastOrder[] = {0, 2, 3, 1};
  return m.layout == Layout::kChannelsLast ? kChannelsLastOrder[d] : d;
}

// Adds a dimension inside the previous ones; dimensions that are the same on both sides are joined.
void add_side(Places* p, std::vector<int64_t>* sizes, int64_t size, Side s) {
  if (s.before == 0 && s.count == size && !s.reversed && s.step.value == 1) s.rule = Rule::kSame;
  p->n *= size;
  if (s.rule == Rule::kSame && p->rank > 0) {
    Side& outer = p->side[p->rank - 1];
    if (outer.rule == Rule::kSame && outer.stride == s.stride * size) {
      sizes->back() *= size;
      outer.stride = s.stride;
      return;
    }
  }
  sizes->push_back(size);
  p->side[p->rank++] = s;
}

// Runs `place` with elements as wide as unpadded inner dimensions allow.
void run_places(const Call& call, Places p, std::vector<int64_t> sizes, double value) {
  size_t size = dtype_size(call.in[0].meta->dtype);
  const uint4 pattern = pattern_of(call.in[0].meta->dtype, value);
  const uint64_t addresses = reinterpret_cast<uintptr_t>(call.in[0].data) | reinterpret_cast<uintptr_t>(call.out[0].data);
  if (p.rank > 0 && p.side[p.rank - 1].rule == Rule::kSame && p.side[p.rank - 1].stride == 1) {
    const auto even = [&] {
      for (int d = 0; d + 1 < p.rank; ++d)
        if (p.side[d].stride % 2 != 0) return false;
      return sizes.back() % 2 == 0;
    };
    for (; size < 16 && even() && addresses % (2 * size) == 0; size *= 2) {
      for (int d = 0; d + 1 < p.rank; ++d) p.side[d].stride /= 2;
      sizes.back() /= 2;
      p.n /= 2;
    }
  }
  for (int d = 0; d < p.rank; ++d) p.side[d].size = Divisor(sizes[static_cast<size_t>(d)], p.n);
  const auto start = [&]<class E>() { launch(call, grid_for(p.n), place<E>, p, call.input<E>(0), call.output<E>(0), first_of<E>(pattern)); };
  switch (size) {
    case 1: return start.operator()<uint8_t>();
    case 2: return start.operator()<uint16_t>();
    case 4: return start.operator()<uint32_t>();
    case 8: return start.operator()<uint64_t>();
    default: return start.operator()<uint4>();
  }
}

void run_pad(const Call& call) {
  const auto& a = call.query.attrs.as<PadAttrs>();
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  if (x.numel() == 0) return fill(call, call.out[0], a.value);
  const PadSpec spec = resolve_pad("pad", x.shape, a.pads, a.mode);
  const Shape strides = physical_strides(x);
  Places p;
  std::vector<int64_t> sizes;
  for (int i = 0; i < y.shape.rank(); ++i) {
    const int d = physical_dim(y, i);
    Side s;
    s.before = spec.before[d];
    s.count = x.shape[d];
    s.stride = strides[d];
    s.rule = rule_of(spec.mode);
    add_side(&p, &sizes, y.shape[d], s);
  }
  run_places(call, p, std::move(sizes), a.value);
}

void run_slice_grad(const Call& call) {
  const auto& a = call.query.attrs.as<SliceGradAttrs>();
  const TensorMeta &dy = *call.in[0].meta, &dx = *call.out[0].meta;
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return fill(call, call.out[0], 0);
  const SliceRange r = resolve_slice("slice_grad", a.shape, a.begin, a.end, a.stride);
  const Shape strides = physical_strides(dy);
  Places p;
  std::vector<int64_t> sizes;
  for (int i = 0; i < dx.shape.rank(); ++i) {
    const int d = physical_dim(dx, i);
    Side s;
    s.before = r.begin[d];
    s.count = r.count[d];
    s.stride = strides[d];
    s.reversed = r.stride[d] < 0;
    s.step = Divisor(s.reversed ? -r.stride[d] : r.stride[d], dx.shape[d]);
    s.rule = s.reversed || s.step.value != 1 ? Rule::kStrided : Rule::kConstant;
    add_side(&p, &sizes, dx.shape[d], s);
  }
  run_places(call, p, std::move(sizes), 0);
}

void run_pad_grad(const Call& call) {
  const auto& a = call.query.attrs.as<PadGradAttrs>();
  const TensorMeta &dy = *call.in[0].meta, &dx = *call.out[0].meta;
  if (dx.numel() == 0) return;
  if (dy.numel() == 0) return fill(call, call.out[0], 0);
  const PadSpec spec = resolve_pad("pad_grad", a.shape, a.pads, a.mode);
  const Shape strides = physical_strides(dy);
  GradPlaces p;
  p.n = dx.numel();
  for (int i = 0; i < dx.shape.rank(); ++i) {
    const int d = physical_dim(dx, i);
    GradSide& s = p.side[p.rank++];
    s.size = Divisor(dx.shape[d], p.n);
    s.before = spec.before[d];
    s.out = dy.shape[d];
    s.stride = strides[d];
    s.rule = rule_of(spec.mode);
  }
  dispatch_floating_element(dx.dtype, [&]<class E>() { launch(call, grid_for(p.n), gather_copies<E>, p, call.input<E>(0), call.output<E>(0)); });
}

const bool kPad = register_cuda_kernel({.op = "pad", .run = run_pad});
const bool kPadGrad = register_cuda_kernel({.op = "pad_grad", .run = run_pad_grad});
const bool kSliceGrad = register_cuda_kernel({.op = "slice_grad", .run = run_slice_grad});

}  // namespace
}  // namespace sindri::cuda
