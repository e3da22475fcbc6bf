// eval by class, and predict on files, folders, patterns and standard input.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/app/evaluation.h"
#include "sindri/core/error.h"
#include "tests/app/program.h"

namespace sindri::app::judge_verbs_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Evaluation three_classes() {
  Evaluation e;
  e.checkpoint = "x.ckpt";
  e.confusion = {{5, 1, 0}, {2, 2, 0}, {0, 0, 0}};
  e.classes = class_scores(e.confusion, {"ape", "bee", "cat"});
  e.samples = 10;
  e.metrics = {{"accuracy", 0.7}, {"loss", std::numeric_limits<double>::infinity()}};
  return e;
}

// Values of scikit-learn's classification_report(zero_division=0) for these counts.
TEST(ClassScores, AreThoseOfScikitLearn) {
  const Evaluation e = three_classes();
  EXPECT_DOUBLE_EQ(e.classes[0].precision, 5.0 / 7);
  EXPECT_DOUBLE_EQ(e.classes[0].recall, 5.0 / 6);
  EXPECT_DOUBLE_EQ(e.classes[0].f1, 10.0 / 13);
  EXPECT_DOUBLE_EQ(e.classes[1].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(e.classes[1].recall, 0.5);
  EXPECT_EQ(e.classes[1].support, 4);
  EXPECT_EQ(e.classes[1].predicted, 3);
  EXPECT_EQ(e.classes[2].precision, 0);
  EXPECT_EQ(e.classes[2].f1, 0);
  const json j = json::parse(evaluation_json(e));
  EXPECT_DOUBLE_EQ(j["macro_average"]["recall"], (5.0 / 6 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(j["weighted_average"]["precision"], (6 * 5.0 / 7 + 4 * 2.0 / 3) / 10);
  EXPECT_TRUE(j["metrics"]["loss"].is_null()) << "JSON has no infinity";
  EXPECT_EQ(j["confusion"][1][0], 2);
  EXPECT_THROW(class_scores({{1, 2}}, {"a"}), ValueError);
  EXPECT_THROW(class_scores({{1}}, {"a", "b"}), ValueError);
}

TEST(ClassScores, TablesKeepToTheirWidth) {
  Evaluation e = three_classes();
  EXPECT_THAT(class_table(e), HasSubstr("ape                  0.7143     0.8333     0.7692          6\n"));
  EXPECT_THAT(confusion_table(e), HasSubstr("0 ape       5  1  .\n"));
  std::vector<std::string> names;
  e.confusion.assign(40, std::vector<int64_t>(40, 12345));
  for (int i = 0; i < 40; ++i) names.push_back("straße, ein sehr langer Name von vielen Zeichen, Nummer " + std::to_string(i));
  e.classes = class_scores(e.confusion, names);
  for (const int width : {60, 80, 120}) {
    for (const std::string& table : {class_table(e, width), confusion_table(e, width)}) {
      std::istringstream in(table);
      for (std::string line; std::getline(in, line);) {
        const auto characters = std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; });
        EXPECT_LE(characters, std::max<int64_t>(width, 68)) << line;
      }
    }
  }
}

class EvaluationVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new TempFolder;
    make_jpeg_data(shared_->file("data"));
    const Result r = run({"train", "--quiet", "--set", "model.name=resnet20", "--set", "data.path=" + shared_->file("data"), "--set",
                          "train.run_dir=" + shared_->file("run"), "--set", "train.batch_size=16", "--set", "train.epochs=2"});
    ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
    checkpoint_ = checkpoints(shared_->file("run")).back();
  }
  static void TearDownTestSuite() { delete shared_; }
  static std::vector<std::string> predict(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"predict", "--checkpoint", checkpoint_, "--top", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::string ok(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
    const Result r = run(arguments, options);
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.out << r.err;
    return r.out;
  }
  // The program reads that file, or the given text, as its standard input.
  static RunOptions reading(const std::string& path) {
    RunOptions o;
    o.in_child = [path] {
      const int fd = open(path.c_str(), O_RDONLY);
      dup2(fd, STDIN_FILENO);
    };
    return o;
  }
  static TempFolder* shared_;
  static std::string checkpoint_;
  TempFolder temp_;
};
TempFolder* EvaluationVerbs::shared_ = nullptr;
std::string EvaluationVerbs::checkpoint_;

