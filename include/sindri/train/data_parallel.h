// Data-parallel training: each rank computes gradients of its own part of a batch, and all ranks make the same update with their mean.
//
//   ModelOptions o;
//   o.data_parallel = DataParallelOptions{};     // Model does the rest; in a world of one rank with one virtual rank nothing is added to a step
//
// The unit is the virtual rank: rank s of n computes the k = V/n micro-batches of virtual ranks s·k … s·k + k - 1, which lie one behind the other in its
// batch, and everything is added up along one fixed tree over virtual ranks (docs/design/distributed.md). So any number of ranks, on any number of
// hosts, gives the same bits as long as V stays the same.
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

/// Setting dist.* of the same name each.
struct DataParallelOptions {
  int64_t virtual_ranks = 0;  ///< a multiple of the number of ranks; 0: that number
  bool gradients_mean = true;  ///< false: gradients are the sum over virtual ranks
  /// Last parameter of each bucket but the last one: [85, 160] with 161 parameters are 0-85 and 86-160. Empty: one bucket. Unset: by size.
  std::optional<std::vector<int64_t>> all_reduce_fusion_config = {};
  double bucket_mb = 0;  ///< size of automatic buckets in MiB; 0: 25 with NCCL, 4 within a host, 8 between hosts
  std::string grad_compression = "none";  ///< none, bf16, fp16: what travels between ranks. Left out where ranks share memory (mpi on one host)
  bool overlap = true;  ///< a bucket is reduced as soon as its last gradient is there; false: behind the backward pass. The same bits
  bool strict_order = true;  ///< sums along the fixed tree; needs powers of two. false: any order that is fixed for a layout
  int64_t replica_check_steps = 1000;  ///< steps between comparisons of the parameters' hashes; 0: only with merge()
  bool parameter_broadcast = true;  ///< ranks begin with rank 0's parameters, moving averages and state of the training
  std::string bn_sync = "off";  ///< off, or train: batch norm's statistics are those of all ranks' batches
  bool local_loss = false;  ///< DataParallel::local_loss() is asked for (dist.loss_scope local)
  std::string bn_merge = "mean";  ///< what evaluation and checkpoints have for moving averages: mean over virtual ranks, or rank0 (of virtual rank 0)
};

/// A range of parameters whose gradients are reduced by one call.
struct GradientBucket {
  int64_t first, last;  ///< both inclusive
  int64_t bytes;
};

/// Buckets in the order of their reduction: the last parameters first, as backward gives their gradients first. One bucket has one type. Throws
/// ValueError for a fusion list that does not fit.
SINDRI_API std::vector<GradientBucket> gradient_buckets(const std::vector<TensorMeta>& parameters, const DataParallelOptions& options,
                                                        const comm::Communicator& communicator);
/// Virtual ranks of all ranks. Throws CommError (kLayout) for a number that the layout cannot have, saying which it could.
SINDRI_API int64_t virtual_ranks(const DataParallelOptions& options, const comm::Communicator& communicator);
/// Throws ValueError for a setting out of its range, by its name.
SINDRI_API void check_data_parallel(const DataParallelOptions& options);
/// The ranks' gradients put together, in new tensors: by ops, so in graphs as well. `gradients` are this rank's sums over its virtual ranks, one per
/// parameter; the mean is over all virtual ranks. What DistributedGradReducer does.
SINDRI_API TensorList reduce_gradients(const TensorList& gradients, const DataParallelOptions& options, comm::Communicator& communicator);

/// Where the random numbers of a virtual rank begin: the third member of the key of ops::rng_state(), which counts samples of the global batch.
SINDRI_API int64_t sample_offset(int64_t virtual_rank);

/// Tensors by name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// What a run's ranks must agree in before the first step, beside what the step itself knows: lines "name: value".
using PlanLines = std::vector<std::string>;

