// See cuda_plugin.h.
#include "src/device/cuda_plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>

#include "sindri/version.h"
#include "src/core/plugin.h"

const char SINDRI_CUDA_FITS = 0;

namespace sindri {

namespace {

constexpr const char* kFile = "libsindri_cuda.so";
constexpr const char* kInstall =
    "use the CPU (device_target CPU), or install the backend: the wheel sindri-cuda, Debian's libsindri-cuda, or in the sources scripts/build.sh release "
    "--cuda; "
    "SINDRI_CUDA_PLUGIN names it if it is elsewhere (docs/guide/gpu.md)";
constexpr const char* kSameBuild =
    "install both from the same build: the wheels sindri and sindri-cuda, or Debian's libsindri and libsindri-cuda; in the sources, run scripts/build.sh "
    "release "
    "--cuda again";

struct State {
  std::mutex mutex;
  bool tried = false;
  std::optional<MissingPart> missing;
  std::string file;
};
State& state() {
  static State* const s = new State;
  return *s;
}

// Checks the kernel module's files, which every program can see: testing for a file costs nothing, loading libcuda does.
bool has_driver() {
  constexpr std::array<const char*, 3> kSigns = {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"};
  return std::any_of(kSigns.begin(), kSigns.end(), [](const char* path) { return access(path, F_OK) == 0; });
}

// A plugin registers itself with libsindri.so. If the program contains the library's objects instead, the plugin would
// load a second copy of the library and register itself there.
bool is_shared_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_cuda_backend), &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view file = info.dli_fname;
  return file.substr(file.rfind('/') + 1).starts_with("libsindri.so");
}

MissingPart other_version(const std::string& path, const std::string& version) {
  return {"GPU", fmt::format("the CUDA backend {} has version {}, this is Sindri {}", path, version, SINDRI_VERSION_STRING),
          fmt::format("install version {} of it (pip install sindri-cuda=={}, or Debian's libsindri-cuda), or in the sources build both again",
                      SINDRI_VERSION_STRING, SINDRI_VERSION_STRING)};
}

// Returns why the backend is missing, or sets the file that it was loaded from.
std::optional<MissingPart> open_plugin(std::string* loaded) {
  const char* const given = std::getenv("SINDRI_CUDA_PLUGIN");
  const std::string file = given != nullptr && *given != '\0' ? given : kFile;
  if (file == "0") return MissingPart{"GPU", "the CUDA backend is disabled by SINDRI_CUDA_PLUGIN=0", "unset it"};
  if (!is_shared_library())
    return MissingPart{"GPU", fmt::format("this program contains a copy of libsindri, so it cannot load the CUDA backend ({})", file),
                       "link the program to libsindri.so"};
  const Plugin plugin = open_library_next_to(file, false);
  if (!plugin.found) return MissingPart{"GPU", fmt::format("the CUDA backend ({}) is not installed", file), kInstall};
  if (plugin.library == nullptr) {
    const std::string version = cuda_plugin_version(plugin.path);
    if (!version.empty() && version != SINDRI_VERSION_STRING) return other_version(plugin.path, version);
    return MissingPart{"GPU", "the CUDA backend does not load: " + plugin.problem, kSameBuild};
  }
  const auto version = reinterpret_cast<const char* (*)()>(plugin.symbol("sindri_cuda_version"));
  const auto enroll = reinterpret_cast<void (*)()>(plugin.symbol("sindri_cuda_register"));
  if (version == nullptr || enroll == nullptr)
    return MissingPart{"GPU", plugin.path + " is not Sindri's CUDA backend", "unset SINDRI_CUDA_PLUGIN, or name another file"};
  if (std::string(version()) != SINDRI_VERSION_STRING) return other_version(plugin.path, version());
  *loaded = plugin.path;
  enroll();
  return std::nullopt;
}

}  // namespace

void load_cuda_backend(bool asked) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.tried || (!asked && !has_driver() && std::getenv("SINDRI_CUDA_PLUGIN") == nullptr)) return;
  s.tried = true;
  s.missing = open_plugin(&s.file);
}

std::optional<MissingPart> missing_cuda_backend() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.missing;
}

std::string cuda_backend_file() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.file;
}

std::string cuda_plugin_version(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const std::string mark = SINDRI_CUDA_MARK;
  const size_t at = content.find(mark);
  return at == std::string::npos ? "" : std::string(content.c_str() + at + mark.size());
}

}  // namespace sindri
