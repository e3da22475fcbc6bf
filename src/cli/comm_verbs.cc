// See comm_verbs.h.
#include "src/cli/comm_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>

#include "sindri/comm/trace.h"
#include "sindri/core/error.h"
#include "src/cli/process.h"

namespace {

// "4096", "32k", "1M" (powers of ten), "1Mi" (powers of two).
int64_t parse_size(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  double scale = 0;
  if (unit.empty()) scale = 1;
  if (unit == "k") scale = 1e3;
  if (unit == "M") scale = 1e6;
  if (unit == "G") scale = 1e9;
  if (unit == "Ki") scale = 1024;
  if (unit == "Mi") scale = 1024.0 * 1024;
  if (end == text.c_str() || scale == 0 || !(value * scale >= 4) || value * scale > 1e11)
    throw sindri::Error(sindri::ErrorCode::kUsage, fmt::format("'{}' is not a size", text), "--sizes", "give at least 4 bytes, e.g. 64, 32k, 1M or 1Mi");
  return static_cast<int64_t>(value * scale);
}

}  // namespace

CLI::App* CommVerbs::add_to(CLI::App* app) {
  bench_ = app->add_subcommand("comm-bench",
                               "Time collectives between the ranks of a job, and store the cost of messages for sindri plan\n\nExamples:\n"
                               "  mpirun -np 2 --bind-to none sindri comm-bench --ops all_reduce --compare library\n"
                               "  sindri run -n 4 -- sindri comm-bench --sizes 1k,1M,100M --json bench.json\n");
  bench_->add_option("--sizes", sizes_, "bytes per call, e.g. 64, 32k, 1M, 1Mi (default: 8 bytes to 100 MB)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  bench_->add_option("--ops", request_.ops, fmt::format("of {} (default: all)", fmt::join(sindri::comm::benchmark_ops(), ", ")))
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  bench_->add_option("--compare", compare_, "library: compare with the MPI library's own calls, in turn (mpi backend)")
      ->type_name("LIST")
      ->check(CLI::IsMember({"library"}))
      ->allow_extra_args(false);
  bench_->add_option("--rounds", request_.rounds, "repetitions of each call (default: as many as fit into half a second, 5 to 200)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  bench_->add_flag("--no-store", keep_, "do not update the constants of sindri plan");
  bench_->add_option("--json", json_file_, "write the results as JSON")->type_name("FILE")->group("Output");
  trace_ = app->add_subcommand("comm-trace",
                               "Print the first collective that a rank of a job did not enter, from the logs of its ranks\n\nExamples:\n"
                               "  sindri comm-trace runs/digits-001\n  SINDRI_COMM_LOG_DIR=/shared/logs sindri run -n 8 -- sindri train ...; sindri comm-trace "
                               "/shared/logs\n");
  trace_->add_option("folder", folder_, "folder with each rank's comm_<rank>.json")->type_name("DIR")->required();
  return bench_;
}

int CommVerbs::run(const sindri::comm::Options& options) {
  if (bench_->parsed()) return run_bench(options);
  print_out(sindri::comm::trace_report(folder_));
  return 0;
}

int CommVerbs::run_bench(const sindri::comm::Options& options) {
  if (!sizes_.empty()) {
    request_.sizes.clear();
    for (const std::string& s : sizes_) request_.sizes.push_back(parse_size(s));
  }
  request_.compare_library = !compare_.empty();
  request_.store = !keep_;
  sindri::comm::Communicator& world = sindri::comm::init(options);
  if (request_.compare_library && world.backend() != std::string("mpi"))
    throw sindri::Error(sindri::ErrorCode::kUsage, fmt::format("--compare library: backend '{}' has no library call to compare with", world.backend()), "",
                        "start the job with mpirun");
  const sindri::comm::BenchmarkReport report = sindri::comm::benchmark(world, request_);
  if (world.rank() == 0) {
    print_out(report.table);
    if (!json_file_.empty()) {
      std::ofstream out(json_file_);
      out << report.json;
      if (!out.flush()) throw sindri::IoError(fmt::format("{} cannot be written", json_file_), "--json");
    }
  }
  return 0;
}
