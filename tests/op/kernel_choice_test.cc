// Kernels of equal priority: measured once, kept on disk, recorded, restored, fixed in strict mode.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "sindri/op/kernel.h"
#include "sindri/op/kernel_choice.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

namespace fs = std::filesystem;

std::atomic<int> slow_runs{0}, fast_runs{0};

std::vector<TensorMeta> infer_same(const Attrs&, Span<const TensorMeta> in) { return {in[0]}; }
const OpDef& kOp = register_op({.name = "test_choice", .doc = "x -> x", .infer = infer_same});
// By name "a_slow" comes first, by time "b_fast".
const bool kSlow =
    register_kernel({.op = "test_choice", .name = "a_slow", .priority = 5, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) {
                       ++slow_runs;
                       std::this_thread::sleep_for(std::chrono::milliseconds(20));
                     }});
const bool kFast = register_kernel(
    {.op = "test_choice", .name = "b_fast", .priority = 5, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) { ++fast_runs; }});
const bool kLower =
    register_kernel({.op = "test_choice", .name = "c_lower", .priority = 1, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) {}});

const OpDef& kQuickOp = register_op({.name = "test_quick", .doc = "x -> x", .infer = infer_same});
const bool kQuick = [] {
  for (const char* name : {"a", "b"})
    register_kernel({.op = "test_quick", .name = name, .priority = 5, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) {}});
  return true;
}();

// Like a convolution, with 10^8 operations per sample; "b" is the faster.
std::atomic<int64_t> most_samples{0};
const OpDef& kSampleOp = register_op({.name = "test_samples",
                                      .doc = "x -> x",
                                      .traits = {.layout = LayoutRule::kChannelsLastPreferred, .layout_weights = 1u << 1},
                                      .infer = infer_same,
                                      .flops = [](const Attrs&, Span<const TensorMeta> in, Span<const TensorMeta>) { return in[0].shape[0] * 100'000'000; }});
void note_samples(const KernelQuery& q) {
  EXPECT_EQ(q.in[0].shape[0], q.out[0].shape[0]);
  EXPECT_EQ(q.in[1].shape[0], 640);  // a weight
  most_samples = std::max<int64_t>(most_samples, q.in[0].shape[0]);
}
const bool kSamples = [] {
  register_kernel({.op = "test_samples", .name = "a", .priority = 5, .simple = [](const KernelQuery& q, Span<const Buffer>, Span<const Buffer>) {
                     note_samples(q);
                     std::this_thread::sleep_for(std::chrono::milliseconds(3 * q.in[0].shape[0]));
                   }});
  register_kernel({.op = "test_samples", .name = "b", .priority = 5, .simple = [](const KernelQuery& q, Span<const Buffer>, Span<const Buffer>) {
                     note_samples(q);
                     std::this_thread::sleep_for(std::chrono::milliseconds(q.in[0].shape[0]));
                   }});
  // Supports whole batches only.
  register_kernel({.op = "test_samples",
                   .name = "c",
                   .priority = 5,
                   .reject = [](const KernelQuery& q) -> std::string { return q.in[0].shape[0] == 64 ? "" : "another batch"; },
                   .simple = [](const KernelQuery& q, Span<const Buffer>, Span<const Buffer>) { note_samples(q); }});
  return true;
}();

// "a" takes two and a half times as long as "b": not enough to be eliminated at once.
std::atomic<int> behind_runs{0}, ahead_runs{0};
const OpDef& kClearOp = register_op({.name = "test_clear", .doc = "x -> x", .infer = infer_same});
const bool kClear = [] {
  register_kernel({.op = "test_clear", .name = "a", .priority = 5, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) {
                     ++behind_runs;
                     std::this_thread::sleep_for(std::chrono::milliseconds(50));
                   }});
  register_kernel({.op = "test_clear", .name = "b", .priority = 5, .simple = [](const KernelQuery&, Span<const Buffer>, Span<const Buffer>) {
                     ++ahead_runs;
                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                   }});
  return true;
}();

class KernelChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("SINDRI_CACHE_DIR", dir_.c_str(), 1);
    tuning_ = kernel_tuning();
    set_kernel_tuning(true);
    slow_runs = fast_runs = 0;
  }
  void TearDown() override {
    set_kernel_tuning(tuning_);
    set_kernel_choices({});
    unsetenv("SINDRI_CACHE_DIR");
  }
  // Each test uses a different size: choices are kept for the lifetime of the process.
  static std::string choose(int64_t size) {
    const TensorMeta m = Tensor::zeros({size}).meta();
    const Attrs attrs;
    const KernelDef* chosen = nullptr;
    make_kernel({kOp, attrs, {&m, 1}, {&m, 1}}, &chosen);
    return chosen->name;
  }
  static std::string key(int64_t size) {
    for (const auto& [k, name] : kernel_choices())
      if (k.find("[" + std::to_string(size) + "]") != std::string::npos) return k;
    return "";
  }
  const TempFolder temp_;
  const fs::path dir_ = temp_.file("cache");
  bool tuning_ = true;
};

// A kernel that was far slower in its warm-up and in the next turn is eliminated.
TEST_F(KernelChoice, MeasuringEndsWhenItIsClear) {
  const TensorMeta m = Tensor::zeros({3}).meta();
  const Attrs attrs;
  const KernelDef* chosen = nullptr;
  make_kernel({kClearOp, attrs, {&m, 1}, {&m, 1}}, &chosen);
  EXPECT_STREQ(chosen->name, "b");
  EXPECT_LE(behind_runs, 2);
  EXPECT_LE(ahead_runs, 2);
}

// If a call is long and its samples are alike, a few of them suffice.
TEST_F(KernelChoice, FewSamplesDecide) {
  const auto choose_for = [](int64_t samples) {
    const TensorMeta x{{samples, 1, 1, 1}, DType::kFloat32, Layout::kChannelsLast, {}}, w{{640, 1, 1, 1}, DType::kFloat32, Layout::kContiguous, {}};
    const std::array in{x, w};
    const KernelDef* chosen = nullptr;
    most_samples = 0;
    make_kernel({kSampleOp, {}, in, {&x, 1}}, &chosen);
    return std::string(chosen->name);
  };
  EXPECT_EQ(choose_for(200), "b");
  EXPECT_GE(most_samples, 8);
  EXPECT_LE(most_samples, 8 + num_threads());
  EXPECT_EQ(choose_for(5), "b");  // so few samples are all measured
  EXPECT_EQ(most_samples, 5);
  EXPECT_EQ(choose_for(64), "c");  // c does not support fewer samples
  EXPECT_EQ(most_samples, 64);
}

TEST_F(KernelChoice, TheFastestIsMeasuredOnce) {
  EXPECT_EQ(choose(101), "b_fast");
  EXPECT_EQ(kernel_choice_origins().at(key(101)), "measured");
  const int runs = slow_runs;
  EXPECT_GT(runs, 0);
  EXPECT_EQ(choose(101), "b_fast");
  EXPECT_EQ(slow_runs, runs);
  EXPECT_EQ(kernel_choices().at(key(101)), "b_fast");
}

TEST_F(KernelChoice, StrictModeAndTuningOffTakeTheFirstByName) {
  set_strict(true);
  EXPECT_EQ(choose(102), "a_slow");
  set_strict(false);
  set_kernel_tuning(false);
  EXPECT_EQ(choose(102), "a_slow");
  EXPECT_EQ(slow_runs, 0);
  // Recorded all the same: a run resumed with tuning on must give bitwise identical results.
  EXPECT_EQ(kernel_choices().at(key(102)), "a_slow");
  EXPECT_EQ(kernel_choice_origins().at(key(102)), "fixed");
  set_kernel_tuning(true);
  EXPECT_EQ(choose(102), "a_slow");
}

TEST_F(KernelChoice, GivenChoicesComeFirstWithoutTuningToo) {
  EXPECT_EQ(choose(113), "b_fast");
  std::string other = key(113);
  other.replace(other.find("113"), 3, "114");
  set_kernel_choices({{other, "b_fast"}, {"of a net's evaluation", "b_fast"}});
  EXPECT_EQ(kernel_choices().at("of a net's evaluation"), "b_fast") << "kept, though this process has not used it yet";
  set_kernel_tuning(false);
  EXPECT_EQ(choose(114), "b_fast");
}

