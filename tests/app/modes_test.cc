// Graph mode and eager mode train alike: the losses of the first 20 steps of ResNet-20 are bitwise identical, with and without graph passes, for any number of
// threads, and with the kernels of another run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"

namespace sindri::app {
namespace {

struct Variant {
  std::string name, mode;
  std::map<std::string, std::string> environment;
};

std::map<int64_t, std::vector<std::string>> train_20_steps(const TempFolder& temp, const Variant& v) {
  std::vector<std::string> a = {"train", "--quiet"};
  for (const std::string& s : {std::string("model.name=resnet20"), "data.path=" + temp.file("data"), "train.run_dir=" + temp.file(v.name),
                               std::string("train.batch_size=8"), std::string("train.epochs=4"), std::string("train.max_steps=20"),
                               std::string("train.eval_interval=0"), std::string("lr.max=0.05"), "train.mode=" + v.mode}) {
    a.insert(a.end(), {"--set", s});
  }
  const Result r = run(a, {.environment = v.environment});
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.err;
  return step_losses(temp.file(v.name));
}

TEST(Modes, SameLossBits) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"));
  const auto eager = train_20_steps(temp, {"pynative", "pynative", {}});
  ASSERT_EQ(eager.size(), 20u);
  EXPECT_NE(eager.at(1), eager.at(20)) << "a network that learns nothing would always agree";
  for (const Variant& v : {Variant{"graph", "graph", {}}, Variant{"no_passes", "graph", {{"SINDRI_DISABLE_PASSES", "all"}}}}) {
    SCOPED_TRACE(v.name);
    EXPECT_EQ(train_20_steps(temp, v), eager);
  }
}

TEST(Modes, SameLossBitsForAnyNumberOfThreadsInStrictMode) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"));
  const auto one = train_20_steps(temp, {"one", "graph", {{"SINDRI_STRICT", "1"}, {"OMP_NUM_THREADS", "1"}}});
  ASSERT_EQ(one.size(), 20u);
  EXPECT_EQ(train_20_steps(temp, {"two", "graph", {{"SINDRI_STRICT", "1"}, {"OMP_NUM_THREADS", "2"}}}), one);
}

// On a busy machine, measuring may choose other kernels, and the last bits differ: a run reports this, and another run can use the same kernels.
TEST(Modes, MeasuredKernelsAreToldOfAndCanBePinned) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"), 2, 4, 4);
  const auto train = [&](const std::string& name, std::map<std::string, std::string> environment) {
    environment["SINDRI_CACHE_DIR"] = temp.file("cache of " + name);
    std::vector<std::string> a = {"train", "--quiet"};
    for (const std::string& s : {std::string("model.name=resnet20"), "data.path=" + temp.file("data"), "train.run_dir=" + temp.file(name),
                                 std::string("train.batch_size=4"), std::string("train.epochs=1"), std::string("train.max_steps=2")}) {
      a.insert(a.end(), {"--set", s});
    }
    return run(a, {.environment = environment});
  };
  const auto read = [&](const std::string& file) {
    std::ifstream f(temp.file(file));
    return std::string(std::istreambuf_iterator<char>(f), {});
  };
  const auto repro = [&](const std::string& name) { return nlohmann::json::parse(read(name + "/repro.json")); };
  const auto count = [&](const nlohmann::json& j, const std::string& from) {
    return std::count(j["kernel_choices_from"].begin(), j["kernel_choices_from"].end(), from);
  };

  const Result cold = train("cold", {});
  ASSERT_EQ(cold.code, 0) << "repeat: " << cold.command << "\n" << cold.err;
  const nlohmann::json first = repro("cold");
  EXPECT_GT(count(first, "measured"), 0);
  EXPECT_EQ(first["kernel_choices_from"].size(), first["kernel_choices"].size());
  const std::string pin = "SINDRI_KERNEL_CHOICES=" + temp.file("cold/repro.json");
  EXPECT_THAT(read("cold/log.txt"), testing::AllOf(testing::HasSubstr("kernel choices were measured in this run"), testing::HasSubstr(pin)));

  const Result pinned = train("pinned", {{"SINDRI_KERNEL_CHOICES", temp.file("cold/repro.json")}});
  ASSERT_EQ(pinned.code, 0) << "repeat: " << pinned.command << "\n" << pinned.err;
  const nlohmann::json second = repro("pinned");
  EXPECT_EQ(second["kernel_choices"], first["kernel_choices"]);
  EXPECT_EQ(static_cast<size_t>(count(second, "recorded")), second["kernel_choices_from"].size());
  EXPECT_EQ(second["loss_bits_hash"], first["loss_bits_hash"]);
  EXPECT_THAT(read("pinned/log.txt"), testing::Not(testing::HasSubstr("measured")));

  expect_error(train("refused", {{"SINDRI_KERNEL_CHOICES", temp.file("nowhere")}}), 2, "E2010", {"SINDRI_KERNEL_CHOICES", "it does not exist", "repro.json"});
}

}  // namespace
}  // namespace sindri::app
