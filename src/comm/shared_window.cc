// See shared_window.h. A rank's part of the memory consists of a page with the barrier (in the first part only) and the
// rank's slot, followed by the staging buffers.
//
// A call moves its data piecewise, at most one staging buffer per turn. A turn copies data in, combines it, and copies the
// result out; barriers separate these stages, and consecutive turns share barriers. Three buffers and one barrier per
// turn suffice: let b(k) be the barrier of turn k, after its copy-in; the sums of turn k-1 precede it. The result of
// turn k is copied out between b(k+1) and b(k+2); the next write to that buffer is the copy-in of turn k+3, after
// b(k+2). The turn number continues from call to call, and each call has at least one barrier, so this also holds
// between calls.
#include "src/comm/shared_window.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>

#include "src/comm/patience.h"

namespace sindri::comm {

namespace {

constexpr int64_t kPage = 4096, kLine = 64;
// Bytes of each row summed at a time: the operands are still in the cache when the sums are stored.
constexpr int64_t kBlockBytes = 32 * 1024;

void sleep_on(std::atomic<uint32_t>* word, uint32_t value, std::chrono::nanoseconds at_most) {
  const timespec time{0, static_cast<long>(at_most.count())};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0);
}
void wake_all(std::atomic<uint32_t>* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

// Identifies the namespace of process ids: processes in different ones cannot watch each other.
uint64_t pid_space() {
  std::array<char, 128> text{};
  const ssize_t n = readlink("/proc/self/ns/pid", text.data(), text.size() - 1);
  return n > 0 ? std::hash<std::string>{}(std::string(text.data(), static_cast<size_t>(n))) : 0;
}

void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<size_t>(bytes));
}

const std::byte* at(const void* memory, int64_t offset) { return static_cast<const std::byte*>(memory) + offset; }
std::byte* at(void* memory, int64_t offset) { return static_cast<std::byte*>(memory) + offset; }

int64_t size_of(DType dtype) { return static_cast<int64_t>(dtype_size(dtype)); }

const char* kind_name(int32_t kind) {
  static constexpr std::array<const char*, 9> kNames = {"nothing",        "all_reduce", "reduce",  "broadcast",  "all_gather",
                                                        "reduce_scatter", "all_to_all", "barrier", "flat_buffer"};
  return kind >= 0 && kind < static_cast<int32_t>(kNames.size()) ? kNames[static_cast<size_t>(kind)] : "something unknown";
}

std::string card_text(const CallCard& c) {
  const bool sums = c.kind == CallCard::kAllReduce || c.kind == CallCard::kReduce || c.kind == CallCard::kReduceScatter;
  if (sums)
    return fmt::format("{} ({}) of {} {}{}", kind_name(c.kind), reduce_op_name(static_cast<ReduceOp>(c.op)), c.count, dtype_name(static_cast<DType>(c.dtype)),
                       c.kind == CallCard::kReduce ? fmt::format(" to {}", c.root) : "");
  if (c.kind == CallCard::kBarrier) return "barrier";
  return fmt::format("{} of {} bytes{}", kind_name(c.kind), c.count, c.kind == CallCard::kBroadcast ? fmt::format(" from {}", c.root) : "");
}

bool same(const CallCard& a, const CallCard& b) { return a.kind == b.kind && a.dtype == b.dtype && a.op == b.op && a.root == b.root && a.count == b.count; }

}  // namespace

struct SharedWindow::Header {
  alignas(kLine) std::atomic<uint32_t> arrived;
  alignas(kLine) std::atomic<uint32_t> generation;  // number of the current barrier; waits sleep on it
  std::atomic<uint32_t> sleepers;
};

struct SharedWindow::Slot {
  alignas(kLine) std::atomic<uint32_t> at_generation;  // number of the barrier that the rank has reached
  int32_t pid;
  uint64_t pid_space;
  std::array<CallCard, 2> cards;  // alternately, by the call's number: a rank may be ahead by one call
  std::array<uint64_t, 2> values;
};

