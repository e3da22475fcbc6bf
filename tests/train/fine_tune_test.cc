// Fine-tuning in C++: initial weights, frozen parts, and .safetensors files.
#include "sindri/train/fine_tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/norm.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/train_step.h"
#include "sindri/train/training_state.h"
#include "source_dir.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train::fine_tune_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

nn::CellPtr net_of(int64_t classes, int64_t seed) {
  set_seed(seed);
  return models::create("resnet20", {.num_classes = classes});
}

LoadedCheckpoint weights_of(nn::Cell& network) {
  LoadedCheckpoint out;
  out.path = "weights.ckpt";
  for (const auto& [name, p] : network.parameters_and_names()) out.entries.push_back(CheckpointEntry::of(name, p->stored()));
  return out;
}

std::vector<double> values(nn::Cell& network, const std::string& wanted) {
  for (const auto& [name, p] : network.parameters_and_names())
    if (name == wanted) return p->stored().to_vector<double>();
  ADD_FAILURE() << "no parameter " << wanted;
  return {};
}

CheckpointError refused(nn::Cell& network, const LoadedCheckpoint& weights, const InitOptions& options = {}) {
  try {
    init_weights(network, weights, options);
  } catch (const CheckpointError& e) { return e; }
  ADD_FAILURE() << "the weights were accepted";
  return {ErrorCode::kCheckpoint, "", "", ""};
}

TEST(InitWeights, HeadOfOtherClassesBeginsAnew) {
  const auto from = net_of(10, 1), to = net_of(4, 2);
  const std::vector<double> head = values(*to, "end_point.weight");
  LoadedCheckpoint weights = weights_of(*from);
  weights.entries.push_back(CheckpointEntry::of("moments.conv1.weight", Tensor::zeros({16, 3, 3, 3})));  // optimizer state, ignored
  const InitReport r = init_weights(*to, weights);
  EXPECT_THAT(r.names.missing, IsEmpty());
  EXPECT_THAT(r.names.unexpected, IsEmpty());
  EXPECT_THAT(r.names.mismatched, IsEmpty());
  ASSERT_THAT(r.replaced, SizeIs(2));
  EXPECT_EQ(r.replaced[0].name, "end_point.weight");
  EXPECT_EQ(values(*to, "end_point.weight"), head);
  EXPECT_EQ(values(*to, "layer3.2.conv2.weight"), values(*from, "layer3.2.conv2.weight"));
  EXPECT_THAT(r.table(), HasSubstr("2 replaced"));
  EXPECT_THAT(r.table(), HasSubstr("end_point.bias: f32[4] here, f32[10] there"));
}

TEST(InitWeights, WhatFitsIsTakenWholeWithTheHead) {
  const auto from = net_of(4, 1), to = net_of(4, 2);
  EXPECT_THAT(init_weights(*to, weights_of(*from), {.match = InitMatch::kAll}).replaced, IsEmpty());
  EXPECT_EQ(values(*to, "end_point.weight"), values(*from, "end_point.weight"));
}

