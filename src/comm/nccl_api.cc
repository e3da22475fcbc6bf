#include "src/comm/nccl_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "sindri/core/context.h"
#include "sindri/core/error.h"

namespace sindri::comm::nccl {

std::string version_text(int version) {
  // Version numbers up to 2.8 have one digit less for the minor version.
  const int major = version < 10000 ? version / 1000 : version / 10000, rest = version - major * (version < 10000 ? 1000 : 10000);
  return fmt::format("{}.{}.{}", major, rest / 100, rest % 100);
}

namespace {

constexpr const char* kFix =
    "install NCCL 2.18 or newer (Debian: libnccl2; Python: pip install nvidia-nccl-cu13, whose file is nvidia/nccl/lib/libnccl.so.2 in site-packages) and "
    "name the file with SINDRI_NCCL_LIBRARY if the linker does not find it";

void* open_library(const std::string& file) {
  if (!file.empty()) return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (void* const there = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return there;
  // The folders that the CUDA backend searches first for its libraries (src/device/cuda/library_search.h).
  const char* const folders = std::getenv("SINDRI_CUDA_LIBRARY_PATH");
  std::istringstream each(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(each, folder, ':');) {
    if (folder.empty()) continue;
    if (void* const found = dlopen((folder + "/libnccl.so.2").c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

Api load(const std::string& asked) {
  const char* const named = std::getenv("SINDRI_NCCL_LIBRARY");
  const std::string file = !asked.empty() ? asked : named != nullptr ? named : "";
  if (strict_mode()) {  // NCCL's summation order follows from these two, which it otherwise chooses by size and topology
    setenv("NCCL_ALGO", "Ring", 0);
    setenv("NCCL_PROTO", "Simple", 0);
  }
  void* const library = open_library(file);
  if (library == nullptr) throw CommError(ErrorCode::kCommLibrary, fmt::format("NCCL cannot be loaded: {}", dlerror()), file, kFix);
  Api api;
  std::string missing;
  const auto find = [&](auto* function, const char* name) {
    *reinterpret_cast<void**>(function) = dlsym(library, name);
    if (*function == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  };
  find(&api.GetVersion, "ncclGetVersion");
  if (api.GetVersion != nullptr) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(api.GetVersion), &info) != 0 && info.dli_fname != nullptr) api.path = info.dli_fname;
    if (const Result r = api.GetVersion(&api.version); r != kSuccess)
      throw CommError(ErrorCode::kCommLibrary, fmt::format("NCCL does not report its version (result {})", static_cast<int>(r)), api.path, kFix);
    if (api.version < kOldest)
      throw CommError(ErrorCode::kCommLibrary, fmt::format("NCCL {} is too old, 2.18 is needed", version_text(api.version)), api.path, kFix);
  }
  find(&api.GetUniqueId, "ncclGetUniqueId");
  find(&api.CommInitRankConfig, "ncclCommInitRankConfig");
  find(&api.CommGetAsyncError, "ncclCommGetAsyncError");
  find(&api.CommFinalize, "ncclCommFinalize");
  find(&api.CommDestroy, "ncclCommDestroy");
  find(&api.CommAbort, "ncclCommAbort");
  find(&api.GetErrorString, "ncclGetErrorString");
  find(&api.GetLastError, "ncclGetLastError");
  find(&api.GroupStart, "ncclGroupStart");
  find(&api.GroupEnd, "ncclGroupEnd");
  find(&api.AllReduce, "ncclAllReduce");
  find(&api.Reduce, "ncclReduce");
  find(&api.Broadcast, "ncclBroadcast");
  find(&api.AllGather, "ncclAllGather");
  find(&api.ReduceScatter, "ncclReduceScatter");
  find(&api.Send, "ncclSend");
  find(&api.Recv, "ncclRecv");
  if (!missing.empty()) throw CommError(ErrorCode::kCommLibrary, fmt::format("this is not NCCL: it lacks {}", missing), file, kFix);
  return api;
}

}  // namespace sindri::comm::nccl
