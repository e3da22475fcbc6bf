// Trains a small classifier on points of three spirals, evaluates it and saves a checkpoint.
#include <sindri/sindri.h>

#include <cmath>
#include <cstdio>

using namespace sindri;

int main() {
  set_seed(1);
  const int64_t n = 600;
  std::vector<float> points;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    const float t = 4.0f * static_cast<float>(i / 3) / static_cast<float>(n / 3), angle = t + 2.1f * static_cast<float>(i % 3);
    points.insert(points.end(), {t * std::cos(angle) / 4, t * std::sin(angle) / 4});
    labels.push_back(static_cast<int32_t>(i % 3));
  }
  auto data =
      dataset::NumpySlicesDataset::make({.columns = {{"x", Tensor::from_vector<float>({n, 2}, points)}, {"y", Tensor::from_vector<int32_t>({n}, labels)}}});
  data = data->batch(60);

  auto net = std::make_shared<nn::SequentialCell>(
      std::vector<nn::CellPtr>{nn::Dense::make({.in_channels = 2, .out_channels = 64, .weight_init = "he_uniform"}), std::make_shared<nn::Tanh>(),
                               nn::Dense::make({.in_channels = 64, .out_channels = 64, .weight_init = "he_uniform"}), std::make_shared<nn::Tanh>(),
                               nn::Dense::make({.in_channels = 64, .out_channels = 3})});
  auto optimizer = std::make_shared<optim::Adam>(net->trainable_params(), optim::AdamOptions{.learning_rate = 0.01});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer,
                     {.metrics = {{"accuracy", nn::make_metric("accuracy")}}});
  model.train(100, data);
  const double accuracy = model.eval(data).at("accuracy");
  train::save_training_state("spirals.ckpt", *net, optimizer.get(), {});
  std::printf("accuracy: %.3f\n", accuracy);
  return accuracy > 0.95 ? 0 : 1;
}
