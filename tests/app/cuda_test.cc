// The CUDA backend in the program, with the host run (tests/cuda_host) as its plugin: doctor's report of driver and libraries, and training runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sindri/version.h"
#include "tests/app/cuda_host.h"

namespace sindri::app::cuda_tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Cuda, DoctorNamesTheDevices) {
  const Result r = run({"doctor"}, with());
  EXPECT_THAT(r.out, ContainsRegex("device cuda:0: host run 0 \\(compute capability 9.0\\); device_target GPU, device_id 0; memory 2.0 GiB"));
  EXPECT_THAT(r.out, HasSubstr("device cuda:1: host run 1"));
  EXPECT_THAT(r.out, Not(HasSubstr("missing for GPU")));
  EXPECT_THAT(r.out, ContainsRegex("library cuDNN: "));
  EXPECT_THAT(r.out, ContainsRegex("library NCCL: "));
}

TEST_F(Cuda, AMachineWithoutADriverAndOneWithAnOldDriver) {
  const Result none = run({"doctor"}, with({{"SINDRI_CUDA_HOST", "driver=0"}}));
  EXPECT_THAT(none.out, HasSubstr("missing for GPU: there is no NVIDIA driver (libcuda.so.1); install the driver of the GPU, version 580 or later"));
  EXPECT_THAT(none.out, ContainsRegex("backend cuda: [0-9.]+, .*libsindri_cuda_host.so"));
  EXPECT_THAT(none.out, HasSubstr("library NCCL: ")) << "one report lists everything that a new machine lacks";
  const Result old = run({"doctor"}, with({{"SINDRI_CUDA_HOST", "driver=12040"}}));
  EXPECT_THAT(old.out,
              HasSubstr("missing for GPU: the NVIDIA driver is too old: it supports CUDA 12.4, this build needs 13.0; install driver version 580 or later"));
  const Result asked =
      run({"train", "--config", "configs/digits.yaml", "--device", "cuda", "--set", "train.run_dir=/nowhere"}, with({{"SINDRI_CUDA_HOST", "driver=12040"}}));
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.err, HasSubstr("the NVIDIA driver is too old"));
}

TEST_F(Cuda, APluginOfAnotherKindIsNotTaken) {
  const Result other = run({"doctor"}, RunOptions{.environment = {{"SINDRI_CUDA_PLUGIN", "/usr/lib/x86_64-linux-gnu/libm.so.6"}}});
  EXPECT_THAT(other.out, HasSubstr("libm.so.6 is not Sindri's CUDA backend"));
  const Result absent = run({"doctor"}, RunOptions{.environment = {{"SINDRI_CUDA_PLUGIN", "/nowhere/libsindri_cuda.so"}}});
  EXPECT_THAT(absent.out, HasSubstr("the CUDA backend (/nowhere/libsindri_cuda.so) is not installed"));
  const Result off = run({"doctor"}, RunOptions{.environment = {{"SINDRI_CUDA_PLUGIN", "0"}}});
  EXPECT_THAT(off.out, HasSubstr("disabled by SINDRI_CUDA_PLUGIN=0"));
}

