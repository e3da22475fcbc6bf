// The order of events of Model::train, by the table that tests/python/test_training_loop.py also reads.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/core/context.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "source_dir.h"

namespace sindri {
namespace {

// Twelve rows in batches of two.
dataset::Dataset::Ptr six_batches() {
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x", "label"};
  o.size = 12;
  o.row = [](int64_t i) {
    const double v = static_cast<double>(i) / 12;
    return dataset::GeneratorDataset::Row{Tensor::from_values({2}, {v, v * v}, DType::kFloat32), Tensor::scalar(static_cast<double>(i % 3), DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(2, {.drop_remainder = true});
}

class Recorder : public train::Callback {
 public:
  explicit Recorder(std::string stop) : stop_(std::move(stop)) {}
  void note(const std::string& event, train::TrainState* s) {
    events += (events.empty() ? "" : " ") + event;
    if (s != nullptr && event == stop_) s->request_stop();
  }
  void begin(train::TrainState& s) override { note("begin", &s); }
  void epoch_begin(train::TrainState& s) override { note("epoch:" + std::to_string(s.cur_epoch_num), &s); }
  void step_end(train::TrainState& s) override { note(std::to_string(s.cur_step_num), &s); }
  void epoch_end(train::TrainState& s) override { note("done:" + std::to_string(s.cur_epoch_num), &s); }
  void end(train::TrainState& s) override { note("end", &s); }
  std::string events;

 private:
  std::string stop_;
};

std::string events_of(const nlohmann::json& c) {
  auto net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
  auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer);
  const auto recorder = std::make_shared<Recorder>(c.value("stop", ""));
  std::vector<train::CallbackPtr> callbacks = {recorder};
  if (const int64_t every = c.value("valid_frequency", 0); every > 0) {
    const auto evaluate = [recorder] {
      recorder->note("eval", nullptr);
      return train::MetricValues{};
    };
    callbacks.insert(callbacks.begin(), std::make_shared<train::EvalCallback>(evaluate, every));
  }
  model.train(c.at("epochs"), six_batches(), callbacks,
              {.dataset_sink_mode = c.value("sink", false), .sink_size = c.value("sink_size", -1), .initial_epoch = c.value("initial_epoch", 0)});
  return recorder->events;
}

TEST(Model, EventsComeInTheOrderOfTheTable) {
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/tests/train/data/loop_cases.json");
  const nlohmann::json table = nlohmann::json::parse(in);
  ASSERT_GE(table.at("cases").size(), 10u);
  const Mode before = context().mode;
  for (const nlohmann::json& c : table.at("cases")) {
    set_mode(c.value("mode", "") == "graph" ? Mode::kGraph : Mode::kPynative);
    EXPECT_EQ(events_of(c), c.value("cpp", c.at("events").get<std::string>())) << c.at("name");
  }
  set_mode(before);
}

}  // namespace
}  // namespace sindri
