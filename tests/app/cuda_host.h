// The program with the CUDA backend's host run (tests/cuda_host) as its plugin.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program.h"

namespace sindri::app {

inline const std::string& cuda_host_plugin() {
  static const std::string file = std::filesystem::path(program_path()).parent_path().string() + "/tests/cuda_host/libsindri_cuda_host.so";
  return file;
}

class Cuda : public ::testing::Test {
 protected:
  using Variables = std::map<std::string, std::string>;

  static const std::string& plugin() { return cuda_host_plugin(); }
  void SetUp() override {
    if (!std::filesystem::exists(plugin())) GTEST_SKIP() << "the host run needs the CUDA toolkit's headers: " << plugin() << " was not built";
  }
  static RunOptions with(Variables more = {}) {
    more["SINDRI_CUDA_PLUGIN"] = plugin();
    more.insert({"SINDRI_TUNE", "off"});  // it would submit work to the device, which some tests count
    return {.environment = std::move(more)};
  }
  /// Runs `sindri train` for this number of steps without an evaluation, on the digits unless the settings say otherwise.
  static std::vector<std::string> training(const std::string& run_dir, const std::string& device, const std::vector<std::string>& settings, int steps) {
    std::vector<std::string> words = {"train", "--quiet", "--config", "configs/digits.yaml", "--device", device};
    for (const std::string& s :
         {"train.max_steps=" + std::to_string(steps), std::string("train.batch_size=8"), std::string("train.eval_interval=-1"), "train.run_dir=" + run_dir})
      words.insert(words.end(), {"--set", s});
    for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
    return words;
  }
  /// Losses by step, as printed.
  static std::map<int64_t, std::vector<std::string>> losses(const std::string& run_dir, const std::string& device, const Variables& more,
                                                            const std::vector<std::string>& settings, int steps) {
    const Result r = run(training(run_dir, device, settings, steps), with(more));
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
    return step_losses(run_dir);
  }
};

/// Fails unless both have the same steps and, up to step `last`, losses that differ by at most `tolerance` relative to the second.
inline void expect_close(const std::map<int64_t, std::vector<std::string>>& losses, const std::map<int64_t, std::vector<std::string>>& of_cpu, double tolerance,
                         int64_t last = INT64_MAX) {
  ASSERT_EQ(losses.size(), of_cpu.size());
  ASSERT_FALSE(of_cpu.empty());
  for (const auto& [step, loss] : of_cpu) {
    if (step <= last) { EXPECT_NEAR(std::stod(losses.at(step).at(0)), std::stod(loss.at(0)), tolerance * std::stod(loss.at(0))) << "step " << step; }
  }
}

}  // namespace sindri::app
