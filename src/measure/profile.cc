// sindri profile: the time of every kernel of a step, compared with the machine's limits, and the values that form the memory plan's peak.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/op/observer.h"
#include "sindri/op/timeline.h"
#include "sindri/version.h"
#include "src/core/machine.h"
#include "src/core/replaceable.h"
#include "src/measure/benchmark_report.h"
#include "src/measure/machine.h"
#include "src/measure/workload.h"
#include "src/train/output_file.h"

namespace sindri::measure {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

// One kernel call of the step, or the sum of several.
struct Cost {
  std::string op, kernel, scope, operands;
  bool matrix = false;  // convolution or matmul
  int64_t calls = 0;  // in all observed steps
  double seconds = 0, limit_seconds = 0;
  int64_t bytes = 0, flops = 0;
  bool flops_known = true;
  bool memory_bound = true;  // for single instructions: memory, not arithmetic, sets the limit

  double lost() const { return seconds - limit_seconds; }
  void add(const Cost& c) {
    calls += c.calls;
    seconds += c.seconds;
    limit_seconds += c.limit_seconds;
    bytes += c.bytes;
    flops += c.flops;
    flops_known = flops_known && c.flops_known;
  }
};

// Waits of the host for a device, by cause.
struct Wait {
  int64_t calls = 0;
  double seconds = 0;
};

// Adds up kernel runs by (op, kernel, Cell, operands), and waits; passes them on to a timeline.
class Recorder final : public KernelObserver {
 public:
  explicit Recorder(Timeline* timeline) : timeline_(timeline) {}

  void on_wait(const char* what, Clock::time_point begin, Clock::time_point end) override {
    if (timeline_ != nullptr) timeline_->on_wait(what, begin, end);
    Wait& w = waits_[what];
    ++w.calls;
    w.seconds += seconds_between(begin, end);
  }

  void on_kernel(const KernelEvent& e) override {
    if (timeline_ != nullptr) timeline_->on_kernel(e);
    Cost c{.op = e.op.name, .kernel = e.kernel, .scope = e.scope, .operands = "", .matrix = e.op.traits.amp == AmpClass::kLower, .calls = 1, .bytes = e.bytes};
    for (const TensorMeta& m : e.in) c.operands += (c.operands.empty() ? "" : ", ") + m.str();
    c.operands += " ->";
    for (const TensorMeta& m : e.out) c.operands += " " + m.str();
    const int64_t flops = count_flops(e.op, e.attrs, e.in, e.out);
    c.flops = std::max<int64_t>(0, flops);
    c.flops_known = flops >= 0;
    c.seconds = seconds_between(e.begin, e.end);
    kernel_seconds_ += c.seconds;
    const auto [it, fresh] = index_.emplace(c.op + "|" + c.kernel + "|" + c.scope + "|" + c.operands + e.attrs.text(), instructions_.size());
    if (fresh) instructions_.push_back(std::move(c));
    else instructions_[it->second].add(c);
  }

  std::vector<Cost> take() { return std::move(instructions_); }
  std::map<std::string, Wait> take_waits() { return std::move(waits_); }
  double kernel_seconds() const { return kernel_seconds_; }

 private:
  Timeline* timeline_;
  std::map<std::string, size_t> index_;
  std::vector<Cost> instructions_;
  std::map<std::string, Wait> waits_;
  double kernel_seconds_ = 0;
};

struct Measured {
  Device device;
  std::vector<Cost> instructions, ops, cells;  // slowest first; on devices, sorted by time lost against the limit
  std::map<std::string, Wait> waits;  // none on the CPU
  double step_seconds = 0;  // mean of the observed steps
  double plain_seconds = 0;  // a step that is not observed
  double kernel_seconds = 0, matrix_seconds = 0;  // per step
  int steps = 0;
  // The total that shares refer to: on a device the kernels' own time, as the host waits for each observed kernel.
  double whole_seconds() const { return device.is_cpu() ? step_seconds : kernel_seconds; }
  MachineLimits limits;
  MemoryReport memory;
};

void apply_limits(std::vector<Cost>* instructions, const MachineLimits& limits) {
  for (Cost& c : *instructions) {
    const auto calls = static_cast<double>(c.calls);
    const double moving = static_cast<double>(c.bytes) / limits.copy_speed(c.bytes / c.calls);
    const double computing = static_cast<double>(c.flops) / limits.flops_per_second;
    c.memory_bound = moving >= computing;
    c.limit_seconds = std::max({moving, computing, calls * 1e-9});
  }
}

template <class KeyOf> std::vector<Cost> added_up(const std::vector<Cost>& instructions, KeyOf&& key_of) {
  std::vector<Cost> sums;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const Cost& c : instructions) {
    const auto [it, fresh] = index.emplace(key_of(c), sums.size());
    if (fresh) sums.push_back(c);
    else sums[it->second].add(c);
  }
  return sums;
}

