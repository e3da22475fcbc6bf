// See sindri/comm/benchmark.h.
#include "sindri/comm/benchmark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sindri/core/error.h"
#include "src/comm/mpi.h"

namespace sindri::comm {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Buffers that all calls use, each of the largest size.
struct Memory {
  std::shared_ptr<void> flat;
  std::vector<float> in, out;
  explicit Memory(Communicator& c, int64_t bytes) : flat(c.flat_buffer(bytes)), in(static_cast<size_t>(bytes / 4), 1.F), out(in.size(), 1.F) {}
};

// One op at one size: our call, the library's equivalent (or none), and the fraction of the bytes that a link carries.
struct Case {
  std::function<void()> call, library;
  double bus = 1;
};

const std::array<const char*, 9> kOps = {"all_reduce",     "all_reduce_elsewhere", "reduce",    "broadcast", "all_gather",
                                         "reduce_scatter", "all_to_all",           "send_recv", "barrier"};

// `n` elements in total; parts per rank have n / size.
Case make_case(const std::string& op, Communicator& c, Memory* m, int64_t n, MpiPlainCalls* plain) {
  const int size = c.size();
  const int64_t part = n / size;
  float* const flat = static_cast<float*>(m->flat.get());
  float* const in = m->in.data();
  float* const out = m->out.data();
  const double share = static_cast<double>(size - 1) / size;
  constexpr DType kType = DType::kFloat32;
  // Means, so that values keep their magnitude. The library only sums; its values stay finite for the duration of the measurement.
  constexpr ReduceOp kOp = ReduceOp::kMean;
  const auto or_none = [&](std::function<void()> f) { return plain != nullptr ? std::move(f) : std::function<void()>(); };
  if (op == "all_reduce") return {[=, &c] { c.all_reduce(flat, flat, n, kType, kOp); }, or_none([=] { plain->all_reduce(out, n); }), 2 * share};
  if (op == "all_reduce_elsewhere") return {[=, &c] { c.all_reduce(in, in, n, kType, kOp); }, or_none([=] { plain->all_reduce(out, n); }), 2 * share};
  if (op == "reduce") return {[=, &c] { c.reduce(in, out, n, kType, kOp, 0); }, or_none([=] { plain->reduce(in, out, n, 0); }), 1};
  if (op == "broadcast") return {[=, &c] { c.broadcast(out, n, kType, 0); }, or_none([=] { plain->broadcast(out, n * 4, 0); }), 1};
  if (op == "all_gather") return {[=, &c] { c.all_gather(in, out, part, kType); }, or_none([=] { plain->all_gather(in, out, part * 4); }), share};
  if (op == "reduce_scatter") return {[=, &c] { c.reduce_scatter(in, out, part, kType, kOp); }, or_none([=] { plain->reduce_scatter(in, out, part); }), share};
  if (op == "all_to_all") return {[=, &c] { c.all_to_all(in, out, part, kType); }, or_none([=] { plain->all_to_all(in, out, part * 4); }), share};
  const int next = (c.rank() + 1) % size, before = (c.rank() + size - 1) % size;
  if (op == "send_recv") return {[=, &c] { c.send_recv(in, n, next, out, n, before, kType); }, {}, 1};
  return {[&c] { c.barrier(); }, or_none([=] { plain->barrier(); }), 0};
}

// Times one call that starts after a barrier.
double time_once(Communicator& c, const std::function<void()>& f) {
  c.barrier();
  const double begin = now();
  f();
  return now() - begin;
}

// Alternates our calls with the library's. Returns the medians of the slowest rank's times.
std::pair<double, double> time_case(Communicator& c, const Case& the_case, int rounds) {
  double first = time_once(c, the_case.call);
  c.all_reduce(&first, &first, 1, DType::kFloat64, ReduceOp::kMax);
  if (the_case.library) the_case.library();
  const int times = rounds > 0 ? rounds : std::clamp(static_cast<int>(0.5 / std::max(first, 1e-9)), 5, 200);
  std::vector<double> all(2 * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i) {
    all[static_cast<size_t>(i)] = time_once(c, the_case.call);
    if (the_case.library) all[static_cast<size_t>(times + i)] = time_once(c, the_case.library);
  }
  c.all_reduce(all.data(), all.data(), 2 * times, DType::kFloat64, ReduceOp::kMax);
  return {median({all.begin(), all.begin() + times}), the_case.library ? median({all.begin() + times, all.end()}) : 0};
}

// The line t = a·x + S·y/b fitted to times at several sizes, each weighted by its relative error.
struct Line {
  double a = 0, b = 0;
};
Line fit(const std::vector<std::pair<double, double>>& points, double messages, double share) {
  double s00 = 0, s01 = 0, s11 = 0, r0 = 0, r1 = 0;
  for (const auto& [bytes, t] : points) {
    const double u = messages / t, v = share * bytes / t;
    s00 += u * u;
    s01 += u * v;
    s11 += v * v;
    r0 += u;
    r1 += v;
  }
  const double det = s00 * s11 - s01 * s01;
  if (!(det > 0)) return {};
  const double a = (r0 * s11 - r1 * s01) / det, inverse = (r1 * s00 - r0 * s01) / det;
  return {std::max(a, 0.0), inverse > 0 ? 1 / inverse : 0};
}

// Measures an all-reduce among the ranks of `c`, which is ring(S, N) in the model. `together`: number of such groups that share the link.
Line measure_link(Communicator& c, int together) {
  std::vector<std::pair<double, double>> points;
  const int n = c.size();
  for (const int64_t bytes : {64, 4 << 10, 256 << 10, 4 << 20, 32 << 20}) {
    const std::shared_ptr<void> flat = c.flat_buffer(bytes);
    auto* const data = static_cast<float*>(flat.get());
    const Case the_case{[&] { c.all_reduce(data, data, bytes / 4, DType::kFloat32, ReduceOp::kSum); }, {}, 1};
    points.emplace_back(static_cast<double>(bytes) * together, time_case(c, the_case, 0).first);
  }
  return fit(points, 2.0 * (n - 1), 2.0 * (n - 1) / n);
}

LinkConstants measure_constants(Communicator& world) {
  LinkConstants k;
  const std::shared_ptr<Communicator> host = world.split(world.host_index(), world.rank());
  std::array<double, 4> values{};
  if (host->size() > 1) {
    const Line inside = measure_link(*host, 1);
    values[0] = inside.a;
    values[1] = inside.b;
  }
  if (world.host_count() > 1) {
    const std::shared_ptr<Communicator> across = world.split(world.local_rank(), world.rank());
    if (across->size() > 1) {
      const Line outside = measure_link(*across, world.local_size());
      values[2] = outside.a;
      values[3] = outside.b;
    }
  }
  world.broadcast(values.data(), 4, DType::kFloat64, 0);
  k.a_i = values[0];
  k.b_i = values[1];
  k.a_e = values[2];
  k.b_e = values[3];
  return k;
}

void measure_copies(Communicator& c, Memory* m, BenchmarkReport* report) {
  const size_t bytes = m->in.size() * sizeof(float);
  const auto copy = [&] { std::memcpy(m->out.data(), m->in.data(), bytes); };
  std::vector<double> alone, together;
  for (int i = 0; i < 7; ++i) {
    together.push_back(time_once(c, copy));
    double t = 0;
    for (int r = 0; r < c.size(); ++r) {
      const double one = time_once(c, r == c.rank() ? copy : std::function<void()>([] {}));
      if (r == c.rank()) t = one;
    }
    alone.push_back(t);
  }
  std::array<double, 2> slowest = {median(alone), median(together)};
  c.all_reduce(slowest.data(), slowest.data(), 2, DType::kFloat64, ReduceOp::kMax);
  report->copy_bytes = static_cast<int64_t>(bytes);
  report->copy_alone = static_cast<double>(bytes) / slowest[0];
  report->copy_together = static_cast<double>(bytes) / slowest[1];
}

std::string size_text(int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 1e6) return fmt::format("{:.4g} MB", b / 1e6);
  return b >= 1e3 ? fmt::format("{:.4g} kB", b / 1e3) : fmt::format("{} B", bytes);
}

