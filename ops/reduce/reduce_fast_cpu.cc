// The "simd" kernel of sum, mean, max, min and norm on floats.
//
// The input is processed in its physical order, with dimensions joined into groups that are reduced or kept. Work is cut into units
// whose size depends on the shape alone: kRowUnit elements of a row (innermost group reduced), or a block of columns times a piece of
// rows (innermost group kept). Each unit computes partial results in double; those of one output are added in order. So results
// depend neither on the number of threads nor on whether units or outputs are distributed over them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/reduce/reduce_impl.h"
#include "ops/reduce/reduce_simd.h"
#include "ops/reduce/scalar.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace reduce;

constexpr int64_t kRowUnit = 8192;  // elements
constexpr int64_t kColumnBlock = 512;  // doubles of an accumulator block: 4 KiB, stays in L1
constexpr int64_t kColumnUnit = 32768;  // elements of a block of columns times a piece of rows
constexpr int64_t kParallelGrain = 16384;

struct Group {
  int64_t size, stride, out_stride;  // strides in elements of input and output
};
// Number and offsets of all index combinations of some groups, first group slowest.
int64_t count(const std::vector<Group>& groups) {
  int64_t n = 1;
  for (const Group& g : groups) n *= g.size;
  return n;
}
struct Offsets {
  int64_t in = 0, out = 0;
};
Offsets offsets_of(const std::vector<Group>& groups, int64_t i) {
  Offsets o;
  for (size_t g = groups.size(); g-- > 0; i /= groups[g].size) {
    o.in += i % groups[g].size * groups[g].stride;
    o.out += i % groups[g].size * groups[g].out_stride;
  }
  return o;
}

Shape physical_strides(const TensorMeta& m) {
  if (m.layout != Layout::kChannelsLast) return contiguous_strides(m.shape);
  return {m.shape[2] * m.shape[3] * m.shape[1], 1, m.shape[3] * m.shape[1], m.shape[1]};
}

const std::vector<int64_t>& axes_of(const KernelQuery& q) {
  return std::string_view(q.op.name) == "norm" ? q.attrs.as<NormAttrs>().axes : q.attrs.as<ReduceAttrs>().axes;
}

