// Transforms of one row's columns: the handle that all transforms share, and transforms that are not specific to images
// (MindSpore: dataset.transforms).
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

/// Handle of one immutable operation on a row. Transforms have no state that changes between rows: random numbers
/// depend on (seed, pass, position, row id) alone, so a row is the same for any number of workers.
class SINDRI_API Transform {
 public:
  /// Used by transforms' implementations.
  explicit Transform(std::shared_ptr<const RowOp> op);
  /// Applies the transform to one tensor. A random transform then draws from a separate stream, keyed by set_seed(),
  /// its number among the random transforms called directly in this process, and its number of calls so far. Throws
  /// BadSample for an unsuitable tensor.
  Tensor operator()(const Tensor& input) const;
  /// Applies the transform to the values of one row and returns one tensor per output. A random transform draws from
  /// `key` alone.
  std::vector<Tensor> apply(const std::vector<Tensor>& inputs, uint64_t key) const;
  /// Whether the transform draws random numbers.
  bool random() const;
  /// Number of input values (0: any) and of outputs.
  std::pair<int, int> columns() const;
  /// Text for messages and fingerprints: "Resize(size=256, interpolation=LINEAR)".
  std::string str() const;
  /// The operation.
  const std::shared_ptr<const RowOp>& op() const { return op_; }

 private:
  struct Calls;
  std::shared_ptr<const RowOp> op_;
  std::shared_ptr<Calls> calls_;
};

namespace transforms {

/// Converts to another element type: to bool, anything that is not 0 is true; floats to integers round toward zero and
/// saturate.
class SINDRI_API TypeCast : public Transform {
 public:
  explicit TypeCast(DType output_type);
};

/// One-hot labels: integer label [] -> [num_classes], or after batch [N] -> [N, num_classes]. Without smoothing they
/// keep the input's element type. With smoothing_rate they are float32: 1 - rate + rate / num_classes at the label,
/// rate / num_classes elsewhere. A label outside [0, num_classes) is a bad sample.
class SINDRI_API OneHot : public Transform {
 public:
  explicit OneHot(int64_t num_classes, double smoothing_rate = 0.0);
};

/// Placeholder of a transform that is applied later, for example on a device. It changes nothing, and its str() is the
/// transform's. So a pipeline's saved state matches both the pipeline with the transform and the one with its
/// placeholder.
class SINDRI_API Deferred : public Transform {
 public:
  /// Throws ValueError for a transform that is random or has several columns.
  explicit Deferred(const Transform& transform);
};

/// Your function: it receives all input columns and returns all output columns. It throws BadSample to mark the row as
/// bad; any other exception ends the run and reaches next() unchanged. Runs on worker threads, several at once.
class SINDRI_API Function : public Transform {
 public:
  /// Returns the output columns for the input columns of a row.
  using Fn = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  /// Also receives random numbers that depend on (seed, pass, position) only.
  using RandomFn = std::function<std::vector<Tensor>(const std::vector<Tensor>&, PhiloxSequence&)>;
  /// `name` identifies the function in messages and in the fingerprint that protects resuming.
  Function(std::string name, Fn fn, int num_outputs = 1);
  Function(std::string name, RandomFn fn, int num_outputs = 1);
};

}  // namespace transforms
}  // namespace sindri::dataset
