// See `sindri/app/plot.h`. Draws with cairo: two charts on the left, the matrix on the right.
#include "sindri/app/plot.h"

#include <cairo.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "sindri/core/error.h"
#include "src/core/installation.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

struct Color {
  double r, g, b;
};
constexpr Color kInk{0.15, 0.17, 0.2}, kFaint{0.45, 0.48, 0.52}, kGrid{0.9, 0.91, 0.92};
constexpr Color kCurves[] = {{0.12, 0.38, 0.75}, {0.87, 0.45, 0.1}, {0.16, 0.55, 0.3}, {0.6, 0.25, 0.6}};

struct Box {
  double x, y, w, h;
};
enum class Align { kLeft, kCenter, kRight };

// A package that includes its libraries includes a font too, as a machine may have none. Otherwise the machine's fonts are used.
void use_own_font() {
  static const bool done = [] {
    const std::string regular = find_installed("", "fonts/DejaVuSans.ttf"), bold = find_installed("", "fonts/DejaVuSans-Bold.ttf");
    if (regular.empty() || bold.empty()) return false;
    FcConfig* const fonts = FcConfigCreate();
    for (const std::string& file : {regular, bold}) FcConfigAppFontAddFile(fonts, reinterpret_cast<const FcChar8*>(file.c_str()));
    FcConfigSetCurrent(fonts);
    return true;
  }();
  (void)done;
}

class Canvas {
 public:
  Canvas(int width, int height) : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)), cr_(cairo_create(surface_)) {
    use_own_font();
    cairo_set_source_rgb(cr_, 1, 1, 1);
    cairo_paint(cr_);
    cairo_select_font_face(cr_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  }
  ~Canvas() {
    cairo_destroy(cr_);
    cairo_surface_destroy(surface_);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void color(Color c) { cairo_set_source_rgb(cr_, c.r, c.g, c.b); }
  double text_width(const std::string& s, double size) {
    cairo_set_font_size(cr_, size);
    cairo_text_extents_t e;
    cairo_text_extents(cr_, s.c_str(), &e);
    return e.x_advance;
  }
  // `y` is the vertical centre of the letters.
  void text(const std::string& s, double x, double y, double size, Align align, Color c = kInk, bool bold = false) {
    cairo_select_font_face(cr_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    const double w = text_width(s, size);
    color(c);
    cairo_move_to(cr_, align == Align::kLeft ? x : align == Align::kCenter ? x - w / 2 : x - w, y + size * 0.36);
    cairo_show_text(cr_, s.c_str());
    cairo_select_font_face(cr_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  }
  void vertical_text(const std::string& s, double x, double y, double size) {
    cairo_save(cr_);
    cairo_translate(cr_, x, y);
    cairo_rotate(cr_, -M_PI / 2);
    text(s, 0, 0, size, Align::kCenter, kFaint);
    cairo_restore(cr_);
  }
  void line(double x0, double y0, double x1, double y1, double width, Color c) {
    color(c);
    cairo_set_line_width(cr_, width);
    cairo_move_to(cr_, x0, y0);
    cairo_line_to(cr_, x1, y1);
    cairo_stroke(cr_);
  }
  void fill(const Box& b, Color c) {
    color(c);
    cairo_rectangle(cr_, b.x, b.y, b.w, b.h);
    cairo_fill(cr_);
  }
  void dot(double x, double y, double radius, Color c) {
    color(c);
    cairo_arc(cr_, x, y, radius, 0, 2 * M_PI);
    cairo_fill(cr_);
  }
  cairo_t* cr() { return cr_; }
  std::string png() {
    std::string out;
    const auto append = [](void* closure, const unsigned char* data, unsigned int n) {
      static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), n);
      return CAIRO_STATUS_SUCCESS;
    };
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface_, append, &out);
    if (status != CAIRO_STATUS_SUCCESS) throw InternalError(fmt::format("cannot encode the plot: {}", cairo_status_to_string(status)));
    return out;
  }

 private:
  cairo_surface_t* surface_;
  cairo_t* cr_;
};

