// cuDNN for machines without a GPU: the functions that src/device/cuda/cudnn_api.h lists, over descriptors that store their attributes. A graph is computed in
// float64 (cudnn_ops.h) on the stream of the stand-in runtime. The stand-in refuses what cuDNN 9.19 refuses on sm_90, with a reason. Unsupported graphs are
// refused when the graph is finished or a plan is built. Wrong types, attributes after finalization, and missing or misaligned addresses are refused when they
// are given. Supports convolutions and the pointwise ops after them. All engines compute the same; kEngines lists how they differ.
#include <cudnn_graph.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_host/cudnn_ops.h"
#include "cuda_host/runtime.h"
#include "src/device/cuda/cudnn_api.h"
#include "src/device/cuda/libraries.h"

namespace {

using namespace sindri;
using cuda_host::DnnKind, cuda_host::DnnOp, cuda_host::DnnTensor;

struct State;
using Ref = std::shared_ptr<State>;
struct Value {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;
  std::vector<Ref> parts;
};
struct State {
  cudnnBackendDescriptorType_t kind{};
  bool finalized = false;
  std::map<int, Value> attributes;
  std::vector<DnnOp> ops;  // of a finalized graph, and of objects made from it
  int64_t workspace = 0, engine = 0;  // of an engine's configuration and plan
};

// An engine as its notes and heuristics describe it. Only number 1 has a knob, which has to be 1.
struct EngineFacts {
  int mode;  // of the heuristics that name it; -1: none
  int64_t more_workspace;
  bool nondeterministic, runtime_compiled;
};
constexpr EngineFacts kEngines[] = {{CUDNN_HEUR_MODE_A, 0, false, false},       {CUDNN_HEUR_MODE_A, 0, false, false},
                                    {CUDNN_HEUR_MODE_A, 0, true, false},        {CUDNN_HEUR_MODE_A, int64_t{300} << 20, false, false},
                                    {CUDNN_HEUR_MODE_FALLBACK, 0, false, true}, {-1, 0, false, false}};
constexpr int64_t kEngineCount = std::size(kEngines), kKnobbed = 1;
constexpr cudnnBackendKnobType_t kKnob = CUDNN_KNOB_TYPE_TILE_SIZE;
// The target of a cudnnBackendDescriptor_t: descriptors are copied by reference when they are set or read.
struct Box {
  Ref state;
};
struct Handle {
  int device;
  cudaStream_t stream = nullptr;
};

thread_local std::string t_reason;
cudnnStatus_t refuse(cudnnStatus_t status, const std::string& reason) {
  t_reason += "Reason: " + reason + "\n";
  return status;
}

size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE: return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    default: return 4;  // enumerations, float, int32
  }
}

template <class T> std::vector<T> values(const State& s, cudnnBackendAttributeName_t name) {
  const auto at = s.attributes.find(name);
  if (at == s.attributes.end()) return {};
  std::vector<T> v(static_cast<size_t>(at->second.count));
  std::memcpy(v.data(), at->second.bytes.data(), std::min(at->second.bytes.size(), v.size() * sizeof(T)));
  return v;
}
template <class T> T value(const State& s, cudnnBackendAttributeName_t name, T otherwise = {}) {
  const std::vector<T> v = values<T>(s, name);
  return v.empty() ? otherwise : v[0];
}
Ref part(const State& s, cudnnBackendAttributeName_t name) {
  const auto at = s.attributes.find(name);
  return at == s.attributes.end() || at->second.parts.empty() ? nullptr : at->second.parts[0];
}

