// Training algorithms: their registry, settings, order, and description.
#include "sindri/train/boost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/app/settings.h"
#include "sindri/core/error.h"

namespace sindri {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using train::BoostAlgorithmPtr;

struct Named final : train::BoostAlgorithm {
  explicit Named(std::string n) : own(std::move(n)) {}
  std::string name() const override { return own; }
  void apply(train::TrainStep&, const train::BuildContext&) override {}
  std::string own;
};

void enter(const std::string& name, std::vector<std::string> excludes, std::vector<std::string> precedes) {
  train::boosts().add(
      {.name = name, .doc = "of this test", .facts = {.excludes = std::move(excludes), .precedes = std::move(precedes)}, .make = [name](const SettingValues&) {
         return std::make_shared<Named>(name);
       }});
}

// Registered once, before the table of settings is made.
const bool kEntered = [] {
  enter("test_a", {}, {"test_b"});
  enter("test_b", {"test_x"}, {});
  enter("test_x", {}, {});
  enter("test_round_1", {}, {"test_round_2"});
  enter("test_round_2", {}, {"test_round_1"});
  const auto spec = [](const char* name, SettingType type, const char* fallback) {
    return SettingSpec{.name = name, .type = type, .fallback = fallback, .doc = ""};
  };
  train::boosts().add({.name = "test_texts",
                       .doc = "defaults that are not written as they are printed",
                       .settings = {spec("one", SettingType::kFloat, "1.0"), spec("small", SettingType::kFloat, "1e-8"),
                                    spec("list", SettingType::kIntList, "[1,2]"), spec("flag", SettingType::kBool, "True")},
                       .make = [](const SettingValues&) { return std::make_shared<Named>("test_texts"); }});
  return true;
}();

std::vector<BoostAlgorithmPtr> made(const std::vector<std::string>& names) {
  std::vector<BoostAlgorithmPtr> out;
  for (const std::string& n : names) out.push_back(std::make_shared<Named>(n));
  return out;
}

std::vector<std::string> order(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const BoostAlgorithmPtr& a : train::in_order(made(names))) out.push_back(a->name());
  return out;
}

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "";
}

TEST(Boost, OrderKeepsWhatWasGivenButForWhatMustPrecede) {
  ASSERT_TRUE(kEntered);
  EXPECT_THAT(order({"test_x", "made_by_hand"}), ElementsAre("test_x", "made_by_hand"));
  EXPECT_THAT(order({"test_b", "made_by_hand", "test_a"}), ElementsAre("made_by_hand", "test_a", "test_b"));
  EXPECT_THAT(message_of([] { order({"test_a", "test_a"}); }), HasSubstr("test_a is given twice"));
  EXPECT_THAT(message_of([] { order({"test_x", "test_b"}); }), HasSubstr("test_b and test_x exclude each other"));
  EXPECT_THAT(message_of([] { order({"test_round_1", "test_round_2"}); }), HasSubstr("test_round_1, test_round_2"));
  EXPECT_THAT(message_of([] { train::in_order({nullptr}); }), HasSubstr("null"));
}

TEST(Boost, RegistryRefusesWhatCannotBeNamed) {
  EXPECT_THAT(message_of([] { enter("test_a", {}, {}); }), HasSubstr("training algorithm are named 'test_a'"));
  EXPECT_THAT(message_of([] { enter("Test A", {}, {}); }), HasSubstr("'Test A' is not a valid name"));
  EXPECT_THAT(message_of([] { train::boosts().add({.name = "test_none", .doc = ""}); }), HasSubstr("cannot be made"));
  EXPECT_THAT(message_of([] { train::boosts().make("grad_acumulation", {}); }), HasSubstr("did you mean 'grad_accumulation'?"));
  EXPECT_THAT(message_of([] { train::boosts().make("grad_accumulation", {{"stepp", 2}}); }), HasSubstr("grad_accumulation has no setting 'stepp'"));
  EXPECT_THAT(message_of([] {
                train::boosts().make("grad_accumulation", {{"step", "two"}});
              }),
              HasSubstr("grad_accumulation.step: expected a whole number, got 'two'"));
}

TEST(Boost, SettingsSwitchThemOn) {
  app::Settings s;
  EXPECT_TRUE(app::make_boosts(s).empty());
  const std::string before = s.hash();
  s.load_yaml_text("boost:\n  grad_accumulation:\n    enabled: true\n    step: 4\n  average:\n    enabled: true\n    kind: swa\n", "a.yaml");
  s.validate();
  const auto made = app::make_boosts(s);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]->name(), "average");
  EXPECT_EQ(made[1]->steps_per_update(), 4);
  EXPECT_NE(s.hash(), before);
  app::Settings again;
  again.load_yaml_text(s.to_yaml(), "b.yaml");
  EXPECT_EQ(again.to_yaml(), s.to_yaml());
  EXPECT_EQ(again.hash(), s.hash());
  again.load_environment({"SINDRI_BOOST__GRAD_ACCUMULATION__STEP=8"});
  EXPECT_EQ(again.get_int("boost.grad_accumulation.step"), 8);
  EXPECT_EQ(again.origin("boost.grad_accumulation.step"), "SINDRI_BOOST__GRAD_ACCUMULATION__STEP");
}

