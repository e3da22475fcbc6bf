// The nccl backend against a stand-in for NCCL: every call's values and plan, errors before a call, and each way in which the library or a rank can fail.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include "sindri/comm/communicator.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "src/comm/algorithms.h"
#include "src/comm/identity.h"
#include "src/comm/nccl.h"
#include "src/comm/nccl_api.h"
#include "src/comm/session.h"
#include "src/comm/socket.h"
#include "src/comm/watch.h"
#include "tests/comm/test_gpu.h"
#include "tests/train/temp_folder.h"

namespace sindri::nccl_test {

using comm::Call;
using comm::Communicator;
using comm::Options;

constexpr int kVersion = 22803;

// Next to the test program.
const std::string& fake_path() {
  static const std::string path = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nccl.so").string();
  return path;
}

// The stand-in's additional functions.
struct Fake {
  Fake() {
    test_gpu::Backend::get();
    void* const library = dlopen(fake_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    reset = reinterpret_cast<decltype(&fake_nccl_reset)>(dlsym(library, "fake_nccl_reset"));
    fault = reinterpret_cast<decltype(&fake_nccl_fault)>(dlsym(library, "fake_nccl_fault"));
    count = reinterpret_cast<decltype(&fake_nccl_count)>(dlsym(library, "fake_nccl_count"));
  }
  decltype(&fake_nccl_reset) reset;
  decltype(&fake_nccl_fault) fault;
  decltype(&fake_nccl_count) count;
};
Fake& fake() {
  static Fake f;
  return f;
}

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SINDRI_NCCL_LIBRARY", fake_path().c_str(), 1);
    fake().reset(kVersion, 0);
    test_gpu::Backend::get().devices = 8;
    test_gpu::Backend::get().handles = true;
    live_ = fake().count("live");
  }
  void TearDown() override {
    EXPECT_EQ(fake().count("live"), live_) << "NCCL communicators that were not destroyed";
    unsetenv("SINDRI_NCCL_LIBRARY");
  }
  long live_ = 0;
};

Device gpu(int index) { return {Device::kCuda, index}; }
Stream& stream_of(int rank) { return device_stream(gpu(rank), Lane::kComm); }

// Runs `f(communicator, call with a stream)` on each rank, with NCCL over a world of threads.
void run(int size, const std::function<void(Communicator&, const Call&)>& f, const Options& options = {}, int local_size = 0) {
  comm::run_ranks(
      size,
      [&](int rank) {
        std::vector<int> all(static_cast<size_t>(size));
        std::iota(all.begin(), all.end(), 0);
        const std::shared_ptr<Communicator> c = comm::make_nccl(comm::world().group(all, "all"), gpu(rank));
        f(*c, {"test", 1, &stream_of(rank)});
        stream_of(rank).synchronize();
        c->check();
      },
      local_size, options);
}

template <class T> std::vector<T> values(int rank, size_t n) {
  std::vector<T> v(n);
  // Small integers: any order of summation gives the same in every type.
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<T>(static_cast<float>((i * 7 + static_cast<size_t>(rank) * 3) % 5 + (i + static_cast<size_t>(rank)) % 2));
  return v;
}

template <class T> void expect_all_reduce(int size, size_t n, ReduceOp op) {
  run(size, [&](Communicator& c, const Call& call) {
    std::vector<std::vector<T>> all;
    std::vector<const void*> in;
    for (int r = 0; r < size; ++r) all.push_back(values<T>(r, n));
    for (const auto& v : all) in.push_back(v.data());
    std::vector<T> expected(n), out(n), same = values<T>(c.rank(), n);
    comm::reduce_tree(in, expected.data(), static_cast<int64_t>(n), dtype_of<T>, op);
    if (op == ReduceOp::kMean) comm::scale(expected.data(), static_cast<int64_t>(n), dtype_of<T>, 1.0 / size);
    c.all_reduce(values<T>(c.rank(), n).data(), out.data(), 0, dtype_of<T>, op, call);  // no elements: no NCCL call
    const std::vector<T> mine = values<T>(c.rank(), n);
    c.all_reduce(mine.data(), out.data(), static_cast<int64_t>(n), dtype_of<T>, op, call);
    c.all_reduce(same.data(), same.data(), static_cast<int64_t>(n), dtype_of<T>, op, call);
    call.stream->synchronize();
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), n * sizeof(T)), 0)
        << reduce_op_name(op) << " of " << dtype_name(dtype_of<T>) << ", " << size << " ranks";
    EXPECT_EQ(std::memcmp(same.data(), expected.data(), n * sizeof(T)), 0) << "in place";
  });
}