DnnTensor tensor_of(const Ref& s) {
  if (s == nullptr) return {};
  return {value<int64_t>(*s, CUDNN_ATTR_TENSOR_UNIQUE_ID),         value<cudnnDataType_t>(*s, CUDNN_ATTR_TENSOR_DATA_TYPE),
          values<int64_t>(*s, CUDNN_ATTR_TENSOR_DIMENSIONS),       values<int64_t>(*s, CUDNN_ATTR_TENSOR_STRIDES),
          value<int64_t>(*s, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1), value<char>(*s, CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0};
}

cudnnStatus_t finalize_tensor(const State& s) {
  const DnnTensor t = tensor_of(std::make_shared<State>(s));
  if (t.id == 0) return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor without an id");
  if (t.dims.empty() || t.dims.size() != t.strides.size()) return refuse(CUDNN_STATUS_BAD_PARAM, "dimensions and strides of a tensor differ in number");
  for (const int64_t d : t.dims)
    if (d < 1) return refuse(CUDNN_STATUS_BAD_PARAM, "a dimension below 1");
  const bool power = t.alignment > 0 && (t.alignment & (t.alignment - 1)) == 0;
  return power ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM, "an alignment that is not a power of two");
}

// Whether it is an op that the stand-in knows, and which one.
bool read_op(const State& s, DnnOp* op) {
  const auto convolution = [&](DnnKind kind, cudnnBackendAttributeName_t a, cudnnBackendAttributeName_t b, cudnnBackendAttributeName_t y,
                               cudnnBackendAttributeName_t desc) {
    op->kind = kind;
    op->a = tensor_of(part(s, a)), op->b = tensor_of(part(s, b)), op->y = tensor_of(part(s, y));
    const Ref how = part(s, desc);
    if (how == nullptr) return false;
    op->pad_before = values<int64_t>(*how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), op->pad_after = values<int64_t>(*how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    op->strides = values<int64_t>(*how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), op->dilations = values<int64_t>(*how, CUDNN_ATTR_CONVOLUTION_DILATIONS);
    op->compute = value<cudnnDataType_t>(*how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
    return value<cudnnConvolutionMode_t>(*how, CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION && op->a.id != 0 && op->b.id != 0 && op->y.id != 0;
  };
  switch (s.kind) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return convolution(DnnKind::kConv, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return convolution(DnnKind::kDgrad, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return convolution(DnnKind::kWgrad, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      op->kind = DnnKind::kPointwise;
      op->a = tensor_of(part(s, CUDNN_ATTR_OPERATION_POINTWISE_XDESC)), op->b = tensor_of(part(s, CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
      op->y = tensor_of(part(s, CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
      const Ref how = part(s, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      if (how == nullptr) return false;
      op->mode = value<cudnnPointwiseMode_t>(*how, CUDNN_ATTR_POINTWISE_MODE);
      return op->a.id != 0 && op->y.id != 0;
    }
    default: return false;
  }
}

cudnnStatus_t finalize_op(const State& s) {
  DnnOp op;
  if (!read_op(s, &op)) return refuse(CUDNN_STATUS_BAD_PARAM, "an op that lacks a tensor or its settings");
  const std::string error = cuda_host::dnn_shape_error(op);
  return error.empty() ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, error);
}

// The workspace of every engine: channel counts that 8 does not divide are padded in it.
int64_t workspace_of(const std::vector<DnnOp>& ops) { return ops[0].a.dims[1] % 8 != 0 || ops[0].b.dims[1] % 8 != 0 ? 4096 : 0; }

cudnnStatus_t finalize_graph(State* s) {
  const auto at = s->attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (at == s->attributes.end()) return refuse(CUDNN_STATUS_BAD_PARAM, "a graph without ops");
  for (const Ref& r : at->second.parts) {
    DnnOp op;
    if (!read_op(*r, &op)) return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "the stand-in has no such op");
    s->ops.push_back(std::move(op));
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_from(State* s, cudnnBackendAttributeName_t source) {
  const Ref from = part(*s, source);
  if (from == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor lacks the one it is made from");
  s->ops = from->ops;
  s->engine = s->kind == CUDNN_BACKEND_ENGINE_DESCRIPTOR ? value<int64_t>(*s, CUDNN_ATTR_ENGINE_GLOBAL_INDEX) : from->engine;
  if (s->engine < 0 || s->engine >= kEngineCount) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "this engine number does not exist");
  if (s->kind == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
    const Ref knob = part(*s, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
    const bool given = knob != nullptr && value<cudnnBackendKnobType_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) == kKnob &&
        value<int64_t>(*knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE) == 1;
    if ((knob != nullptr || s->engine == kKnobbed) && (!given || s->engine != kKnobbed)) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "a knob of another engine");
  }
  if (const std::string why = cuda_host::dnn_unsupported(s->ops); !why.empty()) return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, why);
  s->workspace = workspace_of(s->ops) + kEngines[s->engine].more_workspace;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_device(const State& s) {
  const int id = value<int32_t>(s, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, -1);
  int count = 0;
  (void)cudaGetDeviceCount(&count);
  return id >= 0 && id < count ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM, "no such device");
}

State& state_of(cudnnBackendDescriptor_t d) { return *static_cast<Box*>(d)->state; }

Ref config_of(const Ref& graph, int64_t number) {
  auto engine = std::make_shared<State>(State{CUDNN_BACKEND_ENGINE_DESCRIPTOR, true, {}, graph->ops, 0, number});
  auto config = std::make_shared<State>(
      State{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true, {}, graph->ops, workspace_of(graph->ops) + kEngines[number].more_workspace, number});
  config->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {engine}};
  if (number == kKnobbed) {
    auto knob = std::make_shared<State>(State{CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, true, {}, {}});
    const auto set = [&](cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, auto v) {
      const auto* const bytes = reinterpret_cast<const char*>(&v);
      knob->attributes[name] = {type, 1, std::vector<char>(bytes, bytes + sizeof v), {}};
    };
    set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, kKnob);
    set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, int64_t{1});
    config->attributes[CUDNN_ATTR_ENGINECFG_KNOB_CHOICES] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {knob}};
  }
  return config;
}
// The engines that heuristics of a mode name, the preferred first.
std::vector<Ref> configs_of(const Ref& graph, cudnnBackendHeurMode_t mode) {
  std::vector<Ref> all;
  for (int64_t i = 0; i < kEngineCount; ++i)
    if (kEngines[i].mode == static_cast<int>(mode)) all.push_back(config_of(graph, i));
  return all;
}

void* find(const char* symbol) {
  static const std::map<std::string_view, void*> all = {
#define X(name) {"cudnn" #name, reinterpret_cast<void*>(&::cudnn##name)},
      SINDRI_CUDNN_FUNCTIONS(X)
#undef X
  };
  const auto at = all.find(symbol);
  return at == all.end() ? nullptr : at->second;
}
const bool kBrought = (cuda::load_library(cuda::Library::kCudnn, "stand-in of the host run", find), true);

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER: return "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER";
    case CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH: return "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH";
    case CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN: return "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN";
    default: return "a status of the stand-in";
  }
}
void cudnnGetLastErrorString(char* text, size_t room) {
  if (room == 0) return;
  const size_t n = std::min(room - 1, t_reason.size());
  std::memcpy(text, t_reason.data(), n);
  text[n] = 0;
  t_reason.clear();
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  int device = 0;
  (void)cudaGetDevice(&device);
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle{device});
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Box{std::make_shared<State>(State{kind, false, {}, {}})};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Box*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                                       const void* elements) {
  State& s = state_of(descriptor);
  if (s.finalized) return refuse(CUDNN_STATUS_NOT_INITIALIZED, "an attribute is set after the descriptor was finalized");
  if (count < 1 || elements == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "an attribute without values");
  Value v{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const parts = static_cast<const cudnnBackendDescriptor_t*>(elements);
    for (int64_t i = 0; i < count; ++i) {
      const Ref p = static_cast<Box*>(parts[i])->state;
      if (!p->finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "an attribute is a descriptor that is not finalized");
      v.parts.push_back(p);
    }
  } else {
    const auto* const bytes = static_cast<const char*>(elements);
    v.bytes.assign(bytes, bytes + static_cast<size_t>(count) * size_of(type));
  }
  s.attributes[name] = std::move(v);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  State& s = state_of(descriptor);
  const auto done = [&](cudnnStatus_t status) {
    s.finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
  };
  switch (s.kind) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return done(finalize_tensor(s));
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return done(finalize_op(s));
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return done(finalize_graph(&s));
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return done(finalize_from(&s, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return done(finalize_from(&s, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return done(finalize_from(&s, CUDNN_ATTR_ENGINECFG_ENGINE));
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return done(finalize_from(&s, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: return done(finalize_device(s));
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return done(CUDNN_STATUS_SUCCESS);
    default: return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "the stand-in has no such descriptor");
  }
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t, int64_t requested,
                                       int64_t* count, void* elements) {
  const State& s = state_of(descriptor);
  if (!s.finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "an attribute of a descriptor that is not finalized");
  const auto number = [&](int64_t v) {
    *count = 1;
    if (requested > 0) std::memcpy(elements, &v, sizeof v);
    return CUDNN_STATUS_SUCCESS;
  };
  const auto references = [&](const std::vector<Ref>& list) {
    *count = static_cast<int64_t>(list.size());
    for (size_t i = 0; i < list.size() && i < static_cast<size_t>(requested); ++i)
      static_cast<Box*>(static_cast<cudnnBackendDescriptor_t*>(elements)[i])->state = list[i];
    return CUDNN_STATUS_SUCCESS;
  };
  const auto note = [&](bool has, int32_t v) {
    *count = has ? 1 : 0;
    if (has && requested > 0) std::memcpy(elements, &v, sizeof v);
    return CUDNN_STATUS_SUCCESS;
  };
  const EngineFacts& engine = kEngines[s.engine];
  switch (name) {
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT: return number(kEngineCount);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX: return number(s.engine);
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: return number(s.workspace);
    case CUDNN_ATTR_ENGINECFG_ENGINE: return references({part(s, CUDNN_ATTR_ENGINECFG_ENGINE)});
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return references(configs_of(part(s, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH), value<cudnnBackendHeurMode_t>(s, CUDNN_ATTR_ENGINEHEUR_MODE)));
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: return note(engine.nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE: return note(engine.runtime_compiled, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: {
      const Ref knob = part(s, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
      return references(knob != nullptr ? std::vector<Ref>{knob} : std::vector<Ref>{});
    }
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE: return note(true, value<cudnnBackendKnobType_t>(s, name));
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: return number(value<int64_t>(s, name));
    default: return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the stand-in does not tell this attribute");
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  const Handle& h = *reinterpret_cast<Handle*>(handle);
  int device = 0;
  (void)cudaGetDevice(&device);
  if (h.device != device) return refuse(CUDNN_STATUS_BAD_PARAM, "the handle belongs to another device");
  const State &p = state_of(plan), &given = state_of(pack);
  if (!p.finalized || !given.finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "plan and pack are finalized first");
  const std::vector<int64_t> ids = values<int64_t>(given, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const std::vector<void*> pointers = values<void*>(given, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  void* const workspace = value<void*>(given, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (ids.size() != pointers.size()) return refuse(CUDNN_STATUS_BAD_PARAM, "ids and addresses differ in number");
  std::map<int64_t, void*> addresses;
  for (size_t i = 0; i < ids.size(); ++i) addresses[ids[i]] = pointers[i];
  for (const DnnOp& op : p.ops)
    for (const DnnTensor* t : {&op.a, &op.b, &op.y}) {
      if (t->id == 0 || t->is_virtual) continue;
      const auto at = addresses.find(t->id);
      if (at == addresses.end() || at->second == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a tensor has no address");
      if (reinterpret_cast<uintptr_t>(at->second) % static_cast<uintptr_t>(t->alignment) != 0)
        return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "an address is not aligned as its tensor says");
    }
  if (p.workspace > 0 && workspace == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the workspace is null");
  const auto work = [ops = p.ops, addresses, workspace, bytes = p.workspace, engine = p.engine] {
    const auto at = [](const void* address) { return cuda_host::machine().inside(address, "cudnnBackendExecute"); };
    if (bytes > 0) std::memset(at(workspace), 0xff, static_cast<size_t>(bytes));  // results must not depend on the contents of the workspace
    std::map<int64_t, void*> memory;
    for (const auto& [id, address] : addresses) memory[id] = at(address);
    cuda_host::delay_library(engine);
    cuda_host::dnn_run(ops, memory);
  };
  return cuda_host::run_library(h.stream, "cudnnBackendExecute", work) == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