// Measuring allocates memory for all operands again.
TEST_F(KernelChoice, WithoutMemoryToMeasureTheFirstByNameIsUsed) {
  struct Small final : HostAllocator {
    HostAllocator& all = host_allocator();
    void* allocate(int64_t bytes) override {
      if (bytes > 1 << 20) throw DeviceError(ErrorCode::kMemory, "no memory is left");
      return all.allocate(bytes);
    }
    void release(void* p, int64_t bytes) noexcept override { all.release(p, bytes); }
  } small;
  const TensorMeta m{{int64_t{1} << 20}, DType::kFloat32, Layout::kContiguous, {}};
  const Attrs attrs;
  const KernelDef* chosen = nullptr;
  set_host_allocator(&small);
  make_kernel({kOp, attrs, {&m, 1}, {&m, 1}}, &chosen);
  set_host_allocator(&small.all);
  EXPECT_STREQ(chosen->name, "a_slow");
  EXPECT_FALSE(fs::exists(kernel_cache_file())) << "not kept";
}

TEST_F(KernelChoice, GivenChoicesComeFirst) {
  EXPECT_EQ(choose(103), "b_fast");
  std::string other = key(103);
  other.replace(other.find("103"), 3, "104");
  const int runs = slow_runs;
  set_kernel_choices({{other, "a_slow"}});
  EXPECT_EQ(choose(104), "a_slow");
  EXPECT_EQ(kernel_choice_origins().at(other), "recorded");
  EXPECT_EQ(slow_runs, runs);
  EXPECT_EQ(kernel_choices().at(other), "a_slow");
}

TEST_F(KernelChoice, AGivenKernelThatIsNotThereIsMeasuredInstead) {
  EXPECT_EQ(choose(105), "b_fast");
  std::string other = key(105);
  other.replace(other.find("105"), 3, "106");
  set_kernel_choices({{other, "gone"}});
  EXPECT_EQ(choose(106), "b_fast");
}

TEST_F(KernelChoice, TheCacheFileIsReadAndTheChoiceOfAnotherProcessStands) {
  EXPECT_EQ(choose(107), "b_fast");
  std::ifstream in(kernel_cache_file());
  std::string text((std::istreambuf_iterator<char>(in)), {});
  ASSERT_NE(text.find("b_fast"), std::string::npos);
  text.replace(text.find("[107]"), 5, "[108]");
  const std::string chosen = "\"kernel\": \"b_fast\"";
  text.replace(text.find(chosen), chosen.size(), "\"kernel\": \"a_slow\"");
  std::ofstream(kernel_cache_file()) << text;
  const int runs = slow_runs;
  EXPECT_EQ(choose(108), "a_slow");
  EXPECT_EQ(kernel_choice_origins().at(key(108)), "cache file");
  EXPECT_EQ(slow_runs, runs);
}

