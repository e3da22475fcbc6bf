// Which of several fast kernels serves a shape: measured once, kept on disk, recorded so that a run can be repeated bit by bit.
//
// Kernels of an op with equal priority are alternatives. Where more than one accepts a query they are timed on the spot, a convolution's on a few of
// its samples, and the fastest is used from then on, in this runtime (sindri/core/runtime.h) and, through the cache file, elsewhere and later. Results
// of alternatives may differ in the last bits, so the choices of a training go to repro.json and are restored on resume; SINDRI_KERNEL_CHOICES=FILE
// takes those of any repro.json. Where nothing is measured (SINDRI_TUNE=0, or no memory to measure with) the first alternative by name is used, in
// strict mode always.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "sindri/export.h"

namespace sindri {

/// Choices by query ("conv2d{stride=[1, 1], …}(f32[16, 64, 56, 56]:channels_last, …) avx512 2 threads") -> kernel name.
using KernelChoices = std::map<std::string, std::string>;

/// How much is measured. Of cuDNN's engines and cuBLASLt's algorithms kQuick times 4 candidates, kFull 16; kernels are timed alike in both.
enum class Tuning : uint8_t { kOff, kQuick, kFull };
/// SINDRI_TUNE (off, quick, full; 0 is off, without it quick) or what set_tuning has set; kOff in strict mode.
SINDRI_API Tuning tuning();
SINDRI_API void set_tuning(Tuning effort);
/// Whether alternatives are measured: tuning() is not kOff. Setting true is kQuick.
SINDRI_API bool kernel_tuning();
SINDRI_API void set_kernel_tuning(bool on);
/// The choices this runtime has made, measured or not, the 1024 it used last, and those it has been given.
SINDRI_API KernelChoices kernel_choices();
/// Where each of kernel_choices() comes from: "measured" (by this process: another run may measure otherwise), "cache file" (measured earlier),
/// "recorded" (given, or of SINDRI_KERNEL_CHOICES) or "fixed" (the first by name).
SINDRI_API std::map<std::string, std::string> kernel_choice_origins();
/// Choices that come before the cache file and before measuring, also where nothing is measured, but not in strict mode (those of a run
/// that is resumed, those of rank 0). A kernel that does not exist or declines on this machine is passed over with a warning. Plans made
/// before are not made again.
SINDRI_API void set_kernel_choices(const KernelChoices& choices);
/// The cache file: SINDRI_CACHE_DIR/kernels.json, else $XDG_CACHE_HOME/sindri/kernels.json or ~/.cache/sindri/kernels.json; empty when
/// there is no home. A file that cannot be read or written is passed over with a warning: it only saves time.
SINDRI_API std::string kernel_cache_file();

/// plans.json beside it: engines of cuDNN and algorithms of cuBLASLt by library version and GPU.
SINDRI_API std::string plan_cache_file();

/// What libraries of devices may use.
struct LibraryLimits {
  int64_t workspace = int64_t{256} << 20;  ///< bytes an op; SINDRI_WORKSPACE_LIMIT, in MiB
  bool deterministic = true;  ///< SINDRI_DETERMINISTIC=0: last bits may differ from run to run
  bool runtime_compilation = true;  ///< SINDRI_CUDNN_RTC=0: no engine of cuDNN that NVRTC compiles
  bool code_generation = true;  ///< clusters of elementwise ops may be compiled for the device: SINDRI_CUDA_CODEGEN
};
/// As the environment says; in strict mode `deterministic` is always true. Throws SettingsError for a value that means nothing.
SINDRI_API LibraryLimits library_limits();

}  // namespace sindri
