// See settings_dist.h.
#include "src/app/settings_dist.h"

#include <fmt/format.h>

#include <cstdlib>

namespace sindri::app {

namespace {

using enum SettingType;

// Joining and watching: results do not depend on these.
std::vector<SettingSpec> group_rows() {
  return {
      {.name = "dist.backend",
       .type = kString,
       .fallback = "auto",
       .doc = "communication backend; auto: nccl on GPUs, otherwise mpi under an MPI launcher, otherwise gloo, otherwise single",
       .choices = "auto|single|mpi|gloo|nccl",
       .changes_result = false},
      {.name = "dist.rank_table",
       .type = kString,
       .fallback = "",
       .doc = "rank table (hccl.json); empty: taken from the environment (RANK_TABLE_FILE, SINDRI_RANK, mpirun, ...)",
       .changes_result = false},
      {.name = "dist.interface",
       .type = kString,
       .fallback = "",
       .doc = "network interface, by name or subnet; empty: the one that routes to rank 0",
       .changes_result = false},
      {.name = "dist.job_id",
       .type = kString,
       .fallback = "",
       .doc = "job identifier; processes with a different one cannot join; empty: rank 0 creates one",
       .changes_result = false},
      {.name = "dist.init_timeout",
       .type = kFloat,
       .fallback = "120",
       .doc = "time limit for all ranks to connect",
       .min = 0.1,
       .max = 86400,
       .unit = "seconds",
       .changes_result = false},
      {.name = "dist.op_warn",
       .type = kFloat,
       .fallback = "30",
       .doc = "a collective that waits longer than this prints a warning that names the missing ranks",
       .min = 0.1,
       .max = 86400,
       .unit = "seconds",
       .changes_result = false},
      {.name = "dist.op_timeout",
       .type = kFloat,
       .fallback = "600",
       .doc = "a collective that waits longer than this ends the job",
       .min = 0.1,
       .max = 604800,
       .unit = "seconds",
       .changes_result = false},
      {.name = "dist.heartbeat",
       .type = kFloat,
       .fallback = "1",
       .doc = "interval between a rank's heartbeats",
       .min = 0.05,
       .max = 3600,
       .unit = "seconds",
       .changes_result = false},
      {.name = "dist.lost_after",
       .type = kFloat,
       .fallback = "8",
       .doc = "a rank without a heartbeat for this long counts as lost",
       .min = 0.1,
       .max = 86400,
       .unit = "seconds",
       .changes_result = false},
      {.name = "dist.check",
       .type = kBool,
       .fallback = "false",
       .doc = "compare the kind, size and result of every collective between ranks; slow, for debugging",
       .changes_result = false},
  };
}

// The step and the run with several ranks.
std::vector<SettingSpec> training_rows() {
  return {
      {.name = "dist.parallel_mode",
       .type = kString,
       .fallback = "data_parallel",
       .doc = "data_parallel: ranks share the batches of one training run; stand_alone: each rank trains independently"},
      {.name = "dist.virtual_ranks",
       .type = kInt,
       .fallback = "0",
       .doc = "number of parts of the global batch, each of train.batch_size samples; a rank computes its share of them in sequence, so the result does not "
              "depend on the number of ranks; 0: the number of ranks at the start of the run, which a resumed run keeps",
       .min = 0,
       .max = 32768,
       .changes_result = false},
      {.name = "dist.strict_order",
       .type = kBool,
       .fallback = "true",
       .doc = "sum along one fixed tree over virtual ranks: results are bitwise identical on any number of ranks and hosts; false: any order that is fixed for "
              "a given layout of ranks"},
      {.name = "dist.gradients_mean", .type = kBool, .fallback = "true", .doc = "gradients are averaged over virtual ranks; false: summed"},
      {.name = "dist.all_reduce_fusion_config",
       .type = kIntList,
       .fallback = "[-1]",
       .doc = "last parameter of each gradient bucket except the final one; empty: one bucket; -1 alone: by size",
       .min = -1,
       .max = 1e9,
       .changes_result = false},
      {.name = "dist.bucket_mb",
       .type = kFloat,
       .fallback = "0",
       .doc = "size of buckets that are split by size; 0: 25 with nccl, 4 within a host, 8 between hosts",
       .min = 0,
       .max = 4096,
       .unit = "MiB",
       .changes_result = false},
      {.name = "dist.grad_compression",
       .type = kString,
       .fallback = "none",
       .doc = "type in which gradients are sent between ranks; not used between ranks that share memory",
       .choices = "none|bf16|fp16"},
      {.name = "dist.overlap",
       .type = kBool,
       .fallback = "true",
       .doc = "reduce a bucket as soon as the backward pass has computed its last gradient; false: after the backward pass, with bitwise identical results",
       .changes_result = false},
      {.name = "dist.replica_check_steps",
       .type = kInt,
       .fallback = "1000",
       .doc = "interval between comparisons of the ranks' parameters; 0: only when a checkpoint is saved",
       .min = 0,
       .max = 1e12,
       .unit = "steps",
       .changes_result = false},
      {.name = "dist.parameter_broadcast",
       .type = kBool,
       .fallback = "true",
       .doc = "all ranks start from rank 0's parameters and state",
       .changes_result = false},
      {.name = "dist.bn_sync",
       .type = kString,
       .fallback = "off",
       .doc = "batch norm's statistics in training: off: of each virtual rank's batch; train: of the global batch",
       .choices = "off|train"},
      {.name = "dist.bn_merge",
       .type = kString,
       .fallback = "mean",
       .doc = "batch norm's moving statistics in evaluation and checkpoints: the mean over all virtual ranks, or those of the first",
       .choices = "mean|rank0"},
      {.name = "dist.max_skips",
       .type = kInt,
       .fallback = "50",
       .doc = "with train.nan_policy skip, end the run after more consecutive skipped steps than this, on one rank or several; 0: never",
       .min = 0,
       .max = 1e9,
       .unit = "steps"},
      {.name = "dist.loss_scope",
       .type = kString,
       .fallback = "global",
       .doc = "step loss that a rank prints and records: of the global batch, or of its part; epoch means always cover the global batch",
       .choices = "global|local",
       .changes_result = false},
      {.name = "dist.log_steps",
       .type = kInt,
       .fallback = "100",
       .doc = "interval between reports of each rank's own step time in log.txt; a rank that is slower than the others in three reports causes a warning, and "
              "another one when it takes twice as long as reported; 0: none",
       .min = 0,
       .max = 1e9,
       .unit = "steps",
       .changes_result = false},
      {.name = "dist.load_local",
       .type = kBool,
       .fallback = "false",
       .doc = "every rank reads the checkpoint, and the contents are compared; false: rank 0 reads it and broadcasts it",
       .changes_result = false},
      {.name = "dist.stop_file",
       .type = kString,
       .fallback = "",
       .doc = "once this file exists, training stops as after SIGTERM; Sindri does not remove the file",
       .changes_result = false},
      {.name = "dist.term_grace",
       .type = kFloat,
       .fallback = "30",
       .doc = "after SIGTERM, the time a rank waits for the end of a step before it exits without saving",
       .min = 0.1,
       .max = 86400,
       .unit = "seconds",
       .changes_result = false},
  };
}

}  // namespace

std::vector<SettingSpec> dist_rows() {
  std::vector<SettingSpec> rows = group_rows();
  for (const SettingSpec& spec : training_rows()) rows.push_back(spec);
  return rows;
}

void validate_dist(const Settings& s, const std::function<void(const char*, const std::string&, const std::string&)>& fail) {
  if (const std::string mode = s.get_string("dist.parallel_mode"); mode != "data_parallel" && mode != "stand_alone")
    fail("dist.parallel_mode", fmt::format("'{}' is not supported", mode), "use data_parallel or stand_alone");
  if (s.get_float("dist.heartbeat") >= s.get_float("dist.lost_after"))
    fail("dist.lost_after", "a rank would count as lost between two of its signs of life", "make it several times dist.heartbeat");
  if (s.get_float("dist.op_warn") > s.get_float("dist.op_timeout")) fail("dist.op_warn", "it is longer than dist.op_timeout", "lower it");
  const std::vector<int64_t> fusion = s.get_ints("dist.all_reduce_fusion_config");
  for (size_t i = 0; i < fusion.size(); ++i) {
    if (fusion[i] == -1 && fusion.size() == 1) break;
    if (fusion[i] < 1 || (i > 0 && fusion[i] <= fusion[i - 1]))
      fail("dist.all_reduce_fusion_config", fmt::format("[{}]={}: must be greater than {}", i, fusion[i], i == 0 ? 0 : fusion[i - 1]), "list rising numbers");
  }
}

comm::Options comm_options(const Settings& s) {
  comm::Options o;
  o.backend = s.get_string("dist.backend");
  o.rank_table = s.get_string("dist.rank_table");
  o.interface = s.get_string("dist.interface");
  o.job_id = s.get_string("dist.job_id");
  o.init_timeout = s.get_float("dist.init_timeout");
  o.op_warn = s.get_float("dist.op_warn");
  o.op_timeout = s.get_float("dist.op_timeout");
  o.heartbeat = s.get_float("dist.heartbeat");
  o.lost_after = s.get_float("dist.lost_after");
  o.check = s.get_bool("dist.check");
  o.strict_order = s.get_bool("dist.strict_order");
  if (const char* delay = std::getenv("SINDRI_DIST_TEST_DELAY_US"); delay != nullptr) o.test_delay_us = std::atof(delay);
  return o;
}

train::DataParallelOptions data_parallel_options(const Settings& s) {
  train::DataParallelOptions o;
  o.virtual_ranks = s.get_int("dist.virtual_ranks");
  o.gradients_mean = s.get_bool("dist.gradients_mean");
  if (const std::vector<int64_t> fusion = s.get_ints("dist.all_reduce_fusion_config"); fusion != std::vector<int64_t>{-1}) o.all_reduce_fusion_config = fusion;
  o.bucket_mb = s.get_float("dist.bucket_mb");
  o.grad_compression = s.get_string("dist.grad_compression");
  o.overlap = s.get_bool("dist.overlap");
  o.strict_order = s.get_bool("dist.strict_order");
  o.replica_check_steps = s.get_int("dist.replica_check_steps");
  o.parameter_broadcast = s.get_bool("dist.parameter_broadcast");
  o.bn_sync = s.get_string("dist.bn_sync");
  o.bn_merge = s.get_string("dist.bn_merge");
  o.local_loss = s.get_string("dist.loss_scope") == "local";
  return o;
}

}  // namespace sindri::app
