// Where a shared library is looked for; see libraries.h for the order.
#pragma once

#include <string>
#include <vector>

namespace sindri::cuda {

/// A shared library that was opened, or why none was. Never closed: it may run threads.
struct FoundLibrary {
  void* handle = nullptr;
  std::string path;  ///< of the file
  std::string error;  ///< where it was looked for and what the loader said; empty if it was opened
};

/// Looks for the first of `files` (names with soname) that opens.
FoundLibrary find_library(const std::vector<std::string>& files);

/// The lib folders of NVIDIA's Python packages that belong to a file: of P/nvidia/*/lib, P being each site-packages or dist-packages folder above it, and
/// each lib/python3*/site-packages of an environment whose bin or lib folder holds it. Sorted; only folders that exist.
std::vector<std::string> python_library_folders(const std::string& file);

}  // namespace sindri::cuda
