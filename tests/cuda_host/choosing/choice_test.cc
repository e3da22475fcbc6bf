// Choosing among engines of cuDNN and algorithms of cuBLASLt, with the stand-ins: those that they prefer are the slowest (set_library_delay). Measurements are
// kept in plans.json, together with the other choices of kernels.
#include "src/device/cuda/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda_host/runtime.h"
#include "sindri/core/context.h"
#include "sindri/core/runtime.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "src/device/cuda/backend.h"
#include "src/device/cuda/cublaslt.h"
#include "src/device/cuda/cudnn_kernel.h"
#include "src/device/cuda/plan_cache.h"
#include "src/device/cuda/trial.h"

namespace sindri::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Device kDevice{Device::kCuda, 0};
// Engines of the stand-in that are allowed by default: heuristics name 0 and 1, 4 is compiled at run time, 5 is in no list.
constexpr const char *kFirst = "engine 0", *kSecond = "engine 1 knobs 2=1", *kLast = "engine 5";

CudnnGraph conv_graph(int64_t batch) {
  CudnnGraph g;
  const TensorId x = g.channels_last(CUDNN_DATA_HALF, {batch, 8, 2, 2}, Role::kInput), w = g.channels_last(CUDNN_DATA_HALF, {8, 8, 1, 1}, Role::kInput);
  g.conv(x, w, g.channels_last(CUDNN_DATA_HALF, {batch, 8, 2, 2}, Role::kOutput), {});
  return g;
}

class Choosing : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda_host::use_backend();
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    setenv("SINDRI_CACHE_DIR", dir_.c_str(), 1);
    set_tuning(Tuning::kQuick);
    cuda_host::set_library_delay(100);
  }
  void TearDown() override {
    cuda_host::set_library_delay(0);
    set_kernel_choices({});
    unsetenv("SINDRI_CACHE_DIR");
    fs::remove_all(dir_);
  }
  // The engine for a graph of this batch, and the origin of the choice. Runtimes remember choices, so each test uses different sizes.
  static std::string engine(int64_t batch) {
    std::string why;
    const auto plan = cudnn_plan(conv_graph(batch), 0, &why);
    return plan != nullptr ? plan->engine().choice() : "none: " + why;
  }
  static std::string origin(const std::string& part) {
    for (const auto& [key, from] : kernel_choice_origins())
      if (key.find(part) != key.npos) return from;
    return "";
  }
  static std::string part_of(int64_t batch) { return "f16:" + std::to_string(batch) + "x8x2x2"; }
  std::string file() const { return dir_ + "/plans.json"; }
  nlohmann::json entries() const {
    std::ifstream f(file());
    const nlohmann::json j = nlohmann::json::parse(f, nullptr, false);
    return j.is_discarded() || j["owners"].empty() ? nlohmann::json::object() : j["owners"].begin().value();
  }
  // Like another process: nothing is remembered.
  template <class F> static auto in_new_runtime(F&& f) {
    const RuntimeScope scope(Runtime("another"));
    return f();
  }
  const std::string dir_ = (fs::temp_directory_path() / ("sindri-choosing-" + std::to_string(::getpid()))).string();
};

TEST_F(Choosing, TheFastestOfTheFirstFewIsTakenAndKept) {
  EXPECT_EQ(engine(11), kSecond);
  EXPECT_EQ(origin(part_of(11)), "measured");
  std::ifstream f(file());
  const nlohmann::json j = nlohmann::json::parse(f);
  ASSERT_EQ(j["owners"].size(), 1U);
  EXPECT_THAT(j["owners"].begin().key(), AllOf(StartsWith("cuDNN 9."), HasSubstr(", host run 0, 132 SMs")));
  ASSERT_EQ(entries().size(), 1U);
  const nlohmann::json entry = entries().begin().value();
  EXPECT_EQ(entry["choice"], kSecond);
  EXPECT_EQ(entry["full"], false);
  EXPECT_GT(entry["us"], 25 * 100) << "it takes 25 delays";
  // In another runtime the file suffices.
  in_new_runtime([&] {
    EXPECT_EQ(engine(11), kSecond);
    EXPECT_EQ(origin(part_of(11)), "cache file");
  });
}

