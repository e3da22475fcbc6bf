// Where each value of a graph lives during a run: slices of one arena, states' own storage, or tensors made for the call.
#pragma once

#include <cstdint>
#include <vector>

#include "sindri/graph/graph.h"

namespace sindri {

/// kState: the storage of a Parameter, read, or written in place (donated). kFresh: a tensor allocated at each run and
/// returned to the caller or stored in a Parameter. kSteady: memory that keeps its contents between runs. kFlat: memory
/// that a communicator reduces without a copy (src/op/flat_memory.h). kNone: erased values.
enum class Place : uint8_t { kNone, kArena, kConstant, kInput, kState, kFresh, kSteady, kFlat };

struct Location {
  Place place = Place::kNone;
  int64_t offset = 0;  // kArena, kFlat: bytes
  int32_t index = kNoId;  // kInput, kState, kFresh, kSteady: which
};

/// How one step of a program orders the lanes (Lane). Work of one lane runs in order. Work of another lane starts after
/// the compute lane's work that precedes it in the program. It runs concurrently with the compute lane's later work
/// until the compute lane waits for that lane.
struct LaneStep {
  Lane lane = Lane::kCompute;
  uint8_t joins = 0;  // bit l: the compute lane waits here for lane l
  bool forks = false;  // the step's lane, not the compute lane, waits here for the compute lane, which has advanced since the last wait
};
/// By position in the program order, plus one for the end, where all lanes are waited for.
std::vector<LaneStep> plan_lanes(const Graph& graph);

struct MemoryPlan {
  std::vector<LaneStep> lanes;
  std::vector<Location> at;  // by value id
  std::vector<ValueId> fresh;  // value of each kFresh index
  std::vector<ValueId> steady;  // value of each kSteady index
  std::vector<bool> donated;  // by state: its written value is computed in its own storage
  int64_t arena_bytes = 0;  // with reuse
  int64_t flat_bytes = 0;  // size of kFlat memory, one place for each reduced value
  NodeId flat_node = kNoId;  // the first node that needs it
  int64_t unplanned_bytes = 0;  // without reuse
  int64_t inplace = 0;  // values that took over the slice of an input
};

inline constexpr int64_t kArenaAlign = 64;

/// Returns whether the op's kernels compute output k correctly when it occupies exactly the memory of operand i.
bool output_may_overwrite(const OpDef& op, const Attrs& attrs, size_t num_inputs, size_t num_outputs, size_t k, const TensorMeta& out, size_t i,
                          const TensorMeta& in);

/// By node id: whether the node depends only on constants and on states the graph does not write. Such nodes run again
/// only after one of those states changed: folded and packed weights of an inference graph.
std::vector<bool> steady_nodes(const Graph& graph);

MemoryPlan plan_memory(const Graph& graph);

}  // namespace sindri
