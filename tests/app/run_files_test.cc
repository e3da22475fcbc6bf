// The files of a run: the report page, plots, histograms and texts for TensorBoard, and the last evaluation in each of them. A run that cannot start leaves
// none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "source_dir.h"
#include "src/train/event_file.h"
#include "tests/app/program.h"
#include "tests/train/checkpoint_util.h"

namespace sindri::app::run_files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> digits(const std::string& run_dir, const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"train", "--config", "configs/digits.yaml", "--quiet"};
  if (!run_dir.empty()) words.insert(words.end(), {"--set", "train.run_dir=" + run_dir});
  for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
  return words;
}

// Fields of a protobuf message: number -> contents, for length-delimited fields their bytes.
std::multimap<uint64_t, std::string> fields(std::string_view m) {
  std::multimap<uint64_t, std::string> out;
  const auto varint = [&m] {
    uint64_t v = 0;
    for (int shift = 0; !m.empty(); shift += 7) {
      const auto b = static_cast<uint8_t>(m[0]);
      m.remove_prefix(1);
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) break;
    }
    return v;
  };
  while (!m.empty()) {
    const uint64_t key = varint();
    const uint64_t n = (key & 7) == 0 ? 0 : (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : varint();
    if ((key & 7) == 0) {
      out.emplace(key >> 3, std::to_string(varint()));
    } else {
      out.emplace(key >> 3, std::string(m.substr(0, n)));
      m.remove_prefix(std::min<size_t>(n, m.size()));
    }
  }
  return out;
}
std::string field(std::string_view m, uint64_t number) {
  const auto all = fields(m);
  const auto it = all.find(number);
  return it == all.end() ? "" : it->second;
}
template <class T> std::vector<T> packed(const std::string& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

struct Value {
  int64_t step;
  std::string message;
};
// tag -> its values, from the event file of a folder.
std::map<std::string, std::vector<Value>> events_of(const std::string& folder) {
  std::map<std::string, std::vector<Value>> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("events.out")) continue;
    const std::string bytes = train::read_all(entry.path().string());
    for (size_t at = 0; at + 16 <= bytes.size();) {
      uint64_t n = 0;
      std::memcpy(&n, bytes.data() + at, 8);
      const std::string event = bytes.substr(at + 12, n), step = field(event, 2);
      for (const auto& [number, value] : fields(field(event, 5)))
        if (number == 1) out[field(value, 1)].push_back({step.empty() ? 0 : std::stoll(step), value});
      at += n + 16;
    }
  }
  return out;
}
double scalar(const Value& v) {
  const std::string raw = field(v.message, 2);
  return raw.size() == 4 ? static_cast<double>(packed<float>(raw)[0]) : NAN;
}

TEST(EventFile, Histograms) {
  const TempFolder temp;
  {
    train::EventFile file(temp.path());
    file.histogram("w", 7, {-1, -0.5, 0, 0, 0.25, 1, NAN, INFINITY});
    file.histogram("constant", 7, {3, 3, 3});
    file.histogram("nothing", 7, {NAN});
  }
  const auto events = events_of(temp.path());
  EXPECT_EQ(events.size(), 2u) << "none for values that are not finite";
  const std::string h = field(events.at("w")[0].message, 5);
  EXPECT_EQ(events.at("w")[0].step, 7);
  EXPECT_EQ(packed<double>(field(h, 1))[0], -1);
  EXPECT_EQ(packed<double>(field(h, 2))[0], 1);
  EXPECT_EQ(packed<double>(field(h, 3))[0], 6);
  EXPECT_EQ(packed<double>(field(h, 4))[0], -0.25);
  EXPECT_EQ(packed<double>(field(h, 5))[0], 1 + 0.25 + 0.0625 + 1);
  const std::vector<double> limits = packed<double>(field(h, 6)), counts = packed<double>(field(h, 7));
  ASSERT_EQ(limits.size(), counts.size());
  EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
  EXPECT_GE(limits.back(), 1);
  double total = 0, below_zero = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    if (limits[i] <= 0) below_zero += counts[i];
  }
  EXPECT_EQ(total, 6);
  EXPECT_EQ(below_zero, 2) << "a bucket includes its limit";
  EXPECT_EQ(packed<double>(field(field(events.at("constant")[0].message, 5), 3))[0], 3);
}

