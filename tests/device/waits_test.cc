// Training on a device other than the CPU: how often the host waits, which values it reads and when, and that every existing wait and event is needed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <sstream>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/dataset/dataset.h"
#include "sindri/device/device.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/activation.h"
#include "sindri/nn/container.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/metric.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "tests/device/simulator.h"

namespace sindri::test::waits {
namespace {

using sim::kDevice;
using sim::Simulator;
using ::testing::HasSubstr;

// A substitute for a collective: it returns the values of its operand, on the communication lane.
const OpDef& kOnComm = register_op({.name = "test_on_comm",
                                    .doc = "x -> x on the lane of communication",
                                    .traits = {.lane = Lane::kComm},
                                    .infer = [](const Attrs&, Span<const TensorMeta> in) { return std::vector<TensorMeta>{in[0]}; }});
const bool kOnCommCpu = register_kernel({.op = "test_on_comm", .name = "copy", .simple = [](const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
                                           std::memcpy(out[0].data, in[0].data, static_cast<size_t>(in[0].meta->nbytes()));
                                         }});

constexpr int64_t kBatch = 4, kInputs = 8, kClasses = 4;

// `bad`: the batch whose data is not finite, from 0.
dataset::Dataset::Ptr batches(int64_t count, int64_t bad = -1) {
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x", "label"};
  o.size = count * kBatch;
  o.shuffle = false;
  o.row = [bad](int64_t i) {
    std::vector<double> x(kInputs);
    for (size_t j = 0; j < x.size(); ++j) x[j] = std::sin(static_cast<double>(i) * 1.7 + static_cast<double>(j));
    if (i / kBatch == bad) x[3] = std::numeric_limits<double>::quiet_NaN();
    return dataset::GeneratorDataset::Row{Tensor::from_values({kInputs}, x), Tensor::scalar(static_cast<double>(i % kClasses), DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(kBatch, {.drop_remainder = true});
}

// The values that a callback read, step by step.
struct Heard : train::Callback {
  void step_begin(train::TrainState&) override { waits_before = host_waits(); }
  void steps_known(train::TrainState& s, const train::KnownSteps& known) override {
    for (const float loss : known.losses) losses.push_back(loss);
    EXPECT_EQ(known.step, static_cast<int64_t>(losses.size()));
    EXPECT_EQ(s.known_step, known.step);
    EXPECT_GT(known.seconds, 0);
    units.push_back(static_cast<int64_t>(known.losses.size()));
    seconds.push_back(known.seconds);
  }
  void step_end(train::TrainState& s) override {
    waits.push_back(host_waits() - waits_before);
    behind.push_back(s.cur_step_num - s.known_step);
  }
  void epoch_end(train::TrainState& s) override { EXPECT_TRUE(quiet || s.known_step == s.cur_step_num) << "an epoch ends with all its values known"; }
  bool quiet = false;
  std::vector<float> losses;
  std::vector<double> seconds;
  std::vector<int64_t> units, waits, behind;
  int64_t waits_before = 0;
};

struct Training {
  Device device = kDevice;
  Mode mode = Mode::kGraph;
  bool sink = true, on_comm = false;
  bool quiet = false;  // if wrong results are the expected outcome
  int64_t steps = 20, epochs = 1, bad = -1, seed = 3;
  train::NanPolicy nan_policy = train::NanPolicy::kStop;
  std::vector<train::CallbackPtr> callbacks = {};
};

struct Outcome {
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  std::vector<float> weights;
  std::string error;
  bool operator==(const Outcome& o) const {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return error == o.error && same(heard->losses, o.heard->losses) && same(weights, o.weights);
  }
};

Outcome run(const Training& t) {
  const DeviceScope device(t.device);
  set_mode(t.mode);
  set_seed(t.seed);
  ops::reset_rng(t.seed);
  const auto net = nn::SequentialCell::make({nn::Dense::make({.in_channels = kInputs, .out_channels = 16}), nn::ReLU::make(), nn::Dropout::make({.p = 0.25}),
                                             nn::Dense::make({.in_channels = 16, .out_channels = kClasses})});
  const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
  train::ModelOptions options;
  options.nan_policy = t.nan_policy;
  options.metrics["accuracy"] = std::make_shared<nn::Accuracy>();
  options.metrics["loss"] = std::make_shared<nn::Loss>();
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, options);
  if (t.on_comm) {
    model.train_step().reduce_gradients = [](Gradients g) {
      for (Tensor& grad : g.of_params) grad = bind_one(kOnComm, Attrs::of(NoAttrs{}), {grad});
      return g;
    };
  }
  Outcome out;
  out.heard->quiet = t.quiet;
  std::vector<train::CallbackPtr> callbacks = t.callbacks;
  callbacks.push_back(out.heard);
  try {
    model.train(t.epochs, batches(t.steps, t.bad), callbacks, {.dataset_sink_mode = t.sink});
    for (Parameter* p : net->trainable_params())
      for (const float v : p->stored().to_vector<float>()) out.weights.push_back(v);
  } catch (const Error& e) { out.error = e.what(); }
  return out;
}

class DeviceTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    set_kernel_tuning(false);
    simulator.repair();
    simulator.set_delays(7, 100);
  }
  void TearDown() override {
    reset();
    set_mode(mode_);
    set_kernel_tuning(true);
  }
  void reset() {
    synchronize_quietly();
    simulator.repair();
    simulator.set_delays(0, 0);
    for (Lane l : {Lane::kCompute, Lane::kComm, Lane::kCopy}) simulator.set_lane_delay(l, 0);
  }
  static void synchronize_quietly() {
    try {
      synchronize(kDevice);
    } catch (const Error&) {}
  }
  Simulator& simulator = Simulator::get();
  const Mode mode_ = context().mode;
};

TEST_F(DeviceTraining, IsThatOfTheCpuBitForBit) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    for (const bool sink : {true, false}) {
      for (const bool on_comm : {false, true}) {
        const Training there{.mode = mode, .sink = sink, .on_comm = on_comm, .epochs = 2};
        Training here = there;
        here.device = {};
        const Outcome a = run(there), b = run(here);
        EXPECT_TRUE(a == b) << "mode " << static_cast<int>(mode) << ", sink " << sink << ", comm " << on_comm << ": " << a.error << b.error;
        EXPECT_EQ(a.heard->losses.size(), 40u);
        EXPECT_EQ(a.heard->units, b.heard->units);
      }
    }
  }
}

