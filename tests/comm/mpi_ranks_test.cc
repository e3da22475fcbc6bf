// The cases that each rank of an mpirun job runs. They are disabled, so that only the programs that mpi_test.cc starts run them. The world is opened once per
// process, because MPI can be initialised only once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "sindri/comm/benchmark.h"
#include "src/comm/algorithms.h"
#include "src/comm/session.h"
#include "tests/comm/collectives.h"

namespace sindri::comm::mpi_ranks_test {
namespace {

class DISABLED_MpiRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Options options;
    options.backend = "mpi";
    options.op_timeout = variable("SINDRI_TEST_OP_TIMEOUT", 20);
    options.op_warn = options.op_timeout / 2;
    options.strict_order = std::getenv("SINDRI_TEST_ANY_ORDER") == nullptr;
    init(options);
  }
  static void TearDownTestSuite() { finalize(); }
  static double variable(const char* name, double otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::atof(text) : otherwise;
  }
};

// Small integers over 997, whose sums round.
std::vector<float> floats(int rank, size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<float>(static_cast<int>((i * 2654435761U + static_cast<size_t>(rank) * 40503U) % 2001) - 1000) / 997.0f;
  return v;
}
std::vector<float> sums(int size, size_t n) {
  std::vector<std::vector<float>> rows;
  std::vector<const void*> in;
  for (int r = 0; r < size; ++r) rows.push_back(floats(r, n));
  for (const std::vector<float>& row : rows) in.push_back(row.data());
  std::vector<float> out(n);
  reduce_tree(in, out.data(), static_cast<int64_t>(n), DType::kFloat32, ReduceOp::kSum);
  return out;
}

TEST_F(DISABLED_MpiRanks, Layout) {
  Communicator& w = world();
  EXPECT_STREQ(w.backend(), "mpi");
  EXPECT_EQ(w.rank(), static_cast<int>(variable("OMPI_COMM_WORLD_RANK", -1)));
  EXPECT_EQ(w.size(), static_cast<int>(variable("OMPI_COMM_WORLD_SIZE", -1)));
  EXPECT_EQ(w.host_count(), static_cast<int>(variable("SINDRI_TEST_HOST_COUNT", 1)));
  const std::vector<std::string> texts = w.all_gather_text("rank " + std::to_string(w.rank()));
  for (int r = 0; r < w.size(); ++r) EXPECT_EQ(texts[static_cast<size_t>(r)], "rank " + std::to_string(r));
}

TEST_F(DISABLED_MpiRanks, Collectives) {
  using enum DType;
  check_collectives(world(), {kFloat32}, {0, 1, 7, 1023, 16385});
  check_collectives(world(), {kFloat64, kBFloat16, kFloat16, kInt64}, {0, 7, 1023});
}

// The collectives, with every type and layout.
TEST_F(DISABLED_MpiRanks, WholeMatrix) {
  using enum DType;
  const std::vector<DType> types = {kFloat32, kFloat64, kBFloat16, kFloat16, kInt64};
  check_collectives(world(), types, {0, 1, 7, 1023, 16385});
  check_large(world(), types, 5 << 20);
  check_two_at_once(world());
}

TEST_F(DISABLED_MpiRanks, TwoHundredRandomSequences) {
  for (uint64_t seed = 0; seed < 200; ++seed) check_random_calls(world(), seed, 30);
}

// 5 MB: several rounds of the staging buffers and, between hosts, several chunks in flight.
TEST_F(DISABLED_MpiRanks, Large) {
  Communicator& w = world();
  const size_t n = 1310727;
  std::vector<float> data = floats(w.rank(), n);
  const std::vector<float> expected = sums(w.size(), n);
  const auto count = static_cast<int64_t>(n);
  w.all_reduce(data.data(), data.data(), count, DType::kFloat32, ReduceOp::kSum);
  EXPECT_TRUE(data == expected);
  std::vector<float> part(n / static_cast<size_t>(w.size()));
  const auto each = static_cast<int64_t>(part.size());
  data = floats(w.rank(), n);
  w.reduce_scatter(data.data(), part.data(), each, DType::kFloat32, ReduceOp::kSum);
  const std::vector<float> whole = sums(w.size(), n);
  EXPECT_EQ(std::memcmp(part.data(), whole.data() + each * w.rank(), part.size() * sizeof(float)), 0);
  std::vector<float> all(part.size() * static_cast<size_t>(w.size()));
  w.all_gather(part.data(), all.data(), each, DType::kFloat32);
  EXPECT_EQ(std::memcmp(all.data(), whole.data(), all.size() * sizeof(float)), 0);
  data = w.rank() == w.size() - 1 ? whole : std::vector<float>(n);
  w.broadcast(data.data(), count, DType::kFloat32, w.size() - 1);
  EXPECT_TRUE(data == whole);
}