// 1, 2 or 5 times a power of ten, so that about `count` steps cover `range`.
double nice_step(double range, int count) {
  const double raw = range / count, power = std::pow(10, std::floor(std::log10(raw))), m = raw / power;
  return (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10) * power;
}
std::string tick_text(double v, double step) {
  return fmt::format("{:.{}f}", v == 0 ? 0 : v, std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))));
}

struct Range {
  double low, high;
};
Range range_of(const std::vector<Curve>& curves, bool share) {
  Range r{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Curve& c : curves) {
    for (const double v : c.values) {
      if (std::isfinite(v)) r = {std::min(r.low, v), std::max(r.high, v)};
    }
  }
  if (r.low > r.high) return {0, 1};
  if (share) r.high = 1;
  else r.low = std::min(r.low, 0.0);
  if (r.high - r.low < 1e-12) return {r.low - 0.5, r.high + 0.5};
  return share ? r : Range{r.low, r.high + (r.high - r.low) * 0.05};
}

// In the title's line, right-aligned, so that no curve can cross it.
void draw_legend(Canvas& c, const Box& box, const std::vector<Curve>& curves) {
  double x = box.x + box.w - 8;
  for (size_t i = curves.size(); i-- > 0;) {
    if (curves[i].values.empty()) continue;
    x -= c.text_width(curves[i].name, 14);
    c.text(curves[i].name, x, box.y + 10, 14, Align::kLeft);
    c.line(x - 26, box.y + 10, x - 8, box.y + 10, 3, kCurves[i % std::size(kCurves)]);
    x -= 44;
  }
}

// The position of a curve's value: epochs and steps are counted from 1.
double place(const Curve& curve, size_t i) { return curve.at.empty() ? static_cast<double>(i + 1) : curve.at[i]; }

void draw_curve(Canvas& c, const Curve& curve, Color color, bool dots, const std::function<double(double)>& px, const std::function<double(double)>& py) {
  const std::vector<double>& v = curve.values;
  bool pen_down = false;
  c.color(color);
  cairo_set_line_width(c.cr(), 2.5);
  cairo_set_line_join(c.cr(), CAIRO_LINE_JOIN_ROUND);
  for (size_t e = 0; e < v.size(); ++e) {
    if (std::isfinite(v[e])) (pen_down ? cairo_line_to : cairo_move_to)(c.cr(), px(place(curve, e)), py(v[e]));
    pen_down = std::isfinite(v[e]);
  }
  cairo_stroke(c.cr());
  const auto alone = [&](size_t e) { return (e == 0 || !std::isfinite(v[e - 1])) && (e + 1 >= v.size() || !std::isfinite(v[e + 1])); };
  for (size_t e = 0; e < v.size(); ++e)
    if (std::isfinite(v[e]) && (dots || alone(e))) c.dot(px(place(curve, e)), py(v[e]), 3.5, color);
}

