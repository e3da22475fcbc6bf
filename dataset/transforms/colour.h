// Colours and levels of whole images: functions from one cv::Mat (uint8 or float32) to another of the same size, which is allocated already. Bytes
// follow MindSpore's arithmetic, floats the formula.
#pragma once

#include <array>
#include <opencv2/core.hpp>
#include <vector>

namespace sindri::dataset::colour {

/// x * factor.
void brightness(const cv::Mat& in, cv::Mat& out, double factor);
/// mean * (1 - factor) + x * factor, where mean is that of the grey image; rounded for bytes. 3 channels.
void contrast(const cv::Mat& in, cv::Mat& out, double factor);
/// grey * (1 - factor) + x * factor. 3 channels.
void saturation(const cv::Mat& in, cv::Mat& out, double factor);
/// Rotates the hue by a fraction of a circle. For bytes, the intermediate hue and saturation are rounded to bytes. 3 channels.
void hue(const cv::Mat& in, cv::Mat& out, double circles);
/// blurred * (1 - factor) + x * factor. The blur is (the 3 x 3 neighbours + 4 x) / 13; border pixels are unchanged.
void sharpness(const cv::Mat& in, cv::Mat& out, double factor);
/// 255 - x.
void invert(const cv::Mat& in, cv::Mat& out);
/// 255 - x for x from low to high, else x.
void solarize(const cv::Mat& in, cv::Mat& out, double low, double high);
/// Keeps the upper `bits` bits of bytes.
void posterize(const cv::Mat& in, cv::Mat& out, int bits);
/// Equalises the histogram of each channel of bytes.
void equalize(const cv::Mat& in, cv::Mat& out);
/// Stretches each channel of bytes to 0 … 255, ignoring `cutoff` percent of the pixels at both ends and the levels in `ignore`.
void auto_contrast(const cv::Mat& in, cv::Mat& out, double cutoff, const std::vector<int>& ignore);
/// Bytes: gain * x^gamma for x from 0 to 1; floats: (gain * x)^gamma clipped to that range.
void gamma(const cv::Mat& in, cv::Mat& out, double power, double gain);
/// 0.299 R + 0.587 G + 0.114 B in every channel of the result, in Pillow's fixed point for bytes. A single channel is copied.
void grey(const cv::Mat& in, cv::Mat& out);

}  // namespace sindri::dataset::colour
