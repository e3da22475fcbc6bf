// Registries: names, settings with their checks, and the rows made of them.
#include "sindri/core/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/error.h"

namespace sindri {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ValueError& e) { return e.what(); }
  return "no ValueError";
}

using Make = double(double x, const SettingValues& v);

Registry<Make>& things() {
  static Registry<Make>& all = []() -> Registry<Make>& {
    static Registry<Make> r("thing");
    r.add({.name = "times",
           .doc = "x times factor",
           .settings = {{.name = "factor", .type = SettingType::kFloat, .fallback = "2", .doc = "the factor", .min = 0, .max = 10},
                        {.name = "negate", .type = SettingType::kBool, .fallback = "false", .doc = "whether the sign changes"}},
           .make = [](double x, const SettingValues& v) { return x * v.get_float("factor") * (v.get_bool("negate") ? -1 : 1); }});
    r.add({.name = "shift",
           .doc = "x plus factor",
           .settings = {{.name = "factor", .type = SettingType::kFloat, .fallback = "0.5", .doc = "the summand", .min = -1, .max = 1},
                        {.name = "steps", .type = SettingType::kIntList, .fallback = "[1, 2]", .doc = "where", .min = 0}},
           .make = [](double x, const SettingValues& v) { return x + v.get_float("factor") + v.get_list("steps")[1]; }});
    return r;
  }();
  return all;
}

TEST(Registry, MakesByNameFromDefaultsAndWhatIsGiven) {
  EXPECT_EQ(things().make("times", {}, 3.0), 6);
  EXPECT_EQ(things().make("times", {{"factor", 5.0}, {"negate", true}}, 3.0), -15);
  EXPECT_EQ(things().make("times", {{"factor", int64_t{4}}}, 3.0), 12) << "an int is accepted as a float";
  EXPECT_EQ(things().make("shift", {}, 3.0), 5.5);
  EXPECT_EQ(things().make("shift", {{"steps", std::vector<double>{0, 7}}}, 3.0), 10.5);
  EXPECT_THAT(things().names(), ElementsAre("shift", "times"));
}

TEST(Registry, Refusals) {
  EXPECT_THAT(message_of([] { things().find("tims"); }), HasSubstr("no thing is named 'tims'"));
  EXPECT_THAT(message_of([] { things().find("tims"); }), HasSubstr("did you mean 'times'"));
  EXPECT_THAT(message_of([] { things().add({.name = "times", .doc = "", .make = {}}); }), HasSubstr("'times'"));
  EXPECT_THAT(message_of([] { things().add({.name = "", .doc = "", .make = {}}); }), HasSubstr("without a name"));
  EXPECT_THAT(message_of([] { things().make("times", {{"factr", 1.0}}, 1.0); }), HasSubstr("times has no setting 'factr'"));
  EXPECT_THAT(message_of([] { things().make("times", {{"factor", 11.0}}, 1.0); }), HasSubstr("times.factor: expected 0 to 10, got 11"));
  EXPECT_THAT(message_of([] { things().make("times", {{"factor", std::string("2")}}, 1.0); }), HasSubstr("factor: expected a number, got '2'"));
  EXPECT_THAT(message_of([] { things().make("times", {{"negate", int64_t{1}}}, 1.0); }), HasSubstr("negate: expected true or false, got 1"));
  EXPECT_THAT(message_of([] { things().make("shift", {{"steps", std::vector<double>{-1}}}, 1.0); }), HasSubstr("steps: expected 0 to"));
  // A default outside its own range is an error at registration.
  EXPECT_THAT(message_of([] {
                things().add({.name = "wrong",
                              .doc = "",
                              .settings = {{.name = "factor", .type = SettingType::kFloat, .fallback = "2", .doc = "", .min = 3}},
                              .make = [](double x, const SettingValues&) { return x; }});
              }),
              HasSubstr("factor: expected 3 to"));
  EXPECT_FALSE(things().has("wrong"));
  EXPECT_THAT(message_of([] { things().add({.name = "wrong", .doc = ""}); }), HasSubstr("thing 'wrong' cannot be made"));
  EXPECT_THAT(message_of([] { things().add({.name = "two words", .doc = ""}); }), HasSubstr("'two words' is not a valid name"));
  for (const char* key : {"", "Factor", "enabled"}) {
    EXPECT_THAT(message_of([&] {
                  things().add({.name = "wrong",
                                .doc = "",
                                .settings = {{.name = key, .type = SettingType::kInt, .fallback = "1", .doc = ""}},
                                .make = [](double x, const SettingValues&) { return x; }});
                }),
                HasSubstr("is not a valid setting name"));
  }
  EXPECT_THROW(SettingValues("x", things().info("times").settings).get_int("factor"), InternalError);
}

