// Training algorithms through the program: the output of `sindri boost`, evaluation with either set of weights, and a run that stops within a group of
// accumulated steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/app/program.h"

namespace sindri::app {
namespace {

using testing::HasSubstr;

std::string run_ok(const std::vector<std::string>& arguments) {
  const Result r = run(arguments);
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.out << r.err;
  return r.out;
}

std::vector<std::string> training(const std::string& folder) {
  return {"train",
          "--config",
          "configs/digits.yaml",
          "--quiet",
          "--set",
          "train.run_dir=" + folder,
          "--set",
          "train.epochs=2",
          "--set",
          "lr.total_steps=22",
          "--set",
          "train.batch_size=128",
          "--set",
          "boost.grad_accumulation.enabled=true",
          "--set",
          "boost.grad_accumulation.step=4",
          "--set",
          "boost.average.enabled=true",
          "--set",
          "boost.average.decay=0.5",
          "--set",
          "train.eval_weights=average"};
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// "loss: 0.123" as eval and train print it, with different numbers of digits.
double loss_of(const std::string& text) {
  const size_t at = text.rfind("\nloss: ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + 7));
}

TEST(BoostVerb, ExplainsAndRefuses) {
  const std::string text = run_ok({"boost", "explain", "--set", "boost.grad_accumulation.enabled=true", "--set", "boost.grad_accumulation.step=4"});
  EXPECT_THAT(text, HasSubstr("1. grad_accumulation: makes one update"));
  EXPECT_THAT(text, HasSubstr("   step 4, rest keep\n"));
  EXPECT_THAT(text, HasSubstr("not active: boost.average.enabled is false (default)"));
  EXPECT_THAT(run_ok({"boost", "explain", "--set", "boost.adaptive_clip.enabled=true"}), HasSubstr("except (empty)\n"));
  expect_error(run({"boost", "explain", "--set", "boost.grad_accumulation.step=4"}), 2, "E2010", {"boost.grad_accumulation is off"});
  expect_error(run({"boost", "explain", "--set", "boost.grad_acumulation.step=4"}), 2, "E2011", {"did you mean"});
  const Result missing = run({"boost", "explain"}, {.environment = {{"SINDRI_LIBRARIES", "/nowhere/lib.so"}}});
  expect_error(missing, 2, "E2010", {"the library cannot be loaded", "/nowhere/lib.so"});
}

TEST(BoostVerb, EvaluatesAndExportsEitherWeights) {
  const TempFolder folder;
  const std::string run_dir = folder.file("run");
  const std::string trained = run_ok(training(run_dir));
  const std::string checkpoint = checkpoints(run_dir).back();
  EXPECT_THAT(text_of(run_dir + "/metrics.csv"), HasSubstr("averaged_updates"));
  const std::string averaged = run_ok({"eval", "--checkpoint", checkpoint});
  EXPECT_NEAR(loss_of("\n" + averaged), loss_of(trained), 1e-4) << "settings come from the run, and so do its weights";
  const std::string own = run_ok({"eval", "--checkpoint", checkpoint, "--set", "train.eval_weights=trained"});
  EXPECT_GT(std::abs(loss_of("\n" + own) - loss_of("\n" + averaged)), 1e-3);
  const std::string plain = folder.file("plain.ckpt");
  run_ok({"boost", "weights", "--checkpoint", checkpoint, "--output", plain});
  for (const char* other : {"moments", "grad_accumulation"})
    expect_error(run({"boost", "weights", "--checkpoint", checkpoint, "--weights", other, "--output", folder.file("x.ckpt")}), 2, "E2003",
                 {other, "keeps weights"});
  EXPECT_EQ(run_ok({"eval", "--config", "configs/digits.yaml", "--set", "train.batch_size=128", "--checkpoint", plain}), averaged);
  expect_error(run({"boost", "weights", "--checkpoint", plain, "--output", folder.file("x.ckpt")}), 4, "E4001", {"holds no weights", "average"});
}

// Eleven steps per epoch, groups of four: stopped after step 6, in the middle of both.
TEST(BoostVerb, GoesOnWithinAGroup) {
  const TempFolder folder;
  run_ok(training(folder.file("whole")));
  run_ok(with(training(folder.file("parts")), {"--set", "train.max_steps=6"}));
  run_ok(with(training(folder.file("parts")), {"--resume"}));
  EXPECT_EQ(step_losses(folder.file("parts")), step_losses(folder.file("whole")));
  const auto weights = [](const std::string& run_dir) {
    const TempFolder out;
    return text_of(words(run_ok({"boost", "weights", "--checkpoint", checkpoints(run_dir).back(), "--output", out.file("w.ckpt")}))[0]);
  };
  EXPECT_EQ(weights(folder.file("parts")), weights(folder.file("whole")));
}

}  // namespace
}  // namespace sindri::app
