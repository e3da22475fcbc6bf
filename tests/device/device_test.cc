// Tensors, memory and streams on a device other than the CPU: the simulated accelerator.
#include "sindri/device/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/host_memory.h"
#include "sindri/core/runtime.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/op/observer.h"
#include "sindri/op/parameter.h"
#include "sindri/op/timeline.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"
#include "tests/device/simulator.h"

namespace sindri::test {
namespace {

using sim::kDevice;
using sim::kSecond;
using sim::Simulator;
using ::testing::ContainsRegex, ::testing::HasSubstr;

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    simulator.repair();
    simulator.set_delays(7, 200);
  }
  void TearDown() override {
    simulator.repair();
    simulator.set_delays(0, 0);
    for (Lane l : {Lane::kCompute, Lane::kComm, Lane::kCopy}) simulator.set_lane_delay(l, 0);
    set_device_memory_limit(kDevice, 0);
  }
  Simulator& simulator = Simulator::get();
};

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "nothing was thrown";
}

TEST_F(OnDevice, ValuesComeBackAsTheyWent) {
  const Tensor host = Tensor::from_values({2, 3}, {1, -2, 3.5, 4, 5, 6});
  const Tensor there = host.to(kDevice);
  EXPECT_EQ(there.device(), kDevice);
  EXPECT_EQ(there.meta().str(), "f32[2, 3]@sim:0");
  EXPECT_EQ(there.to_vector<double>(), host.to_vector<double>());
  EXPECT_EQ(there.clone().to_vector<double>(), host.to_vector<double>());
  EXPECT_EQ(there.view({6}).to_vector<double>(), host.to_vector<double>());
  EXPECT_EQ(there.to(kSecond).to({}).to_vector<double>(), host.to_vector<double>());
  EXPECT_EQ(there.to(kDevice).id(), there.id()) << "nothing to do";
  EXPECT_EQ(Tensor::zeros({0, 4}).to(kDevice).to({}).shape(), (Shape{0, 4}));
  EXPECT_EQ(there.str(), host.str());
}

TEST_F(OnDevice, LargeTensorsTravelInPieces) {
  std::vector<float> v(12'000'000);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 100003);
  const Tensor there = Tensor::from_vector({static_cast<int64_t>(v.size())}, v).to(kDevice);
  EXPECT_TRUE(there.to(kSecond).to_vector<float>() == v);
}

TEST_F(OnDevice, OpsRunWhereTheirOperandsAre) {
  const Tensor a = Tensor::from_values({2, 2}, {1, 2, 3, 4}).to(kDevice), b = Tensor::from_values({2, 2}, {0, 1, 1, 0}).to(kDevice);
  const Tensor c = ops::matmul(ops::add(a, b), b);
  EXPECT_EQ(c.device(), kDevice);
  EXPECT_EQ(c.to_vector<double>(), (std::vector<double>{3, 1, 4, 4}));
}

TEST_F(OnDevice, OperandsOnTwoDevicesAreNamed) {
  const Tensor a = Tensor::zeros({2}), b = a.to(kDevice), c = a.to(kSecond);
  EXPECT_THAT(message_of([&] { (void)ops::add(a, b); }), HasSubstr("add: input 0 is on cpu, input 1 on sim:0"));
  EXPECT_THAT(message_of([&] { (void)ops::add(b, c); }), HasSubstr("input 0 is on sim:0, input 1 on sim:1"));
}

TEST_F(OnDevice, WhatIsNotThereIsSaid) {
  EXPECT_THAT(message_of([&] { (void)Tensor::zeros({2}).to({Device::kOther, 5}); }), HasSubstr("there is no device sim:5 | found: cpu, sim:0, sim:1"));
  EXPECT_THAT(message_of([&] { (void)Tensor::zeros({2}).to({Device::kCuda, 0}); }), HasSubstr("there is no device cuda:0"));
  EXPECT_THAT(message_of([&] { (void)find_device("GPU"); }), HasSubstr("there is no device GPU 0"));
  EXPECT_THAT(message_of([&] { (void)find_device("GPU"); }), ContainsRegex(".*(the CUDA backend|there is no NVIDIA driver)"));
  EXPECT_EQ(find_device("sim:1"), kSecond);
  EXPECT_EQ(find_device("SIM", 1), kSecond);
  EXPECT_EQ(find_device("CPU", 3), Device{});
}

