// Graph mode and eager mode train alike: the losses of the first 20 steps of ResNet-20 are the same bits, with and without graph passes.
#include <gtest/gtest.h>

#include "tests/app/program.h"

namespace sindri::app {
namespace {

struct Variant {
  std::string name, mode;
  std::map<std::string, std::string> environment;
};

std::map<int64_t, std::vector<std::string>> train_20_steps(const TempFolder& temp, const Variant& v) {
  std::vector<std::string> a = {"train", "--quiet"};
  for (const std::string& s : {std::string("model.name=resnet20"), "data.path=" + temp.file("data"), "train.run_dir=" + temp.file(v.name),
                               std::string("train.batch_size=8"), std::string("train.epochs=4"), std::string("train.max_steps=20"),
                               std::string("train.eval_interval=0"), std::string("lr.max=0.05"), "train.mode=" + v.mode}) {
    a.insert(a.end(), {"--set", s});
  }
  const Result r = run(a, {.environment = v.environment});
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.err;
  return step_losses(temp.file(v.name));
}

TEST(Modes, SameLossBits) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"));
  const auto eager = train_20_steps(temp, {"pynative", "pynative", {}});
  ASSERT_EQ(eager.size(), 20u);
  EXPECT_NE(eager.at(1), eager.at(20)) << "a net that learns nothing would always agree";
  for (const Variant& v : {Variant{"graph", "graph", {}}, Variant{"no_passes", "graph", {{"SINDRI_DISABLE_PASSES", "all"}}}}) {
    SCOPED_TRACE(v.name);
    EXPECT_EQ(train_20_steps(temp, v), eager);
  }
}

TEST(Modes, SameLossBitsForAnyNumberOfThreadsInStrictMode) {
  const TempFolder temp;
  make_jpeg_data(temp.file("data"));
  const auto one = train_20_steps(temp, {"one", "graph", {{"SINDRI_STRICT", "1"}, {"OMP_NUM_THREADS", "1"}}});
  ASSERT_EQ(one.size(), 20u);
  EXPECT_EQ(train_20_steps(temp, {"two", "graph", {{"SINDRI_STRICT", "1"}, {"OMP_NUM_THREADS", "2"}}}), one);
}

}  // namespace
}  // namespace sindri::app
