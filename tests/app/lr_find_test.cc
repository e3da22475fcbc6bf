// `sindri train --lr-find`: the suggested learning rate trains, and only the curve is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "source_dir.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::lr_find_samples {
namespace {

using testing::HasSubstr;

std::string find(const TempFolder& temp, const std::string& file, const std::vector<std::string>& more = {}) {
  Settings settings;
  settings.load_yaml(SINDRI_SOURCE_DIR "/configs/digits.yaml");
  settings.set("data.path=" SINDRI_SOURCE_DIR "/dataset/digits");
  settings.set("train.run_dir=" + temp.file("run"));
  for (const std::string& s : more) settings.set(s);
  settings.validate();
  TrainRequest request;
  request.lr_find = temp.file(file);
  testing::internal::CaptureStdout();
  try {
    (void)train(settings, request);
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  return testing::internal::GetCapturedStdout();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(LrFind, SuggestsARateAndWritesTheCurveAlone) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"boost.grad_accumulation.enabled=true", "boost.grad_accumulation.step=2"}}) {
    const TempFolder temp;
    const std::string text = find(temp, "lr.csv", more);
    const size_t at = text.find("suggestion: lr.max ");
    ASSERT_NE(at, std::string::npos) << text;
    const double rate = std::stod(text.substr(at + 19));
    EXPECT_GT(rate, 1e-3) << text;
    EXPECT_LT(rate, 2) << text;
    const std::vector<std::string> lines = lines_of(temp.file("lr.csv"));
    ASSERT_GT(lines.size(), 50u);
    EXPECT_LE(lines.size(), 101u);
    EXPECT_EQ(lines[0], "step,lr,loss,smoothed");
    EXPECT_THAT(lines[1], testing::StartsWith("1,1e-06,"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temp.path()), std::filesystem::directory_iterator{}), 1) << "no run folder";
    EXPECT_EQ(find(temp, "lr.csv", more), text) << "the same again, and an earlier curve is replaced";
  }
}

TEST(LrFind, ReplacesNoOtherFile) {
  const TempFolder temp;
  std::ofstream(temp.file("table.csv")) << "a,b\n1,2\n";
  EXPECT_THROW(find(temp, "table.csv"), SettingsError);
  EXPECT_EQ(lines_of(temp.file("table.csv")).size(), 2u);
  EXPECT_THROW(find(temp, "lr.png"), SettingsError);
}

}  // namespace
}  // namespace sindri::app::lr_find_samples
