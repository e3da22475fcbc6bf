// The settings in force, for the functions that validate and set them.
#pragma once

#include "sindri/core/context.h"

namespace sindri {

Context& mutable_context();

}  // namespace sindri
