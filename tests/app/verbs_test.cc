// The verbs of the program on good input: their output, and agreement between train, eval and predict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>

#include "source_dir.h"
#include "tests/app/program.h"
#include "tests/dataset/encode_image.h"

namespace sindri::app::verbs_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string run_ok(const std::vector<std::string>& arguments) {
  const Result r = run(arguments);
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.out << r.err;
  return r.out;
}

// The rest of the line that starts with `label`.
std::string value_of(const std::string& text, const std::string& label) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(label)) return line.substr(line.find_first_not_of(' ', label.size()));
  }
  ADD_FAILURE() << "no line '" << label << "' in\n" << text;
  return "";
}

TEST(Verbs, HelpIsShortAndStartsWithTwoExamples) {
  for (const std::string verb : {"",       "train", "eval",    "predict", "summary", "benchmark", "profile", "plan",   "boost",      "ops",
                                 "doctor", "msrun", "scripts", "docs",    "convert", "compare",   "map",     "manual", "completion", "version"}) {
    const std::string text = run_ok(verb.empty() ? std::vector<std::string>{"--help"} : std::vector<std::string>{verb, "--help"});
    SCOPED_TRACE(text);
    const std::vector<std::string> lines = lines_of(text);
    EXPECT_LE(lines.size(), 60u);
    ASSERT_GE(lines.size(), 6u);
    EXPECT_EQ(lines[2], "Examples:");
    EXPECT_TRUE(lines[3].starts_with("  sindri ") || lines[3].starts_with("  SINDRI_") || lines[3].starts_with("  source <(sindri "));
    EXPECT_THAT(lines[3], HasSubstr("sindri " + (verb.empty() ? "train" : verb)));
    EXPECT_THAT(lines[4], HasSubstr("sindri " + (verb.empty() ? "summary" : verb)));
    EXPECT_THAT(text, testing::Not(HasSubstr(fs::path(program_path()).parent_path().string()))) << "no path of this machine";
  }
}

// The pages contain everything in --help: every flag of every verb.
TEST(Verbs, ManPagesAndCompletionKnowEveryFlag) {
  const TempFolder temp;
  run_ok({"manual", "--all", temp.file("")});
  const std::string completion = run_ok({"completion"});
  int verbs = 0;
  for (const auto& entry : fs::directory_iterator(temp.file(""))) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("sindri-")) continue;
    ++verbs;
    const std::string verb = name.substr(7), help = run_ok({verb, "--help"});
    std::ifstream in(entry.path());
    std::string page{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(page, run_ok({"manual", verb}));
    for (const char* part : {".TH SINDRI\\-", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXAMPLES\n", ".SH SEE ALSO\n"}) EXPECT_THAT(page, HasSubstr(part)) << name;
    std::erase(page, '\\');  // \\- is an escaped hyphen
    EXPECT_THAT(completion, HasSubstr("    " + verb + ") words=\""));
    for (const std::string& line : lines_of(help)) {
      for (const std::string& word : words(line)) {
        if (!line.starts_with("  -") || !word.starts_with("--")) continue;
        const std::string flag = word.substr(0, word.find_first_of(",=:"));  // "--resume:RUN" takes a value or none
        EXPECT_THAT(page, HasSubstr(flag)) << name;
        EXPECT_THAT(completion, HasSubstr(flag)) << name;
      }
    }
  }
  EXPECT_GT(verbs, 12);
  EXPECT_TRUE(fs::exists(temp.file("sindri.1")));
  EXPECT_EQ(run({"manual", "trian"}).code, 2);
  EXPECT_EQ(run({"manual", "--all", temp.file("absent")}).code, 5);
}

// Settings by name, from a folder without the sources or an installation's files.
TEST(Verbs, SettingsByName) {
  const TempFolder temp;
  RunOptions elsewhere;
  elsewhere.directory = temp.file("");
  const Result named = run({"train", "quickstart", "--print-config"}, elsewhere);
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("kind: digits"));
  EXPECT_THAT(run({"train", "resnet20_cifar10", "--print-config"}, elsewhere).out, HasSubstr("name: resnet20"));
  const Result near = run({"train", "resnet20_cifar", "--print-config"}, elsewhere);
  EXPECT_EQ(near.code, 2);
  EXPECT_THAT(near.err, HasSubstr("did you mean 'resnet20_cifar10'"));
  const Result file = run({"train", "configs/digits.yaml"});
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("--config FILE"));
  EXPECT_EQ(run({"train", "quickstart", "--config", "configs/digits.yaml"}).code, 2);
}

