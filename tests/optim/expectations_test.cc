// Every optimizer over fifty steps against MindSpore's results (tests/reference/make_optimizer_expectations.py), created by name from its settings as settings
// files do. tests/python/test_optimizer_expectations.py reads the same file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/optim/registry.h"
#include "source_dir.h"

namespace sindri::optim::expectations_test {
namespace {

using Vec = std::vector<double>;

struct Case {
  std::string name, optimizer;
  Vec lr;
  double weight_decay = 0, loss_scale = 1;
  std::map<std::string, std::string> settings;
  std::map<std::string, std::map<std::string, Vec>> groups;  // by parameter: key, value
  std::map<int, std::map<std::string, Vec>> at;
  std::map<std::string, Vec> state;
};

Vec numbers(std::istringstream& line) {
  Vec out;
  for (std::string word; line >> word;) out.push_back(word == "true" ? 1 : word == "false" ? 0 : std::stod(word));
  return out;
}

std::vector<Case> read_cases() {
  std::ifstream file(SINDRI_SOURCE_DIR "/tests/optim/expectations/optimizers.txt");
  std::vector<Case> out;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word, key;
    line >> word;
    if (word == "case") {
      Case& c = out.emplace_back();
      line >> c.name >> c.optimizer;
    } else if (word == "lr") {
      out.back().lr = numbers(line);
    } else if (word == "weight_decay") {
      line >> out.back().weight_decay;
    } else if (word == "set") {
      line >> key >> out.back().settings[key];
      if (key == "loss_scale") out.back().loss_scale = std::stod(out.back().settings[key]);
    } else if (word == "group") {
      std::string parameter;
      line >> parameter >> key;
      out.back().groups[parameter][key] = numbers(line);
    } else if (word == "at") {
      int step = 0;
      line >> step >> key;
      out.back().at[step][key] = numbers(line);
    } else if (word == "state") {
      line >> key;
      out.back().state[key] = numbers(line);
    }
  }
  return out;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = read_cases();
  return cases;
}

struct Net {
  Net()
      : weight(Tensor::from_values({2, 3}, {1, -2, 3, -0.5, 0.25, 2}), "fc.weight"),
        gamma(Tensor::from_values({3}, {1, 1.5, 0.5}), "bn.gamma"),
        bias(Tensor::from_values({2}, {0.125, -0.75}), "fc.bias") {}
  std::vector<Parameter*> all() { return {&weight, &gamma, &bias}; }
  Parameter weight, gamma, bias;
};

LearningRate rate(const Vec& lr) { return lr.size() == 1 ? LearningRate(lr[0]) : LearningRate(std::vector<float>(lr.begin(), lr.end())); }

std::shared_ptr<Optimizer> make(const Case& c, Net& net) {
  const auto& entry = optimizers().find(c.optimizer);
  std::map<std::string, SettingValue> given;
  for (const auto& [key, text] : c.settings) given[key] = parse_setting(*optimizers().info(c.optimizer).find(key), text);
  Params params = net.all();
  if (!c.groups.empty()) {
    std::vector<ParamGroup> groups;
    for (Parameter* p : net.all()) {
      ParamGroup g{.params = {p}};
      for (const auto& [key, value] : c.groups.at(p->name())) {
        if (key == "lr") g.lr = rate(value);
        if (key == "weight_decay") g.weight_decay = value[0];
        if (key == "grad_centralization") g.grad_centralization = value[0] != 0;
      }
      groups.push_back(std::move(g));
    }
    params = std::move(groups);
  }
  return entry.make(std::move(params), {.learning_rate = rate(c.lr), .weight_decay = c.weight_decay}, SettingValues(entry.name, entry.settings, given));
}

TensorList gradients(const std::vector<Parameter*>& params, int step, double scale) {
  TensorList out;
  for (const Parameter* p : params) {
    Vec v(static_cast<size_t>(p->shape().numel()));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<float>(std::sin(0.7 * step + 1.3 * static_cast<double>(i) + static_cast<double>(v.size()))) * static_cast<float>(scale);
    out.push_back(Tensor::from_values(p->shape(), v));
  }
  return out;
}

// Everything is float32 there, including 1 - beta2.
void expect_near(const Parameter& p, const Vec& want, const std::string& where) {
  const Vec got = p.stored().to_vector<double>();
  ASSERT_EQ(got.size(), want.size()) << where;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 5e-5 * std::max(0.1, std::abs(want[i]))) << where << ", element " << i;
}

class FiftySteps : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, FiftySteps, ::testing::Bool(), [](const auto& graph) { return std::string(graph.param ? "graph" : "eager"); });

TEST_P(FiftySteps, AsMindSpore) {
  for (const Case& c : all_cases()) {
    Net net;
    const std::shared_ptr<Optimizer> opt = make(c, net);
    CompiledFn compiled = compile([&](Span<const Tensor> g) -> TensorList {
      opt->apply({g.begin(), g.end()});
      return {};
    });
    for (int step = 1; step <= 50; ++step) {
      const TensorList g = gradients(opt->parameters(), step, c.loss_scale);
      if (GetParam()) compiled(g);
      else opt->apply(g);
      if (const auto at = c.at.find(step); at != c.at.end())
        for (const Parameter* p : opt->parameters())
          expect_near(*p, at->second.at(p->name()), c.name + ": " + p->name() + " after step " + std::to_string(step));
    }
    std::map<std::string, const Parameter*> state;
    for (const Parameter* p : opt->state()) state[p->name()] = p;
    for (const auto& [name, want] : c.state) {
      ASSERT_TRUE(state.contains(name)) << c.name << " has no state " << name;
      expect_near(*state[name], want, c.name + ": " + name);
    }
  }
}

TEST(FiftySteps, EveryOptimizerHasACase) {
  std::set<std::string> with_case;
  for (const Case& c : all_cases()) with_case.insert(c.optimizer);
  with_case.insert("thor");  // its steps need a network: thor_test.cc
  for (const std::string& name : optimizers().names()) EXPECT_TRUE(with_case.contains(name)) << name;
}

}  // namespace
}  // namespace sindri::optim::expectations_test
