// The measuring verbs of `sindri` as C++ calls: benchmark (speed compared with other frameworks) and profile (where a step's time and memory go).
// docs/guide/measuring.md explains their output.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sindri/graph/memory_report.h"

namespace sindri::measure {

/// A step to measure, on constant data that is ready in memory. Training: Momentum, weight decay 1e-4.
struct Workload {
  std::string net;  ///< as in models::names()
  int64_t batch = 32;
  std::string precision = "f32";  ///< f32, bf16 or f16 (mixed precision level O2)
  std::string task = "train";  ///< train or infer
  std::string mode = "graph";  ///< graph or pynative
  int threads = 0;  ///< 0: num_threads()
  std::string device = {};  ///< "cuda:0", "GPU"; empty: the CPU
};

/// The options of a benchmark.
struct BenchmarkRequest {
  Workload workload;
  std::vector<int64_t> batches = {};  ///< additional batch sizes, Sindri only: step time as a + b·batch
  std::vector<int> threads = {};  ///< additional thread counts, Sindri (and its convolutions) only
  std::vector<std::string> compare = {};  ///< pytorch, mindspore, convolutions
  bool quick = false;  ///< fewer and shorter blocks, no torch.compile, ends within 60 s
  int rounds = 0;  ///< blocks of each contestant; 0: 7, with quick 3
  double block_seconds = 0;  ///< length of a block (it holds at least one step); 0: 3, with quick at most 1
  std::string program = "/proc/self/exe";  ///< the `sindri` program: its own steps run in child processes, as the peers do
  std::string json_file = {};  ///< file for the report's JSON; empty: none
  std::string command_line = {};  ///< recorded in the JSON
  std::function<void(const std::string&)> progress = nullptr;  ///< called with one line when a lengthy part starts
};

/// One contestant's measurements.
struct BenchmarkRun {
  std::string framework = {}, version = {}, mode = {};
  int64_t batch = 0;
  int threads = 0;
  double ms_per_step = 0;  ///< median over blocks of each block's median
  double samples_per_second = 0;
  double spread = 0;  ///< (slowest block - fastest block) / median
  double build_s = 0;  ///< time to make net, optimizer and data; without imports
  double first_step_s = 0;  ///< the first step, with tracing and compiling
  double peak_memory_mb = 0;  ///< peak resident set of its process; on a device other than the CPU, peak of that device's memory
  int64_t steps = 0;  ///< timed steps
  std::vector<double> blocks_ms = {};  ///< median of each block, in order
  std::map<std::string, double> more = {};  ///< Sindri: compile_s, nodes, nodes_traced, arena_mb, gflop_per_step
};

struct BenchmarkReport {
  std::vector<BenchmarkRun> runs;  ///< Sindri first
  /// Our samples per second over theirs: best_pytorch, best_mindspore, convolutions_limit (a step of only the convolutions and matmuls).
  std::map<std::string, double> ratios;
  std::string table;  ///< for the terminal
  std::string json;
};

/// Measures in interleaved blocks: every contestant is a separate process, and one runs at a time while the others are stopped. Throws Error (usage) if a
/// requested peer cannot be used, and the errors of check_workload. A peer's mode that fails (torch.compile without a compiler) is skipped and named in the
/// report.
BenchmarkReport benchmark(const BenchmarkRequest& request);
/// Runs one of benchmark's processes: builds the step ("step", or "convolutions" for only its convolutions and matmuls) and times it when a line on stdin
/// requests it. Returns the exit code.
int benchmark_worker(const Workload& workload, const std::string& what);

/// The options of a profile.
struct ProfileRequest {
  Workload workload;
  int steps = 5;  ///< observed steps, after two that are not observed
  std::string trace_file = {};  ///< Chrome trace; empty: none
  int rows = 20;  ///< rows of each table; the JSON holds all
  std::string json_file = {};  ///< file for the report's JSON; empty: none
  std::string command_line = {};
};

struct ProfileReport {
  MemoryReport memory;  ///< empty in mode pynative
  std::string table;
  std::string json;
};

/// Describes the plan of one training step on a device, without running it: nodes, launches and bytes of each kind of kernel, and the memory of intermediate
/// values. `json_file` receives the same as JSON; empty: none. Throws Error (usage) for other tasks and modes, and the errors of check_workload.
std::string step_plan(const Workload& workload, const std::string& json_file);

/// Runs a few steps with every kernel observed. Reports tables of ops and of single instructions, and the memory plan's peak by Cell.
ProfileReport profile(const ProfileRequest& request);

}  // namespace sindri::measure
