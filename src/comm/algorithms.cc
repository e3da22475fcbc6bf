// Builds collective calls from messages between two ranks. Each exchange is among a set of ranks: all of them, those of
// one host, or those with the same place in their hosts.
#include "src/comm/algorithms.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace sindri::comm {

namespace {

constexpr int64_t kDirect = 2048;  // up to this many bytes, every member sends all its elements to every other and sums all of them
constexpr int64_t kTree = 65536;  // up to this many bytes a broadcast uses a tree
constexpr int64_t kLargestPiece = 4 << 20, kSmallestPiece = 1 << 20;
constexpr int64_t kRound = 64 << 10;  // messages of at least this many bytes are exchanged in rounds
constexpr int64_t kWork = 1 << 15;  // elements summed between two polls of the messages

using Bytes = std::unique_ptr<std::byte[]>;
Bytes new_bytes(int64_t n) { return std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(std::max<int64_t>(n, 1))); }
const std::byte* at(const void* memory, int64_t bytes) { return static_cast<const std::byte*>(memory) + bytes; }
std::byte* at(void* memory, int64_t bytes) { return static_cast<std::byte*>(memory) + bytes; }
void copy_bytes(const void* from, void* to, int64_t bytes) {
  if (from != to && bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
}
int64_t size_of(DType dtype) { return static_cast<int64_t>(dtype_size(dtype)); }
double factor_of(ReduceOp op, int size) { return op == ReduceOp::kMean ? 1.0 / size : 1.0; }

// Ranks that exchange, in the order in which their values are summed.
struct Set {
  std::vector<int> ranks;
  int me = 0;
  int size() const { return static_cast<int>(ranks.size()); }
};
Set all_of(const Layout& layout) {
  Set set{std::vector<int>(static_cast<size_t>(layout.size)), layout.rank};
  std::iota(set.ranks.begin(), set.ranks.end(), 0);
  return set;
}
// Returns the ranks of this rank's host.
Set host_of(const Layout& layout) {
  Set set{std::vector<int>(static_cast<size_t>(layout.local_size)), layout.rank % layout.local_size};
  std::iota(set.ranks.begin(), set.ranks.end(), layout.rank - set.me);
  return set;
}
// Returns the ranks with this rank's place in each host.
Set across(const Layout& layout) {
  Set set{{}, layout.rank / layout.local_size};
  for (int r = layout.rank % layout.local_size; r < layout.size; r += layout.local_size) set.ranks.push_back(r);
  return set;
}

struct Messages {
  std::vector<Links::Message> sends, receives;
  // Zero bytes send no message, on either side.
  void send(int peer, const void* data, int64_t bytes) {
    if (bytes > 0) sends.push_back({peer, const_cast<void*>(data), bytes});
  }
  void receive(int peer, void* data, int64_t bytes) {
    if (bytes > 0) receives.push_back({peer, data, bytes});
  }
  void run(Links& links) const {
    if (!sends.empty() || !receives.empty()) links.exchange(sends, receives);
  }
  void run(Links& links, const std::function<bool()>& work) const {
    if (!sends.empty() || !receives.empty()) return links.exchange_while(sends, receives, work);
    while (work()) {}
  }
};

// A reduction over a set: member j sums slice j of the elements.
struct Reduction {
  const void* in;
  DType in_dtype, out_dtype;
  std::vector<int64_t> bounds;  // the first element of each slice, and the end
  ReduceOp op;
  double factor;

  // Returns the element range of piece k of `pieces` in slice j; all members divide a slice in the same way.
  std::pair<int64_t, int64_t> piece(int j, int64_t k, int64_t pieces) const {
    const int64_t begin = bounds[static_cast<size_t>(j)], n = bounds[static_cast<size_t>(j) + 1] - begin;
    return {begin + n * k / pieces, begin + n * (k + 1) / pieces};
  }
};

std::vector<int64_t> even_bounds(int64_t count, int parts) {
  std::vector<int64_t> bounds;
  for (int j = 0; j <= parts; ++j) bounds.push_back(count * j / parts);
  return bounds;
}

constexpr int kNobody = -2, kEverybody = -1;

// Overlaps receiving, summing and sending: while pieces k arrive, pieces k-1 are summed, and the sums of pieces k-2 are
// sent to `gather`, which is kNobody, kEverybody or a member. `own` receives the sums of this member's slice. `out`
// receives all elements on ranks that gather; `own` then lies in it. The input may be `out`.
class Pipeline {
 public:
  Pipeline(Links& links, const Set& set, const Reduction& r, int gather, void* own, void* out)
      : links_(links), set_(set), r_(r), gather_(gather), own_(own), out_(out) {
    int64_t longest = 0;
    for (size_t j = 0; j + 1 < r.bounds.size(); ++j) longest = std::max(longest, r.bounds[j + 1] - r.bounds[j]);
    const int64_t others = std::max(1, set.size() - 1);
    const int64_t piece = std::clamp(4 * kLargestPiece / others, kSmallestPiece, kLargestPiece);
    pieces_ = std::max<int64_t>(1, (longest * size_of(r.in_dtype) + piece - 1) / piece);
    stride_ = (longest + pieces_ - 1) / pieces_ * size_of(r.in_dtype);
    buffer_ = new_bytes(stride_ * others * std::min<int64_t>(2, pieces_));
  }

  // Runs in rounds: in each, a member sends to one other member and receives from one. If many members sent large
  // messages to one host at a time, they would overflow the buffers before its link, and lost packets are retransmitted
  // only after a delay. Small messages are exchanged all at once.
  void run() {
    const int n = set_.size();
    const bool rounds = n > 2 && stride_ >= kRound;
    for (int64_t k = 0; k < pieces_ + 2; ++k) {
      int64_t done = 0;
      bool summing = k >= 1 && k <= pieces_;
      const auto work = [&] { return summing && (summing = sum(k - 1, &done)); };
      for (int r = 1; r < (rounds ? n : 2); ++r) {
        const int to = rounds ? (set_.me + r) % n : kEverybody, from = rounds ? (set_.me - r + n) % n : kEverybody;
        Messages m;
        if (k < pieces_) scatter(k, to, from, &m);
        if (k >= 2 && gather_ != kNobody) collect(k - 2, to, from, &m);
        m.run(links_, work);
      }
    }
  }

 private:
  static bool takes_part(int j, int which) { return which == kEverybody || which == j; }
  // Returns where piece k from member j arrives.
  std::byte* arrived(int64_t k, int j) const {
    const int64_t others = set_.size() - 1, place = j < set_.me ? j : j - 1;
    return buffer_.get() + (k % 2 * others + place) * stride_;
  }
  void scatter(int64_t k, int send_to, int receive_from, Messages* m) const {
    const int64_t size = size_of(r_.in_dtype);
    const auto [begin, end] = r_.piece(set_.me, k, pieces_);
    for (int j = 0; j < set_.size(); ++j) {
      if (j == set_.me) continue;
      const auto [from, to] = r_.piece(j, k, pieces_);
      if (takes_part(j, send_to)) m->send(set_.ranks[static_cast<size_t>(j)], at(r_.in, from * size), (to - from) * size);
      if (takes_part(j, receive_from)) m->receive(set_.ranks[static_cast<size_t>(j)], arrived(k, j), (end - begin) * size);
    }
  }
  void collect(int64_t k, int send_to, int receive_from, Messages* m) const {
    const int64_t size = size_of(r_.out_dtype);
    const auto [begin, end] = r_.piece(set_.me, k, pieces_);
    for (int j = 0; j < set_.size(); ++j) {
      if (j == set_.me) continue;
      const auto [from, to] = r_.piece(j, k, pieces_);
      const int rank = set_.ranks[static_cast<size_t>(j)];
      if (takes_part(j, send_to) && (gather_ == kEverybody || gather_ == j))
        m->send(rank, at(own_, (begin - r_.bounds[static_cast<size_t>(set_.me)]) * size), (end - begin) * size);
      if (takes_part(j, receive_from) && (gather_ == kEverybody || gather_ == set_.me)) m->receive(rank, at(out_, from * size), (to - from) * size);
    }
  }
  bool sum(int64_t k, int64_t* done) const {
    const int64_t in_size = size_of(r_.in_dtype);
    const auto [begin, end] = r_.piece(set_.me, k, pieces_);
    const int64_t n = std::min(kWork, end - begin - *done);
    if (n <= 0) return false;
    std::vector<const void*> rows;
    for (int j = 0; j < set_.size(); ++j) rows.push_back(j == set_.me ? at(r_.in, (begin + *done) * in_size) : arrived(k, j) + *done * in_size);
    std::byte* const to = at(own_, (begin + *done - r_.bounds[static_cast<size_t>(set_.me)]) * size_of(r_.out_dtype));
    reduce_tree(rows, r_.in_dtype, to, r_.out_dtype, n, r_.op, r_.factor);
    *done += n;
    return *done < end - begin;
  }

  Links& links_;
  const Set& set_;
  const Reduction& r_;
  const int gather_;
  void* const own_;
  void* const out_;
  int64_t pieces_, stride_;
  Bytes buffer_;
};

// Every member sends all its elements to every other, and each sums all of them.
void all_reduce_direct(Links& links, const Set& set, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, double factor) {
  const int64_t bytes = count * size_of(dtype);
  const Bytes buffer = new_bytes(bytes * set.size());
  Messages m;
  std::vector<const void*> rows;
  for (int j = 0; j < set.size(); ++j) {
    std::byte* const row = buffer.get() + j * bytes;
    rows.push_back(j == set.me ? in : row);
    if (j == set.me) continue;
    m.send(set.ranks[static_cast<size_t>(j)], in, bytes);
    m.receive(set.ranks[static_cast<size_t>(j)], row, bytes);
  }
  m.run(links);
  reduce_tree(rows, dtype, out, dtype, count, op, factor);
}

// Sends member j's part of `out`, at bounds[j], to all others. Bounds are in bytes.
void gather_slices(Links& links, const Set& set, void* out, std::span<const int64_t> bounds) {
  Messages m;
  const auto me = static_cast<size_t>(set.me);
  for (size_t j = 0; j < set.ranks.size(); ++j) {
    if (j == me) continue;
    m.send(set.ranks[j], at(out, bounds[me]), bounds[me + 1] - bounds[me]);
    m.receive(set.ranks[j], at(out, bounds[j]), bounds[j + 1] - bounds[j]);
  }
  m.run(links);
}

// A binary tree over the members, numbered from the root: in each step a member that has the data sends it to the
// member half as far away as in the step before.
void broadcast_tree(Links& links, const Set& set, void* data, int64_t bytes, int root) {
  const int size = set.size(), me = (set.me - root + size) % size;
  const auto rank_of = [&](int place) { return set.ranks[static_cast<size_t>((place + root) % size)]; };
  int reach = 1;
  while (reach < size) reach *= 2;
  for (int step = reach / 2; step >= 1; step /= 2) {
    Messages m;
    if (me % (2 * step) == 0 && me + step < size) m.send(rank_of(me + step), data, bytes);
    if (me % (2 * step) == step) m.receive(rank_of(me - step), data, bytes);
    m.run(links);
  }
}

void broadcast_over(Links& links, const Set& set, void* data, int64_t bytes, int root) {
  if (set.size() == 1 || bytes == 0) return;
  if (bytes <= kTree || set.size() == 2) return broadcast_tree(links, set, data, bytes, root);
  const std::vector<int64_t> bounds = even_bounds(bytes, set.size());
  Messages m;
  for (int j = 0; j < set.size(); ++j) {
    const int64_t begin = bounds[static_cast<size_t>(j)], n = bounds[static_cast<size_t>(j) + 1] - begin;
    if (set.me == root && j != root) m.send(set.ranks[static_cast<size_t>(j)], at(data, begin), n);
    if (set.me != root && j == set.me) m.receive(set.ranks[static_cast<size_t>(root)], at(data, begin), n);
  }
  m.run(links);
  // The root already has all slices.
  Messages rest;
  const auto me = static_cast<size_t>(set.me);
  for (size_t j = 0; j < set.ranks.size(); ++j) {
    if (j == me) continue;
    if (static_cast<int>(j) != root) rest.send(set.ranks[j], at(data, bounds[me]), bounds[me + 1] - bounds[me]);
    if (set.me != root) rest.receive(set.ranks[j], at(data, bounds[j]), bounds[j + 1] - bounds[j]);
  }
  rest.run(links);
}

std::vector<int64_t> scaled(std::vector<int64_t> bounds, int64_t factor) {
  for (int64_t& b : bounds) b *= factor;
  return bounds;
}

}  // namespace