void sort_costs(std::vector<Cost>* v, Device device) {
  std::stable_sort(v->begin(), v->end(), [&](const Cost& a, const Cost& b) { return device.is_cpu() ? a.seconds > b.seconds : a.lost() > b.lost(); });
}

Measured measure(const ProfileRequest& q) {
  Measured m;
  m.steps = q.steps;
  if (!q.workload.device.empty()) m.device = find_device(q.workload.device);
  if (!m.device.is_cpu()) m.limits = measure_device_limits(m.device, q.workload.precision);  // before the net takes the memory
  BenchmarkStep step(q.workload);
  for (int i = 0; i < 2; ++i) step.run(), step.finish();
  const int plain = m.device.is_cpu() ? 1 : q.steps;  // steps on a device overlap with the host's work for the next
  const Clock::time_point before = Clock::now();
  for (int i = 0; i < plain; ++i) step.run();
  step.finish();
  m.plain_seconds = seconds_between(before, Clock::now()) / plain;
  Timeline timeline;
  Recorder recorder(q.trace_file.empty() ? nullptr : &timeline);
  {
    const ObserveKernels scope(recorder);
    for (int i = 0; i < q.steps; ++i) {
      const Clock::time_point begin = Clock::now();
      step.run();
      step.finish();
      m.step_seconds += seconds_between(begin, Clock::now()) / q.steps;
      timeline.add_span(fmt::format("step {}", i + 1), begin, Clock::now());
    }
  }
  if (!q.trace_file.empty()) timeline.write(q.trace_file);
  m.kernel_seconds = recorder.kernel_seconds() / q.steps;
  m.instructions = recorder.take();
  m.waits = recorder.take_waits();
  if (step.compiled()) m.memory = step.compiled().memory_report();
  if (m.device.is_cpu()) m.limits = measure_limits(num_threads(), q.workload.precision);
  apply_limits(&m.instructions, m.limits);
  for (const Cost& c : m.instructions) m.matrix_seconds += c.matrix ? c.seconds / q.steps : 0;
  m.ops = added_up(m.instructions, [](const Cost& c) { return std::pair(c.op, c.kernel); });
  m.cells = added_up(m.instructions, [](const Cost& c) { return std::pair(c.scope, std::string()); });
  for (std::vector<Cost>* costs : {&m.instructions, &m.ops, &m.cells}) sort_costs(costs, m.device);
  return m;
}

// Figures of one step.
struct PerStep {
  double calls, ms, mb, gflop, share, gb_per_s, gflop_per_s, over_limit, lost_ms;
};

PerStep per_step(const Cost& c, const Measured& m) {
  const double k = m.steps;
  return {.calls = static_cast<double>(c.calls) / k,
          .ms = c.seconds / k * 1e3,
          .mb = static_cast<double>(c.bytes) / k * 1e-6,
          .gflop = static_cast<double>(c.flops) / k * 1e-9,
          .share = c.seconds / k / m.whole_seconds(),
          .gb_per_s = static_cast<double>(c.bytes) / c.seconds * 1e-9,
          .gflop_per_s = static_cast<double>(c.flops) / c.seconds * 1e-9,
          .over_limit = c.seconds / c.limit_seconds,
          .lost_ms = c.lost() / k * 1e3};
}

