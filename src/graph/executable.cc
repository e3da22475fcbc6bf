// See executable.h.
//
// Who may hold a state's memory: a Parameter's storage is written in place only while nothing else holds it. A handle
// that the user keeps from value(), a checkpoint writer or a constant of a graph makes it shared; the Parameter then gets
// a copy before the run (copy on write). So handles never change under their holders, and no step copies without need.
#include "src/graph/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/op/observer.h"
#include "src/graph/host_lane.h"
#include "src/graph/memory_report.h"
#include "src/graph/plan_ahead.h"

namespace sindri {

namespace {

// Returns the index, in physical order, of the first element that is not finite, or -1.
int64_t first_non_finite(const Buffer& b) {
  if (!is_floating(b.meta->dtype)) return -1;
  const void* data = b.data;
  std::vector<char> copy;
  if (!b.meta->device.is_cpu() && b.meta->nbytes() > 0) {
    copy.resize(static_cast<size_t>(b.meta->nbytes()));
    const DeviceMemory::Read read{copy.data(), b.data, b.meta->device, b.meta->nbytes()};
    device_memory().read({&read, 1}, "check of finite values");
    data = copy.data();
  }
  return dispatch_dtype(b.meta->dtype, [&]<class T>() -> int64_t {
    const T* p = static_cast<const T*>(data);
    for (int64_t i = 0, n = b.meta->numel(); i < n; ++i)
      if (!std::isfinite(static_cast<double>(p[i]))) return i;
    return -1;
  });
}

// Runs on the device's compute lane if the thread's current stream is another one: the lane first waits for the
// stream's earlier work, and afterwards the stream waits for the lane.
class OnComputeLane {
 public:
  explicit OnComputeLane(Stream* lane) : lane_(lane), from_(lane != nullptr ? &current_stream(lane->device()) : nullptr) {
    if (from_ == lane_) return;
    lane_->wait(from_->record());
    scope_.emplace(*lane_);
  }
  ~OnComputeLane() = default;
  OnComputeLane(const OnComputeLane&) = delete;
  OnComputeLane& operator=(const OnComputeLane&) = delete;
  /// Called after a run that succeeded.
  void leave(Span<const Tensor> in, Span<const Tensor> out) {
    if (from_ == lane_) return;
    for (const Tensor& t : in) use_on(t, *lane_);
    for (const Tensor& t : out) use_on(t, *from_);
    from_->wait(lane_->record());
  }