Layout layout_of(std::span<const int> hosts, int rank, bool strict_order) {
  Layout layout{rank, static_cast<int>(hosts.size()), 1};
  int local = 1;
  while (local < layout.size && hosts[static_cast<size_t>(local)] == hosts[0]) ++local;
  if (local == layout.size || layout.size % local != 0 || (strict_order && (local & (local - 1)) != 0)) return layout;
  std::vector<int> seen;
  for (int r = 0; r < layout.size; r += local) {
    const int host = hosts[static_cast<size_t>(r)];
    if (std::find(seen.begin(), seen.end(), host) != seen.end()) return layout;
    seen.push_back(host);
    for (int l = 1; l < local; ++l)
      if (hosts[static_cast<size_t>(r + l)] != host) return layout;
  }
  layout.local_size = local;
  return layout;
}

void all_reduce_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op) {
  const double factor = factor_of(op, layout.size);
  if (layout.size == 1) return copy_bytes(in, out, count * size_of(dtype));
  if (count * size_of(dtype) <= kDirect) return all_reduce_direct(links, all_of(layout), in, out, count, dtype, op, factor);
  if (layout.local_size == 1) {
    const Set set = all_of(layout);
    const Reduction r{in, dtype, dtype, even_bounds(count, set.size()), op, factor};
    Pipeline(links, set, r, kEverybody, at(out, r.bounds[static_cast<size_t>(set.me)] * size_of(dtype)), out).run();
    return;
  }
  // Each member sums its slice within the host; the slice is then reduced across the hosts. 16-bit floats stay widened until the last sum.
  const Set host = host_of(layout), hosts = across(layout);
  const DType wide = sum_dtype(dtype);
  const Reduction inner{in, dtype, wide, even_bounds(count, host.size()), op, 1};
  const int64_t begin = inner.bounds[static_cast<size_t>(host.me)], n = inner.bounds[static_cast<size_t>(host.me) + 1] - begin;
  std::byte* const slice = at(out, begin * size_of(dtype));
  const Bytes partial = wide == dtype ? nullptr : new_bytes(n * size_of(wide));
  std::byte* const sums = wide == dtype ? slice : partial.get();
  Pipeline(links, host, inner, kNobody, sums, nullptr).run();
  const Reduction outer{sums, wide, dtype, even_bounds(n, hosts.size()), op, factor};
  Pipeline(links, hosts, outer, kEverybody, at(slice, outer.bounds[static_cast<size_t>(hosts.me)] * size_of(dtype)), slice).run();
  gather_slices(links, host, out, scaled(inner.bounds, size_of(dtype)));
}

