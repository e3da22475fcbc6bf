// See host_sums.h. The bytes are cut into chunks, and each chunk into one slice per rank of the host. The hosts reduce
// a slice in steps. In a step, a rank sends one message to another host and receives one; its next step waits for that
// message. Several chunks are in flight at a time, in an order that is the same everywhere, so that summing and storing
// overlap with the transmission and a late host does not leave the link idle. The cuts depend on the number of bytes
// alone, so hosts agree on them even if one host's pieces lie in a flat buffer and another's are staged.
//
// If the number of hosts is a power of two, a slice is halved (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// Collective Communication Operations in MPICH", 2005, section 4.4). Hosts whose numbers differ in the lowest bit
// exchange halves, and each sums the half it keeps. Then those that differ in the next bit exchange quarters, and so
// on. The order of these sums is that of the fixed tree. The sums are distributed by the same exchanges in reverse.
// Both hosts of a pair send and receive the same amount at the same time, so messages do not collide before a link.
// With other numbers of hosts, part j of the slice goes to host j, which sums along the tree and sends the sum back to
// all, in rounds: in round r host h sends to h+r and receives from h-r. Sending everything at once, from all hosts to
// all, reached 70 % of eight links of 100 Mbit/s, as hosts that have finished sending may wait for those whose turn
// comes late; rounds reached 80 %, halving 91 % (docs/benchmarks.md).
//
// Staged pieces use seven buffers. Let A(i) be the barrier of iteration i; after it chunk i can be read, and chunk i-5
// is stored everywhere. The result of chunk i-5 is copied out between A(i) and A(i+1). The next write to its buffer is
// the copy-in of chunk i+2, after A(i+1).
#include "src/comm/host_sums.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sindri::comm {

namespace {
constexpr int kDepth = 5, kCopyOut = 5;  // chunks in flight; iterations between a chunk's produce() and its copy-out
int64_t size_of(DType dtype) { return static_cast<int64_t>(dtype_size(dtype)); }

}  // namespace

struct HostSums::Chunk {
  std::vector<std::byte> data, got;  // this rank's slice in the type of sums; parts received from the other hosts
  int64_t begin = 0, count = 0;  // the slice's range, in elements of the whole
  MpiBatch messages;
};

struct HostSums::Job {
  const PieceList& list;
  std::span<std::byte* const> flat;  // if not staged
  DType dtype, sum;
  ReduceOp op;
  double factor;
  int64_t element, total, chunk;  // total, chunk: in bytes
  bool staged;
};

HostSums::HostSums(MpiLinks& links, SharedWindow* window, std::vector<int> peers, int host, int64_t chunk)
    : links_(links), window_(window), peers_(std::move(peers)), host_(host), chunk_(chunk), chunks_(kDepth) {
  const auto hosts = static_cast<unsigned>(peers_.size());
  halving_ = std::has_single_bit(hosts);
  half_steps_ = halving_ ? std::countr_zero(hosts) : static_cast<int>(hosts) - 1;
  steps_each_ = half_steps_ / 2 + 1;
}
HostSums::~HostSums() = default;

void HostSums::produce(const Job& job, int64_t k, Chunk* c) {
  const int ranks = window_ != nullptr ? window_->size() : 1, local = window_ != nullptr ? window_->local() : 0;
  const int64_t first = k * job.chunk / job.element, count = std::min(job.chunk, job.total - k * job.chunk) / job.element;
  const Part mine = part_of(count, job.element, ranks, local);
  c->begin = first + mine.begin;
  c->count = mine.count();
  c->data.resize(static_cast<size_t>(c->count * size_of(job.sum)));
  std::vector<const void*> rows(static_cast<size_t>(ranks));
  if (job.staged) {
    for (int r = 0; r < ranks; ++r) rows[static_cast<size_t>(r)] = window_->stage(r, k) + mine.begin * job.element;
    reduce_tree(rows, job.dtype, c->data.data(), job.sum, c->count, job.op, 1);
  } else {
    std::byte* to = c->data.data();
    job.list.each(c->begin * job.element, c->count * job.element, [&](const PieceList::Run& run, int64_t skip, int64_t bytes) {
      rows[0] = run.in + skip;
      for (size_t r = 0; r < job.flat.size(); ++r) rows[r] = job.flat[r] + (run.out - job.flat[static_cast<size_t>(local)]) + skip;
      reduce_tree(rows, job.dtype, to, job.sum, bytes / job.element, job.op, 1);
      to += bytes / job.element * size_of(job.sum);
    });
  }
  const int64_t hosts = static_cast<int64_t>(peers_.size()), part = part_of(c->count, size_of(job.sum), static_cast<int>(hosts), host_).count();
  c->got.resize(static_cast<size_t>((halving_ ? (c->count + 1) / 2 : part * hosts) * size_of(job.sum)));
}

// Returns the elements of the chunk's slice that this host still sums before halving step `step`. In that step it keeps
// halves(step + 1), and the other host sums the rest.
Part HostSums::halves(const Chunk& c, int step) const {
  Part part{0, c.count};
  for (int s = 0; s < step; ++s) {
    const int64_t middle = part.begin + part.count() / 2;
    (host_ >> s & 1 ? part.begin : part.end) = middle;
  }
  return part;
}

