// The picture of a run: curves over epochs and a confusion matrix, as a PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// One value per epoch, or step; NaN leaves a gap (an epoch without evaluation).
struct Curve {
  std::string name;
  std::vector<double> values;
};

/// Curves and a confusion matrix, as report.png draws them.
struct RunPicture {
  std::string title;
  std::string unit = "epoch";  ///< of the curves' values
  std::vector<Curve> loss;  ///< where accuracy is empty too, the matrix has the page to itself
  std::vector<Curve> accuracy;  ///< shares 0..1
  std::vector<std::vector<int64_t>> confusion;  ///< [true class][predicted class] counts, square; empty: left out
  std::vector<std::string> class_names;  ///< empty: 0, 1, 2, …
};

/// Writes the picture in one step (a previous file stays whole on failure). Throws ValueError for a matrix that is not square or
/// names that do not fit it, IoError when the file cannot be written.
SINDRI_API void write_picture(const RunPicture& picture, const std::string& path);

}  // namespace sindri::app
