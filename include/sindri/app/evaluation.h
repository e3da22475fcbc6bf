// What an evaluation finds class by class, and the forms in which people and programs read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/app/app.h"
#include "sindri/app/settings.h"
#include "sindri/export.h"
#include "sindri/train/callback.h"

namespace sindri::app {

/// One class among the others. Shares without a sample to count are 0, as in scikit-learn's classification_report.
struct ClassScore {
  std::string name;
  double precision = 0;  ///< right ones among those that were taken for this class
  double recall = 0;  ///< samples of the class that were found
  double f1 = 0;  ///< harmonic mean of the two
  int64_t support = 0;  ///< samples of the class
  int64_t predicted = 0;  ///< samples that were taken for it
};

/// What an evaluation found: metrics, and per class where that was asked for.
struct Evaluation {
  std::string checkpoint;
  train::MetricValues metrics;
  std::vector<ClassScore> classes;  ///< by label
  std::vector<std::vector<int64_t>> confusion;  ///< [true class][predicted class] counts
  int64_t samples = 0;
};

/// Scores of counts [true class][predicted class]. Throws ValueError where they are no square, or where names do not fit.
SINDRI_API std::vector<ClassScore> class_scores(const std::vector<std::vector<int64_t>>& confusion, const std::vector<std::string>& names);

/// Evaluates a checkpoint on the evaluation data and counts by class. Of several ranks all get the whole. Throws SettingsError for more than 4,096
/// classes, whose table of pairs nobody reads.
SINDRI_API Evaluation evaluate_classes(const Settings& settings, const std::string& checkpoint);

/// The classes as lines: name, precision, recall, f1, support; their plain mean and the one weighted by support below. At most `width` columns.
SINDRI_API std::string class_table(const Evaluation& evaluation, int width = 80);
/// The matrix as lines, true classes down and predicted ones across, by number; in blocks of columns where it is wider than `width`.
SINDRI_API std::string confusion_table(const Evaluation& evaluation, int width = 80);
/// All of it as one JSON object: checkpoint, samples, metrics, classes, macro_average, weighted_average, confusion.
SINDRI_API std::string evaluation_json(const Evaluation& evaluation);
/// The matrix and the shares of the classes as a PNG. Throws IoError.
SINDRI_API void write_evaluation_picture(const Evaluation& evaluation, const std::string& title, const std::string& path);

/// Predictions as one JSON array of {"file", "classes": [{"name", "probability"}]}, in their order.
SINDRI_API std::string predictions_json(const std::vector<Prediction>& predictions);

}  // namespace sindri::app
