// See cudnn_graph.h: descriptors of cuDNN's backend interface, engines, plans.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "sindri/core/error.h"
#include "src/device/cuda/cudnn_api.h"
#include "src/device/cuda/cudnn_graph.h"

namespace sindri::cuda {

namespace {

// Thrown within this file: a call that cuDNN rejected, with the rule it names, if any.
struct Refused {
  cudnnStatus_t status;
  std::string rule;
  std::string text() const {
    const char* const name = cudnn_api().GetErrorString(status);
    return rule.empty() ? name : fmt::format("{} ({})", rule, name);
  }
};

// Returns cuDNN's messages since the last call, including those of calls that succeed: heuristics try every engine, and
// record why each one cannot run.
std::string take_notes() {
  std::string text(65536, 0);
  cudnn_api().GetLastErrorString(text.data(), text.size());
  text.resize(std::strlen(text.c_str()));
  return text;
}

// Returns the rule that was broken first; later lines list the functions that it passed through.
std::string first_reason(std::string_view notes) {
  static constexpr std::string_view kMark = "Reason: ";
  const size_t at = notes.find(kMark);
  std::string_view reason = notes.substr(at == notes.npos ? 0 : at + kMark.size());
  reason = reason.substr(0, reason.find('\n'));
  while (!reason.empty() && std::isspace(static_cast<unsigned char>(reason.back()))) reason.remove_suffix(1);
  return std::string(reason);
}

void check(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Refused{status, first_reason(take_notes())};
}

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t kind) { check(cudnn_api().BackendCreateDescriptor(kind, &raw_)); }
  ~Descriptor() {
    if (raw_ != nullptr) cudnn_api().BackendDestroyDescriptor(raw_);
  }
  Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  cudnnBackendDescriptor_t raw() const { return raw_; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    check(cudnn_api().BackendSetAttribute(raw_, name, type, count, values));
  }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t value) { set(name, type, 1, &value); }
  void set(cudnnBackendAttributeName_t name, const Descriptor& part) { set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part.raw_); }
  void finalize() { check(cudnn_api().BackendFinalize(raw_)); }

  int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    int64_t n = 0;
    check(cudnn_api().BackendGetAttribute(raw_, name, type, 0, &n, nullptr));
    return n;
  }
  // Gets at most `room` values; returns how many were written.
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room, void* values) const {
    int64_t n = 0;
    check(cudnn_api().BackendGetAttribute(raw_, name, type, room, &n, values));
    return std::min(n, room);
  }
  int64_t get_int(cudnnBackendAttributeName_t name) const {
    int64_t value = 0;
    get(name, CUDNN_TYPE_INT64, 1, &value);
    return value;
  }
  // Copies an attribute that is a descriptor into the caller's descriptor.
  Descriptor part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t kind) const {
    Descriptor d(kind);
    get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d.raw_);
    return d;
  }
  std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t kind, int64_t n) const {
    std::vector<Descriptor> all;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (int64_t i = 0; i < n; ++i) raw.push_back(all.emplace_back(kind).raw());
    const int64_t got = n > 0 ? get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, raw.data()) : 0;
    all.erase(all.begin() + got, all.end());
    return all;
  }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

}  // namespace

struct CudnnDevice::State {
  Descriptor properties{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
  bool described = false;
};

CudnnDevice CudnnDevice::present(int index) {
  CudnnDevice d;
  try {
    auto state = std::make_shared<State>();
    const int32_t id = index;
    state->properties.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &id);
    state->properties.finalize();
    d.state_ = std::move(state);
  } catch (const Refused& r) {
    throw DeviceError(fmt::format("cuDNN rejects device {}: {}", index, r.text()), "", "sindri doctor shows the driver, the GPUs and the libraries");
  }
  return d;
}

CudnnDevice CudnnDevice::described(const std::string& json) {
  CudnnDevice d;
  try {
    auto state = std::make_shared<State>();
    state->described = true;
    state->properties.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<int64_t>(json.size()), json.data());
    state->properties.finalize();
    d.state_ = std::move(state);
  } catch (const Refused& r) {
    throw DeviceError(fmt::format("cuDNN rejects the description of a device: {}", r.text()), json, "keys are those that device_json writes");
  }
  return d;
}

bool CudnnDevice::is_described() const { return state_->described; }

