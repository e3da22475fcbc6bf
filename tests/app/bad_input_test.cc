// Bad input to the program: one clear error (what, where, fix), the exit code of its kind, and no loss of saved data.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sindri/app/run_folder.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/dataset/dataset.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/model.h"
#include "tests/app/program.h"
#include "tests/train/checkpoint_util.h"

namespace sindri::app {
namespace {

namespace fs = std::filesystem;

// `sindri train` on the digits: 44 steps of 32 samples an epoch.
std::vector<std::string> digits(const std::string& run_dir, std::vector<std::string> more = {}) {
  std::vector<std::string> a = {"train", "--config", "configs/digits.yaml", "--quiet", "--set", "train.epochs=2"};
  if (!run_dir.empty()) a.insert(a.end(), {"--set", "train.run_dir=" + run_dir});
  for (const std::string& s : more) {
    if (!s.starts_with("--")) a.emplace_back("--set");
    a.push_back(s);
  }
  return a;
}

// `sindri train` on a folder of JPEG files with ResNet-20: `steps` steps of 8 samples.
std::vector<std::string> jpegs(const std::string& data, const std::string& run_dir, std::vector<std::string> more = {}) {
  std::vector<std::string> a = {"train", "--quiet"};
  for (const std::string& s :
       {std::string("model.name=resnet20"), "data.path=" + data, "train.run_dir=" + run_dir, std::string("train.batch_size=8"), std::string("train.epochs=1")})
    a.insert(a.end(), {"--set", s});
  for (const std::string& s : more) a.insert(a.end(), {"--set", s});
  return a;
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// An endless file, and one long line, in place of a list of files.
TEST(BadData, AListOfFilesThatIsNone) {
  const TempFolder temp;
  ASSERT_EQ(run(digits(temp.file("run"), {"train.max_steps=2"})).code, 0);
  const std::string checkpoint = temp.file("run/checkpoints/latest");
  expect_error(run({"predict", "--checkpoint", checkpoint, "--files-from", "/dev/zero"}), 3, "E3004", {"not a list of files"});
  write_file(temp.file("line"), std::string(100'000, 'a'));
  const Result r = run({"predict", "--checkpoint", checkpoint, "--files-from", temp.file("line")});
  expect_error(r, 3, "E3004", {"not a list of files"});
  EXPECT_LT(r.err.size(), 2000u);
}

// Messages shorten names of any length.
TEST(BadInput, LongNamesAreShownInShort) {
  const std::string name = "/tmp/" + std::string(100'000, 'a');
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"eval", "--checkpoint", name},
                                                                                         {"train", "--config", name},
                                                                                         {"train", "quickstart", "--dry-run", "--set", "data.path=" + name},
                                                                                         {"summary", name},
                                                                                         {name}}) {
    const Result r = run(arguments);
    EXPECT_NE(r.code, 0);
    EXPECT_NE(r.err.find("aaaa"), std::string::npos) << r.err.substr(0, 500);
    EXPECT_LT(r.err.size(), 3000u) << arguments[0];
  }
}

// A stack that is too small is an error. A soft limit that can be raised, or a small stack that suffices, works.
TEST(BadInput, LittleStack) {
  const TempFolder temp;
  const auto with_stack = [&](rlim_t soft_kib, rlim_t hard_kib) {
    fs::remove_all(temp.file("run"));
    return run(digits(temp.file("run"), {"train.max_steps=2", "data.workers=2"}), {.in_child = [soft_kib, hard_kib] {
                 const rlimit stack{soft_kib << 10, hard_kib << 10};
                 setrlimit(RLIMIT_STACK, &stack);
               }});
  };
  expect_error(with_stack(64, 64), 2, "E2020", {"stack"});
  if (std::getenv("ASAN_OPTIONS") != nullptr || std::getenv("TSAN_OPTIONS") != nullptr) return;  // their frames are larger
  for (const auto& [soft, hard] : {std::pair<rlim_t, rlim_t>{64, 8192}, {256, 256}}) {
    const Result r = with_stack(soft, hard);
    EXPECT_EQ(r.code, 0) << soft << "\n" << r.err;
  }
}

TEST(BadInput, NumbersThatNoTrainingCanUse) {
  for (const char* set : {"optimizer.momentum=999999", "optimizer.momentum=nan"}) expect_error(run(digits("", {set, "--dry-run"})), 2, "E2010", {"momentum"});
  for (const char* set : {"optimizer.damping=1e300", "optimizer.damping=[0.1, 1e300]"})
    expect_error(run(digits("", {"optimizer.name=thor", set, "--dry-run"})), 2, "E2010", {"damping"});
  expect_error(run(digits("", {"optimizer.name=thor", "optimizer.frequency=1", "optimizer.split_indices=[99999]", "--dry-run"})), 2, "E2003",
               {"split_indices"});
  for (const char* flag : {"--timeout", "--term-grace"})
    for (const char* value : {"nan", "inf", "1e300"}) EXPECT_EQ(run({"run", "-n", "1", flag, value, "--", "true"}).code, 2) << flag << value;
  for (const char* flag : {"--loss", "--accuracy"}) EXPECT_EQ(run({"report", "compare", "a", "b", flag, "nan"}).code, 2) << flag;
}

// A flag that writes a file never replaces a file of another kind.
TEST(BadInput, FlagsThatWriteReplaceNothingElse) {
  const TempFolder temp;
  ASSERT_EQ(run(digits(temp.file("run"), {"train.max_steps=2"})).code, 0);
  fs::copy(temp.file("run"), temp.file("other"), fs::copy_options::recursive);
  const std::string checkpoint = checkpoints(temp.file("run")).back(), photo = temp.file("photo.jpg");
  write_file(photo, "\xff\xd8\xff\xe0 a photo");
  fs::copy_file(checkpoint, temp.file("copy.ckpt"));
  for (const std::string& victim : {photo, temp.file("copy.ckpt")}) {
    const std::string before = train::read_all(victim);
    const std::vector<std::vector<std::string>> commands = {{"eval", "--checkpoint", checkpoint, "--json", victim},
                                                            {"eval", "--checkpoint", checkpoint, "--plot", victim},
                                                            {"predict", "--checkpoint", checkpoint, "--json", victim, photo},
                                                            {"summary", "lenet", "--json", victim},
                                                            {"doctor", "--json", victim},
                                                            {"report", "compare", temp.file("run"), temp.file("other"), "--json", victim},
                                                            {"report", "compare", temp.file("run"), temp.file("other"), "--plot", victim},
                                                            {"profile", "lenet", "--batch", "2", "--steps", "1", "--trace", victim},
                                                            {"profile", "lenet", "--batch", "2", "--steps", "1", "--json", victim}};
    for (const std::vector<std::string>& command : commands) {
      expect_error(run(command), 5, "E5001", {"would replace a file", victim});
      EXPECT_EQ(train::read_all(victim), before) << command[0];
    }
    const Result r = run({"summary", "lenet"}, {.environment = {{"SINDRI_TIMELINE", victim}}});
    EXPECT_EQ(train::read_all(victim), before) << r.err;
  }
}

TEST(BadData, MissingFolder) {
  const TempFolder temp;
  expect_error(run(jpegs(temp.file("absent"), temp.file("run"))), 3, "E3002", {temp.file("absent")});
  EXPECT_FALSE(fs::exists(temp.file("run"))) << "a run that cannot start creates no folder";
}

TEST(BadData, PathNotSet) {
  const TempFolder temp;
  expect_error(run({"train", "--set", "model.name=resnet20", "--set", "train.run_dir=" + temp.file("run")}), 2, "E2010", {"data.path"});
}

TEST(BadData, EmptyFolders) {
  const TempFolder temp;
  fs::create_directories(temp.file("nothing"));
  expect_error(run(jpegs(temp.file("nothing"), temp.file("run"))), 3, "E3002", {temp.file("nothing")});
  fs::create_directories(temp.file("hollow/train/a"));
  fs::create_directories(temp.file("hollow/test/a"));
  expect_error(run(jpegs(temp.file("hollow"), temp.file("run"))), 3, "E3002", {temp.file("hollow")});
}

TEST(BadData, ClassFoldersDiffer) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"), 2, 8, 2);
  fs::remove_all(temp.file("data/test/class_1"));
  expect_error(run(jpegs(temp.file("data"), temp.file("run"))), 3, "E3001", {"2 classes", temp.file("data")});
}

TEST(BadData, CorruptJpegFailsByNameOrIsLeftOut) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"), 2, 12, 6);
  const std::string train_victim = temp.file("data/train/class_1/104.jpg"), test_victim = temp.file("data/test/class_0/101.jpg");
  const std::string good = train::read_all(train_victim);
  fs::resize_file(train_victim, good.size() / 2);
  expect_error(run(jpegs(temp.file("data"), temp.file("run"))), 3, "E3004", {"class_1/104.jpg", "data.on_corrupt"});