// "grad backbone.conv1": the path below the outermost Cell, prefixed by "grad" in the backward pass.
std::string short_cell(const std::string& scope) {
  const std::string path = scope.substr(scope.rfind('/') + 1);
  return scope.starts_with("grad/") ? "grad " + path : path;
}

std::string row(const Cost& c, const Measured& m) {
  const PerStep p = per_step(c, m);
  const std::string flops = c.flops_known ? fmt::format("{:>9.4g} {:>8.4g}", p.gflop, p.gflop_per_s) : fmt::format("{:>9} {:>8}", "-", "-");
  return fmt::format("{:>6.0f} {:>10.3f} {:>5.1f}% {:>9.2f} {:>7.1f} {} {:>7.1f}x {:>9.3f}", p.calls, p.ms, p.share * 100, p.mb, p.gb_per_s, flops,
                     p.over_limit, p.lost_ms);
}

const char* kColumns = " calls         ms  share        MB    GB/s     GFLOP   GFLOP/s over limit   lost ms";

std::string cost_tables(const ProfileRequest& q, const Measured& m) {
  const auto rows = static_cast<size_t>(q.rows);
  std::string t = fmt::format("{:<46} {}\n", "op [kernel]", kColumns);
  for (size_t i = 0; i < std::min(rows, m.ops.size()); ++i)
    t += fmt::format("{:<46} {}\n", fmt::format("{} [{}]", m.ops[i].op, m.ops[i].kernel).substr(0, 46), row(m.ops[i], m));
  if (m.ops.size() > rows) t += fmt::format("and {} more (--rows)\n", m.ops.size() - rows);
  t += fmt::format("\n{:<46} {}\n", "Cell", kColumns);
  for (size_t i = 0; i < std::min(rows, m.cells.size()); ++i)
    t += fmt::format("{:<46} {}\n", m.cells[i].scope.empty() ? "(no Cell)" : short_cell(m.cells[i].scope).substr(0, 46), row(m.cells[i], m));
  if (m.cells.size() > rows) t += fmt::format("and {} more (--rows)\n", m.cells.size() - rows);
  t += fmt::format("\n{:<46} {} limited by\n", "instruction: op, Cell; operands at the end", kColumns);
  for (size_t i = 0; i < std::min(rows, m.instructions.size()); ++i) {
    const Cost& c = m.instructions[i];
    t += fmt::format("{:<46} {} {} {}\n", fmt::format("{} {}", c.op, short_cell(c.scope)).substr(0, 46), row(c, m),
                     c.memory_bound ? "memory    " : "arithmetic", c.operands.size() <= 160 ? c.operands : c.operands.substr(0, 160) + " ...");
  }
  if (m.instructions.size() > rows) t += fmt::format("and {} more (--rows)\n", m.instructions.size() - rows);
  return t;
}

struct CellBytes {
  std::string scope;
  int64_t bytes = 0, values = 0;
};

// Live values by the Cell that made them, largest first.
std::vector<CellBytes> by_cell(const MemoryReport& r) {
  std::map<std::string, CellBytes> cells;
  for (const LiveValue& v : r.live) {
    CellBytes& c = cells[v.scope];
    c.scope = v.scope;
    c.bytes += v.bytes;
    ++c.values;
  }
  std::vector<CellBytes> out;
  for (const auto& [scope, c] : cells) out.push_back(c);
  std::stable_sort(out.begin(), out.end(), [](const CellBytes& a, const CellBytes& b) { return a.bytes > b.bytes; });
  return out;
}