TEST(Registry, RowsNameWhoseTheyAreWhereTheyDiffer) {
  const std::vector<SettingSpec> rows = things().rows("part", "part.name");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_STREQ(rows[0].name, "part.factor");
  EXPECT_STREQ(rows[0].fallback, "0.5 (shift), 2 (times)");
  EXPECT_STREQ(rows[0].doc, "the summand (shift); the factor (times)");
  EXPECT_EQ(rows[0].min, -1);
  EXPECT_EQ(rows[0].max, 10);
  EXPECT_STREQ(rows[0].chosen_by, "part.name");
  EXPECT_STREQ(rows[1].doc, "where (shift)");
  EXPECT_STREQ(rows[2].fallback, "false");
  const auto make = [](double x, const SettingValues&) { return x; };
  Registry<Make> mixed("thing");
  mixed.add({.name = "a", .doc = "", .settings = {{.name = "x", .type = SettingType::kInt, .fallback = "1", .doc = ""}}, .make = make});
  mixed.add({.name = "b", .doc = "", .settings = {{.name = "x", .type = SettingType::kBool, .fallback = "true", .doc = ""}}, .make = make});
  EXPECT_THAT(message_of([&] { mixed.rows("part", "part.name"); }), HasSubstr("different types"));
}

// A row covers the settings of that name of all components: it allows any value that one of them allows.
TEST(Registry, RowsAllowWhatAnyOfTheThingsAllows) {
  const auto make = [](double x, const SettingValues&) { return x; };
  Registry<Make> all("thing");
  SettingSpec way{.name = "way", .type = SettingType::kString, .fallback = "up", .doc = "whither", .choices = "up|down", .changes_result = false};
  SettingSpec text = way;
  text.name = "text";
  all.add({.name = "a", .doc = "", .settings = {way, text}, .make = make});
  way.choices = "up|left", way.changes_result = true, text.choices = "";
  all.add({.name = "b", .doc = "", .settings = {way, text}, .make = make});
  const std::vector<SettingSpec> rows = all.rows("part", "part.name");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_STREQ(rows[0].choices, "up|down|left");
  EXPECT_STREQ(rows[0].doc, "whither") << "all have it";
  EXPECT_TRUE(rows[0].changes_result);
  EXPECT_STREQ(rows[1].choices, "") << "b accepts any text";
  EXPECT_FALSE(rows[1].changes_result);
  way.unit = "steps";
  all.add({.name = "c", .doc = "", .settings = {way}, .make = make});
  EXPECT_THAT(message_of([&] { all.rows("part", "part.name"); }), HasSubstr("'way' in different units"));
}