TEST_F(DeviceTraining, AChunkOfTwentyStepsWaitsOnce) {
  simulator.set_lane_delay(Lane::kCompute, 50);  // nothing is ready when the host reads it
  const Outcome o = run({.epochs = 3});
  EXPECT_THAT(o.heard->waits, ::testing::ElementsAre(1, 1, 1));
  EXPECT_THAT(o.heard->units, ::testing::ElementsAre(20, 20, 20));
}

TEST_F(DeviceTraining, StepsThatNobodyAsksAboutAreNotWaitedFor) {
  simulator.set_lane_delay(Lane::kCompute, 300);
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    const Outcome o = run({.mode = mode, .sink = false});
    EXPECT_EQ(o.heard->waits, std::vector<int64_t>(20, 0));
    EXPECT_GT(*std::max_element(o.heard->behind.begin(), o.heard->behind.end()), 5) << "the host ran ahead";
    EXPECT_EQ(o.heard->losses.size(), 20u);
  }
}

// The host does not run ahead of a slow device indefinitely: it waits for the oldest step, and the memory it keeps is bounded.
TEST_F(DeviceTraining, TheHostIsAtMostSixtyFourStepsAhead) {
  simulator.set_lane_delay(Lane::kCompute, 200);
  const Outcome o = run({.sink = false, .steps = 150});
  EXPECT_LE(*std::max_element(o.heard->behind.begin(), o.heard->behind.end()), 64);
  EXPECT_EQ(o.heard->losses.size(), 150u);
}

