// Conversion of the settings dist.* to options of comm::init and of the training step, for programs and for Python, whose
// settings come from the environment (SINDRI_DIST_…).
#pragma once

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/export.h"
#include "sindri/train/data_parallel.h"

namespace sindri::app {

/// Options for comm::init.
SINDRI_API comm::Options comm_options(const Settings& s);
/// Options for train::apply_data_parallel.
SINDRI_API train::DataParallelOptions data_parallel_options(const Settings& s);

}  // namespace sindri::app