class FoldKernel final : public Kernel {
 public:
  FoldKernel(const KernelQuery& q, Fold fold) : fold_(fold), type_(q.in[0].dtype), element_(static_cast<int64_t>(dtype_size(type_))) {
    const TensorMeta &in = q.in[0], &out = q.out[0];
    const AxisSet reduced = reduced_dims(q.op.name, axes_of(q), in.shape.rank());
    const Shape in_strides = physical_strides(in), out_strides = physical_strides(out);
    const bool keep = out.shape.rank() == in.shape.rank();
    std::vector<int> order, out_dim;
    for (int d = 0, o = 0; d < in.shape.rank(); ++d) {
      order.push_back(d);
      out_dim.push_back(keep ? d : o);
      o += reduced[static_cast<size_t>(d)] ? 0 : 1;
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in_strides[a] > in_strides[b]; });
    bool last_reduced = false;
    for (int d : order) {
      if (in.shape[d] == 1) continue;
      const bool r = reduced[static_cast<size_t>(d)];
      const Group g{in.shape[d], in_strides[d], r ? 0 : out_strides[out_dim[static_cast<size_t>(d)]]};
      std::vector<Group>& list = r ? reduced_ : kept_;
      const bool joins =
          !list.empty() && any_ && last_reduced == r && list.back().stride == g.stride * g.size && list.back().out_stride == g.out_stride * g.size;
      if (joins) list.back() = {list.back().size * g.size, g.stride, g.out_stride};
      else list.push_back(g);
      last_reduced = r;
      any_ = true;
    }
    rows_ = kept_.empty() || last_reduced;
    inner_ = {1, 1, 0};
    std::vector<Group>& from = rows_ ? reduced_ : kept_;
    if (!from.empty()) {
      inner_ = from.back();
      from.pop_back();
    }
    if (!rows_ && !reduced_.empty()) {
      down_ = reduced_.back();
      reduced_.pop_back();
    }
    numel_ = in.numel();
    outputs_ = out.numel();
    divisor_ = std::string_view(q.op.name) == "mean" ? static_cast<double>(reduced_count(in.shape, reduced)) : 1.0;
    root_ = fold == Fold::kSumSquare;
  }

  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (outputs_ == 0) return;
    const char* x = static_cast<const char*>(in[0].data);
    if (numel_ == 0) {
      for (int64_t o = 0; o < outputs_; ++o) put(out[0].data, o, 0.0);
    } else if (rows_) {
      run_rows(x, out[0].data);
    } else {
      run_columns(x, out[0].data);
    }
  }

 private:
  double combine(double a, double v) const {
    if (fold_ == Fold::kMax || fold_ == Fold::kMaxAbs) return ranks_before<true>(v, a) ? v : a;
    if (fold_ == Fold::kMin) return ranks_before<false>(v, a) ? v : a;
    return a + v;
  }
  double identity() const {
    return fold_ == Fold::kMax ? -std::numeric_limits<double>::infinity() : fold_ == Fold::kMin ? std::numeric_limits<double>::infinity() : 0.0;
  }
  void put(void* out, int64_t at, double v) const {
    v = root_ ? std::sqrt(v) : v / divisor_;
    switch (type_) {
      case DType::kFloat16: static_cast<float16*>(out)[at] = narrow<float16>(v); return;
      case DType::kBFloat16: static_cast<bfloat16*>(out)[at] = narrow<bfloat16>(v); return;
      case DType::kFloat32: static_cast<float*>(out)[at] = narrow<float>(v); return;
      default: static_cast<double*>(out)[at] = v; return;
    }
  }

  // Each output is the fold of `combos` rows of inner_.size elements, in units of at most kRowUnit.
  void run_rows(const char* x, void* out) const {
    const auto fold_row = SINDRI_SIMD_CALL(fold_row);
    const int64_t per_row = fixed_chunks(inner_.size, kRowUnit), combos = count(reduced_), units = combos * per_row, outputs = count(kept_);
    const auto unit = [&](int64_t base, int64_t u) {
      const int64_t begin = u % per_row * kRowUnit;
      const int64_t at = base + offsets_of(reduced_, u / per_row).in + begin;
      return fold_row(fold_, static_cast<int>(type_), x + at * element_, std::min(kRowUnit, inner_.size - begin));
    };
    if (outputs >= num_threads() || units == 1) {
      parallel_for(outputs, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, units * std::min(kRowUnit, inner_.size))),
                   [&](int64_t first, int64_t last) {
                     for (int64_t o = first; o < last; ++o) {
                       const Offsets at = offsets_of(kept_, o);
                       double acc = identity();
                       for (int64_t u = 0; u < units; ++u) acc = combine(acc, unit(at.in, u));
                       put(out, at.out, acc);
                     }
                   });
      return;
    }
    std::vector<double> partial(static_cast<size_t>(units));
    for (int64_t o = 0; o < outputs; ++o) {
      const Offsets at = offsets_of(kept_, o);
      parallel_for(units, std::max<int64_t>(1, kParallelGrain / std::min(kRowUnit, inner_.size)), [&](int64_t first, int64_t last) {
        for (int64_t u = first; u < last; ++u) partial[static_cast<size_t>(u)] = unit(at.in, u);
      });
      double acc = identity();
      for (double p : partial) acc = combine(acc, p);
      put(out, at.out, acc);
    }
  }

  // Each block of columns is the fold of `combos` stacks of down_.size rows, in pieces of piece_rows rows.
  void run_columns(const char* x, void* out) const {
    const auto fold_columns = SINDRI_SIMD_CALL(fold_columns);
    const int64_t width = std::min(kColumnBlock, inner_.size), blocks = fixed_chunks(inner_.size, kColumnBlock);
    const int64_t piece_rows = std::max<int64_t>(1, kColumnUnit / width), per_stack = fixed_chunks(down_.size, piece_rows);
    const int64_t pieces = count(reduced_) * per_stack, tasks = count(kept_) * blocks;
    const auto columns_of = [&](int64_t task) { return std::min(kColumnBlock, inner_.size - task % blocks * kColumnBlock); };
    const auto fold_piece = [&](int64_t task, int64_t piece, double* acc) {
      std::fill_n(acc, columns_of(task), identity());
      const int64_t begin = piece % per_stack * piece_rows;
      const int64_t at = offsets_of(kept_, task / blocks).in + task % blocks * kColumnBlock + offsets_of(reduced_, piece / per_stack).in + begin * down_.stride;
      fold_columns(fold_, static_cast<int>(type_), x + at * element_, std::min(piece_rows, down_.size - begin), down_.stride, columns_of(task), acc);
    };
    const auto finish = [&](int64_t task, const double* acc) {
      const int64_t at = offsets_of(kept_, task / blocks).out + task % blocks * kColumnBlock * inner_.out_stride;
      for (int64_t c = 0, n = columns_of(task); c < n; ++c) put(out, at + c * inner_.out_stride, acc[c]);
    };
    if (tasks >= num_threads() || pieces == 1) {
      parallel_for(tasks, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, numel_ / tasks)), [&](int64_t first, int64_t last) {
        std::array<double, kColumnBlock> acc, piece_acc;
        for (int64_t t = first; t < last; ++t) {
          fold_piece(t, 0, acc.data());
          for (int64_t p = 1; p < pieces; ++p) {
            fold_piece(t, p, piece_acc.data());
            add_columns(acc.data(), piece_acc.data(), columns_of(t));
          }
          finish(t, acc.data());
        }
      });
      return;
    }
    std::vector<double> partial(static_cast<size_t>(pieces * width));
    for (int64_t t = 0; t < tasks; ++t) {
      parallel_for(pieces, 1, [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) fold_piece(t, p, partial.data() + p * width);
      });
      for (int64_t p = 1; p < pieces; ++p) add_columns(partial.data(), partial.data() + p * width, columns_of(t));
      finish(t, partial.data());
    }
  }
  void add_columns(double* acc, const double* piece, int64_t n) const {
    for (int64_t c = 0; c < n; ++c) acc[c] = combine(acc[c], piece[c]);
  }

  Fold fold_;
  DType type_;
  int64_t element_;  // bytes
  std::vector<Group> reduced_, kept_;  // without inner_ and down_
  Group inner_{1, 1, 0};  // innermost group, contiguous
  Group down_{1, 0, 0};  // innermost reduced group above kept columns
  bool rows_ = true;  // inner_ is reduced
  bool any_ = false;
  bool root_ = false;
  int64_t numel_ = 0, outputs_ = 0;
  double divisor_ = 1;
};