void draw_chart(Canvas& c, const Box& box, const std::string& title, const std::string& unit, const std::vector<Curve>& curves, bool share) {
  c.text(title, box.x, box.y + 10, 17, Align::kLeft, kInk, true);
  const Box plot{box.x + 52, box.y + 32, box.w - 60, box.h - 76};
  // Counted values start at 1, at the left edge. With explicit positions the axis starts at 0.
  double first = 1, last = 0;
  size_t most = 0;
  bool whole = true;  // positions are whole numbers
  for (const Curve& curve : curves) {
    if (curve.values.empty()) continue;
    if (!curve.at.empty()) first = 0;
    for (const double at : curve.at) whole = whole && at == std::floor(at);
    last = std::max(last, place(curve, curve.values.size() - 1));
    most = std::max(most, curve.values.size());
  }
  last = std::max(last, first);
  Range r = range_of(curves, share);
  const double step = nice_step(r.high - r.low, 5);
  r.low = std::floor(r.low / step + 1e-9) * step;
  const auto px = [&](double at) { return plot.x + (last == first ? plot.w / 2 : (at - first) / (last - first) * plot.w); };
  const auto py = [&](double v) { return plot.y + plot.h - (v - r.low) / (r.high - r.low) * plot.h; };
  for (double v = r.low; v <= r.high + step * 1e-6; v += step) {
    c.line(plot.x, py(v), plot.x + plot.w, py(v), 1, kGrid);
    c.text(tick_text(v, step), plot.x - 8, py(v), 13, Align::kRight, kFaint);
  }
  const double least = whole ? 1 : 0, x_step = last > 0 ? std::max(least, nice_step(last, 8)) : 1;
  for (double at = first; at <= last * (1 + 1e-9); at += at == 1 && x_step > 1 ? x_step - 1 : x_step)
    c.text(tick_text(at, x_step), px(at), plot.y + plot.h + 14, 13, Align::kCenter, kFaint);
  c.line(plot.x, plot.y + plot.h, plot.x + plot.w, plot.y + plot.h, 1.5, kFaint);
  c.text(unit, plot.x + plot.w / 2, plot.y + plot.h + 34, 13, Align::kCenter, kFaint);
  for (size_t i = 0; i < curves.size(); ++i) draw_curve(c, curves[i], kCurves[i % std::size(kCurves)], most <= 40, px, py);
  draw_legend(c, box, curves);
}

std::string class_name(const RunPlot& p, size_t i) { return p.class_names.empty() ? std::to_string(i) : p.class_names[i]; }

// Shortens a text to fit `width`, at a UTF-8 character boundary.
std::string fitted(Canvas& c, std::string s, double size, double width) {
  if (c.text_width(s, size) <= width) return s;
  while (!s.empty() && c.text_width(s + "…", size) > width) {
    do s.pop_back();
    while (!s.empty() && (static_cast<unsigned char>(s.back()) & 0xC0u) == 0x80u);
    while (!s.empty() && static_cast<unsigned char>(s.back()) >= 0xC0u) s.pop_back();
  }
  return s + "…";
}

void draw_confusion(Canvas& c, const Box& box, const RunPlot& p) {
  const size_t n = p.confusion.size();
  int64_t right = 0, all = 0;
  for (size_t i = 0; i < n; ++i) {
    right += p.confusion[i][i];
    for (const int64_t v : p.confusion[i]) all += v;
  }
  c.text(fmt::format("Confusion matrix: {} of {} right", right, all), box.x + 40, box.y + 10, 17, Align::kLeft, kInk, true);
  const double label = p.class_names.empty() ? 40 : 96, side = std::min(box.w - label - 24, box.h - 110);
  const Box grid{box.x + 24 + label, box.y + 32, side, side};
  const double cell = side / static_cast<double>(n), font = std::min(15.0, cell * 0.42);
  // Labels must not overlap: rows need the height of a letter, columns the width of three digits.
  const auto every = [&](double pixels) { return std::max<size_t>(1, static_cast<size_t>(std::ceil(pixels / cell))); };
  const size_t row_step = every(14), column_step = every(32);
  for (size_t i = 0; i < n; ++i) {
    int64_t row = 0;
    for (const int64_t v : p.confusion[i]) row += v;
    for (size_t j = 0; j < n; ++j) {
      const int64_t v = p.confusion[i][j];
      const double share = row == 0 ? 0 : static_cast<double>(v) / static_cast<double>(row);
      // The square root makes rare mistakes visible; correct and wrong have different colours.
      const double t = std::sqrt(share);
      const Color strong = i == j ? kCurves[0] : Color{0.8, 0.22, 0.15};
      const Box b{grid.x + static_cast<double>(j) * cell, grid.y + static_cast<double>(i) * cell, cell, cell};
      c.fill({b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1},
             {1 - t * (1 - strong.r) - (1 - t) * 0.04, 1 - t * (1 - strong.g) - (1 - t) * 0.04, 1 - t * (1 - strong.b) - (1 - t) * 0.03});
      if (v > 0 && cell >= 20) c.text(std::to_string(v), b.x + cell / 2, b.y + cell / 2, font, Align::kCenter, t > 0.55 ? Color{1, 1, 1} : kInk);
    }
    const double middle = (static_cast<double>(i) + 0.5) * cell;
    if (i % row_step == 0) c.text(fitted(c, class_name(p, i), 13, label - 8), grid.x - 8, grid.y + middle, 13, Align::kRight, kFaint);
    if (i % column_step == 0)
      c.text(fitted(c, class_name(p, i), 13, cell * static_cast<double>(column_step) - 2), grid.x + middle, grid.y + side + 14, 13, Align::kCenter, kFaint);
  }
  c.vertical_text("true class", box.x + 12, grid.y + side / 2, 13);
  c.text("predicted class", grid.x + side / 2, grid.y + side + 34, 13, Align::kCenter, kFaint);
}

