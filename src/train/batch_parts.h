// Batches split along their first dimension.
#pragma once

#include "sindri/train/train_step.h"

namespace sindri::train {

/// Returns rows [part·n/parts, (part + 1)·n/parts) of every column. Throws ShapeError, naming the setting that asks for parts, if n is not divisible.
TrainStep::Batch part_of(const TrainStep::Batch& batch, int64_t part, int64_t parts, const char* setting);

}  // namespace sindri::train
