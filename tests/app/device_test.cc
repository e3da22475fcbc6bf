// --device, device_target and device_id, and the devices that doctor lists: on this machine, and with the simulated accelerator as a library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/app/app.h"
#include "sindri/app/settings.h"
#include "sindri/device/device.h"
#include "tests/app/program.h"

namespace sindri::app::device_tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> small_training(const std::string& run_dir, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"train", "--quiet", "--config", "configs/digits.yaml", "--set", "train.max_steps=3", "--set", "train.run_dir=" + run_dir};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json read_json(const std::string& path) { return nlohmann::json::parse(std::ifstream(path)); }

TEST(Devices, DoctorListsDevicesAndWhatIsMissing) {
  const Result plain = run({"doctor"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.out, ContainsRegex("device cpu: CPU, [a-z0-9_]+; device_target CPU, device_id 0; memory [0-9.]+ GiB, free [0-9.]+ GiB, limit none\n"));
  EXPECT_THAT(plain.out, ContainsRegex("missing for GPU: .*(the CUDA backend|there is no NVIDIA driver).*; .*"));
  EXPECT_THAT(plain.out, HasSubstr("missing for Ascend: there is no backend for Ascend; "));
  const Result with = run({"doctor"}, simulated());
  EXPECT_THAT(with.out, HasSubstr("device sim:1: simulated accelerator 1; device_target SIM, device_id 1; memory 2.0 GiB, free 2.0 GiB, limit none\n"));
  const Result told = run({"doctor"}, simulated("delay=20", {{"SINDRI_TEST_NO_SIMULATED_DEVICE", "1"}}));
  EXPECT_THAT(told.out, HasSubstr("missing for SIM: the simulated accelerator is disabled; unset SINDRI_TEST_NO_SIMULATED_DEVICE\n"));
  EXPECT_THAT(told.out, Not(HasSubstr("device sim:")));
}

// Nothing is written, whichever way the missing device is requested.
TEST(Devices, WhatIsNotThereIsAnErrorThatSaysWhatWasFound) {
  const TempFolder temp;
  const std::string run_dir = temp.file("run");
  std::ofstream(temp.file("gpu.yaml")) << "device_target: GPU\nmodel: {name: digits}\ndata: {path: dataset/digits}\n";
  const Result flag = run(small_training(run_dir, {"--device", "gpu"}));
  expect_error(flag, 2, "E2004", {"there is no device gpu 0", "found: cpu (CPU", "device_target from --device"});
  const Result file = run({"train", "--quiet", "--config", temp.file("gpu.yaml"), "--set", "train.run_dir=" + run_dir});
  expect_error(file, 2, "E2004", {"there is no device GPU 0", "device_target from gpu.yaml:1:1"});
  const Result variable = run(small_training(run_dir), {.environment = {{"SINDRI_DEVICE_TARGET", "Ascend"}}});
  expect_error(variable, 2, "E2004", {"there is no device Ascend 0", "device_target from SINDRI_DEVICE_TARGET", "there is no backend for Ascend"});
  const Result number = run(small_training(run_dir, {"--device", "sim", "--device-id", "2"}), simulated());
  expect_error(number, 2, "E2004",
               {"there is no device sim 2", "sim:0 (simulated accelerator 0, device_target SIM); sim:1", "name one of the devices that were found"});
  expect_error(run(small_training(run_dir, {"--device-id", "1"})), 2, "E2010", {"device_id: it needs a device_target", "--device-id"});
  expect_error(run(small_training(run_dir, {"--device", "sim:1", "--device-id", "1"}), simulated()), 2, "E2010",
               {"device_target (sim:1) already contains the number"});
  expect_error(run(small_training(run_dir, {"--device", "cpu", "--device-id", "x"})), 2, "E2010", {"device_id", "--device-id x"});
  EXPECT_FALSE(std::filesystem::exists(run_dir));
}

TEST(Devices, TheCpuMayBeNamed) {
  const TempFolder temp;
  const Result r = run(small_training(temp.file("run"), {"--device", "cpu", "--device-id", "0"}));
  ASSERT_EQ(r.code, 0) << r.err;
  const nlohmann::json environment = read_json(temp.file("run/env.json"));
  EXPECT_EQ(environment["device"], "cpu");
  EXPECT_EQ(environment["device_target"], "CPU");
  EXPECT_FALSE(environment.contains("device_note"));
  const Result again = run({"train", "--config", temp.file("run/config.resolved.yaml"), "--print-config"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, ContainsRegex("device_target: cpu +# config.resolved"));
}

TEST(Devices, SettingsChooseADevice) {
  Settings s;
  s.load_yaml_text("device_target: sim\ndevice_id: 1\ntrain:\n  epochs: 2\n", "a.yaml");
  EXPECT_EQ(s.get_string("device_target"), "sim");
  EXPECT_EQ(s.get_int("device_id"), 1);
  s.load_environment({"SINDRI_DEVICE_TARGET=CPU", "SINDRI_DEVICE_ID=0", "SINDRI_LOG=info"});
  EXPECT_EQ(s.origin("device_target"), "SINDRI_DEVICE_TARGET");
  Settings again;
  again.load_yaml_text(s.to_yaml(), "b.yaml");
  EXPECT_EQ(again.get_string("device_target"), "CPU");
  Settings elsewhere = s;
  elsewhere.set("device_target=sim");
  EXPECT_EQ(elsewhere.hash(), s.hash()) << "a run may continue on another device";
}

// A user's program that names a target this machine lacks: the CPU computes, and the run's record says so.
TEST(Devices, ARunRecordsThatTheCpuComputed) {
  const TempFolder temp;
  Settings s;
  s.load_yaml(std::string(SINDRI_SOURCE_DIR) + "/configs/digits.yaml");
  s.set("data.path=" + std::string(SINDRI_SOURCE_DIR) + "/dataset/digits");
  s.set("train.max_steps=2");
  s.set("train.run_dir=" + temp.file("run"));
  ::testing::internal::CaptureStderr();
  (void)set_device_target("GPU", 1);
  TrainRequest request;
  request.quiet = true;
  train(s, request);
  const std::string log = ::testing::internal::GetCapturedStderr();
  (void)set_device_target("CPU");
  EXPECT_THAT(log, ContainsRegex("device_target GPU: .*(the CUDA backend|there is no NVIDIA driver)"));
  const nlohmann::json environment = read_json(temp.file("run/env.json"));
  EXPECT_EQ(environment["device"], "cpu");
  EXPECT_EQ(environment["device_target"], "GPU");
  EXPECT_THAT(environment["device_note"].get<std::string>(), HasSubstr("the CPU computes"));
}

}  // namespace
}  // namespace sindri::app::device_tests