  // A bad file among the evaluation images must not end a run with data.on_corrupt=skip either.
  write_file(test_victim, "this is not an image");
  for (const std::string policy : {"skip", "replace"}) {
    const Result r = run(jpegs(temp.file("data"), temp.file("run_" + policy), {"data.on_corrupt=" + policy}));
    SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
    EXPECT_EQ(r.code, 0);
    EXPECT_NE(r.err.find("class_1/104.jpg"), std::string::npos) << "the skipped file is named";
    EXPECT_NE(r.err.find("class_0/101.jpg"), std::string::npos);
    // 23 good images: two whole batches of 8. With a substitute for the bad one 24: three.
    EXPECT_EQ(last_step(temp.file("run_" + policy)), policy == "skip" ? 2 : 3);
    EXPECT_EQ(expect_good_checkpoints(temp.file("run_" + policy)), 1u);
  }
  expect_error(run(jpegs(temp.file("data"), temp.file("run0"), {"data.on_corrupt=skip", "data.max_corrupt=0"})), 3, "E3004", {"max_corrupt"});
}

TEST(BadData, WrongImagesForTheNet) {
  const TempFolder temp;
  expect_error(run(digits(temp.file("run"), {"model.name=resnet20"})), 2, "E2010", {"resnet20", "3 channels", "has 1"});
  make_jpeg_data(temp.file("data"), 2, 8, 2);
  expect_error(run(jpegs(temp.file("data"), temp.file("run"), {"model.name=lenet"})), 2, "E2010", {"lenet", "1 channel", "has 3"});
  // LeNet's second convolution gets an empty input from images this small: the error names the op and the cell.
  expect_error(run(digits(temp.file("small"), {"model.name=lenet", "data.image_size=8"})), 2, "E2010",
               {"data.image_size 8 is too small for lenet", "conv2d", "conv2"});
}

TEST(BadData, MoreClassesThanOutputs) {
  const TempFolder temp;
  expect_error(run(digits(temp.file("run"), {"model.num_classes=5"})), 2, "E2010", {"model.num_classes is 5", "10 classes"});
  const Result many = run(digits(temp.file("many"), {"model.num_classes=20000", "train.max_steps=1"}));
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_NE(many.err.find("model.num_classes is 20000, the data has 10 classes"), std::string::npos) << many.err;
  // A million classes would train for minutes and save gigabytes.
  expect_error(run(digits(temp.file("most"), {"model.num_classes=1000000"})), 2, "E2010", {"model.num_classes is 1000000, the data has 10 classes", "omit it"});
  EXPECT_FALSE(fs::exists(temp.file("most")));
}

// Settings that are each legal but together exceed any realistic training run.
TEST(BadData, SizesThatDoNotFit) {
  const TempFolder temp;
  expect_error(run(digits(temp.file("run"), {"train.epochs=1000000", "train.batch_size=1"})), 2, "E2010",
               {"1438000000 updates", "5.8 GB", "lr.schedule: constant"});
  expect_error(run(digits(temp.file("run"), {"data.image_size=64"})), 2, "E2010", {"data.image_size 64 does not fit digits", "in_channels=256", "remove it"});
  EXPECT_FALSE(fs::exists(temp.file("run/checkpoints/digits-1_1.ckpt")));
}

TEST(BadData, TooFewSamplesForABatch) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"), 2, 3, 2);
  expect_error(run(jpegs(temp.file("data"), temp.file("run"))), 3, "E3003", {"6 training samples", "--set train.batch_size=6"});
}

