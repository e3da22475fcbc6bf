// adaptive_sum on the CPU. One buffer holds all tensors and is partitioned by elements: rank l of each group processes the l-th part. Parts are combined by
// vector halving, distance doubling. In round s, ranks whose group numbers differ by 2^s exchange halves: each then holds one half of its previous range,
// combined for both groups. Products of tensors that several ranks hold are summed over these ranks. After the last round the halves return in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ops/comm/adaptive_sum.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel.h"

namespace sindri {

comm_ops::Place comm_ops::place_of(comm::Communicator& group, const AdaptiveSumAttrs& a) {
  if (group.size() % a.members != 0)
    throw CommError(ErrorCode::kLayout, fmt::format("adaptive_sum: {} ranks cannot be divided into groups of {}", group.size(), a.members), "adaptive_sum",
                    "give a number that divides the number of ranks");
  const int64_t groups = group.size() / a.members;
  int64_t whole = 1;
  while (2 * whole <= groups) whole *= 2;
  if (whole != groups && !a.fold)
    throw CommError(ErrorCode::kLayout, fmt::format("adaptive_sum: {} groups; the number of groups must be a power of two (2, 4, 8, …)", groups),
                    "adaptive_sum", fmt::format("take {} or {} groups, or fold the others", whole, 2 * whole));
  return {group, a.members, groups, whole, group.rank() / a.members, group.rank() % a.members};
}

namespace {

using namespace comm_ops;

template <class T> class Sum {
 public:
  Sum(const Place& place, Span<const Buffer> in) : p_(place), call_{"adaptive_sum"} {
    ends_.push_back(0);
    for (const Buffer& b : in) ends_.push_back(ends_.back() + b.meta->numel());
    x_.resize(static_cast<size_t>(ends_.back()));
    for (size_t t = 0; t < in.size(); ++t) std::copy_n(in[t].as<const T>(), in[t].meta->numel(), x_.begin() + ends_[t]);
  }

  void run(Span<const Buffer> out) {
    const Range own = part(p_.local);
    y_.resize(static_cast<size_t>(own.size()));
    const std::vector<double> before = squares(own);
    if (p_.own_group >= p_.whole) {
      p_.group.send(at(own.begin), own.size(), dtype(), p_.rank_of(p_.own_group - p_.whole), call_);
      p_.group.recv(at(own.begin), own.size(), dtype(), p_.rank_of(p_.own_group - p_.whole), call_);
    } else {
      const bool takes = p_.own_group + p_.whole < p_.groups;
      if (takes) take_in(own);
      halve(own);
      if (takes) p_.group.send(at(own.begin), own.size(), dtype(), p_.rank_of(p_.own_group + p_.whole), call_);
    }
    gather_parts();
    std::vector<double> norms = squares(own);
    const auto tensors = norms.size();
    norms.insert(norms.end(), before.begin(), before.end());
    p_.group.all_reduce(norms.data(), norms.data(), static_cast<int64_t>(norms.size()), DType::kFloat64, ReduceOp::kSum, call_);
    for (size_t t = 0; t < tensors; ++t) {
      std::copy_n(x_.begin() + ends_[t], ends_[t + 1] - ends_[t], out[t].as<T>());
      double* const row = out[tensors].as<double>() + 2 * t;
      row[0] = norms[t] / static_cast<double>(p_.groups);  // every group holds the sum, so it was counted once per group
      row[1] = norms[tensors + t];
    }
  }

 private:
  static constexpr DType dtype() { return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64; }
  T* at(int64_t i) { return x_.data() + i; }
  // The part of the whole that local rank l processes.
  Range part(int64_t l) const { return {ends_.back() * l / p_.members, ends_.back() * (l + 1) / p_.members}; }

  // Calls f(tensor, range) for the tensors that overlap r.
  template <class F> void each(const Range& r, F f) const {
    auto t = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), r.begin) - ends_.begin()) - 1;
    for (; t + 1 < ends_.size() && ends_[t] < r.end; ++t) {
      const Range both{std::max(r.begin, ends_[t]), std::min(r.end, ends_[t + 1])};
      if (both.size() > 0) f(t, both);
    }
  }
  std::vector<double> squares(const Range& r) const {
    std::vector<double> out(ends_.size() - 1, 0);
    each(r, [&](size_t t, const Range& b) {
      double s = 0;
      for (int64_t i = b.begin; i < b.end; ++i) s += static_cast<double>(x_[static_cast<size_t>(i)]) * static_cast<double>(x_[static_cast<size_t>(i)]);
      out[t] += s;
    });
    return out;
  }

  // Returns {a·b, a·a, b·b} of every tensor within r, where a belongs to the group with the lower number. y holds the other side's elements of r from index 0
  // on.
  std::vector<double> products(const Range& r, bool own_first) const {
    std::vector<double> out(3 * (ends_.size() - 1), 0);
    each(r, [&](size_t t, const Range& b) {
      double xy = 0, xx = 0, yy = 0;
      for (int64_t i = b.begin; i < b.end; ++i) {
        const auto x = static_cast<double>(x_[static_cast<size_t>(i)]), y = static_cast<double>(y_[static_cast<size_t>(i - r.begin)]);
        xy += x * y, xx += x * x, yy += y * y;
      }
      out[3 * t] += xy, out[3 * t + 1] += own_first ? xx : yy, out[3 * t + 2] += own_first ? yy : xx;
    });
    return out;
  }

  // Sums over the ranks of a group, then over the 2^rounds groups of a block. A sum of two terms is bitwise identical on both sides, so all ranks get the same
  // result.
  void add_up(std::vector<double>* s, int rounds) {
    const auto count = static_cast<int64_t>(s->size());
    if (p_.members > 1) {
      const int64_t first = p_.own_group * p_.members;
      std::vector<double> passing = *s, all(s->size() * static_cast<size_t>(p_.members));
      std::vector<double> next(s->size());
      const auto put = [&](int64_t l, const std::vector<double>& v) { std::copy(v.begin(), v.end(), all.begin() + l * count); };
      put(p_.local, passing);
      const auto after = static_cast<int>(first + (p_.local + 1) % p_.members), behind = static_cast<int>(first + (p_.local + p_.members - 1) % p_.members);
      for (int64_t hop = 1; hop < p_.members; ++hop) {
        p_.group.send_recv(passing.data(), count, after, next.data(), count, behind, DType::kFloat64, call_);
        passing.swap(next);
        put((p_.local + p_.members - hop) % p_.members, passing);
      }
      std::fill(s->begin(), s->end(), 0.0);
      for (int64_t l = 0; l < p_.members; ++l)
        for (int64_t i = 0; i < count; ++i) (*s)[static_cast<size_t>(i)] += all[static_cast<size_t>(l * count + i)];
    }
    std::vector<double> theirs(s->size());
    for (int round = 0; round < rounds; ++round) {
      const int other = p_.rank_of(p_.own_group ^ (int64_t{1} << round));
      p_.group.send_recv(s->data(), count, other, theirs.data(), count, other, DType::kFloat64, call_);
      for (size_t i = 0; i < s->size(); ++i) (*s)[i] += theirs[i];
    }
  }

  // Replaces x by the Adasum of x and y within r.
  void combine(const Range& r, const std::vector<double>& s, bool own_first) {
    each(r, [&](size_t t, const Range& b) {
      const double ab = s[3 * t], aa = s[3 * t + 1], bb = s[3 * t + 2];
      const double of_a = aa < kTiny ? 1 : 1 - ab / (2 * aa), of_b = bb < kTiny ? 1 : 1 - ab / (2 * bb);
      const double of_x = own_first ? of_a : of_b, of_y = own_first ? of_b : of_a;
      for (int64_t i = b.begin; i < b.end; ++i) {
        const double x = of_x * static_cast<double>(x_[static_cast<size_t>(i)]), y = of_y * static_cast<double>(y_[static_cast<size_t>(i - r.begin)]);
        x_[static_cast<size_t>(i)] = static_cast<T>(x + y);
      }
    });
  }

  void take_in(const Range& own) {
    p_.group.recv(y_.data(), own.size(), dtype(), p_.rank_of(p_.own_group + p_.whole), call_);
    std::vector<double> s = products(own, true);
    add_up(&s, 0);
    combine(own, s, true);
  }

  void halve(const Range& own) {
    std::vector<Range> before;
    Range now = own;
    int rounds = 0;
    for (int64_t distance = 1; distance < p_.whole; distance *= 2, ++rounds) {
      const int other = p_.rank_of(p_.own_group ^ distance);
      const bool lower = (p_.own_group & distance) == 0;
      const int64_t middle = now.begin + now.size() / 2;
      const Range first{now.begin, middle}, second{middle, now.end}, keep = lower ? first : second, give = lower ? second : first;
      p_.group.send_recv(at(give.begin), give.size(), other, y_.data(), keep.size(), other, dtype(), call_);
      std::vector<double> s = products(keep, lower);
      add_up(&s, rounds + 1);
      combine(keep, s, lower);
      before.push_back(now);
      now = keep;
    }
    while (rounds-- > 0) {
      const int other = p_.rank_of(p_.own_group ^ (int64_t{1} << rounds));
      const Range whole = before[static_cast<size_t>(rounds)];
      const Range theirs = now.begin == whole.begin ? Range{now.end, whole.end} : Range{whole.begin, now.begin};
      p_.group.send_recv(at(now.begin), now.size(), other, at(theirs.begin), theirs.size(), other, dtype(), call_);
      now = whole;
    }
  }

  // Gathers the parts of all ranks of a group around a ring.
  void gather_parts() {
    const int64_t first = p_.own_group * p_.members;
    const auto after = static_cast<int>(first + (p_.local + 1) % p_.members), behind = static_cast<int>(first + (p_.local + p_.members - 1) % p_.members);
    for (int64_t hop = 0; hop + 1 < p_.members; ++hop) {
      const Range out = part((p_.local + p_.members - hop) % p_.members), in = part((p_.local + 2 * p_.members - hop - 1) % p_.members);
      p_.group.send_recv(at(out.begin), out.size(), after, at(in.begin), in.size(), behind, dtype(), call_);
    }
  }

  Place p_;
  comm::Call call_;
  std::vector<int64_t> ends_;  ///< ends of the tensors in x; 0 first
  std::vector<T> x_, y_;
};

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<AdaptiveSumAttrs>();
  const Place place = place_of(comm::find_group(a.group), a);
  if (q.in[0].dtype == DType::kFloat32) Sum<float>(place, in).run(out);
  else Sum<double>(place, in).run(out);
}

const bool kKernel = register_kernel({.op = "adaptive_sum", .name = "reference", .priority = kReferencePriority, .simple = run});

}  // namespace
}  // namespace sindri
