// NVIDIA's libraries, opened at first use. Nothing of ours is linked against them: each has a table of function pointers (driver_api.h, cudnn_api.h,
// cublaslt_api.h, cusolver_api.h, nvrtc_api.h) that is filled from the file found here, so that one build runs with and without a GPU.
//
// A file is looked for
//   1. in the process: another framework may have loaded it, and two copies do not go together;
//   2. in the folders of SINDRI_CUDA_LIBRARY_PATH, separated by colons;
//   3. where the linker looks (LD_LIBRARY_PATH, /etc/ld.so.conf);
//   4. in NVIDIA's Python packages (nvidia/*/lib in a site-packages folder) beside this module or beside the program.
// The first that opens is taken. If its version is not the wanted one, that is an error and not a reason to look further: libraries that load others
// (cuDNN, cuSOLVER) would find the wrong one again by its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::cuda {

enum class Library : uint8_t { kDriver, kCudnn, kCublasLt, kCusolver, kNvrtc, kNccl };
inline constexpr int kLibraries = 6;

/// What `sindri doctor` says of a library.
struct LibraryState {
  std::string name;  ///< "cuDNN"
  std::string file;  ///< as it is asked for: "libcudnn.so.9"
  std::string path;  ///< of the file that was opened; empty if none was
  std::string version;  ///< of that file, "9.19.0"; empty if it did not tell
  std::string wanted;  ///< "9.12 or later, below 10"
  std::string error;  ///< why it cannot be used, with the file, its version and the wanted one; empty if it can
  std::string lost;  ///< what cannot be done without it
  std::string fix;  ///< how to get it
  bool usable() const { return error.empty(); }
};

/// Opens the library unless that was tried before; the outcome stays for the life of the process. Any thread; never throws for a library that is missing.
const LibraryState& library_state(Library library);
/// All of them, in the order of Library. The first call opens those that nothing has used yet.
std::vector<LibraryState> library_states();
/// Throws DeviceError with the state's error, what is lost, and the fix, unless the library can be used.
void require(Library library);

/// For programs that have a library's functions themselves, as the host run does: `find` gives the address of a function by its symbol, and no file is looked
/// for. Before the library's first use. `path` is what LibraryState shows.
void bring_library(Library library, std::string path, void* (*find)(const char* symbol));

}  // namespace sindri::cuda
