// doctor: checks whether this machine is suitable for training. Each check adds a Finding; plain facts have no verdict.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/app/app.h"
#include "sindri/app/inspect.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/dataset/dataset.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/op/op_def.h"
#include "sindri/version.h"
#include "src/comm/gloo_table.h"
#include "src/comm/mpi_table.h"
#include "src/comm/plugin.h"
#include "src/core/machine.h"
#include "src/device/cuda_plugin.h"

namespace sindri::app {

namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Verdict;

constexpr double kGib = 1024.0 * 1024 * 1024;

std::string variable(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr ? v : "";
}

// Returns a verdict from two bounds, of which `fail` is the lower.
Verdict by_bounds(double value, double fail, double warn) { return value < fail ? Verdict::kFail : value < warn ? Verdict::kWarn : Verdict::kOk; }

class Examination {
 public:
  DoctorReport take() { return std::move(report_); }
  void fact(const std::string& name, const std::string& text) { report_.findings.push_back({Verdict::kFact, name, text}); }
  void ok(const std::string& name, const std::string& text) { add(Verdict::kOk, name, text, ""); }
  // `fix` is omitted for OK.
  void add(Verdict verdict, const std::string& name, const std::string& text, const std::string& fix) {
    report_.findings.push_back({verdict, name, text, verdict == Verdict::kOk ? "" : fix});
  }

  void processor();
  void memory();
  void disk();
  void limits();
  void devices_found();
  void backends();
  void data();

