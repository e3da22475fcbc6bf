// Schedules, lists of learning rates and loss scales against MindSpore's results (tests/reference/make_schedule_expectations.py).
// tests/python/test_schedule_expectations.py reads the same file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sindri/graph/compile.h"
#include "sindri/optim/registry.h"
#include "sindri/train/loss_scale.h"
#include "source_dir.h"

namespace sindri::optim {
namespace {

using Vec = std::vector<double>;

struct Case {
  std::string kind, name;
  std::map<std::string, std::string> settings;
  std::map<std::string, Vec> rows;

  double number(const std::string& key) const { return std::stod(settings.at(key)); }
};

std::vector<Case> cases_of(const std::string& kind) {
  std::ifstream file(SINDRI_SOURCE_DIR "/tests/optim/expectations/schedules.txt");
  std::vector<Case> all, out;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word, key;
    line >> word;
    if (word == "case") {
      Case& c = all.emplace_back();
      line >> c.kind >> c.name;
    } else if (word == "set") {
      line >> key >> all.back().settings[key];
    } else {
      for (double v = 0; line >> v;) all.back().rows[word].push_back(v);
    }
  }
  for (Case& c : all)
    if (c.kind == kind) out.push_back(std::move(c));
  return out;
}

std::shared_ptr<LearningRateSchedule> make(const Case& c) {
  std::map<std::string, SettingValue> given;
  for (const auto& [key, text] : c.settings)
    if (const SettingSpec* spec = schedules().info(c.name).find(key); spec != nullptr) given[key] = parse_setting(*spec, text);
  return schedules().make(c.name, given, Course{.learning_rate = c.number("learning_rate")});
}

Tensor step_of(size_t i) { return Tensor::scalar(static_cast<double>(i), DType::kInt32); }

TEST(ScheduleExpectations, AsMindSporeInEveryForm) {
  const std::vector<Case> cases = cases_of("schedule");
  ASSERT_GT(cases.size(), 20u);
  for (const Case& c : cases) {
    const auto schedule = make(c);
    CompiledFn compiled = compile([&](Span<const Tensor> step) -> TensorList { return {schedule->construct(step[0])}; });
    const Vec& want = c.rows.at("values");
    const auto largest = static_cast<float>(*std::max_element(want.begin(), want.end()));
    const double ulp = std::nextafterf(largest, INFINITY) - largest;
    for (size_t i = 0; i < want.size(); ++i) {
      const double eager = schedule->construct(step_of(i)).item();
      EXPECT_NEAR(eager, want[i], 4 * ulp) << c.name << " at step " << i;
      EXPECT_NEAR(schedule->rate(static_cast<int64_t>(i)), want[i], 4 * ulp) << c.name << " at step " << i;
      EXPECT_EQ(compiled(TensorList{step_of(i)})[0].item(), eager) << c.name << " at step " << i;
    }
  }
}

TEST(ScheduleExpectations, ListsAsMindSpore) {
  const std::vector<Case> cases = cases_of("list");
  ASSERT_GT(cases.size(), 10u);
  for (const Case& c : cases) {
    const Vec& want = c.rows.at("values");
    Vec got;
    if (c.name == "piecewise") {
      const auto list = [&](const char* key) {
        return std::get<Vec>(parse_setting({.name = key, .type = SettingType::kFloatList, .fallback = "[]", .doc = ""}, c.settings.at(key)));
      };
      const Vec milestone = list("milestone");
      got = piecewise_constant_rates({milestone.begin(), milestone.end()}, list("learning_rates"));
    } else {
      got = rates_of(*make(c), static_cast<int64_t>(c.number("total_step")), static_cast<int64_t>(c.number("step_per_epoch")));
    }
    ASSERT_EQ(got.size(), want.size()) << c.name;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 4e-15 * std::abs(want[i]) + 1e-16) << c.name << " at step " << i;
  }
}

TEST(ScheduleExpectations, EveryScheduleOfMindSporeHasACase) {
  std::set<std::string> with_case;
  for (const Case& c : cases_of("schedule")) with_case.insert(c.name);
  EXPECT_EQ(with_case, (std::set<std::string>{"cosine", "exponential", "inverse", "natural_exp", "poly", "warm_up"}));
}

TEST(ScheduleExpectations, LossScalesAsMindSpore) {
  const std::vector<Case> cases = cases_of("loss_scale");
  ASSERT_GT(cases.size(), 8u);
  for (const Case& c : cases) {
    const double factor = c.number("factor"), start = c.number("scale");
    const auto window = static_cast<int64_t>(c.number("window"));
    train::LossScaleState cell{Tensor::scalar(start), Tensor::scalar(1, DType::kInt32), Tensor::scalar(0, DType::kInt32)};
    train::LossScalerState scaler{Tensor::scalar(start), Tensor::scalar(0, DType::kInt32)};
    train::LossScaleCount count{start};
    train::DynamicLossScaleManager manager(start, factor, window);
    for (size_t i = 0; i < c.rows.at("overflow").size(); ++i) {
      const bool overflow = c.rows.at("overflow")[i] != 0;
      const std::string where = c.name + " after step " + std::to_string(i);
      const auto expect = [&](const char* row, double got) { EXPECT_NEAR(got, c.rows.at(row)[i], 1e-6 * std::abs(got)) << where << ": " << row; };
      const Tensor flag = Tensor::scalar(overflow ? 1 : 0, DType::kBool), finite = Tensor::scalar(overflow ? 0 : 1, DType::kBool);
      if (c.name == "cell") {
        cell = train::next_loss_scale(cell, flag, factor, window);
        expect("scale", cell.scale.item());
        expect("current", cell.current.item());
        expect("last", cell.last.item());
        manager.update_loss_scale(overflow);
        EXPECT_EQ(manager.get_loss_scale(), cell.scale.item()) << where;
      } else if (c.name == "manager") {
        count.next(overflow, factor, 1 / factor, window);
        expect("scale", count.scale);
        expect("current", static_cast<double>(count.current));
        expect("last", static_cast<double>(count.last_overflow));
        expect("overflows", static_cast<double>(count.overflows));
      } else {
        scaler = train::next_loss_scaler(scaler, finite, factor, window);
        expect("scale", scaler.scale.item());
        expect("counter", scaler.counter.item());
      }
    }
  }
}

}  // namespace
}  // namespace sindri::optim