double mb(int64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

std::string memory_table(const ProfileRequest& q, const MemoryReport& r) {
  std::string t = fmt::format(
      "memory, MB: states {:.2f} (parameters, optimizer, buffers), arena {:.2f}, workspace {:.2f}, kept {:.2f} (prepared weights), inputs {:.2f}, constants "
      "{:.2f}, results {:.2f}\n",
      mb(r.state_bytes), mb(r.arena_bytes), mb(r.workspace_bytes), mb(r.steady_bytes), mb(r.input_bytes), mb(r.constant_bytes), mb(r.result_bytes));
  if (r.live.empty()) return t;
  t += fmt::format("arena at its peak: instruction {} of {}, {} in {}: {:.2f} MB alive in {} values, {:.2f} MB of gaps between them\n", r.peak_instruction + 1,
                   r.instructions, r.peak_op, r.peak_scope.empty() ? "no Cell" : r.peak_scope, mb(r.live_bytes), r.live.size(), mb(r.gap_bytes));
  const std::vector<CellBytes> cells = by_cell(r);
  const size_t rows = std::min(static_cast<size_t>(q.rows), cells.size());
  int64_t rest = 0, values = 0;
  t += fmt::format("{:<60} {:>8} {:>10} {:>6}\n", "Cell that made the values", "values", "MB", "share");
  const auto line = [&](const std::string& name, int64_t count, int64_t bytes) {
    t += fmt::format("{:<60} {:>8} {:>10.2f} {:>5.1f}%\n", name, count, mb(bytes), 100 * static_cast<double>(bytes) / static_cast<double>(r.arena_bytes));
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i < rows) {
      line(cells[i].scope.empty() ? "(no Cell)" : cells[i].scope, cells[i].values, cells[i].bytes);
    } else {
      rest += cells[i].bytes;
      values += cells[i].values;
    }
  }
  if (values > 0) line(fmt::format("{} more Cells (--rows)", cells.size() - rows), values, rest);
  line("gaps", 0, r.gap_bytes);
  return t;
}

enum class Sum { kNone, kOp, kCell };  // the instructions that a record sums

ordered_json cost_record(const Cost& c, const Measured& m, Sum sum) {
  const PerStep p = per_step(c, m);
  ordered_json j = ordered_json::object();
  if (sum == Sum::kCell) j["cell"] = c.scope;
  else j = {{"op", c.op}, {"kernel", c.kernel}};
  if (sum == Sum::kNone) {
    j["cell"] = c.scope;
    j["operands"] = c.operands;
    j["bound"] = c.memory_bound ? "memory" : "arithmetic";
  }
  j["calls"] = p.calls;
  j["ms"] = p.ms;
  j["share"] = p.share;
  j["bytes"] = c.bytes / m.steps;
  j["flops"] = c.flops_known ? ordered_json(c.flops / m.steps) : ordered_json(nullptr);
  j["gb_per_s"] = p.gb_per_s;
  j["limit_ms"] = c.limit_seconds / m.steps * 1e3;
  j["over_limit"] = p.over_limit;
  j["lost_ms"] = p.lost_ms;
  return j;
}

ordered_json memory_record(const MemoryReport& r) {
  ordered_json j = {{"arena_bytes", r.arena_bytes},
                    {"live_bytes", r.live_bytes},
                    {"gap_bytes", r.gap_bytes},
                    {"workspace_bytes", r.workspace_bytes},
                    {"state_bytes", r.state_bytes},
                    {"input_bytes", r.input_bytes},
                    {"constant_bytes", r.constant_bytes},
                    {"steady_bytes", r.steady_bytes},
                    {"result_bytes", r.result_bytes},
                    {"instructions", r.instructions},
                    {"peak_instruction", r.peak_instruction},
                    {"peak_op", r.peak_op},
                    {"peak_cell", r.peak_scope}};
  j["by_cell"] = ordered_json::array();
  for (const CellBytes& c : by_cell(r)) j["by_cell"].push_back({{"cell", c.scope}, {"values", c.values}, {"bytes", c.bytes}});
  j["values"] = ordered_json::array();
  for (const LiveValue& v : r.live) j["values"].push_back({{"cell", v.scope}, {"op", v.op}, {"value", v.meta.str()}, {"bytes", v.bytes}});
  return j;
}

std::string device_name(Device device) {
  for (const DeviceListing& d : devices())
    if (d.device == device) return d.info.name;
  return "";
}

