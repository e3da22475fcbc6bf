// Checks of option values that CLI11 lacks.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

/// A finite number. CLI11's own checks accept NaN, since no comparison with it holds.
inline const CLI::Validator kFinite(
    [](std::string& text) -> std::string {
      double v = 0;
      if (!CLI::detail::lexical_cast(text, v) || !std::isfinite(v)) return "expected a finite number, got " + text;
      return {};
    },
    "");

/// A duration that clocks can add to the present time: finite, at most 1e9 seconds.
inline const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      double v = 0;
      if (!CLI::detail::lexical_cast(text, v) || !(std::abs(v) <= 1e9)) return "expected at most 1e9 seconds, got " + text;
      return {};
    },
    "");