// Files on which a reader would block forever.
TEST(BadData, PipesAreRefused) {
  const TempFolder temp;
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    ASSERT_EQ(mkfifo(temp.file(name).c_str(), 0600), 0);
  const std::vector<std::string> mnist = {
      "train", "--set", "model.name=lenet", "--set", "train.run_dir=" + temp.file("run"), "--set", "data.path=" + temp.path()};
  std::vector<std::string> named = mnist;
  named.insert(named.end(), {"--set", "data.kind=mnist"});
  for (const auto& a : {mnist, named}) {
    Program p(a);
    const Result r = p.wait(20);
    EXPECT_FALSE(r.signalled);
    EXPECT_TRUE(r.code == 3 || r.code == 5) << r.err;
  }
  expect_error(run(digits(temp.file("run"), {"data.path=" + temp.file("train-images-idx3-ubyte")})), 5, "E5001", {"cannot open"});
  expect_error(run({"train", "--config", temp.file("train-images-idx3-ubyte")}), 2, "E2010", {"not a regular file"});
}

class LabelRange : public testing::TestWithParam<Mode> {};

TEST_P(LabelRange, ReachesTheLoss) {
  const Mode before = context().mode;
  set_mode(GetParam());
  const auto data = dataset::NumpySlicesDataset::make(
                        {.columns = {{"x", Tensor::full({6, 2}, 1)}, {"y", Tensor::from_vector<int32_t>({6}, {0, 1, 2, 0, 3, 1})}}, .shuffle = false})
                        ->batch(2);
  const auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  const auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer);
  try {
    model.train(1, data, {}, {.dataset_sink_mode = false});
    ADD_FAILURE() << "label 3 of 3 classes was accepted";
  } catch (const DataError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kLabelRange);
    EXPECT_NE(std::string(e.what()).find("label 3 in row 0"), std::string::npos) << e.what();
    EXPECT_FALSE(e.fix().empty());
  }
  set_mode(before);
}

