// See scaling.h, which numbers the equations.
#include "sindri/train/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sindri/core/error.h"

namespace sindri::train {

namespace {

// Returns the completion curve's value at a share of the bytes.
double completed_at(const std::vector<std::pair<double, double>>& curve, double share) {
  for (size_t i = 1; i < curve.size(); ++i) {
    const auto& [x0, y0] = curve[i - 1];
    const auto& [x1, y1] = curve[i];
    if (share <= x1) return y0 + (y1 - y0) * (share - x0) / (x1 - x0);
  }
  return 1;
}

void check_scaling_model(int ranks, const StepModel& step, const ClusterModel& cluster) {
  const auto demand = [](bool holds, const char* name, double got, const char* what) {
    if (!holds) throw ValueError(fmt::format("{} must be {}, got {}", name, what, got), "scaling model");
  };
  demand(ranks >= 1, "ranks", ranks, "at least 1");
  demand(cluster.ranks_per_host >= 1, "ranks per host", cluster.ranks_per_host, "at least 1");
  demand(cluster.rate_inside > 0, "rate inside a host", cluster.rate_inside, "positive");
  demand(cluster.rate_between > 0, "rate between hosts", cluster.rate_between, "positive");
  demand(cluster.latency_inside >= 0, "latency inside a host", cluster.latency_inside, "0 or more");
  demand(cluster.latency_between >= 0, "latency between hosts", cluster.latency_between, "0 or more");
  demand(step.forward > 0, "seconds of the forward", step.forward, "positive");
  demand(step.backward > 0, "seconds of the backward", step.backward, "positive");
}

}  // namespace

StepModel StepModel::of_rate(double batch, double samples_per_second) {
  const double t = batch / samples_per_second;
  return {.forward = t / 3, .backward = 2 * t / 3};
}

const std::vector<std::pair<double, double>>& resnet50_completion() {
  static const std::vector<std::pair<double, double>> curve = {{0, 0}, {0.08, 0.02}, {0.66, 0.20}, {0.94, 0.55}, {0.99, 0.82}, {1, 1}};
  return curve;
}

double all_reduce_seconds(double bytes, int ranks, const ClusterModel& cluster) {
  const double g = std::min(ranks, cluster.ranks_per_host);
  const int hosts = (ranks + cluster.ranks_per_host - 1) / cluster.ranks_per_host;
  double t = 2 * (g - 1) * cluster.latency_inside + 2 * (g - 1) / g * bytes / cluster.rate_inside;
  if (hosts > 1) {
    const double a = cluster.latency_between, b = cluster.rate_between, m = hosts;
    t += std::min(2 * (m - 1) * a + 2 * (m - 1) / m * bytes / b, 2 * std::ceil(std::log2(m)) * a + 2 * bytes / b);
  }
  return t;
}

StepPrediction predict_step(std::span<const double> bucket_bytes, int ranks, const StepModel& step, const ClusterModel& cluster) {
  check_scaling_model(ranks, step, cluster);
  const double compute = step.forward + step.backward;
  StepPrediction p;
  p.alone = compute + step.optimizer;
  const double total = std::accumulate(bucket_bytes.begin(), bucket_bytes.end(), 0.0);
  double done = 0, end = 0, reducing = 0, beside = 0;
  for (const double bytes : bucket_bytes) {
    done += bytes;
    BucketTimes b = {.bytes = bytes, .ready = completed_at(step.completion, total > 0 ? done / total : 1)};
    b.start = std::max(step.forward + b.ready * step.backward, end);
    const double length = ranks == 1 ? 0 : all_reduce_seconds(bytes, ranks, cluster);
    end = b.end = b.start + length;
    const double covered = std::clamp(compute - b.start, 0.0, length);
    b.hidden = length > 0 ? covered / length : 1;
    reducing += length;
    beside += covered;
    p.buckets.push_back(b);
  }
  p.hidden = reducing > 0 ? beside / reducing : 1;
  p.seconds = ranks == 1 ? p.alone : std::max(compute, end) + step.optimizer + step.overhead * compute + step.jitter * compute * std::sqrt(2 * std::log(ranks));
  p.efficiency = p.alone / p.seconds;
  return p;
}

}  // namespace sindri::train
