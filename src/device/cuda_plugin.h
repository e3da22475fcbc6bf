// The CUDA backend is a separate library, libsindri_cuda.so (src/device/cuda), which is opened if a GPU may be present or is requested.
#pragma once

#include <optional>
#include <string>

#include "sindri/device/backend.h"
#include "sindri/export.h"
#include "sindri/version.h"

namespace sindri {

/// Opens the plugin, which registers its backend and kernels; does so once per process. If `asked` is false, opens it
/// only if the machine has an NVIDIA driver: other programs do not pay for the search. SINDRI_CUDA_PLUGIN names another
/// file; with "0" no plugin is opened. Never throws for a plugin that is missing or of another version.
void load_cuda_backend(bool asked);
/// Returns why load_cuda_backend() found no CUDA backend; nothing if there is one (which reports missing parts itself).
std::optional<MissingPart> missing_cuda_backend();

/// Returns the file that the backend was loaded from; empty if none was.
std::string cuda_backend_file();
/// Returns the version stored in a plugin file (its sindri_cuda_mark), read without loading it; empty if there is none.
std::string cuda_plugin_version(const std::string& file);

}  // namespace sindri

// A plugin refers to a variable of libsindri that has the version in its name. So the dynamic loader rejects a plugin of
// another version before any of its code runs: kernels register themselves in constructors, with structs that may have changed.
#define SINDRI_CUDA_FITS_NAME(major, minor, patch) sindri_takes_plugins_of_##major##_##minor##_##patch
#define SINDRI_CUDA_FITS_OF(major, minor, patch) SINDRI_CUDA_FITS_NAME(major, minor, patch)
#define SINDRI_CUDA_FITS SINDRI_CUDA_FITS_OF(SINDRI_VERSION_MAJOR, SINDRI_VERSION_MINOR, SINDRI_VERSION_PATCH)
#define SINDRI_CUDA_MARK "version of Sindri's CUDA backend: "
extern "C" SINDRI_API const char SINDRI_CUDA_FITS;
