// How fast the ranks talk: what `sindri comm-bench` measures, on the layout that the job has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/export.h"

namespace sindri::comm {

/// What `sindri comm-bench` measures.
struct BenchmarkRequest {
  std::vector<int64_t> sizes = {8, 1 << 10, 32 << 10, 1 << 20, 16 << 20, 100'000'000};  ///< bytes
  std::vector<std::string> ops = {};  ///< of benchmark_ops(); empty: all
  bool compare_library = false;  ///< beside the library's own calls, where the backend has some (mpi)
  int rounds = 0;  ///< times that a call is timed; 0: as many as fit into half a second, 5 to 200
  bool store = true;  ///< writes the constants to constants_file()
};

/// A call at a size. Times are medians over rounds of the slowest rank's.
struct BenchmarkRow {
  std::string op;
  int64_t bytes = 0;  ///< of the whole: all parts of all_gather, reduce_scatter and all_to_all
  double seconds = 0;
  double algorithm = 0, bus = 0;  ///< bytes a second: bytes/seconds, and what a link carries where there is one between two ranks
  double library_seconds = 0;  ///< 0: not measured
};

/// What a message costs, for docs/design/distributed.md's scaling model: a = seconds, b = bytes a second of one direction. 0: not measured.
struct LinkConstants {
  double a_i = 0, b_i = 0;  ///< inside a host
  double a_e = 0, b_e = 0;  ///< a host's network, shared by its ranks
};

/// What it measured.
struct BenchmarkReport {
  std::vector<BenchmarkRow> rows;
  LinkConstants constants;
  int64_t copy_bytes = 0;
  double copy_alone = 0, copy_together = 0;  ///< memcpy of so many bytes, bytes a second of a rank: while the others wait, and while all do
  std::string table;  ///< for the terminal
  std::string json;
};

SINDRI_API std::vector<std::string> benchmark_ops();
/// All ranks call it, and all get the report. Throws ValueError for an op that is not there.
SINDRI_API BenchmarkReport benchmark(Communicator& world, const BenchmarkRequest& request);

/// comm_constants.json in SINDRI_CACHE_DIR, else $XDG_CACHE_HOME/sindri, else ~/.cache/sindri; empty without a home. Its keys: "a_i", "b_i", "a_e", "b_e" as
/// in LinkConstants (those that were never measured are absent), "ranks_per_host", "hosts" and "backend" of the last measurement.
SINDRI_API std::string constants_file();

}  // namespace sindri::comm