TEST(RunFiles, EventFileHoldsWhatTensorBoardShows) {
  const TempFolder temp;
  const Result r = run(digits(temp.file("run"), {"train.epochs=2"}));
  ASSERT_EQ(r.code, 0) << r.err;
  const auto events = events_of(temp.file("run"));
  EXPECT_EQ(events.at("train/loss").size(), 88u);
  ASSERT_EQ(events.at("lr").size(), 88u);
  EXPECT_LT(scalar(events.at("lr")[0]), scalar(events.at("lr")[40])) << "the learning rate warms up";
  ASSERT_EQ(events.at("throughput/samples_per_sec").size(), 2u);
  EXPECT_GT(scalar(events.at("throughput/samples_per_sec")[0]), 0);
  EXPECT_EQ(events.at("eval/accuracy").size(), 2u);
  // Every parameter after every epoch, with all of its values.
  int64_t values = 0, histograms = 0;
  for (const auto& [tag, list] : events) {
    if (!tag.starts_with("weights/")) continue;
    ++histograms;
    ASSERT_EQ(list.size(), 2u) << tag;
    EXPECT_EQ(list[0].step, 44);
    values += static_cast<int64_t>(packed<double>(field(field(list[1].message, 5), 3))[0]);
  }
  EXPECT_GT(histograms, 4);
  EXPECT_GE(values, 25978);
  // Images are PNG files with the size that the event states.
  for (const char* tag : {"images/evaluation", "report"}) {
    const std::string image = field(events.at(tag).at(0).message, 4), png = field(image, 4);
    ASSERT_TRUE(png.starts_with("\x89PNG")) << tag;
    const auto number = [&](size_t at) { return std::to_string((static_cast<uint8_t>(png[at + 2]) << 8) | static_cast<uint8_t>(png[at + 3])); };
    EXPECT_EQ(field(image, 1), number(20)) << tag;
    EXPECT_EQ(field(image, 2), number(16)) << tag;
  }
  const Value& settings = events.at("settings").at(0);
  EXPECT_EQ(field(field(field(settings.message, 9), 1), 1), "text");
  EXPECT_THAT(field(field(settings.message, 8), 8), HasSubstr("    optimizer:\n"));

  const Result none = run(digits(temp.file("without"), {"train.epochs=1", "log.histograms=0"}));
  ASSERT_EQ(none.code, 0) << none.err;
  for (const auto& [tag, list] : events_of(temp.file("without"))) EXPECT_FALSE(tag.starts_with("weights/")) << tag;
}

