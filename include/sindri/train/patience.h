// When a watched number counts as no longer getting better: the rule behind EarlyStopping and ReduceLROnPlateau, in C++ and Python.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sindri/export.h"

namespace sindri::train {

/// Sees the number once an epoch, or once an evaluation where an evaluation is watched.
struct Patience {
  bool larger_is_better = false;
  double min_delta = 0;  ///< at least 0: what a better number must exceed the best one by
  int64_t patience = 0;  ///< epochs without one that are let pass
  std::optional<double> baseline = {};  ///< a better number that does not beat this one as well counts as none
  int64_t wait = 0;  ///< epochs since the last that counted
  int64_t cooldown = 0;  ///< epochs that are not counted, as after a reduction
  double best = larger_is_better ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();

  bool beats(double value, double other) const { return larger_is_better ? value - min_delta > other : value + min_delta < other; }
  /// True when the number is better than all before it; `exhausted` tells the rest.
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
  bool exhausted() const { return wait > 0 && wait >= patience; }
  /// best, wait and cooldown as JSON, for a resumed run.
  SINDRI_API std::string state() const;
  /// Throws ValueError for a text that state() did not give.
  SINDRI_API void load_state(const std::string& text);
};

}  // namespace sindri::train