TEST_F(Choosing, FullTriesAllAndReplacesAnEarlierChoice) {
  EXPECT_EQ(engine(12), kSecond);
  in_new_runtime([&] {
    set_tuning(Tuning::kFull);
    EXPECT_EQ(engine(12), kLast);
    EXPECT_EQ(origin(part_of(12)), "measured");
  });
  EXPECT_EQ(entries().begin().value()["full"], true);
  in_new_runtime([&] {
    set_tuning(Tuning::kFull);
    EXPECT_EQ(engine(12), kLast);
    EXPECT_EQ(origin(part_of(12)), "cache file") << "measured once is enough";
  });
}

TEST(ClearlyFastest, ReplacesOnlyByThreePercent) {
  const std::vector<double> close = {100, 97.5, 98}, clear = {100, 98, 96.5}, failed = {kFailed, 50, kFailed};
  EXPECT_EQ(clearly_fastest(close, 0), 0U);
  EXPECT_EQ(clearly_fastest(close, 2), 2U);
  EXPECT_EQ(clearly_fastest(clear, 0), 2U);
  EXPECT_EQ(clearly_fastest(clear, 1), 1U) << "98 is within 3 % of 96.5";
  EXPECT_EQ(clearly_fastest(failed, 0), 1U);
}

TEST_F(Choosing, NothingIsMeasuredWhereTuningIsOff) {
  set_tuning(Tuning::kOff);
  EXPECT_EQ(engine(13), kFirst);
  EXPECT_EQ(origin(part_of(13)), "fixed");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Choosing, StrictModeKeepsToTheFirst) {
  EXPECT_EQ(engine(14), kSecond);
  set_strict(true);
  EXPECT_EQ(engine(14), kFirst);
  set_strict(false);
  EXPECT_EQ(engine(14), kSecond);
}

TEST_F(Choosing, ARecordedChoiceComesFirst) {
  EXPECT_EQ(engine(15), kSecond);
  std::string key;
  for (const auto& [query, choice] : kernel_choices())
    if (query.find(part_of(15)) != query.npos) key = query;
  in_new_runtime([&] {
    set_kernel_choices({{key, kLast}});
    EXPECT_EQ(engine(15), kLast);
    EXPECT_EQ(origin(part_of(15)), "recorded");
  });
  // A choice that does not exist or is not allowed (number 2 is not deterministic) is reported and ignored.
  for (const char* unusable : {"engine 99", "engine 2", "nonsense", "engine 1 knobs 2=7"})
    in_new_runtime([&] {
      set_kernel_choices({{key, unusable}});
      testing::internal::CaptureStderr();
      EXPECT_EQ(engine(15), kSecond);
      EXPECT_THAT(testing::internal::GetCapturedStderr(), AllOf(HasSubstr(unusable), HasSubstr("results may not be bitwise identical to the recorded run")));
    });
}

TEST_F(Choosing, NothingIsMeasuredDuringACapture) {
  Stream& stream = current_stream(kDevice);
  stream.begin_recording();
  EXPECT_EQ(engine(16), kFirst);
  (void)stream.end_recording();
  EXPECT_EQ(origin(part_of(16)), "fixed");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Choosing, WithoutMemoryTheFirstIsTaken) {
  set_device_memory_limit(kDevice, 1000);
  EXPECT_EQ(engine(17), kFirst);
  set_device_memory_limit(kDevice, 0);
  EXPECT_EQ(origin(part_of(17)), "fixed");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Choosing, ADamagedFileIsSaidOnceAndPutAside) {
  std::ofstream(file()) << "{\"form\": 1, \"owners\": {\"cuDNN";
  testing::internal::CaptureStderr();
  EXPECT_EQ(engine(18), kSecond);
  EXPECT_EQ(engine(19), kSecond);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("plans.json cannot be read"));
  EXPECT_EQ(said.find("cannot be read"), said.rfind("cannot be read"));
  EXPECT_TRUE(fs::exists(file() + ".damaged"));
  EXPECT_EQ(entries().size(), 2U);
}

