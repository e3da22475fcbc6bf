// Colours and levels: lookup tables for bytes, OpenCV for weighted sums and colour spaces.
#include "dataset/transforms/colour.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "dataset/transforms/pixels_simd.h"

namespace sindri::dataset::colour {

namespace {

bool bytes(const cv::Mat& m) { return m.depth() == CV_8U; }
int64_t values(const cv::Mat& m) { return static_cast<int64_t>(m.total()) * m.channels(); }
const float* floats(const cv::Mat& m) { return m.ptr<float>(); }

/// y = table[channel][x] over interleaved channels.
void look_up(const cv::Mat& in, cv::Mat& out, const std::vector<std::array<uint8_t, 256>>& tables) {
  const uint8_t* x = in.ptr<uint8_t>();
  uint8_t* y = out.ptr<uint8_t>();
  const int64_t n = values(in);
  if (tables.size() == 1) {
    const auto& t = tables[0];
    for (int64_t i = 0; i < n; ++i) y[i] = t[x[i]];
    return;
  }
  if (tables.size() == 3) {
    const auto &r = tables[0], &g = tables[1], &b = tables[2];
    for (int64_t i = 0; i < n; i += 3) {
      y[i] = r[x[i]];
      y[i + 1] = g[x[i + 1]];
      y[i + 2] = b[x[i + 2]];
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i] = tables[static_cast<size_t>(i) % tables.size()][x[i]];
}

using Histogram = std::array<int, 256>;

/// Histogram of each channel. Neighbouring pixels are counted in separate arrays, since equal ones would wait for each other.
template <size_t C> std::vector<Histogram> histograms_of(const uint8_t* x, size_t pixels) {
  std::array<Histogram, C> even{}, odd{};
  size_t i = 0;
  for (; i + 2 <= pixels; i += 2, x += 2 * C) {
    for (size_t k = 0; k < C; ++k) {
      ++even[k][x[k]];
      ++odd[k][x[k + C]];
    }
  }
  for (size_t k = 0; i < pixels && k < C; ++k) ++even[k][x[k]];
  for (size_t k = 0; k < C; ++k) {
    for (size_t v = 0; v < 256; ++v) even[k][v] += odd[k][v];
  }
  return {even.begin(), even.end()};
}

std::vector<Histogram> histograms(const cv::Mat& in) {
  const uint8_t* const x = in.ptr<uint8_t>();
  switch (in.channels()) {
    case 1: return histograms_of<1>(x, in.total());
    case 2: return histograms_of<2>(x, in.total());
    case 3: return histograms_of<3>(x, in.total());
    default: return histograms_of<4>(x, in.total());
  }
}

std::array<uint8_t, 256> identity() {
  std::array<uint8_t, 256> t;
  for (size_t v = 0; v < 256; ++v) t[v] = static_cast<uint8_t>(v);
  return t;
}

/// Rotates the hue in double precision by sectors of the colour circle: OpenCV's floats would add rounding errors.
void hue_of_floats(const cv::Mat& in, cv::Mat& out, double circles) {
  const float* x = floats(in);
  float* y = out.ptr<float>();
  const int64_t pixels = static_cast<int64_t>(in.total());
  for (int64_t i = 0; i < pixels; ++i, x += 3, y += 3) {
    const double r = x[0], g = x[1], b = x[2];
    const double high = std::max({r, g, b}), span = high - std::min({r, g, b}), safe = span == 0 ? 1 : span;
    const double sector = high == r ? (g - b) / safe : high == g ? 2 + (b - r) / safe : 4 + (r - g) / safe;
    double place = std::fmod((span == 0 ? 0 : sector) + circles * 6, 6.0);
    if (place < 0) place += 6;
    static constexpr double kOffsets[] = {5, 3, 1};
    for (int c = 0; c < 3; ++c) {
      const double k = std::fmod(kOffsets[c] + place, 6.0);
      y[c] = static_cast<float>(high - span * std::clamp(std::min(k, 4 - k), 0.0, 1.0));
    }
  }
}

}  // namespace

void brightness(const cv::Mat& in, cv::Mat& out, double factor) { in.convertTo(out, -1, factor); }

void contrast(const cv::Mat& in, cv::Mat& out, double factor) {
  cv::Mat levels;
  cv::cvtColor(in, levels, cv::COLOR_RGB2GRAY);
  const double mean = cv::mean(levels)[0];
  if (!bytes(in)) return in.convertTo(out, -1, factor, mean * (1 - factor));
  // The table holds the weighted sum of two images for each level.
  const auto all = identity();
  std::array<uint8_t, 256> table;
  const cv::Mat level(1, 256, CV_8U, const_cast<uint8_t*>(all.data())), flat(1, 256, CV_8U, cv::Scalar(static_cast<int>(mean + 0.5)));
  cv::Mat becomes(1, 256, CV_8U, table.data());
  cv::addWeighted(flat, 1 - factor, level, factor, 0, becomes);
  look_up(in, out, {table});
}

void saturation(const cv::Mat& in, cv::Mat& out, double factor) {
  cv::Mat levels, three;
  cv::cvtColor(in, levels, cv::COLOR_RGB2GRAY);
  cv::cvtColor(levels, three, cv::COLOR_GRAY2RGB);
  cv::addWeighted(three, 1 - factor, in, factor, 0, out);
}

void hue(const cv::Mat& in, cv::Mat& out, double circles) {
  if (!bytes(in)) return hue_of_floats(in, out, circles);
  cv::Mat hsv;
  cv::cvtColor(in, hsv, cv::COLOR_RGB2HSV_FULL);
  SINDRI_SIMD_CALL(pixels_add_to_first)(hsv.ptr<uint8_t>(), values(hsv), static_cast<uint8_t>(static_cast<int>(circles * 255)));
  cv::cvtColor(hsv, out, cv::COLOR_HSV2RGB_FULL);
}

void sharpness(const cv::Mat& in, cv::Mat& out, double factor) {
  cv::Mat blurred = in.clone();
  if (in.rows > 2 && in.cols > 2) {
    if (bytes(in)) {
      const int64_t row = static_cast<int64_t>(in.cols) * in.channels();
      const auto blur = SINDRI_SIMD_CALL(pixels_blur_row);
      for (int y = 1; y + 1 < in.rows; ++y) blur(in.ptr(y - 1), in.ptr(y), in.ptr(y + 1), row, in.channels(), blurred.ptr(y));
    } else {
      const cv::Mat kernel = (cv::Mat_<float>(3, 3) << 1, 1, 1, 1, 5, 1, 1, 1, 1) / 13;
      const cv::Rect inside(1, 1, in.cols - 2, in.rows - 2);
      cv::Mat whole;
      cv::filter2D(in, whole, -1, kernel);
      whole(inside).copyTo(blurred(inside));
    }
  }
  cv::addWeighted(in, factor, blurred, 1 - factor, 0, out);
}

void invert(const cv::Mat& in, cv::Mat& out) {
  if (bytes(in)) SINDRI_SIMD_CALL(pixels_invert)(in.ptr<uint8_t>(), values(in), out.ptr<uint8_t>());
  else in.convertTo(out, -1, -1, 255);
}

void solarize(const cv::Mat& in, cv::Mat& out, double low, double high) {
  if (bytes(in)) {
    const double first = std::ceil(low), last = std::floor(high);
    if (first > 255 || last < first) {
      in.copyTo(out);
      return;
    }
    SINDRI_SIMD_CALL(pixels_solarize)
    (in.ptr<uint8_t>(), values(in), static_cast<uint8_t>(std::max(0.0, first)), static_cast<uint8_t>(std::min(255.0, last)), out.ptr<uint8_t>());
    return;
  }
  const float* x = floats(in);
  float* y = out.ptr<float>();
  for (int64_t i = 0, n = values(in); i < n; ++i) y[i] = x[i] >= low && x[i] <= high ? 255 - x[i] : x[i];
}

void posterize(const cv::Mat& in, cv::Mat& out, int bits) {
  SINDRI_SIMD_CALL(pixels_mask)(in.ptr<uint8_t>(), values(in), static_cast<uint8_t>(255 - ((1 << (8 - bits)) - 1)), out.ptr<uint8_t>());
}

void equalize(const cv::Mat& in, cv::Mat& out) {
  const int pixels = static_cast<int>(in.total());
  std::vector<std::array<uint8_t, 256>> tables;
  for (const Histogram& counts : histograms(in)) {
    auto table = identity();
    size_t first = 0;
    while (counts[first] == 0) ++first;
    if (counts[first] < pixels) {
      const float scale = 255.0f / static_cast<float>(pixels - counts[first]);
      int below = 0;
      for (size_t v = 0; v < 256; ++v) {
        if (v > first) below += counts[v];
        table[v] = cv::saturate_cast<uint8_t>(static_cast<float>(below) * scale);
      }
    }
    tables.push_back(table);
  }
  look_up(in, out, tables);
}

void auto_contrast(const cv::Mat& in, cv::Mat& out, double cutoff, const std::vector<int>& ignore) {
  std::vector<std::array<uint8_t, 256>> tables;
  for (Histogram counts : histograms(in)) {
    for (int level : ignore) counts[static_cast<size_t>(level)] = 0;
    int64_t total = 0;
    for (int n : counts) total += n;
    const int cut = static_cast<int>(static_cast<double>(total) * cutoff / 100);
    for (const bool upwards : {true, false}) {
      int left = cut;
      for (size_t i = 0; i < 256 && left > 0; ++i) {
        int& n = counts[upwards ? i : 255 - i];
        const int taken = std::min(left, n);
        n -= taken;
        left -= taken;
      }
    }
    auto table = identity();
    int low = 0, high = 255;
    while (low < 256 && counts[static_cast<size_t>(low)] == 0) ++low;
    while (high >= 0 && counts[static_cast<size_t>(high)] == 0) --high;
    if (high > low) {
      // In single precision and truncated, as in MindSpore.
      const float scale = 255.0f / static_cast<float>(high - low), offset = static_cast<float>(-low) * scale;
      for (size_t v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(std::clamp(static_cast<float>(v) * scale + offset, 0.0f, 255.0f));
    }
    tables.push_back(table);
  }
  look_up(in, out, tables);
}

void gamma(const cv::Mat& in, cv::Mat& out, double power, double gain) {
  if (bytes(in)) {
    std::array<uint8_t, 256> table;
    for (size_t v = 0; v < 256; ++v)
      table[v] = static_cast<uint8_t>(std::clamp((256 - 1e-3) * gain * std::pow(static_cast<double>(v) / 255.0, power), 0.0, 255.0));
    return look_up(in, out, {table});
  }
  const float* x = floats(in);
  float* y = out.ptr<float>();
  const float g = static_cast<float>(gain), p = static_cast<float>(power);
  for (int64_t i = 0, n = values(in); i < n; ++i) y[i] = std::clamp(std::pow(x[i] * g, p), 0.0f, 1.0f);
}

void grey(const cv::Mat& in, cv::Mat& out) {
  if (in.channels() != 3) return in.copyTo(out);
  cv::Mat levels = out.channels() == 1 ? out : cv::Mat(in.rows, in.cols, CV_MAKETYPE(in.depth(), 1));
  if (bytes(in)) {
    SINDRI_SIMD_CALL(pixels_grey)(in.ptr<uint8_t>(), static_cast<int64_t>(in.total()), levels.ptr<uint8_t>());
  } else {
    const float* x = floats(in);
    float* y = levels.ptr<float>();
    for (size_t i = 0; i < in.total(); ++i) y[i] = static_cast<float>(x[3 * i] * 0.299 + x[3 * i + 1] * 0.587 + x[3 * i + 2] * 0.114);
  }
  if (out.channels() == 3) cv::cvtColor(levels, out, cv::COLOR_GRAY2RGB);
}

}  // namespace sindri::dataset::colour
