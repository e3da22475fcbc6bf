// The settings dist.* as what comm::init takes: for programs, and for Python, whose settings are those of the environment (SINDRI_DIST_…).
#pragma once

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/export.h"

namespace sindri::app {

/// What comm::init wants.
SINDRI_API comm::Options comm_options(const Settings& s);

}  // namespace sindri::app
