// The settings dist.* as what comm::init and the training step take: for programs, and for Python, whose settings are those of the environment
// (SINDRI_DIST_…).
#pragma once

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/export.h"
#include "sindri/train/data_parallel.h"

namespace sindri::app {

/// What comm::init wants.
SINDRI_API comm::Options comm_options(const Settings& s);
/// What train::apply_data_parallel wants.
SINDRI_API train::DataParallelOptions data_parallel_options(const Settings& s);

}  // namespace sindri::app
