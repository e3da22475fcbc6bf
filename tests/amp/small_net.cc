#include "tests/amp/small_net.h"

#include <algorithm>

#include "sindri/core/rng.h"

namespace sindri::test {

nn::CellPtr small_net() {
  set_seed(11);
  return nn::SequentialCell::make(nn::Conv2d::make({.in_channels = 1, .out_channels = 8, .kernel_size = 3, .weight_init = "he_normal"}),
                                  nn::BatchNorm2d::make({.num_features = 8}), nn::ReLU::make(), nn::MaxPool2d::make({.kernel_size = 2, .stride = 2}),
                                  nn::Flatten::make(), nn::Dense::make({.in_channels = 72, .out_channels = 3, .weight_init = "he_uniform"}));
}

nn::CellPtr small_net_with_loss() {
  auto net = nn::WithLossCell::make(small_net(), nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
  net->set_train(true);
  return net;
}

namespace {
// SplitMix64 in [0, 1).
double noise(uint64_t at) {
  uint64_t z = (at + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
}  // namespace

TensorList small_batch(int64_t n, int64_t seed, double scale) {
  std::vector<double> x, labels;
  for (int64_t i = 0; i < n; ++i) {
    labels.push_back(static_cast<double>(i % 3));
    for (int64_t p = 0; p < 36; ++p) x.push_back(scale * ((p % 6 == i % 3 * 2 ? 1.0 : 0.0) + noise(static_cast<uint64_t>((seed * 1000 + i) * 36 + p)) - 0.5));
  }
  return {Tensor::from_values({n, 1, 6, 6}, x, DType::kFloat32), Tensor::from_values({n}, labels, DType::kInt32)};
}

std::vector<Tensor> OpRecorder::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) {
  if (std::string(op.name) != "cast") {
    std::string line = op.name;
    for (const Tensor& t : in)
      if (is_floating(t.dtype())) line += std::string(" ") + dtype_name(t.dtype());
    lines.push_back(line);
  }
  return apply_below(below, op, attrs, in);
}

std::vector<std::string> OpRecorder::of(const std::string& op) const {
  std::vector<std::string> out;
  for (const std::string& line : lines)
    if (line.starts_with(op + " ")) out.push_back(line.substr(op.size() + 1));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::vector<char>> state_bytes(nn::Cell& net, optim::Optimizer& optimizer) {
  std::vector<Parameter*> all = net.get_parameters();
  for (Parameter* p : optimizer.state()) all.push_back(p);
  std::vector<std::vector<char>> out;
  for (const Parameter* p : all) {
    const Tensor t = p->stored().contiguous();
    const char* data = static_cast<const char*>(t.raw_data());
    out.emplace_back(data, data + t.nbytes());
  }
  return out;
}

}  // namespace sindri::test