// A graph in cuDNN's form, for one device.
class GraphDescriptors {
 public:
  GraphDescriptors(const CudnnGraph& of, const CudnnDevice& on) : device(on.state_) {
    for (size_t i = 0; i < of.tensors_.size(); ++i) tensors_.push_back(tensor(of.tensors_[i], static_cast<int64_t>(i) + 1));
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const CudnnGraph::Op& o : of.ops_) raw.push_back(ops_.emplace_back(op(o)).raw());
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(raw.size()), raw.data());
    graph.finalize();
    for (const CudnnGraph::Op& o : of.ops_) {
      if (!is_product(o.kind)) continue;
      for (const CudnnGraph::Operand& p : o.operands) {
        const cudnnDataType_t type = of.tensors_[static_cast<size_t>(p.tensor) - 1].type;
        (type == CUDNN_DATA_FLOAT ? float_products : half_products) |= type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
      }
    }
    if (half_products) float_products = false;  // float results of 16-bit operands
    op_count = of.ops_.size();
    ids = of.arguments_;
    for (size_t i = 0; i < of.tensors_.size(); ++i) {
      const CudnnGraph::Tensor& t = of.tensors_[i];
      if (!t.value) continue;
      Constant c{static_cast<int64_t>(i) + 1, {}};
      const auto store = [&c](auto value) { std::memcpy(c.bytes.data(), &value, sizeof value); };
      if (t.type == CUDNN_DATA_DOUBLE) store(*t.value);
      else if (t.type == CUDNN_DATA_INT64) store(static_cast<int64_t>(*t.value));
      else if (t.type == CUDNN_DATA_FLOAT) store(static_cast<float>(*t.value));
      else throw InternalError("a constant of a cuDNN graph is float, double or int64");
      constants.push_back(c);
    }
  }

  struct Constant {
    int64_t id;
    alignas(8) std::array<char, 8> bytes;
  };
  std::shared_ptr<const CudnnDevice::State> device;
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  bool half_products = false, float_products = false;  // convolutions or matrix products with such operands
  size_t op_count = 0;
  std::vector<int64_t> ids;  // of the arguments
  std::vector<Constant> constants;

 private:
  static bool is_product(cudnnBackendDescriptorType_t kind) {
    return kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR || kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
        kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR || kind == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
  }
  static Descriptor tensor(const CudnnGraph::Tensor& t, int64_t id) {
    Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t.type);
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, static_cast<int64_t>(t.dims.size()), t.dims.data());
    d.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, static_cast<int64_t>(t.strides.size()), t.strides.data());
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, t.alignment);
    const bool is_virtual = t.role == Role::kVirtual, by_value = t.value.has_value();
    d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    if (by_value) d.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
    d.finalize();
    return d;
  }
  Descriptor op(const CudnnGraph::Op& o) {
    Descriptor d(o.kind);
    for (const CudnnGraph::Operand& p : o.operands) d.set(p.attribute, tensors_[static_cast<size_t>(p.tensor) - 1]);
    for (const CudnnGraph::Setting& s : o.settings) d.set(s.attribute, s.type, s.count, s.bytes.data());
    if (o.part) {
      Descriptor part(*o.part);
      for (const CudnnGraph::Setting& s : o.part_settings) part.set(s.attribute, s.type, s.count, s.bytes.data());
      part.finalize();
      d.set(o.part_attribute, part);
    }
    d.finalize();
    return d;
  }
  std::vector<Descriptor> tensors_, ops_;
};

struct CudnnPlan::State {
  // Addresses in cuDNN's form. A pack cannot be changed once it is finalized.
  struct Pack {
    Pack(const GraphDescriptors& g, std::span<void* const> given, void* space) : addresses(given.begin(), given.end()), workspace(space) {
      std::vector<int64_t> ids = g.ids;
      std::vector<void*> all = addresses;
      for (const GraphDescriptors::Constant& c : g.constants) {
        ids.push_back(c.id);
        all.push_back(const_cast<char*>(c.bytes.data()));  // cuDNN reads it during execution
      }
      descriptor.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, static_cast<int64_t>(ids.size()), ids.data());
      descriptor.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(all.size()), all.data());
      descriptor.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &space);
      descriptor.finalize();
    }
    std::vector<void*> addresses;
    void* workspace;
    Descriptor descriptor{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  };

  Engine engine;
  Descriptor plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  std::shared_ptr<const GraphDescriptors> graph;
  std::mutex mutex;
  std::shared_ptr<const Pack> last;  // shared: another thread may replace it while this one executes
};

