// Softmax cross entropy with integer or probability labels, and the checks of labels and of probabilities, on CUDA devices. Memory traffic: the logits (and
// probability labels) once from memory and once more from the caches, and the gradient once. Computed in float, or in double for float64.
//
// The logarithm of a probability is (x - max) - log(sum), never x minus a rounded log-sum-exp, so that large logits keep their precision.
#include "ops/loss/loss_common.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/rows.h"

namespace sindri::cuda {
namespace {

using ops::CheckLabelsAttrs, ops::SparseCrossEntropyAttrs;

// ----- labels -----

// known: classes, ignore_index, rows. found: the label, its row.
void throw_bad_label(const ErrorFound& e) { ops::throw_bad_label(e.op, e.found[0], e.found[1], e.known[2], e.known[0], e.known[1]); }
struct Labels {
  const void* data;
  bool wide;  // int64
  int64_t classes, ignore;
  ErrorSite site;

  SINDRI_DEVICE int64_t read(int64_t row) const { return wide ? static_cast<const int64_t*>(data)[row] : static_cast<const int32_t*>(data)[row]; }
  SINDRI_DEVICE bool ignored(int64_t label) const { return label == ignore; }
  SINDRI_DEVICE bool bad(int64_t label) const { return label != ignore && (label < 0 || label >= classes); }
};
Labels labels_of(const Call& call, size_t operand, int64_t classes, int64_t ignore) {
  const Buffer& b = call.in[operand];
  return {b.data, b.meta->dtype == DType::kInt64, classes, ignore, error_site(call, throw_bad_label, {classes, ignore, b.meta->numel()})};
}

__global__ void check_labels(Labels labels, void* out, int64_t n) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t label = labels.read(i);
    if (labels.bad(label)) report(labels.site, label, i);
    if (labels.wide) static_cast<int64_t*>(out)[i] = label;
    else static_cast<int32_t*>(out)[i] = static_cast<int32_t>(label);
  }
}
void run_check_labels(const Call& call) {
  const auto& a = call.query.attrs.as<CheckLabelsAttrs>();
  const int64_t n = call.query.in[0].numel();
  if (n > 0) launch(call, grid_for(n), check_labels, labels_of(call, 0, a.classes, a.ignore_index), call.out[0].data, n);
}

// found: the bits of the number as a double.
void throw_bad_probability(const ErrorFound& e) { ops::throw_bad_probability(std::bit_cast<double>(e.found[0])); }
template <class E> __global__ void check_probabilities(const E* x, E* y, int64_t n, ErrorSite site) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const E e = x[i];
    const Number<E> v = load(e);
    if (v < 0 || v > 1) report(site, __double_as_longlong(static_cast<double>(v)), i);
    y[i] = e;
  }
}
void run_check_probabilities(const Call& call) {
  const int64_t n = call.query.in[0].numel();
  if (n == 0) return;
  const ErrorSite site = error_site(call, throw_bad_probability, {});
  dispatch_floating_element(call.query.in[0].dtype,
                            [&]<class E>() { launch(call, grid_for(n), check_probabilities<E>, call.input<E>(0), call.output<E>(0), n, site); });
}

// ----- integer labels -----

// Terms of weight 0 are skipped: the logit of an impossible class may be -inf.
template <class E> __global__ void sparse(const E* logits, Labels labels, E* loss, int64_t rows, int64_t n, double smoothing, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, partial, 32);
  SINDRI_SHARED(T, partial_sum, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const x = logits + row * n;
    const int64_t label = there ? labels.read(row) : 0;
    const bool bad = there && labels.bad(label), counts = there && !bad && !labels.ignored(label);
    const RowStats<T> s = row_stats<T>(x, counts ? n : 0, team, vectors, partial);
    T shifted = 0;  // sum of x - max
    if (smoothing > 0) {  // the same for all threads
      for_lane<E>(counts ? n : 0, team.lane, team.width, vectors, [&](auto many, int64_t i) {
        const auto e = load_vector<decltype(many)::value>(x + i);
        for (const E& v : e.e) shifted += load(v) - s.max;
      });
      shifted = team_reduce(team, shifted, partial_sum, Add());
    }
    if (team.lane != 0 || !there) return;
    if (bad) report(labels.site, label, row);
    const T log_sum = log(s.sum), part = static_cast<T>(smoothing);
    T value = bad ? T(NAN) : T(0);
    if (counts && smoothing < 1) value += (T(1) - part) * (log_sum - (load(x[label]) - s.max));
    if (counts && smoothing > 0) value += part * (log_sum - shifted / static_cast<T>(n));
    loss[row] = store_as<E>(value);
  });
}

template <class E>
__global__ void sparse_grad(const E* dloss, const E* logits, Labels labels, E* dx, int64_t rows, int64_t n, double smoothing, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, partial, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const x = logits + row * n;
    const int64_t label = there ? labels.read(row) : 0;
    const bool bad = there && labels.bad(label), counts = there && !bad && !labels.ignored(label);
    const RowStats<T> s = row_stats<T>(x, counts ? n : 0, team, vectors, partial);
    if (bad && team.lane == 0) report(labels.site, label, row);
    const T log_sum = log(s.sum), offset = static_cast<T>(smoothing / static_cast<double>(n)), mass = T(1) - static_cast<T>(smoothing);
    const T scale = counts ? load(dloss[row]) : T(0), other = bad ? T(NAN) : T(0);
    for_lane<E>(there ? n : 0, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      ElementVector<E, V> d;
      if (counts) d = load_vector<V>(x + i);
      for (int j = 0; j < V; ++j) {
        T value = other;
        if (counts) value = scale * (exp((load(d.e[j]) - s.max) - log_sum) - offset - (i + j == label ? mass : T(0)));
        d.e[j] = store_as<E>(value);
      }
      store_vector(dx + row * n + i, d);
    });
  });
}