INSTANTIATE_TEST_SUITE_P(Modes, LabelRange, testing::Values(Mode::kGraph, Mode::kPynative),
                         [](const auto& mode) { return mode.param == Mode::kGraph ? "Graph" : "Pynative"; });

TEST(BadSettings, FileLineColumnAndNearestName) {
  const TempFolder temp;
  const std::string file = temp.file("bad.yaml");
  const auto with = [&](const std::string& text) {
    write_file(file, text);
    return run({"train", "--config", file, "--set", "train.run_dir=" + temp.file("run")});
  };
  expect_error(with("model:\n  name: digits\ndata:\n  kind: digits\ntrain:\n  epocs: 3\n"), 2, "E2011",
               {"train.epocs", file + ":6:3", "did you mean 'train.epochs'"});
  expect_error(with("model:\n  name: digits\ntrain:\n  epochs: many\n"), 2, "E2010", {"train.epochs: expected a whole number, got 'many'", file + ":4:3"});
  expect_error(with("model:\n  name: digits\ntrain:\n  epochs: 0\n"), 2, "E2010", {"train.epochs", "got 0", file + ":4:3"});
  expect_error(with("train:\n  seed: 1\n  seed: 2\n"), 2, "E2012", {"train.seed", file + ":3:3", "line 2"});
  expect_error(with("trian:\n  seed: 1\n"), 2, "E2011", {file + ":1:1", "did you mean 'train'"});
  expect_error(with("model: {name: digits\n"), 2, "E2010", {file});
  expect_error(run({"train", "--config", temp.file("absent.yaml")}), 2, "E2010", {temp.file("absent.yaml")});
  expect_error(run({"train", "--set", "train.epocs=3"}), 2, "E2011", {"--set train.epocs=3", "did you mean 'train.epochs'"});
  // A misspelt section keeps its key; without a section the nearest key is suggested, including names that other programs use.
  expect_error(run({"train", "--set", "optimiser.name=adam"}), 2, "E2011", {"optimiser.name", "did you mean 'optimizer.name'?"});
  expect_error(run({"train", "--set", "optimiser.nam=adam"}), 2, "E2011", {"did you mean 'optimizer.name'"});
  expect_error(run({"train", "--set", "modle.num_classes=3"}), 2, "E2011", {"did you mean 'model.num_classes'?"});
  expect_error(run({"train", "--set", "lerning_rate=1"}), 2, "E2011", {"did you mean 'lr.max'?"});
  expect_error(run({"eval", "--checkpoint", file}), 4, "E4001", {"this is a settings file, not a checkpoint", "--config FILE"});
  expect_error(run({"train", "--set", "nonsense"}), 2, "E2010", {"nonsense"});
  expect_error(run({"train"}, {.environment = {{"SINDRI_TRAIN__EPOCS", "3"}}}), 2, "E2011", {"SINDRI_TRAIN__EPOCS"});
  EXPECT_FALSE(fs::exists(temp.file("run")));
}

