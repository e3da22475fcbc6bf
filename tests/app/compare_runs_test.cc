// sindri report compare, on handmade run folders with known values.
#include "sindri/app/compare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/core/error.h"
#include "tests/train/temp_folder.h"

namespace sindri::app {
namespace compare_runs_test {

using testing::ElementsAre;
using testing::HasSubstr;

// Three steps per epoch, `step` seconds apart, followed by ten seconds of evaluation.
std::string make_run(const std::string& folder, const std::string& optimizer, double step, const std::vector<std::pair<double, double>>& epochs) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.resolved.yaml") << "optimizer:\n  name: " << optimizer << "\n";
  std::ofstream out(folder + "/metrics.jsonl");
  double time = 1000;
  for (size_t e = 0; e < epochs.size(); ++e) {
    for (int s = 0; s < 3; ++s, time += step) out << "{\"event\":\"step\",\"time\":" << time << ",\"epoch\":" << e + 1 << ",\"loss\":1}\n";
    time += 10;
    out << "{\"event\":\"epoch\",\"step\":" << 3 * (e + 1) << ",\"epoch\":" << e + 1 << ",\"train_loss\":" << epochs[e].first;
    if (std::isfinite(epochs[e].second)) out << ",\"eval_accuracy\":" << epochs[e].second;
    out << "}\n";
  }
  out << "{\"event\":\"step\",\"time\":" << time << ",\"epoch\":" << epochs.size() + 1 << "}\n{\"half a li";  // an interrupted epoch
  return folder;
}

class CompareRuns : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::string slow_ = make_run(folder_.path() + "/slow", "momentum", 1, {{0.9, 0.5}, {0.6, 0.7}, {0.5, 0.68}});
  std::string quick_ = make_run(folder_.path() + "/quick", "thor", 2, {{0.5, 0.66}, {0.3, 0.8}});
};

TEST_F(CompareRuns, EpochsAndSecondsToWhatAllReach) {
  const RunComparison c = compare_runs({slow_, quick_});
  EXPECT_EQ(c.loss, 0.5);
  EXPECT_EQ(c.accuracy, 0.7);
  EXPECT_THAT(c.runs[0].epochs, ElementsAre(1, 2, 3));
  EXPECT_THAT(c.runs[0].seconds, ElementsAre(3, 6, 9));
  EXPECT_EQ(c.goals[0].epochs_to_loss, 3);
  EXPECT_EQ(c.goals[0].seconds_to_loss, 9);
  EXPECT_EQ(c.goals[0].epochs_to_accuracy, 2);
  EXPECT_EQ(c.goals[1].epochs_to_loss, 1);
  EXPECT_EQ(c.goals[1].seconds_to_accuracy, 12);
  const std::string text = comparison_text(c);
  EXPECT_THAT(text, HasSubstr("momentum"));
  EXPECT_THAT(text, HasSubstr("1 ep., 6.0 s"));
  const auto j = nlohmann::json::parse(comparison_json(c));
  EXPECT_EQ(j["runs"][1]["epochs"][1]["train_loss"], 0.3);
  EXPECT_THAT(c.runs[0].steps, ElementsAre(3, 6, 9));
  EXPECT_EQ(j["runs"][1]["epochs"][1]["step"], 6);
  std::set<std::string> pictures;  // the plots differ for each axis
  for (const char* against : {"epochs", "steps", "seconds"}) {
    const std::string path = folder_.path() + "/" + against + ".png";
    write_comparison_plot(c, path, against);
    EXPECT_GT(std::filesystem::file_size(path), 1000u);
    std::ifstream in(path, std::ios::binary);
    pictures.emplace(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  EXPECT_EQ(pictures.size(), 3u);
  EXPECT_THROW(write_comparison_plot(c, folder_.path() + "/c.png", "hours"), ValueError);
}

TEST_F(CompareRuns, GoalsMayBeGivenAndMissed) {
  const RunComparison c = compare_runs({slow_, quick_}, 0.4, 0.75);
  EXPECT_FALSE(c.goals[0].epochs_to_loss);
  EXPECT_FALSE(c.goals[0].epochs_to_accuracy);
  EXPECT_EQ(c.goals[1].epochs_to_loss, 2);
  EXPECT_THAT(comparison_text(c), HasSubstr("not reached"));
  EXPECT_TRUE(nlohmann::json::parse(comparison_json(c))["runs"][0]["seconds_to_loss"].is_null());
}

TEST_F(CompareRuns, RunsWithoutEvaluationsAndFoldersThatAreNone) {
  const std::string blind = make_run(folder_.path() + "/blind", "sgd", 1, {{0.8, NAN}});
  const RunComparison c = compare_runs({slow_, blind});
  EXPECT_TRUE(std::isnan(c.accuracy));
  EXPECT_THAT(comparison_text(c), testing::Not(HasSubstr("to accuracy")));
  EXPECT_THROW(compare_runs({slow_}), ValueError);
  EXPECT_THROW(compare_runs({slow_, folder_.path() + "/nothing"}), IoError);
  EXPECT_THROW(compare_runs({slow_, make_run(folder_.path() + "/none", "sgd", 1, {})}), DataError);
}

}  // namespace compare_runs_test
}  // namespace sindri::app