TEST_F(OnDevice, ATargetIsChosenByItsName) {
  EXPECT_EQ(set_device_target("sim"), kDevice);
  EXPECT_EQ(current_device(), kDevice);
  EXPECT_EQ(set_device_target("SIM", 1), kSecond);
  EXPECT_EQ(current_device(), kSecond);
  EXPECT_EQ(context().device_target, "SIM");
  EXPECT_EQ(context().device_id, 1);
  EXPECT_EQ(Tensor::zeros({2}).device(), kSecond);
  EXPECT_EQ(target_substitution(), "");
  EXPECT_THAT(message_of([] { (void)set_device_target("sim", 2); }), HasSubstr("there is no device sim 2 | found: cpu"));
  EXPECT_THAT(message_of([] { (void)set_device_target("Sim"); }), HasSubstr("CPU, GPU, Ascend, Davinci, SIM, sim, got 'Sim' | did you mean 'SIM'"));
  EXPECT_THAT(message_of([] { (void)set_device_target("CPU", 4096); }), HasSubstr("device_id must be from 0 to 4095"));
  EXPECT_EQ(current_device(), kSecond) << "a failed call changes nothing";
  EXPECT_EQ(set_device_target("CPU", 3), Device{});
  EXPECT_EQ(current_device(), Device{});
}

// One line per process, however often an unavailable target is named.
TEST_F(OnDevice, TheCpuComputesForTargetsOfOtherMachines) {
  ::testing::internal::CaptureStderr();
  for (const char* target : {"GPU", "Ascend", "Davinci", "GPU"}) EXPECT_EQ(set_device_target(target, 7), Device{});
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_THAT(log, ContainsRegex("device_target GPU: .*(the CUDA backend|there is no NVIDIA driver).* \\(found: cpu \\(CPU"));
  EXPECT_THAT(log, HasSubstr("the CPU computes"));
  EXPECT_EQ(context().device_target, "GPU");
  EXPECT_THAT(target_substitution(), ContainsRegex("device_target GPU: .*(the CUDA backend|there is no NVIDIA driver)"));
  (void)set_device_target("Davinci");
  EXPECT_EQ(context().device_target, "Ascend");
  setenv("SINDRI_STRICT_TARGET", "1", 1);
  EXPECT_THAT(message_of([] { (void)set_device_target("GPU"); }), HasSubstr("there is no device GPU 0 | found: cpu"));
  EXPECT_EQ(context().device_target, "Ascend");
  unsetenv("SINDRI_STRICT_TARGET");
  (void)set_device_target("CPU");
  EXPECT_EQ(target_substitution(), "");
}

TEST_F(OnDevice, DevicesAndWhatIsMissingAreListed) {
  const std::vector<DeviceListing> all = devices();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].target, "CPU");
  EXPECT_GT(all[0].info.memory, all[0].info.free);
  EXPECT_GT(all[0].info.free, 0);
  EXPECT_EQ(all[2].device, kSecond);
  EXPECT_EQ(all[1].info.memory, Simulator::kMemory);
  const Tensor t = Tensor::zeros({1 << 20}).to(kDevice);
  EXPECT_LE(devices()[1].info.free, Simulator::kMemory - (4 << 20));
  std::vector<std::string> targets;
  for (const MissingPart& part : missing_parts()) targets.push_back(part.target);
  EXPECT_THAT(targets, ::testing::ElementsAre("GPU", "Ascend"));
}

TEST_F(OnDevice, TheHostMayNotReadItsMemory) {
  const Tensor t = Tensor::zeros({4}).to(kDevice);
  EXPECT_THAT(message_of([&] { (void)t.data<float>(); }), HasSubstr("the memory of f32[4]@sim:0 cannot be read by the host"));
}

using OnDeviceDeathTest = OnDevice;
TEST_F(OnDeviceDeathTest, FollowingADeviceAddressNamesTheOp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Tensor t = ops::relu(Tensor::zeros({4}).to(kDevice));
        volatile float v = *static_cast<const float*>(t.impl()->storage->data());
        (void)v;
      },
      "the host touched memory of a device; the last op this thread ran there: relu");
}

