// State shared by the stages of a data-parallel step and by the calls between steps.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/device/device.h"
#include "sindri/op/parameter.h"
#include "sindri/train/data_parallel.h"

namespace sindri::train {

struct DataParallel::State {
  // A Parameter that forward writes (a moving average), and its values for this process's other virtual ranks.
  struct Local {
    Parameter* own;
    std::vector<std::unique_ptr<Parameter>> others = {};
    bool written = false;  // forward has written it
  };

  State(const BuildContext& context, const DataParallelOptions& options, comm::Communicator& communicator);
  int64_t ranks() const { return comm.size(); }
  int64_t per_rank() const { return total / ranks(); }
  int64_t first() const { return comm.rank() * per_rank(); }

  // Stages (data_parallel.cc).
  using GradientsStage = std::function<std::pair<Tensor, Gradients>(TrainStep&, const TrainStep::Batch&)>;
  std::pair<Tensor, Gradients> gradients(const GradientsStage& inner, TrainStep& step, const TrainStep::Batch& batch);
  Gradients reduce(Gradients g);
  void note_sent(const TensorList& gradients);
  Tensor reduce_loss(const Tensor& sum);
  Tensor any_rank(const Tensor& flag) const;
  void take_back_others(const Tensor& skip);

  // Between steps (replicas.cc).
  void compare_plans(const PlanLines& lines) const;
  static std::string wherever(const Parameter& p);  ///< its type and shape without the device
  void broadcast(const std::vector<Parameter*>& parameters) const;
  void give_to_others();
  void give_collected();
  /// Returns the element-wise mean of `leaves` over all virtual ranks. There is one leaf for each virtual rank of this process.
  std::vector<double> mean_of(std::vector<std::vector<double>> leaves, const char* what) const;
  void merge_one(Parameter* mean, Parameter* variance);
  int64_t groups() const { return within == nullptr ? 1 : ranks() / within->size(); }
  void take_own(const NamedTensors& saved);

  /// Restricts the reduction of gradients to the ranks of a group (TrainStep::ranks_per_group).
  void reduce_within(int64_t ranks_per_group);

  DataParallelOptions options;
  comm::Communicator& comm;
  comm::Communicator* within = nullptr;  // the group that reduces gradients; null: all
  int64_t total;  // virtual ranks of all ranks
  std::vector<Parameter*> parameters;
  std::vector<std::pair<std::string, Parameter*>> network_state;
  std::vector<BuildContext::MovingAverage> averages;
  std::vector<Parameter*> copied;  // state of algorithms, copied from rank 0
  std::vector<Parameter*> of_groups;  // each group of ranks has its own values
  std::optional<NamedTensors> saved;  // state of a checkpoint, until begin() restores it
  std::vector<GradientBucket> buckets;
  std::vector<Local> locals;  // the network's state that is not trained
  std::vector<Parameter*> collected;  // TrainStep::collected
  std::vector<std::pair<Parameter*, Tensor>> others_before;  // during a guarded step: the values from before it
  bool guarded = false, collects = false;
  Parameter stop_request{Tensor::scalar(0), "stop_request", false}, stop_agreed{Tensor::scalar(0), "stop_agreed", false};
  Parameter local_loss{Tensor::scalar(0), "local_loss", false};
  int64_t bad_step = 0;  // the first of consecutive steps with non-finite gradients on this rank; 0: the last step's were finite
  std::string bad_parameter;
  std::map<std::pair<size_t, size_t>, std::vector<int64_t>> sent;  // indices of the parameters sent, by bucket and number of gradients
  PendingValues last_stop;  // on devices: the stop flag of the previous step
};

/// Returns the sums over all virtual ranks along their tree, on every rank. There is one leaf for each virtual rank of this process.
std::vector<double> sum_of_virtual_ranks(std::vector<std::vector<double>> leaves, comm::Communicator* ranks, const char* what);
/// Returns the random state of this virtual rank in a step that starts with `key`.
Tensor key_of_virtual_rank(const Tensor& key, int64_t virtual_rank);
/// Returns the type that ranks communicate in: "", "bfloat16" or "float16".
std::string wire_type(const DataParallelOptions& options, const comm::Communicator& communicator);
TensorList reduce_in_buckets(TensorList gradients, const std::vector<GradientBucket>& buckets, const DataParallelOptions& options, int64_t total,
                             const comm::Communicator& communicator);

}  // namespace sindri::train
