// Searches for a shared library; see libraries.h for the order.
#pragma once

#include <string>
#include <vector>

namespace sindri::cuda {

/// A shared library that was opened, or why none was. Never closed: it may run threads.
struct FoundLibrary {
  void* handle = nullptr;
  std::string path;  ///< of the file
  std::string error;  ///< the paths that were tried and the loader's message; empty if it was opened
};

/// Returns the first of `files` (names with soname) that opens.
FoundLibrary find_library(const std::vector<std::string>& files);

/// Returns the lib folders of NVIDIA's Python packages that belong to a file: P/nvidia/*/lib, where P is each
/// site-packages or dist-packages folder above it, and each lib/python3*/site-packages of an environment whose bin or
/// lib folder contains it. Sorted; only folders that exist.
std::vector<std::string> python_library_folders(const std::string& file);

}  // namespace sindri::cuda