// A copy of the available plugin in which some strings are replaced by others of the same length.
std::string plugin_with(const TempFolder& temp, const std::vector<std::pair<std::string, std::string>>& changes) {
  std::ifstream in(cuda_host_plugin(), std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  for (const auto& [from, to] : changes) {
    EXPECT_EQ(from.size(), to.size());
    const size_t first = content.find(from);
    EXPECT_NE(first, std::string::npos) << from;
    for (size_t at = first; at != std::string::npos; at = content.find(from, at)) content.replace(at, to.size(), to);
  }
  const std::string path = temp.file("libsindri_cuda.so");
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST_F(Cuda, APluginOfAnotherVersionOrBuildIsRefusedBeforeItRuns) {
  const TempFolder temp;
  const std::string mine = SINDRI_VERSION_STRING;
  std::string other = mine;
  other.back() = other.back() == '7' ? '8' : '7';
  const auto underscored = [](std::string s) { return std::replace(s.begin(), s.end(), '.', '_'), s; };
  const std::string versioned = plugin_with(
      temp, {{underscored("takes_plugins_of_" + mine), underscored("takes_plugins_of_" + other)}, {"CUDA backend: " + mine, "CUDA backend: " + other}});
  const Result refused = run({"doctor"}, RunOptions{.environment = {{"SINDRI_CUDA_PLUGIN", versioned}}});
  EXPECT_EQ(refused.code, 0) << refused.err;
  EXPECT_THAT(refused.out,
              HasSubstr("missing for GPU: the CUDA backend " + versioned + " has version " + other + ", this is Sindri " + mine + "; install version " + mine +
                        " of it (pip install sindri-cuda==" + mine));
  EXPECT_THAT(refused.out, Not(HasSubstr("backend cuda: ")));
  const std::string built = plugin_with(temp, {{"16register_backend", "16registeX_backend"}});
  const Result undefined = run({"doctor"}, RunOptions{.environment = {{"SINDRI_CUDA_PLUGIN", built}}});
  EXPECT_THAT(undefined.out,
              ContainsRegex("missing for GPU: the CUDA backend does not load: .*undefined symbol: .*registeX.*; install both from the same build"));
}

struct Training {
  const char* name;
  std::vector<std::string> settings;  // "data.path=images": the images of make_jpeg_data
  double tolerance = 1e-3;  // relative
  int64_t compared = 20;  // steps compared with the CPU: another summation order in float16 makes ResNet's losses diverge later, on the CPU as well
};
class CudaTraining : public Cuda, public ::testing::WithParamInterface<Training> {
 protected:
  std::vector<std::string> settings() const {
    std::vector<std::string> all = GetParam().settings;
    for (std::string& s : all) {
      if (s != "data.path=images") continue;
      s = "data.path=" + temp_.file("images");
      make_jpeg_data(temp_.file("images"), 3, 16, 4, 8);
    }
    return all;
  }
  TempFolder temp_;
};

// The first step runs op by op, the second is captured, and the others replay that graph. Losses match the CPU's up to float32's summation order or the half
// type's rounding.
TEST_P(CudaTraining, FollowsTheCpuAndIsTheSameCapturedAndPlain) {
  constexpr int kSteps = 20;
  const std::vector<std::string> sets = settings();
  const auto cpu = losses(temp_.file("cpu"), "cpu", {}, sets, kSteps), captured = losses(temp_.file("captured"), "cuda", {}, sets, kSteps),
             plain = losses(temp_.file("plain"), "cuda", {{"SINDRI_CUDA_GRAPH", "0"}}, sets, kSteps);
  EXPECT_EQ(captured, plain) << "bitwise";
  expect_same_weights(temp_.file("captured"), temp_.file("plain"));
  expect_close(captured, cpu, GetParam().tolerance, GetParam().compared);
}

const std::vector<std::string> kImages = {"data.kind=imagefolder", "data.path=images", "data.image_size=8", "train.batch_size=4",
                                          "train.epochs=2",        "lr.init=0.001",    "lr.max=0.001"};
std::vector<std::string> on_images(std::vector<std::string> more) {
  more.insert(more.begin(), kImages.begin(), kImages.end());
  return more;
}

INSTANTIATE_TEST_SUITE_P(
    Settings, CudaTraining,
    ::testing::Values(Training{"momentum", {}}, Training{"adam", {"optimizer.name=adam"}}, Training{"thor", {"optimizer.name=thor", "optimizer.frequency=6"}},
                      Training{"float16", {"train.amp_level=O2", "train.amp_dtype=f16", "loss_scale.type=dynamic"}},
                      Training{"bfloat16", {"train.amp_level=O2", "train.amp_dtype=bf16"}, 1.0 / 128}, Training{"average", {"boost.average.enabled=true"}},
                      Training{"accumulation", {"boost.grad_accumulation.enabled=true", "boost.grad_accumulation.step=2"}},
                      Training{"lenet", {"model.name=lenet", "train.batch_size=4"}},
                      Training{"resnet20_float16", on_images({"model.name=resnet20", "train.amp_level=O2", "train.amp_dtype=f16", "loss_scale.type=dynamic"}),
                               1.0 / 64, 10}),
    [](const ::testing::TestParamInfo<Training>& p) { return std::string(p.param.name); });

const std::vector<std::string> kSaving = {"checkpoint.save_every_steps=2"};

// If the device is lost during a run, the run ends with an error. Earlier checkpoints are intact, and a resumed run has the same losses.
TEST_F(Cuda, ARunGoesOnAfterALostDevice) {
  const TempFolder temp;
  const auto whole = losses(temp.file("whole"), "cuda", {}, kSaving, 10);
  const std::string run_dir = temp.file("run");
  std::vector<std::string> words = training(run_dir, "cuda", kSaving, 10);
  const Result lost = run(words, with({{"SINDRI_CUDA_HOST", "lose=600"}}));
  EXPECT_NE(lost.code, 0);
  EXPECT_THAT(lost.err, HasSubstr("device cuda:0 is lost"));
  ASSERT_GT(expect_good_checkpoints(run_dir), 0U) << "the device was lost too early for this test: " << lost.err;
  words.emplace_back("--resume");
  const Result again = run(words, with());
  EXPECT_EQ(again.code, 0) << again.err;
  for (const auto& [step, loss] : whole) EXPECT_EQ(step_losses(run_dir).at(step).back(), loss.back()) << "step " << step;
}

// ----- choosing engines and algorithms -----

class CudaChoosing : public Cuda {
 protected:
  // One step in half precision; the stand-ins' preferred engines and algorithms are the slowest.
  Result train(const std::string& run_dir, Variables more = {}, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {"train", "--quiet", "--config", "configs/digits.yaml", "--device", "cuda"};
    for (const std::string& set : {std::string("train.max_steps=1"), std::string("train.batch_size=4"), std::string("train.amp_level=O2"),
                                   std::string("train.amp_dtype=f16"), std::string("train.eval_interval=-1"), std::string("lr.schedule=constant"),
                                   std::string("lr.warmup_epochs=0"), "train.run_dir=" + temp_.file(run_dir)})
      words.insert(words.end(), {"--set", set});
    words.insert(words.end(), flags.begin(), flags.end());
    more.insert({{"SINDRI_TUNE", "quick"}, {"SINDRI_CUDA_HOST", "library_delay=500"}, {"SINDRI_CACHE_DIR", temp_.file("cache")}});
    return run(words, with(more));
  }
  nlohmann::json repro(const std::string& run_dir) {
    std::ifstream f(temp_.file(run_dir + "/repro.json"));
    return nlohmann::json::parse(f, nullptr, false);
  }
  // The recorded choices of a library, and those of them with a given origin.
  static std::map<std::string, std::string> choices(const nlohmann::json& j, const std::string& library) {
    std::map<std::string, std::string> of;
    for (const auto& [key, choice] : j.at("kernel_choices").items())
      if (key.starts_with(library)) of[key] = choice;
    return of;
  }
  // Quick tuning may run out of time on a slow machine: anything it did not measure is the library's first choice, "fixed".
  static std::map<std::string, std::string> choices_from(const nlohmann::json& j, const std::string& library, const std::string& origin) {
    std::map<std::string, std::string> of = choices(j, library);
    std::erase_if(of, [&](const auto& c) { return j.at("kernel_choices_from").at(c.first) != origin; });
    EXPECT_FALSE(of.empty()) << library << "from " << origin << ": " << j.at("kernel_choices_from");
    return of;
  }
  // Other programs may disturb a measurement.
  static void expect_most(const std::map<std::string, std::string>& choices, const std::string& beginning) {
    const auto such = std::count_if(choices.begin(), choices.end(), [&](const auto& c) { return c.second.starts_with(beginning); });
    EXPECT_GT(2 * such, static_cast<std::ptrdiff_t>(choices.size())) << beginning << ": " << ::testing::PrintToString(choices);
  }
  const TempFolder temp_;
};

TEST_F(CudaChoosing, ARunMeasuresTheNextReadsAndAResumedOneRepeats) {
  const Result first = train("first");
  ASSERT_EQ(first.code, 0) << first.err;
  const nlohmann::json measured = repro("first");
  const auto engines = choices_from(measured, "cuDNN ", "measured"), algorithms = choices_from(measured, "cuBLASLt ", "measured");
  expect_most(engines, "engine 1 knobs 2=1");
  expect_most(algorithms, "algorithm 2 ");
  EXPECT_THAT(measured.value("plan_cache_hash", ""), ::testing::MatchesRegex("[0-9a-f]+"));

  const Result second = train("second");
  ASSERT_EQ(second.code, 0) << second.err;
  for (const auto& [key, choice] : engines) EXPECT_EQ(choices_from(repro("second"), "cuDNN ", "cache file").at(key), choice);
  for (const auto& [key, choice] : algorithms) EXPECT_EQ(choices_from(repro("second"), "cuBLASLt ", "cache file").at(key), choice);

  // Without the file, and without measurements, the run's own record suffices.
  std::filesystem::remove_all(temp_.file("cache"));
  const Result resumed = train("first", {{"SINDRI_TUNE", "off"}}, {"--resume", "--set", "train.max_steps=2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const auto& [key, choice] : engines) EXPECT_EQ(choices_from(repro("first"), "cuDNN ", "recorded").at(key), choice);
  EXPECT_FALSE(std::filesystem::exists(temp_.file("cache/plans.json")));
}

TEST_F(CudaChoosing, OnlyWhatTheEnvironmentAllows) {
  const Result any = train("any", {{"SINDRI_DETERMINISTIC", "0"}});
  ASSERT_EQ(any.code, 0) << any.err;
  expect_most(choices_from(repro("any"), "cuDNN ", "measured"), "engine 2");
  // A default run does not accept the entries of that run.
  const Result again = train("again");
  ASSERT_EQ(again.code, 0) << again.err;
  const auto allowed = choices_from(repro("again"), "cuDNN ", "measured");
  expect_most(allowed, "engine 1 knobs 2=1");
  for (const auto& [key, choice] : allowed) EXPECT_NE(choice, "engine 2") << key;
  const Result strict = train("strict", {{"SINDRI_STRICT", "1"}, {"SINDRI_DETERMINISTIC", "0"}});
  ASSERT_EQ(strict.code, 0) << strict.err;
  EXPECT_TRUE(choices(repro("strict"), "cuDNN ").empty()) << "fixed, so nothing is recorded";
  for (const auto& [variable, value] :
       Variables{{"SINDRI_TUNE", "much"}, {"SINDRI_WORKSPACE_LIMIT", "1G"}, {"SINDRI_DETERMINISTIC", "no"}, {"SINDRI_CUDA_CODEGEN", "off"}}) {
    const Result refused = train("refused", {{variable, value}});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(variable + "=" + value));
  }
}

// ----- profile, memory -----

TEST_F(Cuda, ProfileMeasuresByTheDevicesClock) {
  const TempFolder temp;
  const Result r = run({"profile", "digits", "--batch", "4", "--steps", "2", "--device", "cuda", "--json", temp.file("p.json")}, with());
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* piece : {"cuda:0: host run 0", "limits measured here: matmul", "lost ms", "Cell", "arena at its peak"}) EXPECT_THAT(r.out, HasSubstr(piece));
  std::ifstream f(temp.file("p.json"));
  const nlohmann::json j = nlohmann::json::parse(f);
  EXPECT_EQ(j.at("machine").at("device"), "cuda:0");
  EXPECT_FALSE(j.at("machine").at("copy").empty());
  EXPECT_GT(j.at("machine").at("matmul_gflop_per_s").get<double>(), 0);
  EXPECT_GT(j.at("unobserved_step_ms").get<double>(), 0);
  EXPECT_GT(j.at("memory").at("arena_bytes").get<int64_t>(), 0);
  for (const char* table : {"ops", "cells", "instructions"}) {
    double ms = 0, share = 0, before = 1e30;
    for (const nlohmann::json& row : j.at(table)) {
      ms += row.at("ms").get<double>(), share += row.at("share").get<double>();
      EXPECT_GE(row.at("ms").get<double>(), 0);
      EXPECT_NEAR(row.at("lost_ms").get<double>(), row.at("ms").get<double>() - row.at("limit_ms").get<double>(), 1e-9);
      EXPECT_LE(row.at("lost_ms").get<double>(), before) << "the largest loss comes first";
      before = row.at("lost_ms").get<double>();
    }
    EXPECT_NEAR(ms, j.at("kernels_ms").get<double>(), 1e-6 * ms) << table;
    EXPECT_NEAR(share, 1, 1e-9) << table;
  }
}

// Out-of-memory errors name the largest holders. The device's memory is exhausted from a given piece of work on; the test searches for one at which the arena
// is not allocated yet.
TEST_F(Cuda, OutOfMemoryNamesTheLargestHolders) {
  const TempFolder temp;
  int runs = 0;
  const auto train = [&](const std::string& mode, int exhaust) {
    const Result r = run({"train", "--quiet", "--config", "configs/digits.yaml", "--device", "cuda", "--set", "train.mode=" + mode, "--set",
                          "train.max_steps=2", "--set", "train.run_dir=" + temp.file(std::to_string(++runs))},
                         with({{"SINDRI_CUDA_HOST", "exhaust=" + std::to_string(exhaust)}}));
    EXPECT_EQ(r.code, 5) << r.err;
    EXPECT_THAT(r.err, HasSubstr("largest holders: "));
    return r.err;
  };
  std::string graph;
  for (int at = 36; at < 56 && graph.find("needs ") == graph.npos; ++at) graph = train("graph", at);
  EXPECT_THAT(graph, ContainsRegex("largest holders: outside of Cells \\(parameters, gradients, optimizer state, data\\) [0-9.]+ MB in [0-9]+ blocks"));
  EXPECT_THAT(graph, ContainsRegex("train_step needs [0-9.]+ MB for values, most of it at the peak for [^ ]*WithLossCell/[^ ]+ [0-9.]+ MB, "));
  EXPECT_THAT(train("graph", 120), ContainsRegex("largest holders: the arena of compiled functions [0-9.]+ MB in 1 block, outside of Cells"));
  EXPECT_THAT(train("pynative", 100), ContainsRegex("largest holders: .*WithLossCell/backbone[a-z0-9.]* [0-9.]+ MB in [0-9]+ block"));
}

TEST_F(Cuda, EpochLinesHaveTheDevicesMemory) {
  const TempFolder temp;
  const Result r = run(
      {"train", "--quiet", "--config", "configs/digits.yaml", "--device", "cuda", "--set", "train.max_steps=2", "--set", "train.run_dir=" + temp.file("run")},
      with());
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, ContainsRegex("epoch 1/.*, device memory [0-9.]+ GB"));
  std::ifstream csv(temp.file("run/metrics.csv"));
  std::string header;
  std::getline(csv, header);
  EXPECT_THAT(header, HasSubstr("memory/device_peak_mb"));
}

// Images that are transferred as bytes and normalised on the device are bitwise identical to the host's, with the same draws for crop and flip.
TEST_F(Cuda, ImagesNormalisedOnTheDeviceAreTheHosts) {
  const TempFolder temp;
  make_jpeg_data(temp.file("images"), 3, 16, 4, 8);
  const std::vector<std::string> images = {"data.kind=imagefolder", "data.path=" + temp.file("images"), "data.image_size=8", "model.name=resnet20"};
  std::vector<std::string> on = images, off = images;
  on.emplace_back("data.device_input=on"), off.emplace_back("data.device_input=off");
  constexpr int kSteps = 6;
  const auto host = losses(temp.file("host"), "cuda", {}, off, kSteps);
  EXPECT_EQ(host.size(), 6U);
  EXPECT_EQ(losses(temp.file("device"), "cuda", {}, on, kSteps), host);
  EXPECT_EQ(losses(temp.file("auto"), "cuda", {}, images, kSteps), host);
  const auto where = [&](const char* device, const std::vector<std::string>& settings) {
    return run(training(temp.file("where"), device, settings, 1), with({{"SINDRI_LOG", "data=info"}})).err;
  };
  EXPECT_THAT(where("cuda", images), HasSubstr("images are normalised on the device"));
  EXPECT_THAT(where("cuda", off), Not(HasSubstr("images are normalised")));
  EXPECT_THAT(where("cpu", images), Not(HasSubstr("images are normalised")));
  EXPECT_EQ(losses(temp.file("plain"), "cuda", {{"SINDRI_CUDA_GRAPH", "0"}}, on, kSteps), host);
  EXPECT_EQ(losses(temp.file("cpu_on"), "cpu", {}, on, kSteps), losses(temp.file("cpu_off"), "cpu", {}, off, kSteps));
  const Result refused = run(training(temp.file("mixed"), "cuda", {on[0], on[1], on[2], on[3], on[4], "data.mixup=0.2"}, 1), with());
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("mix images after they are normalised, on the host"));
}