namespace {

// A choice of engine and knobs, from the heuristics or built from an Engine.
struct Candidate {
  Engine engine;
  Descriptor config;
  bool from_enumeration = false;  // heuristics do not name it
};

void read_notes(const Descriptor& engine, Engine* e) {
  e->id = engine.get_int(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> numerical{};
  const int64_t n = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, numerical.size(), numerical.data());
  for (int64_t i = 0; i < n; ++i) {
    if (numerical[static_cast<size_t>(i)] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) e->deterministic = false;
    if (numerical[static_cast<size_t>(i)] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE) e->tensor_cores = true;
  }
  std::array<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT> behavior{};
  const int64_t m = engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, behavior.size(), behavior.data());
  for (int64_t i = 0; i < m; ++i)
    if (behavior[static_cast<size_t>(i)] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) e->runtime_compiled = true;
}

Candidate from_heuristics(Descriptor config) {
  Candidate c{{}, std::move(config)};
  read_notes(c.config.part(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR), &c.engine);
  for (const Descriptor& knob : c.config.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    cudnnBackendKnobType_t type{};
    knob.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    c.engine.knobs.push_back({type, knob.get_int(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)});
  }
  return c;
}

// Makes the candidate of engine `id` with `knobs` or, if there are none, with cuDNN's defaults.
Candidate from_id(const GraphDescriptors& g, int64_t id, const std::vector<Knob>& knobs) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g.graph);
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, id);
  engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, g.device->properties);
  engine.finalize();
  Candidate c{{}, Descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
  read_notes(engine, &c.engine);
  c.engine.knobs = knobs;
  c.config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  std::vector<Descriptor> choices;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const Knob& k : knobs) {
    Descriptor& choice = choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    const auto type = static_cast<cudnnBackendKnobType_t>(k.type);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, k.value);
    choice.finalize();
    raw.push_back(choice.raw());
  }
  if (!raw.empty()) c.config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(raw.size()), raw.data());
  c.config.finalize();
  return c;
}

// Returns whether the filter accepts the engine. The workspace is read from the configuration: it is known before a plan is built, and equals the plan's.
bool passes(const Engine& e, const GraphDescriptors& g, const EngineFilter& filter, std::string* reason) {
  if (filter.only_deterministic && !e.deterministic) *reason = "its results differ from run to run, and deterministic results are required";
  else if (!filter.runtime_compilation && e.runtime_compiled) *reason = "it is compiled at run time, which is disabled";
  else if (g.float_products && e.tensor_cores && !filter.allow_tf32) *reason = "it rounds float operands to TF32, which is not allowed";
  else if (e.workspace > filter.workspace) *reason = fmt::format("it needs {} bytes of workspace, {} are allowed", e.workspace, filter.workspace);
  else return true;
  return false;
}

std::vector<Descriptor> ask_heuristics(const GraphDescriptors& g, cudnnBackendHeurMode_t mode) {
  Descriptor h(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  h.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g.graph);
  h.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  h.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, g.device->properties);
  h.finalize();
  return h.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, h.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR));
}

// Extracts the broken rules by engine from the messages: a line {"engineId":9,…}, then the rule.
std::map<int64_t, std::string> rules_by_engine(std::string_view notes) {
  static constexpr std::string_view kMark = "{\"engineId\":";
  std::map<int64_t, std::string> rules;
  for (size_t at = notes.find(kMark); at != notes.npos;) {
    const size_t next = notes.find(kMark, at + 1);
    const std::string_view part = notes.substr(at, next - at);
    const int64_t id = std::strtoll(part.data() + kMark.size(), nullptr, 10);
    if (id >= 0 && part.find("Reason: ") != part.npos) rules.emplace(id, first_reason(part));
    at = next;
  }
  return rules;
}

// Visits the candidates in order of preference until `take` returns true. `rejected` gets those that fail before they become candidates.
template <class Take> void each_candidate(const GraphDescriptors& g, const EngineFilter& filter, std::vector<RejectedEngine>* rejected, Take&& take) {
  std::vector<int64_t> seen;
  const auto offer = [&](Candidate c) {
    std::string reason;
    try {
      c.engine.workspace = c.config.get_int(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
      if (passes(c.engine, g, filter, &reason)) return take(c);
    } catch (const Refused& r) { reason = r.text(); }
    rejected->push_back({c.engine, reason});
    return false;
  };
  take_notes();
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    std::vector<Descriptor> configs;
    try {
      configs = ask_heuristics(g, mode);
    } catch (const Refused&) {
      continue;  // the engines below report the reason more precisely
    }
    std::vector<Candidate> candidates;
    for (Descriptor& config : configs) candidates.push_back(from_heuristics(std::move(config)));
    // For a 1x1 convolution of stride 2 the heuristics of 9.19 start with engines that copy both tensors into another
    // layout (154 MB of workspace at batch 256). Not all engines of fused graphs have the note about tensor cores.
    if (g.half_products && g.op_count == 1)
      std::stable_partition(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.engine.tensor_cores; });
    for (Candidate& c : candidates) {
      seen.push_back(c.engine.id);
      if (offer(std::move(c))) return;
    }
  }
  // Heuristics do not know every engine of a fused pattern. Rules they have already reported are not reported again.
  const std::map<int64_t, std::string> rules = rules_by_engine(take_notes());
  const int64_t count = g.graph.get_int(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (int64_t id = 0; id < count; ++id) {
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    try {
      Candidate c = from_id(g, id, {});
      c.from_enumeration = true;
      if (offer(std::move(c))) return;
    } catch (const Refused& r) {
      const auto known = rules.find(id);
      Engine e;
      e.id = id;
      rejected->push_back({std::move(e), r.rule.empty() && known != rules.end() ? known->second : r.text()});
    }
  }
}

