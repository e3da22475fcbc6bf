// See mpi_library.h.
#include "src/comm/mpi_library.h"

#include <fmt/format.h>

#include <array>

#include "sindri/core/error.h"
#include "src/comm/plugin.h"
#include "src/comm/watch.h"

namespace sindri::comm {

namespace {

const MpiTable* open_table() {
  // RTLD_GLOBAL: Open MPI's components look up its symbols there.
  const auto function = reinterpret_cast<MpiTableFunction>(
      open_plugin("libsindri_mpi.so", kMpiTableSymbol, true,
                  "install the MPI library it was built with (Debian: libopenmpi3), build with SINDRI_MPI_PLUGIN=ON, or choose dist.backend=gloo"));
  const MpiTable* const table = function();
  if (table->version != MpiTable::kVersion)
    throw CommError(ErrorCode::kCommLibrary, "libsindri_mpi.so belongs to another version of Sindri", "comm::init", "build or install both together");
  return table;
}

}  // namespace

const MpiTable& mpi_library() {
  static const MpiTable* const table = open_table();
  return *table;
}

void finalize_mpi(double seconds) {
  run_with_deadline(seconds,
                    fmt::format("MPI_Finalize has waited {:.4g} s for the other ranks: one of them, or the link to it, was lost after the last call", seconds),
                    [] { check_mpi(mpi_library().finalize(), "MPI_Finalize"); });
}

void check_mpi(int code, const char* what) {
  if (code == 0) return;
  std::array<char, 512> text{};
  mpi_library().error_text(code, text.data(), static_cast<int>(text.size()));
  throw CommError(ErrorCode::kCommLibrary, fmt::format("{}: {}", what, text.data()), "", fmt::format("the library is {}", mpi_library().library()));
}

}  // namespace sindri::comm