void run_sparse(const Call& call) {
  const auto& a = call.query.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = call.query.in[0].shape[0], n = call.query.in[0].shape[1];
  if (rows == 0) return;
  const Labels labels = labels_of(call, 1, n, a.ignore_index);
  dispatch_floating_element(call.query.in[0].dtype, [&]<class E>() {
    const E* const x = call.input<E>(0);
    const RowGrid g = grid_for_rows<E>(rows, n, x);
    launch(call, g.grid, sparse<E>, x, labels, call.output<E>(0), rows, n, a.label_smoothing, g.width, g.vectors);
  });
}
void run_sparse_grad(const Call& call) {
  const auto& a = call.query.attrs.as<SparseCrossEntropyAttrs>();
  const int64_t rows = call.query.in[1].shape[0], n = call.query.in[1].shape[1];
  if (rows == 0) return;
  const Labels labels = labels_of(call, 2, n, a.ignore_index);
  dispatch_floating_element(call.query.in[1].dtype, [&]<class E>() {
    const E* const x = call.input<E>(1);
    const RowGrid g = grid_for_rows<E>(rows, n, x, call.output<E>(0));
    launch(call, g.grid, sparse_grad<E>, call.input<E>(0), x, labels, call.output<E>(0), rows, n, a.label_smoothing, g.width, g.vectors);
  });
}

// ----- probability labels, which may be of another floating type than the logits -----

template <class E> __global__ void dense(const E* logits, const void* q, DType label_type, E* loss, int64_t rows, int64_t n, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, partial, 32);
  SINDRI_SHARED(T, partial_sum, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const x = logits + row * n;
    const int64_t count = there ? n : 0;
    const RowStats<T> s = row_stats<T>(x, count, team, vectors, partial);
    const T log_sum = log(s.sum);
    T sum = 0;
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      const auto e = load_vector<V>(x + i);
      for (int j = 0; j < V; ++j) sum += read_floating<T>(q, label_type, row * n + i + j) * (log_sum - (load(e.e[j]) - s.max));
    });
    sum = team_reduce(team, sum, partial_sum, Add());
    if (there && team.lane == 0) loss[row] = store_as<E>(sum);
  });
}

template <class E>
__global__ void dense_grad(const E* dloss, const E* logits, const void* q, DType label_type, E* dx, int64_t rows, int64_t n, int width, bool vectors) {
  using T = Number<E>;
  SINDRI_SHARED(RowStats<T>, partial, 32);
  SINDRI_SHARED(T, partial_sum, 32);
  for_rows(rows, width, [&](int64_t row, const Team& team, bool there) {
    const E* const x = logits + row * n;
    const int64_t count = there ? n : 0;
    const RowStats<T> s = row_stats<T>(x, count, team, vectors, partial);
    T mass = 0;
    for (int64_t i = team.lane; i < count; i += team.width) mass += read_floating<T>(q, label_type, row * n + i);
    mass = team_reduce(team, mass, partial_sum, Add());
    const T log_sum = log(s.sum), scale = there ? load(dloss[row]) : T(0);
    for_lane<E>(count, team.lane, team.width, vectors, [&](auto many, int64_t i) {
      constexpr int V = decltype(many)::value;
      auto e = load_vector<V>(x + i);
      for (int j = 0; j < V; ++j)
        e.e[j] = store_as<E>(scale * (exp((load(e.e[j]) - s.max) - log_sum) * mass - read_floating<T>(q, label_type, row * n + i + j)));
      store_vector(dx + row * n + i, e);
    });
  });
}

void run_dense(const Call& call) {
  const int64_t rows = call.query.in[0].shape[0], n = call.query.in[0].shape[1];
  if (rows == 0) return;
  dispatch_floating_element(call.query.in[0].dtype, [&]<class E>() {
    const E* const x = call.input<E>(0);
    const RowGrid g = grid_for_rows<E>(rows, n, x);
    launch(call, g.grid, dense<E>, x, call.in[1].data, call.query.in[1].dtype, call.output<E>(0), rows, n, g.width, g.vectors);
  });
}
void run_dense_grad(const Call& call) {
  const int64_t rows = call.query.in[1].shape[0], n = call.query.in[1].shape[1];
  if (rows == 0) return;
  dispatch_floating_element(call.query.in[1].dtype, [&]<class E>() {
    const E* const x = call.input<E>(1);
    const RowGrid g = grid_for_rows<E>(rows, n, x, call.output<E>(0));
    launch(call, g.grid, dense_grad<E>, call.input<E>(0), x, call.in[2].data, call.query.in[2].dtype, call.output<E>(0), rows, n, g.width, g.vectors);
  });
}

const bool kCheckLabels = register_cuda_kernel({.op = "check_labels", .run = run_check_labels});
const bool kCheckProbabilities = register_cuda_kernel({.op = "check_probabilities", .run = run_check_probabilities});
const bool kSparse = register_cuda_kernel({.op = "softmax_cross_entropy_sparse", .run = run_sparse});
const bool kSparseGrad = register_cuda_kernel({.op = "softmax_cross_entropy_sparse_grad", .run = run_sparse_grad});
const bool kDense = register_cuda_kernel({.op = "softmax_cross_entropy_dense", .run = run_dense});
const bool kDenseGrad = register_cuda_kernel({.op = "softmax_cross_entropy_dense_grad", .run = run_dense_grad});

}  // namespace
}  // namespace sindri::cuda