std::string table_of(Communicator& c, const BenchmarkReport& report) {
  const bool library = std::any_of(report.rows.begin(), report.rows.end(), [](const BenchmarkRow& r) { return r.library_seconds > 0; });
  std::string text =
      fmt::format("{} ranks on {} host{}, backend {}; memcpy of {}: {:.2f} GB/s alone, {:.2f} GB/s each while all ranks copy\n", c.size(), c.host_count(),
                  c.host_count() > 1 ? "s" : "", c.backend(), size_text(report.copy_bytes), report.copy_alone / 1e9, report.copy_together / 1e9);
  text += fmt::format("{:<21} {:>9} {:>12} {:>14} {:>10}{}\n", "op", "size", "time", "algorithm", "bus",
                      library ? fmt::format(" {:>12} {:>7}", "library", "ratio") : "");
  for (const BenchmarkRow& r : report.rows) {
    text += fmt::format("{:<21} {:>9} {:>9.1f} us {:>9.3f} GB/s {:>5.2f} GB/s", r.op, size_text(r.bytes), r.seconds * 1e6, r.algorithm / 1e9, r.bus / 1e9);
    if (r.library_seconds > 0) text += fmt::format(" {:>9.1f} us {:>6.2f}x", r.library_seconds * 1e6, r.library_seconds / r.seconds);
    text += "\n";
  }
  const LinkConstants& k = report.constants;
  if (k.b_i > 0) text += fmt::format("inside a host: a = {:.2f} us, b = {:.2f} GB/s\n", k.a_i * 1e6, k.b_i / 1e9);
  if (k.b_e > 0) text += fmt::format("between hosts: a = {:.2f} us, b = {:.3f} GB/s\n", k.a_e * 1e6, k.b_e / 1e9);
  return text;
}

