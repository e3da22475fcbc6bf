// See benchmark_report.h.
#include "src/measure/benchmark_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "sindri/core/context.h"
#include "sindri/version.h"
#include "src/core/machine.h"
#include "src/measure/workload.h"

namespace sindri::measure {

namespace {

using nlohmann::ordered_json;

double rounded(double v, int digits) {
  const double k = std::pow(10.0, digits);
  return std::round(v * k) / k;
}

// Ratios are taken between the runs of the workload itself, not of additional batches and thread counts.
bool is_main(const BenchmarkRun& r, const BenchmarkRun& ours) { return r.batch == ours.batch && r.threads == ours.threads; }

const BenchmarkRun* fastest(const BenchmarkOutcome& o, const std::string& framework, const std::string& mode = "") {
  const BenchmarkRun* best = nullptr;
  for (const BenchmarkRun& r : o.runs) {
    const bool fits = &r != &o.runs[0] && r.framework == framework && (mode.empty() || r.mode == mode) && is_main(r, o.runs[0]);
    if (fits && (best == nullptr || r.samples_per_second > best->samples_per_second)) best = &r;
  }
  return best;
}

// Returns the smallest and largest ratio within one round: the range of the machine's noise.
ordered_json range_of(const BenchmarkRun& ours, const BenchmarkRun& theirs) {
  double low = 0, high = 0;
  for (size_t i = 0; i < std::min(ours.blocks_ms.size(), theirs.blocks_ms.size()); ++i) {
    const double ratio = theirs.blocks_ms[i] / ours.blocks_ms[i];
    low = i == 0 ? ratio : std::min(low, ratio);
    high = std::max(high, ratio);
  }
  return {rounded(low, 4), rounded(high, 4)};
}

// Fits the step time as a + b·batch by least squares; also returns the largest relative deviation of a measurement from that line.
ordered_json growth(const BenchmarkOutcome& o) {
  const BenchmarkRun& ours = o.runs[0];
  std::vector<const BenchmarkRun*> points;
  for (const BenchmarkRun& r : o.runs) {
    if (r.framework == "sindri" && r.mode == ours.mode && r.threads == ours.threads) points.push_back(&r);
  }
  if (points.size() < 3) return nullptr;
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const BenchmarkRun* p : points) {
    const double x = static_cast<double>(p->batch), y = p->ms_per_step, w = 1 / (y * y);  // weighs relative errors equally
    n += w, sx += w * x, sy += w * y, sxx += w * x * x, sxy += w * x * y;
  }
  const double b = (n * sxy - sx * sy) / (n * sxx - sx * sx), a = (sy - b * sx) / n;
  double worst = 0;
  for (const BenchmarkRun* p : points) worst = std::max(worst, std::abs(a + b * static_cast<double>(p->batch) - p->ms_per_step) / p->ms_per_step);
  return {{"a_ms", rounded(a, 4)}, {"b_ms_per_sample", rounded(b, 5)}, {"worst_relative_error", rounded(worst, 4)}};
}

// Returns the speed of every additional thread count relative to the first, for the step and for the convolutions alone.
ordered_json scaling(const BenchmarkOutcome& o) {
  const BenchmarkRun& ours = o.runs[0];
  ordered_json list = ordered_json::array();
  for (const BenchmarkRun& r : o.runs) {
    if (r.framework != "sindri" || r.threads == ours.threads || r.batch != ours.batch) continue;
    for (const BenchmarkRun& base : o.runs) {
      if (base.framework == "sindri" && base.mode == r.mode && is_main(base, ours))
        list.push_back({{"mode", r.mode}, {"threads", {ours.threads, r.threads}}, {"speed_ratio", rounded(base.samples_per_second / r.samples_per_second, 4)}});
    }
  }
  return list;
}

ordered_json run_record(const BenchmarkRun& r) {
  ordered_json j = {{"framework", r.framework},
                    {"version", r.version},
                    {"mode", r.mode},
                    {"batch", r.batch},
                    {"threads", r.threads},
                    {"ms_per_step", rounded(r.ms_per_step, 4)},
                    {"samples_per_second", rounded(r.samples_per_second, 3)},
                    {"spread", rounded(r.spread, 4)},
                    {"first_step_s", rounded(r.first_step_s, 4)},
                    {"build_s", rounded(r.build_s, 4)},
                    {"peak_memory_mb", rounded(r.peak_memory_mb, 1)},
                    {"steps", r.steps}};
  for (double b : r.blocks_ms) j["blocks_ms"].push_back(rounded(b, 4));
  for (const auto& [name, value] : r.more) j[name] = rounded(value, 6);
  return j;
}

// Returns the start of a message without line breaks and rules, which peers' messages contain.
std::string one_line(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word && out.size() < 160;) {
    if (word.find_first_not_of("-=") != std::string::npos) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string table_text(const BenchmarkRequest& q, const BenchmarkOutcome& o, const std::map<std::string, double>& ratios) {
  const Workload& w = q.workload;
  std::string t =
      fmt::format("{} {}, batch {}, {}, {} threads, {} on {}\n", w.net, w.task, w.batch, w.precision, o.runs[0].threads, cpu_isa_name(cpu_isa()), cpu_model());
  t += fmt::format("{} rounds of blocks of {:.2g} s, medians\n\n", o.rounds, o.block_seconds);
  t += fmt::format("{:<10} {:<36} {:>10} {:>12} {:>7} {:>9} {:>9}\n", "framework", "mode", "ms/step", "samples/s", "spread", "first s", "peak MB");
  for (const BenchmarkRun& r : o.runs) {
    const std::string mode = is_main(r, o.runs[0]) ? r.mode : label(r);
    t += fmt::format("{:<10} {:<36} {:>10.3f} {:>12.1f} {:>6.1f}% {:>9.2f} {:>9.0f}\n", r.framework, mode, r.ms_per_step, r.samples_per_second, r.spread * 100,
                     r.first_step_s, r.peak_memory_mb);
  }
  for (const Skipped& l : o.skipped) t += fmt::format("skipped: {} {}: {}\n", l.framework, l.mode, one_line(l.reason));
  if (!ratios.empty()) t += "\n";
  const char* const meaning[][2] = {{"best_pytorch", "our samples per second over PyTorch's in its fastest mode"},
                                    {"best_mindspore", "over MindSpore's in its fastest mode"},
                                    {"convolutions_limit", "over what the step's convolutions and matmuls alone allow"}};
  for (const auto& [name, text] : meaning) {
    if (ratios.contains(name)) t += fmt::format("{:<20} {:.3f}  {}\n", name, ratios.at(name), text);
  }
  if (w.mode == "pynative" && !q.compare.empty())
    t += "mode pynative: compared with the peers' eager modes only, without torch.compile and MindSpore's graphs\n";
  else if (q.quick && ratios.contains("best_pytorch")) t += "--quick: PyTorch without torch.compile\n";
  return t;
}

}  // namespace

std::string label(const BenchmarkRun& r) { return fmt::format("{}, batch {}, {} thread{}", r.mode, r.batch, r.threads, r.threads == 1 ? "" : "s"); }

ordered_json machine_record(int threads) {
  return {{"cpu", cpu_model()},
          {"instruction_set", cpu_isa_name(cpu_isa())},
          {"threads", threads},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_gib", rounded(memory_gib(), 1)}};
}

ordered_json workload_record(const Workload& w) { return {{"net", w.net}, {"batch", w.batch}, {"precision", w.precision}, {"task", w.task}, {"mode", w.mode}}; }

BenchmarkReport make_report(const BenchmarkRequest& q, const BenchmarkOutcome& o) {
  BenchmarkReport report{.runs = o.runs, .ratios = {}, .table = "", .json = ""};
  const BenchmarkRun& ours = o.runs.at(0);
  ordered_json ratios = ordered_json::object(), ranges = ordered_json::object();
  const auto add = [&](const char* name, const BenchmarkRun* theirs) {
    if (theirs == nullptr) return;
    report.ratios[name] = ours.samples_per_second / theirs->samples_per_second;
    ratios[name] = rounded(report.ratios[name], 4);
    ranges[name] = range_of(ours, *theirs);
  };
  add("best_pytorch", fastest(o, "pytorch"));
  add("best_mindspore", fastest(o, "mindspore"));
  add("convolutions_limit", fastest(o, "sindri", "convolutions"));

  ordered_json j = {{"command", q.command_line},
                    {"date", utc_time_text()},
                    {"sindri", SINDRI_VERSION_STRING},
                    {"machine", machine_record(ours.threads)},
                    {"workload", workload_record(q.workload)},
                    {"method", {{"quick", q.quick}, {"rounds", o.rounds}, {"block_seconds", rounded(o.block_seconds, 3)}}},
                    {"runs", ordered_json::array()}};
  for (const BenchmarkRun& r : o.runs) j["runs"].push_back(run_record(r));
  j["ratios"] = ratios;
  j["ratio_ranges"] = ranges;
  if (const ordered_json g = growth(o); !g.is_null()) j["growth"] = g;
  if (const ordered_json s = scaling(o); !s.empty()) j["scaling"] = s;
  j["skipped"] = ordered_json::array();
  for (const Skipped& l : o.skipped) j["skipped"].push_back({{"framework", l.framework}, {"mode", l.mode}, {"reason", l.reason}});
  report.json = j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  report.table = table_text(q, o, report.ratios);
  return report;
}

}  // namespace sindri::measure