TEST_F(KernelChoice, TheCacheFileIsNotChangedWhileAnotherProcessDoesSo) {
  EXPECT_EQ(choose(116), "b_fast");
  std::string other = key(116);
  other.replace(other.find("116"), 3, "117");
  const int lock = open((kernel_cache_file() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  fast_runs = 0;
  std::string chosen;
  std::thread measures([&] { chosen = choose(117); });
  while (fast_runs == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // Time in which it would write without the lock; the test also passes without this wait.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  nlohmann::json cache = nlohmann::json::parse(std::ifstream(kernel_cache_file()));
  EXPECT_FALSE(cache["choices"].contains(other));
  cache["choices"][other] = {{"kernel", "a_slow"}, {"of", {"a_slow", "b_fast"}}};
  std::ofstream(kernel_cache_file()) << cache;
  close(lock);
  measures.join();
  EXPECT_EQ(chosen, "a_slow");
}

// The remembered choices stay bounded however many shapes appear, and the file is not rewritten for each of them.
TEST_F(KernelChoice, ShapesThatDoNotComeAgainAreForgotten) {
  const auto choose_quick = [](int64_t size) {
    const TensorMeta m{{size}, DType::kFloat32, Layout::kContiguous, {}};
    const Attrs attrs;
    const KernelDef* chosen = nullptr;
    make_kernel({kQuickOp, attrs, {&m, 1}, {&m, 1}}, &chosen);
  };
  for (int64_t size = 1; size <= 1500; ++size) {
    choose_quick(size);
    choose_quick(1);
  }
  const KernelChoices choices = kernel_choices();
  EXPECT_GE(choices.size(), 700u);
  EXPECT_LE(choices.size(), 1024u);
  const auto has = [&](const std::string& shape) {
    return std::any_of(choices.begin(), choices.end(), [&](const auto& c) { return c.first.starts_with("test_quick(f32[" + shape + "]"); });
  };
  EXPECT_TRUE(has("1")) << "used again and again";
  EXPECT_TRUE(has("1500"));
  EXPECT_FALSE(has("2"));
  const nlohmann::json cache = nlohmann::json::parse(std::ifstream(kernel_cache_file()));
  EXPECT_LE(cache["choices"].size(), 256u);
  EXPECT_GE(cache["choices"].size(), 100u) << "at least those of a network";
}

TEST_F(KernelChoice, WithoutALockItGoesOn) {
  fs::create_directories(kernel_cache_file() + ".lock");
  EXPECT_EQ(choose(118), "b_fast");
  EXPECT_TRUE(fs::exists(kernel_cache_file()));
}

// A kernel was added after the choice was made.
TEST_F(KernelChoice, AChoiceAmongOtherKernelsIsMeasuredAgain) {
  EXPECT_EQ(choose(111), "b_fast");
  nlohmann::json cache = nlohmann::json::parse(std::ifstream(kernel_cache_file()));
  std::string other = key(111);
  other.replace(other.find("111"), 3, "112");
  cache["choices"][other] = {{"kernel", "a_slow"}, {"of", {"a_slow", "gone"}}};
  std::ofstream(kernel_cache_file()) << cache;
  EXPECT_EQ(choose(112), "b_fast");
  cache = nlohmann::json::parse(std::ifstream(kernel_cache_file()));
  EXPECT_EQ(cache["choices"][other]["of"], nlohmann::json({"a_slow", "b_fast"}));
}

TEST_F(KernelChoice, ABrokenCacheFileIsMadeAnew) {
  fs::create_directories(dir_);
  std::ofstream(kernel_cache_file()) << "{\"version\": ";
  EXPECT_EQ(choose(109), "b_fast");
  std::ifstream in(kernel_cache_file());
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("[109]"), std::string::npos);
}

TEST_F(KernelChoice, AFolderInPlaceOfTheCacheFileIsPassedOver) {
  fs::create_directories(kernel_cache_file());
  EXPECT_EQ(choose(115), "b_fast");
}

TEST_F(KernelChoice, AFolderThatCannotBeWrittenOnlyCostsTime) {
  std::ofstream(temp_.file("file")) << "x";
  setenv("SINDRI_CACHE_DIR", temp_.file("file").c_str(), 1);
  EXPECT_EQ(choose(110), "b_fast");
}

// Two concurrent runs may use different kernels for one shape, and plans made for one must not serve the other.
TEST_F(KernelChoice, EachRuntimeHasChoicesAndPlansOfItsOwn) {
  set_kernel_tuning(false);
  EXPECT_EQ(choose(130), "a_slow");
  const std::string query = key(130);
  const Tensor x = Tensor::zeros({130});
  const auto planned = [&] { return std::string(plan_op(kOp, {}, {&x.meta(), 1}, {})->kernel_def->name); };
  EXPECT_EQ(planned(), "a_slow");
  {
    const RuntimeScope scope((Runtime()));
    EXPECT_TRUE(kernel_choices().empty());
    set_kernel_choices({{query, "b_fast"}});
    EXPECT_EQ(choose(130), "b_fast");
    EXPECT_EQ(planned(), "b_fast");
    EXPECT_EQ(kernel_choice_origins().at(query), "recorded");
    set_kernel_tuning(true);
  }
  EXPECT_FALSE(kernel_tuning());
  EXPECT_EQ(planned(), "a_slow");
  EXPECT_EQ(kernel_choices().at(query), "a_slow");
}

// A choice measured by one runtime is found by another in the cache file, as by another process.
TEST_F(KernelChoice, RuntimesShareWhatWasMeasured) {
  EXPECT_EQ(choose(131), "b_fast");
  const std::string query = key(131);
  const int runs = slow_runs;
  const RuntimeScope scope((Runtime()));
  set_kernel_tuning(true);
  EXPECT_EQ(choose(131), "b_fast");
  EXPECT_EQ(slow_runs, runs);
  EXPECT_EQ(kernel_choice_origins().at(query), "cache file");
}

}  // namespace
}  // namespace sindri
