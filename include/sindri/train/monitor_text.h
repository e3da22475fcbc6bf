// What LossMonitor and TimeMonitor print, in C++ and in Python: MindSpore's text to the byte, since people and scripts read it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sindri/export.h"

namespace sindri::train {

/// A number as Python prints it: the shortest text that reads back as it, with a point.
SINDRI_API std::string python_float(double v);
/// "epoch: 1 step: 625, loss is 2.302585", the step within its epoch.
SINDRI_API std::string loss_line(int64_t epoch, int64_t step, const std::string& loss);
/// "Train epoch time: 1234.567 ms, per step time: 12.346 ms" of an epoch of so many steps, in mode "train" or "eval"; with the milliseconds that were
/// spent outside steps also " (data time: 0.123 ms)" per step.
SINDRI_API std::string epoch_time_line(const std::string& mode, double milliseconds, int64_t steps, std::optional<double> outside_steps = {});

}  // namespace sindri::train
