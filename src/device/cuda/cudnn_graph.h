// cuDNN's graph interface: describe tensors and ops, choose an engine, build a plan, run it on a stream. Building needs
// no GPU if a device description is given. docs/design/cuda.md says why this uses the C interface.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sindri/core/dtype.h"

namespace sindri::cuda {

/// The id of a tensor in one graph; from 1 in the order in which tensors were added.
using TensorId = int64_t;

enum class Role : uint8_t {
  kInput,
  kOutput,
  kVirtual,  ///< between two ops, never in memory
};

struct GraphTensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;  ///< CUDNN_DATA_BOOLEAN is one bit per value
  std::vector<int64_t> dims;  ///< N, C, H, W, whatever the strides
  std::vector<int64_t> strides;  ///< in values; see channels_last_strides for dims of 1
  Role role = Role::kInput;
  int64_t alignment = 16;  ///< bytes that divide the address
};

/// Returns cuDNN's type. Throws DTypeError for kBool: cuDNN's boolean has one bit per value.
cudnnDataType_t cudnn_type(DType type);
/// Returns the strides of a packed channels-last tensor, from dims alone. With C = 1 or H = W = 1 strides are
/// ambiguous, and cuDNN derives the layout from them.
std::vector<int64_t> channels_last_strides(std::span<const int64_t> nchw);
/// Returns the strides of a packed row-major tensor.
std::vector<int64_t> row_major_strides(std::span<const int64_t> dims);

/// Spatial sizes, H and W.
struct ConvGeometry {
  std::vector<int64_t> pad_before{0, 0}, pad_after{0, 0}, strides{1, 1}, dilations{1, 1};
};

struct PoolGeometry {
  cudnnResampleMode_t mode = CUDNN_RESAMPLE_MAXPOOL;
  std::vector<int64_t> window, pad_before{0, 0}, pad_after{0, 0}, strides{1, 1};
};

/// The tensors of a norm's forward pass. Batch norm: all but x and y are [1, C, 1, 1]. Layer norm: scale and bias are
/// [1, C, H, W], mean and inverse_deviation [N, 1, 1, 1]. In training, mean and inverse_deviation are outputs. In
/// inference they are inputs, and epsilon and the running statistics are absent. An id of 0: absent.
struct NormForward {
  cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
  bool training = true;
  TensorId x = 0, scale = 0, bias = 0, epsilon = 0;
  TensorId y = 0, mean = 0, inverse_deviation = 0;
  /// The fraction contributed by this batch (PyTorch's momentum; one minus MindSpore's), a scalar. Old and new running statistics may have the same address.
  TensorId factor = 0, running_mean = 0, running_variance = 0, new_running_mean = 0, new_running_variance = 0;
};
struct NormBackward {
  cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
  TensorId dy = 0, x = 0, scale = 0, mean = 0, inverse_deviation = 0;
  TensorId dx = 0, dscale = 0, dbias = 0;
};
/// Inputs: sums over M = count values per channel. Outputs: mean, deviation, and the factors of y = eq_scale x +
/// eq_bias. All [1, C, 1, 1]; running statistics as above.
struct BatchNormFinalize {
  TensorId sum = 0, square_sum = 0, scale = 0, bias = 0, epsilon = 0, count = 0;
  TensorId mean = 0, inverse_deviation = 0, eq_scale = 0, eq_bias = 0;
  TensorId factor = 0, running_mean = 0, running_variance = 0, new_running_mean = 0, new_running_variance = 0;
};
/// Sums of batch norm's backward pass: dscale, dbias and the factors of dx = eq_dy dy + eq_x x + eq_bias. All [1, C, 1, 1] except x and dy.
struct BatchNormSums {
  TensorId x = 0, dy = 0, mean = 0, inverse_deviation = 0, scale = 0;
  TensorId dscale = 0, dbias = 0, eq_dy = 0, eq_x = 0, eq_bias = 0;
};

/// A graph of ops. Add tensors first, then ops over them in the order of computation; every op accumulates in
/// `compute`. Inconsistencies are rejected when a plan is built, with cuDNN's reason.
class CudnnGraph {
 public:
  explicit CudnnGraph(cudnnDataType_t compute = CUDNN_DATA_FLOAT) : compute_(compute) {}

