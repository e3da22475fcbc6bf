// See generated_code.h. A cache file consists of a line with the format version and the key, a line with the cubin's size and hash,
// and the cubin itself.
#include "src/device/cuda/generated_code.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/op/kernel_choice.h"
#include "src/core/once.h"
#include "src/device/cuda/libraries.h"
#include "src/device/cuda/nvrtc_api.h"
#include "src/device/cuda/stream.h"
#include "src/op/cache_file.h"

namespace sindri::cuda {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 2048;
std::atomic<int64_t> g_compilations{0};
enum Switch { kAsLimited, kOff, kOn };
std::atomic<Switch> g_switch{kAsLimited};

// NVRTC has no standard library: these are the few names that the headers use from it.
constexpr const char* kCstdint =
    "#pragma once\ntypedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n"
    "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n#define INT64_MIN (-9223372036854775807ll - 1)\n#define INT64_MAX "
    "9223372036854775807ll\n";
constexpr const char* kTypeTraits =
    "#pragma once\nnamespace std {\ntemplate <class T> inline constexpr bool is_integral_v = false;\n"
    "#define SINDRI_INTEGRAL(T) template <> inline constexpr bool is_integral_v<T> = true;\n"
    "SINDRI_INTEGRAL(bool) SINDRI_INTEGRAL(char) SINDRI_INTEGRAL(signed char) SINDRI_INTEGRAL(unsigned char) SINDRI_INTEGRAL(short)\n"
    "SINDRI_INTEGRAL(unsigned short) SINDRI_INTEGRAL(int) SINDRI_INTEGRAL(unsigned) SINDRI_INTEGRAL(long) SINDRI_INTEGRAL(unsigned long)\n"
    "SINDRI_INTEGRAL(long long) SINDRI_INTEGRAL(unsigned long long)\n#undef SINDRI_INTEGRAL\n}\n";

// -fmad=false: a step's result is rounded before the next step, as in the interpreter, which is compiled with the same option.
constexpr const char* kOptions[] = {"-std=c++20", "-fmad=false", "-default-device"};

// FNV-1a, with two different initial values.
uint64_t hash(std::string_view text, uint64_t h) {
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}
std::string hash_text(std::string_view text) { return fmt::format("{:016x}{:016x}", hash(text, 0xcbf29ce484222325ull), hash(text, 0x9ae16a3b2f90404full)); }

struct Program {
  const NvrtcApi& api;
  nvrtcProgram handle = nullptr;
  explicit Program(const NvrtcApi& functions) : api(functions) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle != nullptr) api.DestroyProgram(&handle);
  }
};

// Contains everything that determines the cubin.
std::string key_of(const std::string& text, int capability) {
  std::string all = fmt::format("NVRTC {} sm_{}", library_state(Library::kNvrtc).version, capability);
  for (const char* o : kOptions) all += fmt::format(" {}", o);
  for (const GeneratedHeader& h : generated_headers()) all += fmt::format("\n{}\n{}", h.name, h.text);
  return hash_text(all + kCstdint + kTypeTraits + text);
}

std::string header_of(const std::string& key, const std::string& cubin) {
  return fmt::format("sindri generated 1 {}\n{} {}\n", key, cubin.size(), hash_text(cubin));
}

// Returns an empty string if the file is missing or damaged; the text is then compiled and the file replaced.
std::string read_cubin(const std::string& file, const std::string& key) {
  std::ifstream f(file, std::ios::binary);
  if (!f) return "";
  std::string first, second;
  std::getline(f, first);
  std::getline(f, second);
  std::string cubin{std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>()};
  if (!cubin.empty() && header_of(key, cubin) == first + "\n" + second + "\n") {
    std::error_code ignored;
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);  // bound_folder keeps the most recently used files
    return cubin;
  }
  log::info("dispatch", fmt::format("{} is damaged: its kernel is compiled again", file));
  return "";
}

// Deletes the folder's least recently used files.
void bound_folder(const fs::path& folder) {
  std::error_code error;
  std::multimap<fs::file_time_type, fs::path> by_age;
  for (fs::directory_iterator e(folder, error), end; !error && e != end; e.increment(error)) {
    std::error_code gone;
    if (const auto time = e->last_write_time(gone); e->path().extension() == ".cubin" && !gone) by_age.emplace(time, e->path());
  }
  while (by_age.size() > kMostFiles) {
    fs::remove(by_age.begin()->second, error);
    by_age.erase(by_age.begin());
  }
}

