// Options of data-parallel training: checks, virtual ranks, buckets, and the plan that ranks compare.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/core/revision.h"
#include "src/train/data_parallel_state.h"

namespace sindri::train {

namespace {

constexpr int64_t kMostVirtualRanks = 1 << 15;  // they must fit into the random counter, see data_parallel.cc
constexpr int64_t kMiB = 1 << 20;

void check_choice(const char* name, const std::string& value, std::initializer_list<const char*> choices) {
  std::string known;
  for (const char* c : choices) {
    if (value == c) return;
    known += (known.empty() ? "" : ", ") + std::string(c);
  }
  throw ValueError(fmt::format("{} is '{}'", name, value), "DataParallelOptions", fmt::format("it is one of {}", known));
}

bool power_of_two(int64_t n) { return n > 0 && std::has_single_bit(static_cast<uint64_t>(n)); }

// Returns the last indices of the ranges that a fusion list describes.
std::vector<int64_t> fusion_ends(const std::vector<int64_t>& list, int64_t n) {
  int64_t previous = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] <= previous || list[i] >= n)
      throw ValueError(
          fmt::format("all_reduce_fusion_config[{}]={}: must be greater than {} and less than {} (the network has {} gradients)", i, list[i], previous, n, n));
    previous = list[i];
  }
  std::vector<int64_t> ends = list;
  if (ends.empty() || ends.back() != n - 1) ends.push_back(n - 1);
  return ends;
}

class Bucketing {
 public:
  explicit Bucketing(const std::vector<TensorMeta>& metas) : metas_(metas) {}

  // Ranges of the list, each split where the type changes.
  std::vector<GradientBucket> by_list(const std::vector<int64_t>& list) const {
    std::vector<GradientBucket> out;
    const std::vector<int64_t> ends = fusion_ends(list, count());
    for (size_t e = ends.size(); e-- > 0;) {
      const int64_t first = e == 0 ? 0 : ends[e - 1] + 1;
      const size_t before = out.size();
      for (int64_t last = ends[e]; last >= first;) {
        int64_t begin = last;
        while (begin > first && same_type(begin - 1, last)) --begin;
        out.push_back(range(begin, last));
        last = begin - 1;
      }
      if (out.size() > before + 1)
        log::info("train",
                  fmt::format("all_reduce_fusion_config: gradients {} to {} are of several types and take {} reductions", first, ends[e], out.size() - before));
    }
    return out;
  }

  // Fills buckets in the order in which gradients become complete. The first bucket is small, so that communication starts early. The last one has half the
  // size, since no computation overlaps it.
  std::vector<GradientBucket> by_size(int64_t normal) const {
    std::vector<GradientBucket> out;
    int64_t most = std::min(normal, kMiB);
    for (int64_t last = count() - 1; last >= 0; most = normal) {
      int64_t begin = last, bytes = size(last);
      while (begin > 0 && same_type(begin - 1, last) && bytes + size(begin - 1) <= most) bytes += size(--begin);
      out.push_back(range(begin, last));
      last = begin - 1;
    }
    if (out.empty() || out.back().bytes <= normal / 2 || out.back().first == out.back().last) return out;
    const GradientBucket whole = out.back();
    int64_t last = whole.first;
    for (int64_t bytes = size(last); last + 1 < whole.last && bytes + size(last + 1) <= normal / 2;) bytes += size(++last);
    out.back() = range(last + 1, whole.last);
    out.push_back(range(whole.first, last));
    return out;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(metas_.size()); }
  int64_t size(int64_t i) const { return metas_[static_cast<size_t>(i)].nbytes(); }
  bool same_type(int64_t a, int64_t b) const { return metas_[static_cast<size_t>(a)].dtype == metas_[static_cast<size_t>(b)].dtype; }
  GradientBucket range(int64_t first, int64_t last) const {
    GradientBucket b{first, last, 0};
    for (int64_t i = first; i <= last; ++i) b.bytes += size(i);
    return b;
  }
  const std::vector<TensorMeta>& metas_;
};

}  // namespace

