// Cell: the base of every layer and network (MindSpore: nn.Cell).
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/amp/amp.h"
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
  /// A gradient of its own: override both. Inputs and outputs are the tensors of the Values, depth first; dout has one tensor
  /// per output tensor (zeros where there is no gradient). As in MindSpore 1.x, parameters read inside then get no gradient.
  virtual bool has_bprop() const { return false; }
  virtual TensorList bprop(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout);

  /// Calls the cell: pushes its name for messages, then constructs.
  Value call(Span<const Value> in);
  Value call(std::initializer_list<Value> in) { return call(Span<const Value>(in.begin(), in.size())); }
  /// For cells that give one tensor. Throws ValueError when the result is a tuple, list or dict.
  Tensor operator()(const Tensor& x);
  Tensor operator()(const Tensor& a, const Tensor& b);

  const std::string& class_name() const { return class_name_; }
  /// "Conv2d(3, 64, kernel_size=[7, 7], …)": for summaries and repr.
  virtual std::string describe() const { return class_name_ + "()"; }
  /// describe() of the whole tree, one line per cell, indented, with the child names.
  std::string tree() const;

  bool training() const { return training_; }
  /// Recursive. Returns *this.
  Cell& set_train(bool on = true);
  /// Recursive: whether gradients of its parameters are wanted at all. Turning it on again leaves buffers alone.
  Cell& set_requires_grad(bool on);
  /// Recursive: floating inputs of these cells and the ops inside run in `dtype` (float16, bfloat16 or float32), whatever the amp
  /// level; parameters stay as they are stored and are cast where they are used. The result keeps the type. float64 is left alone.
  /// Returns *this. Throws ValueError for other types.
  Cell& to_float(DType dtype);
  /// Runs this cell, and what it contains, under an amp level of its own; its outputs come back as float32. The names in the
  /// options' lists are checked against the cells inside (amp::check).
  Cell& set_mixed_precision(const amp::Options& options);
  /// The values inside this cell are not kept for the gradient but computed again when it needs them (activation checkpointing, Chen
  /// et al. 2016, arXiv:1604.06174; MindSpore: Cell.recompute): memory for one more forward pass of the cell. Values and gradients keep
  /// their bits; random numbers and moving averages advance once. Not recursive. Returns *this.
  Cell& recompute(bool on = true);
  bool recomputes() const { return recompute_; }
  /// Free-form marks read by algorithms ("thor", "less_bn"); recursive form for subtrees.
  Cell& add_flag(const std::string& name, bool value, bool recursive = false);
  bool flag(const std::string& name) const;

  /// Every parameter once, with its dotted path, in definition order; buffers (requires_grad false) included. Throws ValueError
  /// when two parameters come to one path (cells attached without a prefix).
  std::vector<std::pair<std::string, Parameter*>> parameters_and_names();
  /// Every cell once: ("", this) first, then dotted paths.
  std::vector<std::pair<std::string, Cell*>> cells_and_names();
  /// Parameters with requires_grad, in definition order. Sets every Parameter's name() to its path first, unless the name is
  /// already a longer path ending in it: asking a part of a network does not shorten the names the whole gave.
  std::vector<Parameter*> trainable_params();
  std::vector<Parameter*> untrainable_params();
  std::vector<Parameter*> get_parameters();
  /// Number of elements of trainable (or all) parameters.
  int64_t num_parameters(bool trainable_only = true);
  /// Direct children with their names, in definition order.
  std::vector<std::pair<std::string, std::shared_ptr<Cell>>> children() const;
  /// Direct parameters with their names, in definition order.
  std::vector<std::pair<std::string, Parameter*>> own_parameters() const;

 protected:
  /// Adds a parameter; the name must be new in this cell and hold no dot.
  Parameter& param(const std::string& name, const Tensor& init, bool requires_grad = true);
  /// Adds state that is saved but not trained (moving averages).
  Parameter& buffer(const std::string& name, const Tensor& init) { return param(name, init, false); }
  /// Takes a parameter of this cell away. Its memory stays the cell's, since an optimizer or a script may hold it.
  void drop_param(const std::string& name);
  /// Adds a child; the name must be new in this cell and hold no dot, the child must not contain this cell. Without prefix the
  /// child's parameters keep the paths they have in the child (MindSpore: auto_prefix=False), as wrappers around a network want.
  template <class T> std::shared_ptr<T> child(const std::string& name, std::shared_ptr<T> c, bool prefix = true) {
    add_child(name, c, prefix);
    return c;
  }
  void add_child(const std::string& name, std::shared_ptr<Cell> c, bool prefix = true);
  /// Replaces the child of that name.
  void set_child(const std::string& name, std::shared_ptr<Cell> c);
  /// Checks of construct_values: throws ValueError unless there are `count` inputs, all tensors, and returns them.
  std::vector<Tensor> tensor_inputs(Span<const Value> in, size_t count) const;

 private:
  Value run(Span<const Value> in);
  Value call_with_bprop(Span<const Value> in);
  Value call_recomputed(Span<const Value> in);
  struct ParamEntry {
    std::string name;
    std::unique_ptr<Parameter> param;
    bool trainable;  // as declared; set_requires_grad(true) restores it
  };
  struct ChildEntry {
    std::string name;
    std::shared_ptr<Cell> cell;
    bool prefix;
  };
  template <class F> void walk(const std::string& path, F&& f);  // f(path, cell), each cell once, parents first
  void check_name(const std::string& name, const char* what) const;
  void check_acyclic(const std::string& name, Cell* c);
  void tree_lines(const std::string& indent, const std::string& label, std::string* out) const;

  std::string class_name_;
  std::string place_;  // the name it was first attached under, for messages
  bool training_ = false, recompute_ = false;
  std::map<std::string, bool> flags_;
  std::optional<DType> to_float_;
  std::unique_ptr<const amp::Options> amp_;
  std::vector<ParamEntry> params_, dropped_;
  std::vector<ChildEntry> children_;
};

using CellPtr = std::shared_ptr<Cell>;

/// While it lives, `fn` sees the output of every Cell called on this thread (summaries, probes).
class SINDRI_API CallObserver {
 public:
  using Fn = std::function<void(const Cell& cell, const Value& out)>;
  explicit CallObserver(Fn fn);
  ~CallObserver();
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;

 private:
  friend class Cell;
  static void notify(const Cell& cell, const Value& out);
  Fn fn_;
  CallObserver* previous_;
};

}  // namespace sindri::nn
