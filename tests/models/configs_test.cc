// Every file under configs/ loads without errors and describes a network, an optimizer and a schedule that can be created.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>

#include "sindri/app/settings.h"
#include "sindri/models/models.h"
#include "source_dir.h"
#include "src/app/build.h"

namespace sindri {
namespace {

TEST(Configs, EachOneBuilds) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SINDRI_SOURCE_DIR) + "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    SCOPED_TRACE(entry.path().filename().string());
    app::Settings s;
    ASSERT_NO_THROW(s.load_yaml(entry.path().string()));
    ASSERT_NO_THROW(s.validate());
    const std::string name = app::net_name(s);
    EXPECT_TRUE(entry.path().filename().string().starts_with(name.substr(0, name.find('_'))));
    const int64_t steps = 10;
    const std::vector<float> rates = app::learning_rates(s, steps);
    const int64_t covered = s.get_int("lr.total_steps");  // a schedule may cover more epochs than this run trains
    const int64_t updates = covered > 0 ? covered : steps * s.get_int("train.epochs");
    EXPECT_TRUE(rates.size() == 1 || static_cast<int64_t>(rates.size()) == updates) << rates.size() << " rates for " << updates << " updates";
    const float top = *std::max_element(rates.begin(), rates.end()), wanted = static_cast<float>(s.get_float("lr.max"));
    if (s.get_string("lr.schedule") == "epoch_poly") EXPECT_TRUE(top < wanted && top > 0.99f * wanted) << top;  // its first update is already below the maximum
    else EXPECT_FLOAT_EQ(top, wanted);
    // Other tests draw the large networks' weights; here only their names and settings count.
    if (models::default_num_classes(name) != 10) continue;
    const nn::CellPtr net = app::make_network(s, 10);
    EXPECT_GT(net->num_parameters(), 0);
    EXPECT_NO_THROW(app::make_optimizer(s, *net, rates));
  }
  EXPECT_EQ(files, 25);
}

// Reading a setting is a search by name, which costs more than the arithmetic: no update may read one.
TEST(Configs, RatesOfManyUpdatesCostTheirArithmetic) {
  using Clock = std::chrono::steady_clock;
  app::Settings s;
  for (const char* set : {"model.name=digits", "lr.schedule=cosine", "train.epochs=100000"}) s.set(set);
  const auto best = [](const std::function<void()>& f) {
    double seconds = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = Clock::now();
      f();
      seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
  };
  std::vector<float> rates(1'000'000);
  const double arithmetic = best([&] {
    for (size_t i = 0; i < rates.size(); ++i) rates[i] = static_cast<float>(0.05 * (1 + std::cos(3.14e-6 * static_cast<double>(i))));
  });
  const double all = best([&] { rates = app::learning_rates(s, 10); });
  EXPECT_EQ(rates.size(), 1'000'000u);
  EXPECT_LT(all, 8 * arithmetic);
}

}  // namespace
}  // namespace sindri
