// Every convolution of Sindri's residual networks, in all three directions, built by cuDNN from device descriptions of an H100 and an H200.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "src/device/cuda/described_device.h"
#include "tests/cuda/patterns.h"

namespace sindri::cuda {

namespace {

struct Net {
  const char* name;
  bool bottleneck;
  std::vector<int64_t> blocks;
  bool pooled = false;  // SE-ResNet-50 of MindSpore's zoo: three convolutions for a stem, and blocks that stride by pooling
};

// The shapes of models/resnet.cc for images of 224 x 224, in order, without repetition.
class Shapes {
 public:
  Shapes(int64_t batch, bool same_padding, int64_t image_channels) : n_(batch), same_(same_padding), image_channels_(image_channels) {}

  void add(const Net& net) {
    int64_t size = stem(net), channels = 64;
    for (size_t stage = 0; stage < net.blocks.size(); ++stage) {
      const int64_t out = (int64_t{64} << stage) * (net.bottleneck ? 4 : 1);
      for (int64_t b = 0; b < net.blocks[stage]; ++b) {
        block(net, channels, out, size, b == 0 && stage > 0 ? 2 : 1);
        if (b == 0 && stage > 0) size /= 2;
        channels = out;
      }
    }
  }
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  int64_t stem(const Net& net) {
    if (net.pooled) {
      conv(image_channels_, 32, 3, 2, 224);
      conv(32, 32, 3, 1, 112);
      conv(32, 64, 3, 1, 112);
    } else {
      conv(image_channels_, 64, 7, 2, 224);
    }
    return 56;
  }
  void block(const Net& net, int64_t in, int64_t out, int64_t size, int64_t stride) {
    const int64_t inner = net.bottleneck ? out / 4 : out;
    if (net.bottleneck) {
      conv(in, inner, 1, 1, size);
      conv(inner, inner, 3, net.pooled ? 1 : stride, size);
      conv(inner, out, 1, 1, size / stride);
    } else {
      conv(in, out, 3, stride, size);
      conv(out, out, 3, 1, size / stride);
    }
    if (stride == 1 && in == out) return;
    if (net.pooled) conv(in, out, 1, 1, size / stride);
    else conv(in, out, 1, stride, size);
  }
  void conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t size) {
    Layer l{.c = in, .h = size, .k = out, .r = kernel, .stride = stride, .pad_before = kernel / 2, .pad_after = kernel / 2, .n = n_};
    if (same_) {  // the padding for ceil(size / stride) results, the odd one at the end
      const int64_t all = std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size);
      l.pad_before = all / 2;
      l.pad_after = all - l.pad_before;
    }
    if (seen_.insert({in, out, kernel, stride, size}).second) layers_.push_back(l);
  }

  const int64_t n_;
  const bool same_;
  const int64_t image_channels_;
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>> seen_;
  std::vector<Layer> layers_;
};

const std::vector<Net>& nets() {
  static const std::vector<Net> all = {{"resnet18", false, {2, 2, 2, 2}},
                                       {"resnet50", true, {3, 4, 6, 3}},
                                       {"resnet152", true, {3, 8, 36, 3}},
                                       {"seresnet50, torchvision", true, {3, 4, 6, 3}},
                                       {"seresnet50, zoo", true, {3, 4, 6, 3}, true}};
  return all;
}

enum Direction { kForward, kDgrad, kWgrad };
constexpr const char* kDirections[] = {"conv", "dgrad", "wgrad"};

CudnnGraph graph(const Layer& l, cudnnDataType_t type, Direction direction) {
  Pattern p(type);
  if (direction == kForward) p.graph.conv(p.x(l), p.w(l), p.out(Pattern::y_dims(l)), l.geometry());
  else if (direction == kDgrad) p.graph.conv_dgrad(p.dy(l), p.w(l), p.out(Pattern::x_dims(l)), l.geometry());
  else p.graph.conv_wgrad(p.x(l), p.dy(l), p.out({l.k, l.c, l.r, l.r}), l.geometry());
  return p.graph;
}

std::string text(const Layer& l) {
  return "[" + std::to_string(l.n) + ", " + std::to_string(l.c) + ", " + std::to_string(l.h) + ", " + std::to_string(l.h) + "], " + std::to_string(l.r) + "x" +
      std::to_string(l.r) + "/" + std::to_string(l.stride) + " to " + std::to_string(l.k) + ", padding " + std::to_string(l.pad_before) + " and " +
      std::to_string(l.pad_after);
}

TEST(Shapes, OfTheNetworks) {
  // ResNet-50 has 53 convolutions of 20 kinds and three projections that differ from them in stride or size.
  Shapes resnet50(256, false, 4);
  resnet50.add(nets()[1]);
  EXPECT_EQ(resnet50.layers().size(), 23U);
  const Layer& stem = resnet50.layers().front();
  EXPECT_EQ(Pattern::y_dims(stem), (std::vector<int64_t>{256, 64, 112, 112}));
  const Layer& last = resnet50.layers().back();
  EXPECT_EQ(Pattern::y_dims(last)[2], 7);
  Shapes same(256, true, 4);
  same.add(nets()[1]);
  ASSERT_EQ(same.layers().size(), 23U);
  EXPECT_EQ(std::pair(same.layers()[0].pad_before, same.layers()[0].pad_after), (std::pair<int64_t, int64_t>{2, 3}));
  for (size_t i = 0; i < same.layers().size(); ++i) EXPECT_EQ(Pattern::y_dims(same.layers()[i]), Pattern::y_dims(resnet50.layers()[i])) << i;
}

