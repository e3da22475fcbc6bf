// See plan_ahead.h.
#include "src/graph/plan_ahead.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/long_wait.h"
#include "sindri/core/runtime.h"
#include "sindri/op/kernel.h"
#include "src/op/plan.h"

namespace sindri {

void plan_ahead(const Graph& graph, Device device) {
  if (device.is_cpu() || forced_kernel() != nullptr) return;  // a forced kernel belongs to this thread
  struct Wanted {
    const Graph::Node* node;
    std::vector<TensorMeta> in;
  };
  std::vector<Wanted> wanted;
  std::set<std::string> seen;
  for (const NodeId n : graph.order()) {
    const Graph::Node& node = graph.node(n);
    Wanted w{&node, {}};
    std::string key = std::string(node.op->name) + node.attrs.text();
    for (const ValueId v : node.in) {
      w.in.push_back(graph.value(v).meta);
      key += " " + w.in.back().str();
    }
    if (seen.insert(std::move(key)).second) wanted.push_back(std::move(w));
  }
  const size_t threads = std::min(static_cast<size_t>(std::max(1, num_threads() - 1)), wanted.size());
  if (threads < 2) return;  // this thread makes each plan when it needs it
  std::atomic<size_t> next{0};
  const auto work = in_this_runtime([&] {
    for (size_t i = next++; i < wanted.size(); i = next++) {
      try {
        (void)plan_op(*wanted[i].node->op, wanted[i].node->attrs, wanted[i].in, device);
      } catch (const std::exception&) {
        return;  // the caller meets the error again at this node
      }
    }
  });
  std::vector<std::thread> workers;
  try {
    for (size_t i = 0; i < threads; ++i) workers.emplace_back(work);
  } catch (const std::system_error&) {}  // fewer threads, or none, suffice
  long_wait([&] {
    for (std::thread& t : workers) t.join();
  });
}

}  // namespace sindri