TEST(InitWeights, StrictnessIsChosen) {
  const auto from = net_of(10, 1), to = net_of(4, 2);
  LoadedCheckpoint weights = weights_of(*from);
  EXPECT_THAT(refused(*to, weights, {.match = InitMatch::kAll}).message(), HasSubstr("the last layer has another width"));
  // Many weight files contain a body without a head.
  std::erase_if(weights.entries, [](const CheckpointEntry& e) { return e.name.starts_with("end_point"); });
  EXPECT_EQ(init_weights(*to, weights).replaced[0].found, "nothing");
  EXPECT_THROW(init_weights(*to, weights, {.match = InitMatch::kAll}), CheckpointError);
  for (CheckpointEntry& e : weights.entries)
    if (e.name == "layer1.0.conv1.weight") e.name = "layer1.0.convv1.weight";
  const std::vector<double> before = values(*to, "conv1.weight");
  const auto fresh = net_of(4, 3);
  const std::vector<double> untouched = values(*fresh, "conv1.weight");
  const CheckpointError e = refused(*fresh, weights);
  EXPECT_EQ(e.code(), ErrorCode::kCheckpointMismatch);
  EXPECT_THAT(e.message(), HasSubstr("missing     layer1.0.conv1.weight  (did you mean 'layer1.0.convv1.weight'"));
  EXPECT_THAT(e.message(), HasSubstr("unexpected  layer1.0.convv1.weight"));
  EXPECT_EQ(values(*fresh, "conv1.weight"), untouched) << "refused weights are not loaded in part";
  EXPECT_THAT(init_weights(*fresh, weights, {.match = InitMatch::kAny}).names.missing, ElementsAre("layer1.0.conv1.weight"));
  EXPECT_EQ(values(*fresh, "conv1.weight"), before);
  EXPECT_THAT(init_weights(*net_of(4, 4), weights, {.skip = {"layer1.0"}}).skipped, testing::Contains("layer1.0.conv1.weight"));
  EXPECT_THROW(init_weights(*net_of(4, 4), weights, {.skip = {"layr1"}}), ValueError);
  weights.entries.resize(1);
  weights.entries[0].name = "something.else";
  EXPECT_THAT(refused(*fresh, weights, {.match = InitMatch::kAny}).message(), HasSubstr("no parameter of the network is in the weights"));
}

TEST(InitWeights, PyTorchsNamesAreToldWhatToDoWith) {
  const auto to = net_of(4, 2);
  LoadedCheckpoint weights = weights_of(*to);
  for (CheckpointEntry& e : weights.entries) {
    if (e.name.ends_with("moving_mean")) e.name.replace(e.name.size() - 11, 11, "running_mean");
  }
  EXPECT_THAT(refused(*to, weights).fix(), HasSubstr("sindri convert"));
}

// The loss of each step and the weights after them.
struct Trained {
  std::vector<double> losses;
  nn::CellPtr network;
  FreezeReport report;
};