TEST_F(DeviceTraining, ALossThatIsAskedForIsOfItsStep) {
  struct Asks : train::Callback {
    void step_end(train::TrainState& s) override {
      if (s.cur_step_num % 5 == 0) asked.push_back(s.loss());
    }
    std::vector<double> asked;
  };
  const auto asks = std::make_shared<Asks>();
  simulator.set_lane_delay(Lane::kCompute, 300);
  const Outcome o = run({.sink = false, .callbacks = {asks}});
  ASSERT_EQ(asks->asked.size(), 4u);
  EXPECT_GT(*std::min_element(o.heard->seconds.begin(), o.heard->seconds.end()), 0.001) << "steps that become known together share the time";
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(asks->asked[i], static_cast<double>(o.heard->losses[5 * i + 4]));
}

TEST_F(DeviceTraining, LossMonitorPrintsTheSameLines) {
  const auto lines = [](Device device) {
    std::ostringstream text;
    (void)run({.device = device, .sink = false, .callbacks = {std::make_shared<train::LossMonitor>(5, &text)}});
    return text.str();
  };
  const std::string there = lines(kDevice);
  EXPECT_THAT(there, HasSubstr("epoch: 1 step: 20, loss is "));
  EXPECT_EQ(there, lines({}));
}

// Detected late, but reported exactly; no checkpoint contains an update made after it.
TEST_F(DeviceTraining, AStepThatIsNotFiniteIsNamedAndNothingBehindItIsSaved) {
  simulator.set_lane_delay(Lane::kCompute, 300);
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    for (const bool sink : {true, false}) {
      const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("sindri-nan-{}", getpid());
      const auto saves = std::make_shared<train::ModelCheckpoint>("net", folder.string(), train::CheckpointConfig{.save_checkpoint_steps = 2});
      const Training there{.mode = mode, .sink = sink, .steps = 12, .bad = 6, .callbacks = {saves}};
      const Outcome o = run(there);
      EXPECT_THAT(o.error, HasSubstr("the loss is NaN | epoch 1, step 7 (samples 24 to 27 of the epoch)"));
      EXPECT_LE(o.heard->losses.size(), 6u);
      int64_t files = 0;
      for (const auto& f : std::filesystem::directory_iterator(folder)) {
        if (f.is_symlink()) continue;  // latest
        EXPECT_LE(std::atoi(f.path().filename().c_str() + strlen("net-1_")), 6) << f.path();
        ++files;
      }
      EXPECT_EQ(files, sink && mode == Mode::kGraph ? 0 : 3) << "a sink-mode graph saves after its chunk";
      std::filesystem::remove_all(folder);
    }
  }
}

TEST_F(DeviceTraining, AStepThatIsLeftOutIsLeftOut) {
  for (const bool sink : {true, false}) {
    Training t{.sink = sink, .steps = 12, .bad = 6, .nan_policy = train::NanPolicy::kSkip};
    ::testing::internal::CaptureStderr();
    const Outcome there = run(t);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the loss is NaN at epoch 1, step 7 (samples 24 to 27 of the epoch): the step is skipped"));
    t.device = {};
    ::testing::internal::CaptureStderr();
    const Outcome here = run(t);
    (void)::testing::internal::GetCapturedStderr();
    EXPECT_EQ(there.error + here.error, "");
    EXPECT_EQ(there.weights, here.weights);
    ASSERT_EQ(there.heard->losses.size(), 12u);
    EXPECT_TRUE(std::isnan(there.heard->losses[6]));
  }
}

