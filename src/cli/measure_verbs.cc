// See measure_verbs.h.
#include "src/cli/measure_verbs.h"

#include "src/cli/checks.h"
#include "src/cli/process.h"

void MeasureVerbs::add_to(CLI::App* app) {
  benchmark_ = app->add_subcommand("benchmark",
                                   "Time a network's step, compared with PyTorch and MindSpore in interleaved blocks\n\nExamples:\n"
                                   "  sindri benchmark resnet20 --batch 128 --quick\n"
                                   "  sindri benchmark resnet50 --batch 16 --compare pytorch,mindspore,convolutions --json row1.json\n");
  add_workload_flags(benchmark_);
  benchmark_
      ->add_option("--compare", request_.compare,
                   "pytorch, mindspore: run by the Python that SINDRI_PEERS_PYTHON names (scripts/peers.sh creates one); convolutions: the step's convolutions "
                   "and matmuls alone")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Comparison");
  benchmark_->add_flag("--quick", request_.quick, "short blocks, without torch.compile; takes at most 60 s")->group("Comparison");
  benchmark_->add_option("--rounds", request_.rounds, "blocks per contestant (default: 7, with --quick 3)")->type_name("N")->group("Comparison");
  benchmark_->add_option("--seconds", request_.block_seconds, "length of a block, at least one step (default: 3, with --quick at most 1)")
      ->type_name("S")
      ->check(kSeconds)
      ->group("Comparison");
  benchmark_->add_flag("--quiet", quiet_, "print no progress on stderr")->group("Output");
  benchmark_->add_option("--worker", worker_, "")->group("");  // used by the program to start its own contestants

  profile_ = app->add_subcommand("profile",
                                 "Show the time and memory of a network's step by op, instruction and Cell\n\nExamples:\n"
                                 "  sindri profile resnet50 --batch 16 --trace trace.json\n"
                                 "  sindri profile lenet --batch 32 --task infer --json profile.json\n");
  add_workload_flags(profile_);
  CLI::Option* const steps = profile_->add_option("--steps", profiled_.steps, "steps to observe, after two warm-up steps")
                                 ->type_name("K")
                                 ->check(CLI::Range(1, 100000))
                                 ->capture_default_str();
  CLI::Option* const rows = profile_->add_option("--rows", profiled_.rows, "rows to print of each table; the JSON has all rows")
                                ->type_name("N")
                                ->check(CLI::Range(1, 100000))
                                ->capture_default_str();
  CLI::Option* const trace = profile_->add_option("--trace", profiled_.trace_file, "write a timeline for chrome://tracing or ui.perfetto.dev");
  trace->type_name("FILE")->group("Output");
  profile_->add_flag("--plan", planned_, "only compile a training step, and show its planned kernel launches and memory traffic")
      ->excludes(steps)
      ->excludes(rows)
      ->excludes(trace);
}

void MeasureVerbs::add_workload_flags(CLI::App* verb) {
  sindri::measure::Workload& w = request_.workload;
  verb->add_option("net", w.net, "name of the network; sindri summary lists them")->type_name("NET")->required();
  CLI::Option* batch = verb->add_option("--batch", batches_, "samples per step")->delimiter(',')->allow_extra_args(false)->capture_default_str();
  verb->add_option("--precision", w.precision, "f32, bf16 or f16 (mixed precision O2)")->type_name("TYPE")->capture_default_str();
  verb->add_option("--task", w.task, "train or infer")->type_name("TASK")->capture_default_str();
  verb->add_option("--mode", w.mode, "graph or pynative")->type_name("MODE")->capture_default_str();
  CLI::Option* threads = verb->add_option("--threads", threads_, "kernel threads (default: as sindri doctor reports)")->delimiter(',')->allow_extra_args(false);
  batch->type_name(verb == benchmark_ ? "N[,N...]" : "N");
  threads->type_name(verb == benchmark_ ? "N[,N...]" : "N");
  verb->add_option("--device", w.device, "device that runs the network: cpu, cuda, cuda:1, … (sindri doctor lists the devices)")->type_name("DEVICE");
  if (verb == benchmark_) {
    batch->description("samples per step; further sizes add runs of Sindri alone and the fit a + b*batch");
    threads->description("kernel threads; further numbers add runs of Sindri alone (default: as sindri doctor reports)");
  } else {
    batch->expected(1);
    threads->expected(1);
  }
  verb->add_option("--json", json_file_, "write the results as JSON")->type_name("FILE")->group("Output");
}

int MeasureVerbs::run(const std::string& command_line) {
  request_.workload.batch = batches_.at(0);
  request_.batches.assign(batches_.begin() + 1, batches_.end());
  if (!threads_.empty()) {
    request_.workload.threads = threads_[0];
    request_.threads.assign(threads_.begin() + 1, threads_.end());
  }
  return benchmark_->parsed() ? run_benchmark(command_line) : run_profile(command_line);
}

int MeasureVerbs::run_benchmark(const std::string& command_line) {
  if (!worker_.empty()) return sindri::measure::benchmark_worker(request_.workload, worker_);
  request_.command_line = command_line;
  request_.json_file = json_file_;
  if (!quiet_) request_.progress = [](const std::string& line) { print_err(line + "\n"); };
  const sindri::measure::BenchmarkReport report = sindri::measure::benchmark(request_);
  print_out(report.table);
  return 0;
}

int MeasureVerbs::run_profile(const std::string& command_line) {
  profiled_.workload = request_.workload;
  profiled_.command_line = command_line;
  profiled_.json_file = json_file_;
  if (planned_) {
    print_out(sindri::measure::step_plan(request_.workload, json_file_));
    return 0;
  }
  const sindri::measure::ProfileReport report = sindri::measure::profile(profiled_);
  print_out(report.table);
  if (!profiled_.trace_file.empty()) print_out("\ntimeline: " + profiled_.trace_file + "\n");
  return 0;
}
