// Trains a line through points with the algorithm of lookahead.cc.
#include <sindri/sindri.h>

#include <cstdio>

using namespace sindri;

int main() {
  set_seed(1);
  std::vector<float> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i) / 32 - 1);
    y.push_back(3 * x.back() + 1);
  }
  auto data = dataset::NumpySlicesDataset::make({.columns = {{"x", Tensor::from_vector<float>({64, 1}, x)}, {"y", Tensor::from_vector<float>({64, 1}, y)}}});
  data = data->batch(8);
  auto net = nn::Dense::make({.in_channels = 1, .out_channels = 1});
  auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
  train::ModelOptions options;
  options.algorithms = {train::boosts().make("lookahead", {{"every", 4}})};
  train::Model model(net, nn::MSELoss::make(), optimizer, options);
  model.train(20, data);
  const double slope = net->get_parameters()[0]->stored().item();
  std::printf("slope: %.3f\n", slope);
  return slope > 2.9 && slope < 3.1 ? 0 : 1;
}
