// Transforms of one row's columns: the handle every transform shares, and those that are not about images (MindSpore: dataset.transforms).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/rng.h"
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::dataset {

class RowOp;

/// A handle to one immutable operation on a row. Transforms hold no state that changes between rows: randomness comes from
/// (seed, pass, position, row id) alone, so a row looks the same for any number of workers.
class SINDRI_API Transform {
 public:
  explicit Transform(std::shared_ptr<const RowOp> op);
  /// Applies it to one tensor. A random transform then draws from a stream of its own: keyed by set_seed(), its place among the random
  /// transforms called by hand in this process, and its calls so far.
  Tensor operator()(const Tensor& input) const;
  /// Applies it to the values of one row, one tensor for each of its outputs; a random one draws from `key` alone.
  std::vector<Tensor> apply(const std::vector<Tensor>& inputs, uint64_t key) const;
  bool random() const;
  /// How many values it takes (0: any number) and gives.
  std::pair<int, int> columns() const;
  /// "Resize(size=256, interpolation=LINEAR)".
  std::string str() const;
  const std::shared_ptr<const RowOp>& op() const { return op_; }

 private:
  struct Calls;
  std::shared_ptr<const RowOp> op_;
  std::shared_ptr<Calls> calls_;
};

namespace transforms {

/// Converts to another element type: to bool anything that is not zero; from floats to integers toward zero, saturating.
class SINDRI_API TypeCast : public Transform {
 public:
  explicit TypeCast(DType output_type);
};

/// Integer label [] -> [num_classes], or [N] -> [N, num_classes] after batch. Without smoothing the input's element type, else float32:
/// 1 - rate + rate / num_classes at the label, rate / num_classes elsewhere. A label outside [0, num_classes) is a bad sample.
class SINDRI_API OneHot : public Transform {
 public:
  explicit OneHot(int64_t num_classes, double smoothing_rate = 0.0);
};

/// Holds the place of a transform that is carried out later, such as on a device: changes nothing, and has its text, so that a pipeline's saved state
/// belongs to the pipeline with either.
class SINDRI_API Deferred : public Transform {
 public:
  /// Throws ValueError for one that is random or has several columns.
  explicit Deferred(const Transform& transform);
};

/// A function of the caller's: all input columns in, all output columns out. Throw BadSample to mark the row as bad; any other
/// exception ends the run and reaches next() unchanged. Runs on worker threads, several at once.
class SINDRI_API Function : public Transform {
 public:
  using Fn = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  /// Gets random numbers that depend on (seed, pass, position) only.
  using RandomFn = std::function<std::vector<Tensor>(const std::vector<Tensor>&, PhiloxSequence&)>;
  /// `name` stands for the function in messages and in the fingerprint that guards resuming.
  Function(std::string name, Fn fn, int num_outputs = 1);
  Function(std::string name, RandomFn fn, int num_outputs = 1);
};

}  // namespace transforms
}  // namespace sindri::dataset
