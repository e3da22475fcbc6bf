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

/// A part of a network with named children and parameters (MindSpore: nn.Cell). A Cell may appear at several places in
/// a tree. Names are paths from the Cell whose function is called. They are found by walking the tree; for a Cell with
/// several places, the first counts. Starts in inference mode, as in MindSpore and unlike PyTorch.
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
  /// `class_name` appears in messages, summaries and the lists of mixed precision.
  explicit Cell(std::string class_name);
  virtual ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  /// Forward pass with one tensor in and one out. Override this or construct_values; the default throws ValueError.
  virtual Tensor construct(const Tensor& x);
  /// Forward pass with any inputs and outputs. The default calls construct with the only input, which must be a tensor.
  virtual Value construct_values(Span<const Value> in);
  /// Custom gradient: override has_bprop and bprop. `in` and `out` are the tensors of the Values, depth first. dout has
  /// one tensor per output tensor, zeros where there is no gradient; bprop returns one gradient per input tensor. As in
  /// MindSpore 1.x, parameters read inside then get no gradient.
  virtual bool has_bprop() const { return false; }
  /// Returns the gradients of the inputs, if has_bprop() is true (see has_bprop).
  virtual TensorList bprop(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout);

  /// Calls the Cell: runs the forward pass in a scope of its name, which error messages, graphs and profiles show.
  Value call(Span<const Value> in);
  Value call(std::initializer_list<Value> in) { return call(Span<const Value>(in.begin(), in.size())); }
  /// Calls a Cell that returns one tensor. Throws ValueError if the result is a tuple, list or dict.
  Tensor operator()(const Tensor& x);
  Tensor operator()(const Tensor& a, const Tensor& b);

  /// Name given to the constructor, "Conv2d".
  const std::string& class_name() const { return class_name_; }
  /// One line for summaries and repr: "Conv2d(3, 64, kernel_size=[7, 7], …)".
  virtual std::string describe() const { return class_name_ + "()"; }
  /// Lines of describe() for the whole tree, one indented line per Cell, with the children's names.
  std::string tree() const;

  /// Whether the Cell is in training mode.
  bool training() const { return training_; }
  /// Sets training mode, or with false inference mode, recursively. Returns *this.
  Cell& set_train(bool on = true);
  /// Sets recursively whether the parameters get gradients. Turning gradients on does not affect buffers, which never
  /// get gradients. Returns *this.
  Cell& set_requires_grad(bool on);
  /// Runs these Cells in `dtype` (float16, bfloat16 or float32), recursively: their floating inputs are cast, and the
  /// ops inside run in that type whatever the amp level. Parameters keep their storage type and are cast at each use.
  /// The result keeps the type. float64 is not cast. Returns *this. Throws ValueError for other types.
  Cell& to_float(DType dtype);
  /// Runs this Cell and its children under a separate amp level; its outputs are float32 again. Returns *this. Throws
  /// the same errors as amp::check with the classes of the Cells inside.
  Cell& set_mixed_precision(const amp::Options& options);
  /// Turns recomputation on: the values inside this Cell are not kept for the backward pass but computed again
  /// (activation checkpointing, Chen et al. 2016, arXiv:1604.06174; MindSpore: Cell.recompute). Saves memory at the
  /// cost of one more forward pass of the Cell. Values and gradients are bitwise identical; random numbers and moving
  /// statistics advance once. Not recursive. Returns *this.
  Cell& recompute(bool on = true);
  /// Whether recompute is on.
  bool recomputes() const { return recompute_; }
  /// Sets a free-form flag that algorithms read ("thor", "less_bn"), with `recursive` on the whole subtree. Returns
  /// *this.
  Cell& add_flag(const std::string& name, bool value, bool recursive = false);
  /// Value of a flag; false if it was never set.
  bool flag(const std::string& name) const;

  /// Every parameter once with its dotted path, in definition order, buffers (requires_grad false) included. Throws
  /// ValueError if two parameters have the same path (Cells attached without a prefix).
  std::vector<std::pair<std::string, Parameter*>> parameters_and_names();
  /// Every Cell once: ("", this) first, then dotted paths.
  std::vector<std::pair<std::string, Cell*>> cells_and_names();
  /// Parameters with requires_grad, in definition order. First sets every Parameter's name() to its path, unless the
  /// name is already a longer path that ends in it. So a call on a part of a network does not shorten the names that a
  /// call on the whole gave. Throws the same errors as parameters_and_names.
  std::vector<Parameter*> trainable_params();
  /// Parameters without requires_grad, otherwise as trainable_params.
  std::vector<Parameter*> untrainable_params();
  /// All parameters, otherwise as trainable_params.
  std::vector<Parameter*> get_parameters();
  /// Number of elements of the trainable parameters, or of all.
  int64_t num_parameters(bool trainable_only = true);
  /// Direct children with their names, in definition order.
  std::vector<std::pair<std::string, std::shared_ptr<Cell>>> children() const;
  /// Direct parameters with their names, in definition order.
  std::vector<std::pair<std::string, Parameter*>> own_parameters() const;

 protected:
  /// Adds a parameter. Throws ValueError for a name that is empty, contains a dot or is taken in this Cell, and for an
  /// undefined init.
  Parameter& param(const std::string& name, const Tensor& init, bool requires_grad = true);
  /// Adds state that is saved but not trained (moving averages).
  Parameter& buffer(const std::string& name, const Tensor& init) { return param(name, init, false); }
  /// Removes a parameter from this Cell. The Cell keeps the parameter alive, since an optimizer or a script may refer
  /// to it.
  void drop_param(const std::string& name);
  /// Adds a child and returns it. Throws ValueError for a null child, one that contains this Cell, and a name that is
  /// empty, contains a dot or is taken. Without prefix the child's parameters keep the paths they have in the child
  /// (MindSpore: auto_prefix=False), as wrappers around a network need.
  template <class T> std::shared_ptr<T> child(const std::string& name, std::shared_ptr<T> c, bool prefix = true) {
    add_child(name, c, prefix);
    return c;
  }
  /// The same as child, without the type.
  void add_child(const std::string& name, std::shared_ptr<Cell> c, bool prefix = true);
  /// Replaces the child of this name. Throws ValueError if there is none, and the same errors as child.
  void set_child(const std::string& name, std::shared_ptr<Cell> c);
  /// Returns the inputs of construct_values as tensors. Throws ValueError unless there are `count`, all tensors.
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

/// Shared ownership of a Cell.
using CellPtr = std::shared_ptr<Cell>;

/// Calls `fn` with the output of every Cell called on this thread during its lifetime (summaries, probes).
class SINDRI_API CallObserver {
 public:
  /// Receives the Cell and its output.
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
