// See event_extras.h.
#include "src/app/event_extras.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/app/session.h"
#include "src/train/atomic_file.h"
#include "src/train/png.h"

namespace sindri::app {

namespace {

constexpr int64_t kMostSamples = 16, kMostPixels = 256;  // images side by side, and the longer edge of one
constexpr int64_t kMaxPlot = int64_t{16} << 20;

// Reads a big-endian number of a PNG's header.
int64_t png_number(const std::string& png, size_t at) {
  int64_t v = 0;
  for (size_t i = at; i < at + 4; ++i) v = v << 8 | static_cast<uint8_t>(png[i]);
  return v;
}

// Arranges samples (N, C, H, W) in a grid. Each is stretched from its darkest to its brightest value, since samples are normalised.
class Mosaic {
 public:
  Mosaic(const Tensor& batch, int64_t samples)
      : channels_(batch.shape()[1]),
        height_(batch.shape()[2]),
        width_(batch.shape()[3]),
        columns_(std::min<int64_t>(samples, 4)),
        rows_((samples + columns_ - 1) / columns_),
        values_(batch.data<float>()) {
    thin_ = std::max<int64_t>(1, (std::max(height_, width_) + kMostPixels - 1) / kMostPixels);
    cell_height_ = height_ / thin_, cell_width_ = width_ / thin_;
    pixels_.assign(static_cast<size_t>(height() * width() * channels_), '\0');
    for (int64_t i = 0; i < samples; ++i) place(i);
  }
  int64_t height() const { return rows_ * cell_height_; }
  int64_t width() const { return columns_ * cell_width_; }
  std::string png() const { return train::png(height(), width(), channels_, pixels_); }

 private:
  void place(int64_t sample) {
    const int64_t area = height_ * width_, top = sample / columns_ * cell_height_, left = sample % columns_ * cell_width_;
    const float* const first = values_ + sample * channels_ * area;
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (const float* v = first; v != first + channels_ * area; ++v) {
      if (std::isfinite(*v)) low = std::min(low, *v), high = std::max(high, *v);
    }
    const float range = high > low ? high - low : 1;
    for (int64_t y = 0; y < cell_height_; ++y) {
      for (int64_t x = 0; x < cell_width_; ++x) {
        for (int64_t c = 0; c < channels_; ++c) {
          const float v = first[c * area + y * thin_ * width_ + x * thin_];
          const float level = std::isfinite(v) ? (v - low) / range * 255 : 0;
          pixels_[static_cast<size_t>(((top + y) * width() + left + x) * channels_ + c)] = static_cast<char>(static_cast<uint8_t>(std::lround(level)));
        }
      }
    }
  }
  int64_t channels_, height_, width_, columns_, rows_, thin_ = 1, cell_height_ = 0, cell_width_ = 0;
  const float* values_;
  std::string pixels_;
};

}  // namespace

void record_texts(Session* s) {
  std::string code;
  const std::string yaml = s->settings.to_yaml();
  for (size_t start = 0; start < yaml.size();) {  // indented text is code in Markdown
    const size_t end = std::min(yaml.find('\n', start), yaml.size());
    code += "    " + yaml.substr(start, end - start) + "\n";
    start = end + 1;
  }
  const std::string run = fmt::format("{}\n\n{} parameters\n\n    {}\n", s->plot.title, s->network->num_parameters(), s->request.command_line);
  // A process that was killed early may have written one of them, or none.
  if (!s->folder->holds_events("settings")) s->folder->text("settings", 0, code);
  if (!s->folder->holds_events("run")) s->folder->text("run", 0, run);
}

void record_samples(Session* s) {
  const auto it = s->data.eval->create_iterator({.num_epochs = 1, .on_corrupt = on_corrupt_in_eval(s->settings)});
  std::vector<Tensor> batch;
  if (!it->next(&batch) || batch.empty()) return;
  const Tensor images = (s->data.prepare ? s->data.prepare(batch[0]) : batch[0]).contiguous();
  const Shape shape = images.shape();
  if (images.dtype() != DType::kFloat32 || shape.rank() != 4 || (shape[1] != 1 && shape[1] != 3)) return;  // not images in the net's form
  const Mosaic mosaic(images, std::min<int64_t>(shape[0], kMostSamples));
  s->folder->image("images/evaluation", s->steps_done, mosaic.height(), mosaic.width(), mosaic.png());
}

void record_histograms(Session* s) {
  for (const auto& [name, parameter] : s->network->parameters_and_names())
    s->folder->histogram("weights/" + name, s->steps_done, parameter->stored().to_vector<double>());
}

void record_plot(Session* s) {
  const std::string png = train::read_small_file(s->report.plot, kMaxPlot, "plot");
  if (png.size() > 24) s->folder->image("report", s->steps_done, png_number(png, 20), png_number(png, 16), png);
}

}  // namespace sindri::app
