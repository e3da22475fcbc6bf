// Executable: a planned graph as a flat list of instructions. Kernels and the places of values in the arena are fixed
// when it is made. A run borrows an arena, patches in the addresses of inputs, states and outputs, and calls the
// kernels in order. Steady values depend only on constants and on states that the graph does not write (steady_nodes).
// They are recomputed, and converted to their kernels' own form, only when one of those states changed.
//
// On the CPU the communication lane (collective ops) runs on a separate thread (host_lane.h) until its results are
// read. On an asynchronous device a run enqueues its kernels on the device's streams and returns. If the device can
// capture work, the main program is captured in its second run and replayed from then on, as long as the addresses stay
// the same: inputs are copied into slots that the executable keeps, and results out of them; states stay in their
// Parameters' storage; the arena is nearly always the same. Other addresses cause a new capture.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "sindri/device/device.h"
#include "sindri/graph/compile.h"
#include "sindri/graph/graph.h"
#include "src/core/tensor_impl.h"
#include "src/graph/arena_pool.h"
#include "src/graph/memory_plan.h"
#include "src/op/flat_memory.h"
#include "src/op/plan.h"

namespace sindri {

class Executable {
 public:
  /// `check_finite`: check the outputs of every instruction and throw NonFiniteError naming the first bad one.
  Executable(Graph graph, bool check_finite);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Computes the outputs and the new values of the states. If a kernel throws, states that were already written in
  /// place keep the new values, as parameters do in eager mode. Not thread-safe.
  std::vector<Tensor> run(Span<const Tensor> in);
  const Graph& graph() const { return graph_; }
  const MemoryPlan& plan() const { return plan_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Adds the planned work of the main program's kernels (Kernel::cost).
  void add_planned(std::vector<PlannedKernels>* to) const;
  /// How often the main program was captured, and how often it ran from a capture.
  int64_t recordings() const { return recordings_; }
  int64_t replays() const { return replays_; }
  /// Bytes kept between runs: results of the steady program, and operands in their kernels' own form.
  int64_t steady_bytes() const;
  /// One line per instruction: kernel, operands with their places, bytes.
  std::string describe() const;

 private:
  struct Instruction {
    NodeId node;
    std::shared_ptr<const OpPlan> plan;
    size_t first_in, first_out;  // into buffers_
    const std::string* scope;
    LaneStep step;
  };
  struct Patch {
    size_t buffer;
    Place place;
    int32_t index;
  };

  // An operand that kernel `instruction` of the main program reads in its own form.
  struct Prepared {
    size_t instruction, operand;
    std::unique_ptr<Storage> memory;
  };

  struct ArenaPatch {
    size_t buffer;
    int64_t offset;
  };

  // Workspace sizes by lane; workspaces follow the values in the arena.
  std::array<int64_t, kLanes> workspace_of_lane() const;
  ArenaClaim::Lease lease_arena() const;
  void add_instruction(NodeId n, bool steady, LaneStep step);
  void place_constants();
  void prepare_operand(size_t operand);
  bool states_changed();
  void refresh_steady();
  void prepare_states();
  void make_exclusive(size_t state);
  void place_arena(void* arena);
  void place_flat();
  void patch_buffers(Span<const Tensor> in);
  void run_instructions(const std::vector<Instruction>& program);
  void run_one(const Instruction& ins) const;
  void post_to_lane(const Instruction& ins);
  void wait_for_lane();
  void enter_lane(const LaneStep& step);
  bool can_record() const;
  void run_main(Span<const Tensor> in);
  void copy_through_slots(Span<const Tensor> in, bool results);
  void check_outputs(const Instruction& ins) const;
  std::vector<Tensor> finish(Span<const Tensor> in);
  Tensor result(ValueId v, Span<const Tensor> in) const;
  std::string place_text(ValueId v) const;

  Graph graph_;
  const Device device_;
  MemoryPlan plan_;
  bool check_finite_;
  std::vector<Instruction> steady_program_, instructions_;
  std::vector<Prepared> prepared_;
  std::vector<std::unique_ptr<Storage>> steady_;  // by index; null while nothing outside the steady program needs it
  std::vector<bool> steady_kept_;  // by index: read by the main program, or a result
  std::vector<std::pair<uint64_t, uint64_t>> seen_;  // identities and versions of the unwritten states' values that the steady program last ran with
  std::vector<Buffer> buffers_;
  std::vector<Patch> patches_;
  std::vector<ArenaPatch> arena_patches_, flat_patches_;
  int64_t workspace_bytes_ = 0;
  std::unique_ptr<ArenaClaim> arena_;  // the values, followed by the workspaces
  void* arena_at_ = nullptr;  // the arena that the buffers point into
  std::array<void*, kLanes> workspace_{};  // in that arena
  std::shared_ptr<FlatMemory> flat_;
  std::vector<std::unique_ptr<Storage>> constants_;  // by constant: its copy on a device other than the CPU, which buffers point to
  std::array<Stream*, kLanes> lanes_{};  // null on the CPU
  uint64_t on_lane_ = 0;  // CPU: number of this run's last work on the communication lane that has not been waited for; 0: none
  std::exception_ptr lane_error_;  // the error that stopped the lane; owned by the lane's thread until it is waited for
  // For devices that capture work.
  std::vector<std::unique_ptr<Storage>> input_slots_, result_slots_;
  std::unique_ptr<Recording> recording_;
  std::vector<void*> recorded_at_;  // the buffers' addresses at the capture
  int64_t runs_ = 0, recordings_ = 0, replays_ = 0;
  std::vector<Tensor> old_;  // by state, during a run: the value on entry of states that are not donated
  std::vector<Tensor> fresh_;  // during a run
};

}  // namespace sindri
