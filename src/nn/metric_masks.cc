// Agreement of two masks: their overlap, and the distances between their surfaces (MindSpore: train.Dice,
// HausdorffDistance, MeanSurfaceDistance, RootMeanSquareDistance).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "src/nn/metric_checks.h"

namespace sindri::nn {

namespace {

class Dice final : public Metric {
 public:
  explicit Dice(double smooth) : smooth_(smooth) {}
  void clear() override { sum_ = 0, samples_ = 0; }
  bool empty() const override { return samples_ == 0; }
  bool scores_classes() const override { return false; }
  bool adds_up() const override { return true; }
  std::vector<double> eval() const override {
    check_counted("Dice", samples_ > 0);
    return {sum_ / static_cast<double>(samples_)};
  }
  std::map<std::string, std::vector<double>> counts() const override { return {{"dice_coeff_sum", {sum_}}, {"samples_num", {static_cast<double>(samples_)}}}; }

 protected:
  void add(const std::vector<Tensor>& in) override {
    check_inputs("Dice", in, 2);
    if (in[0].shape() != in[1].shape() || in[0].rank() < 1)
      throw ShapeError(fmt::format("Dice: predictions {} and labels {} must have one shape [N, ...]", in[0].meta().str(), in[1].meta().str()));
    const std::vector<double> p = in[0].to_vector<double>(), t = in[1].to_vector<double>();
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); };
    sum_ += 2 * dot(p, t) / (dot(p, p) + dot(t, t) + smooth_);
    samples_ += in[1].dim(0);
  }
  void archive(CountArchive& counts) override { counts(sum_)(samples_); }

 private:
  double smooth_, sum_ = 0;
  int64_t samples_ = 0;
};

struct Mask {
  std::vector<int64_t> dims;
  std::vector<char> in;  // row-major

  // Returns the position of element i along each axis.
  std::vector<int64_t> position(size_t i) const {
    std::vector<int64_t> at(dims.size());
    for (size_t a = dims.size(); a-- > 0; i /= static_cast<size_t>(dims[a])) at[a] = static_cast<int64_t>(i % static_cast<size_t>(dims[a]));
    return at;
  }
};

// Crops to the smallest box around all points of either mask and drops its axes of length 1, so that a flat object has
// a surface of its dimension.
void crop(Mask* a, Mask* b) {
  std::vector<int64_t> low = a->dims, high(a->dims.size(), 0);
  for (size_t i = 0; i < a->in.size(); ++i) {
    if (!a->in[i] && !b->in[i]) continue;
    const std::vector<int64_t> at = a->position(i);
    for (size_t d = 0; d < at.size(); ++d) low[d] = std::min(low[d], at[d]), high[d] = std::max(high[d], at[d] + 1);
  }
  std::vector<int64_t> dims;
  for (size_t d = 0; d < low.size(); ++d)
    if (high[d] - low[d] > 1) dims.push_back(high[d] - low[d]);
  for (Mask* m : {a, b}) {
    std::vector<char> inside;
    for (size_t i = 0; i < m->in.size(); ++i) {
      const std::vector<int64_t> at = m->position(i);
      bool in_box = true;
      for (size_t d = 0; d < at.size(); ++d) in_box &= at[d] >= low[d] && at[d] < high[d];
      if (in_box) inside.push_back(m->in[i]);
    }
    *m = {dims, std::move(inside)};
  }
}

// Returns the surface of a mask, as concatenated positions: the mask's points that lie at the border or have a neighbour along an axis outside of the mask.
std::vector<int64_t> surface(const Mask& m) {
  std::vector<size_t> stride(m.dims.size(), 1);
  for (size_t d = m.dims.size(); d-- > 1;) stride[d - 1] = stride[d] * static_cast<size_t>(m.dims[d]);
  std::vector<int64_t> out;
  for (size_t i = 0; i < m.in.size(); ++i) {
    if (!m.in[i]) continue;
    const std::vector<int64_t> at = m.position(i);
    bool outer = false;
    for (size_t d = 0; d < at.size() && !outer; ++d) outer = at[d] == 0 || at[d] == m.dims[d] - 1 || !m.in[i - stride[d]] || !m.in[i + stride[d]];
    if (outer) out.insert(out.end(), at.begin(), at.end());
  }
  return out;
}