void reduce_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, int root) {
  const double factor = factor_of(op, layout.size);
  const bool is_root = layout.rank == root;
  if (layout.size == 1) return copy_bytes(in, out, count * size_of(dtype));
  if (layout.local_size == 1) {
    const Set set = all_of(layout);
    const Reduction r{in, dtype, dtype, even_bounds(count, set.size()), op, factor};
    const int64_t begin = r.bounds[static_cast<size_t>(set.me)] * size_of(dtype), end = r.bounds[static_cast<size_t>(set.me) + 1] * size_of(dtype);
    const Bytes own = is_root ? nullptr : new_bytes(end - begin);
    Pipeline(links, set, r, root, is_root ? at(out, begin) : own.get(), out).run();
    return;
  }
  const Set host = host_of(layout), hosts = across(layout);
  const int root_host = root / layout.local_size, root_place = root % layout.local_size;
  const DType wide = sum_dtype(dtype);
  const Reduction inner{in, dtype, wide, even_bounds(count, host.size()), op, 1};
  const int64_t begin = inner.bounds[static_cast<size_t>(host.me)], n = inner.bounds[static_cast<size_t>(host.me) + 1] - begin;
  const Bytes partial = new_bytes(n * size_of(wide)), reduced = new_bytes(n * size_of(dtype));
  Pipeline(links, host, inner, kNobody, partial.get(), nullptr).run();
  // The sums go to the member of the root's host that holds the slice, and that member sends them to the root.
  const Reduction outer{partial.get(), wide, dtype, even_bounds(n, hosts.size()), op, factor};
  Pipeline(links, hosts, outer, root_host, at(reduced.get(), outer.bounds[static_cast<size_t>(hosts.me)] * size_of(dtype)), reduced.get()).run();
  if (hosts.me != root_host) return;
  Messages m;
  if (is_root) {
    copy_bytes(reduced.get(), at(out, begin * size_of(dtype)), n * size_of(dtype));
    for (int l = 0; l < host.size(); ++l) {
      const int64_t from = inner.bounds[static_cast<size_t>(l)], to = inner.bounds[static_cast<size_t>(l) + 1];
      if (l != root_place) m.receive(host.ranks[static_cast<size_t>(l)], at(out, from * size_of(dtype)), (to - from) * size_of(dtype));
    }
  } else {
    m.send(root, reduced.get(), n * size_of(dtype));
  }
  m.run(links);
}

