// See plan.h.
#include "src/measure/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/comm/benchmark.h"
#include "sindri/core/error.h"
#include "sindri/models/models.h"
#include "sindri/train/data_parallel.h"
#include "sindri/train/scaling.h"

namespace sindri::measure {

namespace {

using Buckets = std::vector<train::GradientBucket>;

constexpr double kMb = 1e6;
constexpr double kResNet50Rate = 2470;  // images per second of one card in the published runs

// The values that all lines of a plan share.
struct Plan {
  const PlanRequest& request;
  std::vector<TensorMeta> gradients;
  Buckets buckets;
  train::ClusterModel cluster;
  bool measured_between = false;  // the rate between hosts is measured

  int64_t elements() const {
    int64_t n = 0;
    for (const TensorMeta& g : gradients) n += g.shape.numel();
    return n;
  }
  // Bytes in the type used between ranks.
  std::vector<double> bucket_bytes(const Buckets& of) const {
    std::vector<double> out;
    for (const train::GradientBucket& b : of) out.push_back(static_cast<double>(b.bytes) * (request.compression == "none" ? 1 : 0.5));
    return out;
  }
  train::StepPrediction predict(const Buckets& of, int64_t batch, int ranks, double network) const {
    train::StepModel step = train::StepModel::of_rate(static_cast<double>(batch), request.rate);
    if (request.net == "resnet50") step.completion = train::resnet50_completion();
    train::ClusterModel c = cluster;
    if (!measured_between) c.rate_between = 0.8 * network * 1e9 / 8;
    return train::predict_step(bucket_bytes(of), ranks, step, c);
  }
};

template <class T> T positive_plan_value(T value, const char* flag) {
  if (!(value > 0)) throw ValueError(fmt::format("{} must be positive, got {}", flag, value), "sindri plan");
  return value;
}

std::vector<TensorMeta> gradients_of(const PlanRequest& r) {
  const nn::CellPtr net = models::create(r.net, {.num_classes = r.num_classes});
  std::vector<TensorMeta> out;
  for (const Parameter* p : net->trainable_params()) out.push_back(p->meta());
  return out;
}

Buckets buckets_of(const PlanRequest& r, const std::vector<TensorMeta>& gradients, double mb) {
  train::DataParallelOptions o;
  o.bucket_mb = mb * kMb / (1 << 20);
  if (r.fusion_given) o.all_reduce_fusion_config = r.fusion;
  return train::gradient_buckets(gradients, o, comm::world());
}

// {"a_i", "b_i", "a_e", "b_e"}: seconds per message and bytes per second, inside a host and between hosts.
void read_measured(Plan* p) {
  const std::string file = comm::constants_file();
  std::ifstream in(file);
  if (!in)
    throw SettingsError("there are no measured constants", file.empty() ? "no HOME, XDG_CACHE_HOME or SINDRI_CACHE_DIR" : file,
                        "run sindri comm-bench on this layout first, or omit --measured");
  try {
    const nlohmann::json j = nlohmann::json::parse(in);
    p->cluster.latency_inside = j.at("a_i").get<double>();
    p->cluster.rate_inside = j.at("b_i").get<double>();
    if (!j.contains("b_e") || j.at("b_e").is_null()) return;  // measured on one host
    p->cluster.latency_between = j.at("a_e").get<double>();
    p->cluster.rate_between = j.at("b_e").get<double>();
    p->measured_between = true;
  } catch (const nlohmann::json::exception& e) {
    throw SettingsError(fmt::format("cannot read the measured constants: {}", e.what()), file, "run sindri comm-bench again");
  }
}

std::string bucket_table(const Plan& p) {
  const PlanRequest& r = p.request;
  std::string out = fmt::format("{}: {} gradients, {} elements, {:.1f} MB a step{}\n", r.net, p.gradients.size(), p.elements(),
                                static_cast<double>(p.elements()) * (r.compression == "none" ? 4e-6 : 2e-6),
                                r.compression == "none" ? "" : fmt::format(" as {} (between hosts; shared memory takes float32)", r.compression));
  const std::vector<double> bytes = p.bucket_bytes(p.buckets);
  if (r.rate <= 0) {
    out += fmt::format("\n{:<8}{:<14}{:>10}\n", "bucket", "gradients", "MB");
    for (size_t k = 0; k < bytes.size(); ++k)
      out += fmt::format("{:<8}{:<14}{:>10.2f}\n", k, fmt::format("{}-{}", p.buckets[k].first, p.buckets[k].last), bytes[k] / kMb);
    return out + fmt::format("\ntimes need --rate, samples per second of one rank (sindri benchmark {} prints it)\n", r.net);
  }
  const int64_t batch = r.batches[0];
  const int ranks = r.ranks[0];
  const train::StepPrediction t = p.predict(p.buckets, batch, ranks, r.network[0]);
  const std::string link = p.measured_between ? "the measured network" : fmt::format("{:g} Gbit/s a host", r.network[0]);
  out += fmt::format("{} ranks, {} in a host, {}; {} samples a rank, {:g} a second\n", ranks, std::min(ranks, r.ranks_per_host), link, batch, r.rate);
  out += fmt::format("\n{:<8}{:<14}{:>10}{:>12}{:>12}{:>12}{:>10}\n", "bucket", "gradients", "MB", "ready ms", "starts ms", "ends ms", "hidden");
  const double compute = static_cast<double>(batch) / r.rate;
  for (size_t k = 0; k < bytes.size(); ++k) {
    const train::BucketTimes& b = t.buckets[k];
    out += fmt::format("{:<8}{:<14}{:>10.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>8.0f} %\n", k, fmt::format("{}-{}", p.buckets[k].first, p.buckets[k].last),
                       bytes[k] / kMb, 1e3 * compute * (1.0 / 3 + 2 * b.ready / 3), 1e3 * b.start, 1e3 * b.end, 100 * b.hidden);
  }
  out += fmt::format("\nstep: {:.2f} ms, one rank {:.2f} ms; efficiency {:.1f} %; {:.0f} % of the reduction is hidden\n", 1e3 * t.seconds, 1e3 * t.alone,
                     100 * t.efficiency, 100 * t.hidden);
  if (r.net != "resnet50") out += "gradients are assumed to be ready in proportion to their bytes\n";
  return out;
}

std::string scale_table(const Plan& p) {
  const PlanRequest& r = p.request;
  std::string out = fmt::format("\nefficiency in percent, by ranks\n{:<26}", "");
  for (const int n : r.ranks) out += fmt::format("{:>8}", n);
  out += "\n";
  for (const int64_t batch : r.batches) {
    for (const double network : r.network) {
      out += fmt::format("{:<26}", p.measured_between ? fmt::format("batch {}", batch) : fmt::format("batch {}, {:g} Gbit/s", batch, network));
      for (const int n : r.ranks) out += fmt::format("{:>8.1f}", 100 * p.predict(p.buckets, batch, n, network).efficiency);
      out += "\n";
      if (p.measured_between) break;  // it is the same network
    }
  }
  return out;
}

// The largest bucket size for which no smaller one shortens the predicted step by more than 1 %.
std::string suggestion(const Plan& p) {
  PlanRequest r = p.request;
  r.fusion_given = false;
  Buckets best;
  double best_mb = 0, best_seconds = 0;
  for (const double mb : {1024.0, 128.0, 64.0, 32.0, 25.0, 16.0, 8.0, 4.0, 2.0, 1.0}) {
    const Buckets buckets = buckets_of(r, p.gradients, mb);
    const double t = p.predict(buckets, r.batches[0], r.ranks[0], r.network[0]).seconds;
    if (best.empty() || t < best_seconds * 0.99) {
      best = buckets;
      best_mb = mb;
      best_seconds = t;
    }
  }
  std::vector<int64_t> last;
  for (auto b = best.rbegin(); b != best.rend(); ++b) last.push_back(b->last);
  return fmt::format("\nall_reduce_fusion_config: [{}]\n{} buckets of up to {:g} MB; predicted step {:.2f} ms\n", fmt::join(last, ", "), best.size(), best_mb,
                     1e3 * best_seconds);
}

}  // namespace

std::string plan(const PlanRequest& given) {
  PlanRequest r = given;
  if (r.batches.empty()) r.batches = r.scale ? std::vector<int64_t>{256, 32} : std::vector<int64_t>{256};
  if (r.ranks.empty()) r.ranks = r.scale ? std::vector<int>{16, 64, 256, 1024, 4096} : std::vector<int>{16};
  if (r.network.empty()) r.network = r.scale ? std::vector<double>{25, 100} : std::vector<double>{25};
  if (r.compression != "none" && r.compression != "bf16" && r.compression != "fp16")
    throw ValueError(fmt::format("--compression must be none, bf16 or fp16, got '{}'", r.compression), "sindri plan");
  positive_plan_value(r.bucket_mb, "--bucket-mb");
  for (const int64_t b : r.batches) positive_plan_value(b, "--batch");
  for (const int n : r.ranks) positive_plan_value(n, "--ranks");
  for (const double n : r.network) positive_plan_value(n, "--network");
  positive_plan_value(r.ranks_per_host, "--ranks-per-host");
  if (r.rate < 0) throw ValueError(fmt::format("--rate must be positive, got {:g}", r.rate), "sindri plan");
  if (r.rate == 0 && r.net == "resnet50") r.rate = kResNet50Rate;
  if (r.rate == 0 && (r.scale || r.suggest_fusion))
    throw ValueError(fmt::format("{} needs the samples per second of one rank", r.scale ? "--scale" : "--suggest-fusion"), "sindri plan",
                     fmt::format("add --rate N; sindri benchmark {} prints it", r.net));
  Plan p = {.request = r, .gradients = gradients_of(r), .buckets = {}, .cluster = {}};
  p.buckets = buckets_of(r, p.gradients, r.bucket_mb);
  p.cluster.ranks_per_host = r.ranks_per_host;
  if (r.measured) read_measured(&p);
  std::string out = bucket_table(p);
  if (r.scale) out += scale_table(p);
  if (r.suggest_fusion) out += suggestion(p);
  return out;
}

}  // namespace sindri::measure