TEST_F(EvaluationVerbs, EvalByClassAgreesWithPredict) {
  const std::string text = ok({"eval", "--checkpoint", checkpoint_, "--per-class", "--json", temp_.file("e.json"), "--plot", temp_.file("e.png")});
  EXPECT_THAT(text, HasSubstr("accuracy: "));
  EXPECT_THAT(text, HasSubstr("class_1 "));
  EXPECT_THAT(text, HasSubstr("weighted mean"));
  std::ifstream png(temp_.file("e.png"), std::ios::binary);
  std::string magic(4, '\0');
  png.read(magic.data(), 4);
  EXPECT_EQ(magic, "\x89PNG");
  std::ifstream in(temp_.file("e.json"));
  const json j = json::parse(in);
  EXPECT_EQ(j["samples"], 12);
  ASSERT_EQ(j["classes"].size(), 3u);
  EXPECT_EQ(json::parse(ok({"eval", "--checkpoint", checkpoint_, "--json", "-"})), j);
  // The labels that predict prints for the files of class_0, counted.
  const json predicted = json::parse(ok(predict({shared_->file("data/test/class_0"), "--json", "-"})));
  std::vector<int64_t> row(3, 0);
  for (const json& p : predicted) ++row[static_cast<size_t>(p["classes"][0]["name"].get<std::string>().back() - '0')];
  EXPECT_EQ(json(row), j["confusion"][0]);
}

TEST_F(EvaluationVerbs, PredictTakesPatternsListsAndTheStandardInput) {
  const std::string folder = shared_->file("data/test/class_1"), whole = ok(predict({folder}));
  EXPECT_EQ(ok(predict({folder + "/*.jpg"})), whole) << "the shell did not expand it";
  EXPECT_EQ(ok(predict({shared_->file("data/test/class_[1]")})), whole) << "a pattern for folders";
  std::string first;
  for (const auto& entry : fs::directory_iterator(folder)) first = first.empty() ? entry.path().string() : std::min(first, entry.path().string());
  const std::string one = ok(predict({first})), by_bytes = ok(predict({"-"}), reading(first));
  EXPECT_EQ(by_bytes, "-\n" + one.substr(first.size() + 1));
  std::ofstream(temp_.file("list")) << first << "\r\n\n" << folder << "\n";
  EXPECT_EQ(ok(predict({"--files-from", temp_.file("list")})), one + whole);
  EXPECT_EQ(ok(predict({"--files-from", "-"}), reading(temp_.file("list"))), one + whole);
}

TEST_F(EvaluationVerbs, WhatIsNoImageIsNamed) {
  const std::string text = temp_.file("text.jpg"), good = shared_->file("data/test/class_0");
  std::ofstream(text) << "no image at all";
  std::ofstream(temp_.file("empty.jpg"));
  const Result r = run(predict({good, text}));
  expect_error(r, 3, "E3004", {"not a readable image", text, "data.on_corrupt=skip"});
  EXPECT_THAT(r.out, HasSubstr("class_0/")) << "the files before it were classified";
  EXPECT_THAT(r.err, Not(HasSubstr("generated row")));
  expect_error(run(predict({temp_.file("empty.jpg")})), 3, "E3004", {"empty.jpg", "the file is empty"});
  const Result left = run(predict({text, good, temp_.file("empty.jpg"), "--set", "data.on_corrupt=skip"}));
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_EQ(left.out, ok(predict({good})));
  EXPECT_THAT(left.err, HasSubstr("skipped, not a readable image: " + text));
  EXPECT_THAT(left.err, HasSubstr("skipped, not a readable image: " + temp_.file("empty.jpg")));
  expect_error(run(predict({text, "--set", "data.on_corrupt=skip"})), 3, "E3004", {"none of the 1 files"});
  expect_error(run(predict({temp_.file("*.png")})), 3, "E3002", {"nothing matches the pattern"});
  expect_error(run(predict({shared_->file("data/test")})), 3, "E3003", {"no images directly in", "data/test/*"});
  expect_error(run(predict({"-"}), reading("/dev/null")), 3, "E3003", {"the standard input is empty"});
  expect_error(run(predict({"-"}), reading(text)), 3, "E3004", {"not a readable image"});
  expect_error(run(predict({"-", "-"}), reading(text)), 3, "E3002", {"named twice"});
  expect_error(run(predict({})), 2, "E2020", {"no images are named", "--files-from"});
  expect_error(run(predict({"--files-from", temp_.file("absent")})), 5, "E5001", {"absent"});
}

}  // namespace
}  // namespace sindri::app::judge_verbs_test