TEST(BadSettings, UnknownNet) {
  expect_error(run({"train", "--set", "model.name=resnet21", "--set", "data.kind=digits"}), 2, "E2010", {"resnet21", "did you mean 'resnet20'"});
  expect_error(run({"summary", "resnet5"}), 2, "E2003", {"resnet5", "did you mean 'resnet50'"});
  expect_error(run({"train", "--set", "data.kind=digits"}), 2, "E2010", {"model.name is not set", "resnet18_cifar"});
}

TEST(BadUsage, VerbsAndFlags) {
  expect_error(run({}), 2, "E2020", {"no verb", "train"});
  expect_error(run({"trian"}), 2, "E2020", {"unknown verb 'trian'", "did you mean 'train'"});
  expect_error(run({"train", "--resum"}), 2, "E2020", {"--resum", "did you mean '--resume'"});
  expect_error(run({"--nonsense"}), 2, "E2020", {"--nonsense"});
  expect_error(run({"eval"}), 2, "E2020", {"--checkpoint"});
  expect_error(run({"predict", "--checkpoint", "x.ckpt", "--top", "0", "a.jpg"}), 2, "E2020", {"--top"});
  expect_error(run({"train", "--config", "configs/digits.yaml", "--resume"}), 2, "E2010", {"--resume", "train.run_dir"});
}

