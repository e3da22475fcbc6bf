// See host_sums.h. The bytes are cut into chunks, and each chunk into the slices of the host's ranks, whose parts go to the hosts: part j of the slice to
// host j, which sums the hosts' parts along the tree and sends the sum back to all. Three chunks are under way at a time, so that summing and storing
// overlap with the wire: of chunk k the parts are sent in iteration k, summed and sent back in k+1, stored in k+2. What is cut how depends on the number of
// bytes alone, so that hosts understand each other whether their pieces lie in a flat buffer or are staged.
//
// Staged, with five buffers: A(i) is the barrier of iteration i, behind which chunk i can be read and chunk i-3 is stored everywhere. What chunk i-3 left is
// copied out between A(i) and A(i+1); the next to write its buffer is the copying in of chunk i+2, behind A(i+1).
#include "src/comm/host_sums.h"

#include <algorithm>
#include <cstring>

namespace sindri::comm {

namespace {
int64_t size_of(DType dtype) { return static_cast<int64_t>(dtype_size(dtype)); }
}  // namespace

struct HostSums::Chunk {
  std::vector<std::byte> data, got;  // this rank's slice in the type of sums; parts of the other hosts
  MpiBatch scattered, gathered;
  int64_t begin = 0, count = 0;  // the slice, in elements of the whole
};

struct HostSums::Job {
  const PieceList& list;
  std::span<std::byte* const> flat;  // where not staged
  DType dtype, sum;
  ReduceOp op;
  double factor;
  int64_t element, total, chunk;  // total, chunk: bytes
  bool staged;
};

HostSums::HostSums(MpiLinks& links, SharedWindow& window, std::vector<int> peers, int host, int64_t chunk)
    : links_(links), window_(window), peers_(std::move(peers)), host_(host), chunk_(chunk), chunks_(3) {}
HostSums::~HostSums() = default;

void HostSums::produce(const Job& job, int64_t k, Chunk* c) {
  const int ranks = window_.size(), local = window_.local();
  const int64_t first = k * job.chunk / job.element, count = std::min(job.chunk, job.total - k * job.chunk) / job.element;
  const Part mine = part_of(count, job.element, ranks, local);
  c->begin = first + mine.begin;
  c->count = mine.count();
  c->data.resize(static_cast<size_t>(c->count * size_of(job.sum)));
  std::vector<const void*> rows(static_cast<size_t>(ranks));
  if (job.staged) {
    for (int r = 0; r < ranks; ++r) rows[static_cast<size_t>(r)] = window_.stage(r, k) + mine.begin * job.element;
    reduce_tree(rows, job.dtype, c->data.data(), job.sum, c->count, job.op, 1);
  } else {
    std::byte* to = c->data.data();
    job.list.each(c->begin * job.element, c->count * job.element, [&](const PieceList::Run& run, int64_t skip, int64_t bytes) {
      for (size_t r = 0; r < rows.size(); ++r) rows[r] = job.flat[r] + (run.out - job.flat[static_cast<size_t>(local)]) + skip;
      reduce_tree(rows, job.dtype, to, job.sum, bytes / job.element, job.op, 1);
      to += bytes / job.element * size_of(job.sum);
    });
  }
  const int hosts = static_cast<int>(peers_.size());
  const int64_t size = size_of(job.sum), own = part_of(c->count, size, hosts, host_).count() * size;
  c->got.resize(static_cast<size_t>(own * hosts));
  std::vector<Links::Message> sends, receives;
  for (int h = 0; h < hosts; ++h) {
    if (h == host_) continue;
    const Part part = part_of(c->count, size, hosts, h);
    if (part.count() > 0) sends.push_back({peers_[static_cast<size_t>(h)], c->data.data() + part.begin * size, part.count() * size});
    if (own > 0) receives.push_back({peers_[static_cast<size_t>(h)], c->got.data() + h * own, own});
  }
  links_.start(sends, receives, &c->scattered);
}

void HostSums::sum(const Job& job, Chunk* c) {
  links_.wait(&c->scattered);
  const int hosts = static_cast<int>(peers_.size());
  const int64_t size = size_of(job.sum);
  const Part own = part_of(c->count, size, hosts, host_);
  std::byte* const mine = c->data.data() + own.begin * size;
  std::vector<const void*> rows;
  for (int h = 0; h < hosts; ++h) rows.push_back(h == host_ ? mine : c->got.data() + h * own.count() * size);
  reduce_tree(rows, job.sum, mine, job.sum, own.count(), job.op, 1);
  std::vector<Links::Message> sends, receives;
  for (int h = 0; h < hosts; ++h) {
    if (h == host_) continue;
    const Part part = part_of(c->count, size, hosts, h);
    if (own.count() > 0) sends.push_back({peers_[static_cast<size_t>(h)], mine, own.count() * size});
    if (part.count() > 0) receives.push_back({peers_[static_cast<size_t>(h)], c->data.data() + part.begin * size, part.count() * size});
  }
  links_.start(sends, receives, &c->gathered);
}

void HostSums::consume(const Job& job, Chunk* c) {
  links_.wait(&c->gathered);
  const std::byte* from = c->data.data();
  const int64_t size = size_of(job.sum);
  if (job.staged) {
    const int64_t k = c->begin * job.element / job.chunk;
    const void* const row = from;
    reduce_tree(std::span(&row, 1), job.sum, window_.stage(window_.local(), k) + (c->begin * job.element - k * job.chunk), job.dtype, c->count, job.op, job.factor);
    return;
  }
  job.list.each(c->begin * job.element, c->count * job.element, [&](const PieceList::Run& run, int64_t skip, int64_t bytes) {
    const void* const row = from;
    reduce_tree(std::span(&row, 1), job.sum, run.out + skip, job.dtype, bytes / job.element, job.op, job.factor);
    for (size_t r = 0; r < job.flat.size(); ++r) {
      std::byte* const to = job.flat[r] + (run.out - job.flat[static_cast<size_t>(window_.local())]) + skip;
      if (to != run.out + skip) std::memcpy(to, run.out + skip, static_cast<size_t>(bytes));
    }
    from += bytes / job.element * size;
  });
}

void HostSums::all_reduce(const CallCard& card, std::span<const Piece> pieces, std::span<std::byte* const> flat, double factor) {
  const auto dtype = static_cast<DType>(card.dtype);
  const PieceList list(pieces, size_of(dtype));
  const bool in_place = SharedWindow::agree_on_place(window_.enter(card));
  const Job job{list, flat, dtype, sum_dtype(dtype), static_cast<ReduceOp>(card.op), factor, size_of(dtype), list.bytes(), chunk_, !in_place};
  const int64_t number = (job.total + job.chunk - 1) / job.chunk;
  const auto bytes_of = [&](int64_t k) { return std::min(job.chunk, job.total - k * job.chunk); };
  for (int64_t i = 0; number > 0 && i < number + 3; ++i) {
    if (job.staged) {
      if (i < number) list.copy_in(i * job.chunk, bytes_of(i), window_.stage(window_.local(), i));
      window_.barrier();
      for (int r = 0; i >= 3 && r < window_.size(); ++r) {
        const Part part = part_of(bytes_of(i - 3) / job.element, job.element, window_.size(), r);
        list.copy_out((i - 3) * job.chunk + part.begin * job.element, part.count() * job.element, window_.stage(r, i - 3) + part.begin * job.element);
      }
    }
    if (i < number) produce(job, i, &chunks_[static_cast<size_t>(i % 3)]);
    if (i >= 1 && i - 1 < number) sum(job, &chunks_[static_cast<size_t>((i - 1) % 3)]);
    if (i >= 2 && i - 2 < number) consume(job, &chunks_[static_cast<size_t>((i - 2) % 3)]);
  }
  if (job.staged) window_.next_turn(number);
  if (in_place) window_.barrier();
}

}  // namespace sindri::comm
