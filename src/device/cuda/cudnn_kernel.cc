// See cudnn_kernel.h.
#include "src/device/cuda/cudnn_kernel.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sindri/op/kernel_choice.h"
#include "src/device/cuda/choice.h"
#include "src/device/cuda/libraries.h"

namespace sindri::cuda {

namespace {

// The plans of a graph on a device, by choice. A plan lives as long as a kernel holds it. Each thread also keeps its
// last plan: dispatch first asks whether a kernel can run, which builds the plan, and makes the kernel right
// afterwards.
struct Known {
  std::mutex mutex;  // for one graph: others can be built meanwhile
  std::map<std::string, std::weak_ptr<const CudnnPlan>> by_choice;
  std::string first;  // cuDNN's first choice, once it is known
  std::string why_none;
  std::shared_ptr<const CudnnPlan> alive(const std::string& choice) const {
    const auto at = by_choice.find(choice);
    return at != by_choice.end() ? at->second.lock() : nullptr;
  }
};
struct Plans {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, std::shared_ptr<Known>> by_graph;
};
std::shared_ptr<Known> known_plans(int device, const std::string& key) {
  static Plans* const all = new Plans;
  const std::lock_guard lock(all->mutex);
  std::shared_ptr<Known>& known = all->by_graph[{device, key}];
  if (known == nullptr) known = std::make_shared<Known>();
  return known;
}
thread_local std::shared_ptr<const CudnnPlan> t_last;

// A cuDNN handle may be used by one thread at a time.
struct StreamHandle {
  explicit StreamHandle(cudaStream_t stream) : handle(stream) {}
  std::mutex mutex;
  CudnnHandle handle;
};

DType dtype_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF: return DType::kFloat16;
    case CUDNN_DATA_BFLOAT16: return DType::kBFloat16;
    case CUDNN_DATA_FLOAT: return DType::kFloat32;
    case CUDNN_DATA_DOUBLE: return DType::kFloat64;
    case CUDNN_DATA_INT32: return DType::kInt32;
    case CUDNN_DATA_INT64: return DType::kInt64;
    default: return DType::kUInt8;
  }
}
TrialOperand operand_of(const GraphTensor& t) {
  int64_t values = 1;
  for (size_t i = 0; i < t.dims.size(); ++i) values += (t.dims[i] - 1) * t.strides[i];
  const DType dtype = dtype_of(t.type);
  return {dtype, t.type == CUDNN_DATA_BOOLEAN ? (values + 7) / 8 : values * static_cast<int64_t>(dtype_size(dtype))};
}

class PlanCandidate final : public Candidate {
 public:
  explicit PlanCandidate(std::shared_ptr<const CudnnPlan> p) : plan(std::move(p)) {}
  std::string choice() const override { return plan->engine().choice(); }
  int64_t workspace() const override { return plan->workspace(); }
  void run(CudaStream& stream, std::span<void* const> operands, void* space) const override { run_cudnn_plan(*plan, stream, operands, space); }
  const std::shared_ptr<const CudnnPlan> plan;
};

class GraphProblem final : public Problem {
 public:
  GraphProblem(const CudnnGraph& graph, std::string key, int device, Known* known)
      : graph_(graph), key_(std::move(key)), device_(CudnnDevice::present(device)), known_(known) {
    const LibraryLimits l = library_limits();
    filter_ = {.workspace = l.workspace, .only_deterministic = l.deterministic, .runtime_compilation = l.runtime_compilation};
  }
  Library library() const override { return Library::kCudnn; }
  std::string key() const override { return key_; }

  std::shared_ptr<const Candidate> remembered(const std::string& choice, std::string* why) override {
    if (auto plan = known_->alive(choice); plan != nullptr) return std::make_shared<PlanCandidate>(std::move(plan));
    const std::optional<Engine> engine = Engine::from_choice(choice);
    if (!engine) {
      *why = "it does not name an engine of cuDNN";
      return nullptr;
    }
    PlanOutcome out = rebuild_plan(graph_, device_, *engine, filter_);
    *why = out.why_none;
    return out.plan != nullptr ? keep(std::move(out.plan)) : nullptr;
  }
  std::vector<std::shared_ptr<const Candidate>> candidates(size_t most, bool all, std::string* why_none) override {
    if (most == 1)
      if (auto plan = known_->alive(known_->first); plan != nullptr) return {std::make_shared<PlanCandidate>(std::move(plan))};
    std::vector<std::shared_ptr<const Candidate>> list;
    for (auto& plan : build_plans(graph_, device_, filter_, most, all, why_none)) list.push_back(keep(std::move(plan)));
    if (!list.empty()) known_->first = list[0]->choice();
    return list;
  }
  std::vector<TrialOperand> operands() const override {
    std::vector<TrialOperand> all;
    for (const TensorId id : graph_.arguments()) all.push_back(operand_of(graph_[id]));
    return all;
  }

 private:
  std::shared_ptr<const Candidate> keep(std::shared_ptr<const CudnnPlan> plan) {
    known_->by_choice[plan->engine().choice()] = plan;
    return std::make_shared<PlanCandidate>(std::move(plan));
  }

  const CudnnGraph& graph_;
  const std::string key_;
  const CudnnDevice device_;
  Known* const known_;
  EngineFilter filter_;
};

}  // namespace

std::shared_ptr<const CudnnPlan> cudnn_plan(const CudnnGraph& graph, int device, std::string* why) {
  if (const LibraryState& library = library_state(Library::kCudnn); !library.usable()) {
    *why = library.error;
    return nullptr;
  }
  std::string key = graph.key();
  const std::shared_ptr<Known> known = known_plans(device, key);
  const std::lock_guard lock(known->mutex);
  if (!known->why_none.empty()) {
    *why = known->why_none;
    return nullptr;
  }
  const NotCaptured outside;
  const OnDevice on(device);
  GraphProblem problem(graph, std::move(key), device, known.get());
  std::string none;
  const std::shared_ptr<const Candidate> chosen = choose(problem, device, &none);
  if (chosen == nullptr) {
    known->why_none = *why = none.empty() ? "cuDNN has no engine for it" : "cuDNN: " + none;
    return nullptr;
  }
  t_last = static_cast<const PlanCandidate&>(*chosen).plan;
  return t_last;
}

void run_cudnn_plan(const CudnnPlan& plan, CudaStream& stream, std::span<void* const> addresses, void* workspace) {
  const OnDevice on(stream.device().index);
  StreamHandle& own = stream.kept<StreamHandle>();
  const std::lock_guard lock(own.mutex);
  plan.run(own.handle.get(), addresses, workspace);
  stream.count_launch();
}

}  // namespace sindri::cuda