TEST_F(OnDevice, TheCurrentDeviceTakesWhatIsMadeFromValues) {
  const DeviceScope here(kDevice);
  EXPECT_EQ(Tensor::zeros({2}).device(), kDevice);
  EXPECT_EQ(Tensor::scalar(3).device(), kDevice);
  EXPECT_EQ(Tensor::empty(Shape{2}).device(), Device{}) << "memory for the host to fill";
  const Parameter p(Tensor::empty(TensorMeta{{2}, DType::kFloat32, Layout::kContiguous, {}}), "p");
  EXPECT_EQ(p.meta().device, kDevice);
  {
    const DeviceScope other(Device{});
    EXPECT_EQ(Tensor::zeros({2}).device(), Device{});
  }
  EXPECT_EQ(current_device(), kDevice);
}

TEST_F(OnDevice, AParameterStaysWhereItIs) {
  std::unique_ptr<Parameter> p;
  {
    const DeviceScope here(kDevice);
    p = std::make_unique<Parameter>(Tensor::zeros({2}), "p");
  }
  p->assign(Tensor::from_values({2}, {1, 2}));
  EXPECT_EQ(p->stored().device(), kDevice);
  EXPECT_EQ(p->stored().to_vector<double>(), (std::vector<double>{1, 2}));
}

TEST_F(OnDevice, ManyReadsAreOneWait) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 20; ++i) losses.push_back(ops::add(Tensor::scalar(i).to(kDevice), Tensor::scalar(1).to(kDevice)));
  losses.push_back(Tensor::scalar(7));  // on the host
  const int64_t before = host_waits();
  const std::vector<double> v = read_values(losses);
  EXPECT_EQ(host_waits() - before, 1);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(v[i], static_cast<double>(i) + 1);
  EXPECT_EQ(v[20], 7);
}

TEST_F(OnDevice, TheTimelineShowsWaits) {
  struct Waits : WaitObserver {
    std::vector<std::string> names;
    void on_wait(const char* what, int64_t begin, int64_t end) override {
      EXPECT_LE(begin, end);
      names.push_back(what);
    }
  } waits;
  WaitObserver* const previous = set_wait_observer(&waits);
  const Tensor t = Tensor::zeros({2}).to(kDevice);
  (void)t.to_vector<float>();
  (void)t.to({});
  synchronize(kDevice);
  set_wait_observer(previous);
  EXPECT_THAT(waits.names, ::testing::ElementsAre("read", "to(cpu)", "synchronize"));
}

// Spans are named by the waiting call. A host that only computes on the CPU does not wait, and neither does one that submits work to a device and continues.
TEST_F(OnDevice, ATimelineHasASpanForEachWait) {
  struct Waits : WaitObserver {
    int count = 0;
    void on_wait(const char*, int64_t, int64_t) override { ++count; }
  } others;
  WaitObserver* const previous = set_wait_observer(&others);
  Timeline timeline;
  const std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("sindri-waits-{}.json", getpid());
  {
    const ObserveKernels observe(timeline);
    (void)ops::relu(Tensor::from_values({2}, {-1, 2})).to_vector<float>();
    EXPECT_EQ(timeline.events(), 1) << "a kernel of the CPU";
    simulator.set_lane_delay(Lane::kCopy, 0);
    const Tensor t = Tensor::scalar(1).to(kDevice);
    EXPECT_EQ(timeline.events(), 1) << "the host continues";
    simulator.set_lane_delay(Lane::kCompute, 2000);
    (void)t.item();
    simulator.set_lane_delay(Lane::kCompute, 0);
    (void)t.to_vector<float>();
    (void)t.to({});
    (void)read_values({&t, 1}, "loss");
    synchronize(kDevice);
    (void)t.to(kSecond).to(Device{});
  }
  (void)Tensor::scalar(3).to(kDevice).item();  // without an observer
  EXPECT_EQ(others.count, 7) << "an observer set earlier is still notified";
  EXPECT_EQ(set_wait_observer(previous), &others);
  timeline.write(file.string());
  const nlohmann::json events = nlohmann::json::parse(std::ifstream(file))["traceEvents"];
  std::filesystem::remove(file);
  std::vector<std::string> names;
  double longest = 0;
  for (const nlohmann::json& e : events) {
    if (e["cat"] != "wait") continue;
    names.push_back(e["name"]);
    longest = std::max(longest, e["dur"].get<double>());
    EXPECT_EQ(e["ph"], "X");
  }
  EXPECT_THAT(names, ::testing::ElementsAre("wait: item", "wait: read", "wait: to(cpu)", "wait: loss", "wait: synchronize", "wait: to(cpu)"));
  EXPECT_GT(longest, 1500) << "microseconds";
}