void broadcast_by_links(Links& links, const Layout& layout, void* data, int64_t bytes, int root) {
  if (layout.local_size == 1) return broadcast_over(links, all_of(layout), data, bytes, root);
  // The root sends one slice to each member of its host. Each of these sends its slice to the members with the same
  // place in the other hosts, and each host gathers the slices.
  const Set host = host_of(layout), hosts = across(layout);
  const int root_host = root / layout.local_size, root_place = root % layout.local_size;
  const std::vector<int64_t> bounds = even_bounds(bytes, host.size());
  const int64_t begin = bounds[static_cast<size_t>(host.me)], n = bounds[static_cast<size_t>(host.me) + 1] - begin;
  if (hosts.me == root_host) {
    Messages m;
    for (int l = 0; l < host.size(); ++l)
      if (host.me == root_place && l != root_place) {
        const int64_t from = bounds[static_cast<size_t>(l)];
        m.send(host.ranks[static_cast<size_t>(l)], at(data, from), bounds[static_cast<size_t>(l) + 1] - from);
      }
    if (host.me != root_place) m.receive(root, at(data, begin), n);
    m.run(links);
  }
  broadcast_over(links, hosts, at(data, begin), n, root_host);
  gather_slices(links, host, data, bounds);
}

void all_gather_v_by_links(Links& links, const Layout& layout, const void* in, void* out, std::span<const int64_t> bytes) {
  std::vector<int64_t> bounds(bytes.size() + 1);
  std::partial_sum(bytes.begin(), bytes.end(), bounds.begin() + 1);
  const auto me = static_cast<size_t>(layout.rank);
  copy_bytes(in, at(out, bounds[me]), bytes[me]);
  if (layout.local_size == 1) return gather_slices(links, all_of(layout), out, bounds);
  const Set host = host_of(layout), hosts = across(layout);
  Messages m;
  for (const int r : hosts.ranks) {
    if (r == layout.rank) continue;
    m.send(r, at(out, bounds[me]), bytes[me]);
    m.receive(r, at(out, bounds[static_cast<size_t>(r)]), bytes[static_cast<size_t>(r)]);
  }
  m.run(links);
  Messages inner;
  for (int l = 0; l < host.size(); ++l) {
    if (l == host.me) continue;
    const int peer = host.ranks[static_cast<size_t>(l)];
    for (int r = host.me; r < layout.size; r += layout.local_size) inner.send(peer, at(out, bounds[static_cast<size_t>(r)]), bytes[static_cast<size_t>(r)]);
    for (int r = l; r < layout.size; r += layout.local_size) inner.receive(peer, at(out, bounds[static_cast<size_t>(r)]), bytes[static_cast<size_t>(r)]);
  }
  inner.run(links);
}