Trained train(Mode mode, const std::vector<std::string>& frozen, FrozenNorm norm = FrozenNorm::kFixed) {
  const Mode before = context().mode;
  set_mode(mode);
  Trained t;
  t.network = net_of(3, 5);
  for (const auto& [path, cell] : t.network->cells_and_names()) {  // statistics that differ from a batch's
    if (auto* bn = dynamic_cast<nn::BatchNorm*>(cell)) bn->moving_variance().assign(Tensor::full(bn->moving_variance().shape(), 1.5, DType::kFloat32));
  }
  t.report = freeze(*t.network, frozen, norm);
  const auto net = nn::WithLossCell::make(t.network, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
  net->set_train();
  optim::Momentum opt(t.network->trainable_params(), {.learning_rate = 0.05});
  TrainStep step = make_train_step(*net, opt, {});
  StepRunner run(step);
  set_seed(6);
  const Tensor x = nn::initializer("normal", {6, 3, 32, 32});
  const Tensor y = Tensor::from_vector<int32_t>({6}, {0, 1, 2, 0, 1, 2});
  for (int64_t i = 0; i < 3; ++i) t.losses.push_back(run({x, y}, i).loss.item());
  set_mode(before);
  return t;
}

TEST(Freeze, FrozenPartsStayInBothModes) {
  const std::vector<std::string> parts = {"conv1", "bn1", "layer1", "layer2.*.weight"};
  const auto first = net_of(3, 5);
  // Graphs fold a convolution and the frozen batch norm after it into one, as in evaluation: then the last bits differ between the modes.
  const Trained folded = train(Mode::kGraph, parts), not_folded = train(Mode::kPynative, parts);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(folded.losses[i], not_folded.losses[i], 1e-4);
  const Trained graph = train(Mode::kGraph, parts, FrozenNorm::kBatch), eager = train(Mode::kPynative, parts, FrozenNorm::kBatch);
  EXPECT_EQ(graph.losses, eager.losses);
  EXPECT_NE(graph.losses[0], graph.losses[2]) << "the rest is trained";
  for (const auto& [name, p] : graph.network->parameters_and_names()) {
    const bool frozen = std::find(graph.report.parameters.begin(), graph.report.parameters.end(), name) != graph.report.parameters.end();
    EXPECT_EQ(values(*eager.network, name), p->stored().to_vector<double>()) << name;
    if (frozen) {
      EXPECT_EQ(values(*first, name), p->stored().to_vector<double>()) << name;
      EXPECT_EQ(values(*first, name), values(*folded.network, name)) << name;
    }
  }
  EXPECT_NE(values(*first, "layer2.0.bn1d.gamma"), values(*graph.network, "layer2.0.bn1d.gamma")) << "no pattern matches gamma of layer2";
  EXPECT_NE(values(*first, "end_point.weight"), values(*graph.network, "end_point.weight"));
}

TEST(Freeze, BatchNormIsFixedOrNotAsChosen) {
  const std::vector<std::string> parts = {"conv1", "bn1", "layer1"};
  const Trained fixed = train(Mode::kGraph, parts), moving = train(Mode::kGraph, parts, FrozenNorm::kBatch);
  EXPECT_THAT(fixed.report.fixed_norms, SizeIs(7));  // the stem's, and two in each of three blocks
  EXPECT_THAT(moving.report.fixed_norms, IsEmpty());
  const std::string mean = "layer1.0.bn1d.moving_mean", later = "layer2.0.bn1d.moving_mean";
  EXPECT_THAT(values(*fixed.network, mean), testing::Each(0.0));
  EXPECT_THAT(values(*moving.network, mean), testing::Not(testing::Each(0.0)));
  EXPECT_THAT(values(*fixed.network, later), testing::Not(testing::Each(0.0)));
  EXPECT_NE(fixed.losses, moving.losses);
}

TEST(Freeze, MisspeltAndAllAreRefused) {
  try {
    freeze(*net_of(3, 1), {"layer1", "end_pint"});
    FAIL();
  } catch (const ValueError& e) { EXPECT_THAT(e.fix(), HasSubstr("end_point")); }
  EXPECT_THROW(freeze(*net_of(3, 1), {"*"}), ValueError);
  EXPECT_THAT(freeze(*net_of(3, 1), {}).parameters, IsEmpty());
}

TEST(Freeze, HeadIsTheLastLayer) { EXPECT_THAT(head_parameters(*net_of(3, 1)), ElementsAre("end_point.weight", "end_point.bias")); }

std::string safetensors(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  const uint64_t n = header.size();
  std::memcpy(out.data(), &n, 8);
  return out + header + data;
}

class Safetensors : public testing::Test {
 protected:
  LoadedCheckpoint load(const std::string& bytes) {
    const std::string path = temp_.file("weights.safetensors");
    std::ofstream(path, std::ios::binary) << bytes;
    return load_weights_file(path);
  }
  TempFolder temp_;
};

TEST_F(Safetensors, ValuesOfEveryTypeAreRead) {
  const std::string data = std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8) + std::string("\xff\x02", 2) + std::string("\x80\x3f", 2);
  const LoadedCheckpoint c =
      load(safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I8","shape":[2],"data_offsets":[8,10]},)"
                       R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"h":{"dtype":"BF16","shape":[],"data_offsets":[10,12]},)"
                       R"("none":{"dtype":"F64","shape":[0,3],"data_offsets":[12,12]}}  )",
                       data));
  ASSERT_THAT(c.entries, SizeIs(4));
  EXPECT_EQ(c.find("a")->tensor.shape(), Shape({2, 1}));
  EXPECT_THAT(c.find("a")->tensor.to_vector<double>(), ElementsAre(1, -2));
  EXPECT_THAT(c.find("b")->tensor.to_vector<int64_t>(), ElementsAre(-1, 2));
  EXPECT_EQ(c.find("b")->stored_type, "Int8");
  EXPECT_EQ(c.find("h")->tensor.item(), 1);
  EXPECT_EQ(c.find("none")->tensor.numel(), 0);
  EXPECT_EQ(c.notice, "no integrity data");
}