TEST(Verbs, OpsListsTheRegistry) {
  EXPECT_GT(lines_of(run_ok({"ops"})).size(), 140u);
  const std::string conv = run_ok({"ops", "conv2d"});
  EXPECT_THAT(conv, HasSubstr("attributes: stride=[1, 1], pad=[0, 0, 0, 0]"));
  EXPECT_THAT(conv, HasSubstr("gradient: yes"));
  EXPECT_EQ(value_of(conv, "mixed precision:"), "half");
  EXPECT_THAT(conv, HasSubstr("onednn"));
  const Result r = run({"ops", "conv3"});
  EXPECT_EQ(r.code, 2) << r.err;
  EXPECT_THAT(r.err, HasSubstr("there is no op 'conv3'"));
  EXPECT_THAT(r.err, HasSubstr("conv2d"));
}

TEST(Verbs, OpsDocumentIsUpToDate) {
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/docs/ops.md");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(run_ok({"ops", "--markdown"}) == text) << "docs/ops.md differs from the registry: sindri ops --markdown > docs/ops.md";
}

TEST(Verbs, ExamplesOfTheHelpAreAccepted) {
  EXPECT_THAT(run_ok({"summary", "resnet20", "--set", "model.num_classes=10", "--all"}), HasSubstr("parameters: 27"));
  EXPECT_THAT(run_ok({"train", "--config", "configs/digits.yaml", "--print-config"}), testing::ContainsRegex("name: digits +# digits.yaml"));
}

TEST(Verbs, SummaryCounts) {
  EXPECT_THAT(run_ok({"summary", "resnet50"}), HasSubstr("parameters: 25,557,032"));
  EXPECT_THAT(run_ok({"summary", "resnet18"}), HasSubstr("parameters: 11,689,512"));
  EXPECT_THAT(run_ok({"summary"}), HasSubstr("seresnet50"));
}