// A run that is killed at any moment and resumed ends bitwise identical to an uninterrupted run.
TEST_F(Cuda, ARunGoesOnAfterAKill) {
  constexpr int kSteps = 12;
  for (const std::vector<std::string>& more : {std::vector<std::string>{"train.amp_level=O2", "train.amp_dtype=f16", "loss_scale.window=4"},
                                               std::vector<std::string>{"optimizer.name=thor", "optimizer.frequency=6", "boost.average.enabled=true"}}) {
    const TempFolder temp;
    std::vector<std::string> settings = kSaving;
    settings.insert(settings.end(), more.begin(), more.end());
    const auto whole = losses(temp.file("whole"), "cuda", {}, settings, kSteps);
    const std::string run_dir = temp.file("run");
    std::vector<std::string> words = training(run_dir, "cuda", settings, kSteps);
    for (const int64_t at : {4, 8}) {
      Program p(words, with());
      ASSERT_TRUE(p.wait_until([&] { return std::filesystem::exists(run_dir + "/metrics.jsonl") && last_step(run_dir) >= at; })) << "it ended before";
      p.signal(SIGKILL);
      ASSERT_TRUE(p.wait().signalled);
      EXPECT_GT(expect_good_checkpoints(run_dir), 0U);
      if (at == 4) words.emplace_back("--resume");
    }
    const Result last = run(words, with());
    EXPECT_EQ(last.code, 0) << last.command << "\n" << last.err;
    const auto own = step_losses(run_dir);
    ASSERT_EQ(own.size(), whole.size());
    for (const auto& [step, seen] : own)
      for (const std::string& loss : seen) EXPECT_EQ(loss, whole.at(step).at(0)) << "step " << step;
    expect_same_end(run_dir, temp.file("whole"));
  }
}

}  // namespace
}  // namespace sindri::app::cuda_tests
