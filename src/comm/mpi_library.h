// The MPI library as the mpi backend uses it: libsindri_mpi.so, opened when it is first asked for, and its errors as exceptions.
#pragma once

#include "src/comm/mpi_table.h"

namespace sindri::comm {

/// Opens libsindri_mpi.so beside this library (or the program). Throws CommError kCommLibrary: what was looked for where, and what the loader said.
const MpiTable& mpi_library();

/// MPI_Finalize, which waits for all ranks and knows no time limit. A process with an exit guard (trace.h) that still waits after `seconds` says so and ends
/// with code 7: a rank or a link was lost behind the last call. Others are warned of, once. Throws as check_mpi.
void finalize_mpi(double seconds);
/// Throws CommError kCommLibrary for an MPI error code: "MPI_Isend: …".
void check_mpi(int code, const char* what);

}  // namespace sindri::comm