TEST_F(OnDevice, AKernelIsTimedByItsWork) {
  simulator.set_delays(1, 0);
  simulator.set_lane_delay(Lane::kCompute, 3000);
  struct Times : KernelObserver {
    double seconds = 0;
    void on_kernel(const KernelEvent& e) override { seconds += std::chrono::duration<double>(e.end - e.begin).count(); }
  } times;
  const Tensor t = Tensor::zeros({2}).to(kDevice);
  {
    const ObserveKernels observe(times);
    (void)ops::relu(t);
  }
  EXPECT_GT(times.seconds, 0.003);
}

// A device's kernels run on a few samples and are timed there, like the CPU's.
TEST_F(OnDevice, AKernelIsChosenByTime) {
  const std::filesystem::path cache = std::filesystem::temp_directory_path() / fmt::format("sindri-kernels-{}", getpid());
  const char* const before = std::getenv("SINDRI_CACHE_DIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("SINDRI_CACHE_DIR", cache.c_str(), 1);
  const Tensor x = Tensor::full({16, 32, 20, 20}, 0.5), w = Tensor::full({48, 32, 3, 3}, 0.25);
  const ops::Conv2dAttrs attrs{.pad = {1, 1, 1, 1}};
  {
    const RuntimeScope scope(Runtime("choosing"));
    set_kernel_tuning(true);
    const Tensor there = ops::conv2d(x.to(kDevice), w.to(kDevice), attrs);
    const std::map<std::string, std::string> origins = kernel_choice_origins();
    EXPECT_TRUE(std::any_of(origins.begin(), origins.end(), [](const auto& o) { return o.first.find("conv2d") == 0 && o.second == "measured"; }))
        << ::testing::PrintToString(origins);
    const std::vector<double> a = there.to_vector<double>(), b = ops::conv2d(x, w, attrs).to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3);
  }
  if (before != nullptr) setenv("SINDRI_CACHE_DIR", kept.c_str(), 1);
  else unsetenv("SINDRI_CACHE_DIR");
  std::filesystem::remove_all(cache);
}

// A kernel that takes long to make and does not support 13 elements.
struct Makers {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int made = 0;
};
Makers& makers() {
  static Makers m;
  return m;
}
class SlowToMake final : public Kernel {
 public:
  SlowToMake() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::lock_guard lock(makers().mutex);
    makers().threads.insert(std::this_thread::get_id());
    ++makers().made;
  }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    ctx.stream->copy(out[0].data, in[0].data, in[0].meta->nbytes(), CopyKind::kWithin);
  }
};
const OpDef& kSlowToMake = register_op(
    {.name = "test_slow_to_make", .doc = "x -> x", .infer = [](const Attrs&, Span<const TensorMeta> in) { return std::vector<TensorMeta>{in[0]}; }});
const bool kSlowToMakeKernel = register_kernel({.op = "test_slow_to_make",
                                                .name = "slow",
                                                .reject = [](const KernelQuery& q) -> std::string { return q.in[0].numel() == 13 ? "13 elements" : ""; },
                                                .make = [](const KernelQuery&) -> std::unique_ptr<Kernel> { return std::make_unique<SlowToMake>(); },
                                                .device = Device::kOther});

