// `sindri plan`: a net's gradient buckets, and the predicted speed of data-parallel training on more ranks, by the model of sindri/train/scaling.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sindri::measure {

struct PlanRequest {
  std::string net;
  int64_t num_classes = 0;  // 0: the net's default
  std::vector<int64_t> batches = {};  // samples per rank; empty: 256, and with `scale` 32 as well
  std::vector<int> ranks = {};  // empty: 16, with `scale` 16, 64, … 4096
  std::vector<double> network = {};  // Gbit/s of a host's network card, of which 0.8 are usable; empty: 25, with `scale` 100 as well
  double rate = 0;  // samples per second of one rank; 0: of the published ResNet-50 runs, and unknown for other nets
  int ranks_per_host = 8;
  double bucket_mb = 25;  // in 10^6 bytes
  std::vector<int64_t> fusion = {};  // all_reduce_fusion_config instead: the buckets' last gradients
  bool fusion_given = false;
  std::string compression = "none";  // type used between ranks: none, bf16 or fp16
  bool scale = false;  // the table over numbers of ranks
  bool suggest_fusion = false;
  bool measured = false;  // use the constants that `sindri comm-bench` saved in the cache folder
};

/// Returns the text that the verb prints. Throws ValueError for values out of range, and SettingsError if measured constants are requested and missing.
std::string plan(const PlanRequest& request);

}  // namespace sindri::measure