nlohmann::json constants_json(Communicator& c, const LinkConstants& k, nlohmann::json all) {
  if (!all.is_object()) all = nlohmann::json::object();
  if (k.b_i > 0) {
    all["a_i"] = k.a_i;
    all["b_i"] = k.b_i;
  }
  if (k.b_e > 0) {
    all["a_e"] = k.a_e;
    all["b_e"] = k.b_e;
  }
  all["ranks_per_host"] = c.local_size();
  all["hosts"] = c.host_count();
  all["backend"] = c.backend();
  return all;
}

void store_constants(Communicator& c, const LinkConstants& k) {
  const std::string file = constants_file();
  if (file.empty()) return;
  nlohmann::json before;
  if (std::ifstream in(file); in) before = nlohmann::json::parse(in, nullptr, false);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  const std::string written = file + ".new";
  {
    std::ofstream out(written);
    out << constants_json(c, k, before).dump(2) << "\n";
    if (!out.flush()) throw IoError(fmt::format("{} cannot be written", written), "comm-bench", "set SINDRI_CACHE_DIR to a folder that can");
  }
  std::filesystem::rename(written, file);
}

std::string json_of(Communicator& c, const BenchmarkReport& report) {
  nlohmann::json all = constants_json(c, report.constants, {});
  all["ranks"] = c.size();
  all["memcpy_alone"] = report.copy_alone;
  all["memcpy_together"] = report.copy_together;
  all["rows"] = nlohmann::json::array();
  for (const BenchmarkRow& r : report.rows) {
    nlohmann::json row = {{"op", r.op}, {"bytes", r.bytes}, {"seconds", r.seconds}, {"algorithm", r.algorithm}, {"bus", r.bus}};
    if (r.library_seconds > 0) row["library_seconds"] = r.library_seconds;
    all["rows"].push_back(std::move(row));
  }
  return all.dump(2) + "\n";
}

}  // namespace

std::vector<std::string> benchmark_ops() { return {kOps.begin(), kOps.end()}; }

std::string constants_file() {
  const auto variable = [](const char* name) {
    const char* const v = std::getenv(name);
    return std::string(v != nullptr ? v : "");
  };
  if (const std::string dir = variable("SINDRI_CACHE_DIR"); !dir.empty()) return dir + "/comm_constants.json";
  if (const std::string dir = variable("XDG_CACHE_HOME"); !dir.empty()) return dir + "/sindri/comm_constants.json";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/sindri/comm_constants.json";
}

BenchmarkReport benchmark(Communicator& world, const BenchmarkRequest& request) {
  const std::vector<std::string> ops = request.ops.empty() ? benchmark_ops() : request.ops;
  for (const std::string& op : ops) {
    if (std::find(kOps.begin(), kOps.end(), op) == kOps.end())
      throw ValueError(fmt::format("unknown op '{}'", op), "comm-bench", fmt::format("choose from {}", fmt::join(kOps, ", ")));
  }
  if (request.sizes.empty() || *std::min_element(request.sizes.begin(), request.sizes.end()) < 4)
    throw ValueError("sizes below 4 bytes cannot be timed", "comm-bench", "give bytes, as 1k or 100M");
  std::unique_ptr<MpiPlainCalls> plain;
  if (request.compare_library && world.backend() == std::string_view("mpi")) plain = std::make_unique<MpiPlainCalls>(world);
  BenchmarkReport report;
  const int64_t largest = *std::max_element(request.sizes.begin(), request.sizes.end());
  Memory memory(world, largest);
  measure_copies(world, &memory, &report);
  for (const std::string& op : ops) {
    for (const int64_t bytes : op == "barrier" ? std::vector<int64_t>{0} : request.sizes) {
      const int64_t n = op == "barrier" ? 0 : std::max<int64_t>(bytes / 4, world.size());
      if (n * 4 > static_cast<int64_t>(memory.in.size()) * 4) continue;  // less than one element per rank
      std::fill(memory.in.begin(), memory.in.end(), 1.F);
      std::fill(memory.out.begin(), memory.out.end(), 1.F);
      const Case the_case = make_case(op, world, &memory, n, plain.get());
      const auto [seconds, library] = time_case(world, the_case, request.rounds);
      const double rate = static_cast<double>(4 * n) / seconds;
      report.rows.push_back({op, 4 * n, seconds, rate, rate * the_case.bus, library});
    }
  }
  if (world.size() > 1) report.constants = measure_constants(world);
  report.table = table_of(world, report);
  report.json = json_of(world, report);
  if (request.store && world.size() > 1 && world.rank() == 0) store_constants(world, report.constants);
  return report;
}

}  // namespace sindri::comm