// The largest image takes no more memory than any other, because nothing is computed. The work of convolutions grows with the area; the last layer's stays.
TEST(Verbs, SummaryOfAnySize) {
  if (std::getenv("ASAN_OPTIONS") != nullptr || std::getenv("TSAN_OPTIONS") != nullptr) GTEST_SKIP() << "sanitizers reserve more than the limit";
  const auto multiply_adds = [](const std::string& side) {
    const Result r = run({"summary", "resnet50", "--json", "-", "--set", "data.image_size=" + side}, {.in_child = [] {
                           const rlimit most{rlim_t{3} << 30, rlim_t{3} << 30};
                           setrlimit(RLIMIT_AS, &most);
                         }});
    EXPECT_EQ(r.code, 0) << r.err;
    return nlohmann::json::parse(r.out).at("multiply_adds").get<int64_t>();
  };
  constexpr int64_t kLast = 2048 * 1000;
  EXPECT_EQ(multiply_adds("224"), 4'089'184'256);  // as torchvision's ResNet-50 has it
  EXPECT_EQ(multiply_adds("4096"), (multiply_adds("224") - kLast) / 49 * 128 * 128 + kLast);
}

TEST(Verbs, VersionAndDoctor) {
  EXPECT_THAT(run_ok({"version"}), testing::MatchesRegex("sindri [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(run_ok({"--version"}), run_ok({"version"}));
  const std::string text = run_ok({"doctor"});
  for (const char* label : {"      sindri: ", "OK    cpu: ", " memory: ", "      ops: "}) EXPECT_THAT(text, HasSubstr(label));
  // At most the requested instruction set, which may exceed the processor's.
  const std::string best = value_of(text, "OK    instruction set in use: ");
  bool above = false;
  for (const char* isa : {"scalar", "avx2", "avx512", "avx512_bf16", "avx512_amx"}) {
    const Result r = run({"doctor"}, {.environment = {{"SINDRI_CPU_ISA", isa}}});
    const std::string verdict = std::string(isa) == "scalar" ? "WARN  " : "OK    ";
    EXPECT_EQ(value_of(r.out, verdict + "instruction set in use: "), above ? best : isa) << r.command << "\n" << r.err;
    above = above || best == isa;
  }
}

TEST(Verbs, PrintConfigNamesEverySource) {
  const Result r =
      run({"train", "--config", "configs/digits.yaml", "--set", "lr.max=0.25", "--print-config"}, {.environment = {{"SINDRI_TRAIN__EPOCHS", "7"}}});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, testing::ContainsRegex("model:\n  name: digits +# digits.yaml:3:3"));
  EXPECT_THAT(r.out, testing::ContainsRegex("  epochs: 7 +# SINDRI_TRAIN__EPOCHS"));
  EXPECT_THAT(r.out, testing::ContainsRegex("  max: 0.25 +# --set"));
  EXPECT_THAT(r.out, testing::ContainsRegex("  seed: 1 +# default"));
  // The output is a settings file: reading it gives the same settings.
  const TempFolder temp;
  std::ofstream(temp.file("printed.yaml")) << r.out;
  EXPECT_THAT(run_ok({"train", "--config", temp.file("printed.yaml"), "--print-config"}), testing::ContainsRegex("  epochs: 7 +# printed.yaml"));
}

// The steps that refresh the curvature, their time and memory; a run that stops between two refreshes resumes with a bitwise identical result.
TEST(Verbs, SecondOrderTraining) {
  const TempFolder temp;
  const auto train = [&](const std::string& run, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--config", "configs/digits.yaml"};
    for (const char* setting : {"optimizer.name=thor", "optimizer.frequency=20", "optimizer.damping=0.1", "optimizer.nesterov=true", "lr.max=0.01",
                                "lr.total_steps=88", "train.epochs=2"})
      arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), {"--set", "train.run_dir=" + temp.file(run)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_ok(arguments);
  };
  const std::string out = train("whole", {});
  EXPECT_THAT(out, HasSubstr("88 steps: 5 that refresh of "));
  EXPECT_THAT(out, HasSubstr(" ms, 83 that reuse of "));
  EXPECT_THAT(out, HasSubstr("curvature of 4 parameters, 0.48 MB of inverses; largest: conv3.weight (64 x 288) 0.21 MB"));
  train("parts", {"--set", "train.max_steps=50"});
  train("parts", {"--resume"});
  const auto last = [&](const std::string& run) {
    std::stringstream csv;
    csv << std::ifstream(temp.file(run) + "/metrics.csv").rdbuf();
    const std::string row = lines_of(csv.str()).back();
    return row.substr(0, row.find(',', row.find(',') + 1)) + row.substr(row.rfind(','));  // without the speed
  };
  EXPECT_EQ(last("parts"), last("whole"));
  // Measurements at each refresh, also across an interruption: the same lines, a plot of them, and a table of the memory held.
  const auto text_of = [&](const std::string& file) {
    std::stringstream text;
    text << std::ifstream(temp.file(file)).rdbuf();
    return text.str();
  };
  const auto measured = [&](const std::string& run) {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(text_of(run + "/metrics.jsonl")))
      if (line.find("\"event\":\"measures\"") != std::string::npos) found.push_back(line.substr(line.find("\"epoch\"")));
    return found;
  };
  EXPECT_THAT(measured("whole"), testing::SizeIs(5));
  EXPECT_THAT(measured("whole")[1], HasSubstr("\"step\":21,\"trace of A/conv1.weight\":"));
  EXPECT_EQ(measured("parts"), measured("whole"));
  EXPECT_GT(fs::file_size(temp.file("parts/measures.png")), 10'000u);
  EXPECT_THAT(text_of("whole/report.html"), HasSubstr("<tr><td>conv3.weight</td><td>conv2d</td><td>288</td><td>64</td><td>0.213</td></tr>"));
  EXPECT_THAT(run_ok({"train", "--config", "configs/digits.yaml", "--set", "train.epochs=1", "--set", "train.run_dir=" + temp.file("plain")}),
              testing::Not(HasSubstr("curvature")));
}

TEST(Verbs, DryRunWritesNothing) {
  const TempFolder temp;
  for (const std::string mode : {"graph", "pynative"}) {
    const std::string out =
        run_ok({"train", "--config", "configs/digits.yaml", "--dry-run", "--set", "train.run_dir=" + temp.file("run"), "--set", "train.mode=" + mode});
    for (const char* label : {"data: digits, 1438 training and 359 evaluation samples", "net: digits, 25978 parameters",
                              "first step: ", "estimated time for 20 epochs of 44 steps: "})
      EXPECT_THAT(out, HasSubstr(label));
    if (mode == "graph") { EXPECT_THAT(out, HasSubstr("memory for intermediate values: ")); }
    EXPECT_FALSE(fs::exists(temp.file("run")));
  }
}

// The memory is that of the larger of the two graphs; for small batches this is the graph that updates.
TEST(Verbs, DryRunSeesTheStepThatUpdates) {
  const auto memory = [](const std::string& step) {
    const std::string text = run_ok({"train", "--config", "configs/digits.yaml", "--dry-run", "--set", "train.batch_size=2", "--set", "optimizer.name=lamb",
                                     "--set", "boost.grad_accumulation.enabled=true", "--set", "boost.grad_accumulation.step=" + step});
    const std::string label = "memory for intermediate values: ";
    const size_t at = text.find(label);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + label.size()));
  };
  const double plain = memory("1");
  EXPECT_GT(plain, 0);
  EXPECT_GE(memory("4"), plain);
}

