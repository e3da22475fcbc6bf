// Every loss and its gradients against MindSpore's results for the same inputs (tests/reference/make_loss_expectations.py), created by name from its settings,
// eager and compiled. tests/python/test_nn.py reads the same file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/reduce.h"
#include "source_dir.h"

namespace sindri::nn::loss_expectations {
namespace {

using nlohmann::json;

Tensor tensor(const json& stored) {
  const std::string dtype = stored["dtype"];
  return Tensor::from_values(Shape(stored["shape"].get<std::vector<int64_t>>()), stored["values"].get<std::vector<double>>(),
                             dtype == "float32"       ? DType::kFloat32
                                 : dtype == "float64" ? DType::kFloat64
                                 : dtype == "int32"   ? DType::kInt32
                                                      : DType::kInt64);
}

std::map<std::string, SettingValue> settings(const json& given) {
  std::map<std::string, SettingValue> out;
  for (const auto& [key, v] : given.items()) {
    if (v.is_boolean()) out[key] = v.get<bool>();
    else if (v.is_number_integer()) out[key] = v.get<int64_t>();
    else out[key] = v.get<double>();
  }
  return out;
}

void expect_near(const Tensor& got, const json& want, bool float64) {
  ASSERT_EQ(got.shape(), Shape(want["shape"].get<std::vector<int64_t>>()));
  const std::vector<double> a = got.to_vector<double>(), b = want["values"];
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], float64 ? 1e-9 * std::abs(b[i]) + 1e-12 : 2e-5 * std::abs(b[i]) + 2e-6) << i;
}

TEST(LossExpectations, AsMindSpore) {
  std::ifstream file(SINDRI_SOURCE_DIR "/tests/nn/expectations/losses.json");
  const json cases = json::parse(file);
  std::set<std::string> seen;
  for (const json& c : cases) {
    SCOPED_TRACE(c["name"].get<std::string>());
    seen.insert(c["rule"]);
    std::map<std::string, Tensor> optional;
    for (const auto& [key, v] : c["optional"].items()) optional[key] = tensor(v);
    const CellPtr loss = make_loss(c["rule"], settings(c["settings"]), c["reduction"].is_null() ? "mean" : c["reduction"].get<std::string>(), optional);
    TensorList in;
    for (const json& t : c["inputs"]) in.push_back(tensor(t));
    const auto value = [&](Span<const Tensor> t) { return loss->call(std::vector<Value>(t.begin(), t.end())).tensor(); };
    const TensorFn f = [&](Span<const Tensor> t) -> TensorList {
      TensorList all = {value(t)};
      const auto sum = [&](Span<const Tensor> x) -> TensorList { return {ops::sum(value(x))}; };
      for (const Tensor& g : value_and_grad(sum, t, c["by"].get<std::vector<int>>(), {}).second.of_inputs) all.push_back(g);
      return all;
    };
    const bool float64 = c["inputs"][0]["dtype"] == "float64";
    for (const TensorList& got : {f(in), compile(f)(in)}) {
      ASSERT_EQ(got.size(), c["by"].size() + 1);
      expect_near(got[0], c["loss"], float64);
      for (size_t i = 1; i < got.size(); ++i) expect_near(got[i], c["grads"][i - 1], float64);
    }
  }
  for (const std::string& name : losses().names()) EXPECT_TRUE(seen.contains(name)) << name << " has no case";
}

TEST(Losses, ByName) {
  EXPECT_THROW(make_loss("hubber"), ValueError);
  EXPECT_THROW(make_loss("huber", {{"delta", -1.0}}), ValueError);
  EXPECT_THROW(make_loss("huber", {{"beta", 1.0}}), ValueError);
  EXPECT_THROW(make_loss("huber", {}, "average"), ValueError);
  EXPECT_THROW(make_loss("mse", {}, "mean", {{"weight", Tensor::zeros({2})}}), ValueError);
  const Tensor x = Tensor::zeros({2, 3}), y = Tensor::zeros({2, 2});
  EXPECT_THROW(make_loss("smooth_l1")->call({x, y}), ShapeError);
  EXPECT_THROW(make_loss("cosine_embedding")->call({x, x}), ValueError) << "it expects three";
}

}  // namespace
}  // namespace sindri::nn::loss_expectations
