// The picture of a run: curves over epochs and a confusion matrix, as a PNG.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// One value per epoch, or step; NaN leaves a gap (an epoch without evaluation).
struct Curve {
  std::string name;
  std::vector<double> values;
  std::vector<double> at = {};  ///< where each value lies, rising, from 0; empty: at 1, 2, 3, …
};

/// Curves and a confusion matrix, as report.png draws them.
struct RunPicture {
  std::string title;
  std::string unit = "epoch";  ///< of what the values of curves are drawn against
  std::vector<Curve> loss;  ///< where accuracy is empty too, the matrix has the page to itself
  std::vector<Curve> accuracy;  ///< shares 0..1
  std::vector<std::vector<int64_t>> confusion;  ///< [true class][predicted class] counts, square; empty: left out
  std::vector<std::string> class_names;  ///< empty: 0, 1, 2, …
};

/// Writes the picture in one step (a previous file stays whole on failure). Throws ValueError for a matrix that is not square or
/// names that do not fit it, IoError when the file cannot be written.
SINDRI_API void write_picture(const RunPicture& picture, const std::string& path);

/// A value at some steps.
struct MeasureCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< (step, value)
};
/// Curves drawn together, on a logarithmic scale; values that are not above 0 leave gaps.
struct MeasureChart {
  std::string title;
  std::vector<MeasureCurve> curves;
};
/// Writes charts side by side in one step, curves coloured in their order, with the names of the first, the last and those between as far as there is
/// room. `unit`: of the steps. Throws IoError.
SINDRI_API void write_measures(const std::vector<MeasureChart>& charts, const std::string& unit, const std::string& path);

}  // namespace sindri::app