// From blue to red over the curves of a chart.
Color of_order(size_t i, size_t count) {
  const double t = count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
  const Color ends[] = {kCurves[0], kCurves[2], kCurves[1], {0.75, 0.15, 0.2}};
  const auto at = std::min<size_t>(2, static_cast<size_t>(t * 3));
  const double part = t * 3 - static_cast<double>(at);
  const auto mix = [part](double a, double b) { return a + (b - a) * part; };
  return {mix(ends[at].r, ends[at + 1].r), mix(ends[at].g, ends[at + 1].g), mix(ends[at].b, ends[at + 1].b)};
}

constexpr double kMargin = 36;
constexpr size_t kMostNames = 14;

// The range of all points: steps, and logarithms of values, at least one power of ten.
void ranges_of(const MeasureChart& chart, Range* x, Range* y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  *x = *y = {kInfinity, -kInfinity};
  for (const MeasureCurve& curve : chart.curves) {
    for (const auto& [step, value] : curve.points) {
      *x = {std::min(x->low, step), std::max(x->high, step)};
      if (value > 0 && std::isfinite(value)) *y = {std::min(y->low, std::log10(value)), std::max(y->high, std::log10(value))};
    }
  }
  if (x->low > x->high) *x = {0, 1};
  if (x->high - x->low < 1) *x = {x->low - 0.5, x->high + 0.5};
  *y = y->low > y->high ? Range{-1, 0} : Range{std::floor(y->low), std::max(std::ceil(y->high), std::floor(y->low) + 1)};
}