TEST_F(DeviceTraining, EvaluationWaitsOnceForManyBatches) {
  const auto evaluate = [](Device device, int64_t* waits) {
    const DeviceScope scope(device);
    set_seed(3);
    const auto net = nn::Dense::make({.in_channels = kInputs, .out_channels = kClasses});
    train::ModelOptions options;
    options.metrics["accuracy"] = std::make_shared<nn::Accuracy>();
    options.metrics["loss"] = std::make_shared<nn::Loss>();
    train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), nullptr, options);
    const int64_t before = host_waits();
    const train::MetricValues values = model.eval(batches(50));
    *waits = host_waits() - before;
    return values;
  };
  int64_t there = 0, here = 0;
  EXPECT_EQ(evaluate(kDevice, &there), evaluate({}, &here));
  EXPECT_EQ(there, 1);
  EXPECT_EQ(here, 0);
}

// ----- every wait and every event is needed -----

// Without one of them the results differ, or there is an error: the tests above would notice. On a busy machine the other lanes may be as slow as the delayed
// one, so there are a few attempts.
template <class F> bool is_seen(F&& differs) {
  for (int i = 0; i < 5; ++i) {
    release_cached_device_memory(kDevice);  // a reused block would hold the last call's values
    if (differs()) return true;
  }
  return false;
}

struct Place {
  const char* kind;  // kind of the omitted wait (Simulator::drop_wait)
  int64_t n;
  Lane slow;  // the lane whose work should have been waited for
  Mode mode;
  const char* name;
};
void PrintTo(const Place& p, std::ostream* out) { *out << p.name; }

class LeftOut : public DeviceTraining, public ::testing::WithParamInterface<Place> {};

TEST_P(LeftOut, IsSeenInATraining) {
  const Place& p = GetParam();
  simulator.set_delays(0, 0);
  const Training t{.mode = p.mode, .on_comm = true, .quiet = true};
  Training other = t;
  other.seed = 4;
  const Outcome right = run(t);
  ASSERT_EQ(right.error, "");
  simulator.set_lane_delay(p.slow, 500);
  (void)simulator.take_waits();
  ASSERT_TRUE(run(t) == right) << "with all waits";
  const std::map<std::string, int64_t> waits = simulator.take_waits();
  ASSERT_GE(waits.at(p.kind), p.n);
  EXPECT_TRUE(is_seen([&] {
    (void)run(other);  // memory and pinned blocks hold values of another run
    simulator.drop_wait(p.n, p.kind);
    const Outcome wrong = run(t);
    synchronize_quietly();
    return !(wrong == right);
  }));
}

INSTANTIATE_TEST_SUITE_P(Places, LeftOut,
                         ::testing::Values(Place{"compute for copy", 1, Lane::kCopy, Mode::kGraph, "TheFirstBatch"},
                                           Place{"compute for copy", 2, Lane::kCopy, Mode::kGraph, "ABatchOfTheRecordedStep"},
                                           Place{"compute for copy", 20, Lane::kCopy, Mode::kGraph, "TheLastBatch"},
                                           Place{"compute for copy", 7, Lane::kCopy, Mode::kPynative, "ABatchOpByOp"},
                                           Place{"host for compute", 1, Lane::kCompute, Mode::kGraph, "TheLosses"},
                                           Place{"host for compute", 1, Lane::kCompute, Mode::kPynative, "TheLossesOpByOp"},
                                           Place{"comm for compute", 1, Lane::kCompute, Mode::kGraph, "WhatIsSent"},
                                           Place{"comm for compute", 2, Lane::kCompute, Mode::kGraph, "WhatIsSentInTheRecording"},
                                           Place{"compute for comm", 1, Lane::kComm, Mode::kGraph, "WhatIsReceived"},
                                           Place{"compute for comm", 2, Lane::kComm, Mode::kGraph, "WhatIsReceivedInTheRecording"}),
                         [](const auto& place) { return std::string(place.param.name); });

// An unusual size, so that no block of another test serves it.
Tensor odd_tensor(double value, int64_t n) { return Tensor::full({n}, value); }

