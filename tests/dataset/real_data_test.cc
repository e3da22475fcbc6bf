// On real images, if available: SINDRI_TEST_DATA names a folder with cifar10/{train,test} and imagenet/<class>, unpacked. With SINDRI_DATA_BENCH set the speeds
// are printed too: images per second, and per core-second of the workers.
#include <chrono>

#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace {

std::string real_data(const std::string& name) {
  const char* root = std::getenv("SINDRI_TEST_DATA");
  if (root == nullptr || !std::filesystem::is_directory(std::string(root) + "/" + name)) return {};
  return std::string(root) + "/" + name;
}
#define SKIP_WITHOUT(dir) \
  if (dir.empty()) GTEST_SKIP() << "no real images: set SINDRI_TEST_DATA to a folder with cifar10/ and imagenet/ unpacked"

Dataset::Ptr cifar_train(const std::string& dir) {
  auto d = ImageFolderDataset::make({.dataset_dir = dir + "/train"});
  d = d->map({vision::Decode(), vision::RandomCrop(32, {.padding = {4}}), vision::RandomHorizontalFlip(),
              vision::Normalize({125.3, 123.0, 113.9}, {63.0, 62.1, 66.7}), vision::HWC2CHW()},
             {.input_columns = {"image"}});
  return d->batch(128, {.drop_remainder = true});
}

Dataset::Ptr imagenet_train(const std::string& dir, int64_t repeat) {
  auto d = ImageFolderDataset::make({.dataset_dir = dir});
  d = d->map({vision::RandomCropDecodeResize(224), vision::RandomHorizontalFlip(), vision::Normalize({123.675, 116.28, 103.53}, {58.395, 57.12, 57.375}),
              vision::HWC2CHW()},
             {.input_columns = {"image"}});
  return d->repeat(repeat)->batch(64);
}

Dataset::Ptr imagenet_eval(const std::string& dir) {
  auto d = ImageFolderDataset::make({.dataset_dir = dir, .shuffle = false});
  d = d->map({vision::Decode(), vision::Resize(256), vision::CenterCrop(224), vision::Normalize({123.675, 116.28, 103.53}, {58.395, 57.12, 57.375}),
              vision::HWC2CHW()},
             {.input_columns = {"image"}});
  return d->batch(64);
}

void bench(const char* name, const std::function<Dataset::Ptr()>& make) {
  if (std::getenv("SINDRI_DATA_BENCH") == nullptr) return;
  for (int workers : {1, 2}) {
    auto it = make()->create_iterator({.num_epochs = 1, .seed = 1, .num_workers = workers});
    std::vector<Tensor> c;
    int64_t n = 0;
    const auto t = std::chrono::steady_clock::now();
    const double cpu0 = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    while (it->next(&c)) n += c[0].dim(0);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
    const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC - cpu0;
    std::printf("%-28s %d workers: %8.0f img/s, %8.0f img per CPU second\n", name, workers, static_cast<double>(n) / s, static_cast<double>(n) / cpu);
    std::printf("    %s\n", it->stats().str().c_str());
  }
}

TEST(RealData, CifarFolder) {
  const std::string dir = real_data("cifar10");
  SKIP_WITHOUT(dir);
  auto d = cifar_train(dir);
  EXPECT_EQ(d->get_dataset_size(), 50000 / 128);
  EXPECT_EQ(d->num_classes(), 10);
  auto it = d->create_iterator({.num_epochs = 1, .seed = 1});
  std::vector<Tensor> c;
  ASSERT_TRUE(it->next(&c));
  EXPECT_EQ(c[0].meta().str(), "f32[128, 3, 32, 32]");
  EXPECT_EQ(c[1].meta().str(), "i32[128]");
  bench("CIFAR folder, train", [&] { return cifar_train(dir); });
}

TEST(RealData, ImagenetTrainAndEval) {
  const std::string dir = real_data("imagenet");
  SKIP_WITHOUT(dir);
  auto it = imagenet_eval(dir)->create_iterator({.num_epochs = 1});
  EXPECT_EQ(epoch_hashes(*it).size(), 4u);
  EXPECT_EQ(it->stats().decoded_full, 256);
  EXPECT_TRUE(it->stats().bad_samples.empty());
  bench("ImageNet, train 224", [&] { return imagenet_train(dir, 4); });
  bench("ImageNet, eval 256/224", [&] { return imagenet_eval(dir); });
}

}  // namespace
}  // namespace sindri::dataset
