// A custom network and a custom kind of data, chosen in a settings file like the library's: SINDRI_LIBRARIES=libown_data.so sindri train --config bars.yaml
#include <sindri/dataset/registry.h>
#include <sindri/models/registry.h>
#include <sindri/nn/nn.h>
#include <sindri/ops/elementwise.h>

namespace {

using namespace sindri;

// Images of one bright bar, lying (label 0) or standing (label 1), on a noisy ground. Row i of a part is always the same.
constexpr int64_t kSide = 12;

dataset::GeneratorDataset::Row bar(uint64_t row, int64_t noise) {
  uint64_t state = row * 0x9e3779b97f4a7c15u + 1;
  const auto draw = [&](int64_t below) {  // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below == 0 ? 0 : static_cast<int64_t>(state % static_cast<uint64_t>(below));
  };
  const int64_t label = static_cast<int64_t>(row % 2), place = draw(kSide);
  std::vector<uint8_t> pixels(kSide * kSide);
  for (int64_t y = 0; y < kSide; ++y)
    for (int64_t x = 0; x < kSide; ++x) pixels[y * kSide + x] = static_cast<uint8_t>(draw(noise + 1) + ((label == 0 ? y : x) == place ? 100 : 0));
  return {Tensor::from_vector<uint8_t>({kSide, kSide, 1}, pixels), Tensor::from_vector<int32_t>({}, {static_cast<int32_t>(label)})};
}

const auto& kBars = dataset::kinds().add({
    .name = "bars",
    .doc = "bars that lie or stand, 12x12, grey; made, not read",
    .settings = {{.name = "noise", .type = SettingType::kInt, .fallback = "100", .doc = "the brightest the ground can be", .min = 0, .max = 155},
                 {.name = "count", .type = SettingType::kInt, .fallback = "512", .doc = "how many to train on", .min = 2, .max = 1e6, .unit = "images"}},
    .facts = {.channels = 1, .side = kSide, .num_classes = 2, .mean = {0.2}, .std = {0.15}, .augment = false, .needs_path = false},
    .make = [](const dataset::DataPart& part, const SettingValues& v) -> dataset::Dataset::Ptr {
      const int64_t noise = v.get_int("noise"), count = v.get_int("count"), first = part.train ? 0 : count;  // other rows evaluate
      dataset::GeneratorDataset::Options o;
      o.row = [noise, first](int64_t i) { return bar(static_cast<uint64_t>(first + i), noise); };
      o.size = part.train ? count : 128;
      o.column_names = {"image", "label"};
      o.shuffle = part.shuffle;
      return dataset::GeneratorDataset::make(o);
    },
});

// A convolution whose mean answers are weighed, for images of any size.
class Glance final : public nn::Cell {
 public:
  Glance(const models::NetworkSize& size, int64_t features, int64_t kernel)
      : Cell("Glance"),
        look_(child("look", nn::Conv2d::make({.in_channels = size.in_channels, .out_channels = features, .kernel_size = kernel, .weight_init = "he_normal"}))),
        pool_(child("pool", nn::GlobalAvgPool::make())),
        flatten_(child("flatten", nn::Flatten::make())),
        weigh_(child("weigh", nn::Dense::make({.in_channels = features, .out_channels = size.num_classes}))) {}

  // [N, C, H, W] -> [N, num_classes]
  Tensor construct(const Tensor& x) override { return (*weigh_)((*flatten_)((*pool_)(ops::relu((*look_)(x))))); }

 private:
  std::shared_ptr<nn::Conv2d> look_;
  nn::CellPtr pool_, flatten_;
  std::shared_ptr<nn::Dense> weigh_;
};

const auto& kGlance = models::networks().add({
    .name = "glance",
    .doc = "one convolution and one dense layer",
    .settings = {{.name = "features", .type = SettingType::kInt, .fallback = "8", .doc = "channels of the convolution", .min = 1, .max = 1024},
                 {.name = "kernel", .type = SettingType::kInt, .fallback = "5", .doc = "its height and width, odd", .min = 1, .max = 15}},
    .check =
        [](const SettingValues& v) {
          if (v.get_int("kernel") % 2 == 0) throw ValueError("glance: an even kernel has no middle", "kernel", "use 3, 5 or 7");
        },
    .facts = {.input = {1, kSide, kSide}, .num_classes = 2},
    .make = [](const models::NetworkSize& size, const SettingValues& v) -> nn::CellPtr {
      return std::make_shared<Glance>(size, v.get_int("features"), v.get_int("kernel"));
    },
});

}  // namespace
