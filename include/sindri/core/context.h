// Settings that MindSpore keeps in `context`: execution mode, device target, graph dumps, strictness, threads. They are those of the current
// runtime (sindri/core/runtime.h): of the process, unless a RuntimeScope says otherwise.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

/// GRAPH_MODE traces the train step once and replays it; PYNATIVE_MODE runs op by op (MindSpore: context.GRAPH_MODE = 0).
enum class Mode { kGraph = 0, kPynative = 1 };
inline constexpr Mode GRAPH_MODE = Mode::kGraph;
inline constexpr Mode PYNATIVE_MODE = Mode::kPynative;

/// Settings of this runtime: mode, the device that was asked for, where graphs are written.
struct Context {
  Mode mode = Mode::kGraph;
  std::string device_target = "CPU";  ///< kept as asked for (set_device_target, sindri/device/device.h), whatever device computes
  int device_id = 0;
  bool save_graphs = false;  ///< write each compiled graph as text to save_graphs_path
  std::string save_graphs_path = ".";
};

/// The settings in force. Read freely; change through the setters so that values are checked.
SINDRI_API const Context& context();
SINDRI_API void set_mode(Mode mode);
SINDRI_API void set_save_graphs(bool on, const std::string& path = ".");

/// Strict mode (SINDRI_STRICT=1 or set_strict): the same bits for any number of threads; some kernels are slower.
SINDRI_API bool strict_mode();
SINDRI_API void set_strict(bool on);

/// Threads kernels use: set_num_threads, else SINDRI_NUM_THREADS, else OMP_NUM_THREADS, else the usable cores
/// (affinity mask and cgroup quota).
SINDRI_API int num_threads();
SINDRI_API void set_num_threads(int n);

/// Instruction set kernels are chosen for: the best the CPU has, capped by SINDRI_CPU_ISA=scalar|avx2|avx512|avx512_bf16|avx512_amx. The last
/// has tiles (AMX) with bfloat16 products, and the kernel lets this process use them.
enum class CpuIsa { kScalar = 0, kAvx2 = 1, kAvx512 = 2, kAvx512Bf16 = 3, kAvx512Amx = 4 };
SINDRI_API CpuIsa cpu_isa();
SINDRI_API const char* cpu_isa_name(CpuIsa isa);

}  // namespace sindri
