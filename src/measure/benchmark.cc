// sindri benchmark: runs blocks of steps of all contestants alternately, so that changes of the machine's speed affect all alike.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/core/clock.h"
#include "src/measure/benchmark_report.h"
#include "src/measure/contestants.h"
#include "src/measure/workload.h"
#include "src/train/output_file.h"

namespace sindri::measure {

namespace {

using nlohmann::json;

// Under --quick everything ends within 60 s. Some of that is reserved for ending the processes and for blocks after slow starts.
constexpr double kQuickSeconds = 54, kQuickBlocks = 12;
constexpr double kStartSeconds = 900;  // torch.compile of a large net takes minutes

struct Contestant {
  BenchmarkRun run;
  std::unique_ptr<ChildProcess> process;
  double step_seconds = 0;  // latest estimate
};

class Benchmark {
 public:
  explicit Benchmark(const BenchmarkRequest& request) : request_(request), factory_(request), end_(now_seconds() + (request.quick ? kQuickSeconds : 1e9)) {}

  BenchmarkOutcome run() {
    for (const BenchmarkRun& planned : factory_.plan()) start(planned);
    rounds();
    BenchmarkOutcome out;
    for (Contestant& c : contestants_) {
      if (c.process != nullptr && !c.run.blocks_ms.empty()) out.runs.push_back(finished(std::move(c.run)));
    }
    out.skipped = std::move(skipped_);
    out.rounds = rounds_done_;
    out.block_seconds = block_seconds_;
    return out;
  }

 private:
  bool is_own(const BenchmarkRun& r) const { return r.framework == "sindri"; }

  // Sends one command and returns the answer. Throws the error that the contestant reports.
  json ask(ChildProcess& p, const std::string& command, double seconds) {
    if (!command.empty()) p.send(command);
    const std::string line = p.read_line(std::max(0.1, seconds));
    json answer = json::parse(line, nullptr, false);
    if (!answer.is_object()) throw InternalError("a benchmark process answered '" + line.substr(0, 200) + "'");
    if (answer.contains("error")) throw Error(answer.value("kind", "") == "import" ? ErrorCode::kUsage : ErrorCode::kInternal, answer.value("error", ""));
    return answer;
  }

  void start(const BenchmarkRun& planned) {
    if (request_.progress) request_.progress(fmt::format("starting {} {}", planned.framework, label(planned)));
    Contestant c{.run = planned, .process = nullptr};
    const double quick_end = end_ - (is_own(planned) ? 0 : kQuickBlocks);  // without our own step there is nothing to report
    const double deadline = request_.quick ? quick_end : now_seconds() + kStartSeconds;
    try {
      c.process = factory_.start(planned);
      const json ready = ask(*c.process, "", deadline - now_seconds());
      c.run.version = ready.value("version", "");
      c.run.build_s = ready.value("build_s", 0.0);
      check_parameters(planned, ready.value("parameters", int64_t{0}));
      json answer = ask(*c.process, "run 1 0", deadline - now_seconds());
      c.step_seconds = c.run.first_step_s = answer.at("median_s").get<double>();
      // Allocators and caches settle in the steps after the first; under --quick these run only if there is time.
      const auto has_time = [&] { return !request_.quick || now_seconds() + 1.5 * c.step_seconds < deadline; };
      if (has_time()) {
        answer = ask(*c.process, request_.quick ? "run 1 0.2" : "run 2 0.5", deadline - now_seconds());
        c.step_seconds = answer.at("median_s").get<double>();
      }
      if (is_own(planned) && has_time()) c.run.more = ask(*c.process, "info", deadline - now_seconds()).get<std::map<std::string, double>>();
      c.process->pause();
    } catch (const Error& e) {
      drop(planned, e);
      return;
    }
    contestants_.push_back(std::move(c));
  }

  // A missing framework that was asked for is an error, and without our own step there is nothing to compare. A mode that fails for other reasons is only
  // skipped.
  void drop(const BenchmarkRun& r, const Error& e) {
    if (e.code() == ErrorCode::kUsage && !is_own(r))
      throw Error(ErrorCode::kUsage, e.message(), fmt::format("--compare {}, with {}", r.framework, ContestantFactory::python(r.framework)),
                  ContestantFactory::fix(r.framework));
    if (is_own(r)) throw Error(e.code(), fmt::format("sindri {}: {}", label(r), e.message()), e.where(), e.fix());
    if (request_.progress) request_.progress(fmt::format("skipped: {} {}: {}", r.framework, label(r), e.message()));
    skipped_.push_back({r.framework, r.mode, e.message()});
  }

