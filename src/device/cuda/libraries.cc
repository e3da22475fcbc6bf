// See libraries.h: the required versions, and the tables.
#include "src/device/cuda/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "sindri/core/error.h"
#include "src/core/once.h"
#include "src/device/cuda/cublaslt_api.h"
#include "src/device/cuda/cudnn_api.h"
#include "src/device/cuda/cusolver_api.h"
#include "src/device/cuda/driver_api.h"
#include "src/device/cuda/library_search.h"
#include "src/device/cuda/nvrtc_api.h"

namespace sindri::cuda {

namespace {

struct Version {
  int major = 0, minor = 0, patch = 0;
  bool has_patch = true;
  std::string text() const { return has_patch ? fmt::format("{}.{}.{}", major, minor, patch) : fmt::format("{}.{}", major, minor); }
};

struct Facts {
  const char* name;
  std::vector<std::string> files;
  int major, minor;  // oldest accepted version, within this major version
  const char* why;  // why that one is the oldest
  const char* lost;
  const char* fix;
};

#define SINDRI_OTHER_FOLDER "; if the linker does not search its folder, name it in SINDRI_CUDA_LIBRARY_PATH"

// In the order of Library. Minor versions: CUDA 13's libraries are binary compatible within the major version. cuDNN
// 9.12 is the first for CUDA 13.
const std::array<Facts, kLibraries>& facts() {
  static const std::array<Facts, kLibraries> all = {{
      {"CUDA driver",
       {"libcuda.so.1"},
       13,
       0,
       "driver 580 or later",
       "no GPU can be used",
       "install NVIDIA's driver 580 or later (Debian: nvidia-driver), or give the container the GPUs (docker run --gpus all)"},
      {"cuDNN",
       {"libcudnn.so.9"},
       9,
       12,
       "the first for CUDA 13",
       "convolutions run by Sindri's own kernels, without tensor cores",
       "pip install nvidia-cudnn-cu13, or apt install libcudnn9-cuda-13 from NVIDIA's repository" SINDRI_OTHER_FOLDER},
      {"cuBLASLt",
       {"libcublasLt.so.13"},
       13,
       0,
       "",
       "dense layers and matrix products run by Sindri's own kernels, without tensor cores",
       "pip install nvidia-cublas, or apt install libcublas-13-0 from NVIDIA's repository" SINDRI_OTHER_FOLDER},
      {"cuSOLVER",
       {"libcusolver.so.12"},
       12,
       0,
       "",
       "THOR inverts its blocks by Sindri's own kernels, which take longer",
       "pip install nvidia-cusolver, or apt install libcusolver-13-0 from NVIDIA's repository" SINDRI_OTHER_FOLDER},
      {"NVRTC",
       {"libnvrtc.so.13"},
       13,
       0,
       "",
       "no kernels are generated at run time: clusters of elementwise ops are interpreted, and cuDNN has its precompiled engines only",
       "pip install nvidia-cuda-nvrtc, or apt install cuda-nvrtc-13-0 from NVIDIA's repository" SINDRI_OTHER_FOLDER},
      {"NCCL",
       {"libnccl.so.2"},
       2,
       18,
       "communicators that do not block",
       "training uses one GPU",
       "pip install nvidia-nccl-cu13, or apt install libnccl2" SINDRI_OTHER_FOLDER},
  }};
  return all;
}

// NCCL's table is in src/comm/nccl_api.h. Opening NCCL here too ensures that it finds the library in the process.
struct NcclApi {
  int (*GetVersion)(int*) = nullptr;
};

struct Tables {
  DriverApi driver;
  CudnnApi cudnn;
  CublasLtApi cublaslt;
  CusolverApi cusolver;
  NvrtcApi nvrtc;
  NcclApi nccl;
};

// The source of a library's functions: a file, or the program.
struct Source {
  void* handle = nullptr;
  void* (*brought)(const char* symbol) = nullptr;
  void* find(const char* symbol) const { return brought != nullptr ? brought(symbol) : dlsym(handle, symbol); }
};

struct Slot {
  Once once;
  void* (*brought)(const char* symbol) = nullptr;
  std::string brought_path;
  LibraryState state;
};

// Never destroyed: kernels may run while the process ends.
Tables& tables() {
  static Tables* const all = new Tables;
  return *all;
}
std::array<Slot, kLibraries>& slots() {
  static auto* const all = new std::array<Slot, kLibraries>;
  return *all;
}

// Returns the missing functions, separated by commas.
std::string fill(Library library, const Source& source) {
  std::string missing;
  const auto find = [&](auto* function, const char* symbol) {
    *reinterpret_cast<void**>(function) = source.find(symbol);
    if (*function == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", symbol);
  };
  Tables& t = tables();
  switch (library) {
#define X(name) find(&t.driver.name, SINDRI_SYMBOL_TEXT(cu##name));
    case Library::kDriver: SINDRI_DRIVER_FUNCTIONS(X) break;
#undef X
#define X(name) find(&t.cudnn.name, SINDRI_SYMBOL_TEXT(cudnn##name));
    case Library::kCudnn: SINDRI_CUDNN_FUNCTIONS(X) break;
#undef X
#define X(name) find(&t.cublaslt.name, SINDRI_SYMBOL_TEXT(cublasLt##name));
    case Library::kCublasLt: SINDRI_CUBLASLT_FUNCTIONS(X) break;
#undef X
#define X(name) find(&t.cusolver.name, SINDRI_SYMBOL_TEXT(cusolver##name));
    case Library::kCusolver: SINDRI_CUSOLVER_FUNCTIONS(X) break;
#undef X
#define X(name) find(&t.nvrtc.name, SINDRI_SYMBOL_TEXT(nvrtc##name));
    case Library::kNvrtc: SINDRI_NVRTC_FUNCTIONS(X) break;
#undef X
    case Library::kNccl: find(&t.nccl.GetVersion, "ncclGetVersion"); break;
  }
  return missing;
}

Version split(size_t number, size_t major, size_t minor, bool has_patch = true) {
  return {static_cast<int>(number / major), static_cast<int>(number % major / minor), static_cast<int>(number % minor), has_patch};
}

// Returns nothing if the library does not report its version. Calls only functions that fill() has found: the version
// function may exist although others are missing.
std::optional<Version> version_of(Library library) {
  const Tables& t = tables();
  switch (library) {
    case Library::kDriver: {
      int number = 0;
      if (t.driver.DriverGetVersion == nullptr || t.driver.DriverGetVersion(&number) != CUDA_SUCCESS) return {};
      return split(static_cast<size_t>(number), 1000, 10, false);
    }
    case Library::kCudnn: return t.cudnn.GetVersion != nullptr ? std::optional(split(t.cudnn.GetVersion(), 10000, 100)) : std::nullopt;
    case Library::kCublasLt: return t.cublaslt.GetVersion != nullptr ? std::optional(split(t.cublaslt.GetVersion(), 10000, 100)) : std::nullopt;
    case Library::kCusolver: {
      Version v;
      if (t.cusolver.GetProperty == nullptr) return {};
      for (const auto& [property, number] : {std::pair{MAJOR_VERSION, &v.major}, {MINOR_VERSION, &v.minor}, {PATCH_LEVEL, &v.patch}})
        if (t.cusolver.GetProperty(property, number) != CUSOLVER_STATUS_SUCCESS) return {};
      return v;
    }
    case Library::kNvrtc: {
      Version v{.has_patch = false};
      if (t.nvrtc.Version == nullptr || t.nvrtc.Version(&v.major, &v.minor) != NVRTC_SUCCESS) return {};
      return v;
    }
    case Library::kNccl: {
      int number = 0;
      if (t.nccl.GetVersion == nullptr || t.nccl.GetVersion(&number) != 0) return {};
      return number < 10000 ? split(static_cast<size_t>(number), 1000, 100) : split(static_cast<size_t>(number), 10000, 100);
    }
  }
  return {};
}

LibraryState open(Library library) {
  const Facts& f = facts()[static_cast<size_t>(library)];
  LibraryState s;
  s.name = f.name;
  s.file = f.files.front();
  s.wanted = fmt::format("{}.{} or later, below {}{}{}", f.major, f.minor, f.major + 1, *f.why != 0 ? ": " : "", f.why);
  s.lost = f.lost;
  s.fix = f.fix;
  const Slot& slot = slots()[static_cast<size_t>(library)];
  const FoundLibrary found = slot.brought != nullptr ? FoundLibrary{nullptr, slot.brought_path, ""} : find_library(f.files);
  if (!found.error.empty()) {
    s.error = fmt::format("{}: {}", f.name, found.error);
    return s;
  }
  s.path = found.path;
  const std::string missing = fill(library, {found.handle, slot.brought});
  const std::optional<Version> version = version_of(library);
  if (version) s.version = version->text();
  if (version && (version->major != f.major || version->minor < f.minor)) {
    s.error = fmt::format("{} is {} {}, required is {}", s.path, f.name, s.version, s.wanted);
  } else if (!missing.empty()) {
    s.error = fmt::format("{} lacks {}: it is not {} {}", s.path, missing, f.name, s.wanted);
  } else if (!version) {
    s.error = fmt::format("{} does not report its version, required is {} {}", s.path, f.name, s.wanted);
    if (library == Library::kDriver) s.error += " (the toolkit's stub of the driver does not; it is for linking only)";
  }
  return s;
}

}  // namespace

const LibraryState& library_state(Library library) {
  Slot& slot = slots()[static_cast<size_t>(library)];
  slot.once.call([&] {
    if (library == Library::kCudnn)
      for (const Library opened_by_name : {Library::kDriver, Library::kNvrtc, Library::kCublasLt}) library_state(opened_by_name);
    slot.state = open(library);
  });
  return slot.state;
}

std::vector<LibraryState> library_states() {
  std::vector<LibraryState> all;
  for (int i = 0; i < kLibraries; ++i) all.push_back(library_state(static_cast<Library>(i)));
  return all;
}

void require(Library library) {
  const LibraryState& s = library_state(library);
  if (!s.usable()) throw DeviceError(s.error, fmt::format("without it {}", s.lost), s.fix);
}

void load_library(Library library, std::string path, void* (*find)(const char* symbol)) {
  Slot& slot = slots()[static_cast<size_t>(library)];
  slot.brought = find;
  slot.brought_path = std::move(path);
}

const DriverApi& driver_api() { return require(Library::kDriver), tables().driver; }
const CudnnApi& cudnn_api() { return require(Library::kCudnn), tables().cudnn; }
const CublasLtApi& cublaslt_api() { return require(Library::kCublasLt), tables().cublaslt; }
const CusolverApi& cusolver_api() { return require(Library::kCusolver), tables().cusolver; }
const NvrtcApi& nvrtc_api() { return require(Library::kNvrtc), tables().nvrtc; }

}  // namespace sindri::cuda
