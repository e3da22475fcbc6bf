// Transforms of values other than images, and the call of one transform on one tensor.
#include "sindri/dataset/transforms.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "dataset/transforms/vision_ops.h"
#include "sindri/core/runtime.h"
#include "sindri/dataset/dataset.h"
#include "src/core/once.h"

namespace sindri::dataset {

namespace {

template <class To, class From> To convert(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return static_cast<float>(v) != 0;
  } else if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_integral_v<From>) return static_cast<To>(v);
    else {
      // Truncates and saturates; NaN gives 0. A plain cast would be undefined out of range.
      const double x = static_cast<double>(v);
      if (std::isnan(x)) return 0;
      if (x <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      if (x >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
      return static_cast<To>(x);
    }
  } else if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>) {
    return To(static_cast<float>(v));
  } else {
    return static_cast<To>(v);
  }
}

class OneHotOp : public RowOp {
 public:
  OneHotOp(int64_t classes, double rate) : classes_(classes), rate_(rate) {
    if (classes < 1) throw ValueError(fmt::format("OneHot: num_classes must be at least 1, got {}", classes));
    if (!(rate >= 0 && rate <= 1)) throw ValueError(fmt::format("OneHot: smoothing_rate must be from 0 to 1, got {}", rate));
  }
  std::string str() const override { return fmt::format("OneHot(num_classes={}, smoothing_rate={})", classes_, rate_); }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override {
    ColumnInfo c = in[0];
    if (c.dtype_known && (!is_integral(c.dtype) || c.dtype == DType::kBool))
      throw DTypeError(fmt::format("OneHot: column '{}' is {}, expected whole numbers", c.name, dtype_name(c.dtype)));
    if (c.rank_known && c.shape.rank() > 1) throw ShapeError(fmt::format("OneHot: column '{}' has shape {}, expected [] or [N]", c.name, c.shape.str()));
    if (c.rank_known) c.shape.push_back(classes_);
    if (rate_ > 0) c.dtype = DType::kFloat32, c.dtype_known = true;
    return {c};
  }
  void run(RowCall& call) const override {
    const Value& in = call.inputs[0];
    if (!is_integral(in.dtype) || in.dtype == DType::kBool || in.shape.rank() > 1)
      throw BadSample(fmt::format("OneHot: the input is {}, expected whole numbers [] or [N]", value_str(in)));
    const DType to = rate_ > 0 ? DType::kFloat32 : in.dtype;
    Shape shape = in.shape;
    shape.push_back(classes_);
    uint8_t* out = call.output(0, to, shape);
    const int64_t n = in.shape.numel();
    const double off = rate_ / static_cast<double>(classes_), on = 1.0 - rate_ + off;
    dispatch_dtype(in.dtype, [&]<class From>() {
      const From* labels = reinterpret_cast<const From*>(in.data);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t label = static_cast<int64_t>(labels[i]);
        if (label < 0 || label >= classes_) {
          throw BadSample(ErrorCode::kLabelRange, fmt::format("OneHot: label {} is not from 0 to {}", label, classes_ - 1), "",
                          "set num_classes to the number of classes in the data");
        }
        dispatch_dtype(to, [&]<class To>() {
          To* row = reinterpret_cast<To*>(out) + i * classes_;
          for (int64_t k = 0; k < classes_; ++k) row[k] = convert<To>(k == label ? on : off);
        });
      }
    });
  }

 private:
  int64_t classes_;
  double rate_;
};