TEST(RunFiles, ReportPageStandsAlone) {
  const TempFolder temp;
  const Result r = run(digits(temp.file("run"), {"train.epochs=2", "checkpoint.prefix=a<b&c"}));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("report:     " + temp.file("run/report.html")));
  const std::string page = train::read_all(temp.file("run/report.html"));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, HasSubstr("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(page, HasSubstr("<th>epoch</th>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>2</td>"));
  EXPECT_THAT(page, HasSubstr("prefix: &quot;a&lt;b&amp;c&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("a<b")));
  for (const char* outside : {"http:", "https:", "src=\"/", "<script", "<link", "@import", "url("}) EXPECT_THAT(page, Not(HasSubstr(outside)));
}

// However a run ends, the last evaluation's result is in metrics.csv, metrics.jsonl, log.txt, the event file and the page.
TEST(RunFiles, TheLastEvaluationIsEverywhere) {
  struct Kind {
    const char* name;
    std::vector<std::string> settings;
    int64_t steps;
  };
  for (const Kind& kind : {Kind{"WithinAnEpoch", {"train.max_steps=60"}, 60}, Kind{"BeforeTheFirstEpochEnds", {"train.max_steps=7"}, 7},
                           Kind{"AtAnEpochsEnd", {"train.max_steps=88"}, 88}, Kind{"SeldomEvaluated", {"train.epochs=3", "train.eval_interval=2"}, 132},
                           Kind{"NeverEvaluated", {"train.epochs=2", "train.eval_interval=0"}, 88},
                           Kind{"Sunk", {"train.epochs=2", "train.sink_mode=true", "train.sink_size=30", "train.eval_interval=0"}, 60}}) {
    SCOPED_TRACE(kind.name);
    const TempFolder temp;
    const std::string folder = temp.file("run");
    const Result r = run(digits(folder, kind.settings));
    ASSERT_EQ(r.code, 0) << r.command << r.err;
    const size_t at = r.out.find("\naccuracy: ");
    ASSERT_NE(at, std::string::npos) << r.out;
    const double accuracy = std::stod(r.out.substr(at + 11));
    // The column of that name in the last row.
    std::istringstream csv(train::read_all(folder + "/metrics.csv"));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(csv, line);) {
      std::istringstream cells(line);
      rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
    }
    const auto column = std::find(rows[0].begin(), rows[0].end(), "eval_accuracy");
    ASSERT_NE(column, rows[0].end());
    ASSERT_EQ(rows.back().size(), rows[0].size());
    EXPECT_NEAR(std::stod(rows.back()[static_cast<size_t>(column - rows[0].begin())]), accuracy, 5e-5);
    const auto events = events_of(folder);
    EXPECT_EQ(events.at("eval/accuracy").back().step, kind.steps);
    EXPECT_NEAR(scalar(events.at("eval/accuracy").back()), accuracy, 5e-5);
    std::set<int64_t> steps;
    for (const Value& v : events.at("eval/accuracy")) EXPECT_TRUE(steps.insert(v.step).second) << "once a step";
    const std::string text = r.out.substr(at + 11, 6);  // as printed
    EXPECT_THAT(train::read_all(folder + "/log.txt"), HasSubstr("accuracy " + text));
    EXPECT_THAT(train::read_all(folder + "/report.html"), HasSubstr("accuracy<b>" + text));
    EXPECT_THAT(train::read_all(folder + "/metrics.jsonl"), HasSubstr("\"step\":" + std::to_string(kind.steps)));
  }
}

// A process may be killed before it has written them; resuming the folder writes them.
TEST(RunFiles, AResumedRunHoldsTheTexts) {
  const TempFolder temp;
  std::vector<std::string> words = digits(temp.file("run"), {"train.max_steps=7"});
  words.push_back("--resume");
  for (int i = 0; i < 2; ++i) {
    const Result r = run(words);
    ASSERT_EQ(r.code, 0) << r.err;
    const auto events = events_of(temp.file("run"));
    for (const char* text : {"settings", "run"}) {
      ASSERT_TRUE(events.contains(text)) << text;
      EXPECT_EQ(events.at(text).size(), 1u) << text;
    }
  }
}

// The newest checkpoint is from an epoch's last step, and the resumed run only completes the epoch: its row is written again, without a step to measure.
TEST(RunFiles, AnEpochsRateOutlivesItsResume) {
  const TempFolder temp;
  const std::string folder = temp.file("run");
  std::vector<std::string> words = digits(folder, {"train.epochs=2", "checkpoint.save_every_steps=44", "checkpoint.save_every_epochs=0"});
  const auto rates = [&] {
    std::map<int64_t, float> out;
    const auto events = events_of(folder);
    for (const Value& v : events.at("throughput/samples_per_sec")) out[v.step] = scalar(v);
    return out;
  };
  const Result r = run(words);
  ASSERT_EQ(r.code, 0) << r.err;
  const std::map<int64_t, float> before = rates();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_GT(before.at(88), 0);
  // As if the process had been killed before it saved the end.
  for (const auto& entry : fs::directory_iterator(folder + "/checkpoints"))
    if (entry.path().extension() == ".ckpt" && entry.path().filename().string().find("_44") == std::string::npos) fs::remove(entry.path());
  words.push_back("--resume");
  const Result again = run(words);
  ASSERT_EQ(again.code, 0) << again.err;
  const std::map<int64_t, float> after = rates();
  ASSERT_EQ(after.size(), 2u);
  for (const auto& [step, rate] : before) EXPECT_FLOAT_EQ(after.at(step), rate) << "step " << step;
}

// A numbered folder without any training would only use up its number.
TEST(RunFiles, AFailedStartLeavesNothing) {
  const TempFolder temp;
  const RunOptions there{.directory = temp.path()};
  const std::string root = SINDRI_SOURCE_DIR;
  const auto start = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train", "--config", root + "/configs/digits.yaml", "--set", "data.path=" + root + "/dataset/digits"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, there);
  };
  expect_error(start({"--checkpoint", "none.ckpt"}), 4, "E4001", {"none.ckpt"});
  EXPECT_FALSE(fs::exists(temp.file("runs")));
  // An error that appears in the first step: a file with an image's name that is not an image.
  make_jpeg_data(temp.file("data"), 2, 16, 4);
  for (const auto& entry : fs::recursive_directory_iterator(temp.file("data/train")))
    if (entry.is_regular_file()) std::ofstream(entry.path()) << "some text";
  const Result corrupt = run({"train", "--set", "model.name=resnet20", "--set", "data.path=" + temp.file("data"), "--set", "train.batch_size=4"}, there);
  EXPECT_EQ(corrupt.code, 3) << corrupt.err;
  EXPECT_FALSE(fs::exists(temp.file("runs"))) << "unchanged";
  fs::create_directories(temp.file("mine"));
  std::ofstream(temp.file("mine/notes.txt")) << "kept";
  const Result named =
      run({"train", "--set", "model.name=resnet20", "--set", "data.path=" + temp.file("data"), "--set", "train.batch_size=4", "--set", "train.run_dir=mine"},
          there);
  EXPECT_EQ(named.code, 3) << named.err;
  EXPECT_TRUE(fs::exists(temp.file("mine/notes.txt")));
  const Result good = start({"--set", "train.max_steps=2"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_TRUE(fs::exists(temp.file("runs/digits-001/metrics.csv"))) << "the first number is free";
}

}  // namespace
}  // namespace sindri::app::run_files_test
