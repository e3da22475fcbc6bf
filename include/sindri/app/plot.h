// Plots of a run as PNG: curves over epochs, a confusion matrix, and measured values by step.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// One value per epoch or step; NaN leaves a gap (an epoch without evaluation).
struct Curve {
  std::string name;
  std::vector<double> values;
  std::vector<double> at = {};  ///< position of each value, ascending, from 0; empty: 1, 2, 3, …
};

/// Content of the plot report.png: curves and a confusion matrix.
struct RunPlot {
  std::string title;
  std::string unit = "epoch";  ///< unit of the horizontal axis
  std::vector<Curve> loss;  ///< if accuracy is empty, too, the matrix fills the page
  std::vector<Curve> accuracy;  ///< shares 0..1
  std::vector<std::vector<int64_t>> confusion;  ///< [true class][predicted class] counts, square; empty: omitted
  std::vector<std::string> class_names;  ///< empty: 0, 1, 2, …
};

/// Writes the plot atomically: a previous file stays intact on failure. Throws ValueError for a matrix that is not square or does
/// not match the names, IoError if the file cannot be written.
SINDRI_API void write_plot(const RunPlot& plot, const std::string& path);

/// A value at some steps.
struct MeasureCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< (step, value)
};
/// Curves of one plot, on a logarithmic scale; values that are not above 0 leave gaps.
struct MeasureChart {
  std::string title;
  std::vector<MeasureCurve> curves;
};
/// Writes plots side by side, atomically. Curves are coloured in their order, and the first, the last and as many others as fit
/// are labelled. `unit` is the unit of the steps. Throws IoError.
SINDRI_API void write_measures(const std::vector<MeasureChart>& charts, const std::string& unit, const std::string& path);

}  // namespace sindri::app
