#include "tests/comm/collectives.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>

#include "src/comm/algorithms.h"

namespace sindri::comm {

namespace {

using Memory = std::vector<char>;

// Element i of rank r's input: small values whose sums round, so that another order of summation gives another result.
template <class T> T value_of(uint64_t salt, int rank, int64_t i) {
  uint64_t h = salt * 0x9e3779b97f4a7c15U + static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9U + static_cast<uint64_t>(i) * 0x94d049bb133111ebU;
  h ^= h >> 31;
  h *= 0xff51afd7ed558ccdU;
  h ^= h >> 29;
  const auto n = static_cast<int64_t>(h % 2001) - 1000;
  if constexpr (std::is_same_v<T, bool>) return h % 3 == 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(n);
  else return static_cast<T>(static_cast<float>(n) / 997.0f);
}

// The expected result of all ranks is computed once, by the first rank that needs it.
using Key = std::tuple<uint64_t, int, int64_t, DType, int>;
template <class F> std::shared_ptr<const Memory> once(const Key& key, F make) {
  static std::recursive_mutex mutex;
  static std::map<Key, std::shared_ptr<const Memory>> made;
  const std::lock_guard lock(mutex);
  const auto it = made.find(key);
  if (it != made.end()) return it->second;
  auto memory = std::make_shared<const Memory>(make());
  if (made.size() > 150) made.clear();
  return made[key] = memory;
}

Memory make_values(uint64_t salt, int rank, int64_t count, DType dtype) {
  Memory memory(static_cast<size_t>(count) * dtype_size(dtype));
  dispatch_dtype(dtype, [&]<class T>() {
    for (int64_t i = 0; i < count; ++i) {
      const T v = value_of<T>(salt, rank, i);
      std::memcpy(memory.data() + static_cast<size_t>(i) * sizeof(T), &v, sizeof(T));
    }
  });
  return memory;
}

Memory values(uint64_t salt, int rank, int64_t count, DType dtype) {
  return *once({salt, rank, count, dtype, -1}, [&] { return make_values(salt, rank, count, dtype); });
}

Memory reduced(uint64_t salt, int size, int64_t count, DType dtype, ReduceOp op) {
  return *once({salt, size, count, dtype, static_cast<int>(op)}, [&] {
    std::vector<std::shared_ptr<const Memory>> rows;
    std::vector<const void*> pointers;
    for (int r = 0; r < size; ++r) {
      rows.push_back(once({salt, r, count, dtype, -1}, [&] { return make_values(salt, r, count, dtype); }));
      pointers.push_back(rows.back()->data());
    }
    Memory out(static_cast<size_t>(count) * dtype_size(dtype));
    reduce_tree(pointers, dtype, out.data(), dtype, count, op, op == ReduceOp::kMean ? 1.0 / size : 1.0);
    return out;
  });
}

Memory part(const Memory& all, int index, size_t bytes) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(index) * bytes);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// One case; its description goes into messages.
struct Case {
  Communicator& c;
  uint64_t salt;
  int64_t count;
  DType dtype;
  size_t bytes() const { return static_cast<size_t>(count) * dtype_size(dtype); }
  Memory mine(int64_t n) const { return values(salt, c.rank(), n, dtype); }
  void same(const char* what, const Memory& got, const Memory& expected) const {
    EXPECT_TRUE(got == expected) << what << " of " << count << " " << dtype_name(dtype) << " on rank " << c.rank() << " of " << c.size() << ", backend "
                                 << c.backend();
  }
};

void check_reductions(const Case& k, ReduceOp op) {
  Communicator& c = k.c;
  const Memory expected = reduced(k.salt, c.size(), k.count, k.dtype, op);
  Memory in = k.mine(k.count), out(k.bytes());
  c.all_reduce(in.data(), out.data(), k.count, k.dtype, op, {"out of place"});
  k.same("all_reduce", out, expected);
  k.same("input of all_reduce", in, k.mine(k.count));
  c.all_reduce(in.data(), in.data(), k.count, k.dtype, op, {"in place"});
  k.same("all_reduce in place", in, expected);

  in = k.mine(k.count);
  out.assign(k.bytes(), 0);
  const int64_t cut = k.count / 3, element = static_cast<int64_t>(dtype_size(k.dtype));
  const Piece pieces[3] = {{in.data(), out.data(), cut},
                           {in.data() + cut * element, in.data() + cut * element, 0},
                           {in.data() + cut * element, out.data() + cut * element, k.count - cut}};
  c.all_reduce(pieces, k.dtype, op, {"pieces"});
  k.same("all_reduce of pieces", out, expected);

  const int root = static_cast<int>(k.salt % static_cast<uint64_t>(c.size()));
  Memory kept(k.bytes(), 7);
  out = kept;
  c.reduce(in.data(), out.data(), k.count, k.dtype, op, root);
  k.same("reduce", out, c.rank() == root ? expected : kept);

  const Memory all = reduced(k.salt, c.size(), k.count * c.size(), k.dtype, op);
  in = k.mine(k.count * c.size());
  c.reduce_scatter(in.data(), out.data(), k.count, k.dtype, op);
  k.same("reduce_scatter", out, part(all, c.rank(), k.bytes()));
}

void check_movements(const Case& k) {
  Communicator& c = k.c;
  for (const int root : {0, c.size() - 1, c.size() / 2}) {
    Memory data = c.rank() == root ? k.mine(k.count) : Memory(k.bytes());
    c.broadcast(data.data(), k.count, k.dtype, root);
    k.same("broadcast", data, values(k.salt, root, k.count, k.dtype));
  }
  Memory expected, out(k.bytes() * static_cast<size_t>(c.size())), in = k.mine(k.count);
  for (int r = 0; r < c.size(); ++r) {
    const Memory theirs = values(k.salt, r, k.count, k.dtype);
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  c.all_gather(in.data(), out.data(), k.count, k.dtype);
  k.same("all_gather", out, expected);
  out.assign(out.size(), 0);
  std::copy(in.begin(), in.end(), out.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(c.rank()) * k.bytes()));
  c.all_gather(out.data() + static_cast<size_t>(c.rank()) * k.bytes(), out.data(), k.count, k.dtype);
  k.same("all_gather in place", out, expected);

  std::vector<int64_t> counts;  // rank r gets count / (r+1) elements, every fourth none
  expected.clear();
  for (int r = 0; r < c.size(); ++r) {
    counts.push_back(r % 4 == 3 ? 0 : k.count / (r + 1));
    const Memory theirs = values(k.salt, r, counts.back(), k.dtype);
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  out.assign(expected.size(), 0);
  in = k.mine(counts[static_cast<size_t>(c.rank())]);
  c.all_gather_v(in.data(), out.data(), counts, k.dtype);
  k.same("all_gather_v", out, expected);

  in = k.mine(k.count * c.size());
  out.assign(in.size(), 0);
  expected.clear();
  for (int r = 0; r < c.size(); ++r) {
    const Memory theirs = part(values(k.salt, r, k.count * c.size(), k.dtype), c.rank(), k.bytes());
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  c.all_to_all(in.data(), out.data(), k.count, k.dtype);
  k.same("all_to_all", out, expected);
  c.all_to_all(in.data(), in.data(), k.count, k.dtype);
  k.same("all_to_all in place", in, expected);
}

void check_messages(const Case& k) {
  Communicator& c = k.c;
  const int next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
  const Memory mine = k.mine(k.count);
  Memory got(k.bytes());
  c.send_recv(mine.data(), k.count, next, got.data(), k.count, previous, k.dtype);
  k.same("send_recv", got, values(k.salt, previous, k.count, k.dtype));
  if (c.size() == 1) return;
  if (c.rank() == 0) c.send(mine.data(), k.count, k.dtype, c.size() - 1);
  if (c.rank() == c.size() - 1) {
    got.assign(got.size(), 0);
    c.recv(got.data(), k.count, k.dtype, 0);
    k.same("recv", got, values(k.salt, 0, k.count, k.dtype));
  }
}

}  // namespace

std::vector<int> hosts_of(int size, int local_size) {
  std::vector<int> hosts;
  for (int r = 0; r < size; ++r) hosts.push_back(r / local_size);
  return hosts;
}

void check_large(Communicator& c, const std::vector<DType>& dtypes, int64_t bytes) {
  uint64_t salt = 1000;
  for (const DType dtype : dtypes) {
    const int64_t count = bytes / static_cast<int64_t>(dtype_size(dtype)), part_count = count / c.size();
    const Case k{c, ++salt, count, dtype}, small{c, salt, part_count, dtype};
    const Memory expected = reduced(salt, c.size(), count, dtype, ReduceOp::kSum);
    Memory in = k.mine(count), out(k.bytes());
    c.all_reduce(in.data(), out.data(), count, dtype, ReduceOp::kSum);
    k.same("all_reduce", out, expected);
    const int root = c.size() - 1;
    c.reduce(in.data(), out.data(), count, dtype, ReduceOp::kSum, root);
    if (c.rank() == root) k.same("reduce", out, expected);
    out.resize(small.bytes());
    c.reduce_scatter(in.data(), out.data(), part_count, dtype, ReduceOp::kSum);
    small.same("reduce_scatter", out, part(expected, c.rank(), small.bytes()));
    c.broadcast(in.data(), count, dtype, root);
    k.same("broadcast", in, values(salt, root, count, dtype));
    const Memory mine = small.mine(part_count);
    Memory all(small.bytes() * static_cast<size_t>(c.size()));
    c.all_gather(mine.data(), all.data(), part_count, dtype);
    for (int r = 0; r < c.size(); ++r) small.same("all_gather", part(all, r, small.bytes()), values(salt, r, part_count, dtype));
    in = k.mine(count);
    c.all_to_all(in.data(), all.data(), part_count, dtype);
    for (int r = 0; r < c.size(); ++r) small.same("all_to_all", part(all, r, small.bytes()), part(values(salt, r, count, dtype), c.rank(), small.bytes()));
    const int next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
    out.resize(k.bytes());
    c.send_recv(in.data(), count, next, out.data(), count, previous, dtype);
    k.same("send_recv", out, values(salt, previous, count, dtype));
  }
}

void check_two_at_once(Communicator& world) {
  std::vector<int> forwards(static_cast<size_t>(world.size()));
  std::iota(forwards.begin(), forwards.end(), 0);
  const std::vector<int> backwards(forwards.rbegin(), forwards.rend());
  const std::shared_ptr<Communicator> a = world.group(forwards, "a"), b = world.group(backwards, "b"), again = world.group(forwards, "a");
  for (uint64_t i = 0; i < 20; ++i) {
    for (const auto& c : {a, b, again}) {
      const Case k{*c, i, 100 + static_cast<int64_t>(i) * 37, DType::kFloat32};
      Memory in = k.mine(k.count), out(k.bytes());
      // A rank that finishes one call continues with the next, while others are still in the first.
      c->all_reduce(in.data(), out.data(), k.count, k.dtype, ReduceOp::kSum);
      k.same("all_reduce", out, reduced(i, c->size(), k.count, k.dtype, ReduceOp::kSum));
      c->broadcast(in.data(), k.count, k.dtype, static_cast<int>(i) % c->size());
      k.same("broadcast", in, values(i, static_cast<int>(i) % c->size(), k.count, k.dtype));
    }
  }
}

// A message to the rank itself has both its sides in one call; otherwise only that rank fails, and all continue.
void check_messages_to_itself(Communicator& c) {
  const float in[2] = {1, 2};
  float out[2] = {};
  EXPECT_THROW(c.send(in, 1, DType::kFloat32, c.rank()), CommError);
  EXPECT_THROW(c.recv(out, 1, DType::kFloat32, c.rank()), CommError);
  EXPECT_THROW(c.send_recv(in, 2, c.rank(), out, 1, c.rank(), DType::kFloat32), CommError);
  if (c.size() > 1) { EXPECT_THROW(c.send_recv(in, 2, c.rank(), out, 2, (c.rank() + 1) % c.size(), DType::kFloat32), CommError); }
  c.send_recv(in, 2, c.rank(), out, 2, c.rank(), DType::kFloat32);
  EXPECT_EQ(out[1], 2);
}

void check_collectives(Communicator& c, const std::vector<DType>& dtypes, const std::vector<int64_t>& counts) {
  check_messages_to_itself(c);
  uint64_t salt = 1;
  for (const DType dtype : dtypes) {
    for (const int64_t count : counts) {
      const Case k{c, ++salt, count, dtype};
      // Every reduction for small sizes. Large sizes only differ in how they are split, so the sum suffices.
      if (count > 20000) {
        check_reductions(k, ReduceOp::kSum);
      } else {
        for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd})
          if (op != ReduceOp::kMean || is_floating(dtype)) check_reductions({c, ++salt, count, dtype}, op);
      }
      check_movements(k);
      check_messages(k);
      c.barrier();
    }
  }
}

