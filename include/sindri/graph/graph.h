// Graph: the traced form of a function. Nodes and values are stored in arrays, named by integers, in SSA form: no op changes a
// value, and state enters and leaves as values. Passes read and rewrite it through the functions below, which keep the lists of
// users consistent.
//
//   graph "step" {
//     %0 = input : f32[32, 784]
//     %1 = state "fc.weight" : f32[10, 784]
//     %2 = constant : f32[] = {0.5}
//     %3 = matmul(%0, %1) {transpose_b=true} : f32[32, 10] @ "Net/fc"
//     ...
//     state %1 <- %9
//     return %3
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"
#include "sindri/op/parameter.h"

namespace sindri {

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr int32_t kNoId = -1;  ///< no value or node

/// A Parameter that the function reads or assigns: its value on entry and, if it changes, on exit.
struct StateBinding {
  Parameter* param = nullptr;  ///< null in a graph parsed without parameters
  std::string name;
  ValueId read = kNoId;  ///< always set, though it may have no users
  ValueId written = kNoId;  ///< kNoId: unchanged
};

/// A traced function: values and the ops that compute them, in an executable order.
class SINDRI_API Graph {
 public:
  /// Origin of a value.
  enum class Kind : uint8_t { kInput, kState, kConstant, kResult, kErased };
  /// One tensor of the graph.
  struct Value {
    TensorMeta meta;
    Kind kind = Kind::kErased;
    NodeId producer = kNoId;  ///< for kResult
    std::vector<NodeId> users;  ///< nodes reading it, one entry per operand (x·x lists its node twice)
    Tensor constant;  ///< for kConstant; on the host, whatever the graph's device
  };
  /// One op of the graph.
  struct Node {
    const OpDef* op = nullptr;  ///< null once erased
    Attrs attrs;
    std::vector<ValueId> in, out;  ///< operands and results
    std::string scope;  ///< path of the Cell that made it
  };

  /// All values of a graph are on one device.
  explicit Graph(std::string graph_name = "fn", Device device = {}) : name(std::move(graph_name)), device_(device) {}
  Device device() const { return device_; }

  /// Adds an input. Throws DeviceError if the meta is on another device than the graph.
  ValueId add_input(const TensorMeta& meta);
  /// Adds a state; one per Parameter. `param` may be null (tests, parsed text). Throws the same errors as add_input.
  ValueId add_state(Parameter* param, std::string state_name, const TensorMeta& meta);
  /// Adds a constant. Throws InternalError if the tensor has no data.
  ValueId add_constant(const Tensor& value);

  /// Adds a node before `before` (kNoId: at the end) and returns its id. Output metas come from infer and the layout rule; an
  /// input in a layout that the op does not accept gets a to_layout node first. Throws what infer throws.
  NodeId append(const OpDef& op, Attrs attrs, Span<const ValueId> in, std::string scope = {}, NodeId before = kNoId);
  /// Makes everything that reads `from` (nodes, outputs, states) read `to`. Throws InternalError unless their metas are equal.
  void replace_uses(ValueId from, ValueId to);
  /// Removes a node whose results nothing reads. Throws InternalError if one is read.
  void erase(NodeId n);
  /// Replaces the program order by another order of the same nodes. The caller ensures that every value is computed before it is
  /// read.
  void reorder(std::vector<NodeId> order) { order_ = std::move(order); }
  /// Removes a constant or a state that nothing reads or writes. Throws InternalError if it is in use.
  void erase_unused(ValueId v);

  const Node& node(NodeId n) const { return nodes_[static_cast<size_t>(n)]; }
  const Value& value(ValueId v) const { return values_[static_cast<size_t>(v)]; }
  /// Live nodes in program order: every value is computed before it is read.
  const std::vector<NodeId>& order() const { return order_; }
  size_t num_values() const { return values_.size(); }  ///< including erased ones
  /// Whether the value is returned or written to a state.
  bool leaves(ValueId v) const;
  const std::vector<ValueId>& inputs() const { return inputs_; }  ///< in the order in which they were added
  const std::vector<ValueId>& constants() const { return constants_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }  ///< the returned values, in order
  const std::vector<StateBinding>& states() const { return states_; }
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }  ///< sets the returned values
  void set_written(size_t state, ValueId v) { states_[state].written = v; }  ///< sets a state's value on exit; kNoId: unchanged

  /// The printed form, with values numbered in order of appearance; parse_graph reads it back. Constants of more than 16 elements
  /// appear as pool[i] with a hash of their bytes, and are appended to `pool` if it is given.
  std::string text(std::vector<Tensor>* pool = nullptr) const;

  std::string name;

 private:
  friend class GraphVerifier;
  Device device_;
  ValueId add_value(const TensorMeta& meta, Kind kind);
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<NodeId> order_;
  std::vector<ValueId> inputs_, outputs_, constants_;
  std::vector<StateBinding> states_;
};

/// Parses the printed form. `pool` holds the large constants in the order in which text() appended them; `params` (may be empty)
/// the states' parameters, in order. Throws ValueError with line and column, and what infer throws.
SINDRI_API Graph parse_graph(std::string_view text, Span<const Tensor> pool = {}, Span<Parameter* const> params = {});

/// Checks that the graph is legal: every value is computed before it is read, metas agree with infer, and users, states and
/// constants are consistent. Throws InternalError naming the first violation; `after` names what made the graph.
SINDRI_API void verify_graph(const Graph& graph, const std::string& after);

}  // namespace sindri
