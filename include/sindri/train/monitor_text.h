// Output of LossMonitor and TimeMonitor, in C++ and in Python: MindSpore's text byte for byte, since people and scripts read it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sindri/export.h"

namespace sindri::train {

/// A number as Python prints it: the shortest text that reads back as the same number, with a decimal point.
SINDRI_API std::string python_float(double v);
/// "epoch: 1 step: 625, loss is 2.302585"; `step` counts within its epoch.
SINDRI_API std::string loss_line(int64_t epoch, int64_t step, const std::string& loss);
/// "Train epoch time: 1234.567 ms, per step time: 12.346 ms" for an epoch of `steps` steps, in mode "train" or "eval".
/// outside_steps: milliseconds of the epoch spent outside of steps; if set, adds " (data time: 0.123 ms)", its mean per step.
SINDRI_API std::string epoch_time_line(const std::string& mode, double milliseconds, int64_t steps, std::optional<double> outside_steps = {});

}  // namespace sindri::train
