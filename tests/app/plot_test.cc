// The plot of a run: size, colours in the right places, unusual inputs.
#include "sindri/app/plot.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/core/error.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::app {
namespace {

struct Pixels {
  explicit Pixels(const std::string& path) : surface(cairo_image_surface_create_from_png(path.c_str())) {}
  ~Pixels() { cairo_surface_destroy(surface); }
  int width() const { return cairo_image_surface_get_width(surface); }
  int height() const { return cairo_image_surface_get_height(surface); }
  // Counts pixels whose blue (or red) is far above the other.
  std::pair<int64_t, int64_t> blue_and_red() const {
    int64_t blue = 0, red = 0;
    for (int y = 0; y < height(); ++y) {
      const auto* row = reinterpret_cast<const uint32_t*>(cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface));
      for (int x = width() / 2 + 40; x < width(); ++x) {
        const int r = static_cast<int>(row[x] >> 16 & 255), b = static_cast<int>(row[x] & 255);
        blue += b > r + 60;
        red += r > b + 60;
      }
    }
    return {blue, red};
  }
  cairo_surface_t* surface;
};

RunPlot sample(size_t classes) {
  RunPlot p;
  p.title = "digits";
  p.loss = {{"training", {2, 1, 0.5}}, {"test", {2.1, std::nan(""), 0.7}}};
  p.accuracy = {{"test", {0.5, 0.75, 0.9}}};
  p.confusion.assign(classes, std::vector<int64_t>(classes, 0));
  for (size_t i = 0; i < classes; ++i) p.confusion[i][i] = 10;
  return p;
}

TEST(Picture, AValueAloneIsSeenAmongManySteps) {
  const TempFolder folder;
  RunPlot p;
  p.unit = "step";
  p.loss = {{"training", std::vector<double>(200, 1.0)}, {"evaluation", std::vector<double>(200, std::nan(""))}};
  p.loss[0].values[0] = 3;
  write_plot(p, folder.file("without.png"));
  p.loss[1].values.back() = 2;
  write_plot(p, folder.file("with.png"));
  EXPECT_NE(train::read_all(folder.file("with.png")), train::read_all(folder.file("without.png")));
}

TEST(Picture, RightIsBlueAndWrongIsRed) {
  const TempFolder folder;
  const std::string path = folder.file("p.png");
  RunPlot p = sample(10);
  write_plot(p, path);
  const Pixels all_right(path);
  EXPECT_EQ(all_right.width(), 1360);
  EXPECT_EQ(all_right.height(), 760);
  EXPECT_GT(all_right.blue_and_red().first, 20000);
  EXPECT_EQ(all_right.blue_and_red().second, 0);
  for (auto& row : p.confusion) std::rotate(row.begin(), row.begin() + 1, row.end());
  write_plot(p, path);
  const Pixels all_wrong(path);
  EXPECT_LT(all_wrong.blue_and_red().first, 100);
  EXPECT_GT(all_wrong.blue_and_red().second, 20000);
}

TEST(Picture, OddInputsAreDrawn) {
  const TempFolder folder;
  const double inf = std::numeric_limits<double>::infinity();
  RunPlot p = sample(0);
  write_plot(p, folder.file("no matrix.png"));
  write_plot({}, folder.file("empty.png"));
  p.loss = {{"a", {inf, std::nan("")}}, {"b", {}}, {"c", {5}}, {"d", {-1e30, 1e30}}, {"e", {1e-30, 2e-30}}};
  p.accuracy = {{"x", {1, 1}}};
  write_plot(p, folder.file("values.png"));
  p = sample(100);
  p.class_names.assign(100, "ein sehr langer Name für eine Klasse");
  write_plot(p, folder.file("hundred.png"));
  for (const char* name : {"no matrix.png", "empty.png", "values.png", "hundred.png"}) EXPECT_EQ(Pixels(folder.file(name)).width(), 1360) << name;
}

TEST(Picture, AMatrixAloneHasThePageToItself) {
  const TempFolder folder;
  RunPlot p = sample(10);
  p.loss.clear();
  p.accuracy.clear();
  write_plot(p, folder.file("matrix.png"));
  EXPECT_EQ(Pixels(folder.file("matrix.png")).width(), 820);
}

TEST(Picture, RefusesWhatDoesNotFit) {
  const TempFolder folder;
  RunPlot p = sample(3);
  p.class_names = {"a", "b"};
  EXPECT_THROW(write_plot(p, folder.file("p.png")), ValueError);
  p = sample(3);
  p.confusion[1].pop_back();
  EXPECT_THROW(write_plot(p, folder.file("p.png")), ValueError);
  EXPECT_THROW(write_plot(sample(3), folder.file("no/p.png")), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sindri::app