std::string json_text(const ProfileRequest& q, const Measured& m) {
  ordered_json machine = machine_record(num_threads());
  if (!m.device.is_cpu()) machine["device"] = m.device.str(), machine["device_name"] = device_name(m.device);
  machine["copy"] = ordered_json::array();
  for (const CopySpeed& c : m.limits.copy) machine["copy"].push_back({{"bytes", c.bytes}, {"gb_per_s", c.bytes_per_second * 1e-9}});
  machine["matmul_gflop_per_s"] = m.limits.flops_per_second * 1e-9;
  ordered_json j = {{"command", q.command_line},
                    {"date", utc_time_text()},
                    {"sindri", SINDRI_VERSION_STRING},
                    {"machine", machine},
                    {"workload", workload_record(q.workload)},
                    {"steps", m.steps},
                    {"step_ms", m.step_seconds * 1e3},
                    {"unobserved_step_ms", m.plain_seconds * 1e3},
                    {"kernels_ms", m.kernel_seconds * 1e3},
                    {"matrix_ms", m.matrix_seconds * 1e3},
                    {"outside_matrix_share", 1 - m.matrix_seconds / m.whole_seconds()}};
  j["ops"] = ordered_json::array();
  for (const Cost& c : m.ops) j["ops"].push_back(cost_record(c, m, Sum::kOp));
  j["cells"] = ordered_json::array();
  for (const Cost& c : m.cells) j["cells"].push_back(cost_record(c, m, Sum::kCell));
  j["waits"] = ordered_json::array();
  for (const auto& [what, w] : m.waits)
    j["waits"].push_back({{"what", what}, {"calls", static_cast<double>(w.calls) / m.steps}, {"ms", w.seconds / m.steps * 1e3}});
  j["instructions"] = ordered_json::array();
  for (const Cost& c : m.instructions) j["instructions"].push_back(cost_record(c, m, Sum::kNone));
  if (m.memory.instructions > 0) j["memory"] = memory_record(m.memory);
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string header(const ProfileRequest& q, const Measured& m) {
  const Workload& w = q.workload;
  std::string t = fmt::format("{} {}, batch {}, {}, {}, {}\n", w.net, w.task, w.batch, w.precision, w.mode,
                              m.device.is_cpu() ? fmt::format("{} threads, {} on {}", num_threads(), cpu_isa_name(cpu_isa()), cpu_model())
                                                : fmt::format("{}: {}", m.device.str(), device_name(m.device)));
  t += fmt::format("step {:.3f} ms (mean of {}, observed; {:.3f} ms without), kernels {:.3f} ms, outside convolutions and matmuls {:.1f} %\n",
                   m.step_seconds * 1e3, m.steps, m.plain_seconds * 1e3, m.kernel_seconds * 1e3, 100 * (1 - m.matrix_seconds / m.whole_seconds()));
  for (const auto& [what, waits] : m.waits)
    t += fmt::format("the host waits {:.4g} times a step for the device: {}, {:.3f} ms\n", static_cast<double>(waits.calls) / m.steps, what,
                     waits.seconds / m.steps * 1e3);
  t += fmt::format("limits measured here: matmul {:.0f} GFLOP/s, copy", m.limits.flops_per_second * 1e-9);
  for (const CopySpeed& c : m.limits.copy)
    t += fmt::format(" {} {:.0f}", c.bytes >= 1 << 20 ? fmt::format("{}M", c.bytes >> 20) : fmt::format("{}K", c.bytes >> 10), c.bytes_per_second * 1e-9);
  return t + " GB/s\n\n";
}

}  // namespace

ProfileReport profile(const ProfileRequest& q) {
  check_workload(q.workload);
  if (q.steps < 1 || q.rows < 1) throw ValueError(fmt::format("profile: steps and rows must be at least 1, got {} and {}", q.steps, q.rows));
  if (!q.trace_file.empty()) check_replaceable(q.trace_file, FileKind::kJson, "timeline");
  std::unique_ptr<train::OutputFile> file;
  if (!q.json_file.empty()) file = std::make_unique<train::OutputFile>(q.json_file, "JSON file");
  const Measured m = measure(q);
  ProfileReport report{.memory = m.memory, .table = header(q, m) + cost_tables(q, m), .json = json_text(q, m)};
  if (m.memory.instructions > 0) report.table += "\n" + memory_table(q, m.memory);
  if (file != nullptr) file->write(report.json);
  return report;
}

}  // namespace sindri::measure