int64_t SharedWindow::part_bytes(const Staging& staging) { return kPage + (staging.buffers * staging.buffer + kPage - 1) / kPage * kPage; }

SharedWindow::SharedWindow(Session& session, std::vector<int> ranks, int local, std::vector<std::byte*> parts, const Staging& staging)
    : session_(session),
      ranks_(std::move(ranks)),
      local_(local),
      parts_(std::move(parts)),
      buffer_(staging.buffer),
      buffers_(staging.buffers),
      cards_(parts_.size()),
      lives_(parts_.size(), -1) {
  static_assert(sizeof(Header) + sizeof(Slot) <= kPage);
}

SharedWindow::~SharedWindow() {
  for (const int fd : lives_) {
    if (fd >= 0) close(fd);
  }
}

SharedWindow::Header& SharedWindow::header() const { return *reinterpret_cast<Header*>(parts_[0]); }
SharedWindow::Slot& SharedWindow::slot(int local) const { return *reinterpret_cast<Slot*>(parts_[static_cast<size_t>(local)] + sizeof(Header)); }

std::byte* SharedWindow::stage(int local, int64_t ahead) const { return parts_[static_cast<size_t>(local)] + kPage + (turn_ + ahead) % buffers_ * buffer_; }

void SharedWindow::meet() {
  const uint64_t space = pid_space();
  slot(local_).pid = getpid();
  slot(local_).pid_space = space;
  barrier();
  for (int r = 0; r < size(); ++r) {
    if (r != local_ && space != 0 && slot(r).pid_space == space) lives_[static_cast<size_t>(r)] = static_cast<int>(syscall(SYS_pidfd_open, slot(r).pid, 0));
  }
}

// The descriptor of a process (pidfd) becomes readable as soon as the process ends.
void SharedWindow::check_lives() {
  for (int r = 0; r < size(); ++r) {
    pollfd p{lives_[static_cast<size_t>(r)], POLLIN, 0};
    if (p.fd < 0 || ::poll(&p, 1, 0) <= 0 || (p.revents & POLLIN) == 0) continue;
    throw CommError(ErrorCode::kPeerLost, fmt::format("rank {} (pid {}) has ended", ranks_[static_cast<size_t>(r)], slot(r).pid), "",
                    "its log says why; continue with --resume");
  }
}

std::vector<int> SharedWindow::missing(uint32_t generation) const {
  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r) {
    if (slot(r).at_generation.load(std::memory_order_relaxed) != generation) ranks.push_back(ranks_[static_cast<size_t>(r)]);
  }
  return ranks;
}

void SharedWindow::wait_generation(uint32_t generation) {
  Header& h = header();
  Patience patience(session_, [this, generation] { return missing(generation); });
  const uint32_t before = generation - 1;
  while (h.generation.load(std::memory_order_acquire) == before) {
    if (!patience.should_sleep()) continue;
    h.sleepers.fetch_add(1);
    if (h.generation.load() == before) sleep_on(&h.generation, before, Patience::nap());
    h.sleepers.fetch_sub(1);
    if (h.generation.load(std::memory_order_acquire) != before) return;
    patience.look();
    check_lives();
  }
}

void SharedWindow::barrier() {
  Header& h = header();
  const uint32_t next = h.generation.load(std::memory_order_relaxed) + 1;  // no rank passes it without this one
  slot(local_).at_generation.store(next, std::memory_order_relaxed);
  if (h.arrived.fetch_add(1) + 1 < static_cast<uint32_t>(size())) return wait_generation(next);
  h.arrived.store(0, std::memory_order_relaxed);
  h.generation.store(next);
  if (h.sleepers.load() > 0) wake_all(&h.generation);
}