void check_random_calls(Communicator& world, uint64_t seed, int calls) {
  std::mt19937_64 shared(seed), own(seed * 31 + static_cast<uint64_t>(world.rank()));
  // Groups: two halves at a random cut, and a random subset; the world as well.
  std::vector<std::shared_ptr<Communicator>> groups;
  for (int g = 0; g < 3; ++g) {
    std::vector<int> ranks;
    for (int r = 0; r < world.size(); ++r)
      if (shared() % 3 != 0) ranks.push_back(r);
    if (ranks.empty()) ranks.push_back(0);
    if (g == 2) std::reverse(ranks.begin(), ranks.end());
    const bool member = std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end();
    groups.push_back(member ? world.group(ranks, "drawn " + std::to_string(g)) : nullptr);
  }
  for (int i = 0; i < calls; ++i) {
    const uint64_t which = shared() % 4, kind = shared() % 8, salt = shared();
    const auto count = static_cast<int64_t>(shared() % 3 == 0 ? shared() % 40000 : shared() % 700);
    const DType dtype = std::vector<DType>{DType::kFloat32, DType::kFloat16, DType::kInt64, DType::kFloat64}[shared() % 4];
    const auto op = std::vector<ReduceOp>{ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}[shared() % 3];
    Communicator* const c = which == 3 ? &world : groups[which].get();
    if (own() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 300));
    if (c == nullptr) continue;
    const Case k{*c, salt, count, dtype};
    const int root = static_cast<int>(salt % static_cast<uint64_t>(c->size()));
    Memory in = k.mine(count), out(k.bytes());
    switch (kind) {
      case 0:
      case 1: {
        c->all_reduce(in.data(), out.data(), count, dtype, op);
        k.same("all_reduce", out, reduced(salt, c->size(), count, dtype, op));
        break;
      }
      case 2: {
        c->reduce(in.data(), out.data(), count, dtype, op, root);
        if (c->rank() == root) k.same("reduce", out, reduced(salt, c->size(), count, dtype, op));
        break;
      }
      case 3: {
        c->broadcast(in.data(), count, dtype, root);
        k.same("broadcast", in, values(salt, root, count, dtype));
        break;
      }
      case 4: {
        Memory all(k.bytes() * static_cast<size_t>(c->size()));
        c->all_gather(in.data(), all.data(), count, dtype);
        for (int r = 0; r < c->size(); ++r) k.same("all_gather", part(all, r, k.bytes()), values(salt, r, count, dtype));
        break;
      }
      case 5: {
        in = k.mine(count * c->size());
        c->reduce_scatter(in.data(), out.data(), count, dtype, op);
        k.same("reduce_scatter", out, part(reduced(salt, c->size(), count * c->size(), dtype, op), c->rank(), k.bytes()));
        break;
      }
      case 6: {
        const int shift = 1 + static_cast<int>(salt % 5), size = c->size();
        c->send_recv(in.data(), count, (c->rank() + shift) % size, out.data(), count, (c->rank() + shift * (size - 1)) % size, dtype);
        k.same("send_recv", out, values(salt, (c->rank() + shift * (size - 1)) % size, count, dtype));
        break;
      }
      default: c->barrier();
    }
  }
}

}  // namespace sindri::comm