TEST_F(DeviceTraining, APinnedBlockServesTheNextCopyWhenItsOwnIsDone) {
  simulator.set_delays(0, 0);
  simulator.set_lane_delay(Lane::kCopy, 20000);
  const auto both = [&](int64_t n) {
    const DeviceScope device(kDevice);
    std::vector<Tensor> there;
    for (const double v : {1.0, 2.0, 3.0}) {
      const DeviceScope host(Device{});
      there.push_back(copy_ahead(std::vector<Tensor>{odd_tensor(v, n)}, kDevice)[0]);
    }
    const std::vector<double> values = read_values(there);
    return std::vector<double>{values[0], values[static_cast<size_t>(n)], values[static_cast<size_t>(2 * n)]};
  };
  const std::vector<double> right = {1, 2, 3};
  EXPECT_EQ(both(30'000), right);
  int64_t n = 35'000;  // a size of which no other test has made blocks
  EXPECT_TRUE(is_seen([&] {
    simulator.drop_wait(1, "asks for copy");
    return both(n *= 2) != right;
  }));
}

TEST_F(DeviceTraining, MemoryThatAnotherLaneReadsGoesToNobodyBefore) {
  simulator.set_delays(0, 0);
  simulator.set_lane_delay(Lane::kCompute, 20000);
  const auto run_both = [&](int64_t n) {
    const auto ahead = [&](double v) { return copy_ahead(std::vector<Tensor>{odd_tensor(v, n)}, kDevice)[0]; };
    Tensor batch = ahead(3);
    const Tensor twice = ops::add(batch, batch);  // runs late
    batch = Tensor();
    const Tensor next = ahead(5);
    device_stream(kDevice, Lane::kCopy).synchronize();
    return twice.to_vector<double>()[0];
  };
  EXPECT_EQ(run_both(3001), 6);
  EXPECT_TRUE(is_seen([&] {
    synchronize_quietly();
    simulator.drop_wait(1, "asks for compute");
    return run_both(3001) != 6;
  }));
}

TEST_F(DeviceTraining, ACopyBetweenDevicesWaitsForItsSource) {
  simulator.set_delays(0, 0);
  simulator.set_lane_delay(Lane::kCompute, 5000);
  const auto there_and_over = [&] {
    const Tensor two = ops::add(Tensor::scalar(1).to(kDevice), Tensor::scalar(1).to(kDevice));
    return two.to(sim::kSecond).item();
  };
  EXPECT_EQ(there_and_over(), 2);
  EXPECT_TRUE(is_seen([&] {
    simulator.drop_wait(1, "compute for compute");
    return there_and_over() != 2;
  }));
}

// A thread that submits work to another stream calls a compiled function: the function waits for the thread's work, and the thread for its results.
TEST_F(DeviceTraining, ACompiledFunctionIsEnteredAndLeftBehindWaits) {
  simulator.set_delays(0, 0);
  simulator.set_lane_delay(Lane::kCopy, 5000);
  CompiledFn twice = compile([](Span<const Tensor> in) -> TensorList { return {ops::add(in[0], in[0])}; });
  Stream& mine = device_stream(kDevice, Lane::kCopy);
  double last = 0;
  const auto wrong = [&] {
    const StreamScope scope(mine);
    const Tensor sum = ops::add(Tensor::scalar(++last).to(kDevice), Tensor::scalar(2).to(kDevice));
    return ops::add(twice({&sum, 1})[0], sum).item() != 3 * (last + 2);
  };
  EXPECT_FALSE(wrong());
  EXPECT_TRUE(is_seen([&] {
    simulator.drop_wait(1, "compute for copy");
    return wrong();
  }));
  simulator.set_lane_delay(Lane::kCopy, 0);
  simulator.set_lane_delay(Lane::kCompute, 5000);
  EXPECT_TRUE(is_seen([&] {
    simulator.drop_wait(1, "copy for compute");
    return wrong();
  }));
}

}  // namespace
}  // namespace sindri::test::waits
