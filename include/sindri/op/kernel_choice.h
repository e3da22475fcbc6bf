// Selection among fast kernels for a shape: measured once, kept on disk and recorded so that a run can be repeated bit by bit.
//
// Kernels of an op with equal priority are alternatives. If more than one accepts a query, they are timed on the spot (a
// convolution's on a few of its samples). The fastest is used from then on in this runtime (sindri/core/runtime.h) and, through
// the cache file, in others. Results of alternatives may differ in the last bits, so a run's choices are written to repro.json
// and restored on resume; SINDRI_KERNEL_CHOICES=FILE uses the choices in any repro.json. If nothing is measured (SINDRI_TUNE=0,
// or no memory to measure with), the first alternative by name is used; strict mode always uses it.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "sindri/export.h"

namespace sindri {

/// Kernel names by query ("conv2d{stride=[1, 1], …}(f32[16, 64, 56, 56]:channels_last, …) avx512 2 threads").
using KernelChoices = std::map<std::string, std::string>;

/// Extent of the measurements. kQuick times 4 of cuDNN's engines and cuBLASLt's algorithms, and kFull times 16. Other kernels are
/// timed in the same way by both.
enum class Tuning : uint8_t { kOff, kQuick, kFull };
/// The extent set by set_tuning, else by SINDRI_TUNE (off, quick, full; 0 is off; default quick); kOff in strict mode. Throws
/// SettingsError if SINDRI_TUNE has another value.
SINDRI_API Tuning tuning();
/// Sets the extent for this runtime.
SINDRI_API void set_tuning(Tuning effort);
/// Whether alternatives are measured: tuning() is not kOff.
SINDRI_API bool kernel_tuning();
/// Sets tuning to kQuick or kOff.
SINDRI_API void set_kernel_tuning(bool on);
/// This runtime's choices, measured or not (the 1024 last used), and those passed to set_kernel_choices.
SINDRI_API KernelChoices kernel_choices();
/// Origin of each of kernel_choices(): "measured" (by this process; another run may measure otherwise), "cache file" (measured
/// earlier), "recorded" (set, or read from SINDRI_KERNEL_CHOICES) or "fixed" (the first by name).
SINDRI_API std::map<std::string, std::string> kernel_choice_origins();
/// Sets choices, such as those of a resumed run or of rank 0. They take precedence over the cache file and over measurements, and
/// also apply if nothing is measured. Strict mode ignores them. A kernel that does not exist or rejects the query on this machine
/// is skipped with a warning. Existing plans are not rebuilt.
SINDRI_API void set_kernel_choices(const KernelChoices& choices);
/// The cache file: SINDRI_CACHE_DIR/kernels.json, else $XDG_CACHE_HOME/sindri/kernels.json, else ~/.cache/sindri/kernels.json;
/// empty without a home directory. A file that cannot be read or written is skipped with a warning: it only saves time.
SINDRI_API std::string kernel_cache_file();

/// plans.json in the same folder: cuDNN's engines and cuBLASLt's algorithms by library version and GPU.
SINDRI_API std::string plan_cache_file();

/// Limits on the use of device libraries.
struct LibraryLimits {
  int64_t workspace = int64_t{256} << 20;  ///< bytes per op; SINDRI_WORKSPACE_LIMIT, in MiB
  bool deterministic = true;  ///< SINDRI_DETERMINISTIC=0: the last bits may differ from run to run
  bool runtime_compilation = true;  ///< SINDRI_CUDNN_RTC=0: cuDNN engines that NVRTC compiles are not used
  bool code_generation = true;  ///< whether clusters of elementwise ops may be compiled for the device: SINDRI_CUDA_CODEGEN
};
/// The limits from the environment; in strict mode `deterministic` is always true. Throws SettingsError for an invalid value.
SINDRI_API LibraryLimits library_limits();

}  // namespace sindri