void reduce_scatter_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t count, DType dtype, ReduceOp op) {
  const double factor = factor_of(op, layout.size);
  const int64_t part = count * size_of(dtype);
  const Bytes own = new_bytes(part);  // `out` may overlap `in`
  if (layout.local_size == 1) {
    const Set set = all_of(layout);
    const Reduction r{in, dtype, dtype, even_bounds(count * set.size(), set.size()), op, factor};
    if (set.size() == 1) return copy_bytes(in, out, part);
    Pipeline(links, set, r, kNobody, own.get(), nullptr).run();
    return copy_bytes(own.get(), out, part);
  }
  // Within the host, members sum the parts of the ranks with their place, one host's part at a time; these sums are then reduced across the hosts.
  const Set host = host_of(layout), hosts = across(layout);
  const DType wide = sum_dtype(dtype);
  const Bytes partial = new_bytes(count * hosts.size() * size_of(wide));
  for (int h = 0; h < hosts.size(); ++h) {
    const Reduction inner{at(in, h * host.size() * part), dtype, wide, even_bounds(count * host.size(), host.size()), op, 1};
    Pipeline(links, host, inner, kNobody, partial.get() + h * count * size_of(wide), nullptr).run();
  }
  const Reduction outer{partial.get(), wide, dtype, even_bounds(count * hosts.size(), hosts.size()), op, factor};
  Pipeline(links, hosts, outer, kNobody, own.get(), nullptr).run();
  copy_bytes(own.get(), out, part);
}