enum class Norm { kEuclidean, kChessboard, kTaxicab };

// Returns the distance from each point of `from` to the nearest of `to`; infinity if there is none. All pairs are
// compared: surfaces are small compared with the images.
std::vector<double> distances(const std::vector<int64_t>& from, const std::vector<int64_t>& to, size_t axes, Norm norm) {
  std::vector<double> out;
  for (size_t i = 0; i < from.size(); i += axes) {
    int64_t nearest = std::numeric_limits<int64_t>::max();
    for (size_t j = 0; j < to.size(); j += axes) {
      int64_t gap = 0;
      for (size_t d = 0; d < axes; ++d) {
        const int64_t along = std::abs(from[i + d] - to[j + d]);
        gap = norm == Norm::kEuclidean ? gap + along * along : norm == Norm::kTaxicab ? gap + along : std::max(gap, along);
      }
      nearest = std::min(nearest, gap);
    }
    const auto d = static_cast<double>(nearest);
    out.push_back(to.empty() ? std::numeric_limits<double>::infinity() : norm == Norm::kEuclidean ? std::sqrt(d) : d);
  }
  return out;
}

double mean(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }
double mean_square(const std::vector<double>& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0) / static_cast<double>(v.size()); }

// Interpolates linearly between the values that are adjacent in rank.
double percentile(std::vector<double> v, double percent) {
  std::sort(v.begin(), v.end());
  const double at = percent / 100 * static_cast<double>(v.size() - 1);
  const auto low = static_cast<size_t>(at), high = std::min(low + 1, v.size() - 1);
  return v[low] == v[high] ? v[low] : v[low] + (v[high] - v[low]) * (at - std::floor(at));
}

// The distance for the latest update, as in MindSpore.
class SurfaceDistance final : public Metric {
 public:
  using Distances = std::function<std::vector<double>()>;
  using OfBoth = double (*)(const Distances& there, const Distances& back, const SettingValues&);
  /// both: reduces the distances from the prediction's surface to the label's and back, which are computed on request.
  SurfaceDistance(const char* who, const SettingValues& settings, bool crops, OfBoth both) : who_(who), settings_(settings), crops_(crops), both_(both) {
    const std::string& name = settings.get_string("distance_metric");
    norm_ = name == "euclidean" ? Norm::kEuclidean : name == "chessboard" ? Norm::kChessboard : Norm::kTaxicab;
  }
  void clear() override { updated_ = false, predicted_.clear(), actual_.clear(); }
  bool empty() const override { return !updated_; }
  bool scores_classes() const override { return false; }
  std::vector<double> eval() const override {
    check_counted(who_, updated_);
    const auto axes = static_cast<size_t>(axes_);
    return {both_([&] { return distances(predicted_, actual_, axes, norm_); }, [&] { return distances(actual_, predicted_, axes, norm_); }, settings_)};
  }

 protected:
  void add(const std::vector<Tensor>& in) override {
    check_inputs(who_, in, 3);
    if (in[0].numel() == 0 || in[0].shape() != in[1].shape())
      throw ShapeError(fmt::format("{}: predictions {} and labels {} must have one shape and must not be empty", who_, in[0].meta().str(), in[1].meta().str()));
    const double label = in[2].item();
    bool found = false;
    Mask masks[2];
    for (size_t k = 0; k < 2; ++k) {
      const std::vector<double> values = in[k].to_vector<double>();
      found |= std::find(values.begin(), values.end(), label) != values.end();
      masks[k].dims.assign(in[k].shape().begin(), in[k].shape().end());
      for (const double v : values) masks[k].in.push_back(in[k].dtype() == DType::kBool ? v != 0 : v == label);
    }
    if (!found) throw ValueError(fmt::format("{}: the label {} occurs neither in the prediction nor in the truth", who_, label));
    if (crops_) crop(&masks[0], &masks[1]);
    axes_ = static_cast<int64_t>(masks[0].dims.size());
    predicted_ = surface(masks[0]);
    actual_ = surface(masks[1]);
    updated_ = true;
  }
  void archive(CountArchive& counts) override { counts(updated_)(axes_)(predicted_)(actual_); }

