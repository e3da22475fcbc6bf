// Training runs in separate runtimes, as threads of one process: bitwise identical to each run alone in its own process.
#include "sindri/core/runtime.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/dataset/vision.h"
#include "sindri/models/models.h"
#include "sindri/nn/nn.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/random.h"
#include "sindri/optim/adam.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "tests/train/temp_folder.h"

namespace sindri::runtimes_test {
namespace {

struct Training {
  const char* name;
  nn::CellPtr (*net)();
  Shape image;  // height, width, channels
  int64_t seed;
  Mode mode;
  int threads;
  bool strict, sink;
  amp::Options amp = {};
};

nn::CellPtr mlp() {
  return nn::SequentialCell::make(nn::Flatten::make(), nn::Dense::make({.in_channels = 64, .out_channels = 48}), nn::ReLU::make(),
                                  nn::Dropout::make({.keep_prob = 0.8}), nn::Dense::make({.in_channels = 48, .out_channels = 10}));
}
nn::CellPtr convolution() {
  return nn::SequentialCell::make(nn::Conv2d::make({.in_channels = 3, .out_channels = 16, .kernel_size = 3}), nn::ReLU::make(),
                                  nn::Dropout::make({.keep_prob = 0.7}), nn::Flatten::make(), nn::Dense::make({.in_channels = 1024, .out_channels = 32}),
                                  nn::ReLU::make(), nn::Dropout::make({.keep_prob = 0.5}), nn::Dense::make({.in_channels = 32, .out_channels = 10}));
}
nn::CellPtr lenet() { return models::create("lenet"); }
nn::CellPtr resnet() { return models::create("resnet20"); }

// Neighbours differ in everything; the second four have each network in the other mode.
const amp::Options kHalf = {.level = amp::Level::kO2, .dtype = DType::kFloat16};  // with a dynamic loss scale
const std::array<std::array<Training, 4>, 2> kTrainings = {{
    {{{"mlp, graph", mlp, {8, 8, 1}, 3, Mode::kGraph, 1, false, true},
      {"lenet, pynative", lenet, {32, 32, 1}, 5, Mode::kPynative, 2, true, false},
      {"resnet20, graph", resnet, {8, 8, 3}, 7, Mode::kGraph, 1, false, false},
      {"half, pynative", convolution, {8, 8, 3}, 11, Mode::kPynative, 3, false, false, kHalf}}},
    {{{"mlp, pynative", mlp, {8, 8, 1}, 11, Mode::kPynative, 3, true, false},
      {"lenet, graph", lenet, {32, 32, 1}, 3, Mode::kGraph, 1, false, true},
      {"resnet20, pynative", resnet, {8, 8, 3}, 5, Mode::kPynative, 2, false, false},
      {"half, graph", convolution, {8, 8, 3}, 7, Mode::kGraph, 1, true, true, kHalf}}},
}};
constexpr int64_t kBatch = 8, kSteps = 10, kEpochs = 2;

// Noise, in an order and with flips that depend on the seed.
dataset::Dataset::Ptr noise(const Shape& image) {
  const int64_t rows = kBatch * kSteps;
  PhiloxSequence rng(1, 0, 0, 0);
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * image.numel()));
  for (uint8_t& p : pixels) p = static_cast<uint8_t>(rng.next_u32());
  std::vector<int32_t> labels(static_cast<size_t>(rows));
  for (int32_t& l : labels) l = static_cast<int32_t>(rng.next_below(10));
  const Tensor images = Tensor::from_vector<uint8_t>({rows, image[0], image[1], image[2]}, pixels);
  auto d = dataset::NumpySlicesDataset::make({.columns = {{"image", images}, {"label", Tensor::from_vector<int32_t>({rows}, labels)}}, .shuffle = true});
  d = d->map({dataset::vision::RandomHorizontalFlip(), dataset::vision::Rescale(1 / 255.0, -0.5), dataset::vision::HWC2CHW()},
             {.input_columns = {"image"}, .num_parallel_workers = 2});
  return d->batch(kBatch, {.drop_remainder = true});
}

