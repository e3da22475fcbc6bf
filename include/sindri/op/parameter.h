// Parameter: the only mutable slot. Weights, buffers, optimizer state, step counters and RNG state are Parameters.
#pragma once

#include <memory>
#include <string>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri {

/// A named state slot (MindSpore: mindspore.Parameter). Not copyable: optimizers and graphs refer to it by identity.
class SINDRI_API Parameter {
 public:
  /// The slot is on current_device() until move_to moves it.
  Parameter(const Tensor& init, std::string name, bool requires_grad = true);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  const std::string& name() const { return name_; }  ///< dotted path in the network, set when the network collects its parameters
  void set_name(std::string name) { name_ = std::move(name); }
  /// The value as the active interpreters see it; symbolic while a graph is traced.
  Tensor value() const;
  /// Replaces the value; recorded as a state write while a graph is traced. Throws ShapeError or DTypeError if v's shape or dtype
  /// differs from the slot's.
  void assign(const Tensor& v);
  /// Moves the value to another device. Compiled functions that use the slot are compiled again.
  void move_to(Device device);
  const TensorMeta& meta() const { return stored_.meta(); }
  const Shape& shape() const { return stored_.shape(); }
  DType dtype() const { return stored_.dtype(); }

  /// Whether gradients are computed for it.
  bool requires_grad = true;

  // For the base interpreters and executables: the stored tensor, whatever is being traced.
  const Tensor& stored() const { return stored_; }
  void store(const Tensor& v);  // keeps a handle with a separate identity, so that two slots never share an identity; on the slot's device

 private:
  Tensor stored_;
  std::string name_;
};

}  // namespace sindri