void draw_measures(Canvas& c, const Box& box, const MeasureChart& chart, const std::string& unit) {
  c.text(chart.title, box.x, box.y + 10, 17, Align::kLeft, kInk, true);
  const size_t count = chart.curves.size(), names = std::min(count, kMostNames);
  const Box plot{box.x + 52, box.y + 32, box.w - 60, box.h - 90 - 18 * static_cast<double>((names + 1) / 2)};
  Range x, y;
  ranges_of(chart, &x, &y);
  const auto px = [&](double step) { return plot.x + (step - x.low) / (x.high - x.low) * plot.w; };
  const auto py = [&](double power) { return plot.y + plot.h - (power - y.low) / (y.high - y.low) * plot.h; };
  const double each = std::max(1.0, std::ceil((y.high - y.low) / 8));
  for (double v = y.low; v <= y.high; v += each) {
    c.line(plot.x, py(v), plot.x + plot.w, py(v), 1, kGrid);
    c.text(fmt::format("1e{:.0f}", v), plot.x - 8, py(v), 13, Align::kRight, kFaint);
  }
  const double step = std::max(1.0, nice_step(x.high - x.low, 6));
  for (double v = std::ceil(x.low / step) * step; v <= x.high; v += step) c.text(tick_text(v, 1), px(v), plot.y + plot.h + 14, 13, Align::kCenter, kFaint);
  c.line(plot.x, plot.y + plot.h, plot.x + plot.w, plot.y + plot.h, 1.5, kFaint);
  c.text(unit, plot.x + plot.w / 2, plot.y + plot.h + 34, 13, Align::kCenter, kFaint);
  for (size_t i = 0; i < count; ++i) {
    const Color color = of_order(i, count);
    bool pen_down = false;
    c.color(color);
    cairo_set_line_width(c.cr(), count > 12 ? 1.4 : 2.2);
    for (const auto& [at, value] : chart.curves[i].points) {
      const bool shown = value > 0 && std::isfinite(value);
      if (shown) (pen_down ? cairo_line_to : cairo_move_to)(c.cr(), px(at), py(std::log10(value)));
      pen_down = shown;
    }
    cairo_stroke(c.cr());
    if (chart.curves[i].points.size() > 40) continue;
    for (const auto& [at, value] : chart.curves[i].points)
      if (value > 0 && std::isfinite(value)) c.dot(px(at), py(std::log10(value)), count > 12 ? 2 : 3, color);
  }
  for (size_t k = 0; k < names; ++k) {  // in two columns, spread evenly over the curves if there are too many
    const size_t i = names < 2 ? 0 : k * (count - 1) / (names - 1);
    const double left = box.x + 52 + (k % 2 == 0 ? 0 : plot.w / 2), top = plot.y + plot.h + 58 + 18 * static_cast<double>(k / 2);
    c.line(left, top, left + 18, top, 3, of_order(i, count));
    c.text(fitted(c, chart.curves[i].name, 13, plot.w / 2 - 34), left + 26, top, 13, Align::kLeft);
  }
}

}  // namespace

void write_plot(const RunPlot& p, const std::string& path) {
  const size_t n = p.confusion.size();
  for (const auto& row : p.confusion) {
    if (row.size() != n)
      throw ValueError(fmt::format("write_plot: the confusion matrix has {} rows, one of them with {} columns; it must be square", n, row.size()));
  }
  if (n > 0 && !p.class_names.empty() && p.class_names.size() != n)
    throw ValueError(fmt::format("write_plot: {} class names for {} classes", p.class_names.size(), n));
  constexpr double kHeight = 760;
  const bool has_curves = n == 0 || !p.loss.empty() || !p.accuracy.empty();  // an evaluation has a matrix only
  const double width = has_curves ? 1360 : 820;
  const double charts = !has_curves ? 0 : n > 0 ? 600 : width - 2 * kMargin;
  Canvas c(static_cast<int>(width), static_cast<int>(kHeight));
  c.text(fitted(c, p.title, 22, width - 2 * kMargin), kMargin, 34, 22, Align::kLeft, kInk, true);
  const double top = 72, height = (kHeight - top - 20) / 2;
  if (has_curves) {
    draw_chart(c, {kMargin, top, charts, height}, "Loss", p.unit, p.loss, false);
    draw_chart(c, {kMargin, top + height, charts, height}, "Accuracy", p.unit, p.accuracy, true);
  }
  if (n > 0) draw_confusion(c, {kMargin + charts + 24, top, width - 2 * kMargin - charts - 24, kHeight - top - 10}, p);
  train::write_file_atomically(path, c.png(), "plot");
}

void write_measures(const std::vector<MeasureChart>& charts, const std::string& unit, const std::string& path) {
  constexpr double kWidth = 620, kHeight = 640;
  Canvas c(static_cast<int>(2 * kMargin + kWidth * static_cast<double>(std::max<size_t>(1, charts.size()))), static_cast<int>(kHeight + 2 * kMargin));
  for (size_t i = 0; i < charts.size(); ++i) draw_measures(c, {kMargin + kWidth * static_cast<double>(i), kMargin, kWidth - kMargin, kHeight}, charts[i], unit);
  train::write_file_atomically(path, c.png(), "plot");
}

}  // namespace sindri::app
