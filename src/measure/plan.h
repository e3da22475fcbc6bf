// `sindri plan`: a net's gradient buckets, and what data-parallel training on more ranks comes to by the model of sindri/train/scaling.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::measure {

struct PlanRequest {
  std::string net;
  int64_t num_classes = 0;  // 0: the net's own
  std::vector<int64_t> batches = {};  // samples of a rank; empty: 256, and with `scale` 32 as well
  std::vector<int> ranks = {};  // empty: 16, with `scale` 16, 64, … 4096
  std::vector<double> network = {};  // Gbit/s of a host's card, of which 0.8 arrive; empty: 25, with `scale` 100 as well
  double rate = 0;  // samples a second of one rank; 0: of the published ResNet-50 runs, and unknown for other nets
  int ranks_per_host = 8;
  double bucket_mb = 25;  // of 10^6 bytes
  std::vector<int64_t> fusion = {};  // all_reduce_fusion_config instead: last gradients of the buckets
  bool fusion_given = false;
  std::string compression = "none";  // type on the wire: none, bf16 or fp16
  bool scale = false;  // the table over numbers of ranks
  bool suggest_fusion = false;
  bool measured = false;  // constants that `sindri comm-bench` left in the cache folder
};

/// The text that the verb prints. Throws ValueError for values out of range, SettingsError where measured constants are asked for and not there.
std::string plan(const PlanRequest& request);

}  // namespace sindri::measure
