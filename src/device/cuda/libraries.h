// NVIDIA's libraries, opened at first use. Sindri is not linked against them: each has a table of function pointers
// (driver_api.h, cudnn_api.h, cublaslt_api.h, cusolver_api.h, nvrtc_api.h) that is filled from the file found here, so
// that one build runs with and without a GPU.
//
// A file is searched
//    1. in the process: another framework may have loaded it, and two copies do not work together;
//    2. in the folders of SINDRI_CUDA_LIBRARY_PATH, separated by colons;
//    3. where the linker looks (LD_LIBRARY_PATH, /etc/ld.so.conf);
//    4. in NVIDIA's Python packages (nvidia/*/lib in a site-packages folder) next to this module or next to the program.
// The first file that opens is used. If its version is not accepted, that is an error and not a reason to search
// further: libraries that load others (cuDNN, cuSOLVER) would find the wrong one again by its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::cuda {

enum class Library : uint8_t { kDriver, kCudnn, kCublasLt, kCusolver, kNvrtc, kNccl };
inline constexpr int kLibraries = 6;

/// The state of a library, as shown by `sindri doctor`.
struct LibraryState {
  std::string name;  ///< "cuDNN"
  std::string file;  ///< the requested name: "libcudnn.so.9"
  std::string path;  ///< of the file that was opened; empty if none was
  std::string version;  ///< of that file, "9.19.0"; empty if unknown
  std::string wanted;  ///< "9.12 or later, below 10"
  std::string error;  ///< why it cannot be used, with the file, its version and the accepted ones; empty if it can
  std::string lost;  ///< the features that are unavailable without it
  std::string fix;  ///< how to get it
  bool usable() const { return error.empty(); }
};

/// Opens the library unless that was tried before; the result stays for the life of the process. May be called from any
/// thread; never throws for a missing library.
const LibraryState& library_state(Library library);
/// Returns the states of all libraries, in the order of Library. The first call opens those that nothing has used yet.
std::vector<LibraryState> library_states();
/// Throws DeviceError with the state's error, the unavailable features, and the fix, unless the library can be used.
void require(Library library);

/// For programs that contain a library's functions, as the host run does: `find` returns the address of a function by
/// its symbol, and no file is searched. Call it before the library's first use. `path` is shown in LibraryState.
void load_library(Library library, std::string path, void* (*find)(const char* symbol));

}  // namespace sindri::cuda
