// NVRTC for machines without a GPU: the host compiler compiles the same source to a library (generated_language.h), and the CUDA runtime's functions for
// kernels loaded at run time start its function on the stand-in's streams. A compilation takes about a second, so nothing is generated unless
// SINDRI_CUDA_CODEGEN=1 requests it. SINDRI_CUDA_HOST_COMPILER replaces the compiler that built this.
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cuda_host/fibers.h"
#include "cuda_host/runtime.h"
#include "src/device/cuda/generated_code.h"
#include "src/device/cuda/libraries.h"

using namespace sindri;

struct _nvrtcProgram {
  std::string text, log, library;
};

namespace {

namespace fs = std::filesystem;

using OnHost = void (*)(int64_t thread, int64_t threads, const void* args);
struct Loaded {
  OnHost run;
  size_t bytes;
};

// A temporary folder.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "sindri_generated_").string() + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};
std::string contents(const fs::path& file) {
  std::ifstream f(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>()};
}

nvrtcResult version(int* major, int* minor) {
  *major = 13, *minor = 999;  // not a real version: both kinds of library may lie in one cache folder
  return NVRTC_SUCCESS;
}
const char* error_string(nvrtcResult result) { return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "an error of the stand-in"; }
nvrtcResult create(nvrtcProgram* program, const char* text, const char*, int, const char* const*, const char* const*) {
  *program = new _nvrtcProgram{text, "", ""};
  return NVRTC_SUCCESS;
}
nvrtcResult destroy(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult compile(nvrtcProgram program, int count, const char* const* options) {
  bool architecture = false;
  for (int i = 0; i < count; ++i) architecture = architecture || std::string_view(options[i]).starts_with("-arch=sm_");
  if (!architecture) return NVRTC_ERROR_INVALID_OPTION;
  const Folder folder;  // the test ends if it cannot be made
  std::ofstream(folder.path / "cluster.cc") << program->text;
  const char* const other = std::getenv("SINDRI_CUDA_HOST_COMPILER");
  const std::string at = folder.path.string(), source = SINDRI_SOURCE_FOLDER;
  const std::string command = fmt::format(
      "{0} -std=c++20 -O1 -ffp-contract=off -fPIC -shared -fvisibility=hidden -I{1} -I{1}/include -I{1}/tests {2}/cluster.cc -o {2}/cluster.so >{2}/log 2>&1",
      other != nullptr ? other : SINDRI_HOST_COMPILER, source, at);
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): it reads no variables that others write
  program->log = contents(folder.path / "log");
  if (status != 0) return NVRTC_ERROR_COMPILATION;
  program->library = contents(folder.path / "cluster.so");
  const uint64_t bytes = program->library.size();
  program->library.insert(0, reinterpret_cast<const char*>(&bytes), sizeof bytes);  // cudaLibraryLoadData does not get the size
  return NVRTC_SUCCESS;
}
nvrtcResult log_size(nvrtcProgram program, size_t* bytes) { return *bytes = program->log.size() + 1, NVRTC_SUCCESS; }
nvrtcResult get_log(nvrtcProgram program, char* log) { return std::memcpy(log, program->log.c_str(), program->log.size() + 1), NVRTC_SUCCESS; }
nvrtcResult cubin_size(nvrtcProgram program, size_t* bytes) { return *bytes = program->library.size(), NVRTC_SUCCESS; }
nvrtcResult get_cubin(nvrtcProgram program, char* cubin) { return std::memcpy(cubin, program->library.data(), program->library.size()), NVRTC_SUCCESS; }

void* find(const char* symbol) {
  static const std::map<std::string_view, void*> all = {
      {"nvrtcVersion", reinterpret_cast<void*>(version)},        {"nvrtcGetErrorString", reinterpret_cast<void*>(error_string)},
      {"nvrtcCreateProgram", reinterpret_cast<void*>(create)},   {"nvrtcDestroyProgram", reinterpret_cast<void*>(destroy)},
      {"nvrtcCompileProgram", reinterpret_cast<void*>(compile)}, {"nvrtcGetProgramLogSize", reinterpret_cast<void*>(log_size)},
      {"nvrtcGetProgramLog", reinterpret_cast<void*>(get_log)},  {"nvrtcGetCUBINSize", reinterpret_cast<void*>(cubin_size)},
      {"nvrtcGetCUBIN", reinterpret_cast<void*>(get_cubin)},
  };
  const auto at = all.find(symbol);
  return at == all.end() ? nullptr : at->second;
}
const bool kBrought = (cuda::load_library(cuda::Library::kNvrtc, "stand-in of the host run", find), true);
bool asked_for() {
  const char* const v = std::getenv("SINDRI_CUDA_CODEGEN");
  return v != nullptr && std::string_view(v) == "1";
}
const bool kSet = (cuda::set_code_generation(asked_for()), true);

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, code, sizeof bytes);
  const Folder folder;
  const fs::path file = folder.path / "cluster.so";
  std::ofstream(file, std::ios::binary).write(static_cast<const char*>(code) + sizeof bytes, static_cast<std::streamsize>(bytes));
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  *library = static_cast<cudaLibrary_t>(handle);
  return handle != nullptr ? cudaSuccess : cudaErrorInvalidKernelImage;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  void* const run = dlsym(library, fmt::format("{}_on_host", name).c_str());
  const void* const bytes = dlsym(library, fmt::format("{}_argument_bytes", name).c_str());
  if (run == nullptr || bytes == nullptr) return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(new Loaded{reinterpret_cast<OnHost>(run), *static_cast<const size_t*>(bytes)});  // lives as long as the process
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  *attributes = {};
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  const auto& loaded = *static_cast<const Loaded*>(kernel);
  std::vector<uintptr_t> words(loaded.bytes / sizeof(uintptr_t));
  std::memcpy(words.data(), arguments[0], loaded.bytes);
  try {
    for (uintptr_t& w : words) w = cuda_host::translated_word(w, false);
  } catch (...) { return cudaErrorInvalidValue; }
  return cuda_host::launch(
      config->stream, "a generated kernel", {config->gridDim, config->blockDim, config->dynamicSmemBytes, false}, [run = loaded.run, words] {
        const auto& here = cuda_host::here();
        run(static_cast<int64_t>(here.block.x) * here.block_dim.x + here.thread.x, static_cast<int64_t>(here.grid_dim.x) * here.block_dim.x, words.data());
      });
}
}
