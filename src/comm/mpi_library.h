// The MPI library for the mpi backend: libsindri_mpi.so, opened on first use, with its errors as exceptions.
#pragma once

#include "src/comm/mpi_table.h"

namespace sindri::comm {

/// Opens libsindri_mpi.so next to this library (or the program). Throws CommError kCommLibrary with the paths that were
/// tried and the loader's message.
const MpiTable& mpi_library();

/// Calls MPI_Finalize, which waits for all ranks and has no time limit. After `seconds` a process with an exit guard
/// (trace.h) reports that a rank or a link was lost after the last call, and ends with code 7; others print one
/// warning. Throws the same errors as check_mpi.
void finalize_mpi(double seconds);
/// Throws CommError kCommLibrary for an MPI error code: "MPI_Isend: …".
void check_mpi(int code, const char* what);

}  // namespace sindri::comm