// data/checksums.safetensors was written by python/sindri/tools/_safetensors.py, whose checksums are zlib's.
TEST_F(Safetensors, EveryFlippedBitOfAFileWithChecksumsIsRefused) {
  const std::string whole = read_all(std::string(SINDRI_SOURCE_DIR) + "/tests/train/data/checksums.safetensors");
  const LoadedCheckpoint c = load(whole);
  EXPECT_TRUE(c.verified);
  EXPECT_EQ(c.notice, "");
  EXPECT_THAT(c.find("conv1.weight")->tensor.to_vector<double>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(c.find("bias")->tensor.to_vector<int64_t>(), ElementsAre(1, -2));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_THROW(load(flipped), CheckpointError) << "bit " << bit;
  }
  // Files from before the header had a checksum still load.
  const size_t sum = whole.find(R"(,"sindri.header":")");
  ASSERT_NE(sum, std::string::npos);
  std::string older = whole.substr(8, whole.find("}}", sum) + 2 - 8);
  older.erase(sum - 8, std::strlen(R"(,"sindri.header":"00000000")"));
  const std::string mark = R"(,\"header\":1)";
  older.erase(older.find(mark), mark.size());
  EXPECT_TRUE(load(safetensors(older, whole.substr(whole.size() - 30))).find("bias") != nullptr);
}

TEST_F(Safetensors, HostileFilesAreRefused) {
  const std::string four(4, '\0');
  const auto one = [](const std::string& entry) { return "{\"a\":" + entry + "}"; };
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"empty", ""},
      {"seven bytes", std::string(7, '\0')},
      {"no header", std::string(8, '\0')},
      {"header beyond the file", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) + "{}"},
      {"no brace", safetensors(" {}", "")},
      {"no JSON", safetensors("{\"a\":", "")},
      {"not UTF-8", safetensors("{\"\xff\":{}}", "")},
      {"a list", safetensors("{\"a\":[1]}", "")},
      {"duplicate name", safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", four)},
      {"duplicate key", safetensors(one(R"({"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]})"), four)},
      {"too deep", safetensors(one(R"({"dtype":"U8","shape":[[[[[4]]]]],"data_offsets":[0,4]})"), four)},
      {"a key too many", safetensors(one(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1})"), four)},
      {"negative size", safetensors(one(R"({"dtype":"U8","shape":[-4],"data_offsets":[0,4]})"), four)},
      {"broken size", safetensors(one(R"({"dtype":"U8","shape":[4.0],"data_offsets":[0,4]})"), four)},
      {"size beyond 64 bits", safetensors(one(R"({"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,4]})"), four)},
      {"overflow", safetensors(one(R"({"dtype":"F64","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,4]})"), four)},
      {"other bytes than the shape has", safetensors(one(R"({"dtype":"U8","shape":[3],"data_offsets":[0,4]})"), four)},
      {"bytes beyond the end", safetensors(one(R"({"dtype":"U8","shape":[5],"data_offsets":[0,5]})"), four)},
      {"backwards", safetensors(one(R"({"dtype":"U8","shape":[4],"data_offsets":[4,0]})"), four)},
      {"a hole", safetensors(one(R"({"dtype":"U8","shape":[3],"data_offsets":[1,4]})"), four)},
      {"more data", safetensors(one(R"({"dtype":"U8","shape":[3],"data_offsets":[0,3]})"), four)},
      {"overlap", safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", four)},
      {"metadata of numbers", safetensors(R"({"__metadata__":{"a":1}})", "")},
      {"a Bool of 2", safetensors(one(R"({"dtype":"BOOL","shape":[1],"data_offsets":[0,1]})"), "\x02")},
  };
  for (const auto& [what, bytes] : bad) {
    try {
      load(bytes);
      ADD_FAILURE() << what << " was accepted";
    } catch (const CheckpointError& e) {
      EXPECT_EQ(e.code(), ErrorCode::kCheckpointCorrupt) << what;
      EXPECT_THAT(e.where(), HasSubstr("weights.safetensors, byte")) << what;
    }
  }
  EXPECT_THROW(load(safetensors(one(R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})"), four)), CheckpointError);
}

TEST_F(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", std::string(12, 'x'));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_THROW(load(whole.substr(0, n)), CheckpointError) << n;
  EXPECT_EQ(load(whole).entries.size(), 1u);
}

}  // namespace
}  // namespace sindri::train::fine_tune_test