// One run of two epochs with several checkpoints; the tests damage copies of it.
class BadCheckpoint : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    temp_ = new TempFolder;
    const Result r = run(digits(temp_->file("run"), {"checkpoint.save_every_steps=20"}));
    ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
  }
  static void TearDownTestSuite() {
    delete temp_;
    temp_ = nullptr;
  }
  void SetUp() override {
    fs::copy(temp_->file("run"), copy_.file("run"), fs::copy_options::recursive);
    files_ = checkpoints(run_dir());
    ASSERT_GE(files_.size(), 3u);
  }
  std::string run_dir() const { return copy_.file("run"); }

  // Continues the damaged run: it must start from `from` and end with the same last checkpoint as the undamaged run.
  void expect_resumes_from(const std::string& from, const std::string& good_last) {
    const Result r = run(digits(run_dir(), {"checkpoint.save_every_steps=20", "--resume"}));
    SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
    EXPECT_EQ(r.code, 0);
    EXPECT_NE(r.err.find("skipped: "), std::string::npos) << "the message names the damaged file";
    EXPECT_NE(r.err.find(files_.back()), std::string::npos);
    EXPECT_NE(r.out.find("resuming from " + from), std::string::npos);
    EXPECT_EQ(train::read_all(files_.back()), good_last);
    for (const auto& [step, losses] : step_losses(run_dir())) {
      for (const std::string& loss : losses) EXPECT_EQ(loss, losses[0]) << "step " << step;
    }
  }

  static TempFolder* temp_;
  const TempFolder copy_;
  std::vector<std::string> files_;  // oldest first
};

TempFolder* BadCheckpoint::temp_ = nullptr;

TEST_F(BadCheckpoint, TruncatedFallsBackToTheOneBefore) {
  const std::string good = train::read_all(files_.back());
  train::overwrite(files_.back(), good.substr(0, good.size() * 2 / 3));
  expect_resumes_from(files_[files_.size() - 2], good);
}

TEST_F(BadCheckpoint, FlippedBitFallsBackToTheOneBefore) {
  const std::string good = train::read_all(files_.back());
  std::string bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 4);
  train::overwrite(files_.back(), bad);
  expect_resumes_from(files_[files_.size() - 2], good);
}

TEST_F(BadCheckpoint, NamedFileIsRefused) {
  const std::string good = train::read_all(files_[0]);
  std::string flipped = good;
  flipped[flipped.size() / 3] = static_cast<char>(flipped[flipped.size() / 3] ^ 1);
  for (const std::string& bad : {good.substr(0, good.size() / 2), flipped, std::string()}) {
    train::overwrite(files_[0], bad);
    expect_error(run({"eval", "--checkpoint", files_[0]}), 4, "E4002", {files_[0]});
    const TempFolder other;
    std::vector<std::string> start = digits(other.file("run"));
    start.insert(start.end(), {"--checkpoint", files_[0]});
    expect_error(run(start), 4, "E4002", {files_[0]});
    start.push_back("--resume");
    expect_error(run(start), 4, "E4002", {files_[0]});
  }
}

TEST_F(BadCheckpoint, OtherNetOrMissing) {
  expect_error(run({"eval", "--checkpoint", files_[0], "--set", "model.name=lenet"}), 4, "E4003", {files_[0]});
  std::vector<std::string> from_missing = digits(copy_.file("other"));
  from_missing.insert(from_missing.end(), {"--checkpoint", copy_.file("absent.ckpt")});
  expect_error(run(from_missing), 4, "E4001", {copy_.file("absent.ckpt")});
  expect_error(run({"eval", "--checkpoint", copy_.file("absent.ckpt")}), 4, "E4001", {copy_.file("absent.ckpt")});
  expect_error(run({"predict", "--checkpoint", copy_.file("absent.ckpt"), "a.png"}), 4, "E4001", {copy_.file("absent.ckpt")});
  expect_error(run({"predict", "--checkpoint", files_[0], copy_.file("absent.png")}), 3, "E3002", {copy_.file("absent.png")});
}

TEST_F(BadCheckpoint, ResumingAFinishedRunOnlyEvaluates) {
  const std::string before = train::read_all(files_.back());
  const Result r = run(digits(run_dir(), {"--resume"}));
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("already trained"), std::string::npos);
  EXPECT_NE(r.out.find("accuracy: "), std::string::npos);
  EXPECT_EQ(train::read_all(files_.back()), before);
}

TEST_F(BadCheckpoint, EarlierRunIsNotOverwritten) {
  const std::string before = train::read_all(files_.back());
  expect_error(run(digits(run_dir())), 5, "E5003", {run_dir(), "--resume"});
  EXPECT_EQ(train::read_all(files_.back()), before);
}

