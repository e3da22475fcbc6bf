// Half types from the command line: all levels learn, a resumed float16 run keeps its loss scale, and evaluation accepts any level.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/program.h"

namespace sindri::app {
namespace {

std::vector<std::string> train_digits(const std::string& run_dir, const std::vector<std::string>& more) {
  std::vector<std::string> a = {"train", "--quiet",        "--config", "configs/digits.yaml", "--set", "train.run_dir=" + run_dir,
                                "--set", "train.epochs=2", "--set",    "lr.total_steps=88"};
  for (const std::string& s : more) a.insert(a.end(), {"--set", s});
  return a;
}

std::string first_line(const std::string& file) {
  std::ifstream f(file);
  std::string line;
  std::getline(f, line);
  return line;
}

TEST(Precision, Float16RunsGoOnWithTheirLossScale) {
  const TempFolder temp;
  const std::vector<std::string> f16 = {"train.amp_level=O2", "train.amp_dtype=f16", "loss_scale.type=dynamic", "loss_scale.init=65536", "loss_scale.window=7"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> s = f16;
    s.push_back(more);
    return s;
  };
  const Result whole = run(train_digits(temp.file("whole"), f16));
  ASSERT_EQ(whole.code, 0) << whole.command << "\n" << whole.err;
  EXPECT_NE(first_line(temp.file("whole/metrics.csv")).find("loss_scale"), std::string::npos);
  ASSERT_EQ(run(train_digits(temp.file("cut"), with("train.max_steps=20"))).code, 0);
  std::vector<std::string> resumed = train_digits(temp.file("cut"), f16);
  resumed.push_back("--resume");
  const Result rest = run(resumed);
  ASSERT_EQ(rest.code, 0) << rest.command << "\n" << rest.err;
  EXPECT_EQ(step_losses(temp.file("cut")), step_losses(temp.file("whole")));
  // Weights are float32, whatever type they were trained in.
  for (const std::string level : {"O0", "O2"}) {
    const Result r = run({"eval", "--checkpoint", checkpoints(temp.file("whole")).back(), "--set", "train.amp_dtype=bf16", "--set", "loss_scale.type=auto",
                          "--set", "loss_scale.init=0", "--set", "loss_scale.window=2000", "--set", "train.amp_level=" + level});
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  }
}

}  // namespace
}  // namespace sindri::app
