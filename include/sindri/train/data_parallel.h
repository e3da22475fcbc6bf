// Data-parallel training: each rank computes the gradients of its part of a batch, and all ranks make the same update with their
// mean.
//
//   ModelOptions o;
//   o.data_parallel = DataParallelOptions{};     // Model does the rest; one rank with one virtual rank adds nothing to a step
//
// The unit is the virtual rank: of V virtual ranks, rank s of n computes the k = V/n micro-batches s·k … s·k + k - 1,
// concatenated in its batch. Everything is summed along one fixed tree over virtual ranks (docs/design/distributed.md). So
// results are bitwise identical for any number of ranks on any number of hosts, as long as V stays the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/export.h"
#include "sindri/train/boost.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// Options of data-parallel training. Each is the setting dist.* of the same name.
struct DataParallelOptions {
  int64_t virtual_ranks = 0;  ///< a multiple of the number of ranks; 0: the number of ranks
  bool gradients_mean = true;  ///< false: gradients are the sum over virtual ranks
  /// Last parameter of each bucket except the last bucket: [85, 160] with 161 parameters gives 0-85 and 86-160. Empty: one
  /// bucket. Unset: by size.
  std::optional<std::vector<int64_t>> all_reduce_fusion_config = {};
  double bucket_mb = 0;  ///< size of automatic buckets in MiB; 0: 25 with NCCL, 4 within a host, 8 between hosts
  /// none, bf16 or fp16: type of the values transmitted between ranks. Ignored if ranks share memory (mpi on one host).
  std::string grad_compression = "none";
  /// Reduces a bucket as soon as its last gradient is computed; false: after the backward pass, with bitwise identical results.
  bool overlap = true;
  /// Sums along the fixed tree, which needs powers of two; false: any order that is fixed for a layout.
  bool strict_order = true;
  int64_t replica_check_steps = 1000;  ///< steps between comparisons of the parameters' hashes; 0: only before checkpoints
  bool parameter_broadcast = true;  ///< ranks start with rank 0's parameters, moving statistics and training state
  std::string bn_sync = "off";  ///< off, or train: batch norm uses the statistics of all ranks' batches
  bool local_loss = false;  ///< make DataParallel::local_loss() available (dist.loss_scope local)
  /// Moving statistics for evaluation and checkpoints: mean over virtual ranks, or rank0 (of virtual rank 0).
  std::string bn_merge = "mean";
};

/// A range of parameters whose gradients one call reduces.
struct GradientBucket {
  int64_t first, last;  ///< both inclusive
  int64_t bytes;  ///< bytes of the gradients
};

/// Buckets in the order of their reduction: the last parameters first, since backward computes their gradients first. A bucket
/// has one element type. Throws ValueError for an invalid fusion list.
SINDRI_API std::vector<GradientBucket> gradient_buckets(const std::vector<TensorMeta>& parameters, const DataParallelOptions& options,
                                                        const comm::Communicator& communicator);
/// Number of virtual ranks of all ranks. Throws CommError (kLayout), naming possible numbers, if the layout does not allow it.
SINDRI_API int64_t virtual_ranks(const DataParallelOptions& options, const comm::Communicator& communicator);
/// Throws ValueError, naming the option, for a value out of range.
SINDRI_API void check_data_parallel(const DataParallelOptions& options);
/// Reduces the ranks' gradients into new tensors (MindSpore: DistributedGradReducer). Uses ops, so it works in graphs, too.
/// `gradients` are this rank's sums over its virtual ranks, one per parameter; the mean is over all virtual ranks.
SINDRI_API TensorList reduce_gradients(const TensorList& gradients, const DataParallelOptions& options, comm::Communicator& communicator);

/// The offset at which a virtual rank's random numbers start: the third element of the key ops::rng_state(), which counts samples
/// of the global batch.
SINDRI_API int64_t sample_offset(int64_t virtual_rank);

/// Tensors by name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Lines "name: value" in which a run's ranks must agree before the first step, in addition to the step's own lines.
using PlanLines = std::vector<std::string>;

