// The communication lane of the CPU, and memory that collective ops request: with an op that shows where and when it runs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "src/graph/host_lane.h"
#include "src/op/flat_memory.h"
#include "tests/graph/test_ops.h"

namespace sindri::lane_test {
namespace {

using namespace test;

// Records of the ops below, and their instructions.
struct Board {
  std::atomic<bool> open{true}, running{false}, fails{false}, flat{false};
  std::mutex mutex;
  std::vector<std::thread::id> threads;
  std::vector<uint64_t> runtimes;
  std::vector<float> order;
  std::vector<const void*> operands;
  std::vector<int64_t> flat_taken;
  std::shared_ptr<int> owner = std::make_shared<int>();
  void clear() {
    open = true, running = fails = flat = false;
    threads.clear(), runtimes.clear(), order.clear(), operands.clear(), flat_taken.clear();
  }
};
Board& board() {
  static Board b;
  return b;
}

bool wait_until(const std::atomic<bool>& flag) {
  for (int i = 0; i < 5000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

// out k = in k + 1, once the board is open.
void probe(const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
  Board& b = board();
  b.running = true;
  const bool opened = wait_until(b.open);
  {
    const std::lock_guard lock(b.mutex);
    b.threads.push_back(std::this_thread::get_id());
    b.runtimes.push_back(Runtime::current().id());
    b.order.push_back(in[0].as<float>()[0]);
    for (const Buffer& x : in) b.operands.push_back(x.data);
  }
  b.running = false;
  if (!opened) throw DeviceError("nothing ran concurrently with the probe");
  if (b.fails) throw DeviceError("the probe was set to fail");
  for (size_t k = 0; k < in.size(); ++k)
    for (int64_t i = 0; i < in[k].meta->numel(); ++i) out[k].as<float>()[i] = in[k].as<float>()[i] + 1;
}

const OpDef& kProbe =
    register_op({.name = "lane_probe",
                 .doc = "",
                 .traits = {.may_overwrite = [](const Attrs&, size_t, size_t out, size_t in) { return out == in; }, .lane = Lane::kComm, .host_effect = true},
                 .infer = [](const Attrs&, Span<const TensorMeta> in) { return std::vector<TensorMeta>(in.begin(), in.end()); }});
const bool kProbeKernel = register_kernel({.op = "lane_probe", .name = "reference", .simple = probe});
// Opens the board, or fails while the probe runs.
const OpDef& kOpen = register_op({.name = "lane_open", .doc = "", .traits = {.host_effect = true}, .infer = [](const Attrs&, Span<const TensorMeta> in) {
                                    return std::vector<TensorMeta>{in[0]};
                                  }});
const bool kOpenKernel =
    register_kernel({.op = "lane_open", .name = "reference", .simple = [](const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
                       board().open = true;
                       if (in[0].as<float>()[0] < 0) throw DeviceError("the concurrent op failed");
                       std::memcpy(out[0].data, in[0].data, static_cast<size_t>(in[0].meta->nbytes()));
                     }});
const bool kFlat = register_flat_memory(
    "lane_probe",
    {[](const Attrs&) -> std::string { return board().flat ? "board" : ""; },
     [](const Attrs&, int64_t bytes, std::shared_ptr<FlatMemory>* m) {
       if (*m != nullptr && (*m)->owner.lock() == board().owner) return;
       board().flat_taken.push_back(bytes);
       *m = std::make_shared<FlatMemory>(FlatMemory{std::shared_ptr<void>(std::aligned_alloc(64, static_cast<size_t>(bytes)), std::free), board().owner});
     }});

TensorList probe_all(const TensorList& in) { return sindri::bind(kProbe, {}, Span<const Tensor>(in)); }

class HostLaneTest : public ::testing::Test {
 protected:
  void SetUp() override { board().clear(); }
};

TEST_F(HostLaneTest, RunsBesideWhatFollows) {
  const RuntimeScope scope(Runtime("lane"));
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    const Tensor made = scale(in[0], 2);
    const Tensor y = probe_all({made})[0];
    return {add(bind_one(kOpen, {}, {in[0]}), y)};
  });
  for (int i = 0; i < 3; ++i) {
    board().open = false;  // the probe waits for the following op
    const Tensor x[] = {vec({1, 2})};
    EXPECT_EQ(values(f(x)[0]), (std::vector<double>{4, 7}));
  }
  for (const std::thread::id id : board().threads) {
    EXPECT_NE(id, std::this_thread::get_id());
    EXPECT_EQ(id, board().threads[0]);  // all calls run on one thread
  }
  for (const uint64_t id : board().runtimes) EXPECT_EQ(id, Runtime::current().id());
}

// Work of a lane that overlaps the program costs the program nothing; work that the program must wait for counts.
TEST_F(HostLaneTest, OnlyWaitsAreCounted) {
  HostLane lane;
  const auto sleep = [](int ms) { return [ms] { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }; };
  const uint64_t first = lane.post(sleep(40));
  sleep(120)();
  lane.wait(first);
  EXPECT_LT(lane.seconds_waited(), 0.03);
  lane.wait(lane.post(sleep(60)));
  EXPECT_GE(lane.seconds_waited(), 0.055);
}

TEST_F(HostLaneTest, InTheOrderOfTheProgram) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    TensorList out;
    for (int i = 0; i < 8; ++i) out.push_back(probe_all({scale(in[0], i)})[0]);
    return out;
  });
  const Tensor x[] = {vec({1})};
  const TensorList out = f(x);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(values(out[static_cast<size_t>(i)])[0], i + 1);
  EXPECT_EQ(board().order, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(HostLaneTest, ItsErrorsReachTheCaller) {
  CompiledFn f = compile(
      [](Span<const Tensor> in) -> TensorList {
        return {scale(probe_all({scale(in[0], 2)})[0], 3), probe_all({in[0]})[0]};
      },
      {.name = "faulty"});
  const Tensor x[] = {vec({1})};
  (void)f(x);
  board().fails = true;
  board().order.clear();
  try {
    (void)f(x);
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.message(), "the probe was set to fail");
    EXPECT_NE(e.where().find("lane_probe in compiled function 'faulty'"), std::string::npos) << e.where();
  }
  EXPECT_EQ(board().order.size(), 1u);  // no later op was started
  board().fails = false;
  EXPECT_EQ(values(f(x)[0])[0], 9);
}