std::span<const CallCard* const> SharedWindow::enter(const CallCard& card) {
  const size_t which = calls_++ % 2;
  slot(local_).cards[which] = card;
  barrier();
  for (int r = 0; r < size(); ++r) cards_[static_cast<size_t>(r)] = &slot(r).cards[which];
  if (std::any_of(cards_.begin(), cards_.end(), [&](const CallCard* c) { return !same(*c, card); })) mismatch(cards_);
  return cards_;
}

uint64_t SharedWindow::agree(CallCard card, uint64_t value) {
  const size_t which = calls_ % 2;
  slot(local_).values[which] = value;
  enter(card);
  for (int r = 0; r < size(); ++r) value &= slot(r).values[which];
  return value;
}

void SharedWindow::mismatch(std::span<const CallCard* const> cards) const {
  std::string text = "ranks make different calls: ";
  for (size_t first = 0; first < cards.size(); ++first) {
    if (std::any_of(cards.begin(), cards.begin() + static_cast<std::ptrdiff_t>(first), [&](const CallCard* c) { return same(*c, *cards[first]); })) continue;
    std::vector<int> ranks;
    for (size_t r = first; r < cards.size(); ++r) {
      if (same(*cards[r], *cards[first])) ranks.push_back(ranks_[r]);
    }
    text += fmt::format("{}{} {}", first == 0 ? "" : "; ", rank_list(ranks), card_text(*cards[first]));
  }
  throw CommError(ErrorCode::kCommMismatch, text, "", "let all ranks make the same calls in the same order");
}

bool SharedWindow::agree_on_place(std::span<const CallCard* const> cards) {
  return cards[0]->place != 0 && std::all_of(cards.begin(), cards.end(), [&](const CallCard* c) { return c->place == cards[0]->place; });
}

void SharedWindow::all_reduce_in_place(const PieceList& list, std::span<std::byte* const> flat, DType dtype, ReduceOp op, double factor) {
  const int64_t element = size_of(dtype);
  const Part mine = part_of(list.bytes() / element, element, size(), local_);
  std::vector<std::byte*> rows(parts_.size());
  list.each(mine.begin * element, mine.count() * element, [&](const PieceList::Run& run, int64_t skip, int64_t bytes) {
    for (size_t r = 0; r < rows.size(); ++r) rows[r] = flat[r] + (run.out - flat[static_cast<size_t>(local_)]) + skip;
    reduce_rows(rows, bytes / element, dtype, op, factor);
  });
  barrier();
}

void SharedWindow::all_reduce(const CallCard& card, std::span<const Piece> pieces, std::span<std::byte* const> flat, double factor) {
  const auto dtype = static_cast<DType>(card.dtype);
  const auto op = static_cast<ReduceOp>(card.op);
  const PieceList list(pieces, size_of(dtype));
  const int64_t element = size_of(dtype), total = list.bytes(), turns = (total + buffer_ - 1) / buffer_;
  const auto bytes_of = [&](int64_t k) { return std::min(buffer_, total - k * buffer_); };
  if (card.place == 0) list.copy_in(0, bytes_of(0), stage(local_));
  const std::span<const CallCard* const> cards = enter(card);
  if (agree_on_place(cards)) return all_reduce_in_place(list, flat, dtype, op, factor);
  if (std::any_of(cards.begin(), cards.end(), [](const CallCard* c) { return c->place != 0; })) {
    if (card.place != 0) list.copy_in(0, bytes_of(0), stage(local_));
    barrier();
  }
  std::vector<const void*> in(parts_.size());
  for (int64_t k = 0; k < turns; ++k, next_turn()) {
    const int64_t count = bytes_of(k) / element;
    const Part mine = part_of(count, element, size(), local_);
    for (int r = 0; r < size(); ++r) in[static_cast<size_t>(r)] = stage(r) + mine.begin * element;
    reduce_tree(in, dtype, stage(local_) + mine.begin * element, dtype, mine.count(), op, factor);
    if (k + 1 < turns) list.copy_in((k + 1) * buffer_, bytes_of(k + 1), stage(local_, 1));
    barrier();
    for (int r = 0; r < size(); ++r) {
      const Part part = part_of(count, element, size(), r);
      list.copy_out(k * buffer_ + part.begin * element, part.count() * element, stage(r) + part.begin * element);
    }
  }
}