TEST(Boost, NoSettingIsThereForNothing) {
  app::Settings s;
  s.set("boost.grad_accumulation.step=4");
  EXPECT_THAT(message_of([&] { s.validate(); }), HasSubstr("boost.grad_accumulation is off"));
  app::Settings both;
  both.set("boost.test_b.enabled=true");
  both.set("boost.test_x.enabled=true");
  EXPECT_THAT(message_of([&] { both.validate(); }), HasSubstr("exclude each other"));
  app::Settings weights;
  weights.set("train.eval_weights=avrage");
  EXPECT_THAT(message_of([&] { weights.validate(); }), HasSubstr("did you mean 'average'?"));
  EXPECT_THAT(message_of([&] { weights.load_yaml_text("boost:\n  avrage:\n    enabled: true\n", "a.yaml"); }), HasSubstr("a.yaml:2:3"));
  EXPECT_THAT(message_of([&] { weights.load_yaml_text("boost:\n  average: true\n", "a.yaml"); }), HasSubstr("boost.average is a section"));
}

// A default may be written in several ways; its value counts.
TEST(Boost, DefaultsOfWhatIsOffAreLeftAlone) {
  app::Settings s;
  s.validate();
  s.set("boost.test_texts.one=1");
  s.validate();
  s.load_yaml_text(s.to_yaml(), "all.yaml");
  s.validate();
  s.set("boost.test_texts.list=[1, 3]");
  EXPECT_THAT(message_of([&] { s.validate(); }), HasSubstr("boost.test_texts is off"));
}

// Only entries that an algorithm declares as weights may replace the trained ones: not sums of gradients, not the optimizer's moments.
TEST(Boost, OnlyWeightsAreEvaluatedWith) {
  for (const char* name : {"grad_accumulation", "moments", "test_a"}) {
    app::Settings s;
    s.set(std::string("train.eval_weights=") + name);
    EXPECT_THAT(message_of([&] { s.validate(); }), HasSubstr(std::string("no training algorithm named '") + name + "' keeps weights"));
  }
  app::Settings s;
  s.set("train.eval_weights=average");
  s.validate();
}

// Registered by a library that was loaded after the settings were made.
TEST(Boost, SettingsMadeBeforeAnAlgorithmHaveItsDefaults) {
  app::Settings s;
  if (!train::boosts().has("test_late")) {
    train::boosts().add({.name = "test_late",
                         .doc = "",
                         .settings = {{.name = "count", .type = SettingType::kInt, .fallback = "3", .doc = ""}},
                         .make = [](const SettingValues&) { return std::make_shared<Named>("test_late"); }});
    EXPECT_FALSE(s.get_bool("boost.test_late.enabled"));
    EXPECT_EQ(s.get_int("boost.test_late.count"), 3);
    EXPECT_EQ(s.origin("boost.test_late.count"), "default");
    s.validate();
    EXPECT_EQ(s.to_yaml(), app::Settings().to_yaml());
    EXPECT_THAT(app::explain_boosts(s), HasSubstr("boost.test_late.enabled is false (default)"));
  }
  EXPECT_THROW(s.origin("boost.test_never.enabled"), InternalError);
}

TEST(Boost, IdleAlgorithmsCollectNothing) {
  struct Collects final : train::BoostAlgorithm {
    explicit Collects(std::string n, int64_t steps, std::string why = "") : own(std::move(n)), steps_(steps), why_(std::move(why)) {}
    std::string name() const override { return own; }
    std::string idle() const override { return why_; }
    int64_t steps_per_update() const override { return steps_; }
    void apply(train::TrainStep&, const train::BuildContext&) override {}
    std::string own;
    int64_t steps_;
    std::string why_;
  };
  const std::vector<BoostAlgorithmPtr> all = {std::make_shared<Collects>("twos", 2), std::make_shared<Collects>("idle", 5, "as it is set"),
                                              std::make_shared<Collects>("threes", 3)};
  EXPECT_EQ(train::steps_per_update(all), 6);
  train::TrainStep step;
  train::apply_boosts(step, {}, all);
  EXPECT_EQ(step.steps_per_update, 6);
}

TEST(Boost, AnAlgorithmThatRefusedMayBeGivenToAnotherStep) {
  struct Refuses final : train::BoostAlgorithm {
    std::string name() const override { return "refuses"; }
    void apply(train::TrainStep&, const train::BuildContext& context) override {
      if (context.parameters.empty()) throw ValueError("nothing is trained");
    }
  };
  const std::vector<BoostAlgorithmPtr> one = {std::make_shared<Refuses>()};
  train::TrainStep first, second, third;
  EXPECT_THROW(train::apply_boosts(first, {}, one), ValueError);
  Parameter p(Tensor::zeros({1}), "p");
  EXPECT_EQ(train::apply_boosts(second, {.parameters = {&p}}, one).size(), 1u);
  EXPECT_THAT(message_of([&] { train::apply_boosts(third, {.parameters = {&p}}, one); }), HasSubstr("belongs to another training step"));
}

TEST(Boost, ExplainSaysWhichAreActiveAndWhyOthersAreNot) {
  app::Settings s;
  EXPECT_THAT(app::explain_boosts(s), HasSubstr("no training algorithm is active"));
  s.load_yaml_text("boost:\n  grad_accumulation:\n    enabled: true\n  test_b:\n    enabled: true\n  test_a:\n    enabled: true\n", "a.yaml");
  const std::string text = app::explain_boosts(s);
  EXPECT_THAT(text, HasSubstr("1. test_a: of this test"));
  EXPECT_THAT(text, HasSubstr("2. test_b: of this test"));
  EXPECT_THAT(text, HasSubstr("not active: step is 1"));
  EXPECT_THAT(text, HasSubstr("not active: boost.average.enabled is false (default)"));
}

}  // namespace
}  // namespace sindri