// All results of a run, as values and as text.
struct Outcome {
  std::vector<float> values;  // the losses of all steps, then the weights
  std::string text;  // the settings that each step saw, the choices of kernels
  bool operator==(const Outcome& o) const {  // bitwise
    return values.size() == o.values.size() && std::memcmp(values.data(), o.values.data(), values.size() * sizeof(float)) == 0 && text == o.text;
  }
};

Outcome run(const Training& t) {
  set_mode(t.mode);
  set_strict(t.strict);
  set_num_threads(t.threads);
  set_kernel_tuning(false);  // a measured choice may differ from run to run
  set_seed(t.seed);
  const nn::CellPtr net = t.net();
  std::shared_ptr<optim::Optimizer> optimizer;
  if (t.sink) optimizer = std::make_shared<optim::Adam>(net->trainable_params(), optim::AdamOptions{.learning_rate = 0.01});
  else optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, {.amp = t.amp});
  Outcome out;
  struct Record : train::Callback {
    explicit Record(Outcome* o) : out(o) {}
    void steps_known(train::TrainState&, const train::KnownSteps& known) override {
      out->values.insert(out->values.end(), known.losses.begin(), known.losses.end());
      const std::string settings =
          fmt::format("mode {}, strict {}, {} threads, seed {}\n", static_cast<int>(context().mode), strict_mode(), num_threads(), get_seed());
      if (!out->text.ends_with(settings)) out->text += settings;  // once, however many steps become known together
    }
    Outcome* out;
  };
  model.train(kEpochs, noise(t.image), {std::make_shared<Record>(&out)}, {.dataset_sink_mode = t.sink});
  EXPECT_EQ(out.values.size(), static_cast<size_t>(kEpochs * kSteps)) << t.name;
  for (Parameter* p : net->get_parameters()) {
    for (const float v : p->stored().to_vector<float>()) out.values.push_back(v);
  }
  for (const int64_t v : ops::rng_state().stored().to_vector<int64_t>()) out.values.push_back(static_cast<float>(v));
  for (const auto& [query, kernel] : kernel_choices()) out.text += query + " " + kernel + "\n";
  return out;
}

void write(const Outcome& o, const std::string& file) {
  std::ofstream f(file, std::ios::binary);
  const size_t n = o.values.size();
  f.write(reinterpret_cast<const char*>(&n), sizeof n);
  f.write(reinterpret_cast<const char*>(o.values.data()), static_cast<std::streamsize>(n * sizeof(float)));
  f << o.text;
}
Outcome read(const std::string& file) {
  std::ifstream f(file, std::ios::binary);
  Outcome o;
  size_t n = 0;
  if (!f.read(reinterpret_cast<char*>(&n), sizeof n)) throw std::runtime_error("a separate training process wrote no result to " + file);
  o.values.resize(n);
  f.read(reinterpret_cast<char*>(o.values.data()), static_cast<std::streamsize>(n * sizeof(float)));
  o.text.assign(std::istreambuf_iterator<char>(f), {});
  return o;
}

constexpr const char *kWhich = "SINDRI_TEST_TRAINING", *kFile = "SINDRI_TEST_OUTCOME";