void SharedWindow::reduce(const CallCard& card, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, double factor, int root) {
  const int64_t element = size_of(dtype), total = count * element, turns = std::max<int64_t>((total + buffer_ - 1) / buffer_, 1);
  const auto bytes_of = [&](int64_t k) { return std::min(buffer_, total - k * buffer_); };
  copy_bytes(stage(local_), in, bytes_of(0));
  enter(card);
  std::vector<const void*> rows(parts_.size());
  for (int64_t k = 0; k < turns; ++k, next_turn()) {
    const int64_t n = bytes_of(k) / element;
    const Part mine = part_of(n, element, size(), local_);
    for (int r = 0; r < size(); ++r) rows[static_cast<size_t>(r)] = stage(r) + mine.begin * element;
    reduce_tree(rows, dtype, stage(local_) + mine.begin * element, dtype, mine.count(), op, factor);
    if (k + 1 < turns) copy_bytes(stage(local_, 1), at(in, (k + 1) * buffer_), bytes_of(k + 1));
    barrier();
    if (local_ != root) continue;
    for (int r = 0; r < size(); ++r) {
      const Part part = part_of(n, element, size(), r);
      copy_bytes(at(out, k * buffer_ + part.begin * element), stage(r) + part.begin * element, part.count() * element);
    }
  }
}

void SharedWindow::broadcast(const CallCard& card, void* data, int64_t bytes, int root) {
  for (int64_t begin = 0; begin == 0 || begin < bytes; begin += buffer_, next_turn()) {
    const int64_t n = std::min(buffer_, bytes - begin);
    if (local_ == root) copy_bytes(stage(root), at(data, begin), n);
    if (begin == 0) enter(card);
    else barrier();
    if (local_ != root) copy_bytes(at(data, begin), stage(root), n);
  }
}

void SharedWindow::all_gather_v(const CallCard& card, const void* in, void* out, std::span<const int64_t> bytes) {
  const int64_t longest = *std::max_element(bytes.begin(), bytes.end());
  const auto bytes_of = [&](int r, int64_t begin) { return std::clamp<int64_t>(bytes[static_cast<size_t>(r)] - begin, 0, buffer_); };
  copy_bytes(stage(local_), in, bytes_of(local_, 0));
  for (int64_t begin = 0; begin == 0 || begin < longest; begin += buffer_, next_turn()) {
    if (begin == 0) enter(card);
    else barrier();
    // Before `out` changes: `in` may be a part of it.
    if (const int64_t n = bytes_of(local_, begin + buffer_); n > 0) copy_bytes(stage(local_, 1), at(in, begin + buffer_), n);
    int64_t before = 0;
    for (int r = 0; r < size(); before += bytes[static_cast<size_t>(r++)]) copy_bytes(at(out, before + begin), stage(r), bytes_of(r, begin));
  }
}

int64_t SharedWindow::room_of_part() const {
  const int64_t room = buffer_ / size() / kLine * kLine;
  if (room == 0) throw CommError(ErrorCode::kLayout, fmt::format("{} ranks on one host: a staging buffer of {} bytes is too small", size(), buffer_));
  return room;
}

void SharedWindow::reduce_scatter(const CallCard& card, const void* in, void* out, int64_t count, DType dtype, ReduceOp op, double factor) {
  const int64_t element = size_of(dtype), room = room_of_part(), total = count * element;
  const auto copy_in = [&](int64_t begin, std::byte* to) {
    for (int r = 0; r < size(); ++r) copy_bytes(to + r * room, at(in, r * total + begin), std::min(room, total - begin));
  };
  std::vector<const void*> rows(parts_.size());
  copy_in(0, stage(local_));
  for (int64_t begin = 0; begin == 0 || begin < total; begin += room, next_turn()) {
    if (begin == 0) enter(card);
    else barrier();
    if (begin + room < total) copy_in(begin + room, stage(local_, 1));
    for (int r = 0; r < size(); ++r) rows[static_cast<size_t>(r)] = stage(r) + local_ * room;
    reduce_tree(rows, dtype, at(out, begin), dtype, std::min(room, total - begin) / element, op, factor);
  }
}