TEST_F(Nccl, ReducesEveryType) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd}) {
    expect_all_reduce<float>(4, 1023, op);
    expect_all_reduce<double>(3, 7, op);
    expect_all_reduce<int32_t>(2, 64, op);
    expect_all_reduce<int64_t>(4, 1, op);
    expect_all_reduce<uint8_t>(2, 33, op);
    expect_all_reduce<bfloat16>(4, 129, op);
    expect_all_reduce<float16>(4, 129, op);
  }
  expect_all_reduce<float>(8, 100, ReduceOp::kMean);
  expect_all_reduce<bfloat16>(4, 100, ReduceOp::kMean);
  expect_all_reduce<float16>(2, 100, ReduceOp::kMean);
  expect_all_reduce<float>(1, 5, ReduceOp::kSum);
}

TEST_F(Nccl, EveryCallAndItsPlan) {
  constexpr int kSize = 4;
  fake().reset(kVersion, 3);  // each call is in progress for a while
  run(kSize, [&](Communicator& c, const Call& call) {
    const int r = c.rank();
    EXPECT_STREQ(c.backend(), "nccl");
    const auto f = [](int v) { return static_cast<float>(v); };
    // Several pieces are reduced in one call.
    std::vector<float> a = {f(r), 1}, b = {f(2 * r)};
    const std::array<comm::Piece, 3> pieces = {{{a.data(), a.data(), 2}, {b.data(), b.data(), 1}, {a.data(), a.data(), 0}}};
    c.all_reduce(pieces, DType::kFloat32, ReduceOp::kSum, call);
    std::vector<float> root = {-1, -1}, mine = {f(r), f(r)};
    c.reduce(mine.data(), r == 2 ? root.data() : nullptr, 2, DType::kFloat32, ReduceOp::kMax, 2, call);
    std::vector<int64_t> told = {r == 1 ? 42 : 0, r};
    c.broadcast(told.data(), 2, DType::kInt64, 1, call);
    std::vector<float> gathered(2 * kSize), scattered = {-1}, parts(kSize);
    c.all_gather(mine.data(), gathered.data(), 2, DType::kFloat32, call);
    std::vector<float> uneven(6), own(static_cast<size_t>(r), f(10 + r));
    const std::vector<int64_t> counts = {0, 1, 2, 3};
    c.all_gather_v(own.data(), uneven.data(), counts, DType::kFloat32, call);
    for (int i = 0; i < kSize; ++i) parts[static_cast<size_t>(i)] = f(10 * i + r);
    c.reduce_scatter(parts.data(), scattered.data(), 1, DType::kFloat32, ReduceOp::kSum, call);
    std::vector<float> exchanged(kSize);
    c.all_to_all(parts.data(), exchanged.data(), 1, DType::kFloat32, call);
    std::vector<float> from(1);
    c.send_recv(&mine[0], 1, (r + 1) % kSize, from.data(), 1, (r + kSize - 1) % kSize, DType::kFloat32, call);
    std::vector<float> got = {-1};
    if (r == 0) c.send(&parts[3], 1, DType::kFloat32, 3, call);
    if (r == 3) c.recv(got.data(), 1, DType::kFloat32, 0, call);
    call.stream->synchronize();
    EXPECT_EQ(a, (std::vector<float>{6, 4}));
    EXPECT_EQ(b, (std::vector<float>{12}));
    EXPECT_EQ(root, r == 2 ? (std::vector<float>{3, 3}) : (std::vector<float>{-1, -1}));
    EXPECT_EQ(told, (std::vector<int64_t>{42, 1}));
    EXPECT_EQ(gathered, (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(uneven, (std::vector<float>{11, 12, 12, 13, 13, 13}));
    EXPECT_EQ(scattered[0], f(40 * r + 6));
    EXPECT_EQ(exchanged, (std::vector<float>{f(10 * r), f(10 * r + 1), f(10 * r + 2), f(10 * r + 3)}));
    EXPECT_EQ(from[0], f((r + kSize - 1) % kSize));
    EXPECT_EQ(got[0], r == 3 ? 30.0f : -1.0f);
  });
  EXPECT_EQ(fake().count("AllReduce"), 2 * kSize) << "one for each piece that has elements";
  EXPECT_EQ(fake().count("Reduce"), kSize);
  EXPECT_EQ(fake().count("Broadcast"), kSize + 3 * kSize) << "one, and one for each rank that has a share of uneven parts";
  EXPECT_EQ(fake().count("AllGather"), kSize);
  EXPECT_EQ(fake().count("ReduceScatter"), kSize);
  EXPECT_EQ(fake().count("Send"), kSize * kSize + kSize + 1);
  EXPECT_EQ(fake().count("Recv"), kSize * kSize + kSize + 1);
  EXPECT_EQ(fake().count("GroupEnd"), 8 * kSize + 2);
  EXPECT_EQ(fake().count("GetUniqueId"), 1);
  EXPECT_EQ(fake().count("CommInitRankConfig"), kSize);
  EXPECT_EQ(fake().count("CommDestroy"), kSize) << "an orderly shutdown";
  EXPECT_EQ(fake().count("CommAbort"), 0);
}

TEST_F(Nccl, HostMemoryTakesTheOtherBackend) {
  run(2, [&](Communicator& c, const Call&) {
    std::vector<float> v = {1, 2};
    c.all_reduce(v.data(), v.data(), 2, DType::kFloat32, ReduceOp::kSum);
    EXPECT_EQ(v, (std::vector<float>{2, 4}));
    EXPECT_EQ(c.all_gather_text(fmt::format("r{}", c.rank())), (std::vector<std::string>{"r0", "r1"}));
    c.barrier();
  });
  EXPECT_EQ(fake().count("AllReduce"), 0);
}

TEST_F(Nccl, GroupsHaveCommunicatorsOfTheirOwn) {
  run(4, [&](Communicator& c, const Call& call) {
    const std::shared_ptr<Communicator> half = c.split(c.rank() / 2, 0);
    ASSERT_STREQ(half->backend(), "nccl");
    std::vector<int32_t> v = {c.rank()};
    half->all_reduce(v.data(), v.data(), 1, DType::kInt32, ReduceOp::kSum, call);
    call.stream->synchronize();
    EXPECT_EQ(v[0], c.rank() < 2 ? 1 : 5);
  });
  EXPECT_EQ(fake().count("GetUniqueId"), 3);
}

TEST_F(Nccl, LibrariesAreMadeCurrentOnTheRanksDevice) {
  run(2, [](Communicator& c, const Call&) { EXPECT_EQ(test_gpu::Backend::current(), c.rank()); });
}

// The exception that f throws, and how long it took.
template <class F> std::pair<std::optional<CommError>, double> error_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<CommError> error;
  try {
    f();
  } catch (const CommError& e) { error = e; }
  return {error, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}
std::string text(const std::optional<CommError>& e) { return e.has_value() ? e->what() : "nothing was thrown"; }

void nothing(Communicator&, const Call&) {}
// A reduction that the host waits for, repeatedly.
void reduce_often(Communicator& c, const Call& call) {
  std::vector<float> v(16, 1);
  for (int i = 0; i < 200; ++i) {
    c.all_reduce(v.data(), v.data(), 16, DType::kFloat32, ReduceOp::kMax, call);
    call.stream->synchronize();
    c.check();
  }
}

TEST_F(Nccl, WhatIsRefusedBeforeACall) {
  run(2, [](Communicator& c, const Call& call) {
    bool flags[2] = {true, false};
    EXPECT_THROW(c.all_reduce(flags, flags, 2, DType::kBool, ReduceOp::kSum, call), ValueError);
    c.all_reduce(flags, flags, 2, DType::kBool, ReduceOp::kMin, call);  // every rank's
    float x = 1;
    EXPECT_THROW(c.all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum, {"", 0, &stream_of(7)}), ValueError) << "another device";
    c.barrier();
    test_gpu::Backend::get().handles = false;
    c.barrier();
    EXPECT_THROW(c.all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum, call), DeviceError);
    c.barrier();
    call.stream->synchronize();
    EXPECT_TRUE(flags[0] && !flags[1]);
  });
  EXPECT_EQ(fake().count("AllReduce"), 2);
}