// The next start removes temporary files of processes that were killed while writing; files that others are writing, and a user's files, stay.
TEST_F(BadCheckpoint, LeftoversOfKilledProcessesAreRemoved) {
  Program gone({"version"});
  (void)gone.wait();
  const std::string dead = std::to_string(gone.pid()), alive = std::to_string(getpid());
  for (const std::string& name :
       {"metrics.csv.tmp." + dead, "checkpoints/digits-1_20.ckpt.tmp." + dead, "repro.json.tmp." + alive, std::string("notes.tmp.old")})
    write_file(run_dir() + "/" + name, "half");
  const std::string link = run_dir() + "/checkpoints/latest.tmp." + dead;  // left by a process that was killed while it updated `latest`
  fs::create_symlink("digits-1_20.ckpt", link);
  EXPECT_EQ(run({"train", "--quiet", "--config", run_dir() + "/config.resolved.yaml", "--set", "train.run_dir=" + run_dir(), "--resume"}).code, 0);
  EXPECT_FALSE(fs::exists(run_dir() + "/metrics.csv.tmp." + dead));
  EXPECT_FALSE(fs::exists(run_dir() + "/checkpoints/digits-1_20.ckpt.tmp." + dead));
  EXPECT_FALSE(fs::is_symlink(link));
  EXPECT_TRUE(fs::exists(run_dir() + "/repro.json.tmp." + alive));
  EXPECT_TRUE(fs::exists(run_dir() + "/notes.tmp.old"));
}

TEST(RunFolderTrouble, CannotBeMade) {
  const TempFolder temp;
  write_file(temp.file("file"), "x");
  expect_error(run(digits(temp.file("file/run"))), 5, "E5001", {temp.file("file/run"), "train.run_dir"});
  expect_error(run(digits(temp.file("file"))), 5, "E5001", {temp.file("file")});
  expect_error(run(digits("/proc/no-such-run")), 5, "E5001", {"/proc/no-such-run"});
}

TEST(RunFolderTrouble, NotWritable) {
  const TempFolder temp;
  fs::create_directories(temp.file("run"));
  if (geteuid() != 0) {
    fs::permissions(temp.file("run"), fs::perms::owner_read | fs::perms::owner_exec);
    expect_error(run(digits(temp.file("run"))), 5, "E5001", {temp.file("run"), "ermission denied"});
    fs::permissions(temp.file("run"), fs::perms::owner_all);
    return;
  }
  // Permissions do not bind root; a read-only file system does.
  if (mount("tmpfs", temp.file("run").c_str(), "tmpfs", MS_RDONLY, "size=64k") != 0)
    GTEST_SKIP() << "running as root without the right to mount (" << std::strerror(errno) << "): a read-only run folder cannot be made";
  expect_error(run(digits(temp.file("run"))), 5, "E5001", {temp.file("run"), "ead-only file system"});
  umount(temp.file("run").c_str());
}

TEST(RunFolderTrouble, InUseByAnotherProcess) {
  const TempFolder temp;
  const app::RunFolder mine(temp.file("run"), "digits");
  expect_error(run(digits(temp.file("run"))), 5, "E5003", {temp.file("run"), "another process"});
  expect_error(run(digits(temp.file("run"), {"--resume"})), 5, "E5003", {temp.file("run"), "another process"});
}

