// Cell: the base of every layer and network (MindSpore: nn.Cell).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/nn/value.h"
#include "sindri/op/parameter.h"

namespace sindri::nn {

/// A network part with named children and parameters. A Cell may hang in two places of a tree; names are paths from the cell
/// asked, found by walking the tree, first place first. Starts in inference mode (as in MindSpore, unlike PyTorch).
///
///   class Net : public nn::Cell {
///    public:
///     Net() : Cell("Net"), fc_(child("fc", nn::Dense::make({.in_channels = 64, .out_channels = 10}))) {}
///     Tensor construct(const Tensor& x) override { return (*fc_)(x); }
///    private:
///     std::shared_ptr<nn::Dense> fc_;
///   };
class SINDRI_API Cell {
 public:
  explicit Cell(std::string class_name);
  virtual ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  /// Forward of the common case, one tensor in and one out. Override this or construct_values.
  virtual Tensor construct(const Tensor& x);
  /// Forward in general. The default calls construct with its only tensor.
  virtual Value construct_values(Span<const Value> in);
  /// A gradient of its own: override both. dout has one tensor per output tensor (zeros where there is no gradient).
  virtual bool has_bprop() const { return false; }
  virtual TensorList bprop(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout);

  /// Calls the cell: pushes its name for messages, then constructs.
  Value call(Span<const Value> in);
  Tensor operator()(const Tensor& x);
  Tensor operator()(const Tensor& a, const Tensor& b);

  const std::string& class_name() const { return class_name_; }
  /// "Conv2d(3, 64, kernel_size=[7, 7], …)": for summaries and repr.
  virtual std::string describe() const { return class_name_ + "()"; }

  bool training() const { return training_; }
  /// Recursive. Returns *this.
  Cell& set_train(bool on = true);
  /// Recursive: whether gradients of its parameters are wanted at all.
  Cell& set_requires_grad(bool on);
  /// Free-form marks read by algorithms ("thor", "less_bn"); recursive form for subtrees.
  Cell& add_flag(const std::string& name, bool value, bool recursive = false);
  bool flag(const std::string& name) const;

  /// Every parameter once, with its dotted path, in definition order; buffers (requires_grad false) included.
  std::vector<std::pair<std::string, Parameter*>> parameters_and_names();
  /// Every cell once: ("", this) first, then dotted paths.
  std::vector<std::pair<std::string, Cell*>> cells_and_names();
  /// Parameters with requires_grad, in definition order. Sets every Parameter's name() to its path first.
  std::vector<Parameter*> trainable_params();
  std::vector<Parameter*> untrainable_params();
  std::vector<Parameter*> get_parameters();
  /// Number of elements of trainable (or all) parameters.
  int64_t num_parameters(bool trainable_only = true);
  const std::vector<std::pair<std::string, std::shared_ptr<Cell>>>& children() const { return children_; }

 protected:
  /// Adds a parameter; the name must be new in this cell and hold no dot.
  Parameter& param(const std::string& name, const Tensor& init, bool requires_grad = true);
  /// Adds state that is saved but not trained (moving averages).
  Parameter& buffer(const std::string& name, const Tensor& init) { return param(name, init, false); }
  template <class T> std::shared_ptr<T> child(const std::string& name, std::shared_ptr<T> c) {
    add_child(name, c);
    return c;
  }
  void add_child(const std::string& name, std::shared_ptr<Cell> c);
  /// Replaces a child of that name (less-BN, THOR, quantisation edit networks so).
  void set_child(const std::string& name, std::shared_ptr<Cell> c);

 private:
  std::string class_name_;
  bool training_ = false;
  std::map<std::string, bool> flags_;
  std::vector<std::pair<std::string, std::unique_ptr<Parameter>>> params_;
  std::vector<std::pair<std::string, std::shared_ptr<Cell>>> children_;
};

using CellPtr = std::shared_ptr<Cell>;

}  // namespace sindri::nn
