// The table of policies: the meaning of its names in settings files and in Python, and the options they set.
#include "sindri/amp/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/amp.h"
#include "tests/amp/small_net.h"

namespace sindri::amp {
namespace policy_samples {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const ValueError& e) { return e.what(); }
  return "no ValueError";
}

TEST(AmpPolicies, AFullNameMeansTheSameEverywhereAShortOneWhatItsFamilySays) {
  for (const NamedPolicy& p : policies()) {
    EXPECT_EQ(&find_policy(p.name, Casts::kOps), &p);
    EXPECT_EQ(&find_policy(p.name, Casts::kCells), &p);
    EXPECT_FALSE(p.doc.empty());
  }
  EXPECT_EQ(find_policy("O2", Casts::kOps).name, "ops_O2");
  EXPECT_EQ(find_policy("O2", Casts::kCells).name, "cells_O2");
  EXPECT_EQ(find_policy("O0", Casts::kCells).casts, Casts::kNone);
  EXPECT_EQ(find_policy("auto", Casts::kCells).name, "ops_O1");
  EXPECT_EQ(find_policy("auto", Casts::kCells, "GPU").name, "cells_O2");
  EXPECT_EQ(find_policy("auto", Casts::kCells, "Ascend").name, "cells_O3");
  EXPECT_THAT(message_of([] { find_policy("O4", Casts::kOps); }), HasSubstr("amp_level 'O4' is not known | use one of O0, O1, O2, O3, ops_O1"));
  for (const Casts short_names : {Casts::kOps, Casts::kCells})
    EXPECT_THAT(policy_names(short_names), HasSubstr("|ops_O1|ops_O2|ops_O3|cells_O1|cells_O2|cells_O3"));
}

TEST(AmpPolicies, HalfTypesAndLossScales) {
  EXPECT_EQ(default_half("CPU"), DType::kBFloat16);
  EXPECT_EQ(default_half("Ascend"), DType::kFloat16);
  for (const NamedPolicy& p : policies()) {
    EXPECT_FALSE(p.provides_loss_scale(DType::kBFloat16)) << p.name;
    EXPECT_EQ(p.provides_loss_scale(DType::kFloat16), p.level == Level::kO2) << p.name;
    EXPECT_EQ(p.keeps_batchnorm, p.level != Level::kO3) << p.name;
  }
  const NamedPolicy& o2 = find_policy("ops_O2", Casts::kOps);
  EXPECT_EQ(train::default_manager(o2, DType::kBFloat16), nullptr);
  EXPECT_EQ(train::default_manager(o2, DType::kFloat16, 128), nullptr) << "the optimizer divides by its own scale";
  const auto manager = train::default_manager(o2, DType::kFloat16);
  ASSERT_NE(manager, nullptr);
  EXPECT_EQ(manager->get_loss_scale(), 0x1p24);
  EXPECT_TRUE(manager->get_drop_overflow_update());
}

TEST(AmpPolicies, OptionsOfThePoliciesThatCastOps) {
  const Options o = find_policy("O3", Casts::kOps).options(DType::kFloat16);
  EXPECT_EQ(o.level, Level::kO3);
  EXPECT_EQ(o.dtype, DType::kFloat16);
  EXPECT_FALSE(o.keeps_batchnorm());
  EXPECT_FALSE(o.by_cells);
  EXPECT_TRUE(find_policy("O3", Casts::kOps).options(DType::kFloat16, true).keeps_batchnorm());
  EXPECT_THAT(message_of([] { parse_level("cells_O2"); }), HasSubstr("find_policy"));
}

TEST(AmpPolicies, OptionsOfThePoliciesThatMarkCells) {
  const auto options = [](const char* name, std::optional<bool> keep = {}) { return find_policy(name, Casts::kOps).options(DType::kBFloat16, keep); };
  for (const char* name : {"cells_O1", "cells_O2", "cells_O3"}) EXPECT_TRUE(options(name).by_cells && options(name).active()) << name;
  EXPECT_THAT(options("cells_O1").white_list, Contains("Dense"));
  EXPECT_THAT(options("cells_O1").black_list, IsEmpty());
  EXPECT_THAT(options("cells_O2").black_list, Contains("BatchNorm2d"));
  EXPECT_THAT(options("cells_O2", false).black_list, IsEmpty());
  EXPECT_THAT(options("cells_O3").black_list, IsEmpty());
  EXPECT_THAT(options("cells_O3", true).black_list, Contains("LayerNorm"));
}

// The lists may name classes that a network does not have; a name in no list is still refused.
TEST(AmpPolicies, ListsOfOnesOwnStartFromThoseOfTheTable) {
  EXPECT_THAT(train::get_white_list(), Contains("LSTMCell"));
  EXPECT_THAT(train::get_black_list(), Contains("BatchNorm3d"));
  EXPECT_NO_THROW(train::custom_mixed_precision(test::small_net(), {}, train::get_black_list()));
  EXPECT_THROW(train::custom_mixed_precision(test::small_net(), {"LSTMCel"}, {}), ValueError);
}

TEST(AmpPolicies, GradientsAreDividedOnceByTheScale) {
  EXPECT_NO_THROW(train::check_loss_scales("A", 64, true, "B", 1));
  EXPECT_NO_THROW(train::check_loss_scales("A", 64, false, "B", 64));
  EXPECT_THAT(message_of([] { train::check_loss_scales("A", 64, true, "B", 64); }), HasSubstr("divided twice, by the scale of A and by B's loss_scale 64.0"));
  EXPECT_THAT(message_of([] { train::check_loss_scales("A", 64, false, "B", 32); }), HasSubstr("A's is 64, B's 32.0 | give B(loss_scale=64)"));
  EXPECT_THROW(train::check_loss_scales("A", 64, false, "B", 1), ValueError);
  EXPECT_NO_THROW(train::check_loss_scales("A", 64, false, "B", 1, true)) << "only a warning";
}

}  // namespace policy_samples
}  // namespace sindri::amp
