// A traced function whose code reads values. When it asks a traced tensor for its truth value (`if overflow:`), the
// graph is cut: the part traced so far becomes a separate executable, a segment, and runs. Its result decides how the
// code continues and which segment follows. So a function's segments form a tree with one path for each series of
// outcomes met. A path is traced when it is first taken, together with its first run; from then on it runs without
// calling the function. Each path does what the function does eagerly. A branch that is not taken has no effect: its
// states stay, its errors do not occur, and its results need no common shape.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/op/tensor_fn.h"
#include "src/graph/executable.h"
#include "src/graph/signature.h"
#include "src/graph/trace.h"

namespace sindri {

struct Segment {
  std::unique_ptr<Executable> executable;
  int64_t path = -1;  ///< at the end of a path: the number of the trace that made it
  // Otherwise output 0 is the condition, and the next segment's inputs come from this one's inputs and outputs.
  std::vector<GraphTrace::Crossing> crossings;
  std::array<std::unique_ptr<Segment>, 2> next;
  // Tells whether a later trace passes through this segment.
  uint64_t fingerprint = 0;
  GraphTrace::StateMetas state_metas;
};

class SegmentTree {
 public:
  using Compile = std::function<std::unique_ptr<Executable>(Graph)>;

  SegmentTree(std::string name, Device device, std::function<void()> drop_garbage)
      : name_(std::move(name)), device_(device), drop_garbage_(std::move(drop_garbage)) {}
  /// Runs the path that the values select. If it has not been taken before, calls `fn`, passes its new segments to
  /// `compile`, and adds the states it met to `states`. `path` becomes the number `trace` of the call that made the path,
  /// or -1 if it was not kept. Without `path` (for an empty tree) nothing runs, and the trace ends at the first condition.
  TensorList run(const TensorFn& fn, const Compile& compile, Span<const Tensor> in, int64_t trace, std::vector<Signature::State>* states, int64_t* path);
  /// Lists the segments depth first, the outcome false before true; empty before the first run.
  std::vector<const Segment*> segments() const;

 private:
  friend class PathTrace;
  std::string name_;
  Device device_;  // of the segments' graphs
  std::function<void()> drop_garbage_;  // from CompileOptions
  std::unique_ptr<Segment> root_;
  size_t size_ = 0;
};

}  // namespace sindri
