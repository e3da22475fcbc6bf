// Rotating, shearing and distorting with OpenCV.
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "sindri/dataset/augment.h"

namespace sindri::dataset {

struct AffineNumbers {
  double degrees = 0;  // clockwise
  double translate_x = 0, translate_y = 0;  // pixels
  double scale = 1;
  double shear_x = 0, shear_y = 0;  // degrees
};
/// Shears, scales and rotates around the centre, then translates.
void warp_affine(const cv::Mat& in, cv::Mat& out, const AffineNumbers& a, vision::Inter inter, const cv::Scalar& fill);
/// One number for all channels, or one each. Throws ValueError for another count.
cv::Scalar fill_colour(const char* who, const std::vector<double>& fill);
int opencv_mode(vision::Inter inter);

}  // namespace sindri::dataset
