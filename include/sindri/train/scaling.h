// How long a data-parallel step takes on a number of ranks, from a few constants of the machines: what `sindri plan` prints. The buckets are those of
// data_parallel.h.
//
// Buckets of gradients are reduced behind the backward, one after the other, by the hierarchical all-reduce of hosts with g ranks each. With a the
// seconds a message takes and b the bytes a second in one direction, _i inside a host and _e of a host's network card (M hosts):
//
//   hier(S) = 2(g-1)a_i + 2(g-1)/g S/b_i + min(2(M-1)a_e + 2(M-1)/M S/b_e, 2 ceil(log2 M) a_e + 2S/b_e)                        (1)
//   end_k   = max(t_f + r_k t_b, end_(k-1)) + hier(S_k)                                                                          (2)
//   T(N)    = max(t_f + t_b, end_last) + t_opt + c (t_f+t_b) + sigma (t_f+t_b) sqrt(2 ln N)                                      (3)
//
// r_k is the part of the backward behind which bucket k is complete. A rank alone has nothing to hand over: T(1) = t_f + t_b + t_opt.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// Machines and their links.
struct ClusterModel {
  int ranks_per_host = 8;
  double latency_inside = 3.4e-6;  ///< seconds a message
  double rate_inside = 211e9;  ///< bytes a second, one direction
  double latency_between = 15e-6;
  double rate_between = 0.8 * 25e9 / 8;  ///< of one host's card, which its ranks share
};

/// One rank's step without communication.
struct StepModel {
  double forward = 0, backward = 0, optimizer = 0;  ///< seconds
  double overhead = 0.01;  ///< c: share of forward and backward that handing gradients over costs
  double jitter = 0.01;  ///< sigma: deviation of a rank's forward and backward, relative
  /// (share of the gradients' bytes, share of the backward) points, both rising from 0 to 1, with straight lines between them.
  std::vector<std::pair<double, double>> completion = {{0, 0}, {1, 1}};
  /// Forward and backward as one and two thirds of what a batch takes at `samples_per_second`.
  static SINDRI_API StepModel of_rate(double batch, double samples_per_second);
};
/// `completion` of ResNet-50, whose last layers hold most of the weights and little of the work.
SINDRI_API const std::vector<std::pair<double, double>>& resnet50_completion();

/// How long the gradients of one bucket take to compute and to reduce.
struct BucketTimes {
  double bytes = 0;
  double ready = 0;  ///< r_k
  double start = 0, end = 0;  ///< of its reduction, seconds from the step's start
  double hidden = 0;  ///< share of it that runs beside the backward
};
/// What a step is predicted to take.
struct StepPrediction {
  double seconds = 0, alone = 0;  ///< T(N), T(1)
  double efficiency = 1;  ///< T(1)/T(N)
  double hidden = 1;  ///< share of all reduction that runs beside the backward
  std::vector<BucketTimes> buckets;
};

/// Seconds of one all-reduce of `bytes` over `ranks`, by (1). A last host may have fewer ranks.
SINDRI_API double all_reduce_seconds(double bytes, int ranks, const ClusterModel& cluster);
/// (2) and (3). `bucket_bytes` in completion order, as they travel. Throws ValueError for ranks below 1 and constants that are not positive.
SINDRI_API StepPrediction predict_step(std::span<const double> bucket_bytes, int ranks, const StepModel& step, const ClusterModel& cluster);

}  // namespace sindri::train
