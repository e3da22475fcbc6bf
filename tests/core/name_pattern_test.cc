// Patterns of parameter names.
#include "sindri/core/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/error.h"

namespace sindri {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NamePattern, MeansTheNameOrWhatIsBelowIt) {
  EXPECT_TRUE(name_matches("layer1", "layer1"));
  EXPECT_TRUE(name_matches("layer1", "layer1.0.conv1.weight"));
  EXPECT_FALSE(name_matches("layer1", "layer10.0.conv1.weight")) << "a part of a name does not match";
  EXPECT_FALSE(name_matches("conv1", "layer1.0.conv1.weight")) << "names start at the network's root";
  EXPECT_TRUE(name_matches("layer1.0", "layer1.0.bn1.gamma"));
  EXPECT_FALSE(name_matches("", "conv1"));
  EXPECT_FALSE(name_matches("layer1.0.conv1.weight.more", "layer1.0.conv1.weight"));
}

TEST(NamePattern, StarIsAnyTextAndQuestionMarkOneCharacter) {
  EXPECT_TRUE(name_matches("*.gamma", "layer1.0.bn1.gamma"));
  EXPECT_TRUE(name_matches("*.bn?", "layer1.0.bn2.beta"));
  EXPECT_FALSE(name_matches("*.bn?", "layer1.0.bn1d.beta"));
  EXPECT_TRUE(name_matches("layer?.*.weight", "layer3.1.conv2.weight"));
  EXPECT_FALSE(name_matches("layer?.*.weight", "layer3.1.bn2.gamma"));
  EXPECT_TRUE(name_matches("*", "conv1.weight"));
  EXPECT_TRUE(name_matches("**1*", "conv1.weight"));
  // Backtracking over every star would take years for these.
  EXPECT_FALSE(name_matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));
}

TEST(NamePattern, FirstPatternHoldsAndOneThatMeansNothingIsRefused) {
  const std::vector<std::string> names = {"conv1.weight", "layer1.0.weight", "layer1.1.weight", "end_point.bias"};
  EXPECT_THAT(match_names({"layer1.1", "layer1", "end_point"}, names, "parts"), ElementsAre(-1, 1, 0, 2));
  EXPECT_THAT(match_names({}, names, "parts"), ElementsAre(-1, -1, -1, -1));
  try {
    match_names({"layer1", "layr1"}, names, "frozen parts");
    FAIL() << "a misspelt name was accepted";
  } catch (const ValueError& e) {
    EXPECT_THAT(e.message(), HasSubstr("frozen parts: nothing is named 'layr1'"));
    EXPECT_THAT(e.fix(), HasSubstr("layer1"));
  }
  EXPECT_THROW(match_names({""}, names, "parts"), ValueError);
}

}  // namespace
}  // namespace sindri
