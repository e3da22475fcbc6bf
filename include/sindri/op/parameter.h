// Parameter: the only mutable slot. Weights, buffers, optimizer state, step counters and RNG state are Parameters.
#pragma once

#include <memory>
#include <string>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri {

/// A named state slot (MindSpore: mindspore.Parameter). Not copyable: identity matters to optimizers and graphs.
class SINDRI_API Parameter {
 public:
  /// Lies on current_device(), and stays there until move_to.
  Parameter(const Tensor& init, std::string name, bool requires_grad = true);
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// The value as the interpreters in force see it (symbolic while a graph is traced).
  Tensor value() const;
  /// Replaces the value; recorded as a state write while a graph is traced. Throws ShapeError or DTypeError when v's
  /// shape or dtype differ from the slot's.
  void assign(const Tensor& v);
  /// Takes the value to another device. Compiled functions that use the slot compile anew.
  void move_to(Device device);
  const TensorMeta& meta() const { return stored_.meta(); }
  const Shape& shape() const { return stored_.shape(); }
  DType dtype() const { return stored_.dtype(); }

  bool requires_grad = true;

  // For the base interpreters and executables: the tensor held now, whatever is being traced.
  const Tensor& stored() const { return stored_; }
  void store(const Tensor& v);  // keeps a handle with an identity of its own, so that two slots never share one, on the slot's device

 private:
  Tensor stored_;
  std::string name_;
};

}  // namespace sindri