 private:
  DoctorReport report_;
};

void Examination::processor() {
  ok("cpu", cpu_model());
  const std::string isa = cpu_isa_name(cpu_isa()), cap = variable("SINDRI_CPU_ISA");
  add(cpu_isa() == CpuIsa::kScalar ? Verdict::kWarn : Verdict::kOk, "instruction set in use", isa,
      cap.empty() ? "a processor with AVX2; without it kernels are several times slower"
                  : "unset SINDRI_CPU_ISA: kernels without vectors are several times slower");
  cpu_set_t set;
  CPU_ZERO(&set);
  const int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1, threads = num_threads();
  const std::string text = fmt::format("{} (threads used by kernels: {})", std::thread::hardware_concurrency(), threads);
  if (threads > usable)
    add(Verdict::kWarn, "cores", fmt::format("{}, of which this process may use {}", text, usable),
        fmt::format("SINDRI_NUM_THREADS={}: more threads than cores wait for each other in every op", usable));
  else ok("cores", text);
  double load[1] = {0};
  if (getloadavg(load, 1) == 1)
    add(load[0] > 1.5 * usable ? Verdict::kWarn : Verdict::kOk, "load", fmt::format("{:.1f} in the last minute, on {} cores", load[0], usable),
        "wait for the other programs, or use fewer threads (SINDRI_NUM_THREADS)");
  if (variable("OMP_WAIT_POLICY") == "active")
    add(Verdict::kWarn, "waiting threads", "OMP_WAIT_POLICY=active lets them spin",
        "unset it, unless nothing else runs here: steps slow down as soon as another program needs a core");
  fact("strict mode", strict_mode() ? "on" : "off (SINDRI_STRICT=1 turns it on)");
}

// Memory that is still available: MemAvailable, and the container's limit.
double available_gib() {
  std::ifstream info("/proc/meminfo");
  double kib = -1;
  for (std::string key, unit; info >> key;) {
    double value = 0;
    info >> value;
    std::getline(info, unit);
    if (key == "MemAvailable:") kib = value;
  }
  double gib = kib < 0 ? memory_gib() : kib / 1024 / 1024;
  std::ifstream most("/sys/fs/cgroup/memory.max"), used("/sys/fs/cgroup/memory.current");
  double limit = 0, now = 0;
  if (most >> limit && used >> now) gib = std::min(gib, (limit - now) / kGib);  // "max" is not a number
  return gib;
}

void Examination::memory() {
  const double available = available_gib();
  add(by_bounds(available, 0.25, 1), "memory", fmt::format("{:.1f} GiB, {:.1f} GiB available", memory_gib(), available),
      "close other programs, raise the container's limit, or train with a smaller train.batch_size");
  struct statvfs shared {};
  if (statvfs("/dev/shm", &shared) == 0) {
    const double free = static_cast<double>(shared.f_bavail) * static_cast<double>(shared.f_frsize) / kGib;
    add(by_bounds(free, 0, 0.0625), "shared memory", fmt::format("{:.2f} GiB free in /dev/shm", free),
        "ranks of one machine exchange gradients there: remount it larger, in Docker with --shm-size=1g");
  } else {
    add(Verdict::kWarn, "shared memory", "/dev/shm does not exist", "mount a tmpfs there, for training with several ranks");
  }
}

// The nearest existing folder, for paths that are created on demand.
fs::path existing(fs::path folder) {
  std::error_code error;
  while (!folder.empty() && !fs::exists(folder, error) && folder != folder.parent_path()) folder = folder.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void Examination::disk() {
  const fs::path here = existing("runs");
  struct statvfs info {};
  if (access(here.c_str(), W_OK) != 0) {
    add(Verdict::kWarn, "run folders", "this folder cannot be written to", "start the run in another folder, or set train.run_dir");
  } else if (statvfs(here.c_str(), &info) == 0) {
    const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) / kGib;
    add(by_bounds(free, 0.05, 1), "run folders", fmt::format("{:.1f} GiB free here", free), "free space, or set train.run_dir to a folder on another disk");
  }
  const std::string cache = kernel_cache_file();
  if (cache.empty()) {
    add(Verdict::kWarn, "kernel cache", "no home folder to keep it in", "set SINDRI_CACHE_DIR; otherwise kernels are measured again in every run");
    return;
  }
  const fs::path folder = existing(fs::path(cache).parent_path());
  const bool writable = fs::is_directory(folder) && access(folder.c_str(), W_OK) == 0;
  add(writable ? Verdict::kOk : Verdict::kWarn, "kernel cache", cache + (writable ? "" : " cannot be written"),
      "set SINDRI_CACHE_DIR to a writable folder; otherwise kernels are measured again in every run");
}

void Examination::limits() {
  rlimit files{}, space{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
    add(by_bounds(static_cast<double>(files.rlim_cur), 32, 256), "open files", fmt::format("at most {}", files.rlim_cur), "raise the limit: ulimit -n 1024");
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    add(Verdict::kWarn, "address space", fmt::format("limited to {} MB", space.rlim_cur >> 20), "ulimit -v unlimited; libraries reserve more than they use");
}

void Examination::devices_found() {
  const auto gib = [](int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGib); };
  for (const DeviceListing& d : devices()) {
    const int64_t limit = device_memory_stats(d.device).limit;
    ok("device " + d.device.str(),
       fmt::format("{}; device_target {}, device_id {}; memory {}, free {}, limit {}", d.info.name, d.target, d.device.index, gib(d.info.memory),
                   gib(d.info.free), limit > 0 ? gib(limit) : "none"));
  }
  const std::vector<MissingPart> missing = missing_parts();  // loads backends that devices() does not query
  if (const std::string file = cuda_backend_file(); !file.empty()) fact("backend cuda", fmt::format("{}, {}", SINDRI_VERSION_STRING, file));
  const std::vector<DeviceListing> all = devices();
  // A machine without a GPU is fine: the lines then only describe what a GPU would need.
  const bool gpu = std::any_of(all.begin(), all.end(), [](const DeviceListing& d) { return d.device.kind == Device::kCuda; });
  for (const BackendLibrary& l : backend_libraries()) {
    const std::string found = l.error.empty() ? fmt::format("{}, {}", l.version, l.path) : fmt::format("{}; without it: {}", l.error, l.lost);
    if (!gpu) fact("library " + l.name, l.error.empty() ? found : fmt::format("{}; {}", found, l.fix));
    else add(l.error.empty() ? Verdict::kOk : Verdict::kWarn, "library " + l.name, found, l.fix);
  }
  for (const MissingPart& part : missing) fact("missing for " + part.target, part.what + "; " + part.fix);
  if (const std::string wanted = variable("SINDRI_DEVICE_TARGET"); !wanted.empty()) {
    const std::string number = variable("SINDRI_DEVICE_ID");
    try {
      ok("SINDRI_DEVICE_TARGET", find_device(wanted, std::atoi(number.c_str())).str());
    } catch (const Error& e) { add(Verdict::kFail, "SINDRI_DEVICE_TARGET", e.message(), e.fix()); }
  }
}

void Examination::backends() {
  const auto look = [&](const char* name, const char* file, const char* symbol, const std::string& how) {
    try {
      comm::open_plugin(file, symbol, false, how);
      ok(fmt::format("backend {}", name), "available");
    } catch (const Error& e) { fact(fmt::format("backend {}", name), fmt::format("not available: {}; {}", e.message(), how)); }
  };
  look("gloo", "libsindri_gloo.so", comm::kGlooTableSymbol, "for ranks without MPI, build with Gloo (libgloo-dev)");
  look("mpi", "libsindri_mpi.so", comm::kMpiTableSymbol, "for mpirun, install Open MPI (openmpi-bin) and build with it (libopenmpi-dev)");
}

void Examination::data() {
  try {
    ok("quickstart data", fmt::format("{} digits", dataset::DigitsDataset::make({})->get_dataset_size()));
  } catch (const Error& e) {
    add(Verdict::kWarn, "quickstart data", e.message(), "set data.path to the folder with digits.csv.gz; other data does not need it");
  }
  fact("ops", std::to_string(all_ops().size()));
}

const char* word(Verdict v) { return v == Verdict::kOk ? "OK" : v == Verdict::kWarn ? "WARN" : v == Verdict::kFail ? "FAIL" : ""; }

}  // namespace