// Starts this program again to train one of them.
Outcome in_a_process(const Training& t, const std::string& file) {
  std::vector<std::string> variables = {std::string(kWhich) + "=" + t.name, std::string(kFile) + "=" + file};
  for (char** e = environ; *e != nullptr; ++e) {
    if (std::strncmp(*e, "GTEST_", 6) != 0) variables.emplace_back(*e);  // without gtest's variables the child writes no report and takes no share of the cases
  }
  std::vector<char*> environment;
  for (std::string& v : variables) environment.push_back(v.data());
  environment.push_back(nullptr);
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string(),
              filter = "--gtest_filter=*Runtimes.FourSideBySideGiveTheBitsOfFourProcesses/0";
  char* const arguments[] = {program.data(), filter.data(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    if (const int null = open("/dev/null", O_WRONLY); null >= 0) dup2(null, STDOUT_FILENO);
    execve(program.c_str(), arguments, environment.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << t.name;
  return read(file);
}

// Prints their differences, for debugging.
void expect_same(const Outcome& got, const Outcome& alone, const char* name, const std::string& when) {
  if (got == alone) return;
  ASSERT_EQ(got.values.size(), alone.values.size()) << name << " " << when;
  EXPECT_EQ(got.text, alone.text) << name << " " << when;
  const auto differ = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) != 0; };
  for (size_t i = 0; i < got.values.size(); ++i) {
    if (differ(got.values[i], alone.values[i])) {
      ADD_FAILURE() << name << " " << when << ": value " << i << " (step " << i + 1 << " of " << kEpochs * kSteps << ", or a weight) is " << got.values[i]
                    << ", alone " << alone.values[i];
      return;
    }
  }
}

class Runtimes : public testing::TestWithParam<size_t> {};

TEST_P(Runtimes, FourSideBySideGiveTheBitsOfFourProcesses) {
  if (const char* which = std::getenv(kWhich)) {
    for (const auto& four : kTrainings) {
      for (const Training& t : four)
        if (std::string(t.name) == which) write(run(t), std::getenv(kFile));
    }
    return;
  }
  const std::array<Training, 4>& four = kTrainings.at(GetParam());
  const TempFolder folder;
  std::vector<Outcome> alone;
  for (const Training& t : four) alone.push_back(in_a_process(t, folder.file(t.name)));

  // In turn on this thread: state that a thread keeps between runtimes must not have an effect either.
  for (size_t i = four.size(); i-- > 0;) {
    const RuntimeScope scope((Runtime(four[i].name)));
    expect_same(run(four[i]), alone[i], four[i].name, "after others on one thread");
  }

  constexpr int kRepetitions = 4;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<Outcome> together(four.size());
    std::vector<std::thread> threads;
    std::barrier start(static_cast<std::ptrdiff_t>(four.size()));
    for (size_t i = 0; i < four.size(); ++i) {
      threads.emplace_back([&, i] {
        const RuntimeScope scope((Runtime(four[i].name)));
        start.arrive_and_wait();
        try {
          together[i] = run(four[i]);
        } catch (const std::exception& e) { ADD_FAILURE() << four[i].name << ": " << e.what(); }
      });
    }
    for (std::thread& t : threads) t.join();
    for (size_t i = 0; i < four.size(); ++i) expect_same(together[i], alone[i], four[i].name, "concurrently with others");
  }
}

INSTANTIATE_TEST_SUITE_P(Fours, Runtimes, testing::Values(0, 1));

// A random transform that is called by hand draws by its number among those of its runtime.
TEST(RuntimeOfTheData, TransformsCalledByHandCountForThemselves) {
  std::vector<uint8_t> pixels(64 * 64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i % 251);
  const Tensor image = Tensor::from_vector<uint8_t>({64, 64, 1}, pixels);
  const auto crops = [&] {
    const RuntimeScope scope((Runtime()));
    set_seed(9);
    std::vector<uint8_t> all;
    for (int i = 0; i < 2; ++i) {
      for (const uint8_t p : dataset::vision::RandomCrop(8)(image).to_vector<uint8_t>()) all.push_back(p);
    }
    return all;
  };
  const std::vector<uint8_t> first = crops();
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + 64, first.begin() + 64));
  EXPECT_EQ(crops(), first);
}

// Everything that a worker of the data pipeline calls runs in the runtime of the training run that reads it.
TEST(RuntimeOfTheData, WorkersOfThePipelineInheritTheReadersRuntime) {
  std::mutex mutex;
  std::set<std::string> seen;
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x"};
  o.size = 16;
  o.row = [&](int64_t i) {
    const std::lock_guard lock(mutex);
    seen.insert(Runtime::current().name());
    return dataset::GeneratorDataset::Row{Tensor::scalar(static_cast<double>(i))};
  };
  const auto d = dataset::GeneratorDataset::make(o)->batch(4);
  const auto it = d->create_iterator({.num_epochs = 1, .num_workers = 2});
  seen.clear();  // the first row may be read to find out the rows' shapes
  const RuntimeScope scope(Runtime("reader"));
  std::vector<Tensor> columns;
  while (it->next(&columns)) {}
  EXPECT_EQ(seen, std::set<std::string>{"reader"});
}

}  // namespace
}  // namespace sindri::runtimes_test