class FunctionOp : public RowOp {
 public:
  FunctionOp(std::string name, transforms::Function::Fn fn, transforms::Function::RandomFn random_fn, int outputs)
      : name_(std::move(name)), fn_(std::move(fn)), random_fn_(std::move(random_fn)), outputs_(outputs) {
    if (!fn_ && !random_fn_) throw ValueError(fmt::format("Function '{}' is empty", name_));
    if (outputs < 1) throw ValueError(fmt::format("Function '{}': num_outputs must be at least 1, got {}", name_, outputs));
  }
  std::string str() const override { return fmt::format("Function({})", name_); }
  bool random() const override { return static_cast<bool>(random_fn_); }
  bool native() const override { return false; }
  int num_inputs() const override { return 0; }
  int num_outputs() const override { return outputs_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo>) const override {
    ColumnInfo unknown;
    unknown.rank_known = unknown.dtype_known = false;
    return std::vector<ColumnInfo>(static_cast<size_t>(outputs_), unknown);
  }
  void run(RowCall& call) const override {
    std::vector<Tensor> in, out;
    for (const Value& v : call.inputs) in.push_back(Tensor::from_data(v.shape, v.dtype, v.data));
    if (random_fn_) {
      PhiloxSequence draws = call.draws();
      out = random_fn_(in, draws);
    } else {
      out = fn_(in);
    }
    if (out.size() != static_cast<size_t>(outputs_))
      throw ValueError(fmt::format("Function '{}' returned {} tensors, expected {}", name_, out.size(), outputs_), "", "give num_outputs");
    for (size_t k = 0; k < out.size(); ++k) {
      if (!out[k].defined()) throw ValueError(fmt::format("Function '{}' returned an undefined tensor as result {}", name_, k));
      const Tensor t = out[k].contiguous();
      call.scratch.tensors.push_back(t);
      call.forward(k, {static_cast<const uint8_t*>(t.raw_data()), t.dtype(), t.shape()});
    }
  }

 private:
  std::string name_;
  transforms::Function::Fn fn_;
  transforms::Function::RandomFn random_fn_;
  int outputs_;
};

class DeferredOp : public RowOp {
 public:
  explicit DeferredOp(std::string text) : text_(std::move(text)) {}
  std::string str() const override { return text_; }
  std::vector<ColumnInfo> infer(std::span<const ColumnInfo> in) const override { return {in[0]}; }
  void run(RowCall& call) const override { call.forward(0, call.inputs[0]); }

 private:
  const std::string text_;
};
}  // namespace

