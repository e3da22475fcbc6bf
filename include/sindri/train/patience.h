// Patience: decides when a monitored value has stopped improving. The rule of EarlyStopping and ReduceLROnPlateau, in C++ and
// Python.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sindri/export.h"

namespace sindri::train {

/// Receives the value once per epoch, or once per evaluation if an evaluation is monitored.
struct Patience {
  bool larger_is_better = false;  ///< false: a smaller value is better
  double min_delta = 0;  ///< a value counts as better if it exceeds the best one by more than this; at least 0
  int64_t patience = 0;  ///< number of epochs without a better value that are tolerated
  std::optional<double> baseline = {};  ///< a better value counts only if it beats this one, too
  int64_t wait = 0;  ///< epochs since the last value that counted
  int64_t cooldown = 0;  ///< epochs that are not counted, as after a reduction
  double best = larger_is_better ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();

  /// Whether `value` is better than `other` by more than min_delta.
  bool beats(double value, double other) const { return larger_is_better ? value - min_delta > other : value + min_delta < other; }
  /// Receives a value and returns whether it is better than all before; exhausted() then says whether the patience is used up.
  bool see(double value) {
    if (cooldown > 0) {
      --cooldown;
      wait = 0;
    }
    const bool better = beats(value, best);
    if (better) best = value;
    if (better && (!baseline || beats(value, *baseline))) wait = 0;
    else if (cooldown == 0) ++wait;
    return better;
  }
  bool exhausted() const { return wait > 0 && wait >= patience; }  ///< whether the patience is used up
  /// best, wait and cooldown as JSON, for a resumed run.
  SINDRI_API std::string state() const;
  /// Restores what state() returned. Throws ValueError for any other text.
  SINDRI_API void load_state(const std::string& text);
};

}  // namespace sindri::train