void all_to_all_by_links(Links& links, const Layout& layout, const void* in, void* out, int64_t bytes) {
  const bool apart = at(in, bytes * layout.size) <= static_cast<std::byte*>(out) || at(out, bytes * layout.size) <= static_cast<const std::byte*>(in);
  const Bytes held = apart ? nullptr : new_bytes(bytes * layout.size);
  if (!apart) copy_bytes(in, held.get(), bytes * layout.size);
  const void* const from = apart ? in : held.get();
  Messages m;
  for (int r = 0; r < layout.size; ++r) {
    if (r == layout.rank) {
      copy_bytes(at(from, r * bytes), at(out, r * bytes), bytes);
      continue;
    }
    m.send(r, at(from, r * bytes), bytes);
    m.receive(r, at(out, r * bytes), bytes);
  }
  m.run(links);
}

// After round k every rank knows that the 2^(k+1) ranks before it have arrived.
void barrier_by_links(Links& links, const Layout& layout) {
  for (int step = 1; step < layout.size; step *= 2) {
    std::byte out{1}, in{0};
    Messages m;
    m.send((layout.rank + step) % layout.size, &out, 1);
    m.receive((layout.rank - step + layout.size) % layout.size, &in, 1);
    m.run(links);
  }
}

}  // namespace sindri::comm