// Steps 0 <= s < half_steps_ compute the sums, the later ones distribute them.
void HostSums::begin(const Job& job, int step, Chunk* c) {
  const int hosts = static_cast<int>(peers_.size());
  const bool up = step < half_steps_;
  const int64_t size = size_of(job.sum);
  std::byte* const data = c->data.data();
  Links::Message send{}, receive{};
  const auto set = [&](Links::Message* m, int host, std::byte* at, int64_t count) { *m = {peers_[static_cast<size_t>(host)], at, count * size}; };
  if (halving_) {
    const int s = up ? step : 2 * half_steps_ - 1 - step, other = host_ ^ (1 << s);
    const Part whole = halves(*c, s), mine = halves(*c, s + 1);
    const Part theirs = mine.begin == whole.begin ? Part{mine.end, whole.end} : Part{whole.begin, mine.begin};
    if (up) {
      set(&send, other, data + theirs.begin * size, theirs.count());
      set(&receive, other, c->got.data(), mine.count());
    } else {
      set(&send, other, data + mine.begin * size, mine.count());
      set(&receive, other, data + theirs.begin * size, theirs.count());
    }
  } else {
    const int r = step % half_steps_ + 1, to = (host_ + r) % hosts, from = (host_ - r + hosts) % hosts;
    const Part mine = part_of(c->count, size, hosts, host_);
    if (up) {
      const Part part = part_of(c->count, size, hosts, to);
      set(&send, to, data + part.begin * size, part.count());
      set(&receive, from, c->got.data() + from * mine.count() * size, mine.count());
    } else {
      const Part part = part_of(c->count, size, hosts, from);
      set(&send, to, data + mine.begin * size, mine.count());
      set(&receive, from, data + part.begin * size, part.count());
    }
  }
  links_.start(std::span(&send, send.bytes > 0 ? 1U : 0U), std::span(&receive, receive.bytes > 0 ? 1U : 0U), &c->messages);
}

// Sums the parts that have arrived.
void HostSums::end(const Job& job, int step, Chunk* c) {
  links_.wait(&c->messages);
  const int hosts = static_cast<int>(peers_.size());
  const int64_t size = size_of(job.sum);
  if (halving_ ? step >= half_steps_ : step != half_steps_ - 1) return;
  const Part mine = halving_ ? halves(*c, step + 1) : part_of(c->count, size, hosts, host_);
  std::byte* const own = c->data.data() + mine.begin * size;
  std::vector<const void*> rows;
  if (halving_) {
    rows = {own, c->got.data()};
    if (host_ >> step & 1) std::swap(rows[0], rows[1]);
  } else {
    for (int h = 0; h < hosts; ++h) rows.push_back(h == host_ ? own : c->got.data() + h * mine.count() * size);
  }
  reduce_tree(rows, job.sum, own, job.sum, mine.count(), job.op, 1);
}

void HostSums::consume(const Job& job, Chunk* c) {
  const std::byte* from = c->data.data();
  const int64_t size = size_of(job.sum);
  if (job.staged) {
    const int64_t k = c->begin * job.element / job.chunk;
    const void* const row = from;
    reduce_tree(std::span(&row, 1), job.sum, window_->stage(window_->local(), k) + (c->begin * job.element - k * job.chunk), job.dtype, c->count, job.op,
                job.factor);
    return;
  }
  job.list.each(c->begin * job.element, c->count * job.element, [&](const PieceList::Run& run, int64_t skip, int64_t bytes) {
    const void* const row = from;
    reduce_tree(std::span(&row, 1), job.sum, run.out + skip, job.dtype, bytes / job.element, job.op, job.factor);
    for (size_t r = 0; r < job.flat.size(); ++r) {
      std::byte* const to = job.flat[r] + (run.out - job.flat[static_cast<size_t>(window_->local())]) + skip;
      if (to != run.out + skip) std::memcpy(to, run.out + skip, static_cast<size_t>(bytes));
    }
    from += bytes / job.element * size;
  });
}

void HostSums::all_reduce(const CallCard& card, std::span<const Piece> pieces, std::span<std::byte* const> flat, double factor) {
  const auto dtype = static_cast<DType>(card.dtype);
  const PieceList list(pieces, size_of(dtype));
  const bool in_place = window_ == nullptr || SharedWindow::agree_on_place(window_->enter(card));
  const Job job{list, flat, dtype, sum_dtype(dtype), static_cast<ReduceOp>(card.op), factor, size_of(dtype), list.bytes(), chunk_, !in_place};
  const int64_t number = (job.total + job.chunk - 1) / job.chunk;
  const auto bytes_of = [&](int64_t k) { return std::min(job.chunk, job.total - k * job.chunk); };
  for (int64_t i = 0; number > 0 && i < number + kCopyOut; ++i) {
    if (job.staged) {
      if (i < number) list.copy_in(i * job.chunk, bytes_of(i), window_->stage(window_->local(), i));
      window_->barrier();
      const int64_t out = i - kCopyOut;
      for (int r = 0; out >= 0 && r < window_->size(); ++r) {
        const Part part = part_of(bytes_of(out) / job.element, job.element, window_->size(), r);
        list.copy_out(out * job.chunk + part.begin * job.element, part.count() * job.element, window_->stage(r, out) + part.begin * job.element);
      }
    }
    const auto chunk = [&](int64_t k) { return k >= 0 && k < number ? &chunks_[static_cast<size_t>(k % kDepth)] : nullptr; };
    // Chunk i-a has completed its first a·steps_each_ steps, except end() of the last one.
    if (Chunk* const c = chunk(i)) produce(job, i, c);
    for (int part = 0; part < steps_each_; ++part) {
      for (int age = kDepth - 1; age >= 0; --age) {
        const int step = age * steps_each_ + part;
        Chunk* const c = chunk(i - age);
        if (c == nullptr || step > 2 * half_steps_) continue;
        if (step > 0) end(job, step - 1, c);
        if (step < 2 * half_steps_) begin(job, step, c);
        else consume(job, c);
      }
    }
  }
  if (job.staged) window_->next_turn(number);
  if (in_place && window_ != nullptr) window_->barrier();
}

}  // namespace sindri::comm