TEST_F(Nccl, OneGpuForTwoRanks) {
  const auto both_on = [](int index, int local_size) {
    return error_of([=] {
      comm::run_ranks(
          2,
          [=](int) {
            comm::make_nccl(comm::world().group(std::array{0, 1}, "all"), gpu(index));
          },
          local_size);
    });
  };
  const auto [error, seconds] = both_on(3, 2);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kLayout);
  EXPECT_NE(text(error).find("ranks 0 and 1 are on one host and both have GPU 3"), std::string::npos) << text(error);
  EXPECT_FALSE(both_on(3, 1).first.has_value()) << "two hosts";
  EXPECT_EQ(fake().count("CommInitRankConfig"), 2);
}

TEST_F(Nccl, MoreRanksThanGpus) {
  test_gpu::Backend::get().devices = 2;
  const auto [error, seconds] = error_of([] { run(3, nothing); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kLayout);
  EXPECT_NE(text(error).find("rank 2 is assigned GPU 2, but sees 2 GPUs"), std::string::npos) << text(error);
  EXPECT_EQ(fake().count("GetUniqueId"), 0);
}

TEST_F(Nccl, Libraries) {
  const auto load = [](const std::string& file) { return error_of([&] { comm::nccl::load(file); }).first; };
  const std::optional<CommError> none = load("/nowhere/libnccl.so.2");
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->code(), ErrorCode::kCommLibrary);
  EXPECT_NE(none->fix().find("libnccl2"), std::string::npos);
  EXPECT_NE(none->fix().find("SINDRI_NCCL_LIBRARY"), std::string::npos);
  const std::optional<CommError> other = load("libm.so.6");
  EXPECT_NE(text(other).find("this is not NCCL: it lacks ncclGetVersion"), std::string::npos) << text(other);
  fake().reset(21003, 0);
  EXPECT_NE(text(load(fake_path())).find("NCCL 2.10.3 is too old, 2.18 is needed"), std::string::npos) << text(load(fake_path()));
  fake().reset(2708, 0);
  EXPECT_NE(text(load(fake_path())).find("NCCL 2.7.8 is too old"), std::string::npos);
  // Found by name in a folder of the CUDA backend's list, before the linker's folders.
  const TempFolder folder;
  std::filesystem::create_symlink(fake_path(), folder.file("libnccl.so.2"));
  unsetenv("SINDRI_NCCL_LIBRARY");
  setenv("SINDRI_CUDA_LIBRARY_PATH", ("/nowhere:" + folder.file("")).c_str(), 1);
  EXPECT_NE(text(load("")).find("NCCL 2.7.8 is too old"), std::string::npos) << text(load(""));
  unsetenv("SINDRI_CUDA_LIBRARY_PATH");
  // A rank without the library: none starts.
  fake().reset(kVersion, 0);
  setenv("SINDRI_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  const auto [error, seconds] = error_of([] { run(2, nothing); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kCommLibrary);
}

TEST_F(Nccl, StrictModePinsAlgorithms) {
  unsetenv("NCCL_ALGO");
  setenv("NCCL_PROTO", "LL", 1);
  comm::nccl::load();
  EXPECT_EQ(std::getenv("NCCL_ALGO"), nullptr);
  set_strict(true);
  comm::nccl::load();
  set_strict(false);
  EXPECT_STREQ(std::getenv("NCCL_ALGO"), "Ring");
  EXPECT_STREQ(std::getenv("NCCL_PROTO"), "LL") << "unchanged";
  unsetenv("NCCL_ALGO");
  unsetenv("NCCL_PROTO");
}

struct Case {
  fake_nccl::Fault fault;
  const char* part;  // part of the message
};

TEST_F(Nccl, MakingACommunicatorFails) {
  for (const Case& c : {Case{fake_nccl::kNoId, "rank 0 could not make an id: unhandled system error"},
                        Case{fake_nccl::kInitRefused, "making a communicator: unhandled system error"},
                        Case{fake_nccl::kInitFails, "making a communicator: unhandled system error (told by the fake)"}}) {
    fake().reset(kVersion, 2);
    fake().fault(c.fault, c.fault == fake_nccl::kNoId ? 0 : 1, 1, comm::nccl::kSystemError);
    const auto [error, seconds] = error_of([] { run(3, nothing); });
    ASSERT_TRUE(error.has_value()) << c.part;
    EXPECT_EQ(error->code(), ErrorCode::kCommLibrary);
    EXPECT_NE(text(error).find(c.part), std::string::npos) << text(error);
    EXPECT_NE(text(error).find("NCCL 2.28.3"), std::string::npos) << text(error);
    EXPECT_LT(seconds, 1);
  }
}

TEST_F(Nccl, MakingACommunicatorNeverEnds) {
  fake().fault(fake_nccl::kInitNeverDone, 1, 1, 0);
  Options options;
  options.init_timeout = 0.3;
  const auto [error, seconds] = error_of([&] { run(3, nothing, options); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kCommTimeout);
  EXPECT_NE(text(error).find("took more than 0.3 s"), std::string::npos) << text(error);
  EXPECT_NE(error->fix().find("NCCL_SOCKET_IFNAME"), std::string::npos);
  EXPECT_LT(seconds, 1);
  EXPECT_EQ(fake().count("CommAbort"), 3);
}

TEST_F(Nccl, AnErrorOfAnotherThreadAbortsAll) {
  fake().fault(fake_nccl::kAsync, 2, 20, comm::nccl::kRemoteError);
  const auto [error, seconds] = error_of([] { run(4, reduce_often); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kCommLibrary);
  EXPECT_NE(text(error).find("remote process exited"), std::string::npos) << text(error);
  EXPECT_NE(text(error).find("rank 2 of 4, cuda:2"), std::string::npos) << text(error);
  EXPECT_LT(seconds, 1.5);
  EXPECT_EQ(fake().count("CommAbort"), 4);
  EXPECT_EQ(fake().count("CommDestroy"), 0);
}

TEST_F(Nccl, ACallIsRefused) {
  fake().fault(fake_nccl::kRefused, 1, 5, comm::nccl::kUnhandledCudaError);
  const auto [error, seconds] = error_of([] { run(2, reduce_often); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kCommLibrary);
  EXPECT_NE(text(error).find("all_reduce: unhandled cuda error"), std::string::npos) << text(error);
  EXPECT_LT(seconds, 1);
}

TEST_F(Nccl, ACallThatDoesNotEnd) {
  fake().fault(fake_nccl::kHang, 1, 5, 0);
  Options options;
  options.op_warn = 0.1;
  options.op_timeout = 0.5;
  testing::internal::CaptureStderr();
  const auto [error, seconds] = error_of([&] { run(2, reduce_often, options); });
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kCommTimeout);
  EXPECT_NE(text(error).find("all_reduce \"test 1\" (64 bytes) is not done after 0."), std::string::npos) << text(error);
  EXPECT_NE(log.find("all_reduce \"test 1\" (64 bytes) has waited"), std::string::npos) << log;
  EXPECT_LT(seconds, 1.5);
}

TEST_F(Nccl, AfterAnErrorNothingGoesOn) {
  fake().fault(fake_nccl::kRefused, 0, 1, comm::nccl::kInternalError);
  comm::run_ranks(1, [](int) {
    const std::shared_ptr<Communicator> c = comm::make_nccl(comm::world().group(std::array{0}, "all"), gpu(0));
    float x = 1;
    const Call call{"", 0, &stream_of(0)};
    for (int i = 0; i < 2; ++i) EXPECT_THROW(c->all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum, call), CommError);
    EXPECT_THROW(c->barrier(), CommError);
    EXPECT_THROW(c->check(), CommError);
  });
  EXPECT_EQ(fake().count("AllReduce"), 1);
}

TEST_F(Nccl, TheWorldOfAProcess) {
  const RuntimeScope scope(Runtime("alone"));
  Options options;
  options.backend = "nccl";
  Communicator& world = comm::init(options);
  EXPECT_STREQ(world.backend(), "nccl");
  EXPECT_EQ(current_device(), gpu(0));
  EXPECT_EQ(&comm::init(options), &world);
  std::vector<float> in = {1, 2}, out(2);
  world.all_reduce(in.data(), out.data(), 2, DType::kFloat32, ReduceOp::kMean, {"", 0, &stream_of(0)});
  stream_of(0).synchronize();
  EXPECT_EQ(out, in);
  EXPECT_EQ(fake().count("AllReduce"), 1);
  comm::finalize();
  EXPECT_EQ(fake().count("CommDestroy"), 1);
}

// A backend that can only access the host's memory, like mpi and gloo.
class HostOnly final : public Communicator {
 public:
  HostOnly() : Communicator(comm::world().session(), "host", {0}, 0) {}
  const char* backend() const override { return "host"; }

 protected:
  void do_all_reduce(std::span<const comm::Piece>, DType, ReduceOp, Stream*) override {}
  void do_reduce(const void*, void*, int64_t, DType, ReduceOp, int, Stream*) override {}
  void do_broadcast(void*, int64_t, int, Stream*) override {}
  void do_all_gather_v(const void*, void*, std::span<const int64_t>, Stream*) override {}
  void do_reduce_scatter(const void*, void*, int64_t, DType, ReduceOp, Stream*) override {}
  void do_all_to_all(const void*, void*, int64_t, Stream*) override {}
  void do_send_recv(const void*, int64_t, int, void*, int64_t, int, Stream*) override {}
  void do_barrier() override {}
  std::shared_ptr<Communicator> do_group(const std::vector<int>&, const std::string&) override { return nullptr; }
};

TEST_F(Nccl, OtherBackendsAndStreams) {
  {
    const RuntimeScope scope(Runtime("host only"));
    HostOnly host;
    float x = 1;
    try {
      host.all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum, {"", 0, &stream_of(0)});
      ADD_FAILURE() << "it cannot access a GPU's memory";
    } catch (const DeviceError& e) { EXPECT_NE(std::string(e.what()).find("dist.backend=nccl"), std::string::npos) << e.what(); }
  }
  // Ranks that are threads transfer data through the host.
  comm::run_ranks(2, [](int rank) {
    float x = static_cast<float>(rank + 1);
    comm::world().all_reduce(&x, &x, 1, DType::kFloat32, ReduceOp::kSum, {"", 0, &stream_of(rank)});
    stream_of(rank).synchronize();
    synchronize(gpu(rank));
    EXPECT_EQ(x, 3);
  });
  // A world of one rank copies within its memory.
  const RuntimeScope scope(Runtime("alone"));
  std::vector<float> in = {3, 4}, out(2);
  comm::world().all_gather(in.data(), out.data(), 2, DType::kFloat32, {"", 0, &stream_of(0)});
  stream_of(0).synchronize();
  EXPECT_EQ(out, in);
}

// comm::init() itself, for ranks that meet through a scheduler: each has one NCCL communicator over the host's.
TEST_F(Nccl, InitMakesOneForEachRank) {
  comm::Socket free;
  ASSERT_FALSE(comm::listen_at("127.0.0.1", 0, &free));
  const std::string port = std::to_string(comm::local_end(free.get()).second);
  free.reset();
  const std::map<std::string, std::string> variables = {
      {"MS_ROLE", "MS_WORKER"}, {"MS_WORKER_NUM", "2"}, {"MS_SCHED_HOST", "127.0.0.1"}, {"MS_SCHED_PORT", port}, {"SINDRI_JOB_TOKEN", "nccl test"}};
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  comm::Environment scheduler(variables.begin(), variables.end());
  scheduler["MS_ROLE"] = "MS_SCHED";
  std::thread store([&] { comm::run_scheduler(comm::find_identity(scheduler, {}), {}); });
  std::vector<std::thread> ranks;
  for (int r = 0; r < 2; ++r)
    ranks.emplace_back([&] {
      const RuntimeScope scope(Runtime("rank"));
      set_current_device(gpu(0));  // the device kind that needs NCCL
      Communicator& w = comm::init();
      EXPECT_STREQ(w.backend(), "nccl");
      EXPECT_EQ(current_device(), gpu(w.rank()));
      w.barrier();
      EXPECT_EQ(fake().count("live") - live_, 2);
      w.barrier();
      comm::finalize();
    });
  for (std::thread& t : ranks) t.join();
  store.join();
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
}

TEST_F(Nccl, WhoGetsIt) {
  Options options;
  const auto wants = [&](const char* backend, int size) {
    options.backend = backend;
    return comm::needs_nccl(options, size);
  };
  EXPECT_FALSE(wants("auto", 2)) << "the CPU is the current device";
  EXPECT_TRUE(wants("nccl", 1));
  comm::Identity who;
  who.local_rank = 2;
  {
    const RuntimeScope scope(Runtime("ranks"));
    EXPECT_EQ(comm::choose_gpu(who), gpu(2)) << "by local rank";
    EXPECT_EQ(current_device(), gpu(2));
    EXPECT_EQ(context().device_id, 2) << "set_context(device_target=\"GPU\") keeps it";
    EXPECT_TRUE(wants("auto", 2));
    EXPECT_FALSE(wants("auto", 1));
    EXPECT_FALSE(wants("gloo", 2));
    who.local_rank = 5;
    EXPECT_EQ(comm::choose_gpu(who), gpu(2)) << "a device other than the first was chosen explicitly";
  }
  {
    const RuntimeScope scope(Runtime("device id"));
    who.device = 1;
    EXPECT_EQ(comm::choose_gpu(who), gpu(1));
  }
  const RuntimeScope scope(Runtime("none"));
  test_gpu::Backend::get().devices = 0;
  const auto [error, seconds] = error_of([&] { comm::choose_gpu(who); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kLayout);
  EXPECT_NE(text(error).find("there is no driver"), std::string::npos) << text(error);
}

}  // namespace sindri::nccl_test
