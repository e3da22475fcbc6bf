// Declares the CUDA backend.
#pragma once

#include <memory>

#include "sindri/device/backend.h"
#include "src/core/once.h"

namespace sindri::cuda {

std::unique_ptr<Backend> make_backend();

}  // namespace sindri::cuda