std::string TypeCastOp::str() const { return fmt::format("TypeCast({})", dtype_name(to)); }
std::vector<ColumnInfo> TypeCastOp::infer(std::span<const ColumnInfo> in) const {
  ColumnInfo c = in[0];
  c.dtype = to;
  c.dtype_known = true;
  return {c};
}
void TypeCastOp::run(RowCall& call) const {
  const Value& in = call.inputs[0];
  if (in.dtype == to) return call.forward(0, in);
  uint8_t* out = call.output(0, to, in.shape);
  const int64_t n = in.shape.numel();
  dispatch_dtype(in.dtype, [&]<class From>() {
    dispatch_dtype(to, [&]<class To>() {
      const From* x = reinterpret_cast<const From*>(in.data);
      To* y = reinterpret_cast<To*>(out);
      for (int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
    });
  });
}

namespace {
constinit RuntimeSlot<std::atomic<uint32_t>> draw_places;
}  // namespace

struct Transform::Calls {
  /// The index of this transform among the random transforms called directly, assigned at its first call: no two of them draw the same numbers.
  uint32_t place() {
    placed.call([this] { place_ = draw_places.get().fetch_add(1); });
    return place_;
  }
  std::atomic<int64_t> count{0};

 private:
  Once placed;
  uint32_t place_ = 0;
};

Transform::Transform(std::shared_ptr<const RowOp> op) : op_(std::move(op)), calls_(std::make_shared<Calls>()) {}
std::string Transform::str() const { return op_->str(); }

bool Transform::random() const { return op_->random(); }
std::pair<int, int> Transform::columns() const { return {op_->num_inputs(), op_->num_outputs()}; }

namespace {

// Limit for the result of one call: allocating more would fail, or leave no memory for anything else.
constexpr int64_t kMostElements = int64_t{1} << 31;

/// Results are written to tensors if their shapes are known in advance, else to scratch.
std::vector<Tensor> apply_op(const RowOp& op, const std::vector<Tensor>& inputs, const DrawKey& key) {
  const DeviceScope host(Device{});
  const size_t outputs = static_cast<size_t>(op.num_outputs());
  if (op.num_inputs() != 0 && inputs.size() != static_cast<size_t>(op.num_inputs()))
    throw ValueError(fmt::format("{} takes {} values, got {}", op.str(), op.num_inputs(), inputs.size()));
  std::vector<ColumnInfo> infos;
  std::vector<Tensor> dense;
  std::vector<Value> in, out(outputs);
  for (const Tensor& t : inputs) {
    infos.push_back({"input", t.dtype(), t.shape()});
    dense.push_back(t.contiguous());
    in.push_back({static_cast<const uint8_t*>(dense.back().raw_data()), t.dtype(), t.shape()});
  }
  const std::vector<ColumnInfo> known = op.infer(infos);
  thread_local int t_depth = 0;  // an operation may call functions that call transforms again
  thread_local Scratch t_scratch;
  std::unique_ptr<Scratch> inner;
  if (t_depth > 0) inner = std::make_unique<Scratch>();
  Scratch& scratch = inner ? *inner : t_scratch;
  struct Depth {
    int& d;
    explicit Depth(int& n) : d(++n) {}
    ~Depth() { --d; }
  } depth(t_depth);
  scratch.arena.reset();
  scratch.tensors.clear();
  std::vector<Tensor> results(outputs);
  std::vector<Slot> slots(outputs);
  for (size_t k = 0; k < outputs; ++k) {
    if (!known[k].fully_known()) continue;
    if (known[k].shape.numel() > kMostElements)
      throw ValueError(fmt::format("{} would give {} elements, {}, the limit is {}", op.str(), known[k].shape.numel(), known[k].shape.str(), kMostElements), "",
                       "ask for a smaller result");
    results[k] = Tensor::empty(known[k].shape, known[k].dtype);
    slots[k] = {static_cast<uint8_t*>(results[k].mutable_raw_data()), known[k].dtype, known[k].shape};
  }
  RowCall call(scratch, key, in, out, slots);
  op.run(call);
  for (size_t k = 0; k < outputs; ++k) {
    if (slots[k].data == nullptr) results[k] = Tensor::from_data(out[k].shape, out[k].dtype, out[k].data);
  }
  scratch.tensors.clear();
  return results;
}

}  // namespace

std::vector<Tensor> Transform::apply(const std::vector<Tensor>& inputs, uint64_t key) const { return apply_op(*op_, inputs, {key, 0, 0, 0}); }

Tensor Transform::operator()(const Tensor& input) const {
  if (op_->num_outputs() != 1) throw ValueError(fmt::format("{} has {} outputs and cannot be called on one tensor", op_->str(), op_->num_outputs()));
  DrawKey key{seed_key(get_seed()), 0, 0, 0};
  if (op_->random()) {
    key.op = calls_->place();
    key.position = calls_->count.fetch_add(1);
  }
  return apply_op(*op_, {input}, key)[0];
}

namespace transforms {
Deferred::Deferred(const Transform& transform) : Transform(std::make_shared<DeferredOp>(transform.str())) {
  if (transform.random() || transform.columns() != std::pair(1, 1))
    throw ValueError("Deferred: " + transform.str() + " is random or has several columns, so it cannot be deferred");
}
TypeCast::TypeCast(DType output_type) : Transform(std::make_shared<TypeCastOp>(output_type)) {}
OneHot::OneHot(int64_t num_classes, double smoothing_rate) : Transform(std::make_shared<OneHotOp>(num_classes, smoothing_rate)) {}
Function::Function(std::string name, Fn fn, int num_outputs) : Transform(std::make_shared<FunctionOp>(std::move(name), std::move(fn), nullptr, num_outputs)) {}
Function::Function(std::string name, RandomFn fn, int num_outputs)
    : Transform(std::make_shared<FunctionOp>(std::move(name), nullptr, std::move(fn), num_outputs)) {}
}  // namespace transforms

}  // namespace sindri::dataset
