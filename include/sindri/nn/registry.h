// The losses and metrics by name, for settings files, programs and Python.
#pragma once
#include "sindri/core/registry.h"
#include "sindri/nn/metric.h"

namespace sindri::nn {

using MakeMetric = MetricPtr(const SettingValues& settings);

/// "accuracy", "F1", "topk", …; src/nn/metric.cc adds those of the library.
SINDRI_API Registry<MakeMetric>& metrics();

}  // namespace sindri::nn