// The code has two causes, a held lock and an earlier run: its page explains both and lists the fixes that the messages give.
TEST(RunFolderTrouble, PageOfTheCodeTellsBothCauses) {
  const std::string page = train::read_all(std::string(SINDRI_SOURCE_DIR) + "/docs/errors.md");
  const size_t begin = page.find("## E5003: ");
  ASSERT_NE(begin, std::string::npos);
  const std::string text = page.substr(begin, page.find("\n## ", begin) - begin);
  for (const char* piece : {"IoError", "Another process", "Wait for it, stop it", "train.run_dir", "earlier run", "--resume"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << " in\n" << text;
}

// A limit on file size simulates a disk that fills up when a checkpoint is written: metrics still fit, checkpoints do not.
TEST(RunFolderTrouble, CheckpointsThatCannotBeWrittenAreReportedAtTheEnd) {
  const TempFolder temp;
  const auto limit = [] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit bytes = {100'000, 100'000};  // a checkpoint of this net has about 220,000
    setrlimit(RLIMIT_FSIZE, &bytes);
  };
  const Result r = run(digits(temp.file("run"), {"train.epochs=1"}), {.environment = {}, .in_child = limit});
  expect_error(r, 5, "E5001", {"the last checkpoint was not saved", "File too large", "--resume"});
  EXPECT_TRUE(checkpoints(temp.file("run")).empty());
  for (const auto& entry : fs::directory_iterator(temp.file("run/checkpoints"))) ADD_FAILURE() << "not removed: " << entry.path();
  // With room again the run continues.
  const Result again = run(digits(temp.file("run"), {"train.epochs=1", "--resume"}));
  EXPECT_EQ(again.code, 0) << again.command << "\n" << again.err;
  EXPECT_EQ(expect_good_checkpoints(temp.file("run")), 1u);
}

// Weight decay times learning rate is 10,000: weights overflow within a few steps.
const std::vector<std::string> kDiverges = {"lr.schedule=constant",          "lr.warmup_epochs=0", "lr.max=1000", "optimizer.weight_decay=10",
                                            "checkpoint.save_every_steps=1", "train.epochs=1"};

TEST(NanLoss, EndsTheRunAndKeepsWhatWasSaved) {
  for (const std::string mode : {"graph", "pynative"}) {
    const TempFolder temp;
    std::vector<std::string> more = kDiverges;
    more.push_back("train.mode=" + mode);
    const Result r = run(digits(temp.file("run"), more));
    const int64_t last = last_step(temp.file("run"));
    expect_error(r, 6, "E6001", {"the loss is", "epoch 1, step " + std::to_string(last + 1), "lower the learning rate"});
    EXPECT_GE(last, 2);
    EXPECT_GE(expect_good_checkpoints(temp.file("run")), 2u);
    EXPECT_NE(train::read_all(temp.file("run/log.txt")).find("error: the loss is"), std::string::npos);
  }
}

TEST(NanLoss, FiniteButFarAway) {
  const TempFolder temp;
  const Result r = run(digits(temp.file("run"), {"lr.schedule=constant", "lr.warmup_epochs=0", "lr.max=30", "train.max_steps=20"}));
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out + r.err);
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("the training diverges"), std::string::npos);
  EXPECT_EQ(r.err.find("the training diverges"), r.err.rfind("the training diverges")) << "once";
}

TEST(NanLoss, PolicySkipGoesOn) {
  const TempFolder temp;
  std::vector<std::string> more = kDiverges;
  more.push_back("train.nan_policy=skip");
  // Nearly all steps are skipped, which is an error.
  expect_error(run(digits(temp.file("failed"), more)), 6, "E6001", {"steps of this epoch were skipped", "train.max_skipped"});
  more.push_back("train.max_skipped=1");
  const Result r = run(digits(temp.file("run"), more));
  SCOPED_TRACE("repeat: " + r.command + "\n" + r.out);
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(last_step(temp.file("run")), 44);
  EXPECT_NE(r.out.find("steps were skipped"), std::string::npos);
  // The weights are those before the first bad step, not garbage.
  for (const train::CheckpointEntry& e : train::load_checkpoint(checkpoints(temp.file("run")).back()).entries) {
    if (e.kind != train::CheckpointEntry::kTensor || !is_floating(e.tensor.dtype())) continue;
    for (const double v : e.tensor.to_vector<double>()) ASSERT_FALSE(std::isnan(v)) << e.name;
  }
}

}  // namespace
}  // namespace sindri::app
