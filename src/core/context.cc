// Settings of the current runtime, and the capabilities of the machine.
#include "sindri/core/context.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <type_traits>

#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "src/core/mutable_context.h"
#include "src/core/runtime_state.h"

namespace sindri {

namespace {
constinit RuntimeSlot<Context> context_slot;
}  // namespace

Context& mutable_context() { return context_slot.get(); }

namespace {

int env_int(const char* name) {
  const char* v = std::getenv(name);
  if (v == nullptr || *v == 0) return 0;
  char* end = nullptr;
  const long n = std::strtol(v, &end, 10);
  if (*end != 0 || n < 1 || n > 1024)
    throw SettingsError(fmt::format("{}={} is not a thread count", name, v), "environment", "use a whole number from 1 to 1024");
  return static_cast<int>(n);
}

// cgroup v2 "max" or "quota period"; a container limited to 2 cores must not start 64 threads.
int cgroup_cores() {
  std::ifstream f("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(f >> quota >> period) || quota == "max" || period <= 0) return 1 << 20;
  return std::max(1, static_cast<int>(std::ceil(std::atof(quota.c_str()) / period)));
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, std::min(affinity, cgroup_cores()));
}

// The default for runtimes that have not set a number.
int threads_of_environment() {
  static const int n = [] {
    if (const int v = env_int("SINDRI_NUM_THREADS")) return v;
    if (const int v = env_int("OMP_NUM_THREADS")) return v;
    return usable_cores();
  }();
  return n;
}
bool strict_by_environment() {
  static const bool on = [] {
    const char* v = std::getenv("SINDRI_STRICT");
    return v != nullptr && std::string_view(v) != "" && std::string_view(v) != "0";
  }();
  return on;
}

template <class T> T take_default(std::atomic<T>& setting, std::type_identity_t<T> unset, std::type_identity_t<T> value) {
  return setting.compare_exchange_strong(unset, value) ? value : unset;
}

// Returns whether the processor has bfloat16 tile instructions (AMX) and the operating system grants this process their
// registers (8 KB per thread), which it reserves only for processes that ask.
bool tiles_allowed() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kTile = 1u << 24, kBfloat16 = 1u << 22;  // bits of CPUID leaf 7
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kTile) == 0 || (edx & kBfloat16) == 0) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// The highest instruction set that SINDRI_CPU_ISA allows.
CpuIsa isa_cap() {
  const char* env = std::getenv("SINDRI_CPU_ISA");
  if (env == nullptr || *env == 0) return CpuIsa::kAvx512Amx;
  for (CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kAvx2, CpuIsa::kAvx512, CpuIsa::kAvx512Bf16, CpuIsa::kAvx512Amx}) {
    if (std::string_view(env) == cpu_isa_name(isa)) return isa;
  }
  throw SettingsError(fmt::format("SINDRI_CPU_ISA={} is not known", env), "environment", "use scalar, avx2, avx512, avx512_bf16 or avx512_amx");
}

CpuIsa detect_isa() {
  const CpuIsa cap = isa_cap();
  __builtin_cpu_init();
  CpuIsa best = CpuIsa::kScalar;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = CpuIsa::kAvx2;
  if (best == CpuIsa::kAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    best = CpuIsa::kAvx512;
  if (best == CpuIsa::kAvx512 && __builtin_cpu_supports("avx512bf16")) best = CpuIsa::kAvx512Bf16;
  if (best == CpuIsa::kAvx512Bf16 && cap > best && tiles_allowed()) best = CpuIsa::kAvx512Amx;  // permission is requested only if it is needed
  return std::min(cap, best);
}

}  // namespace

const Context& context() { return mutable_context(); }
void set_mode(Mode mode) { mutable_context().mode = mode; }
void set_save_graphs(bool on, const std::string& path) {
  mutable_context().save_graphs = on;
  mutable_context().save_graphs_path = path;
}

int RuntimeState::default_threads() { return take_default(threads, 0, threads_of_environment()); }
bool RuntimeState::default_strict() { return take_default(strict, -1, strict_by_environment() ? 1 : 0) != 0; }

bool strict_mode() { return t_place.runtime->is_strict(); }
void set_strict(bool on) { t_place.runtime->strict = on ? 1 : 0; }
int num_threads() { return t_place.runtime->num_threads(); }
void set_num_threads(int n) {
  if (n < 1 || n > 1024) throw ValueError(fmt::format("the number of threads must be from 1 to 1024, got {}", n));
  t_place.runtime->threads = n;
}

CpuIsa cpu_isa() {
  static const CpuIsa isa = detect_isa();
  return isa;
}
const char* cpu_isa_name(CpuIsa isa) {
  static constexpr const char* kNames[] = {"scalar", "avx2", "avx512", "avx512_bf16", "avx512_amx"};
  return kNames[static_cast<int>(isa)];
}

void set_seed(int64_t seed) {
  if (seed < 0 || seed > 0xffffffffLL) throw ValueError(fmt::format("the seed must be from 0 to 2^32 - 1, got {}", seed));
  t_place.runtime->seed = seed;
  ++t_place.runtime->seed_generation;
}
int64_t get_seed() { return t_place.runtime->seed; }
bool seed_is_set() { return seed_generation() > 0; }
int64_t seed_generation() { return t_place.runtime->seed_generation; }

}  // namespace sindri
