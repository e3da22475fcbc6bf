// Settings that MindSpore keeps in `context`: execution mode, device target, graph dumps, strict mode and thread count. They
// belong to the current runtime (sindri/core/runtime.h), which is the process's unless a RuntimeScope is active.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

/// Execution mode. GRAPH_MODE traces the train step once and replays it; PYNATIVE_MODE runs op by op (MindSpore:
/// context.GRAPH_MODE = 0, context.PYNATIVE_MODE = 1).
enum class Mode { kGraph = 0, kPynative = 1 };
inline constexpr Mode GRAPH_MODE = Mode::kGraph;
inline constexpr Mode PYNATIVE_MODE = Mode::kPynative;

/// Settings of a runtime: mode, requested device and graph dumps.
struct Context {
  Mode mode = Mode::kGraph;  ///< execution mode
  std::string device_target = "CPU";  ///< the requested target (set_device_target, sindri/device/device.h), even if the CPU computes instead
  int device_id = 0;  ///< number of the requested device
  bool save_graphs = false;  ///< write each compiled graph as text to save_graphs_path
  std::string save_graphs_path = ".";  ///< folder for graph dumps
};

/// The current runtime's settings. Change them through the setters, which check values.
SINDRI_API const Context& context();
/// Sets the execution mode (MindSpore: set_context(mode=…)).
SINDRI_API void set_mode(Mode mode);
/// Turns graph dumps on or off and sets their folder (MindSpore: set_context(save_graphs=…, save_graphs_path=…)).
SINDRI_API void set_save_graphs(bool on, const std::string& path = ".");

/// Whether strict mode is on (SINDRI_STRICT=1 or set_strict): results are bitwise identical for any number of threads, and some
/// kernels are slower.
SINDRI_API bool strict_mode();
/// Turns strict mode on or off for this runtime, whatever SINDRI_STRICT says.
SINDRI_API void set_strict(bool on);

/// Number of threads that kernels use: set_num_threads, else SINDRI_NUM_THREADS, else OMP_NUM_THREADS, else the usable cores
/// (affinity mask and cgroup quota). Throws SettingsError if a variable is not a whole number from 1 to 1024.
SINDRI_API int num_threads();
/// Sets the number of threads. Throws ValueError unless n is from 1 to 1024.
SINDRI_API void set_num_threads(int n);

/// Instruction sets that kernels are written for. The last one has tiles (AMX) with bfloat16 products; it is used only if the
/// operating system lets this process use the tile registers.
enum class CpuIsa { kScalar = 0, kAvx2 = 1, kAvx512 = 2, kAvx512Bf16 = 3, kAvx512Amx = 4 };
/// The instruction set that kernels are chosen for: the CPU's best, capped by
/// SINDRI_CPU_ISA=scalar|avx2|avx512|avx512_bf16|avx512_amx. Throws SettingsError if SINDRI_CPU_ISA has another value.
SINDRI_API CpuIsa cpu_isa();
/// Name of an instruction set, as SINDRI_CPU_ISA spells it.
SINDRI_API const char* cpu_isa_name(CpuIsa isa);

}  // namespace sindri