// A rule over several settings belongs to the component: every way of setting the values applies it.
TEST(Registry, AThingMayCheckItsSettingsTogether) {
  Registry<Make> all("thing");
  const auto number = [](const char* name, const char* needs) {
    return SettingSpec{.name = name, .type = SettingType::kFloat, .fallback = "1", .doc = "", .needs = needs};
  };
  const Registry<Make>::Entry range{.name = "range",
                                    .doc = "",
                                    .settings = {number("low", ""), number("high", "low")},
                                    .check =
                                        [](const SettingValues& v) {
                                          if (v.get_float("low") > v.get_float("high")) throw ValueError("low is above high", "low", "lower it");
                                        },
                                    .make = [](double x, const SettingValues& v) { return x * v.get_float("high"); }};
  all.add(range);
  EXPECT_EQ(all.make("range", {{"high", 2.0}}, 3.0), 6);
  EXPECT_EQ(all.values("range", {{"high", 2.0}}).get_float("high"), 2);
  EXPECT_EQ(message_of([&] { all.make("range", {{"low", 2.0}}, 1.0); }), "low is above high | range.low | lower it");
  EXPECT_EQ(message_of([&] { all.values("range", {{"low", 2.0}}); }), "low is above high | range.low | lower it");
  Registry<Make>::Entry wrong = range;
  wrong.name = "wrong";
  wrong.settings = {number("low", "high")};
  EXPECT_THAT(message_of([&] { all.add(wrong); }), HasSubstr("thing 'wrong' has no setting 'high', which 'low' needs"));
}

struct Colour {
  int shade = 0;
};

TEST(Registry, ThingsMayHaveFactsAndSwitches) {
  Registry<Make, Colour> painted("thing");
  const auto make = [](double x, const SettingValues&) { return x; };
  painted.add({.name = "b", .doc = "plain", .make = make});
  painted.add(
      {.name = "a", .doc = "red", .settings = {{.name = "x", .type = SettingType::kInt, .fallback = "1", .doc = ""}}, .facts = {.shade = 7}, .make = make});
  EXPECT_EQ(painted.find("a").facts.shade, 7);
  EXPECT_EQ(painted.find("b").facts.shade, 0);
  const std::vector<SettingSpec> rows = painted.switched_rows("part");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_STREQ(rows[0].name, "part.a.enabled");
  EXPECT_STREQ(rows[0].doc, "red");
  EXPECT_STREQ(rows[1].name, "part.a.x");
  EXPECT_STREQ(rows[2].name, "part.b.enabled");
}

// Text and values pass the same checks.
TEST(Settings, TextIsReadInOneWay) {
  const SettingSpec whole{.name = "n", .type = SettingType::kInt, .fallback = "1", .doc = "", .min = 0, .max = 10};
  EXPECT_EQ(std::get<int64_t>(parse_setting(whole, "+3")), 3);
  for (const char* bad : {"03", "3.0", "", "11", "-1", "x", "+-5", "-+5", "++5"}) EXPECT_THROW(parse_setting(whole, bad), ValueError) << bad;
  const SettingSpec list{.name = "l", .type = SettingType::kIntList, .fallback = "[]", .doc = ""};
  EXPECT_EQ(std::get<std::vector<double>>(parse_setting(list, "[1, 2]")), (std::vector<double>{1, 2}));
  EXPECT_TRUE(std::get<std::vector<double>>(parse_setting(list, "")).empty());
  for (const char* bad : {"[1,]", "1.5", "[a]", ","}) EXPECT_THROW(parse_setting(list, bad), ValueError) << bad;
  EXPECT_THROW(check_setting(list, std::vector<double>{1.5}), ValueError);
  const SettingSpec number{.name = "x", .type = SettingType::kFloat, .fallback = "1", .doc = ""};
  EXPECT_EQ(std::get<double>(parse_setting(number, "+0.5")), 0.5);
  for (const char* bad : {"+-0.5", "1e-400", "1e400", "inf", "nan"}) EXPECT_THROW(parse_setting(number, bad), ValueError) << bad;
  const SettingSpec choice{.name = "c", .type = SettingType::kString, .fallback = "", .doc = "", .choices = "one|two"};
  EXPECT_EQ(std::get<std::string>(parse_setting(choice, "two")), "two");
  EXPECT_EQ(std::get<std::string>(parse_setting(choice, "")), "") << "a default may be empty";
  EXPECT_THAT(message_of([&] { parse_setting(choice, "tow"); }), HasSubstr("c: expected one, two, got 'tow' | did you mean 'two'?"));
  EXPECT_THAT(message_of([&] { check_setting(choice, std::string("a\nb")); }), HasSubstr("control character 0x0a"));
}

}  // namespace
}  // namespace sindri