void SharedWindow::all_to_all(const CallCard& card, const void* in, void* out, int64_t bytes) {
  const int64_t room = room_of_part();
  const auto copy_in = [&](int64_t begin, std::byte* to) {
    for (int r = 0; r < size(); ++r) copy_bytes(to + r * room, at(in, r * bytes + begin), std::min(room, bytes - begin));
  };
  copy_in(0, stage(local_));
  for (int64_t begin = 0; begin == 0 || begin < bytes; begin += room, next_turn()) {
    if (begin == 0) enter(card);
    else barrier();
    if (begin + room < bytes) copy_in(begin + room, stage(local_, 1));
    for (int r = 0; r < size(); ++r) copy_bytes(at(out, r * bytes + begin), stage(r) + local_ * room, std::min(room, bytes - begin));
  }
}

PieceList::PieceList(std::span<const Piece> pieces, int64_t element) {
  for (const Piece& p : pieces) {
    const auto* const in = static_cast<const std::byte*>(p.in);
    auto* const out = static_cast<std::byte*>(p.out);
    const int64_t bytes = p.count * element;
    if (bytes == 0) continue;
    if (!runs_.empty() && runs_.back().in + runs_.back().bytes == in && runs_.back().out + runs_.back().bytes == out) runs_.back().bytes += bytes;
    else runs_.push_back({in, out, bytes, bytes_});
    bytes_ += bytes;
  }
}

size_t PieceList::find(int64_t begin) const {
  const auto it = std::upper_bound(runs_.begin(), runs_.end(), begin, [](int64_t b, const Run& r) { return b < r.begin; });
  return static_cast<size_t>(it - runs_.begin()) - 1;
}

void PieceList::copy_in(int64_t begin, int64_t bytes, void* to) const {
  each(begin, bytes, [&](const Run& run, int64_t skip, int64_t n) {
    std::memcpy(to, run.in + skip, static_cast<size_t>(n));
    to = at(to, n);
  });
}

void PieceList::copy_out(int64_t begin, int64_t bytes, const void* from) const {
  each(begin, bytes, [&](const Run& run, int64_t skip, int64_t n) {
    std::memcpy(run.out + skip, from, static_cast<size_t>(n));
    from = at(from, n);
  });
}

void reduce_rows(std::span<std::byte* const> rows, int64_t count, DType dtype, ReduceOp op, double factor) {
  const int64_t element = size_of(dtype), block = kBlockBytes / element;
  std::vector<const void*> in(rows.size());
  for (int64_t begin = 0; begin < count; begin += block) {
    const int64_t n = std::min(block, count - begin), offset = begin * element;
    for (size_t r = 0; r < rows.size(); ++r) in[r] = rows[r] + offset;
    reduce_tree(in, dtype, rows[0] + offset, dtype, n, op, factor);
    for (size_t r = 1; r < rows.size(); ++r) std::memcpy(rows[r] + offset, rows[0] + offset, static_cast<size_t>(n * element));
  }
}

Part part_of(int64_t count, int64_t element, int size, int rank) {
  const int64_t line = std::max<int64_t>(kLine / element, 1), lines = (count + line - 1) / line, each = lines / size, more = lines % size;
  const int64_t begin = each * rank + std::min<int64_t>(rank, more), end = begin + each + (rank < more ? 1 : 0);
  return {std::min(begin * line, count), std::min(end * line, count)};
}

}  // namespace sindri::comm
