// Where each value of a graph lives while it runs: slices of one arena, states' own storage, or tensors made for the call.
#pragma once

#include <cstdint>
#include <vector>

#include "sindri/graph/graph.h"

namespace sindri {

/// kState: the storage of a Parameter, read, or written in place (donated). kFresh: a tensor allocated at each run, which leaves
/// with the caller or a Parameter. kSteady: memory that keeps its contents from run to run. kFlat: memory that a communicator reduces without a copy
/// (src/op/flat_memory.h). kNone: erased values.
enum class Place : uint8_t { kNone, kArena, kConstant, kInput, kState, kFresh, kSteady, kFlat };

struct Location {
  Place place = Place::kNone;
  int64_t offset = 0;  // kArena, kFlat: bytes
  int32_t index = kNoId;  // kInput, kState, kFresh, kSteady: which
};

/// What orders the lanes of a program (Lane). Work of one lane runs in order; a lane's work starts behind what stands before it on the compute lane, and
/// goes on beside what follows there, up to the point where the compute lane waits for it.
struct LaneStep {
  Lane lane = Lane::kCompute;
  uint8_t joins = 0;  // bit l: the compute lane waits here for lane l
  bool forks = false;  // the step's lane, another one, waits here for the compute lane, which has gone on since it last did
};
/// By place in the program order, and one more for its end, where all lanes are waited for.
std::vector<LaneStep> plan_lanes(const Graph& graph);

struct MemoryPlan {
  std::vector<LaneStep> lanes;
  std::vector<Location> at;  // by value id
  std::vector<ValueId> fresh;  // value of each kFresh index
  std::vector<ValueId> steady;  // value of each kSteady index
  std::vector<bool> donated;  // by state: its written value is computed in its own storage
  int64_t arena_bytes = 0;  // with reuse
  int64_t flat_bytes = 0;  // of kFlat, one place for each value that is reduced
  NodeId flat_node = kNoId;  // the first of those that want it
  int64_t unplanned_bytes = 0;  // without
  int64_t inplace = 0;  // values that took over the slice of an input
};

inline constexpr int64_t kArenaAlign = 64;

/// Whether kernels of an op promise to compute output k right when it lies on exactly the memory of operand i.
bool output_may_overwrite(const OpDef& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs, size_t k, const TensorMeta& out, size_t i,
                          const TensorMeta& in);

/// By node id: what follows from constants and from states the graph does not write. Such nodes run again only when one of those
/// states was given another value: folded and packed weights of an inference graph.
std::vector<bool> steady_nodes(const Graph& graph);

MemoryPlan plan_memory(const Graph& graph);

}  // namespace sindri