Finding::Verdict DoctorReport::verdict() const {
  Verdict worst = Verdict::kOk;
  for (const Finding& f : findings) worst = std::max(worst, f.verdict);
  return worst;
}

DoctorReport examine() {
  Examination e;
  e.fact("sindri", SINDRI_VERSION_STRING);
  e.processor();
  e.memory();
  e.disk();
  e.limits();
  e.devices_found();
  e.backends();
  e.data();
  return e.take();
}

std::string doctor_text(const DoctorReport& r) {
  std::string out;
  int counts[4] = {};
  for (const Finding& f : r.findings) {
    ++counts[f.verdict];
    out += fmt::format("{:<5} {}: {}\n", word(f.verdict), f.name, f.text);
    if (!f.fix.empty()) out += fmt::format("      fix: {}\n", f.fix);
  }
  return out +
      fmt::format("\n{}: {} checks are OK, {} warn, {} fail\n", word(r.verdict()), counts[Verdict::kOk], counts[Verdict::kWarn], counts[Verdict::kFail]);
}

std::string doctor_json(const DoctorReport& r) {
  using nlohmann::ordered_json;
  ordered_json findings = ordered_json::array();
  for (const Finding& f : r.findings) {
    ordered_json j = {{"name", f.name}, {"verdict", f.verdict == Verdict::kFact ? "fact" : word(f.verdict)}, {"text", f.text}};
    if (!f.fix.empty()) j["fix"] = f.fix;
    findings.push_back(std::move(j));
  }
  const ordered_json j = {{"version", SINDRI_VERSION_STRING}, {"verdict", word(r.verdict())}, {"findings", std::move(findings)}};
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string doctor() { return doctor_text(examine()); }

}  // namespace sindri::app