TEST_F(OnDevice, PlansOfAGraphAreMadeOnSeveralThreads) {
  const RuntimeScope scope(Runtime("plans"));
  set_num_threads(4);
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    TensorList out;
    for (const Tensor& t : in)
      for (int twice = 0; twice < 2; ++twice) out.push_back(bind_one(kSlowToMake, {}, {t + static_cast<double>(twice)}));
    return out;
  });
  std::vector<Tensor> in;
  for (int64_t n = 1; n <= 6; ++n) in.push_back(Tensor::full({n}, 0.5 * static_cast<double>(n)).to(kDevice));
  const TensorList out = f(in);
  ASSERT_EQ(out.size(), 12U);
  for (int64_t n = 1; n <= 6; ++n)
    EXPECT_EQ(out[static_cast<size_t>(2 * n - 1)].to_vector<double>(), std::vector<double>(static_cast<size_t>(n), 0.5 * static_cast<double>(n) + 1));
  const std::lock_guard lock(makers().mutex);
  EXPECT_EQ(makers().made, 6) << "equal nodes share a plan";
  EXPECT_GT(makers().threads.size(), 1U);
  EXPECT_LE(makers().threads.size(), 3U) << "one less than the cores";
  EXPECT_FALSE(makers().threads.contains(std::this_thread::get_id()));
  // If a call cannot be planned, the error is the same as without threads.
  in.push_back(Tensor::zeros({13}).to(kDevice));
  EXPECT_THAT(message_of([&] { (void)f(in); }), HasSubstr("no kernel can compute it on sim:0"));
}

