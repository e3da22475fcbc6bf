// Every metric against MindSpore's results for the same batches (tests/reference/make_metric_expectations.py), created by name from its settings as settings
// files do. tests/python/test_metrics.py reads the same file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "source_dir.h"

namespace sindri::nn::metric_expectations {
namespace {

using nlohmann::json;

double number(const json& v) { return v.is_string() ? std::stod(v.get<std::string>()) : v.get<double>(); }  // "nan", "inf"

Tensor tensor(const json& stored) {
  Shape shape;
  for (const json& d : stored["shape"]) shape.push_back(d.get<int64_t>());
  std::vector<double> values;
  for (const json& v : stored["values"]) values.push_back(number(v));
  const std::string dtype = stored["dtype"];
  return Tensor::from_values(shape, values,
                             dtype == "float32"       ? DType::kFloat32
                                 : dtype == "float64" ? DType::kFloat64
                                 : dtype == "int32"   ? DType::kInt32
                                                      : DType::kInt64);
}

std::map<std::string, SettingValue> settings(const json& given) {
  std::map<std::string, SettingValue> out;
  for (const auto& [key, v] : given.items()) {
    if (v.is_boolean()) out[key] = v.get<bool>();
    else if (v.is_string()) out[key] = v.get<std::string>();
    else if (v.is_number_integer()) out[key] = v.get<int64_t>();
    else out[key] = v.get<double>();
  }
  return out;
}

std::vector<double> result(const json& c) {
  std::map<std::string, SettingValue> given = settings(c["settings"]);
  const bool multilabel = given.erase("eval_type") > 0;  // MindSpore's argument selects another metric name here
  const MetricPtr metric = metrics().make((multilabel ? "multilabel_" : "") + c["metric"].get<std::string>(), given);
  metric->allow_other_labels();
  for (const json& update : c["updates"]) {
    if (update.is_null()) {
      metric->clear();
      continue;
    }
    std::vector<Tensor> in;
    for (const json& t : update) in.push_back(tensor(t));
    metric->update(in);
  }
  EXPECT_TRUE(!metric->empty() || c["want"].is_string());
  return c["name"].get<std::string>().ends_with("mean") ? std::vector<double>{metric->value()} : metric->eval();
}

TEST(MetricExpectations, AsMindSpore) {
  std::ifstream file(SINDRI_SOURCE_DIR "/tests/nn/expectations/metrics.json");
  const json cases = json::parse(file);
  ASSERT_GT(cases.size(), 300u);
  for (const json& c : cases) {
    SCOPED_TRACE(c["name"].get<std::string>());
    if (c["want"].is_string()) {
      EXPECT_THROW(result(c), Error);
      continue;
    }
    const std::vector<double> got = result(c);
    ASSERT_EQ(got.size(), c["want"].size());
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = number(c["want"][i]);
      if (std::isfinite(want)) EXPECT_NEAR(got[i], want, 2e-6 * std::abs(want) + 1e-12);
      else if (std::isnan(want)) EXPECT_TRUE(std::isnan(got[i]));
      else EXPECT_EQ(got[i], want);
    }
  }
}

}  // namespace
}  // namespace sindri::nn::metric_expectations
