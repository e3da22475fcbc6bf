// log.mlflow writes the run in the format of MLflow's file store. In tests/python/test_records.py MLflow itself reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/app/app.h"
#include "sindri/app/run_folder.h"
#include "source_dir.h"
#include "src/app/mlflow_store.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::mlflow_samples {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// (step, value) of a metric.
std::vector<std::pair<int64_t, double>> points(const fs::path& run, const std::string& name) {
  std::vector<std::pair<int64_t, double>> out;
  std::istringstream in(read(run / "metrics" / name));
  int64_t time = 0, step = 0;
  for (double value = 0; in >> time >> value >> step;) out.emplace_back(step, value);
  return out;
}

// meta.yaml, whose values are JSON.
nlohmann::json meta_of(const fs::path& folder) {
  nlohmann::json out;
  std::istringstream in(read(folder / "meta.yaml"));
  for (std::string line; std::getline(in, line);) out[line.substr(0, line.find(':'))] = nlohmann::json::parse(line.substr(line.find(':') + 2));
  return out;
}

std::vector<fs::path> runs_of(const fs::path& store) {
  std::vector<fs::path> out;
  for (const auto& experiment : fs::directory_iterator(store))
    for (const auto& run : fs::directory_iterator(experiment))
      if (run.is_directory()) out.push_back(run.path());
  return out;
}

void train_digits(const TempFolder& temp, const std::vector<std::string>& more, bool resume) {
  Settings settings;
  settings.load_yaml(SINDRI_SOURCE_DIR "/configs/digits.yaml");
  settings.set("data.path=" SINDRI_SOURCE_DIR "/dataset/digits");
  settings.set("train.run_dir=" + temp.file("run"));
  settings.set("log.mlflow=" + temp.file("store"));
  for (const char* s : {"train.epochs=3", "lr.schedule=constant", "lr.warmup_epochs=0", "lr.max=0.05"}) settings.set(s);
  for (const std::string& s : more) settings.set(s);
  settings.validate();
  TrainRequest request;
  request.quiet = true;
  request.resume = resume;
  (void)train(settings, request);
}

TEST(Mlflow, ARunAndItsContinuationAreOneRunOfTheStore) {
  const TempFolder temp;
  train_digits(temp, {"train.max_steps=60", "log.mlflow_experiment=trees"}, false);  // 44 steps per epoch
  const fs::path store = temp.file("store");
  ASSERT_EQ(runs_of(store).size(), 1u);
  const fs::path run = runs_of(store)[0];
  const nlohmann::json first = meta_of(run), experiment = meta_of(run.parent_path());
  EXPECT_EQ(experiment["name"], "trees");
  EXPECT_EQ(experiment["experiment_id"], run.parent_path().filename().string());
  EXPECT_EQ(meta_of(store / "0")["name"], "Default");
  EXPECT_EQ(first["status"], 3);
  EXPECT_EQ(first["run_name"], "run");
  EXPECT_EQ(first["run_id"], run.filename().string());
  EXPECT_EQ(first["run_id"].get<std::string>().size(), 32u);
  EXPECT_EQ(read(run / "tags/mlflow.runName"), "run");
  EXPECT_EQ(read(run / "params/lr.max"), "0.05");
  EXPECT_EQ(points(run, "train_loss").size(), 2u) << "an epoch and part of another";
  train_digits(temp, {"log.mlflow_experiment=trees"}, true);
  ASSERT_EQ(runs_of(store).size(), 1u);
  EXPECT_EQ(meta_of(run)["start_time"], first["start_time"]);
  // The rows of metrics.csv: the partial epoch's row was replaced there.
  const auto losses = points(run, "train_loss"), accuracies = points(run, "eval_accuracy");
  const auto last = losses.back();
  EXPECT_EQ(last.first, 132);
  EXPECT_EQ(accuracies.back().first, 132);
  const RunFolder folder(temp.file("run"), "");
  const std::vector<EventValues> rows = folder.epoch_rows();
  double csv_loss = 0;
  for (const auto& [name, value] : rows.back())
    if (name == "train_loss") csv_loss = value;
  EXPECT_NEAR(last.second, csv_loss, 1e-6 * csv_loss);
  EXPECT_EQ(points(run, "epoch").back(), (std::pair<int64_t, double>{132, 3}));
  train_digits(temp, {"train.max_steps=5", "log.mlflow_experiment=trees", "train.run_dir=" + temp.file("other")}, false);
  EXPECT_EQ(runs_of(store).size(), 2u) << "of the same experiment";
  EXPECT_EQ(std::distance(fs::directory_iterator(store), fs::directory_iterator{}), 2);
}

TEST(Mlflow, NothingIsWrittenUnasked) {
  const TempFolder temp;
  train_digits(temp, {"train.max_steps=5", "log.mlflow="}, false);
  EXPECT_FALSE(fs::exists(temp.file("store")));
  EXPECT_FALSE(fs::exists(temp.file("run/mlflow_run_id")));
}

TEST(Mlflow, AStoreThatCannotBeWrittenDoesNotEndTheTraining) {
  const TempFolder temp;
  std::ofstream(temp.file("store")) << "a file";
  EXPECT_NO_THROW(train_digits(temp, {"train.max_steps=5"}, false));
  EXPECT_TRUE(fs::exists(temp.file("run/metrics.csv")));
}

TEST(Mlflow, MetricsOfStepsTrainedAgainAreReplaced) {
  const TempFolder temp;
  MlflowRun run(temp.file("store"), "Default", std::string(32, 'a'), "first");
  for (const int64_t step : {10, 20, 30}) run.metrics(step, {{"loss", 1.0 / static_cast<double>(step)}, {"gap/a,b", step == 20 ? NAN : 1}});
  MlflowRun again(temp.file("store"), "Default", std::string(32, 'a'), "second");
  again.metrics(20, {{"loss", 7}});
  EXPECT_EQ(points(run.folder(), "loss"), (std::vector<std::pair<int64_t, double>>{{10, 0.1}, {20, 7}}));
  EXPECT_EQ(points(run.folder(), "gap/a_b").size(), 2u);
  again.status(MlflowRun::Status::kKilled);
  EXPECT_EQ(meta_of(run.folder())["run_name"], "first");
  EXPECT_EQ(meta_of(run.folder())["status"], 5);
}

}  // namespace
}  // namespace sindri::app::mlflow_samples
