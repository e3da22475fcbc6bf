// Losses and metrics named in settings: each one offered trains a small network, and so do those that a program registers.
#include <gtest/gtest.h>

#include <cmath>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/elementwise.h"
#include "source_dir.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::loss_settings {
namespace {

const auto& kOwnLoss = nn::losses().add({
    .name = "own_square",
    .doc = "factor·(logits - labels)²",
    .settings = {{.name = "factor", .type = SettingType::kFloat, .fallback = "1", .doc = "of a test", .min = 0}},
    .make = [](const SettingValues& v) -> nn::LossRule {
      return {.terms = [factor = v.get_float("factor")](Span<const Tensor> t) { return ops::mul(ops::square(ops::sub(t[0], t[1])), factor); }};
    },
});

class Samples final : public nn::Metric {
 public:
  explicit Samples(int64_t unit) : unit_(unit) {}
  void clear() override { count_ = 0; }
  std::vector<double> eval() const override { return {static_cast<double>(count_) / static_cast<double>(unit_)}; }

 protected:
  void add(const std::vector<Tensor>& in) override { count_ += in[0].dim(0); }

 private:
  int64_t unit_, count_ = 0;
};

const auto& kOwnMetric = nn::metrics().add({
    .name = "own_samples",
    .doc = "how many samples were evaluated",
    .settings = {{.name = "unit", .type = SettingType::kInt, .fallback = "1", .doc = "of a test", .min = 1}},
    .make = [](const SettingValues& v) -> nn::MetricPtr { return std::make_shared<Samples>(v.get_int("unit")); },
});

TrainReport train_digits(const std::string& folder, const std::vector<std::string>& more) {
  app::Settings settings;
  settings.load_yaml(SINDRI_SOURCE_DIR "/configs/digits.yaml");
  settings.set("data.path=" SINDRI_SOURCE_DIR "/dataset/digits");
  settings.set("train.run_dir=" + folder);
  for (const char* s : {"train.max_steps=60", "train.epochs=2", "train.eval_interval=0", "lr.schedule=constant"}) settings.set(s);
  for (const std::string& s : more) settings.set(s);
  settings.validate();
  TrainRequest request;
  request.quiet = true;
  return train(settings, request);
}

TEST(LossSettings, EveryLossOfferedTrains) {
  ASSERT_GT(nn::losses().offered().size(), 8u);
  for (const std::string& name : nn::losses().offered()) {
    SCOPED_TRACE(name);
    const TempFolder temp;
    // At the learning rate of the settings file the absolute difference hardly trains, and rounding decides whether it does.
    const TrainReport r = train_digits(temp.file("run"), {"loss.name=" + name, "lr.max=0.01"});
    EXPECT_TRUE(std::isfinite(r.metrics.at("loss")));
    EXPECT_GT(r.metrics.at("accuracy"), 0.2) << "guessing is right for one in ten";
  }
}

TEST(LossSettings, OwnLossAndMetricWithSettings) {
  const TempFolder temp;
  const auto loss = [&](const std::string& name, const std::vector<std::string>& settings) { return train_digits(temp.file(name), settings).metrics; };
  const train::MetricValues one = loss("one", {"loss.name=mse", "train.max_steps=1", "lr.max=0", "lr.init=0"});
  const train::MetricValues three =
      loss("three",
           {"loss.name=own_square", "loss.factor=3", "train.max_steps=1", "lr.max=0", "lr.init=0", "metrics.own_samples.enabled=true",
            "metrics.own_samples.unit=2", "metrics.fbeta.enabled=true", "metrics.topk.enabled=true", "metrics.topk.k=10"});
  EXPECT_NEAR(three.at("loss"), 3 * one.at("loss"), 1e-5 * three.at("loss"));
  EXPECT_GT(three.at("own_samples"), 100);
  EXPECT_EQ(three.at("topk"), 1);
  EXPECT_TRUE(three.contains("fbeta"));
  EXPECT_FALSE(one.contains("fbeta"));
}

TEST(LossSettings, WhatDoesNotFitIsRefused) {
  for (const char* wrong : {"loss.name=triplet_margin", "loss.name=hubber", "loss.delta=2", "metrics.topk.k=3", "loss.label_smoothing=1.5"}) {
    app::Settings settings;
    settings.load_yaml(SINDRI_SOURCE_DIR "/configs/digits.yaml");
    EXPECT_THROW(
        {
          settings.set(wrong);
          settings.validate();
        },
        SettingsError)
        << wrong;
  }
}

}  // namespace
}  // namespace sindri::app::loss_settings
