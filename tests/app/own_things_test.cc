// Networks and kinds of data that a program registers: settings files choose them, and the known facts about their images are used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "sindri/dataset/registry.h"
#include "sindri/models/registry.h"
#include "sindri/nn/nn.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/app/data.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::own_things {
namespace {

using ::testing::HasSubstr;

// Images of uniform brightness, 0 or `bright` by their label.
const auto& kOwnShades = dataset::kinds().add({
    .name = "own_shades",
    .doc = "of a test",
    .settings = {{.name = "bright", .type = SettingType::kInt, .fallback = "200", .doc = "of a test", .min = 1, .max = 250}},
    .facts = {.channels = 1, .side = 6, .num_classes = 2, .largest = 250, .augment = false, .needs_path = false},
    .make = [](const dataset::DataPart& part, const SettingValues& v) -> dataset::Dataset::Ptr {
      dataset::GeneratorDataset::Options o;
      o.row = [bright = v.get_int("bright")](int64_t i) -> dataset::GeneratorDataset::Row {
        return {Tensor::from_vector<uint8_t>({6, 6, 1}, std::vector<uint8_t>(36, static_cast<uint8_t>(i % 2 * bright))),
                Tensor::from_vector<int32_t>({}, {static_cast<int32_t>(i % 2)})};
      };
      o.size = part.train ? 64 : 16;
      o.column_names = {"image", "label"};
      o.shuffle = part.shuffle;
      return dataset::GeneratorDataset::make(o);
    },
});

class Linear final : public nn::Cell {
 public:
  Linear(const models::NetworkSize& size, double gain)
      : Cell("Linear"), gain_(gain), dense_(child("dense", nn::Dense::make({.in_channels = size.in_channels * 36, .out_channels = size.num_classes}))) {}
  Tensor construct(const Tensor& x) override { return ops::mul((*dense_)(ops::reshape(x, {x.dim(0), 36})), gain_); }

 private:
  double gain_;
  std::shared_ptr<nn::Dense> dense_;
};

models::NetworkSize made_for;  // the size that the last network was made for

const auto& kOwnLinear = models::networks().add({
    .name = "own_linear",
    .doc = "of a test",
    .settings = {{.name = "gain", .type = SettingType::kFloat, .fallback = "1", .doc = "of a test", .min = -10, .max = 10}},
    .check =
        [](const SettingValues& v) {
          if (v.get_float("gain") == 0) throw ValueError("a gain of 0 leaves nothing to train", "gain", "omit it");
        },
    .facts = {.input = {1, 6, 6}, .num_classes = 7},
    .make = [](const models::NetworkSize& size, const SettingValues& v) -> nn::CellPtr {
      made_for = size;
      return std::make_shared<Linear>(size, v.get_float("gain"));
    },
});

const auto& kOwnMetric = nn::metrics().add({
    .name = "own_between",
    .doc = "of a test",
    .settings = {{.name = "low", .type = SettingType::kInt, .fallback = "0", .doc = "of a test"},
                 {.name = "high", .type = SettingType::kInt, .fallback = "1", .doc = "of a test"}},
    .check =
        [](const SettingValues& v) {
          if (v.get_int("low") > v.get_int("high")) throw ValueError("low is above high", "low", "lower it");
        },
    .make = [](const SettingValues&) { return nn::make_metric("accuracy"); },
});

Settings settings_of(std::initializer_list<const char*> sets) {
  Settings s;
  for (const char* v : {"model.name=own_linear", "data.kind=own_shades", "train.batch_size=8", "train.epochs=4"}) s.set(v);
  for (const char* v : sets) s.set(v);
  return s;
}

TEST(OwnThings, ASettingsFileTrainsThem) {
  const TempFolder temp;
  Settings s = settings_of({"model.gain=2"});
  s.set("train.run_dir=" + temp.file("run"));
  s.validate();
  TrainRequest request;
  request.quiet = true;
  const TrainReport r = train(s, request);
  EXPECT_EQ(r.metrics.at("accuracy"), 1);
  EXPECT_EQ(made_for.num_classes, 2) << "as the data has, not the network's default";
  EXPECT_EQ(made_for.in_channels, 1);
}

// One-channel images without mean and std: the values for small photographs apply, averaged over their channels, and pixels are scaled by the data's own
// largest value.
TEST(OwnThings, FactsMakeTheTransforms) {
  const Settings s = settings_of({"data.bright=125"});
  const Data data = open_data(s, {1, 6, 6}, true);
  EXPECT_EQ(data.num_classes, 2);
  std::vector<Tensor> batch;
  ASSERT_TRUE(data.eval->create_iterator({.num_epochs = 1})->next(&batch));
  EXPECT_EQ(batch[0].shape(), (Shape{8, 1, 6, 6}));
  const double mean = (0.4914 + 0.4822 + 0.4465) / 3, std = (0.2470 + 0.2435 + 0.2616) / 3;
  const std::vector<double> pixels = batch[0].to_vector<double>();
  EXPECT_NEAR(pixels[0], (0 - mean) / std, 1e-5);
  EXPECT_NEAR(pixels[36], (0.5 - mean) / std, 1e-5);
}

TEST(OwnThings, Refusals) {
  const auto refused = [](std::initializer_list<const char*> sets) -> std::string {
    try {
      settings_of(sets).validate();
    } catch (const SettingsError& e) { return e.what(); }
    return "no SettingsError";
  };
  EXPECT_EQ(refused({"model.gain=0"}), "model.gain: a gain of 0 leaves nothing to train | model.gain from --set | omit it");
  EXPECT_THAT(refused({"model.gain=11"}), HasSubstr("model.gain: expected -10 to 10, got 11"));
  EXPECT_THAT(refused({"data.kind=auto", "data.bright=100"}),
              HasSubstr("data.bright: auto has no such setting | data.bright from --set | remove it, or use own_shades"));
  EXPECT_EQ(refused({"metrics.own_between.enabled=true", "metrics.own_between.low=2"}),
            "metrics.own_between.low: low is above high | metrics.own_between.low from --set | lower it");
  EXPECT_EQ(refused({"metrics.own_between.enabled=true", "metrics.own_between.high=2"}), "no SettingsError");
  EXPECT_THAT(refused({"data.kind=own_shade"}), HasSubstr("did you mean 'own_shades'"));
}

// Settings of a registered component share a section with other settings, so their names must differ. The test runs in a separate process because registrations
// are permanent.
TEST(OwnThingsDeathTest, SettingsThatAllOfThemHave) {
  const auto declare = [] {
    models::networks().add({.name = "own_wide",
                            .doc = "of a test",
                            .settings = {{.name = "num_classes", .type = SettingType::kInt, .fallback = "1", .doc = "of a test"}},
                            .make = kOwnLinear.make});
    try {
      Settings::schema();
    } catch (const ValueError& e) {
      std::fputs(e.what(), stderr);
      std::_Exit(7);
    }
  };
  EXPECT_EXIT(declare(), ::testing::ExitedWithCode(7), "one of kind network declares the setting 'model.num_classes', which all of them have");
}

}  // namespace
}  // namespace sindri::app::own_things
