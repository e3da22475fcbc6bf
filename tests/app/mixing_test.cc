// RandAugment, mixup and CutMix as settings of `sindri train`: the samples they make, the losses that accept them, refused settings, and a run that is stopped
// and resumed, which must be bitwise identical to an uninterrupted one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/app/app.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/dataset/dataset.h"
#include "source_dir.h"
#include "src/app/build.h"
#include "src/app/data.h"
#include "tests/train/temp_folder.h"

namespace sindri::app::mixing {
namespace {

Settings digits(const std::vector<std::string>& more) {
  Settings settings;
  settings.load_yaml(SINDRI_SOURCE_DIR "/configs/digits.yaml");
  settings.set("data.path=" SINDRI_SOURCE_DIR "/dataset/digits");
  for (const std::string& s : more) settings.set(s);
  settings.validate();
  return settings;
}

// CIFAR-10's format: a label and 3·32·32 bytes per row.
void write_cifar(const TempFolder& temp) {
  uint32_t state = 1;
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::ofstream out(temp.file(std::string(name) + ".bin"), std::ios::binary);
    for (int64_t i = 0; i < 8; ++i) {
      out.put(static_cast<char>(i % 10));
      for (int j = 0; j < 3072; ++j) out.put(static_cast<char>((state = state * 1664525u + 1013904223u) >> 24));
    }
  }
}

// The first training batch; settings with the same seed give the same samples.
std::vector<Tensor> first_batch(const Settings& settings, const Shape& image) {
  set_seed(settings.get_int("train.seed"));
  const Data data = open_data(settings, image, true);
  std::vector<Tensor> batch;
  EXPECT_TRUE(data.train->create_iterator({.num_epochs = 1})->next(&batch));
  return batch;
}

// Label row i of a mixed batch has `mine` at the sample's class and the rest at one other; 1 if both classes are the same.
struct Row {
  float mine = 0, rest = 0;
  int64_t other_class = -1;
};
Row row_of(const std::vector<Tensor>& mixed, int64_t i, int32_t label) {
  const int64_t classes = mixed[1].dim(1);
  Row row;
  for (int64_t k = 0; k < classes; ++k) {
    const float v = mixed[1].data<float>()[i * classes + k];
    if (k == label) row.mine = v;
    else if (v != 0) row.rest += v, row.other_class = k;
  }
  return row;
}

TEST(Mixing, MixupIsTheWeightedSumOfTwoSamplesAndTheirLabels) {
  const Shape image{1, 8, 8};
  const std::vector<Tensor> plain = first_batch(digits({"train.batch_size=16"}), image);
  const std::vector<Tensor> mixed = first_batch(digits({"train.batch_size=16", "data.mixup=0.7"}), image);
  ASSERT_EQ(plain[1].dtype(), DType::kInt32);
  ASSERT_EQ(mixed[1].dtype(), DType::kFloat32);
  ASSERT_EQ(mixed[1].shape(), Shape({16, 10}));
  const float *x = plain[0].data<float>(), *y = mixed[0].data<float>();
  float weight = -1;  // weight of the whole batch
  int found = 0;
  for (int64_t i = 0; i < 16; ++i) {
    const int32_t label = plain[1].data<int32_t>()[i];
    const Row row = row_of(mixed, i, label);
    ASSERT_NEAR(row.mine + row.rest, 1, 1e-6);
    if (row.other_class < 0) continue;
    if (weight < 0) weight = row.mine;
    EXPECT_NEAR(row.mine, weight, 1e-6);
    // One sample of the other class makes every pixel w·mine + (1 - w)·theirs.
    bool fits = false;
    for (int64_t j = 0; j < 16 && !fits; ++j) {
      if (plain[1].data<int32_t>()[j] != row.other_class) continue;
      fits = true;
      for (int64_t k = 0; k < 64 && fits; ++k)
        fits = std::abs(static_cast<double>(y[i * 64 + k]) - (static_cast<double>(weight) * x[i * 64 + k] + (1.0 - weight) * x[j * 64 + k])) < 1e-5;
    }
    EXPECT_TRUE(fits) << "row " << i;
    ++found;
  }
  EXPECT_GT(found, 4);
}

TEST(Mixing, CutMixPastesABoxAndMixesLabelsByItsArea) {
  const Shape image{1, 8, 8};
  const std::vector<Tensor> plain = first_batch(digits({"train.batch_size=16"}), image);
  for (const char* prob : {"1", "0"}) {
    const std::vector<Tensor> mixed = first_batch(digits({"train.batch_size=16", "data.cutmix=1", std::string("data.cutmix_prob=") + prob}), image);
    const float *x = plain[0].data<float>(), *y = mixed[0].data<float>();
    int found = 0;
    for (int64_t i = 0; i < 16; ++i) {
      const Row row = row_of(mixed, i, plain[1].data<int32_t>()[i]);
      ASSERT_NEAR(row.mine + row.rest, 1, 1e-6);
      if (row.other_class < 0) continue;
      ++found;
      const double area = std::round(static_cast<double>(row.rest) * 64);
      EXPECT_NEAR(row.rest * 64, area, 1e-4) << "whole pixels";
      bool fits = false;
      for (int64_t j = 0; j < 16 && !fits; ++j) {
        if (plain[1].data<int32_t>()[j] != row.other_class) continue;
        int64_t top = 8, left = 8, bottom = -1, right = -1;  // bounds of the pixels that differ from the sample's own
        for (int64_t k = 0; k < 64; ++k)
          if (y[i * 64 + k] != x[i * 64 + k])
            top = std::min(top, k / 8), bottom = std::max(bottom, k / 8), left = std::min(left, k % 8), right = std::max(right, k % 8);
        fits = bottom < top || static_cast<double>((bottom - top + 1) * (right - left + 1)) <= area;  // equal pixels: blank margins of both
        for (int64_t r = top; r <= bottom && fits; ++r)
          for (int64_t c = left; c <= right && fits; ++c) fits = y[i * 64 + r * 8 + c] == x[j * 64 + r * 8 + c];
      }
      EXPECT_TRUE(fits) << "row " << i;
    }
    if (prob[0] == '1') EXPECT_GT(found, 4);
    else EXPECT_EQ(found, 0);
  }
}

// -sum of t·log softmax(z) in float64, smoothed as each loss smooths one-hot rows.
TEST(Mixing, LossesTakeProbabilities) {
  const std::vector<float> z = {1.5F, -0.25F, 0.5F, 3, -2, 0.125F}, t = {0.75F, 0, 0.25F, 0.5F, 0.5F, 0};
  const Tensor logits = Tensor::from_vector({2, 3}, z), labels = Tensor::from_vector({2, 3}, t);
  const auto expected = [&](double on, double off) {  // t·on + off
    double sum = 0;
    for (size_t r = 0; r < 2; ++r) {
      double total = 0;
      for (size_t k = 0; k < 3; ++k) total += std::exp(static_cast<double>(z[3 * r + k]));
      for (size_t k = 0; k < 3; ++k) sum -= (static_cast<double>(t[3 * r + k]) * on + off) * (static_cast<double>(z[3 * r + k]) - std::log(total));
    }
    return sum / 2;
  };
  const auto loss = [&](const std::vector<std::string>& more, const Tensor& target) {
    std::vector<std::string> all = {"data.mixup=0.2"};
    all.insert(all.end(), more.begin(), more.end());
    return (*make_loss(digits(all)))(logits, target).item();
  };
  EXPECT_NEAR(loss({"loss.name=softmax_cross_entropy"}, labels), expected(1, 0), 1e-6);
  EXPECT_NEAR(loss({"loss.name=softmax_cross_entropy", "loss.label_smoothing=0.1"}, labels), expected(0.85, 0.05), 1e-6);
  EXPECT_NEAR(loss({"loss.name=cross_entropy", "loss.label_smoothing=0.1"}, labels), expected(0.9, 0.1 / 3), 1e-6);
  double squares = 0;
  for (size_t i = 0; i < 6; ++i) squares += std::pow(static_cast<double>(z[i]) - static_cast<double>(t[i]), 2) / 6;
  EXPECT_NEAR(loss({"loss.name=mse"}, labels), squares, 1e-6);
  // Evaluation uses class numbers; mixing does not change its loss.
  const Tensor classes = Tensor::from_vector({2}, std::vector<int32_t>{2, 0});
  for (const char* name : {"softmax_cross_entropy", "cross_entropy", "mse"}) {
    const std::string set = std::string("loss.name=") + name;
    EXPECT_EQ(loss({set}, classes), (*make_loss(digits({set})))(logits, classes).item()) << name;
  }
  EXPECT_THROW(loss({"loss.name=softmax_cross_entropy", "loss.label_smoothing=0.9"}, labels), ValueError);
}

std::string message_of(const std::vector<std::string>& more) {
  const TempFolder temp;
  try {
    Settings s = digits(more);
    s.set("train.run_dir=" + temp.file("run"));
    TrainRequest request;
    request.dry_run = true;
    (void)train(s, request);
  } catch (const SettingsError& e) { return e.what(); }
  return "";
}

TEST(Mixing, WhatMakesNoSenseIsRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(message_of({"data.mixup=0.2", "data.cutmix=1"}), HasSubstr("data.mixup is 0.2 as well"));
  EXPECT_THAT(message_of({"data.rand_augment=2"}), HasSubstr("needs RGB images, the data has 1 channel"));
  EXPECT_THAT(message_of({"data.mixup=0.2", "loss.name=multi_margin"}), HasSubstr("multi_margin accepts class numbers only"));
  EXPECT_THAT(message_of({"data.cutmix=1", "train.batch_size=1"}), HasSubstr("need at least 2 samples per batch"));
  EXPECT_THAT(message_of({"data.cutmix=1", "dist.virtual_ranks=2"}), HasSubstr("this process has 2 virtual ranks"));
  EXPECT_THAT(message_of({"data.mixup=-1"}), HasSubstr("data.mixup"));
  EXPECT_THAT(message_of({"data.rand_augment=2", "data.rand_augment_magnitude=31"}), HasSubstr("data.rand_augment_magnitude"));
}

std::string loss_bits(Settings s, const std::string& folder, int64_t steps, bool resume) {
  s.set("train.run_dir=" + folder);
  s.set(fmt::format("train.max_steps={}", steps));
  s.validate();
  TrainRequest request;
  request.quiet = true;
  request.resume = resume;
  (void)train(s, request);
  return nlohmann::json::parse(std::ifstream(folder + "/repro.json"))["loss_bits_hash"];
}

TEST(Mixing, AStoppedTrainingGoesOnWithTheSameBits) {
  const TempFolder cifar;
  write_cifar(cifar);
  Settings photographs;
  photographs.load_yaml_text("model: {name: resnet20}\ndata: {kind: cifar10}\ntrain: {epochs: 3, batch_size: 4, eval_interval: -1}\nlr: {max: 0.01}\n",
                             "net.yaml");
  photographs.set("data.path=" + cifar.path());
  const std::vector<std::string> constant = {"train.epochs=2", "lr.schedule=constant", "lr.warmup_epochs=0", "train.eval_interval=-1"};
  const auto with = [](Settings s, const std::vector<std::string>& more) {
    for (const std::string& m : more) s.set(m);
    return s;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {{"data.mixup=0.4", "data.mixup=0"}, {"data.cutmix=1", "data.cutmix=0"}};
  for (const auto& [on, off] : cases) {
    const TempFolder temp;
    const Settings base = digits(constant);
    const std::string whole = loss_bits(with(base, {on}), temp.file("whole"), 30, false);
    (void)loss_bits(with(base, {on}), temp.file("part"), 13, false);
    EXPECT_EQ(loss_bits(with(base, {on}), temp.file("part"), 30, true), whole) << on;
    EXPECT_NE(loss_bits(with(base, {off}), temp.file("plain"), 30, false), whole) << on;
  }
  const TempFolder temp;
  const Settings augmented = with(photographs, {"data.rand_augment=2"});
  const std::string whole = loss_bits(augmented, temp.file("whole"), 14, false);
  (void)loss_bits(augmented, temp.file("part"), 6, false);
  EXPECT_EQ(loss_bits(augmented, temp.file("part"), 14, true), whole);
  EXPECT_NE(loss_bits(photographs, temp.file("plain"), 14, false), whole);
  EXPECT_NE(loss_bits(with(augmented, {"data.rand_augment_magnitude=20"}), temp.file("strong"), 14, false), whole);
}

}  // namespace
}  // namespace sindri::app::mixing