// Pages name examples by their path in the sources; from another folder that means the installed file, or that of a build's sources.
TEST(Verbs, ExamplesAreFoundFromAnyFolder) {
  const TempFolder temp;
  const RunOptions there{.directory = temp.path()};
  const Result r = run({"train", "--config", "configs/digits.yaml", "--print-config"}, there);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("# digits.yaml:"));  // where values come from
  expect_error(run({"train", "--config", "configs/none.yaml"}, there), 2, "E2010", {"configs/none.yaml"});
  expect_error(run({"train", "--config", "digits.yaml"}, there), 2, "E2010", {"digits.yaml"});
  fs::create_directory(temp.file("configs"));
  std::ofstream(temp.file("configs/digits.yaml")) << "train: {epochs: 77}\n";
  EXPECT_THAT(run({"train", "--config", "configs/digits.yaml", "--print-config"}, there).out, HasSubstr("epochs: 77"));  // a file of the user's
}

// The first lines show what is trained, with the settings given.
TEST(Verbs, TheFirstLinesNameTheRecipe) {
  const TempFolder temp;
  const std::string out = run_ok({"train",
                                  "--config",
                                  "configs/digits.yaml",
                                  "--set",
                                  "train.max_steps=2",
                                  "--set",
                                  "train.run_dir=" + temp.file("run"),
                                  "--set",
                                  "optimizer.name=lamb",
                                  "--set",
                                  "lr.schedule=constant",
                                  "--set",
                                  "lr.warmup_epochs=0",
                                  "--set",
                                  "lr.max=0.01",
                                  "--set",
                                  "train.amp_level=O2",
                                  "--set",
                                  "boost.average.enabled=true",
                                  "--set",
                                  "boost.less_bn.enabled=false"});
  EXPECT_THAT(out, HasSubstr("training: lamb, learning rate 0.01 (constant), bf16 O2; cpu ("));
  EXPECT_THAT(out, HasSubstr("; training algorithms: average\n"));
}

