// Benchmark of collectives between the job's ranks (`sindri comm-bench`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/export.h"

namespace sindri::comm {

/// Options of a benchmark.
struct BenchmarkRequest {
  std::vector<int64_t> sizes = {8, 1 << 10, 32 << 10, 1 << 20, 16 << 20, 100'000'000};  ///< bytes, at least 4
  std::vector<std::string> ops = {};  ///< names from benchmark_ops(); empty: all
  bool compare_library = false;  ///< also time the library's own calls, if the backend has some (mpi)
  int rounds = 0;  ///< number of timed calls; 0: as many as take half a second, from 5 to 200
  bool store = true;  ///< write the constants to constants_file()
};

/// Result for a collective and a size. Times are medians over rounds of the slowest rank's time.
struct BenchmarkRow {
  std::string op;  ///< name from benchmark_ops()
  int64_t bytes = 0;  ///< total bytes: all parts of all_gather, reduce_scatter and all_to_all
  double seconds = 0;  ///< time of one call
  /// Rates in bytes per second. algorithm: bytes/seconds. bus: algorithm times the fraction of the bytes that one link carries,
  /// such as 2(n-1)/n in an all_reduce over n ranks.
  double algorithm = 0, bus = 0;
  double library_seconds = 0;  ///< time of the library's own call; 0: not measured
};

/// Cost of a message in the scaling model of docs/design/distributed.md: a is the latency in seconds, b the rate in bytes per
/// second in one direction. 0: not measured.
struct LinkConstants {
  double a_i = 0, b_i = 0;  ///< within a host
  double a_e = 0, b_e = 0;  ///< between hosts: the network of one host, shared by its ranks
};

/// Results of a benchmark.
struct BenchmarkReport {
  std::vector<BenchmarkRow> rows;
  LinkConstants constants;
  int64_t copy_bytes = 0;  ///< size of the memcpy below
  /// Rate of a memcpy in bytes per second per rank: while the other ranks wait, and while all ranks copy.
  double copy_alone = 0, copy_together = 0;
  std::string table;  ///< text for the terminal
  std::string json;  ///< the same as JSON
};

/// The names of the collectives that can be timed.
SINDRI_API std::vector<std::string> benchmark_ops();
/// Times collectives. Collective: all ranks call it and all receive the report. Throws ValueError for an unknown op and for sizes
/// below 4 bytes.
SINDRI_API BenchmarkReport benchmark(Communicator& world, const BenchmarkRequest& request);

/// Path of comm_constants.json in SINDRI_CACHE_DIR, else $XDG_CACHE_HOME/sindri, else ~/.cache/sindri; empty without a home
/// directory. Its keys: "a_i", "b_i", "a_e" and "b_e" as in LinkConstants (absent if never measured), and "ranks_per_host",
/// "hosts" and "backend" of the last measurement.
SINDRI_API std::string constants_file();

}  // namespace sindri::comm