// "tensor type is not fp16 (engines 0, 3); unsupported node in the graph (engine 2)"
std::string all_reasons(const std::vector<RejectedEngine>& rejected) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> by_reason;
  for (const RejectedEngine& r : rejected) {
    auto at = std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& known) { return known.first == r.reason; });
    if (at == by_reason.end()) at = by_reason.insert(at, {r.reason, {}});
    if (std::find(at->second.begin(), at->second.end(), r.engine.id) == at->second.end()) at->second.push_back(r.engine.id);
  }
  std::string text;
  for (const auto& [reason, ids] : by_reason)
    text += fmt::format("{}{} (engine{} {})", text.empty() ? "" : "; ", reason, ids.size() > 1 ? "s" : "", fmt::join(ids, ", "));
  return text.empty() ? "cuDNN has no engine for this graph" : text;
}

// For a device description: if the engine was compiled and only loading its module failed, everything that needs no GPU has succeeded.
bool only_lacks_device(const GraphDescriptors& g, const Engine& e, const Refused& r) {
  return g.device->described && e.runtime_compiled && r.status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
}

// Returns true if the search is over.
bool try_candidate(const std::shared_ptr<const GraphDescriptors>& g, const Candidate& c, PlanOutcome* out) {
  auto state = std::make_unique<CudnnPlan::State>();
  try {
    state->plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, c.config);
    state->plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, g->device->properties);
    state->plan.finalize();
  } catch (const Refused& r) {
    if (only_lacks_device(*g, c.engine, r)) {
      out->engine = c.engine;
      return true;
    }
    out->rejected.push_back({c.engine, r.text()});
    return false;
  }
  state->engine = c.engine;
  state->engine.workspace = state->plan.get_int(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  state->graph = g;
  out->engine = state->engine;
  out->plan = std::make_unique<CudnnPlan>(std::move(state));
  return true;
}

}  // namespace

std::string Engine::str() const {
  std::string text =
      fmt::format("engine {}{}{}, workspace {} bytes", id, runtime_compiled ? ", runtime-compiled" : "", deterministic ? "" : ", not deterministic", workspace);
  for (size_t i = 0; i < knobs.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? ", knobs " : " ", knobs[i].type, knobs[i].value);
  return text;
}

std::string Engine::choice() const {
  std::string text = fmt::format("engine {}", id);
  for (size_t i = 0; i < knobs.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? " knobs " : " ", knobs[i].type, knobs[i].value);
  return text;
}

std::optional<Engine> Engine::from_choice(const std::string& text) {
  Engine e;
  const char *at = text.data(), *const end = at + text.size();
  const auto skip = [&](std::string_view word) {
    if (std::string_view(at, static_cast<size_t>(end - at)).substr(0, word.size()) != word) return false;
    at += word.size();
    return true;
  };
  const auto number = [&](int64_t* to) {
    const auto [next, error] = std::from_chars(at, end, *to);
    at = next;
    return error == std::errc();
  };
  if (!skip("engine ") || !number(&e.id)) return std::nullopt;
  for (bool first = true; at != end; first = false) {
    Knob k;
    if (!skip(first ? " knobs " : " ") || !number(&k.type) || !skip("=") || !number(&k.value)) return std::nullopt;
    e.knobs.push_back(k);
  }
  return e;
}

std::vector<Engine> engines(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter, std::string* why_none) {
  std::vector<Engine> all;
  std::vector<RejectedEngine> rejected;
  try {
    each_candidate(GraphDescriptors(graph, device), filter, &rejected, [&](const Candidate& c) {
      all.push_back(c.engine);
      return false;
    });
    if (all.empty() && why_none != nullptr) *why_none = all_reasons(rejected);
  } catch (const Refused& r) {
    if (why_none != nullptr) *why_none = r.text();
  }
  return all;
}