/// A training step that is one of several. Made by apply_data_parallel; outlives the step's use.
class SINDRI_API DataParallel {
 public:
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  const DataParallelOptions& options() const;
  comm::Communicator& communicator() const;
  /// V, k = V/n, and the first of this rank's.
  int64_t virtual_ranks() const;
  int64_t virtual_per_rank() const;
  int64_t first_virtual_rank() const;
  /// Whether anything is added to a step: more than one virtual rank.
  bool active() const { return virtual_ranks() > 1; }
  const std::vector<GradientBucket>& buckets() const;
  /// The lines that are compared, this step's own ones behind those of `more`.
  PlanLines plan(const PlanLines& more = {}) const;

  // Collective calls of the host: all ranks make them, in the same order.

  /// Before the first step. Compares plans (CommError kCommMismatch with the first line that differs, its values and who has them), then gives all
  /// ranks rank 0's parameters, state of the network and `state` (optimizer, loss scale, algorithms, counters), and every virtual rank the network's
  /// moving averages.
  void begin(const PlanLines& more, const std::vector<Parameter*>& state);
  /// The kernels that rank 0 measures as fastest while `compile` runs there become those of all ranks, which then run it: alternatives may differ in
  /// the last bits.
  void share_kernel_choices(const std::function<void()>& compile);
  /// Compares the parameters' hashes. CommError kReplicas names the ranks that differ from most, and the first parameter.
  void check_replicas();
  /// Notes whether this rank's own gradients were finite; every replica_check_steps: check_replicas(). `step` counts from 1.
  void after_step(int64_t step);
  /// Where gradients were first not finite, up to now: "rank 2 (of 'conv1.weight', at step 17)". Empty: nowhere.
  std::string nonfinite_ranks();
  /// Gives the network, on every rank, the merged moving averages. Virtual ranks continue with them: at the end of a training.
  void merge_moving_averages();
  /// The same while the result lives, for an evaluation or a checkpoint. Then every virtual rank has its own moving averages again, so that neither
  /// changes the training.
  std::shared_ptr<void> merged();
  /// With them all ranks take over the first one's values of these.
  void copy_from_first(const std::vector<Parameter*>& state);
  /// Gives every virtual rank the mean of what they have collected for the next update (TrainStep::collected): before a checkpoint within a group of
  /// steps, and where a training ends there. They go on from there.
  void merge_collected();
  /// Gives all virtual ranks of this process what the network has.
  void give_moving_averages();
  /// State that each group of ranks has for itself (TrainStep::ranks_per_group), beside what forward writes.
  void keep_of_groups(const std::vector<Parameter*>& state);
  /// On rank 0 what virtual ranks and groups have each for themselves, for a checkpoint (TrainPosition::of_ranks); elsewhere nothing.
  NamedTensors of_ranks();
  /// Gives it back: the next begin() hands each virtual rank and group its own. What was saved in another layout is not used; for groups rank 0 warns.
  void restore_of_ranks(NamedTensors saved);
  /// Whether any rank says so.
  bool any(bool flag, const char* what);

  // The stop flag, which travels with the loss of every step.

  /// This rank asks for the end of the training; the next step takes it to all.
  void request_stop();
  /// Whether the last step that ran brought a request, of whichever rank: the same answer on all.
  bool stop_agreed();
  /// With DataParallelOptions::local_loss: that of this rank's own part of the last step's batch; waits for it.
  double local_loss() const;

 private:
  friend SINDRI_API std::shared_ptr<DataParallel> apply_data_parallel(TrainStep&, const BuildContext&, const DataParallelOptions&, comm::Communicator&);
  DataParallel();
  struct State;
  std::shared_ptr<State> state_;  // the stages hold it, too
};

/// Makes a step the data-parallel one: behind the algorithms (apply_boosts), so that each virtual rank runs what they make of `gradients`. Throws
/// ValueError as check_data_parallel and gradient_buckets, CommError (kLayout) for what the layout cannot do.
SINDRI_API std::shared_ptr<DataParallel> apply_data_parallel(TrainStep& step, const BuildContext& context, const DataParallelOptions& options,
                                                             comm::Communicator& communicator);

}  // namespace sindri::train