/// A data-parallel training step, made by apply_data_parallel. Keep it as long as the step is used.
class SINDRI_API DataParallel {
 public:
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  const DataParallelOptions& options() const;
  comm::Communicator& communicator() const;  ///< the ranks that train together
  /// V, k = V/n, and the first virtual rank of this rank.
  int64_t virtual_ranks() const;
  int64_t virtual_per_rank() const;
  int64_t first_virtual_rank() const;
  /// Whether anything is added to a step: more than one virtual rank.
  bool active() const { return virtual_ranks() > 1; }
  const std::vector<GradientBucket>& buckets() const;  ///< in the order of their reduction
  /// The lines to compare: first `more`, then the step's own lines.
  PlanLines plan(const PlanLines& more = {}) const;

  // Collective calls on the host: all ranks make them, in the same order.

  /// Call before the first step. Compares the ranks' plans. Then broadcasts rank 0's parameters, network state and `state`
  /// (optimizer, loss scale, algorithms, counters), and copies the network's moving statistics to every virtual rank. Throws
  /// CommError (kCommMismatch) if plans differ; the message shows the first line that differs, with each of its values and the
  /// ranks that have it.
  void begin(const PlanLines& more, const std::vector<Parameter*>& state);
  /// Runs `compile` on rank 0, broadcasts its measured kernel choices, and then runs `compile` on the other ranks: alternative
  /// kernels may differ in the last bits.
  void share_kernel_choices(const std::function<void()>& compile);
  /// Compares the parameters' hashes. Throws CommError (kReplicas) naming the ranks that differ from the majority, and the first
  /// parameter that differs.
  void check_replicas();
  /// Records whether this rank's gradients were finite, and calls check_replicas() every replica_check_steps. `step` counts from
  /// 1.
  void after_step(int64_t step);
  /// Where gradients were first not finite: "rank 2 (of 'conv1.weight', at step 17)". Empty: all have been finite so far.
  std::string nonfinite_ranks();
  /// Gives the network the merged moving statistics on every rank. Virtual ranks continue with them; call it at the end of a run.
  void merge_moving_averages();
  /// Merges the moving statistics while the result lives, for an evaluation or a checkpoint. Afterwards every virtual rank has
  /// its own statistics again, so neither an evaluation nor a checkpoint changes the training.
  std::shared_ptr<void> merged();
  /// Adds state that all ranks copy from the first whenever moving statistics are merged.
  void copy_from_first(const std::vector<Parameter*>& state);
  /// Replaces the gradients that the virtual ranks have collected for the next update (TrainStep::collected) by their mean, with
  /// which the run continues. Call it before a checkpoint within a group of steps, and if a run ends there.
  void merge_collected();
  /// Copies the network's moving statistics to all virtual ranks of this process.
  void give_moving_averages();
  /// Adds state that each group of ranks keeps separately (TrainStep::ranks_per_group), besides what forward writes.
  void keep_of_groups(const std::vector<Parameter*>& state);
  /// On rank 0: the separate states of virtual ranks and groups, for a checkpoint (TrainPosition::of_ranks). Empty on other
  /// ranks.
  NamedTensors of_ranks();
  /// Sets the states that the next begin() gives back to each virtual rank and group. States saved in another layout are not
  /// used; for groups rank 0 warns.
  void restore_of_ranks(NamedTensors saved);
  /// Whether `flag` is true on any rank. `what` names the call.
  bool any(bool flag, const char* what);

  // The stop flag, which is transmitted with the loss of every step.

  /// Requests the end of the run on this rank; the next step transmits the request to all.
  void request_stop();
  /// Whether the last step carried a request from any rank. All ranks get the same answer.
  bool stop_agreed();
  /// The loss of this rank's part of the last batch, with DataParallelOptions::local_loss; waits for it.
  double local_loss() const;

 private:
  friend SINDRI_API std::shared_ptr<DataParallel> apply_data_parallel(TrainStep&, const BuildContext&, const DataParallelOptions&, comm::Communicator&);
  DataParallel();
  struct State;
  std::shared_ptr<State> state_;  // shared with the stages
};

/// Makes a step data-parallel. Call it after apply_boosts, so that each virtual rank runs the algorithms' `gradients`. Throws the
/// same errors as check_data_parallel and gradient_buckets, and CommError (kLayout) if the layout does not support it.
SINDRI_API std::shared_ptr<DataParallel> apply_data_parallel(TrainStep& step, const BuildContext& context, const DataParallelOptions& options,
                                                             comm::Communicator& communicator);

}  // namespace sindri::train