 private:
  const char* who_;
  SettingValues settings_;
  bool crops_;
  OfBoth both_;
  Norm norm_;
  bool updated_ = false;
  int64_t axes_ = 0;
  std::vector<int64_t> predicted_, actual_;  // points of the surfaces, `axes_` numbers each
};

constexpr double kFar = std::numeric_limits<double>::infinity();  // the distance to a missing surface

using Distances = SurfaceDistance::Distances;

double hausdorff(const Distances& there, const Distances& back, const SettingValues& v) {
  const auto largest = [&](const std::vector<double>& d) { return d.empty() ? kFar : percentile(d, v.get_float("percentile")); };
  return v.get_bool("directed") ? largest(there()) : std::max(largest(there()), largest(back()));
}

// Returns f of one direction, or the mean of both.
template <class F> double of_directions(const Distances& there, const Distances& back, bool both, F&& f) {
  const std::vector<double> a = there(), b = both ? back() : a;
  if (a.empty() || b.empty()) return kFar;
  return both ? (f(a) + f(b)) / 2 : f(a);
}

double mean_distance(const Distances& there, const Distances& back, const SettingValues& v) {
  return of_directions(there, back, v.get_bool("symmetric"), mean);
}

// Takes the root only if the distance is symmetric, as in MindSpore.
double root_mean_square(const Distances& there, const Distances& back, const SettingValues& v) {
  const double square = of_directions(there, back, v.get_bool("symmetric"), mean_square);
  return v.get_bool("symmetric") ? std::sqrt(square) : square;
}

const bool kMaskMetrics = [] {
  metrics().add({.name = "dice",
                 .doc = "2·p·y / (p·p + y·y + smooth) of each batch, summed and divided by the number of samples",
                 .settings = {{.name = "smooth", .type = SettingType::kFloat, .fallback = "1e-5", .doc = "keeps the divisor away from 0", .min = 1e-300}},
                 .code_only = true,
                 .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<Dice>(v.get_float("smooth")); }});
  const SettingSpec norm{.name = "distance_metric",
                         .type = SettingType::kString,
                         .fallback = "euclidean",
                         .doc = "how far apart two points are",
                         .choices = "euclidean|chessboard|taxicab"};
  const SettingSpec symmetric{.name = "symmetric", .type = SettingType::kBool, .fallback = "false", .doc = "both directions instead of prediction to truth"};
  metrics().add(
      {.name = "hausdorff_distance",
       .doc = "the largest distance of a surface point of one mask to the other's surface; masks are where prediction and truth equal a label",
       .settings = {norm,
                    {.name = "percentile", .type = SettingType::kFloat, .fallback = "100", .doc = "of the distances", .min = 0, .max = 100},
                    {.name = "directed", .type = SettingType::kBool, .fallback = "false", .doc = "prediction to truth only"},
                    {.name = "crop", .type = SettingType::kBool, .fallback = "true", .doc = "looks at the box around both masks only"}},
       .code_only = true,
       .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<SurfaceDistance>("HausdorffDistance", v, v.get_bool("crop"), hausdorff); }});
  metrics().add(
      {.name = "mean_surface_distance",
       .doc = "the mean distance of the prediction's surface points to the truth's surface",
       .settings = {symmetric, norm},
       .code_only = true,
       .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<SurfaceDistance>("MeanSurfaceDistance", v, false, mean_distance); }});
  metrics().add(
      {.name = "root_mean_square_distance",
       .doc = "the mean square distance of the prediction's surface points to the truth's; with symmetric, the root of that of both directions",
       .settings = {symmetric, norm},
       .code_only = true,
       .make = [](const SettingValues& v) -> MetricPtr { return std::make_shared<SurfaceDistance>("RootMeanSquareDistance", v, false, root_mean_square); }});
  return true;
}();

}  // namespace

}  // namespace sindri::nn