  TensorId tensor(GraphTensor t);
  /// Adds a packed channels-last tensor N, C, H, W.
  TensorId channels_last(cudnnDataType_t type, std::vector<int64_t> nchw, Role role);
  /// [1, C, 1, 1]
  TensorId per_channel(cudnnDataType_t type, int64_t channels, Role role);
  /// Adds a constant that the host passes with each run, with `rank` dimensions of size 1; part of the key. Types:
  /// float, double, int64.
  TensorId scalar(double value, cudnnDataType_t type = CUDNN_DATA_FLOAT, int rank = 4);
  /// Adds a tensor shaped like `like` that exists only between two ops. The input of a convolution must have the type
  /// of the tensors in memory; others are float.
  TensorId between(TensorId like, cudnnDataType_t type);

  /// y = x * w. x [N, C, H, W], w [K, C/groups, R, S], y [N, K, P, Q].
  void conv(TensorId x, TensorId w, TensorId y, const ConvGeometry& g);
  void conv_dgrad(TensorId dy, TensorId w, TensorId dx, const ConvGeometry& g);
  void conv_wgrad(TensorId x, TensorId dy, TensorId dw, const ConvGeometry& g);
  /// y = f(a) or f(a, b); operands of size 1 are broadcast. CUDNN_POINTWISE_BINARY_SELECT: t selects a or b.
  void pointwise(cudnnPointwiseMode_t mode, TensorId a, TensorId b, TensorId y, TensorId t = 0);
  /// dx = dy f'(x), for the ..._BWD modes; x is f's input; for ReLU it may also be its result.
  void pointwise_backward(cudnnPointwiseMode_t mode, TensorId dy, TensorId x, TensorId dx);
  /// Reduces over the dimensions in which y has size 1.
  void reduce(cudnnReduceTensorOp_t op, TensorId x, TensorId y);
  /// Per channel: sum of x, sum of x².
  void generate_stats(TensorId x, TensorId sum, TensorId square_sum);
  void bn_finalize(const BatchNormFinalize& t);
  void bn_sums(const BatchNormSums& t);
  void norm_forward(const NormForward& t);
  void norm_backward(const NormBackward& t);
  /// `index` (0: none): int8, position of the maximum in its window.
  void pool(TensorId x, TensorId y, TensorId index, const PoolGeometry& g);
  void pool_backward(TensorId dy, TensorId index, TensorId dx, const PoolGeometry& g);
  /// c = a b, for [batch, m, k] and [batch, k, n].
  void matmul(TensorId a, TensorId b, TensorId c);

  /// Returns a text of the ops, shapes, strides, types, alignments and constants, for plan files. Equal graphs have
  /// equal text, in whatever order their tensors were added.
  std::string key() const;
  /// The inputs and outputs (neither virtual nor constants) in the order they were added: CudnnPlan::run expects their addresses.
  const std::vector<TensorId>& arguments() const { return arguments_; }
  const GraphTensor& operator[](TensorId id) const { return tensors_[static_cast<size_t>(id) - 1]; }

 private:
  friend class GraphDescriptors;
  struct Tensor : GraphTensor {
    std::optional<double> value;  // of a constant
  };
  struct Operand {
    cudnnBackendAttributeName_t attribute;
    TensorId tensor;
  };
  struct Setting {
    cudnnBackendAttributeName_t attribute;
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
  };
  // An op: its tensors, its own settings, and those of a descriptor that it holds (a convolution's geometry, a pointwise mode).
  struct Op {
    const char* name;
    cudnnBackendDescriptorType_t kind;
    std::vector<Operand> operands;
    std::vector<Setting> settings;
    std::optional<cudnnBackendDescriptorType_t> part;
    cudnnBackendAttributeName_t part_attribute{};
    std::vector<Setting> part_settings;
  };
  template <class T> static Setting setting(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, const std::vector<T>& values);
  template <class T> static Setting setting(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, const T& value);
  std::vector<Setting> settings(const ConvGeometry& g) const;
  std::vector<Setting> settings(const PoolGeometry& g) const;
  Setting real(cudnnBackendAttributeName_t attribute, double value) const;
  void add(Op op);

  cudnnDataType_t compute_;
  std::vector<Tensor> tensors_;
  std::vector<TensorId> arguments_;
  std::vector<Op> ops_;
};

/// The device that plans are made for: a device of this process, or a device description.
class CudnnDevice {
 public:
  /// Returns a device of this process, by its number in the CUDA runtime.
  static CudnnDevice present(int index);
  /// Returns a device from a description in cuDNN's format (described_device.h makes it). Needs no driver.
  static CudnnDevice described(const std::string& json);
  bool is_described() const;

