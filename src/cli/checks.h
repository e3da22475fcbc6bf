// Checks of option values that CLI11 does not have.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

/// A number that is finite. CLI11's own checks let NaN pass, since no comparison with it holds.
inline const CLI::Validator kFinite(
    [](std::string& text) -> std::string {
      double v = 0;
      if (!CLI::detail::lexical_cast(text, v) || !std::isfinite(v)) return "expected a finite number, got " + text;
      return {};
    },
    "");

/// A length of time that clocks can add to now: finite, at most 1e9 seconds.
inline const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      double v = 0;
      if (!CLI::detail::lexical_cast(text, v) || !(std::abs(v) <= 1e9)) return "expected at most 1e9 seconds, got " + text;
      return {};
    },
    "");
