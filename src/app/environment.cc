// check_environment: checks the input that is neither on the command line nor in the settings, before any work starts. A variable that nothing checks would
// otherwise be ignored silently.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "sindri/app/app.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/nearest.h"
#include "sindri/op/kernel.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/op/op_def.h"
#include "src/device/cpu/parallel.h"

namespace sindri::app {

namespace {

// The variables of docs/environment.md, which a test compares with this list, and those that the build and the tests use.
const std::vector<std::string>& known_variables() {
  static const std::vector<std::string> names = {"SINDRI_NUM_THREADS",    "SINDRI_CPU_ISA",
                                                 "SINDRI_STRICT",         "SINDRI_TUNE",
                                                 "SINDRI_CACHE_DIR",      "SINDRI_LOG",
                                                 "SINDRI_CHECK_FINITE",   "SINDRI_TIMELINE",
                                                 "SINDRI_PEERS_PYTHON",   "SINDRI_PEERS_PYTHON_MINDSPORE",
                                                 "SINDRI_MINDSPORE_ERA",  "SINDRI_PROGRAM",
                                                 "SINDRI_DISABLE_PASSES", "SINDRI_DUMP_GRAPH",
                                                 "SINDRI_VERIFY_GRAPH",   "SINDRI_KERNEL",
                                                 "SINDRI_DATA_PLAN",      "SINDRI_CUDA_PLUGIN",
                                                 "SINDRI_CUDA_GRAPH",     "SINDRI_CUDA_LIBRARY_PATH",
                                                 "SINDRI_KERNEL_CHOICES", "SINDRI_LIBRARIES",
                                                 "SINDRI_STRICT_TARGET",  "SINDRI_DEVICE_TARGET",
                                                 "SINDRI_DEVICE_ID",      "SINDRI_RANK",
                                                 "SINDRI_WORLD_SIZE",     "SINDRI_LOCAL_RANK",
                                                 "SINDRI_LOCAL_SIZE",     "SINDRI_MASTER",
                                                 "SINDRI_MASTER_PORT",    "SINDRI_JOB_TOKEN",
                                                 "SINDRI_COMM_LOG_DIR",   "SINDRI_RESTARTS",
                                                 "SINDRI_RESULT_FILE",    "SINDRI_NCCL_LIBRARY",
                                                 "SINDRI_PROGRESS",       "SINDRI_JPEG_ENTROPY",
                                                 "SINDRI_PYTHON",         "SINDRI_WORKSPACE_LIMIT",
                                                 "SINDRI_DETERMINISTIC",  "SINDRI_CUDNN_RTC",
                                                 "SINDRI_CUDA_CODEGEN"};
  return names;
}

bool of_the_tests(const std::string& name) { return name.starts_with("SINDRI_TEST_") || name.starts_with("SINDRI_UPDATE_") || name == "SINDRI_DATA_BENCH"; }

// Returns the known variable nearest to a misspelt name. Also finds it if the name is abbreviated or lacks a word (SINDRI_THREADS).
std::string nearest_variable(const std::string& name) {
  const std::string rest = name.substr(7);
  for (const std::string& known : known_variables()) {
    if (rest.size() >= 4 && known.find(rest) != std::string::npos) return fmt::format("did you mean '{}'?", known);
  }
  const std::string near = did_you_mean(name, known_variables());
  return near.starts_with("did") ? near : "docs/environment.md lists the variables";
}

void check_names() {
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string v = *p, name = v.substr(0, v.find('='));
    if (!name.starts_with("SINDRI_") || name.find("__") != std::string::npos || name.starts_with("SINDRI_DIST_") || of_the_tests(name))
      continue;  // SINDRI_TRAIN__EPOCHS and SINDRI_DIST_BACKEND are settings
    const std::vector<std::string>& known = known_variables();
    if (std::find(known.begin(), known.end(), name) == known.end())
      log::warn("settings", fmt::format("the environment variable {} is not known and has no effect; {}", name, nearest_variable(name)));
  }
}

const char* value_of(const char* variable) {
  const char* v = std::getenv(variable);
  return v != nullptr ? v : "";
}

void check_values() {
  const auto refuse = [](const char* variable, const std::string& message, const std::string& fix) {
    throw SettingsError(fmt::format("{}={}: {}", variable, value_of(variable), message), fmt::format("environment variable {}", variable), fix);
  };
  if (const std::string item = log::unknown_level(); !item.empty())
    refuse("SINDRI_LOG", fmt::format("'{}' is not a log level", item), "use debug, info, warn, error or off, or topic=level, with commas between several");
  if (const std::string kernel = value_of("SINDRI_KERNEL"); !kernel.empty()) {
    std::set<std::string> names;
    for (const OpDef* op : all_ops()) {
      for (const KernelDef* k : kernels_of(op->name)) names.insert(k->name);
    }
    if (!names.contains(kernel)) {
      const std::string near = did_you_mean(kernel, {names.begin(), names.end()});
      refuse("SINDRI_KERNEL", "no op has a kernel of this name", near.starts_with("did") ? near : "sindri ops lists the kernels of every op");
    }
  }
  if (const std::string plan = value_of("SINDRI_DATA_PLAN"); !plan.empty() && plan != "none")
    refuse("SINDRI_DATA_PLAN", "the only accepted value is none", "use none, or unset it");
  if (const std::string decoder = value_of("SINDRI_JPEG_ENTROPY"); !decoder.empty() && decoder != "library")
    refuse("SINDRI_JPEG_ENTROPY", "the only accepted value is library", "use library, or unset it");
  (void)cpu_isa();  // the errors of these calls name their variable
  (void)num_threads();
  (void)kernel_choices();
  (void)library_limits();
}

// If the address space is limited (ulimit -v), the libraries used later fail in ways that cannot be caught: OpenMP ends the process if it cannot create a
// thread, and code generators crash. Therefore this function requires the memory of a small net to be free before anything starts, starts the threads now, and
// limits malloc to one arena, since each additional arena reserves 64 MB.
void check_address_space() {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  size_t stack = size_t{8} << 20;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &stack);
    pthread_attr_destroy(&attributes);
  }
  constexpr size_t kSmallNet = size_t{128} << 20;
  const size_t wanted = kSmallNet + 2 * stack * static_cast<size_t>(num_threads());  // kernels' threads and those that read data
  void* p = mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw DeviceError(
        ErrorCode::kMemory,
        fmt::format("the limit of address space, {} MB, leaves less than the {} MB that the smallest work needs", space.rlim_cur >> 20, wanted >> 20),
        "limit of this process (ulimit -v)", "raise it (ulimit -v unlimited), or limit the threads with SINDRI_NUM_THREADS");
  munmap(p, wanted);
  parallel_tasks(num_threads(), [](int64_t) {});
}

}  // namespace

void check_environment() {
  check_values();
  check_names();
  check_address_space();
}

void load_libraries() {
  const std::string list = value_of("SINDRI_LIBRARIES");
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(':', start), list.size());
    const std::string path = list.substr(start, end - start);
    start = end + 1;
    if (path.empty()) continue;
    // Never closed: the registries refer to objects in this library.
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      throw SettingsError(fmt::format("the library cannot be loaded: {}", dlerror()), fmt::format("environment variable SINDRI_LIBRARIES, {}", path),
                          "give paths of libraries that are linked with Sindri::sindri, with ':' between several");
  }
}

}  // namespace sindri::app