 private:
  friend class GraphDescriptors;
  struct State;
  std::shared_ptr<const State> state_;
};

struct Knob {
  int64_t type = 0, value = 0;
  bool operator==(const Knob&) const = default;
};

/// An implementation of a graph and its settings. Together with the key and cuDNN's version they suffice to build the same plan again.
struct Engine {
  int64_t id = 0;
  std::vector<Knob> knobs;
  bool runtime_compiled = false;  ///< NVRTC compiles it when the plan is built, 0.3 to 3.5 s
  bool deterministic = true;  ///< bitwise identical in every run
  bool tensor_cores = false;
  int64_t workspace = 0;  ///< bytes
  /// "engine 47, runtime-compiled, workspace 1500 bytes, knobs 2=1 27=3"
  std::string str() const;
  /// "engine 47 knobs 2=1 27=3": the part that rebuild_plan needs, for files.
  std::string choice() const;
  /// Parses such a text; nullopt: it is malformed.
  static std::optional<Engine> from_choice(const std::string& text);
};

struct EngineFilter {
  int64_t workspace = int64_t{256} << 20;
  bool only_deterministic = true;
  bool runtime_compilation = true;
  bool allow_tf32 = false;  ///< float operands of convolutions and products may be rounded to TF32
};

/// Returns candidates in the order of preference. cuDNN's heuristics come first (mode A, then its fallback list; in
/// each, for a single convolution or product of 16-bit operands, engines that use tensor cores first), followed by
/// every other engine with its default settings. Some candidates may fail to build. If the list is empty, `why_none`
/// gets cuDNN's reason.
std::vector<Engine> engines(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter = {}, std::string* why_none = nullptr);

/// A plan runs on any stream of its device, from any thread. It does not refer to the graph it was made from.
class CudnnPlan {
 public:
  struct State;
  explicit CudnnPlan(std::unique_ptr<State> state);
  ~CudnnPlan();
  CudnnPlan(const CudnnPlan&) = delete;
  CudnnPlan& operator=(const CudnnPlan&) = delete;

  const Engine& engine() const;
  int64_t workspace() const { return engine().workspace; }
  /// Enqueues the work on the handle's stream. `addresses`: those of the graph's arguments(), in order. `workspace`:
  /// workspace() bytes, aligned to 256, with arbitrary contents. Allocates nothing if the addresses are those of the
  /// previous run. Throws DeviceError.
  void run(cudnnHandle_t handle, std::span<void* const> addresses, void* workspace) const;

 private:
  std::unique_ptr<State> state_;
};

/// A candidate that was rejected.
struct RejectedEngine {
  Engine engine;
  std::string reason;  ///< cuDNN's text
};

struct PlanOutcome {
  std::unique_ptr<CudnnPlan> plan;  ///< null if nothing was built
  /// The plan's engine. With a device description there is no GPU to load a kernel; an engine whose kernel was
  /// generated and compiled then counts too.
  std::optional<Engine> engine;
  std::vector<RejectedEngine> rejected;  ///< before the accepted one
  std::string why_none;  ///< the rules that the graph breaks, each with the engines that report it
  bool supported() const { return engine.has_value(); }
};

/// Builds the first candidate that can be built.
PlanOutcome build_plan(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter = {});
/// Builds the plan of a remembered engine. The outcome has no engine if this cuDNN or device rejects it, or if it does
/// not pass the filter.
PlanOutcome rebuild_plan(const CudnnGraph& graph, const CudnnDevice& device, const Engine& engine, const std::optional<EngineFilter>& filter = {});
/// Builds the first `most` candidates that can be built, in order of preference, each with another engine or other
/// knobs. `all`: also tries engines that heuristics do not name and engines that NVRTC compiles. Without `all`, these
/// are tried only if no other engine can be built. If none can be built, `why_none` gets cuDNN's reason.
std::vector<std::unique_ptr<CudnnPlan>> build_plans(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter, size_t most, bool all,
                                                    std::string* why_none);

/// A handle for one stream of the current device.
class CudnnHandle {
 public:
  /// Throws DeviceError.
  explicit CudnnHandle(cudaStream_t stream);
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  cudnnHandle_t get() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace sindri::cuda
