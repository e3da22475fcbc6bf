// See cudnn_kernel.h.
#include "src/device/cuda/cudnn_kernel.h"

#include <map>
#include <utility>

#include "src/device/cuda/libraries.h"

namespace sindri::cuda {

namespace {

// Plans are kept as long as a kernel has them, and the last one of each thread: a kernel that has been asked whether it can run is made next.
struct Known {
  std::weak_ptr<const CudnnPlan> plan;
  std::string why_none;
};
struct Plans {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, Known> by_graph;
};
Plans& plans() {
  static Plans* const all = new Plans;
  return *all;
}
thread_local std::shared_ptr<const CudnnPlan> t_last;

// cuDNN's handles are for one thread at a time.
struct StreamHandle {
  explicit StreamHandle(cudaStream_t stream) : handle(stream) {}
  std::mutex mutex;
  CudnnHandle handle;
};

}  // namespace

std::shared_ptr<const CudnnPlan> cudnn_plan(const CudnnGraph& graph, int device, std::string* why) {
  if (const LibraryState& library = library_state(Library::kCudnn); !library.usable()) {
    *why = library.error;
    return nullptr;
  }
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  Known& known = all.by_graph[{device, graph.key()}];
  if (!known.why_none.empty()) {
    *why = known.why_none;
    return nullptr;
  }
  t_last = known.plan.lock();
  if (t_last != nullptr) return t_last;
  const NotCaptured outside;
  const OnDevice on(device);
  PlanOutcome outcome = build_plan(graph, CudnnDevice::present(device));
  if (outcome.plan == nullptr) {
    known.why_none = *why = outcome.why_none.empty() ? "cuDNN has no engine for it" : "cuDNN: " + outcome.why_none;
    return nullptr;
  }
  t_last = std::move(outcome.plan);
  known.plan = t_last;
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
