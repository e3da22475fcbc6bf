// adaptive_sum on CUDA devices. It sends the same messages as the CPU kernel (see adaptive_sum_cpu.cc for their order) on the stream of the op's lane, and
// computes in kernels over all tensors at once. Products are summed in float64: in chunks of 16,384 elements, then over the chunks of a tensor in order. They
// stay on the device, so the host does not wait.
#include <utility>
#include <vector>

#include "ops/comm/adaptive_sum.h"
#include "ops/comm/pieces_cuda.h"
#include "src/device/cuda/reduce.h"

namespace sindri::adaptive_sum_cuda {
namespace {

using namespace comm_ops;
using namespace cuda;

// The part of one tensor in a range: this rank's elements are at `x`, the other side's at `y`.
struct Part {
  const void *x, *y;
  int64_t numel;
  uint32_t first_block;
  int tensor;
};

struct Products {
  double xy, xx, yy;
};
struct AddProducts {
  SINDRI_DEVICE Products operator()(const Products& a, const Products& b) const { return {a.xy + b.xy, a.xx + b.xx, a.yy + b.yy}; }
};

/// partial[block]: x·y, x·x, y·y of the chunk. y may be null if only squares are needed.
template <class T> __global__ void multiply(const __grid_constant__ Table<Part> table, Products* partial) {
  SINDRI_SHARED(Products, shared, 32);
  const Chunk<Part> c = chunk_of(table);
  const T *const x = static_cast<const T*>(c.entry.x), *const y = static_cast<const T*>(c.entry.y);
  Products sum{0, 0, 0};
  for (int64_t i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) {
    const auto a = static_cast<double>(x[i]), b = y != nullptr ? static_cast<double>(y[i]) : 0.0;
    sum.xy += a * b, sum.xx += a * a, sum.yy += b * b;
  }
  sum = block_reduce(sum, shared, AddProducts());
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
/// One block per entry: sums[3·tensor …] = {x·y, a·a, b·b} with a = x if own_first; with `squares`: sums[tensor] = x·x.
__global__ void add_chunks(const __grid_constant__ Table<Part> table, const Products* partial, double* sums, bool own_first, bool squares) {
  SINDRI_SHARED(Products, shared, 32);
  const Part& e = table.entry[blockIdx.x];
  const int64_t chunks = (e.numel + kChunk - 1) / kChunk;
  Products sum{0, 0, 0};
  for (int64_t i = threadIdx.x; i < chunks; i += blockDim.x) sum = AddProducts()(sum, partial[e.first_block + i]);
  sum = block_reduce(sum, shared, AddProducts());
  if (threadIdx.x != 0) return;
  if (squares) {
    sums[e.tensor] = sum.xx;
    return;
  }
  double* const to = sums + 3 * e.tensor;
  to[0] = sum.xy, to[1] = own_first ? sum.xx : sum.yy, to[2] = own_first ? sum.yy : sum.xx;
}

/// x = (1 - a·b/(2|x|²))·x + (1 - a·b/(2|y|²))·y.
template <class T> __global__ void combine(const __grid_constant__ Table<Part> table, const double* sums, bool own_first) {
  const Chunk<Part> c = chunk_of(table);
  const double ab = sums[3 * c.entry.tensor], aa = sums[3 * c.entry.tensor + 1], bb = sums[3 * c.entry.tensor + 2];
  const double of_a = aa < kTiny ? 1 : 1 - ab / (2 * aa), of_b = bb < kTiny ? 1 : 1 - ab / (2 * bb), of_x = own_first ? of_a : of_b,
               of_y = own_first ? of_b : of_a;
  T* const x = static_cast<T*>(const_cast<void*>(c.entry.x));
  const T* const y = static_cast<const T*>(c.entry.y);
  for (int64_t i = c.begin + threadIdx.x; i < c.end; i += blockDim.x)
    x[i] = static_cast<T>(of_x * static_cast<double>(x[i]) + of_y * static_cast<double>(y[i]));
}

/// s[i] = the sum over l, in order, of all[l][i], or s[i] += all[i].
__global__ void add_all(double* s, const double* all, int64_t count, int64_t members, bool onto) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) {
    double sum = onto ? s[i] : 0;
    for (int64_t l = 0; l < members; ++l) sum += all[l * count + i];
    s[i] = sum;
  }
}
/// Writes the op's last result: rows of |sum|² and Σ|x|². Every group holds the sum, so `after` counts it once per group.
__global__ void write_norms(const double* after, const double* before, double* to, int64_t tensors, double groups) {
  for (int64_t t = global_thread(); t < tensors; t += global_threads()) {
    to[2 * t] = after[t] / groups;
    to[2 * t + 1] = before[t];
  }
}

// Offsets in the workspace, in bytes.
struct Places {
  int64_t tensors, numel, x, y, sums, theirs, all, norms, partial, bytes;
  Places(Span<const TensorMeta> in, int64_t members) : tensors(static_cast<int64_t>(in.size())), numel(0) {
    for (const TensorMeta& m : in) numel += m.numel();
    const auto size = static_cast<int64_t>(dtype_size(in[0].dtype));
    int64_t at = 0;
    const auto take = [&](int64_t n) { return std::exchange(at, at + ceil_div(n, 256) * 256); };
    x = take(numel * size), y = take(numel * size);
    sums = take(3 * tensors * 8), theirs = take(3 * tensors * 8), all = take(3 * tensors * 8 * members), norms = take(2 * tensors * 8);
    partial = take((numel / kChunk + tensors) * static_cast<int64_t>(sizeof(Products)));
    bytes = at;
  }
};

template <class T> class Sum {
 public:
  Sum(const Call& call, const Place& place)
      : call_(call), p_(place), on_{"adaptive_sum", 0, &call.stream}, at_(call.query.in, place.members), base_(static_cast<char*>(call.workspace)) {
    ends_.push_back(0);
    for (const Buffer& b : call.in) ends_.push_back(ends_.back() + b.meta->numel());
  }

  void run() {
    move(true);
    const Range own = part(p_.local);
    double* const after = doubles(at_.norms);
    double* const before = after + at_.tensors;
    squares(own, before);
    if (p_.own_group >= p_.whole) {
      p_.group.send(x(own.begin), own.size(), kType, p_.rank_of(p_.own_group - p_.whole), on_);
      p_.group.recv(x(own.begin), own.size(), kType, p_.rank_of(p_.own_group - p_.whole), on_);
    } else {
      const bool takes = p_.own_group + p_.whole < p_.groups;
      if (takes) {
        p_.group.recv(y(0), own.size(), kType, p_.rank_of(p_.own_group + p_.whole), on_);
        combine_range(own, true, 0);
      }
      halve(own);
      if (takes) p_.group.send(x(own.begin), own.size(), kType, p_.rank_of(p_.own_group + p_.whole), on_);
    }
    gather_parts();
    squares(own, after);
    p_.group.all_reduce(after, after, 2 * at_.tensors, DType::kFloat64, ReduceOp::kSum, on_);
    launch(call_, grid_for(at_.tensors), write_norms, after, before, call_.output<double>(call_.in.size()), at_.tensors, static_cast<double>(p_.groups));
    move(false);
  }

 private:
  static constexpr DType kType = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  T* x(int64_t i) const { return reinterpret_cast<T*>(base_ + at_.x) + i; }
  T* y(int64_t i) const { return reinterpret_cast<T*>(base_ + at_.y) + i; }
  double* doubles(int64_t offset) const { return reinterpret_cast<double*>(base_ + offset); }
  Range part(int64_t l) const { return {ends_.back() * l / p_.members, ends_.back() * (l + 1) / p_.members}; }

  // Copies the tensors into x, or x into the results.
  void move(bool in) const {
    std::vector<Move> moves;
    for (size_t t = 0; t < call_.in.size(); ++t) {
      const int64_t n = ends_[t + 1] - ends_[t];
      moves.push_back(in ? Move{call_.in[t].data, x(ends_[t]), n, 0} : Move{x(ends_[t]), call_.out[t].data, n, 0});
    }
    launch_moves<T, T>(call_, moves, 1);
  }

  // The parts of the tensors in r. y holds the other side's elements of r from index 0 on.
  std::vector<Part> parts(const Range& r, bool with_y) const {
    std::vector<Part> all;
    for (size_t t = 0; t + 1 < ends_.size(); ++t) {
      const Range both{std::max(r.begin, ends_[t]), std::min(r.end, ends_[t + 1])};
      if (both.size() > 0) all.push_back({x(both.begin), with_y ? y(both.begin - r.begin) : nullptr, both.size(), 0, static_cast<int>(t)});
    }
    return all;
  }
  void sum_products(const Range& r, double* to, bool own_first, bool only_squares) const {
    auto* const partial = reinterpret_cast<Products*>(base_ + at_.partial);
    fill_bytes(call_, to, 0, (only_squares ? 1 : 3) * at_.tensors * 8);
    for_tables<Part>(parts(r, !only_squares), [&](const Table<Part>& table, int64_t blocks) {
      launch(call_, grid_of(blocks), multiply<T>, table, partial);
      launch(call_, grid_of(table.entries), add_chunks, table, partial, to, own_first, only_squares);
    });
  }
  void squares(const Range& r, double* to) const { sum_products(r, to, true, true); }

  // Replaces x by the Adasum of x and y within r, which is spread over 2^rounds groups.
  void combine_range(const Range& r, bool own_first, int rounds) const {
    sum_products(r, doubles(at_.sums), own_first, false);
    add_up(rounds);
    for_tables<Part>(parts(r, true),
                     [&](const Table<Part>& table, int64_t blocks) { launch(call_, grid_of(blocks), combine<T>, table, doubles(at_.sums), own_first); });
  }

  // Sums over the ranks of a group, then over the 2^rounds groups of a block. A sum of two terms is bitwise identical on both sides, so all ranks get the same
  // result.
  void add_up(int rounds) const {
    const int64_t count = 3 * at_.tensors;
    double* const s = doubles(at_.sums);
    if (p_.members > 1) {
      double* const all = doubles(at_.all);
      copy_bytes(call_, all + p_.local * count, s, count * 8);
      for (int64_t hop = 1; hop < p_.members; ++hop)
        p_.group.send_recv(all + (p_.local + p_.members - hop + 1) % p_.members * count, count, next(),
                           all + (p_.local + p_.members - hop) % p_.members * count, count, previous(), DType::kFloat64, on_);
      launch(call_, grid_for(count), add_all, s, all, count, p_.members, false);
    }
    for (int round = 0; round < rounds; ++round) {
      const int other = p_.rank_of(p_.own_group ^ (int64_t{1} << round));
      p_.group.send_recv(s, count, other, doubles(at_.theirs), count, other, DType::kFloat64, on_);
      launch(call_, grid_for(count), add_all, s, doubles(at_.theirs), count, int64_t{1}, true);
    }
  }

  void halve(const Range& own) const {
    std::vector<Range> before;
    Range now = own;
    int rounds = 0;
    for (int64_t distance = 1; distance < p_.whole; distance *= 2, ++rounds) {
      const int other = p_.rank_of(p_.own_group ^ distance);
      const bool lower = (p_.own_group & distance) == 0;
      const int64_t middle = now.begin + now.size() / 2;
      const Range first{now.begin, middle}, second{middle, now.end}, keep = lower ? first : second, give = lower ? second : first;
      p_.group.send_recv(x(give.begin), give.size(), other, y(0), keep.size(), other, kType, on_);
      combine_range(keep, lower, rounds + 1);
      before.push_back(now);
      now = keep;
    }
    while (rounds-- > 0) {
      const int other = p_.rank_of(p_.own_group ^ (int64_t{1} << rounds));
      const Range whole = before[static_cast<size_t>(rounds)];
      const Range theirs = now.begin == whole.begin ? Range{now.end, whole.end} : Range{whole.begin, now.begin};
      p_.group.send_recv(x(now.begin), now.size(), other, x(theirs.begin), theirs.size(), other, kType, on_);
      now = whole;
    }
  }

  // Gathers the parts of all ranks of a group around a ring.
  int next() const { return static_cast<int>(p_.own_group * p_.members + (p_.local + 1) % p_.members); }
  int previous() const { return static_cast<int>(p_.own_group * p_.members + (p_.local + p_.members - 1) % p_.members); }
  void gather_parts() const {
    for (int64_t hop = 0; hop + 1 < p_.members; ++hop) {
      const Range out = part((p_.local + p_.members - hop) % p_.members), in = part((p_.local + 2 * p_.members - hop - 1) % p_.members);
      p_.group.send_recv(x(out.begin), out.size(), next(), x(in.begin), in.size(), previous(), kType, on_);
    }
  }

  const Call& call_;
  Place p_;
  comm::Call on_;
  Places at_;
  char* base_;
  std::vector<int64_t> ends_;  ///< ends of the tensors in x; 0 first
};

int64_t workspace(const KernelQuery& q) { return Places(q.in, q.attrs.as<AdaptiveSumAttrs>().members).bytes; }

void run(const Call& call) {
  const auto& a = call.query.attrs.as<AdaptiveSumAttrs>();
  const Place place = place_of(comm::find_group(a.group), a);
  if (call.in[0].meta->dtype == DType::kFloat32) Sum<float>(call, place).run();
  else Sum<double>(call, place).run();
}

const bool kAdaptiveSum = register_cuda_kernel({.op = "adaptive_sum", .run = run, .workspace = workspace});

}  // namespace
}  // namespace sindri::adaptive_sum_cuda