// The Cells of a compiled function, and the holders of the memory in use.
TEST_F(OnDevice, AnArenaThatDoesNotFitNamesItsLargestCells) {
  const Tensor held = Tensor::zeros({100'000}).to(kDevice);
  CompiledFn f = compile(
      [](Span<const Tensor> in) -> TensorList {
        const NameScope net("Net");
        const auto large = [&] {
          const NameScope cell("large");
          return ops::exp(ops::matmul(in[0], in[0]));
        }();
        const NameScope cell("small");
        return {ops::sum(large)};
      },
      {.name = "forward"});
  const Tensor x = Tensor::full({256, 256}, 0.001).to(kDevice);
  set_device_memory_limit(kDevice, device_memory_stats(kDevice).in_use + 10'000);
  const std::string message = message_of([&] { (void)f(std::vector<Tensor>{x}); });
  EXPECT_THAT(message, ContainsRegex("forward needs 0\\.[0-9] MB for values, most of it at the peak for Net/large 0\\.[0-9] MB"));
  EXPECT_THAT(message, HasSubstr("largest holders: outside of Cells"));
}

// ----- random numbers -----

TEST_F(OnDevice, TheRandomKeyGoesWhereNumbersAreDrawn) {
  const auto draw = [](Device device) {
    const DeviceScope here(device);
    const Tensor t = ops::random_uniform({8});
    EXPECT_EQ(t.device(), device);
    EXPECT_EQ(ops::rng_state().stored().device(), device);
    return t.to_vector<double>();
  };
  ops::reset_rng(5);
  const std::vector<std::vector<double>> moving = {draw({}), draw(kDevice), draw(kSecond), draw({})};
  ops::reset_rng(5);
  for (const std::vector<double>& numbers : moving) EXPECT_EQ(draw({}), numbers);
}

// The random numbers of a compiled part of a step depend on the key, which the host does not wait for.
TEST_F(OnDevice, APartOfAStepBeginsWithoutAWait) {
  const DeviceScope here(kDevice);
  ops::reset_rng(17, 9, 4);
  ops::set_rng_instance((int64_t{1} << 33) + 7);
  (void)ops::rng_state();
  const int64_t before = host_waits();
  std::vector<double> drawn;
  {
    ops::RngPart part;
    EXPECT_EQ(host_waits(), before);
    drawn = ops::rng_state().stored().to_vector<double>();
    part.end(2);
  }
  EXPECT_NE(drawn, (std::vector<double>{17, 9, 4})) << "the key identifies the start of the part";
  EXPECT_EQ(ops::rng_state().stored().to_vector<double>(), (std::vector<double>{17, 9, 4}));
  simulator.lose(0, 1);
  EXPECT_THROW((void)ops::random_uniform({8}).to_vector<float>(), DeviceError);
  simulator.repair();
  const auto lost_meanwhile = [&] {
    const ops::RngPart part;
    simulator.lose(0, 1);
    (void)ops::relu(Tensor::zeros({2}));
  };
  EXPECT_THROW(lost_meanwhile(), DeviceError) << "and the end of the part adds no second error";
  simulator.repair();
  ops::reset_rng(1);
  ops::set_rng_instance(0);
}

// ----- memory -----

TEST_F(OnDevice, AFreedBlockServesTheSameStreamAtOnce) {
  const auto address = [] { return Tensor::zeros({1000}).to(kDevice).impl()->storage->data(); };
  EXPECT_EQ(address(), address());
  const DeviceMemoryStats s = device_memory_stats(kDevice);
  EXPECT_GT(s.cached, 0);
  EXPECT_GE(s.peak, s.in_use);
}

// The copy lane gets a block of the compute lane only after an event.
TEST_F(OnDevice, ABlockInUseElsewhereWaits) {
  Stream& copies = device_stream(kDevice, Lane::kCopy);
  simulator.set_delays(1, 0);
  simulator.set_lane_delay(Lane::kCopy, 30000);
  Tensor t = Tensor::from_values({777}, std::vector<double>(777, 3)).to(kDevice);
  const Tensor twice = [&] {
    copies.wait(current_stream(kDevice).record());
    const StreamScope scope(copies);
    return ops::add(t, t);  // runs late
  }();
  use_on(t, copies);
  const void* const at = t.impl()->storage->data();
  t = Tensor();
  const Tensor next = Tensor::from_values({777}, std::vector<double>(777, 5)).to(kDevice);
  EXPECT_NE(next.impl()->storage->data(), at);
  current_stream(kDevice).wait(copies.record());
  EXPECT_EQ(twice.to_vector<double>(), std::vector<double>(777, 6));
  const Tensor later = Tensor::zeros({777}).to(kDevice);
  EXPECT_EQ(later.impl()->storage->data(), at);
}

TEST_F(OnDevice, ALimitIsKeptAndSaid) {
  release_cached_device_memory(kDevice);
  const int64_t used = device_memory_stats(kDevice).in_use;
  set_device_memory_limit(kDevice, used + (3 << 20));
  const Tensor first = Tensor::empty(TensorMeta{{1 << 18}, DType::kFloat32, Layout::kContiguous, kDevice});
  const std::string what = message_of([] { (void)Tensor::empty(TensorMeta{{1 << 20}, DType::kFloat32, Layout::kContiguous, kDevice}); });
  EXPECT_THAT(what, HasSubstr("cannot allocate 4194304 bytes on sim:0"));
  EXPECT_THAT(what, HasSubstr("limit"));
  EXPECT_THAT(what, HasSubstr("reduce the batch size"));
  try {
    (void)Tensor::empty(TensorMeta{{1 << 20}, DType::kFloat32, Layout::kContiguous, kDevice});
  } catch (const DeviceError& e) { EXPECT_EQ(e.exit_code(), 5); }
  // Blocks cached by other streams are released to the device before a request fails.
  { const Tensor gone = Tensor::empty(TensorMeta{{1 << 18}, DType::kFloat32, Layout::kContiguous, kDevice}); }
  EXPECT_NO_THROW((void)Tensor::empty(TensorMeta{{400'000}, DType::kFloat32, Layout::kContiguous, kDevice}));
  EXPECT_THROW(set_device_memory_limit(kDevice, -1), ValueError);
  EXPECT_THROW(set_device_memory_limit(Device{}, 1), ValueError);
}

TEST_F(OnDevice, PeaksBeginAnew) {
  for (const Device device : {kDevice, Device{}}) {
    const int64_t used = device_memory_stats(device).in_use;
    { const Tensor large = Tensor::empty(TensorMeta{{8 << 20}, DType::kFloat32, Layout::kContiguous, device}); }
    EXPECT_GE(device_memory_stats(device).peak, used + (32 << 20));
    release_cached_device_memory(device);
    reset_device_memory_peaks(device);
    const DeviceMemoryStats s = device_memory_stats(device);
    EXPECT_EQ(s.peak, s.in_use);
    EXPECT_EQ(s.peak_reserved, s.in_use + s.cached);
    EXPECT_LT(s.peak_reserved, used + (32 << 20));
    { const Tensor again = Tensor::empty(TensorMeta{{8 << 20}, DType::kFloat32, Layout::kContiguous, device}); }
    EXPECT_GE(device_memory_stats(device).peak_reserved, used + (32 << 20));
  }
}

// Releasing a block does not affect its neighbours.
TEST_F(OnDevice, SmallBlocksAreApart) {
  std::vector<Tensor> kept, gone;
  for (int i = 0; i < 64; ++i) (i % 3 == 0 ? kept : gone).push_back(Tensor::full({8}, i + 1).to(kDevice));
  gone.clear();
  release_cached_device_memory(kDevice);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].to_vector<double>(), std::vector<double>(8, 3 * static_cast<double>(i) + 1));
}

TEST_F(OnDevice, AFailedAllocationIsTriedAgainOnce) {
  release_cached_device_memory(kDevice);
  simulator.fail_allocation(1);
  EXPECT_NO_THROW((void)Tensor::zeros({4096}).to(kDevice));
  EXPECT_EQ(Tensor::scalar(2).to(kDevice).item(), 2) << "and everything continues";
}

TEST_F(OnDevice, ABlockThatAnotherStreamUsesIsWaitedForWhenNoMemoryIsLeft) {
  const std::vector<Tensor> host = {Tensor::full({4096}, 3)};
  std::vector<Tensor> first = copy_ahead(host, kDevice);
  release_cached_device_memory(kDevice);
  simulator.exhaust(0, 1);
  (void)first[0].to_vector<float>();
  simulator.set_delays(1, 20000, 1);
  const PendingValues busy(std::vector<Tensor>{first[0]});  // on the compute lane, the tensor was made on the copy lane
  first.clear();
  EXPECT_EQ(copy_ahead(host, kDevice)[0].to_vector<double>(), std::vector<double>(4096, 3));
}

// ----- faults -----

TEST_F(OnDevice, WorkThatFailsIsToldWhereTheHostWaits) {
  simulator.fail_copy(1);
  const Tensor t = Tensor::scalar(1).to(kDevice);
  EXPECT_THAT(message_of([&] { (void)t.item(); }), HasSubstr("a copy of 4 bytes failed | sim:0"));
  EXPECT_EQ(Tensor::scalar(2).to(kDevice).item(), 2);
}

// Host memory for copies is scarce: the block of a failed read serves the next one.
TEST_F(OnDevice, AFailedReadKeepsNoPinnedMemory) {
  const Tensor t = Tensor::zeros({1 << 18}).to(kDevice);
  (void)t.to_vector<float>();
  const int64_t before = simulator.pinned_bytes();
  for (int i = 0; i < 20; ++i) {
    synchronize(kDevice);
    simulator.fail_copy(1);
    EXPECT_THROW((void)t.to_vector<float>(), DeviceError);
  }
  EXPECT_EQ(t.to_vector<float>(), std::vector<float>(1 << 18));
  EXPECT_LE(simulator.pinned_bytes(), before + (4 << 20)) << "one more block, in case the last was not free yet";
}

TEST_F(OnDevice, ALostDeviceSaysSoEveryTime) {
  const Tensor t = Tensor::scalar(1).to(kDevice);
  simulator.lose(0, 1);
  EXPECT_THAT(message_of([&] { (void)ops::relu(t).item(); }), HasSubstr("device sim:0 is lost"));
  EXPECT_THAT(message_of([&] { (void)t.item(); }), HasSubstr("device sim:0 is lost"));
  EXPECT_THAT(message_of([&] { (void)Tensor::scalar(1).to(kDevice); }), HasSubstr("device sim:0 is lost"));
  EXPECT_EQ(Tensor::scalar(2).to(kSecond).item(), 2) << "the other device works";
}

TEST_F(OnDevice, AForgottenWaitGivesOtherNumbers) {
  simulator.set_delays(1, 0);
  simulator.set_lane_delay(Lane::kCompute, 20000);
  const Tensor t = ops::add(Tensor::scalar(1).to(kDevice), Tensor::scalar(1).to(kDevice));
  simulator.drop_wait(1);
  EXPECT_NE(t.item(), 2);
  EXPECT_EQ(t.item(), 2);
}

}  // namespace
}  // namespace sindri::test