// Between hosts, more chunks (5 of 4 MB) than may be in flight at a time, with exact sums; staged and in place.
TEST_F(DISABLED_MpiRanks, ManyChunks) {
  Communicator& w = world();
  const size_t n = 7 * (1 << 20) + 12345;
  const auto count = static_cast<int64_t>(n), size = static_cast<int64_t>(w.size());
  std::vector<float> own(n);
  const std::shared_ptr<void> flat = w.flat_buffer(count * 4);
  for (float* const data : {own.data(), static_cast<float*>(flat.get())}) {
    for (size_t i = 0; i < n; ++i) data[i] = static_cast<float>(i % 1009 + static_cast<size_t>(w.rank()));
    w.all_reduce(data, data, count, DType::kFloat32, ReduceOp::kSum);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += data[i] != static_cast<float>(size * static_cast<int64_t>(i % 1009) + size * (size - 1) / 2);
    EXPECT_EQ(wrong, 0U);
  }
}

// Pieces in flat buffers, at equal offsets (in place) and at different ones (staged): bitwise identical.
TEST_F(DISABLED_MpiRanks, FlatBuffers) {
  Communicator& w = world();
  const size_t n = 700001;  // 2.8 MB
  const std::vector<float> expected = sums(w.size(), n);
  const std::vector<float> mine = floats(w.rank(), n);
  const std::shared_ptr<void> flat = w.flat_buffer(static_cast<int64_t>(4 * n + 4096));
  auto* const base = static_cast<float*>(flat.get());
  ASSERT_EQ(reinterpret_cast<uintptr_t>(base) % 64, 0U);
  for (size_t i = 0; i < n + 1024; ++i) ASSERT_EQ(base[i], 0.0f);
  for (const bool shifted : {false, true}) {
    float* const at = base + (shifted && w.rank() % 2 == 1 ? 64 : 16);
    std::memcpy(at, mine.data(), n * 4);
    const auto cut = static_cast<int64_t>(n / 3);
    const Piece pieces[2] = {{at, at, cut}, {at + cut, at + cut, static_cast<int64_t>(n) - cut}};
    w.all_reduce(pieces, DType::kFloat32, ReduceOp::kSum);
    EXPECT_EQ(std::memcmp(at, expected.data(), n * 4), 0) << "shifted " << shifted;
  }
  // Two pieces with a gap between them that must not change.
  std::memcpy(base, mine.data(), 4000);
  std::memcpy(base + 2000, mine.data() + 1000, 4000);
  base[1500] = static_cast<float>(w.rank());
  const Piece apart[2] = {{base, base, 1000}, {base + 2000, base + 2000, 1000}};
  w.all_reduce(apart, DType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(std::memcmp(base, expected.data(), 4000), 0);
  EXPECT_EQ(std::memcmp(base + 2000, expected.data() + 1000, 4000), 0);
  EXPECT_EQ(base[1500], static_cast<float>(w.rank()));
  // 16-bit floats, which are accumulated in a wide type between hosts.
  auto* const halves = static_cast<uint16_t*>(flat.get());
  std::vector<std::vector<uint16_t>> rows;
  std::vector<const void*> in;
  for (int r = 0; r < w.size(); ++r) {
    rows.emplace_back(9001);
    for (size_t i = 0; i < rows.back().size(); ++i) rows.back()[i] = static_cast<uint16_t>(0x3c00 + (i * 37 + static_cast<size_t>(r) * 101) % 1024);
  }
  for (const std::vector<uint16_t>& row : rows) in.push_back(row.data());
  std::vector<uint16_t> mean(9001);
  reduce_tree(in, DType::kFloat16, mean.data(), DType::kFloat16, 9001, ReduceOp::kMean, 1.0 / w.size());
  std::memcpy(halves, rows[static_cast<size_t>(w.rank())].data(), 18002);
  w.all_reduce(halves, halves, 9001, DType::kFloat16, ReduceOp::kMean);
  EXPECT_EQ(std::memcmp(halves, mean.data(), 18002), 0);
}

// A buffer that everyone has released is reused, zeroed; one that is still held is not.
TEST_F(DISABLED_MpiRanks, FlatBuffersAreTakenAgain) {
  Communicator& w = world();
  std::shared_ptr<void> first = w.flat_buffer(10000), second = w.flat_buffer(10000);
  EXPECT_NE(first.get(), second.get());
  void* const before = first.get();
  std::memset(before, 1, 10000);
  first = nullptr;
  first = w.flat_buffer(10000);
  EXPECT_EQ(static_cast<char*>(first.get())[9999], 0);
  if (w.local_size() > 1) { EXPECT_EQ(first.get(), before); }
  if (w.rank() == 0) second = nullptr;
  const std::shared_ptr<void> third = w.flat_buffer(10000);
  if (w.rank() != 0) { EXPECT_NE(third.get(), second.get()); }
  auto* const data = static_cast<float*>(third.get());
  data[7] = 1;
  w.all_reduce(data, data, 2500, DType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(data[7], static_cast<float>(w.size()));
}

TEST_F(DISABLED_MpiRanks, RandomCalls) {
  for (uint64_t seed = 1; seed <= 3; ++seed) check_random_calls(world(), seed, 60);
}

TEST_F(DISABLED_MpiRanks, GroupsInTurns) {
  Communicator& w = world();
  const std::shared_ptr<Communicator> odd_even = w.split(w.rank() % 2, w.rank()), halves = w.split(w.rank() * 2 / w.size(), -w.rank());
  for (int i = 0; i < 20; ++i) {
    for (Communicator* const c : {odd_even.get(), halves.get(), &w}) {
      std::vector<int64_t> v(static_cast<size_t>(1 + i * 50), c->members()[static_cast<size_t>(c->rank())] + i);
      int64_t expected = 0;
      for (const int m : c->members()) expected += m + i;
      c->all_reduce(v.data(), v.data(), static_cast<int64_t>(v.size()), DType::kInt64, ReduceOp::kSum);
      ASSERT_EQ(v.front(), expected);
      ASSERT_EQ(v.back(), expected);
    }
  }
  const std::shared_ptr<void> flat = halves->flat_buffer(256);
  auto* const data = static_cast<float*>(flat.get());
  data[3] = 1;
  halves->all_reduce(data, data, 64, DType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(data[3], static_cast<float>(halves->size()));
}

TEST_F(DISABLED_MpiRanks, Benchmark) {
  BenchmarkRequest request;
  request.sizes = {64, 4096};
  request.rounds = 3;
  request.compare_library = true;
  request.store = false;
  const BenchmarkReport report = benchmark(world(), request);
  EXPECT_EQ(report.rows.size(), 2 * (benchmark_ops().size() - 1) + 1);
  for (const BenchmarkRow& row : report.rows) {
    EXPECT_GT(row.seconds, 0) << row.op;
    EXPECT_EQ(row.library_seconds > 0, row.op != "send_recv") << row.op;
  }
}

// The cases below end the job. A rank that exits without MPI_Finalize makes the launcher end the others, so it waits until they have reported.

void say(const std::string& error) {
  fprintf(stderr, "rank %d heard %s\n", world().rank(), error.c_str());
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

// The error that f throws, which every rank must get.
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const CommError& e) { return std::to_string(static_cast<int>(e.code())) + " " + e.what(); }
  return "none";
}

// If ranks make different calls, all of them get the error, and again on every later call.
TEST_F(DISABLED_MpiRanks, OtherCall) {
  Communicator& w = world();
  std::vector<float> v(100);
  const std::string error = error_of([&] { w.all_reduce(v.data(), v.data(), w.rank() == 1 ? 50 : 100, DType::kFloat32, ReduceOp::kSum, {"gradients"}); });
  EXPECT_EQ(error.substr(0, 4), "7003") << error;
  EXPECT_NE(error.find("rank 1 all_reduce (sum) of 50 float32"), std::string::npos) << error;
  EXPECT_NE(error.find("gradients"), std::string::npos) << error;
  EXPECT_EQ(error_of([&] { w.barrier(); }), error);
  say(error);
}

TEST_F(DISABLED_MpiRanks, LateRank) {
  Communicator& w = world();
  w.barrier();
  if (w.rank() == 1) return std::this_thread::sleep_for(std::chrono::seconds(30));  // until the launcher ends it
  const std::string error = error_of([&] { w.barrier({"wait"}); });
  EXPECT_EQ(error.substr(0, 4), "7002") << error;
  EXPECT_NE(error.find("rank 1"), std::string::npos) << error;
  say(error);
}

// One rank dies in the middle; the others get an error, unless the launcher ends them first.
TEST_F(DISABLED_MpiRanks, Killed) {
  Communicator& w = world();
  std::vector<float> v(300000);
  const int victim = static_cast<int>(variable("SINDRI_TEST_VICTIM", 1));
  const std::shared_ptr<void> flat = w.flat_buffer(1 << 20);
  for (int i = 0; i < 2000000; ++i) {
    if (w.rank() == victim && i == 200) {
      fprintf(stderr, "the victim dies\n");
      raise(SIGKILL);
    }
    const std::string error = error_of([&] { w.all_reduce(v.data(), v.data(), 300000, DType::kFloat32, ReduceOp::kMax, {"gradients"}); });
    if (error == "none") continue;
    EXPECT_EQ(error.substr(0, 4), "7001") << error;
    EXPECT_NE(error.find("rank " + std::to_string(victim)), std::string::npos) << error;
    return say(error);
  }
  ADD_FAILURE() << "no error was reported";
}

}  // namespace
}  // namespace sindri::comm::mpi_ranks_test