void check_data_parallel(const DataParallelOptions& o) {
  if (o.virtual_ranks < 0 || o.virtual_ranks > kMostVirtualRanks)
    throw ValueError(fmt::format("virtual_ranks must be from 0 to {}, got {}", kMostVirtualRanks, o.virtual_ranks), "DataParallelOptions");
  if (!(o.bucket_mb >= 0 && o.bucket_mb <= 4096))
    throw ValueError(fmt::format("bucket_mb must be from 0 to 4096, got {}", o.bucket_mb), "DataParallelOptions", "0 chooses by the layout");
  if (o.replica_check_steps < 0)
    throw ValueError(fmt::format("replica_check_steps must not be negative, got {}", o.replica_check_steps), "DataParallelOptions");
  check_choice("grad_compression", o.grad_compression, {"none", "bf16", "fp16"});
  check_choice("bn_sync", o.bn_sync, {"off", "train"});
  check_choice("bn_merge", o.bn_merge, {"mean", "rank0"});
}

int64_t virtual_ranks(const DataParallelOptions& o, const comm::Communicator& c) {
  const int64_t n = c.size(), total = o.virtual_ranks == 0 ? n : o.virtual_ranks;
  if (total % n != 0)
    throw CommError(ErrorCode::kLayout, fmt::format("{} virtual ranks cannot be divided evenly among {} ranks", total, n), "dist.virtual_ranks",
                    "start a number of ranks that divides it");
  if (o.strict_order && !power_of_two(total))
    throw CommError(ErrorCode::kLayout, fmt::format("strict order sums along one tree, which needs a power of two: there are {} virtual ranks", total),
                    "dist.strict_order",
                    fmt::format("set dist.strict_order=false (results then depend on the layout), or start {} or {} ranks",
                                std::bit_floor(static_cast<uint64_t>(total)), std::bit_ceil(static_cast<uint64_t>(total))));
  return total;
}

std::vector<GradientBucket> gradient_buckets(const std::vector<TensorMeta>& metas, const DataParallelOptions& o, const comm::Communicator& c) {
  if (metas.empty()) return {};
  const Bucketing bucketing(metas);
  if (o.all_reduce_fusion_config) return bucketing.by_list(*o.all_reduce_fusion_config);
  const double by_layout = std::string(c.backend()) == "nccl" ? 25 : c.host_count() == 1 ? 4 : 8;
  return bucketing.by_size(std::max<int64_t>(1, static_cast<int64_t>((o.bucket_mb == 0 ? by_layout : o.bucket_mb) * kMiB)));
}

std::string wire_type(const DataParallelOptions& o, const comm::Communicator& c) {
  const bool shared = std::string(c.backend()) == "mpi" && c.host_count() == 1;  // compression would only cost time there
  if (o.grad_compression == "none" || shared) return "";
  return o.grad_compression == "bf16" ? "bfloat16" : "float16";
}

// The device is omitted because each rank has its own.
std::string DataParallel::State::wherever(const Parameter& p) {
  TensorMeta m = p.meta();
  m.device = {};
  return m.str();
}

PlanLines DataParallel::plan(const PlanLines& more) const {
  const State& s = *state_;
  PlanLines lines = {
      fmt::format("program: {}", revision()),
      fmt::format("ranks: {}", s.ranks()),
      fmt::format("virtual ranks: {}", s.total),
      fmt::format("strict order: {}", s.options.strict_order),
      fmt::format("gradients: {}", s.options.gradients_mean ? "mean" : "sum"),
      fmt::format("wire: {}", s.options.grad_compression),
      fmt::format("overlap: {}", s.options.overlap),
      fmt::format("replica check steps: {}", s.options.replica_check_steps),
      fmt::format("parameter broadcast: {}", s.options.parameter_broadcast),
      fmt::format("batch norm: sync {}, merge {}", s.options.bn_sync, s.options.bn_merge),
  };
  lines.insert(lines.end(), more.begin(), more.end());
  for (size_t i = 0; i < s.parameters.size(); ++i)
    lines.push_back(fmt::format("parameter {}: {} {}", i, s.parameters[i]->name(), s.wherever(*s.parameters[i])));
  for (size_t b = 0; b < s.buckets.size(); ++b)
    lines.push_back(fmt::format("gradient bucket {}: {} to {}, {} bytes", b, s.buckets[b].first, s.buckets[b].last, s.buckets[b].bytes));
  return lines;
}

}  // namespace sindri::train