 private:
  Stream *lane_, *from_;
  std::optional<StreamScope> scope_;
};

}  // namespace

Executable::Executable(Graph graph, bool check_finite)
    : graph_(std::move(graph)), device_(graph_.device()), plan_(plan_memory(graph_)), check_finite_(check_finite) {
  for (const StateBinding& b : graph_.states()) {
    if (b.param == nullptr) throw ValueError("state '" + b.name + "' has no parameter", "graph " + graph_.name, "give parse_graph the parameters");
  }
  steady_.resize(plan_.steady.size());
  for (ValueId v : plan_.steady) steady_kept_.push_back(graph_.leaves(v));
  place_constants();
  const std::vector<bool> steady = steady_nodes(graph_);
  plan_ahead(graph_, device_);
  for (size_t i = 0; i < graph_.order().size(); ++i) {
    const NodeId n = graph_.order()[i];
    add_instruction(n, steady[static_cast<size_t>(n)], plan_.lanes[i]);
  }
  for (int l = 0; l < kLanes && !device_.is_cpu(); ++l) lanes_[static_cast<size_t>(l)] = &device_stream(device_, static_cast<Lane>(l));
  for (const int64_t bytes : workspace_of_lane()) workspace_bytes_ += bytes;
  arena_ = std::make_unique<ArenaClaim>(std::max(kArenaAlign, plan_.arena_bytes + workspace_bytes_), device_);
  old_.resize(graph_.states().size());
  fresh_.resize(plan_.fresh.size());
}

std::array<int64_t, kLanes> Executable::workspace_of_lane() const {
  std::array<int64_t, kLanes> bytes{};
  for (const auto* program : {&steady_program_, &instructions_}) {
    for (const Instruction& i : *program) {
      int64_t& most = bytes[static_cast<size_t>(i.step.lane)];
      most = std::max(most, (i.plan->workspace + kArenaAlign - 1) / kArenaAlign * kArenaAlign);
    }
  }
  return bytes;
}

void Executable::place_constants() {
  if (device_.is_cpu()) return;
  constants_.resize(graph_.num_values());
  for (ValueId v : graph_.constants()) {
    const Tensor& t = graph_.value(v).constant;
    auto& at = constants_[static_cast<size_t>(v)] = std::make_unique<Storage>(t.nbytes(), device_);
    if (t.nbytes() > 0) device_memory().write(device_, at->data(), t.raw_data(), t.nbytes());
  }
}

void Executable::add_instruction(NodeId n, bool steady, LaneStep step) {
  const Graph::Node& node = graph_.node(n);
  std::vector<TensorMeta> metas;
  for (ValueId v : node.in) metas.push_back(graph_.value(v).meta);
  Instruction ins{n, plan_op(*node.op, node.attrs, metas, device_), buffers_.size(), buffers_.size() + node.in.size(), &node.scope, step};
  const auto add = [&](ValueId v, const TensorMeta* meta) {
    const Location& at = plan_.at[static_cast<size_t>(v)];
    void* data = nullptr;
    if (at.place == Place::kArena) arena_patches_.push_back({buffers_.size(), at.offset});
    else if (at.place == Place::kFlat) flat_patches_.push_back({buffers_.size(), at.offset});
    else if (at.place == Place::kConstant)
      data = device_.is_cpu() ? const_cast<void*>(graph_.value(v).constant.raw_data()) : constants_[static_cast<size_t>(v)]->data();
    else patches_.push_back({buffers_.size(), at.place, at.index});
    buffers_.push_back({data, meta});
  };
  for (size_t i = 0; i < node.in.size(); ++i) add(node.in[i], &ins.plan->in[i]);
  for (size_t i = 0; i < node.out.size(); ++i) add(node.out[i], &ins.plan->out[i]);
  (steady ? steady_program_ : instructions_).push_back(std::move(ins));
  if (steady) return;
  for (size_t i = 0; i < node.in.size(); ++i) prepare_operand(i);
}

// Gives the newest instruction of the main program a prepared operand (the kernel's own form) if the operand keeps its value between runs.
void Executable::prepare_operand(size_t operand) {
  const Instruction& ins = instructions_.back();
  const ValueId v = graph_.node(ins.node).in[operand];
  const Location& at = plan_.at[static_cast<size_t>(v)];
  const bool fixed = at.place == Place::kConstant || at.place == Place::kSteady ||
      (at.place == Place::kState && graph_.states()[static_cast<size_t>(at.index)].written == kNoId);
  const int64_t bytes = fixed ? ins.plan->kernel->prepared_bytes(operand) : 0;
  if (bytes > 0) {
    prepared_.push_back({instructions_.size() - 1, operand, std::make_unique<Storage>(bytes, device_)});
    buffers_[ins.first_in + operand].prepared = prepared_.back().memory->data();
  } else if (at.place == Place::kSteady) {
    steady_kept_[static_cast<size_t>(at.index)] = true;
  }
}

ArenaClaim::Lease Executable::lease_arena() const {
  try {
    return ArenaClaim::Lease(*arena_);
  } catch (DeviceError& e) {
    if (e.code() == ErrorCode::kMemory) e.add_where(largest_cells(graph_.name, explain_memory(graph_, plan_)));
    throw;
  }
}

std::vector<Tensor> Executable::run(Span<const Tensor> in) {
  struct Release {  // also when a kernel throws: handles kept here would make states look shared
    Executable& e;
    ~Release() {
      std::fill(e.old_.begin(), e.old_.end(), Tensor());
      std::fill(e.fresh_.begin(), e.fresh_.end(), Tensor());
    }
  } const release{*this};
  OnComputeLane here(lanes_[0]);
  const ArenaClaim::Lease lease = lease_arena();
  place_arena(lease.data());
  place_flat();
  prepare_states();
  for (size_t i = 0; i < fresh_.size(); ++i) fresh_[i] = Tensor::empty(graph_.value(plan_.fresh[i]).meta);
  if (states_changed()) refresh_steady();
  patch_buffers(in);
  run_main(in);
  std::vector<Tensor> out = finish(in);
  here.leave(in, out);
  return out;
}

// Runs are not recorded while an observer reads single instructions. Nor is the first run: it initialises libraries, which recording does not allow.
bool Executable::can_record() const { return !device_.is_cpu() && lanes_[0]->records() && runs_ > 0 && !check_finite_ && kernel_observer() == nullptr; }

void Executable::run_main(Span<const Tensor> in) {
  const bool record = can_record();
  if (record) copy_through_slots(in, false);
  if (!record) {
    run_instructions(instructions_);
    ++runs_;
    return;
  }
  const bool same = recording_ != nullptr &&
      std::equal(buffers_.begin(), buffers_.end(), recorded_at_.begin(), recorded_at_.end(), [](const Buffer& b, const void* at) { return b.data == at; });
  if (!same) {
    recording_.reset();
    lanes_[0]->begin_recording();
    try {
      run_instructions(instructions_);
    } catch (...) {
      (void)lanes_[0]->end_recording();
      throw;
    }
    recording_ = lanes_[0]->end_recording();
    recorded_at_.clear();
    for (const Buffer& b : buffers_) recorded_at_.push_back(b.data);
    ++recordings_;
  }
  lanes_[0]->replay(*recording_);
  ++replays_;
  copy_through_slots(in, true);
}

// Before a recorded run (`results` false), copies its inputs to their slots and points the buffers of inputs and
// results there. After it (`results` true), copies the results out of their slots.
void Executable::copy_through_slots(Span<const Tensor> in, bool results) {
  const auto copy = [&](void* to, const void* from, int64_t bytes) {
    if (bytes > 0) lanes_[0]->copy(to, from, bytes, CopyKind::kWithin);
  };
  if (results) {
    for (size_t i = 0; i < fresh_.size(); ++i) copy(fresh_[i].impl()->storage->data(), result_slots_[i]->data(), fresh_[i].nbytes());
    return;
  }
  input_slots_.resize(in.size());
  result_slots_.resize(fresh_.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (input_slots_[i] == nullptr) input_slots_[i] = std::make_unique<Storage>(in[i].nbytes(), device_);
    copy(input_slots_[i]->data(), in[i].impl()->storage->data(), in[i].nbytes());
  }
  for (size_t i = 0; i < fresh_.size(); ++i)
    if (result_slots_[i] == nullptr) result_slots_[i] = std::make_unique<Storage>(fresh_[i].nbytes(), device_);
  for (const Patch& p : patches_) {
    if (p.place == Place::kInput) buffers_[p.buffer].data = input_slots_[static_cast<size_t>(p.index)]->data();
    else if (p.place == Place::kFresh) buffers_[p.buffer].data = result_slots_[static_cast<size_t>(p.index)]->data();
  }
}

// A Parameter changes the identity of its value whenever the value may have changed, except for writes that bypass the
// library (NumPy views of a value).
bool Executable::states_changed() {
  if (steady_program_.empty() && prepared_.empty()) return false;
  bool changed = seen_.empty();
  size_t i = 0;
  seen_.resize(graph_.states().size() + 1, {0, 0});
  for (const StateBinding& b : graph_.states()) {
    std::pair<uint64_t, uint64_t> now = {0, 0};
    if (b.written == kNoId) {
      const TensorImpl& value = *b.param->stored().impl();
      const std::optional<uint64_t> version = value.storage->version();
      changed |= !version.has_value();
      now = {value.id, version.value_or(0)};
    }
    changed |= seen_[i] != now;
    seen_[i++] = now;
  }
  return changed;
}

void Executable::refresh_steady() {
  try {
    for (size_t i = 0; i < steady_.size(); ++i) {
      if (steady_[i] == nullptr) steady_[i] = std::make_unique<Storage>(graph_.value(plan_.steady[i]).meta.nbytes(), device_);
    }
    patch_buffers({});
    run_instructions(steady_program_);
    for (const Prepared& p : prepared_) {
      const Instruction& ins = instructions_[p.instruction];
      ExecContext ctx{workspace_[0], lanes_[0]};
      ins.plan->kernel->prepare(ctx, p.operand, buffers_[ins.first_in + p.operand], p.memory->data());
    }
  } catch (...) {
    seen_.clear();  // the next run tries again
    throw;
  }
  for (size_t i = 0; i < steady_.size(); ++i) {
    if (!steady_kept_[i]) steady_[i].reset();
  }
}

void Executable::add_planned(std::vector<PlannedKernels>* to) const {
  for (const Instruction& i : instructions_) {
    const char *op = graph_.node(i.node).op->name, *kernel = i.plan->kernel_def->name;
    auto at = std::find_if(to->begin(), to->end(), [&](const PlannedKernels& p) { return p.op == op && p.kernel == kernel; });
    if (at == to->end()) at = to->insert(at, {.op = op, .kernel = kernel});
    ++at->nodes;
    const Location &from = plan_.at[static_cast<size_t>(graph_.node(i.node).in.empty() ? graph_.node(i.node).out[0] : graph_.node(i.node).in[0])],
                   &into = plan_.at[static_cast<size_t>(graph_.node(i.node).out[0])];
    const OpRole role = graph_.node(i.node).op->traits.role;
    const bool stays =
        (role == OpRole::kReshape || role == OpRole::kToLayout) && from.place == into.place && from.offset == into.offset && from.index == into.index;
    if (stays) continue;  // the same memory with another shape or name
    at->launches += i.plan->kernel->cost().launches;
    at->bytes += planned_bytes_of(*i.plan);
  }
  std::stable_sort(to->begin(), to->end(), [](const PlannedKernels& a, const PlannedKernels& b) { return a.bytes > b.bytes; });
}

int64_t Executable::steady_bytes() const {
  int64_t bytes = 0;
  for (const auto& s : steady_) bytes += s != nullptr ? s->bytes() : 0;
  for (const Prepared& p : prepared_) bytes += p.memory->bytes();
  return bytes;
}

void Executable::prepare_states() {
  for (size_t s = 0; s < old_.size(); ++s) {
    if (plan_.donated[s]) make_exclusive(s);
    else old_[s] = graph_.states()[s].param->stored();
  }
}

// The handle is always renewed: the slot is about to hold another value, which must not keep the old identity.
void Executable::make_exclusive(size_t state) {
  const StateBinding& b = graph_.states()[state];
  const std::shared_ptr<TensorImpl>& impl = b.param->stored().impl();
  const bool exclusive = impl.use_count() == 1 && impl->storage.use_count() == 1 && impl->storage->owned();
  if (exclusive) b.param->store(b.param->stored());
  else if (graph_.value(b.read).users.empty()) b.param->store(Tensor::empty(b.param->meta()));
  else b.param->store(b.param->stored().clone());
}

// Nearly every run borrows the arena of the last run.
void Executable::place_arena(void* arena) {
  if (arena == arena_at_) return;
  arena_at_ = arena;
  char* at = static_cast<char*>(arena) + plan_.arena_bytes;  // a multiple of kArenaAlign, as all blocks are
  const std::array<int64_t, kLanes> bytes = workspace_of_lane();
  for (size_t l = 0; l < bytes.size(); ++l) {
    workspace_[l] = at;
    at += bytes[l];
  }
  for (const ArenaPatch& p : arena_patches_) buffers_[p.buffer].data = static_cast<char*>(arena) + p.offset;
}

// At the first run, because allocation is collective and all ranks are here then.
void Executable::place_flat() {
  if (plan_.flat_bytes == 0) return;
  const Graph::Node& node = graph_.node(plan_.flat_node);
  const std::shared_ptr<FlatMemory> before = flat_;
  flat_memory_of(*node.op)->take(node.attrs, plan_.flat_bytes, &flat_);
  if (flat_ == before) return;
  for (const ArenaPatch& p : flat_patches_) buffers_[p.buffer].data = static_cast<char*>(flat_->data.get()) + p.offset;
}

// Without inputs (before the steady program, which reads none) the input buffers keep their addresses.
void Executable::patch_buffers(Span<const Tensor> in) {
  for (const Patch& p : patches_) {
    const auto i = static_cast<size_t>(p.index);
    void* data = nullptr;
    if (p.place == Place::kSteady) data = steady_[i] != nullptr ? steady_[i]->data() : nullptr;
    else if (p.place == Place::kState) data = graph_.states()[i].param->stored().impl()->storage->data();
    else if (p.place == Place::kFresh) data = fresh_[i].impl()->storage->data();
    else if (i < in.size()) data = in[i].impl()->storage->data();
    buffers_[p.buffer].data = data;
  }
}

void Executable::run_instructions(const std::vector<Instruction>& program) {
  try {
    for (const Instruction& ins : program) {
      if (ins.step.lane != Lane::kCompute || ins.step.joins != 0) enter_lane(ins.step);
      if (device_.is_cpu() && ins.step.lane == Lane::kComm && !check_finite_) {
        post_to_lane(ins);
        continue;
      }
      run_one(ins);
      if (check_finite_) check_outputs(ins);
    }
    if (&program == &instructions_) enter_lane(plan_.lanes.back());
  } catch (...) {
    if (on_lane_ != 0) HostLane::of_runtime().wait(std::exchange(on_lane_, 0));  // the lane uses memory of this run; the first error is the one reported
    lane_error_ = nullptr;
    throw;
  }
}

void Executable::run_one(const Instruction& ins) const {
  const Span<const Buffer> in(buffers_.data() + ins.first_in, ins.plan->in.size()), out(buffers_.data() + ins.first_out, ins.plan->out.size());
  try {
    const Graph::Node& node = graph_.node(ins.node);
    const auto lane = static_cast<size_t>(ins.step.lane);
    run_observed(*node.op, node.attrs, ins.scope, *ins.plan, in, out, {workspace_[lane], lanes_[lane]});
  } catch (Error& e) {
    e.add_where(fmt::format("{} in compiled function '{}'", graph_.node(ins.node).op->name, graph_.name));
    if (!ins.scope->empty()) e.add_where("in " + *ins.scope);
    throw;
  }
}

// After an error the lane starts no more work of this run.
void Executable::post_to_lane(const Instruction& ins) {
  on_lane_ = HostLane::of_runtime().post([this, &ins] {
    if (lane_error_ != nullptr) return;
    try {
      run_one(ins);
    } catch (...) { lane_error_ = std::current_exception(); }
  });
}

void Executable::wait_for_lane() {
  if (on_lane_ == 0) return;
  HostLane::of_runtime().wait(std::exchange(on_lane_, 0));
  if (lane_error_ != nullptr) std::rethrow_exception(std::exchange(lane_error_, nullptr));
}

// Makes the lanes wait for each other as an instruction, or the end of the program, requires.
void Executable::enter_lane(const LaneStep& step) {
  if (device_.is_cpu()) {  // work is only posted to a lane once its inputs are computed
    if ((step.joins >> static_cast<int>(Lane::kComm) & 1) != 0) wait_for_lane();
    return;
  }
  for (size_t l = 0; l < lanes_.size(); ++l)
    if ((step.joins >> l & 1) != 0) lanes_[0]->wait(lanes_[l]->record());
  if (step.forks) lanes_[static_cast<size_t>(step.lane)]->wait(lanes_[0]->record());
}

void Executable::check_outputs(const Instruction& ins) const {
  const Graph::Node& node = graph_.node(ins.node);
  for (size_t k = 0; k < ins.plan->out.size(); ++k) {
    const Buffer& b = buffers_[ins.first_out + k];
    const int64_t i = first_non_finite(b);
    if (i < 0) continue;
    std::string inputs;
    for (const TensorMeta& m : ins.plan->in) inputs += (inputs.empty() ? "" : ", ") + m.str();
    throw NonFiniteError(fmt::format("{}: output {} {} is not finite (element {})", node.op->name, k, b.meta->str(), i),
                         fmt::format("{}{} on {}{}", node.op->name, node.attrs.text(), inputs, node.scope.empty() ? "" : " | in " + node.scope),
                         "it is the first op of the step with such a value: check its inputs, lower the learning rate or the loss scale");
  }
}

// Returns a value's result after all instructions have run. Inputs and constants are copied: the caller gets separate memory.
Tensor Executable::result(ValueId v, Span<const Tensor> in) const {
  const Location& at = plan_.at[static_cast<size_t>(v)];
  const auto i = static_cast<size_t>(at.index);
  switch (at.place) {
    case Place::kFresh: return fresh_[i];
    case Place::kInput: return in[i].clone();
    case Place::kConstant: return device_.is_cpu() ? graph_.value(v).constant.clone() : graph_.value(v).constant.to(device_);
    case Place::kSteady: {
      const Tensor copy = Tensor::empty(graph_.value(v).meta);
      void* const to = copy.impl()->storage->data();
      if (copy.nbytes() == 0) return copy;
      if (device_.is_cpu()) std::memcpy(to, steady_[i]->data(), static_cast<size_t>(copy.nbytes()));
      else device_memory().copy(device_, to, device_, steady_[i]->data(), copy.nbytes());
      return copy;
    }
    case Place::kState: return plan_.donated[i] ? graph_.states()[i].param->stored() : old_[i];
    default: throw InternalError("a result of the graph was planned into the arena", "compiled function " + graph_.name);
  }
}

std::vector<Tensor> Executable::finish(Span<const Tensor> in) {
  std::vector<Tensor> out;
  for (size_t k = 0; k < graph_.outputs().size(); ++k) {
    const auto& ids = graph_.outputs();
    const auto same = static_cast<size_t>(std::find(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(k), ids[k]) - ids.begin());
    out.push_back(same < k ? out[same] : make_alias(result(ids[k], in)));
  }
  std::vector<Tensor> written(old_.size());  // all are read before any is stored: states may exchange values
  for (size_t s = 0; s < written.size(); ++s) {
    const StateBinding& b = graph_.states()[s];
    if (b.written != kNoId && !plan_.donated[s]) written[s] = result(b.written, in);
  }
  for (size_t s = 0; s < written.size(); ++s)
    if (written[s].defined()) graph_.states()[s].param->store(written[s]);
  return out;
}

std::string Executable::place_text(ValueId v) const {
  const Location& at = plan_.at[static_cast<size_t>(v)];
  switch (at.place) {
    case Place::kArena: return fmt::format("arena+{}", at.offset);
    case Place::kFlat: return fmt::format("flat+{}", at.offset);
    case Place::kConstant: return "constant";
    case Place::kInput: return fmt::format("input {}", at.index);
    case Place::kState: return fmt::format("state \"{}\"", graph_.states()[static_cast<size_t>(at.index)].name);
    case Place::kFresh: return fmt::format("result {}", at.index);
    case Place::kSteady: return fmt::format("steady {}", at.index);
    default: return "nowhere";
  }
}

std::string Executable::describe() const {
  std::string s = fmt::format("{}: {} instructions, arena {} bytes ({} without reuse), {} in place, workspace {} bytes\n", graph_.name, instructions_.size(),
                              plan_.arena_bytes, plan_.unplanned_bytes, plan_.inplace, workspace_bytes_);
  const auto add = [&](const Instruction& ins, const char* indent) {
    const Graph::Node& n = graph_.node(ins.node);
    std::string in, out;
    for (size_t i = 0; i < n.in.size(); ++i)
      in += (in.empty() ? "" : ", ") + place_text(n.in[i]) + (buffers_[ins.first_in + i].prepared != nullptr ? " prepared" : "");
    for (ValueId v : n.out) out += (out.empty() ? "" : ", ") + place_text(v) + " " + graph_.value(v).meta.str();
    s += fmt::format("{}{} [{}] ({}) -> {}; {} bytes moved\n", indent, n.op->name, ins.plan->kernel_def->name, in, out, planned_bytes_of(*ins.plan));
  };
  if (!steady_program_.empty()) s += "  when states changed:\n";
  for (const Instruction& ins : steady_program_) add(ins, "    ");
  for (const Instruction& ins : instructions_) add(ins, "  ");
  return s;
}

}  // namespace sindri