std::string reject_integers(const KernelQuery& q) {
  return is_floating(q.in[0].dtype) ? "" : "integers are left to the reference kernel, which is exact in int64";
}

template <Fold fold> std::unique_ptr<Kernel> make_fold(const KernelQuery& q) { return std::make_unique<FoldKernel>(q, fold); }
std::unique_ptr<Kernel> make_norm(const KernelQuery& q) {
  const double p = q.attrs.as<NormAttrs>().p;
  return std::make_unique<FoldKernel>(q, p == 1 ? Fold::kSumAbs : p == 2 ? Fold::kSumSquare : Fold::kMaxAbs);
}

const bool kSum = register_kernel({.op = "sum", .name = "simd", .reject = reject_integers, .make = make_fold<Fold::kSum>});
const bool kMean = register_kernel({.op = "mean", .name = "simd", .reject = reject_integers, .make = make_fold<Fold::kSum>});
const bool kMax = register_kernel({.op = "max", .name = "simd", .reject = reject_integers, .make = make_fold<Fold::kMax>});
const bool kMin = register_kernel({.op = "min", .name = "simd", .reject = reject_integers, .make = make_fold<Fold::kMin>});
const bool kNorm = register_kernel({.op = "norm", .name = "simd", .make = make_norm});

}  // namespace
}  // namespace sindri
