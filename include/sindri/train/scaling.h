// Duration of a data-parallel step on a number of ranks, predicted from a few constants of the machines; `sindri plan` prints it.
// The buckets are those of data_parallel.h.
//
// Buckets of gradients are reduced in sequence, each once the backward pass has completed it, by the hierarchical all-reduce over
// M hosts with g ranks each. a is the latency of a message in seconds and b the rate in bytes per second in one direction; the
// subscript _i means inside a host, and _e means a host's network card:
//
//   hier(S) = 2(g-1)a_i + 2(g-1)/g S/b_i + min(2(M-1)a_e + 2(M-1)/M S/b_e, 2 ceil(log2 M) a_e + 2S/b_e)                        (1)
//   end_k   = max(t_f + r_k t_b, end_(k-1)) + hier(S_k)                                                                          (2)
//   T(N)    = max(t_f + t_b, end_last) + t_opt + c (t_f+t_b) + sigma (t_f+t_b) sqrt(2 ln N)                                      (3)
//
// r_k is the part of the backward pass after which bucket k is complete. A single rank does not communicate: T(1) = t_f + t_b +
// t_opt.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// Machines and their links. Latencies are in seconds per message, rates in bytes per second in one direction.
struct ClusterModel {
  int ranks_per_host = 8;
  double latency_inside = 3.4e-6;  ///< a_i
  double rate_inside = 211e9;  ///< b_i
  double latency_between = 15e-6;  ///< a_e
  double rate_between = 0.8 * 25e9 / 8;  ///< b_e: of a host's network card, which its ranks share
};

/// A rank's step without communication.
struct StepModel {
  double forward = 0, backward = 0, optimizer = 0;  ///< t_f, t_b, t_opt: seconds
  double overhead = 0.01;  ///< c: cost of passing gradients to the reduction, as a share of forward and backward
  double jitter = 0.01;  ///< sigma: relative deviation of a rank's forward and backward time
  /// Points (share of the gradients' bytes, share of the backward pass), both rising from 0 to 1, connected by straight lines.
  std::vector<std::pair<double, double>> completion = {{0, 0}, {1, 1}};
  /// A step whose forward and backward take one third and two thirds of a batch's time at `samples_per_second`.
  static SINDRI_API StepModel of_rate(double batch, double samples_per_second);
};
/// `completion` of ResNet-50, whose last layers hold most of the weights and little of the work.
SINDRI_API const std::vector<std::pair<double, double>>& resnet50_completion();

/// Times at which a bucket's gradients are computed and reduced.
struct BucketTimes {
  double bytes = 0;  ///< transmitted bytes
  double ready = 0;  ///< r_k
  double start = 0, end = 0;  ///< of its reduction, in seconds from the step's start
  double hidden = 0;  ///< share of its reduction that overlaps the backward pass
};
/// Predicted times of a step.
struct StepPrediction {
  double seconds = 0, alone = 0;  ///< T(N), T(1) in seconds
  double efficiency = 1;  ///< T(1)/T(N)
  double hidden = 1;  ///< share of all reduction that overlaps the backward pass
  std::vector<BucketTimes> buckets;  ///< in order of completion
};

/// Seconds of one all-reduce of `bytes` over `ranks`, by (1). The last host may have fewer ranks.
SINDRI_API double all_reduce_seconds(double bytes, int ranks, const ClusterModel& cluster);
/// Predicts a step by (2) and (3). `bucket_bytes`: transmitted bytes per bucket, in order of completion. Throws ValueError for
/// ranks below 1 and for constants that are not positive.
SINDRI_API StepPrediction predict_step(std::span<const double> bucket_bytes, int ranks, const StepModel& step, const ClusterModel& cluster);

}  // namespace sindri::train