TEST_F(Choosing, AFileThatCannotBeWrittenCostsNothing) {
  fs::remove_all(dir_);
  std::ofstream(dir_) << "a file where the folder should be";
  testing::internal::CaptureStderr();
  EXPECT_EQ(engine(20), kSecond);
  EXPECT_EQ(engine(21), kSecond);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("plans.json cannot be written"));
  EXPECT_EQ(said.find("cannot be written"), said.rfind("cannot be written"));
}

TEST_F(Choosing, AnUnusableEntryIsMeasuredAgain) {
  EXPECT_EQ(engine(22), kSecond);
  const std::string owner = choice_owner(Library::kCudnn, 0);
  keep_choice(owner, conv_graph(22).key(), {.choice = "engine 77", .us = 1});
  in_new_runtime([&] {
    EXPECT_EQ(engine(22), kSecond);
    EXPECT_EQ(origin(part_of(22)), "measured");
  });
}

// Choices of another GPU or of another library version are not used.
TEST_F(Choosing, ForeignEntriesAreNotUsed) {
  keep_choice("cuDNN 9.1.0, another GPU, 7 SMs", conv_graph(23).key(), {.choice = kLast, .us = 1});
  EXPECT_EQ(engine(23), kSecond);
  EXPECT_EQ(origin(part_of(23)), "measured");
}

TEST_F(Choosing, ProcessesDoNotLoseEachOthersChoices) {
  constexpr int kProcesses = 4, kEach = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < kEach; ++i) keep_choice("owner", std::to_string(p * kEach + i), {.choice = "engine 1", .us = 2, .at = i});
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries().size(), static_cast<size_t>(kProcesses * kEach));
}

std::unique_ptr<CublasLtPlan> product(int64_t m) {
  std::string why;
  auto plan = CublasLtPlan::make({.dtype = DType::kFloat16, .m = m, .n = 8, .k = 16}, 0, &why);
  EXPECT_NE(plan, nullptr) << why;
  return plan;
}
std::string algorithm_of(int64_t m) {
  for (const auto& [key, choice] : kernel_choices())
    if (key.find("[" + std::to_string(m) + " 8 16]") != key.npos) return choice;
  return "";
}

// The stand-in's algorithms begin with their number.
TEST_F(Choosing, ProductsKeepTheirAlgorithm) {
  (void)product(31);
  EXPECT_THAT(algorithm_of(31), StartsWith("algorithm 2 "));
  in_new_runtime([&] {
    (void)product(31);
    EXPECT_EQ(origin("[31 8 16]"), "cache file");
    EXPECT_THAT(algorithm_of(31), StartsWith("algorithm 2 "));
  });
  std::string key;
  for (const auto& [query, choice] : kernel_choices())
    if (query.find("[31 8 16]") != query.npos) key = query;
  EXPECT_THAT(key, StartsWith("cuBLASLt 13."));
  // An algorithm of another product is not valid for this one.
  (void)product(32);
  const std::string other = algorithm_of(32);
  in_new_runtime([&] {
    for (const std::string& unusable : {std::string("algorithm 1 2"), other, std::string("engine 1")}) {
      set_kernel_choices({{key, unusable}});
      testing::internal::CaptureStderr();
      (void)product(31);
      EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cannot be used"));
    }
  });
  set_strict(true);
  EXPECT_NE(product(31), nullptr);
  set_strict(false);
}

}  // namespace
}  // namespace sindri::cuda