class Networks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Networks, testing::Values("H100", "H200"), [](const auto& device) { return std::string(device.param); });

TEST_P(Networks, EveryConvolutionHasAPlan) {
  const std::string name = GetParam();
  const CudnnDevice device = CudnnDevice::described(device_json(name == "H100" ? h100_facts() : h200_facts()));
  const auto begin = std::chrono::steady_clock::now();
  int plans = 0, refused = 0;
  int64_t largest[3] = {0, 0, 0};
  std::string largest_of[3];
  std::map<std::string, int> engines_of;
  for (const int64_t batch : {16, 256})
    for (const bool same : {false, true})
      for (const cudnnDataType_t type : {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
        // The images' three channels are padded to a number that needs no workspace (or little).
        Shapes shapes(batch, same, type == CUDNN_DATA_HALF && !same ? 4 : 8);
        for (const Net& net : nets()) shapes.add(net);
        for (const Layer& l : shapes.layers())
          for (const Direction d : {kForward, kDgrad, kWgrad}) {
            const PlanOutcome out = build_plan(graph(l, type, d), device);
            ++plans;
            refused += static_cast<int>(out.rejected.size());
            ASSERT_TRUE(out.plan != nullptr) << kDirections[d] << " of " << text(l) << ", " << (type == CUDNN_DATA_HALF ? "fp16" : "bf16") << ": "
                                             << out.why_none;
            const Engine& e = out.plan->engine();
            EXPECT_TRUE(e.tensor_cores && e.deterministic && !e.runtime_compiled) << kDirections[d] << " of " << text(l) << ": " << e.str();
            ++engines_of[std::string(kDirections[d]) + " engine " + std::to_string(e.id)];
            if (e.workspace > largest[d]) largest[d] = e.workspace, largest_of[d] = text(l) + (type == CUDNN_DATA_HALF ? ", fp16" : ", bf16");
          }
      }
  std::printf("%s: %d plans in %.2f s; %d candidates refused before them\n", name.c_str(), plans,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), refused);
  for (const Direction d : {kForward, kDgrad, kWgrad})
    std::printf("  %s: largest workspace %.1f MB, %s\n", kDirections[d], static_cast<double>(largest[d]) / 1e6, largest_of[d].c_str());
  for (const auto& [engine, count] : engines_of) std::printf("  %s: %d\n", engine.c_str(), count);
}

// The work of a first step: the plans of all 69 convolutions, chosen by heuristics, then from remembered choices, then four candidates each as in quick tuning.
TEST(PlanSet, OfResNet50FromItsChoicesIsTheSame) {
  const CudnnDevice device = CudnnDevice::described(device_json(h200_facts()));
  Shapes shapes(256, false, 4);
  shapes.add(nets()[1]);
  std::vector<CudnnGraph> graphs;
  for (const Layer& l : shapes.layers())
    for (const Direction d : {kForward, kDgrad, kWgrad}) graphs.push_back(graph(l, CUDNN_DATA_HALF, d));
  ASSERT_EQ(graphs.size(), 69U);
  const auto timed = [&](const char* what, auto&& each) {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < graphs.size(); ++i) each(i);
    std::printf("%s: %.2f s\n", what, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  };
  std::vector<std::string> choices(graphs.size()), engines(graphs.size());
  for (const char* what : {"heuristics, the library loaded meanwhile", "heuristics"})
    timed(what, [&](size_t i) {
      const PlanOutcome out = build_plan(graphs[i], device);
      ASSERT_TRUE(out.plan != nullptr) << out.why_none;
      choices[i] = out.plan->engine().choice();
      engines[i] = out.plan->engine().str();
    });
  timed("remembered choices", [&](size_t i) {
    const std::optional<Engine> engine = Engine::from_choice(choices[i]);
    ASSERT_TRUE(engine.has_value()) << choices[i];
    const PlanOutcome out = rebuild_plan(graphs[i], device, *engine, EngineFilter{});
    ASSERT_TRUE(out.plan != nullptr) << out.why_none;
    EXPECT_EQ(out.plan->engine().str(), engines[i]);
  });
  size_t plans = 0;
  timed("four candidates each", [&](size_t i) {
    std::string why;
    const auto some = build_plans(graphs[i], device, {}, 4, false, &why);
    ASSERT_FALSE(some.empty()) << why;
    EXPECT_EQ(some[0]->engine().choice(), choices[i]) << "the library's first choice comes first";
    std::set<std::string> names;
    for (const auto& plan : some) names.insert(plan->engine().choice());
    EXPECT_EQ(names.size(), some.size());
    plans += some.size();
  });
  std::printf("%zu plans of 4 candidates\n", plans);
}

TEST(Choices, OtherTextsNameNoEngine) {
  for (const char* text : {"", "engine", "engine x", "engine 1 ", "engine 1 knobs", "engine 1 knobs 2", "engine 1 knobs 2=", "engine 1 knobs 2=3 ",
                           "engine 1 knobs 2=3x", "algorithm 1"})
    EXPECT_FALSE(Engine::from_choice(text).has_value()) << text;
  const std::optional<Engine> e = Engine::from_choice("engine 47 knobs 2=1 27=-3");
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->id, 47);
  EXPECT_EQ(e->knobs, (std::vector<Knob>{{2, 1}, {27, -3}}));
  EXPECT_EQ(e->choice(), "engine 47 knobs 2=1 27=-3");
}

}  // namespace

}  // namespace sindri::cuda
