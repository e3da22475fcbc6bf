// The CUDA backend is a separate library, libsindri_cuda.so (src/device/cuda), which is opened when a GPU may be present or is requested.
#pragma once

#include <optional>

#include "sindri/device/backend.h"

namespace sindri {

/// Opens the plugin and lets it register its backend and kernels, once in a process. Without `asked` only if the machine has an NVIDIA driver: other programs
/// do not pay for looking. SINDRI_CUDA_PLUGIN names another file, or with "0" none. Never throws for a plugin that is missing or does not fit.
void load_cuda_backend(bool asked);
/// Why there is no CUDA backend after that; nothing where there is one (which then says itself what it lacks).
std::optional<MissingPart> missing_cuda_backend();

}  // namespace sindri
