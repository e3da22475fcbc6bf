// Samples of image_input: bytes as the input of networks.
#include "tests/ops/samples.h"

namespace sindri::test::image_samples {
namespace {

Arg bytes(const Shape& shape) { return {shape, 0, 256, DType::kUInt8, "integers"}; }
Arg flips(std::vector<double> values) { return {{static_cast<int64_t>(values.size())}, 0, 2, DType::kUInt8, "integers", values}; }

Sample image_input(std::string name, std::vector<Arg> args, DType dtype = DType::kFloat32, std::vector<double> mean = {123.675, 116.28, 103.53},
                   std::vector<double> std = {58.395, 57.12, 57.375}) {
  return {.op = "image_input",
          .name = std::move(name),
          .attrs = {{"mean", std::move(mean)}, {"std", std::move(std)}, {"dtype", dtype}},
          .args = std::move(args),
          .gradient = false,
          .torch = false};
}

const bool kSamples = add_samples({
    image_input("plain", {bytes({2, 5, 7, 3})}),
    image_input("flip", {bytes({3, 4, 6, 3}), flips({1, 0, 255})}),
    image_input("one_channel", {bytes({2, 8, 8, 1}), flips({0, 1})}, DType::kFloat32, {33.3}, {78.5}),
    image_input("four_channels", {bytes({1, 3, 300, 4})}, DType::kFloat32, {100}, {50}),
    image_input("half", {bytes({2, 9, 5, 3}), flips({0, 1})}, DType::kFloat16),
    image_input("bfloat", {bytes({2, 9, 5, 3}), flips({1, 0})}, DType::kBFloat16),
    image_input("empty", {bytes({0, 4, 4, 3})}),
});

}  // namespace
}  // namespace sindri::test::image_samples
