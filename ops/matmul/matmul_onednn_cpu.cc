// matmul and batch_matmul by oneDNN: transposes are expressed by the descriptors' strides, and broadcast batches by dimensions of 1.
//
// "onednn" lets the library split the work over threads. "onednn_strict", used in strict mode, splits the rows or the columns of
// the result (and the batch into single matrices) by shape alone. Each piece is computed by a primitive for one thread.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ops/matmul/matmul_problem.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using dnnl::memory;
using matmul::Problem;

memory::desc matrix_descriptor(const Shape& batch, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride, DType dtype) {
  memory::dims dims = batch.vec(), strides(dims.size());
  int64_t stride = rows * cols;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  dims.insert(dims.end(), {rows, cols});
  strides.insert(strides.end(), {row_stride, col_stride});
  return {dims, onednn::data_type(dtype), strides};
}

// ldc: number of elements from one row of the result to the next.
bool make_descriptor(const Problem& p, int64_t ldc, DType dtype, dnnl::matmul::primitive_desc* pd, std::string* why) {
  return onednn::try_make(
      [&] {
        dnnl::primitive_attr attr;
        attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        const dnnl::matmul::desc desc(matrix_descriptor(p.a_batch, p.m, p.k, p.a_row, p.a_col, dtype),
                                      matrix_descriptor(p.b_batch, p.k, p.n, p.b_row, p.b_col, dtype), matrix_descriptor(p.batch, p.m, p.n, ldc, 1, dtype));
        return dnnl::matmul::primitive_desc(desc, attr, onednn::engine());
      },
      pd, why);
}

class OneDnnMatmul final : public Kernel {
 public:
  explicit OneDnnMatmul(onednn::Product product) : product_(std::move(product)) {}
  int64_t workspace_bytes() const override { return product_.workspace_bytes(); }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override { product_.run(in[0].data, in[1].data, out[0].data, ctx.workspace); }

 private:
  onednn::Product product_;
};

// Equal pieces of the longer side of the result; the last one may be shorter. Their length is a multiple of the library's own blocks.
constexpr int64_t kMaxPieces = 16, kRowBlock = 64, kColumnBlock = 256;

class StrictOneDnnMatmul final : public Kernel {
 public:
  explicit StrictOneDnnMatmul(const KernelQuery& q) : problem_(matmul::problem_of(q)), size_(static_cast<int64_t>(dtype_size(q.in[0].dtype))) {
    by_rows_ = problem_.m >= problem_.n;
    const int64_t extent = by_rows_ ? problem_.m : problem_.n, block = by_rows_ ? kRowBlock : kColumnBlock;
    length_ = std::max(fixed_chunks(extent, kMaxPieces * block) * block, block);
    pieces_ = fixed_chunks(extent, length_);
    const onednn::ThreadScope one_thread(1);
    const int64_t tail = extent - length_ * (pieces_ - 1);
    if (pieces_ > 1) make(length_, q);
    make(tail, q);
    for (const Part& p : parts_) scratchpad_ = std::max(scratchpad_, (static_cast<int64_t>(p.scratchpad.get_size()) + 63) / 64 * 64);
  }
  int64_t workspace_bytes() const override { return scratchpad_ * pieces_ * problem_.matrices(); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    parallel_tasks(pieces_ * problem_.matrices(), [&](int64_t task) {
      const onednn::ThreadScope one_thread(1);
      const int64_t matrix = task / pieces_, first = task % pieces_ * length_;
      const Part& p = task % pieces_ == pieces_ - 1 ? parts_.back() : parts_.front();
      const int64_t a = problem_.a_offset[static_cast<size_t>(matrix)] + (by_rows_ ? first * problem_.a_row : 0);
      const int64_t b = problem_.b_offset[static_cast<size_t>(matrix)] + (by_rows_ ? 0 : first * problem_.b_col);
      const int64_t c = matrix * problem_.m * problem_.n + (by_rows_ ? first * problem_.n : first);
      const auto at = [&](const Buffer& buffer, int64_t element) { return static_cast<char*>(buffer.data) + element * size_; };
      onednn::execute(p.primitive,
                      {{DNNL_ARG_SRC, &p.a, at(in[0], a)},
                       {DNNL_ARG_WEIGHTS, &p.b, at(in[1], b)},
                       {DNNL_ARG_DST, &p.c, at(out[0], c)},
                       {DNNL_ARG_SCRATCHPAD, &p.scratchpad, static_cast<char*>(ctx.workspace) + task * scratchpad_}});
    });
  }

 private:
  struct Part {
    dnnl::matmul primitive;
    memory::desc a, b, c, scratchpad;
  };

  // A single matrix with `length` rows (or columns); strides are those of the whole matrix.
  void make(int64_t length, const KernelQuery& q) {
    dnnl::matmul::primitive_desc pd;
    std::string why;
    if (!make_descriptor(piece_of(problem_, by_rows_, length), problem_.n, q.in[0].dtype, &pd, &why)) throw InternalError(std::string(q.op.name) + ": " + why);
    parts_.push_back({dnnl::matmul(pd), pd.src_desc(), pd.weights_desc(), pd.dst_desc(), pd.scratchpad_desc()});
  }
  static Problem piece_of(const Problem& whole, bool by_rows, int64_t length) {
    Problem p = whole;
    (by_rows ? p.m : p.n) = length;
    p.batch = p.a_batch = p.b_batch = Shape{};
    return p;
  }

  Problem problem_;
  int64_t size_, length_ = 0, pieces_ = 0, scratchpad_ = 0;
  bool by_rows_ = true;
  std::vector<Part> parts_;  // one for full pieces, and one for the last piece
};

constexpr int64_t kMostRows = int64_t{1} << 30;

std::string reject_common(const KernelQuery& q) {
  std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const Problem p = matmul::problem_of(q);
  if (p.empty()) return "an operand has no elements";
  // The library uses 32-bit indices in places.
  if (std::max({p.m, p.n, p.k}) > kMostRows) return "a side of more than 2^30 rows or columns";
  const onednn::ThreadScope threads(strict_mode() ? 1 : num_threads());
  dnnl::matmul::primitive_desc pd;
  make_descriptor(p, p.n, q.in[0].dtype, &pd, &why);
  return why;
}
std::string reject_onednn(const KernelQuery& q) { return strict_mode() ? "strict mode: its sums depend on the number of threads" : reject_common(q); }
std::string reject_strict(const KernelQuery& q) { return strict_mode() ? reject_common(q) : "for strict mode only"; }

std::unique_ptr<Kernel> make_onednn(const KernelQuery& q) {
  const onednn::ThreadScope threads(num_threads());
  const Problem problem = matmul::problem_of(q);
  dnnl::matmul::primitive_desc pd;
  std::string why;
  if (!make_descriptor(problem, problem.n, q.in[0].dtype, &pd, &why)) throw InternalError(std::string(q.op.name) + ": " + why);
  return std::make_unique<OneDnnMatmul>(onednn::Product(pd, num_threads()));
}
std::unique_ptr<Kernel> make_strict(const KernelQuery& q) { return std::make_unique<StrictOneDnnMatmul>(q); }

bool add(const char* op) {
  return register_kernel({.op = op, .name = "onednn", .priority = 20, .reject = reject_onednn, .make = make_onednn}) &&
      register_kernel({.op = op, .name = "onednn_strict", .priority = 20, .reject = reject_strict, .make = make_strict});
}
const bool kMatmul = add("matmul"), kBatchMatmul = add("batch_matmul");

}  // namespace
}  // namespace sindri
