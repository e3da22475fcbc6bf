// Names and checks of the options, and the scopes that install the casting interpreter on a thread's stack.
#include "sindri/amp/amp.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "sindri/amp/policy.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/core/runtime.h"
#include "src/amp/amp_trace.h"

namespace sindri::amp {

namespace {

// One interpreter per stack: inner scopes change its policy, so that an inner choice replaces the outer one.
thread_local AmpTrace* t_trace = nullptr;

// The interpreter of a scope: the existing one with another policy, or a new one.
class Installed {
 public:
  Installed(const Policy& policy, const Options* level) {
    if (t_trace != nullptr) {
      previous_ = t_trace->policy;
      previous_level_ = t_trace->level;
    } else {
      own_ = std::make_unique<AmpTrace>();
      pushed_ = std::make_unique<TraceScope>(*own_);
      t_trace = own_.get();
    }
    t_trace->policy = policy;
    t_trace->level = level;
  }
  ~Installed() {
    t_trace->policy = previous_;
    t_trace->level = previous_level_;
    if (own_ != nullptr) t_trace = nullptr;
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;

 private:
  std::unique_ptr<AmpTrace> own_;
  std::unique_ptr<TraceScope> pushed_;
  Policy previous_;
  const Options* previous_level_ = nullptr;
};

void check_name(const char* list, const std::string& name, const std::vector<std::string>& cell_classes) {
  if (contains(cell_classes, name)) return;
  for (const NamedPolicy& p : policies())  // a custom list may start from theirs, whether or not the network contains these Cells
    if (contains(p.half_cells, name) || contains(p.float_cells, name)) return;
  std::vector<std::string> known = cell_classes;
  for (const OpDef* op : all_ops()) {
    if (op->name == name) return;
    known.emplace_back(op->name);
  }
  throw ValueError(fmt::format("mixed precision: {} names '{}', which is neither an op nor a class of Cell in this network", list, name), "",
                   did_you_mean(name, known));
}

}  // namespace

const char* level_name(Level level) {
  static constexpr const char* kNames[] = {"O0", "O1", "O2", "O3"};
  return kNames[static_cast<size_t>(level)];
}

Level parse_level(const std::string& text) {
  const NamedPolicy& policy = find_policy(text, Casts::kOps);
  if (policy.casts == Casts::kCells)
    throw ValueError(fmt::format("the amp level {} marks Cells, which a Level cannot express", policy.name), "", "use find_policy(name, …).options(half)");
  return policy.level;
}

DType parse_half(const std::string& text) {
  if (text == "bf16" || text == "bfloat16") return DType::kBFloat16;
  if (text == "f16" || text == "float16") return DType::kFloat16;
  throw ValueError(fmt::format("amp_dtype '{}' is not known", text), "", "use bf16 or f16");
}

void check(const Options& o, const std::vector<std::string>& cell_classes) {
  if (!is_half(o.dtype)) throw DTypeError(fmt::format("mixed precision: the half type must be bfloat16 or float16, got {}", dtype_name(o.dtype)));
  if (o.level <= Level::kO1 && !o.keeps_batchnorm())
    throw ValueError(fmt::format("mixed precision: keep_batchnorm_fp32=false has no meaning at level {}", level_name(o.level)), "",
                     "omit it, or use level O2 or O3");
  if (o.level == Level::kO0 && !o.black_list.empty())
    throw ValueError("mixed precision: a black list has no meaning at level O0, where nothing is cast", "", "use level O1, O2 or O3");
  for (const std::string& name : o.white_list) {
    check_name("white_list", name, cell_classes);
    if (contains(o.black_list, name)) throw ValueError(fmt::format("mixed precision: '{}' is in white_list and in black_list", name));
  }
  for (const std::string& name : o.black_list) check_name("black_list", name, cell_classes);
}

namespace {

// Returns the policy for ops in no Cell that the options name.
Policy policy_of(const Options& o) {
  if (!o.active()) return {};
  if (!o.by_cells) return {.kind = Policy::Kind::kLevel, .options = &o};
  return o.level <= Level::kO1 ? Policy{.kind = Policy::Kind::kMarked} : Policy{.kind = Policy::Kind::kUniform, .dtype = o.dtype};
}

}  // namespace

struct AmpScope::State {
  explicit State(const Options& o) : options(o), installed(policy_of(options), o.active() ? &options : nullptr) {}
  Options options;
  Installed installed;
};
AmpScope::AmpScope(const Options& options) {
  if (options.active() || t_trace != nullptr) state_ = std::make_unique<State>(options);
}
AmpScope::~AmpScope() = default;

struct FullPrecisionScope::State {
  Installed installed{{}, t_trace->level};
};
FullPrecisionScope::FullPrecisionScope() {
  if (t_trace != nullptr) state_ = std::make_unique<State>();
}
FullPrecisionScope::~FullPrecisionScope() = default;

struct CellScope::State {
  explicit State(const Policy& policy, std::optional<DType> gives = {}) : installed(policy, t_trace != nullptr ? t_trace->level : nullptr), output(gives) {}
  Installed installed;
  std::optional<DType> output;
};
CellScope::CellScope(const std::string& cell_class, std::optional<DType> to_float) {
  const auto in_type = [](DType dtype) { return Policy{.kind = Policy::Kind::kUniform, .dtype = dtype}; };
  if (to_float.has_value()) {
    state_ = std::make_unique<State>(in_type(*to_float));
    return;
  }
  if (t_trace == nullptr || t_trace->level == nullptr || t_trace->policy.kind == Policy::Kind::kOff) return;
  const Options& o = *t_trace->level;
  const bool black = contains(o.black_list, cell_class), white = !black && contains(o.white_list, cell_class);
  if (!black && !white) return;
  Policy policy = in_type(black ? DType::kFloat32 : o.dtype);
  if (!o.by_cells) {
    state_ = std::make_unique<State>(policy);
    return;
  }
  if (t_trace->policy.listed) return;
  policy.listed = true;
  if (black && cell_class.starts_with("BatchNorm")) {  // the op itself computes in float32 between half activations
    policy.dtype = o.dtype;
    policy.mixed = true;
    state_ = std::make_unique<State>(policy);
  } else {
    state_ = std::make_unique<State>(policy, black ? o.dtype : DType::kFloat32);
  }
}
std::optional<DType> CellScope::output() const { return state_ != nullptr ? state_->output : std::nullopt; }
CellScope::~CellScope() = default;

namespace {

// A policy with its own copy of the options, as the original may be destroyed.
struct Captured {
  Policy policy;
  std::optional<Options> options, level;
};
struct Restored {
  explicit Restored(const Captured& c) : captured(c), installed(with_own_options(&captured), captured.level.has_value() ? &*captured.level : nullptr) {}
  static Policy with_own_options(Captured* c) {
    if (c->options.has_value()) c->policy.options = &*c->options;
    return c->policy;
  }
  Captured captured;
  Installed installed;
};

}  // namespace

std::function<std::shared_ptr<void>()> capture() {
  if (t_trace == nullptr) return [] { return std::make_shared<FullPrecisionScope>(); };
  Captured c{t_trace->policy, {}, {}};
  if (c.policy.options != nullptr) c.options = *c.policy.options;
  if (t_trace->level != nullptr) c.level = *t_trace->level;
  return [c] { return std::make_shared<Restored>(c); };
}

bool is_casting() { return t_trace != nullptr && t_trace->policy.kind != Policy::Kind::kOff; }

namespace {
struct CastsHold {
  std::atomic<bool> on{true};
};
constinit RuntimeSlot<CastsHold> casts_hold;
}  // namespace

void set_casts_hold(bool on) { casts_hold.get().on = on; }

void hold_type(const Tensor& t) {
  if (t_trace != nullptr && casts_hold.get().on && is_floating(t.dtype()) && t.dtype() != DType::kFloat64) t_trace->hold(t);
}

Tensor cast_floating(const Tensor& t, DType dtype) {
  if (!is_floating(t.dtype()) || t.dtype() == DType::kFloat64 || t.dtype() == dtype) return t;
  static const OpDef& op = op_of(OpRole::kCast);
  return bind_one(op, op.attrs.make({{"dtype", dtype}}), {t});
}

}  // namespace sindri::amp
