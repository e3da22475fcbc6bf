// Evaluation by class, as text, JSON and plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/app/app.h"
#include "sindri/app/settings.h"
#include "sindri/export.h"
#include "sindri/train/callback.h"

namespace sindri::app {

/// Scores of one class. Shares without samples are 0, as in scikit-learn's classification_report.
struct ClassScore {
  std::string name;
  double precision = 0;  ///< share of correct samples among those predicted as this class
  double recall = 0;  ///< share of the class's samples that were predicted as it
  double f1 = 0;  ///< harmonic mean of precision and recall
  int64_t support = 0;  ///< samples of the class
  int64_t predicted = 0;  ///< samples predicted as the class
};

/// Result of an evaluation: metrics and, if requested, values by class.
struct Evaluation {
  std::string checkpoint;
  train::MetricValues metrics;
  std::vector<ClassScore> classes;  ///< by label
  std::vector<std::vector<int64_t>> confusion;  ///< [true class][predicted class] counts
  int64_t samples = 0;  ///< number of evaluated samples
};

/// Scores from counts [true class][predicted class]. Throws ValueError if the matrix is not square or does not match the names.
SINDRI_API std::vector<ClassScore> class_scores(const std::vector<std::vector<int64_t>>& confusion, const std::vector<std::string>& names);

/// Evaluates a checkpoint on the evaluation data and counts by class. With several ranks, all return the counts over all of the
/// data. Throws SettingsError for more than 4,096 classes, whose confusion matrix would be unreadable.
SINDRI_API Evaluation evaluate_classes(const Settings& settings, const std::string& checkpoint);

/// Table of the classes: name, precision, recall, f1, support, followed by their plain and support-weighted means. At most
/// `width` columns.
SINDRI_API std::string class_table(const Evaluation& evaluation, int width = 80);
/// The confusion matrix as text, true classes down and predicted classes across, by number; in blocks of columns if it is wider
/// than `width`.
SINDRI_API std::string confusion_table(const Evaluation& evaluation, int width = 80);
/// The evaluation as a JSON object: checkpoint, samples, metrics, classes, macro_average, weighted_average, confusion.
SINDRI_API std::string evaluation_json(const Evaluation& evaluation);
/// Plots the confusion matrix and the classes' scores as a PNG. Throws IoError.
SINDRI_API void write_evaluation_plot(const Evaluation& evaluation, const std::string& title, const std::string& path);

/// Predictions as a JSON array of {"file", "classes": [{"name", "probability"}]}, in order.
SINDRI_API std::string predictions_json(const std::vector<Prediction>& predictions);

}  // namespace sindri::app
