// The transforms of augment.h in C++: the parts that MindSpore's values, which the Python tests compare, do not cover.
#include "sindri/dataset/augment.h"

#include <algorithm>
#include <array>
#include <set>

#include "tests/dataset/helpers.h"

namespace sindri::augment_samples {

using namespace dataset;  // NOLINT(google-build-using-namespace)

Tensor image_tensor(int height, int width, int seed) {
  const cv::Mat m = picture(height, width, seed);
  return Tensor::from_data({height, width, 3}, DType::kUInt8, m.data);
}
std::vector<uint8_t> values(const Tensor& t) {
  const auto* p = static_cast<const uint8_t*>(t.raw_data());
  return {p, p + t.nbytes()};
}

TEST(Augment, PoliciesKeepSizeAndTypeAndDependOnTheKeyAlone) {
  const Tensor image = image_tensor(40, 56, 1);
  for (const Transform& t : {vision::RandAugment(2, 9, 31, vision::Inter::kNearest, {0}), vision::TrivialAugmentWide(31, vision::Inter::kLinear, {1, 2, 3}),
                             vision::AutoAugment("imagenet", vision::Inter::kNearest, {0}), vision::AutoAugment("cifar10", vision::Inter::kNearest, {0}),
                             vision::AutoAugment("svhn", vision::Inter::kNearest, {0})}) {
    std::set<std::vector<uint8_t>> seen;
    for (uint64_t key = 0; key < 60; ++key) {
      const Tensor out = t.apply({image}, key)[0];
      ASSERT_EQ(out.shape(), image.shape());
      ASSERT_EQ(values(out), values(t.apply({image}, key)[0]));
      seen.insert(values(out));
    }
    EXPECT_GT(seen.size(), 15u) << t.str();
  }
  EXPECT_THROW(vision::AutoAugment("coco", vision::Inter::kNearest, {0}), ValueError);
  EXPECT_THROW(vision::RandAugment(2, 31, 31, vision::Inter::kNearest, {0}), ValueError);
}

TEST(Augment, RandAugmentOfNoStrengthKeepsTheGeometry) {
  // Of 14 operations at magnitude 0 only Equalize and AutoContrast change anything: Solarize starts at 255.
  const Tensor image = Tensor::full({8, 8, 3}, 100, DType::kUInt8);
  const Transform t = vision::RandAugment(1, 0, 31, vision::Inter::kNearest, {0});
  for (uint64_t key = 0; key < 40; ++key) EXPECT_EQ(values(t.apply({image}, key)[0]), values(image));
}

// Three channels at once give the same as each alone, for sizes around the vector length, up to the last byte of the image.
TEST(Augment, PillowResizeTreatsChannelsAlike) {
  for (const auto& [h, w, to_h, to_w] : {std::array<int, 4>{1, 9, 1, 4}, {2, 5, 3, 8}, {37, 41, 20, 65}, {40, 30, 40, 22}, {30, 44, 71, 44}}) {
    const Tensor image = image_tensor(h, w, h + w);
    for (const bool cubic : {false, true}) {
      const Transform resize = vision::PillowResize(vision::Size(to_h, to_w), cubic, vision::LongEdge::kRound);
      const std::vector<uint8_t> all = values(resize(image)), from = values(image);
      ASSERT_EQ(all.size(), static_cast<size_t>(3 * to_h * to_w));
      for (size_t k = 0; k < 3; ++k) {
        std::vector<uint8_t> channel, together;
        for (size_t i = k; i < from.size(); i += 3) channel.push_back(from[i]);
        for (size_t i = k; i < all.size(); i += 3) together.push_back(all[i]);
        EXPECT_EQ(values(resize(Tensor::from_vector({h, w, 1}, channel))), together) << h << " x " << w << ", channel " << k << ", cubic " << cubic;
      }
    }
  }
}

TEST(Augment, ChoicesDrawForTheirInnerTransforms) {
  const Tensor image = image_tensor(4, 6, 2);
  const Transform flip = vision::RandomHorizontalFlip(0.5), upside = vision::RandomVerticalFlip(0.5);
  for (const Transform& t : {vision::RandomOrder({{flip}, {upside}}), vision::RandomApply({flip, upside}, 1.0), vision::UniformAugment({{flip}, {upside}}, 2),
                             vision::RandomSelectSubpolicy({{{{flip}, 1.0}, {{upside}, 1.0}}})}) {
    std::set<std::vector<uint8_t>> seen;
    for (uint64_t key = 0; key < 200; ++key) seen.insert(values(t.apply({image}, key)[0]));
    EXPECT_EQ(seen.size(), 4u) << t.str();
  }
  EXPECT_THROW(vision::RandomApply({vision::CornerCrops({2}, false, false)}, 0.5), ValueError) << "five outputs";
  EXPECT_THROW(vision::RandomChoice({}), ValueError);
}

TEST(Augment, BoxesFollowTheCrop) {
  const Tensor image = image_tensor(20, 30, 3);
  const std::vector<float> numbers = {2, 3, 10, 8, 7, 25, 15, 4, 4, 9};
  const Tensor boxes = Tensor::from_vector({2, 5}, numbers);
  const Transform crop = vision::CropWithBoxes(vision::CenterCrop({10, 10}));  // rows 5 to 15, columns 10 to 20
  const auto out = crop.apply({image, boxes}, 0);
  ASSERT_EQ(out[0].shape(), Shape({10, 10, 3}));
  ASSERT_EQ(out[1].shape(), Shape({1, 5})) << "nothing is left of the second";
  const float* b = out[1].data<float>();
  EXPECT_EQ(std::vector<float>(b, b + 5), std::vector<float>({0, 0, 2, 6, 7}));
  const auto far = vision::CropWithBoxes(vision::CenterCrop({2, 2})).apply({image, Tensor::from_vector({1, 4}, std::vector<float>{0, 0, 3, 3})}, 0);
  EXPECT_EQ(far[1].shape(), Shape({1, 4}));
  EXPECT_EQ(far[1].data<float>()[2], 0) << "one box of zeros replaces it";
  EXPECT_THROW(vision::CropWithBoxes(vision::Invert()), ValueError);
  EXPECT_THROW(crop.apply({image}, 0), ValueError);
}

TEST(Augment, MixesFollowTheirLabels) {
  Tensor images = Tensor::zeros({4, 6, 8, 3});
  for (int64_t i = 0; i < images.numel(); ++i) images.mutable_data<float>()[i] = static_cast<float>(i / (6 * 8 * 3));
  Tensor labels = Tensor::zeros({4, 4}, DType::kInt32);
  for (int64_t i = 0; i < 4; ++i) labels.mutable_data<int32_t>()[i * 5] = 1;
  for (const Transform& t : {vision::MixUpBatch(0.4), vision::CutMixBatch(true, 1.0, 1.0)}) {
    for (uint64_t key = 0; key < 20; ++key) {
      const auto out = t.apply({images, labels}, key);
      for (int64_t i = 0; i < 4; ++i) {
        double mean = 0, expected = 0;
        for (int64_t k = 0; k < 6 * 8 * 3; ++k) mean += out[0].data<float>()[i * 6 * 8 * 3 + k] / (6.0 * 8 * 3);
        for (int64_t k = 0; k < 4; ++k) expected += static_cast<double>(k) * out[1].data<float>()[i * 4 + k];
        ASSERT_NEAR(mean, expected, 1e-5) << t.str();
      }
    }
  }
}

}  // namespace sindri::augment_samples