// Another op's error is thrown only after the lane has stopped accessing memory.
TEST_F(HostLaneTest, AnErrorBesideItWaitsForIt) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    const Tensor y = probe_all({scale(in[0], 2)})[0];
    return {bind_one(kOpen, {}, {in[0]}), y};
  });
  board().open = false;
  const Tensor x[] = {vec({-1})};
  try {
    (void)f(x);
    FAIL() << "no error";
  } catch (const DeviceError& e) { EXPECT_EQ(e.message(), "the concurrent op failed"); }
  EXPECT_FALSE(board().running);
  EXPECT_EQ(board().order.size(), 1u);
}

TEST_F(HostLaneTest, OperandsLieInTheMemoryAskedFor) {
  board().flat = true;
  const auto make = [] {
    return compile([](Span<const Tensor> in) -> TensorList {
      const TensorList y = probe_all({scale(in[0], 2), scale(in[1], 3)});
      const TensorList z = probe_all({scale(in[1], 5)});
      return {scale(y[0], 1), scale(y[1], 1), scale(z[0], 1)};
    });
  };
  CompiledFn f = make();
  const Tensor x[] = {vec({1, 2}), vec({1, 2, 3})};
  const auto check = [&](CompiledFn& g) {
    board().operands.clear();
    const TensorList out = g(x);
    EXPECT_EQ(values(out[0]), (std::vector<double>{3, 5}));
    EXPECT_EQ(values(out[1]), (std::vector<double>{4, 7, 10}));
    EXPECT_EQ(values(out[2]), (std::vector<double>{6, 11, 16}));
    ASSERT_EQ(board().operands.size(), 3u);
    const auto* const first = static_cast<const char*>(board().operands[0]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    EXPECT_EQ(board().operands[1], first + 64);
    EXPECT_EQ(board().operands[2], first + 128);
  };
  check(f);
  check(f);
  EXPECT_EQ(board().flat_taken, (std::vector<int64_t>{192}));  // requested once
  board().owner = std::make_shared<int>();  // its owner no longer exists
  check(f);
  EXPECT_EQ(board().flat_taken, (std::vector<int64_t>{192, 192}));
}

}  // namespace
}  // namespace sindri::lane_test