void keep_cubin(const std::string& file, const std::string& key, const std::string& cubin) {
  static std::atomic<bool> told{false};
  if (const std::string why = replace_cache_file(file, header_of(key, cubin) + cubin); !why.empty()) {
    if (!told.exchange(true)) log::warn("dispatch", fmt::format("{} cannot be written ({}): generated kernels are compiled again next time", file, why));
    return;
  }
  bound_folder(fs::path(file).parent_path());
}

// Warns once per process: all generated sources of a network fail for the same reason.
void tell_failure(const std::string& why) {
  static std::atomic<bool> told{false};
  log::write(told.exchange(true) ? log::Level::kDebug : log::Level::kWarn, "dispatch",
             fmt::format("a generated kernel cannot be used, the cluster is interpreted: {}", why));
}

GeneratedFunction load(const std::string& text, const char* name, int capability) {
  GeneratedFunction out;
  if (const LibraryState& nvrtc = library_state(Library::kNvrtc); !nvrtc.usable()) {
    out.why = nvrtc.error;
    tell_failure(out.why);
    return out;
  }
  const std::string key = key_of(text, capability), file = cache_file(fmt::format("generated/{}.cubin", key));
  std::string cubin = file.empty() ? "" : read_cubin(file, key);
  if (cubin.empty()) {
    cubin = compile_generated(nvrtc_api(), text, capability, &out.why);
    if (cubin.empty()) {
      tell_failure(out.why);
      return out;
    }
    if (!file.empty()) keep_cubin(file, key, cubin);
  }
  cudaLibrary_t library = nullptr;
  cudaError_t error = cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&out.kernel, library, name);
  // The runtime may load code at its first use. Load it here, where the interpreter can still take over, and not within a step.
  cudaFuncAttributes loaded{};
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&loaded, reinterpret_cast<const void*>(out.kernel));
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    out.kernel = nullptr;
    out.why = fmt::format("the CUDA runtime does not load it: {}", cudaGetErrorString(error));
    tell_failure(out.why);
  }
  return out;
}

struct Known {
  Once once;
  GeneratedFunction function;
};

}  // namespace

bool code_generation() { return g_switch == kAsLimited ? library_limits().code_generation : g_switch == kOn; }
void set_code_generation(bool on) { g_switch = on ? kOn : kOff; }

int64_t generated_compilations() { return g_compilations; }

std::string compile_generated(const NvrtcApi& api, const std::string& text, int capability, std::string* why) {
  std::vector<const char*> sources = {kCstdint, kTypeTraits}, names = {"cstdint", "type_traits"};
  for (const GeneratedHeader& h : generated_headers()) sources.push_back(h.text), names.push_back(h.name);
  const std::string architecture = fmt::format("-arch=sm_{}", capability);
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(architecture.c_str());
  ++g_compilations;
  Program program(api);
  nvrtcResult result = api.CreateProgram(&program.handle, text.c_str(), "cluster.cu", static_cast<int>(names.size()), sources.data(), names.data());
  if (result == NVRTC_SUCCESS) result = api.CompileProgram(program.handle, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  if (result == NVRTC_SUCCESS) result = api.GetCUBINSize(program.handle, &size);
  std::string cubin(size, 0);
  if (result == NVRTC_SUCCESS) result = api.GetCUBIN(program.handle, cubin.data());
  if (result == NVRTC_SUCCESS && size > 0) return cubin;
  std::string log;
  if (size_t bytes = 0; program.handle != nullptr && api.GetProgramLogSize(program.handle, &bytes) == NVRTC_SUCCESS && bytes > 1) {
    log.resize(bytes);
    if (api.GetProgramLog(program.handle, log.data()) != NVRTC_SUCCESS) log.clear();
  }
  *why = fmt::format("NVRTC for sm_{}: {}{}{}", capability, api.GetErrorString(result), log.empty() ? "" : "\n", log.c_str());
  return "";
}

const GeneratedFunction& generated_function(const std::string& text, const char* name, int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for the compute capability", {Device::kCuda, device});
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking for the compute capability", {Device::kCuda, device});
  static std::mutex mutex;
  static auto* const all = new std::map<std::pair<int, std::string>, std::unique_ptr<Known>>;
  Known* known = nullptr;
  {
    const std::lock_guard lock(mutex);
    std::unique_ptr<Known>& entry = (*all)[{major * 10 + minor, text}];
    if (entry == nullptr) entry = std::make_unique<Known>();
    known = entry.get();
  }
  known->once.call([&] {
    const NotCaptured outside;
    const OnDevice on(device);
    known->function = load(text, name, major * 10 + minor);
  });
  return known->function;
}

}  // namespace sindri::cuda