TEST(Verbs, TrainLeavesARunFolderAndEvalAgrees) {
  const TempFolder temp;
  const std::string out = run_ok({"train", "--config", "configs/digits.yaml", "--set", "train.epochs=2", "--set", "train.run_dir=" + temp.file("run")});
  EXPECT_EQ(out.find('\r'), std::string::npos) << "not a terminal: plain lines";
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  for (const char* name : {"config.resolved.yaml", "env.json", "repro.json", "metrics.jsonl", "metrics.csv", "log.txt", "report.png", "report.html"})
    EXPECT_GT(fs::file_size(temp.file("run") + "/" + name), 0u) << name;
  for (const char* label : {"checkpoint: ", "metrics:", "plot:", "report:"}) EXPECT_TRUE(fs::exists(value_of(out, label))) << label;
  const auto env = nlohmann::json::parse(std::ifstream(temp.file("run/env.json")));
  EXPECT_THAT(env.at("command").get<std::string>(), HasSubstr("--set train.epochs=2"));

  EXPECT_THAT(out, HasSubstr("\ntraining: momentum, learning rate 0.05 (cosine, 1 epoch of warm-up), float32; cpu ("));
  EXPECT_THAT(out, HasSubstr("), batch size 32; no training algorithms\n"));
  EXPECT_THAT(out, testing::Not(HasSubstr("SINDRI_KERNEL_CHOICES")));  // how to reproduce the exact result belongs in the log

  // The next command it names, verbatim.
  std::vector<std::string> next = words(value_of(out, "next: "));
  ASSERT_GE(next.size(), 4u);
  EXPECT_EQ(next[0], program_path());
  next.erase(next.begin());
  const std::string eval = run_ok(next);
  EXPECT_NEAR(std::stod(value_of(eval, "accuracy: ")), std::stod(value_of(out, "accuracy: ")), 5e-5);
  EXPECT_NEAR(std::stod(value_of(eval, "loss: ")), std::stod(value_of(out, "loss: ")), 5e-5);
  EXPECT_GT(std::stod(value_of(eval, "accuracy: ")), 0.8);
  next.insert(next.end(), {"--set", "train.mode=pynative"});
  const std::string op_by_op = run_ok(next);  // batch norm is not folded into the weights here, which changes the last bits
  EXPECT_EQ(value_of(op_by_op, "accuracy: "), value_of(eval, "accuracy: "));
  EXPECT_NEAR(std::stod(value_of(op_by_op, "loss: ")), std::stod(value_of(eval, "loss: ")), 2e-6);

  // A drawn digit, white on black like the data.
  cv::Mat one(64, 64, CV_8UC3, cv::Scalar::all(0));
  cv::line(one, {34, 4}, {34, 60}, cv::Scalar::all(255), 12);
  dataset::write_image(temp.file("one.png"), one);
  const std::vector<std::string> predicted = lines_of(run_ok({"predict", "--checkpoint", value_of(out, "checkpoint: "), "--top", "3", temp.file("one.png")}));
  ASSERT_EQ(predicted.size(), 4u);
  EXPECT_EQ(predicted[0], temp.file("one.png"));
  EXPECT_EQ(words(predicted[1]).at(0), "1");
}

// A run that ends within an epoch: its last evaluation is in every record, and only plain lines are printed.
TEST(Verbs, TheLastEvaluationOfALimitedRunIsRecorded) {
  const TempFolder temp;
  const std::string run_dir = temp.file("run");
  const std::string out = run_ok({"train", "--config", "configs/digits.yaml", "--set", "train.max_steps=60", "--set", "train.run_dir=" + run_dir});
  EXPECT_THAT(out, testing::Not(HasSubstr("evaluating ...")));
  EXPECT_THAT(out, HasSubstr("epoch 2/2: loss "));
  const auto read = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::vector<std::string> csv = lines_of(read(run_dir + "/metrics.csv"));
  ASSERT_EQ(csv.size(), 3u);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> c;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) c.push_back(cell);
    return c;
  };
  const std::vector<std::string> names = cells(csv[0]), last = cells(csv[2]);
  ASSERT_EQ(names.size(), last.size());
  EXPECT_EQ(last[0], "2");
  std::map<std::string, double> row;
  for (size_t i = 0; i < names.size(); ++i) row[names[i]] = std::stod(last[i]);
  EXPECT_NEAR(row.at("eval_accuracy"), std::stod(value_of(out, "accuracy: ")), 5e-5);
  EXPECT_NEAR(row.at("eval_loss"), std::stod(value_of(out, "loss: ")), 5e-5);
  EXPECT_GT(row.at("train_loss"), 0);
  EXPECT_THAT(read(run_dir + "/log.txt"), HasSubstr("evaluation at the end: loss "));
  for (const auto& entry : fs::directory_iterator(run_dir)) {
    if (!entry.path().filename().string().starts_with("events.out")) continue;
    const std::string events = read(entry.path().string());
    size_t n = 0;
    for (size_t at = events.find("eval/accuracy"); at != std::string::npos; at = events.find("eval/accuracy", at + 1)) ++n;
    EXPECT_EQ(n, 2u);
  }
}