  // A different number of parameters means a different net.
  void check_parameters(const BenchmarkRun& r, int64_t parameters) {
    if (r.framework == "sindri") parameters_ = parameters;
    else if (parameters != parameters_) throw InternalError(fmt::format("the net has {} parameters here and {} there", parameters_, parameters));
  }

  void rounds() {
    const int wanted = request_.rounds > 0 ? request_.rounds : request_.quick ? 3 : 7;
    block_seconds_ = request_.block_seconds > 0 ? request_.block_seconds : request_.quick ? 1 : 3;
    if (request_.quick) block_seconds_ = std::clamp((end_ - now_seconds()) / (wanted * static_cast<double>(contestants_.size())), 0.02, block_seconds_);
    for (int round = 0; round < wanted; ++round) {
      double needed = 0;
      for (const Contestant& c : contestants_) needed += std::max(block_seconds_, c.step_seconds) + 0.01;
      if (round > 0 && now_seconds() + needed > end_) break;
      if (request_.progress) request_.progress(fmt::format("round {} of {}", round + 1, wanted));
      for (Contestant& c : contestants_) block(c);
      ++rounds_done_;
    }
  }

  void block(Contestant& c) {
    if (c.process == nullptr) return;
    try {
      c.process->resume();
      const json answer = ask(*c.process, fmt::format("run 1 {}", block_seconds_), request_.quick ? end_ + 3 - now_seconds() : kStartSeconds);
      c.process->pause();
      c.step_seconds = answer.at("median_s").get<double>();
      c.run.blocks_ms.push_back(c.step_seconds * 1e3);
      c.run.steps += answer.at("steps").get<int64_t>();
      c.run.peak_memory_mb = answer.at("peak_memory_mb").get<double>();
    } catch (const Error& e) {
      c.process.reset();
      drop(c.run, e);
    }
  }

  static BenchmarkRun finished(BenchmarkRun r) {
    std::vector<double> sorted = r.blocks_ms;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    r.ms_per_step = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    r.samples_per_second = static_cast<double>(r.batch) * 1e3 / r.ms_per_step;
    r.spread = (sorted.back() - sorted.front()) / r.ms_per_step;
    return r;
  }

  const BenchmarkRequest& request_;
  ContestantFactory factory_;
  double end_, block_seconds_ = 0;
  int rounds_done_ = 0;
  int64_t parameters_ = 0;
  std::vector<Contestant> contestants_;
  std::vector<Skipped> skipped_;
};

void check_request(const BenchmarkRequest& r) {
  check_workload(r.workload);
  Workload other = r.workload;
  for (int64_t b : r.batches) {
    other.batch = b;
    check_workload(other);
  }
  for (int t : r.threads) {
    other.threads = t > 0 ? t : -1;  // 0 has a meaning in a Workload only
    check_workload(other);
  }
  const auto usage = [](const char* flag, const std::string& what) { return Error(ErrorCode::kUsage, what, flag, "omit it for the default"); };
  if (r.rounds < 0 || r.rounds > 1000) throw usage("--rounds", fmt::format("expected 1 .. 1000, got {}", r.rounds));
  if (!(r.block_seconds >= 0 && r.block_seconds <= 600)) throw usage("--seconds", fmt::format("expected 0 .. 600, got {}", r.block_seconds));
}

}  // namespace

BenchmarkReport benchmark(const BenchmarkRequest& request) {
  check_request(request);
  std::unique_ptr<train::OutputFile> file;  // opened first: a bad path must be reported before ten minutes of measuring
  if (!request.json_file.empty()) file = std::make_unique<train::OutputFile>(request.json_file, "JSON file");
  BenchmarkReport report = make_report(request, Benchmark(request).run());
  if (file != nullptr) file->write(report.json);
  return report;
}

}  // namespace sindri::measure