PlanOutcome build_plan(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter) {
  PlanOutcome out;
  try {
    const auto g = std::make_shared<const GraphDescriptors>(graph, device);
    each_candidate(*g, filter, &out.rejected, [&](const Candidate& c) { return try_candidate(g, c, &out); });
    if (!out.supported()) out.why_none = all_reasons(out.rejected);
  } catch (const Refused& r) { out.why_none = r.text(); }
  return out;
}

PlanOutcome rebuild_plan(const CudnnGraph& graph, const CudnnDevice& device, const Engine& engine, const std::optional<EngineFilter>& filter) {
  PlanOutcome out;
  try {
    const auto g = std::make_shared<const GraphDescriptors>(graph, device);
    Candidate c = from_id(*g, engine.id, engine.knobs);
    c.engine.workspace = c.config.get_int(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    std::string reason;
    if (filter && !passes(c.engine, *g, *filter, &reason)) out.why_none = fmt::format("engine {}: {}", engine.id, reason);
    else if (!try_candidate(g, c, &out)) out.why_none = fmt::format("engine {}: {}", engine.id, out.rejected.back().reason);
  } catch (const Refused& r) { out.why_none = fmt::format("engine {}: {}", engine.id, r.text()); }
  return out;
}

std::vector<std::unique_ptr<CudnnPlan>> build_plans(const CudnnGraph& graph, const CudnnDevice& device, const EngineFilter& filter, size_t most, bool all,
                                                    std::string* why_none) {
  std::vector<std::unique_ptr<CudnnPlan>> plans;
  std::vector<std::string> seen;
  std::vector<RejectedEngine> rejected;
  try {
    const auto g = std::make_shared<const GraphDescriptors>(graph, device);
    each_candidate(*g, filter, &rejected, [&](const Candidate& c) {
      const bool named = !c.from_enumeration;
      if (!all && !plans.empty() && !named) return true;
      if (!all && !plans.empty() && c.engine.runtime_compiled) return false;
      std::string choice = c.engine.choice();
      if (std::find(seen.begin(), seen.end(), choice) != seen.end()) return false;
      seen.push_back(std::move(choice));
      PlanOutcome one;
      if (!try_candidate(g, c, &one)) rejected.insert(rejected.end(), one.rejected.begin(), one.rejected.end());
      else if (one.plan != nullptr) plans.push_back(std::move(one.plan));
      return plans.size() == most;
    });
    if (plans.empty()) *why_none = all_reasons(rejected);
  } catch (const Refused& r) { *why_none = r.text(); }
  return plans;
}

CudnnPlan::CudnnPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
CudnnPlan::~CudnnPlan() = default;
const Engine& CudnnPlan::engine() const { return state_->engine; }

void CudnnPlan::run(cudnnHandle_t handle, std::span<void* const> addresses, void* workspace) const {
  const GraphDescriptors& g = *state_->graph;
  if (addresses.size() != g.ids.size()) throw InternalError(fmt::format("a cuDNN plan needs {} addresses, got {}", g.ids.size(), addresses.size()));
  const char* doing = "use the addresses for";
  try {
    std::shared_ptr<const State::Pack> pack;
    {
      const std::lock_guard lock(state_->mutex);
      pack = state_->last;
    }
    if (pack == nullptr || !std::equal(addresses.begin(), addresses.end(), pack->addresses.begin()) || pack->workspace != workspace) {
      pack = std::make_shared<const State::Pack>(g, addresses, workspace);
      const std::lock_guard lock(state_->mutex);
      state_->last = pack;
    }
    doing = "run";
    check(cudnn_api().BackendExecute(handle, state_->plan.raw(), pack->descriptor.raw()));
  } catch (const Refused& r) { throw DeviceError(fmt::format("cuDNN cannot {} {}: {}", doing, state_->engine.str(), r.text())); }
}

CudnnHandle::CudnnHandle(cudaStream_t stream) {
  try {
    check(cudnn_api().Create(&handle_));
    check(cudnn_api().SetStream(handle_, stream));
  } catch (const Refused& r) {
    if (handle_ != nullptr) cudnn_api().Destroy(handle_);
    throw DeviceError(fmt::format("cuDNN cannot be initialised on this device: {}", r.text()), "",
                      "sindri doctor shows the driver, the GPUs and the libraries");
  }
}
CudnnHandle::~CudnnHandle() { cudnn_api().Destroy(handle_); }

}  // namespace sindri::cuda