TEST(Verbs, PredictNamesTheClassFolders) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"), 3, 32, 8);
  std::vector<std::string> a = {"train", "--quiet"};
  for (const std::string& s :
       {std::string("model.name=resnet20"), "data.path=" + temp.file("data"), "train.run_dir=" + temp.file("run"), std::string("train.batch_size=16"),
        std::string("train.epochs=4"), std::string("lr.max=0.05"), std::string("data.augment=false")}) {
    a.insert(a.end(), {"--set", s});
  }
  const std::string out = run_ok(a), checkpoint = value_of(out, "checkpoint: ");
  const std::string first = temp.file("data/test/class_0/100.jpg"), second = temp.file("data/test/class_1/100.jpg");
  const std::vector<std::string> predicted = lines_of(run_ok({"predict", "--checkpoint", checkpoint, first, second}));
  ASSERT_EQ(predicted.size(), 8u);  // for each file: its name and three classes
  EXPECT_EQ(predicted[0], first);
  EXPECT_EQ(predicted[4], second);
  double total = 0;
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_THAT(predicted[i], testing::ContainsRegex("^  class_[0-2] +[0-9.]+ %"));
    total += std::stod(words(predicted[i]).at(1));
  }
  EXPECT_NEAR(total, 100, 0.02);
  // The accuracy that eval computes matches predict's labels file by file.
  std::vector<std::string> all = {"predict", "--checkpoint", checkpoint, "--top", "1"};
  std::vector<std::string> truth;
  for (const auto& entry : fs::recursive_directory_iterator(temp.file("data/test"))) {
    if (!entry.is_regular_file()) continue;
    all.push_back(entry.path().string());
    truth.push_back(entry.path().parent_path().filename().string());
  }
  const std::vector<std::string> answers = lines_of(run_ok(all));
  // A folder means its images; a file that is not an image is named.
  EXPECT_EQ(lines_of(run_ok({"predict", "--checkpoint", checkpoint, "--top", "1", temp.file("data/test/class_1")})).size(), 16u);
  expect_error(run({"predict", "--checkpoint", checkpoint, temp.file("data/test")}), 3, "E3003", {"no images directly in " + temp.file("data/test")});
  std::ofstream(temp.file("text.jpg")) << "some text";
  expect_error(run({"predict", "--checkpoint", checkpoint, first, temp.file("text.jpg")}), 3, "E3004", {"not a readable image", temp.file("text.jpg")});
  ASSERT_EQ(mkfifo(temp.file("pipe.png").c_str(), 0600), 0);
  expect_error(run({"predict", "--checkpoint", checkpoint, temp.file("pipe.png")}), 3, "E3002", {"pipe.png", "neither a file nor a folder"});
  expect_error(run({"eval", "--checkpoint", checkpoint, "--set", "model.num_classes=7"}), 4, "E4003", {"--set model.num_classes=N"});
  ASSERT_EQ(answers.size(), 2 * truth.size());
  double right = 0;
  for (size_t i = 0; i < truth.size(); ++i) right += words(answers[2 * i + 1]).at(0) == truth[i] ? 1 : 0;
  EXPECT_NEAR(right / static_cast<double>(truth.size()), std::stod(value_of(run_ok({"eval", "--checkpoint", checkpoint}), "accuracy: ")), 1e-5);
}

}  // namespace
}  // namespace sindri::app::verbs_test
