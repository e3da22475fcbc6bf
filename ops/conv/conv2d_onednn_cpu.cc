// conv2d and its gradients by oneDNN. Activations stay channels-last; the weight format is the library's choice, so weights are
// reordered from (or, for their gradient, to) OIHW in the workspace of each call. The reorder moves a few percent of what the
// convolution moves; what it buys is the fast implementation.
//
// "onednn" lets the library split the work over threads, which changes the order of sums with their number. "onednn_strict", used
// in strict mode, cuts the batch into pieces that depend on the shape alone; each piece is computed by a primitive made for one
// thread, and partial weight gradients are added in the order of the pieces.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;
using dnnl::memory;

// Descriptors of one convolution over `batch` images. Grouped weights are the same OIHW memory seen as [G, O/G, C/G, KH, KW].
struct Descriptors {
  memory::desc x, y, weight_any, weight_plain, forward_weight;
  memory::dims stride, dilation, pad_before, pad_after;

  Descriptors(const ConvGeometry& g, int64_t batch, DType activations, DType weights)
      : x(onednn::descriptor({{batch, g.c, g.h, g.w}, activations, Layout::kChannelsLast, {}})),
        y(onednn::descriptor({{batch, g.o, g.oh, g.ow}, activations, Layout::kChannelsLast, {}})),
        stride{g.stride_h, g.stride_w},
        dilation{g.dilation_h - 1, g.dilation_w - 1},
        pad_before{g.pad_top, g.pad_left},
        pad_after{g.pad_bottom, g.pad_right} {
    memory::dims w{g.o, g.c_per_group(), g.kh, g.kw};
    if (g.groups > 1) w = {g.groups, g.o_per_group(), g.c_per_group(), g.kh, g.kw};
    forward_weight = {w, onednn::data_type(activations), memory::format_tag::any};
    weight_any = {w, onednn::data_type(weights), memory::format_tag::any};
    weight_plain = {w, onednn::data_type(weights), g.groups > 1 ? memory::format_tag::goihw : memory::format_tag::oihw};
  }
};

// A primitive for a fixed number of images.
struct Part {
  dnnl::primitive primitive;
  dnnl::reorder reorder;          // of the weight, or back for its gradient; empty when the library works on OIHW
  memory::desc weight, weight_plain, x, y, scratchpad;
  bool packed() const { return weight != weight_plain; }
};

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

template <class PrimitiveDesc> void finish_part(const PrimitiveDesc& pd, const memory::desc& weight, const Descriptors& d, bool weight_is_output, Part* part) {
  part->x = d.x, part->y = d.y;
  part->weight = weight;
  part->weight_plain = d.weight_plain;
  part->scratchpad = pd.scratchpad_desc();
  if (!part->packed()) return;
  const memory::desc &from = weight_is_output ? weight : d.weight_plain, &to = weight_is_output ? d.weight_plain : weight;
  part->reorder = dnnl::reorder(dnnl::reorder::primitive_desc(onednn::engine(), from, onednn::engine(), to, user_scratchpad()));
}

// Empty, and *part filled when given; or why oneDNN cannot.
std::string make_part(Direction direction, const Descriptors& d, Part* part) {
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = onednn::engine();
  std::string why;
  // The hint of the backward descriptors; it need not have an optimised implementation itself.
  const auto forward = [&] {
    return dnnl::convolution_forward::primitive_desc({dnnl::prop_kind::forward_training, algorithm, d.x, d.forward_weight, d.y, d.stride, d.dilation, d.pad_before, d.pad_after},
                                                     user_scratchpad(), engine);
  };
  if (direction == Direction::kForward) {
    dnnl::convolution_forward::primitive_desc pd;
    if (!onednn::try_make(forward, &pd, &why)) return why;
    if (part == nullptr) return "";
    part->primitive = dnnl::convolution_forward(pd);
    finish_part(pd, pd.weights_desc(), d, false, part);
  } else if (direction == Direction::kInputGrad) {
    dnnl::convolution_backward_data::primitive_desc pd;
    const auto make = [&] {
      return dnnl::convolution_backward_data::primitive_desc({algorithm, d.x, d.weight_any, d.y, d.stride, d.dilation, d.pad_before, d.pad_after}, user_scratchpad(), engine, forward());
    };
    if (!onednn::try_make(make, &pd, &why)) return why;
    if (part == nullptr) return "";
    part->primitive = dnnl::convolution_backward_data(pd);
    finish_part(pd, pd.weights_desc(), d, false, part);
  } else {
    dnnl::convolution_backward_weights::primitive_desc pd;
    const auto make = [&] {
      return dnnl::convolution_backward_weights::primitive_desc({algorithm, d.x, d.weight_any, d.y, d.stride, d.dilation, d.pad_before, d.pad_after}, user_scratchpad(), engine, forward());
    };
    if (!onednn::try_make(make, &pd, &why)) return why;
    if (part == nullptr) return "";
    part->primitive = dnnl::convolution_backward_weights(pd);
    finish_part(pd, pd.diff_weights_desc(), d, true, part);
  }
  return "";
}

int64_t bytes(const memory::desc& d) { return static_cast<int64_t>(d.get_size()); }

void run_reorder(const Part& part, const memory::desc& from, const void* src, const memory::desc& to, void* dst) {
  onednn::execute(part.reorder, {{DNNL_ARG_FROM, &from, src}, {DNNL_ARG_TO, &to, dst}});
}

void run_part(Direction direction, const Part& p, const void* x, const void* weight, const void* y, void* scratchpad) {
  switch (direction) {
    case Direction::kForward:
      return onednn::execute(p.primitive, {{DNNL_ARG_SRC, &p.x, x}, {DNNL_ARG_WEIGHTS, &p.weight, weight}, {DNNL_ARG_DST, &p.y, y}, {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
    case Direction::kInputGrad:
      return onednn::execute(p.primitive, {{DNNL_ARG_DIFF_DST, &p.y, y}, {DNNL_ARG_WEIGHTS, &p.weight, weight}, {DNNL_ARG_DIFF_SRC, &p.x, x}, {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
    case Direction::kWeightGrad:
      return onednn::execute(p.primitive, {{DNNL_ARG_SRC, &p.x, x}, {DNNL_ARG_DIFF_DST, &p.y, y}, {DNNL_ARG_DIFF_WEIGHTS, &p.weight, weight}, {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
  }
}

// The three operands of a query by their role, whatever the direction.
struct Operands { char *x, *weight, *y; };
Operands operands(Direction direction, Span<const Buffer> in, Span<const Buffer> out) {
  const auto p = [](const Buffer& b) { return static_cast<char*>(b.data); };
  switch (direction) {
    case Direction::kForward: return {p(in[0]), p(in[1]), p(out[0])};
    case Direction::kInputGrad: return {p(out[0]), p(in[1]), p(in[0])};
    default: return {p(in[1]), p(out[0]), p(in[0])};
  }
}

class OneDnnConv final : public Kernel {
 public:
  explicit OneDnnConv(const KernelQuery& q) : direction_(conv::direction_of(q)), threads_(num_threads()) {
    const onednn::ThreadScope threads(threads_);
    const ConvGeometry g = conv::geometry_of(q);
    const std::string why = make_part(direction_, Descriptors(g, g.n, q.in[0].dtype, q.in[0].dtype), &part_);
    if (!why.empty()) throw InternalError("conv2d: " + why);
    WorkspaceLayout layout;
    scratchpad_at_ = layout.add(bytes(part_.scratchpad));
    if (part_.packed()) weight_at_ = layout.add(bytes(part_.weight));
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const onednn::ThreadScope threads(threads_);
    const Operands o = operands(direction_, in, out);
    void* weight = part_.packed() ? workspace_at(ctx.workspace, weight_at_) : o.weight;
    if (part_.packed() && direction_ != Direction::kWeightGrad) run_reorder(part_, part_.weight_plain, o.weight, part_.weight, weight);
    run_part(direction_, part_, o.x, weight, o.y, workspace_at(ctx.workspace, scratchpad_at_));
    if (part_.packed() && direction_ == Direction::kWeightGrad) run_reorder(part_, part_.weight, weight, part_.weight_plain, o.weight);
  }

 private:
  Direction direction_;
  int threads_;
  Part part_;
  int64_t scratchpad_at_ = 0, weight_at_ = 0, workspace_ = 0;
};

// At most this many pieces: enough for the cores of a CPU socket to share, few enough that partial weight gradients stay small.
constexpr int64_t kMaxPieces = 16;

struct Pieces {
  int64_t count, images, last;   // pieces, images of each, images of the last one
  explicit Pieces(int64_t batch) : images(fixed_chunks(batch, kMaxPieces)) {
    count = fixed_chunks(batch, images);
    last = batch - images * (count - 1);
  }
};

// Partial weight gradients are kept in float32, so that adding them rounds once.
Descriptors strict_descriptors(const KernelQuery& q, int64_t images) {
  const DType dtype = q.in[0].dtype;
  return {conv::geometry_of(q), images, dtype, conv::direction_of(q) == Direction::kWeightGrad ? DType::kFloat32 : dtype};
}

class StrictOneDnnConv final : public Kernel {
 public:
  explicit StrictOneDnnConv(const KernelQuery& q) : direction_(conv::direction_of(q)), dtype_(q.in[0].dtype), geometry_(conv::geometry_of(q)), pieces_(geometry_.n) {
    const onednn::ThreadScope one_thread(1);
    make(q, pieces_.images);
    if (pieces_.last != pieces_.images) make(q, pieces_.last);
    WorkspaceLayout layout;
    int64_t scratchpad = 0, packed = 0;
    for (const Part& p : parts_) {
      scratchpad = std::max(scratchpad, bytes(p.scratchpad));
      packed = std::max(packed, p.packed() ? bytes(p.weight) : 0);
    }
    for (int64_t i = 0; i < pieces_.count; ++i) scratchpad_at_.push_back(layout.add(scratchpad));
    if (direction_ == Direction::kWeightGrad) {
      for (int64_t i = 0; i < pieces_.count; ++i) packed_at_.push_back(layout.add(packed));
      for (int64_t i = 0; i < pieces_.count; ++i) partial_at_.push_back(layout.add(geometry_.weight_numel() * static_cast<int64_t>(sizeof(float))));
    } else {
      for (size_t i = 0; i < parts_.size(); ++i) packed_at_.push_back(layout.add(packed));
    }
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const Operands o = operands(direction_, in, out);
    if (direction_ == Direction::kWeightGrad) return run_weight_grad(ctx.workspace, o);
    {
      const onednn::ThreadScope one_thread(1);
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].packed()) run_reorder(parts_[i], parts_[i].weight_plain, o.weight, parts_[i].weight, workspace_at(ctx.workspace, packed_at_[i]));
      }
    }
    parallel_tasks(pieces_.count, [&](int64_t i) {
      const onednn::ThreadScope one_thread(1);
      const Part& p = part(i);
      const void* weight = p.packed() ? workspace_at(ctx.workspace, packed_at_[static_cast<size_t>(&p - parts_.data())]) : o.weight;
      run_part(direction_, p, o.x + i * x_bytes(), weight, o.y + i * y_bytes(), workspace_at(ctx.workspace, scratchpad_at_[static_cast<size_t>(i)]));
    });
  }

 private:
  void make(const KernelQuery& q, int64_t images) {
    const std::string why = make_part(direction_, strict_descriptors(q, images), &parts_.emplace_back());
    if (!why.empty()) throw InternalError("conv2d: " + why);
  }
  const Part& part(int64_t piece) const { return piece == pieces_.count - 1 ? parts_.back() : parts_.front(); }
  int64_t x_bytes() const { return pieces_.images * geometry_.c * geometry_.h * geometry_.w * static_cast<int64_t>(dtype_size(dtype_)); }
  int64_t y_bytes() const { return pieces_.images * geometry_.o * geometry_.oh * geometry_.ow * static_cast<int64_t>(dtype_size(dtype_)); }

  void run_weight_grad(void* workspace, const Operands& o) {
    parallel_tasks(pieces_.count, [&](int64_t i) {
      const onednn::ThreadScope one_thread(1);
      const Part& p = part(i);
      const auto at = static_cast<size_t>(i);
      void* partial = workspace_at(workspace, partial_at_[at]);
      void* weight = p.packed() ? workspace_at(workspace, packed_at_[at]) : partial;
      run_part(direction_, p, o.x + i * x_bytes(), weight, o.y + i * y_bytes(), workspace_at(workspace, scratchpad_at_[at]));
      if (p.packed()) run_reorder(p, p.weight, weight, p.weight_plain, partial);
    });
    const auto sum = [&]<class T>(T* dw) {
      parallel_for(geometry_.weight_numel(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          float total = 0;
          for (const int64_t partial : partial_at_) total += static_cast<const float*>(workspace_at(workspace, partial))[i];
          dw[i] = static_cast<T>(total);
        }
      });
    };
    if (dtype_ == DType::kBFloat16) sum(reinterpret_cast<bfloat16*>(o.weight));
    else sum(reinterpret_cast<float*>(o.weight));
  }

  Direction direction_;
  DType dtype_;
  ConvGeometry geometry_;
  Pieces pieces_;
  int64_t workspace_ = 0;
  std::vector<Part> parts_;   // for a full piece, and for a shorter last one
  std::vector<int64_t> scratchpad_at_, packed_at_, partial_at_;
};

std::string reject_common(const KernelQuery& q) {
  const std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  return conv::geometry_of(q).empty() ? "an operand has no elements" : "";
}

std::string reject_onednn(const KernelQuery& q) {
  if (strict_mode()) return "strict mode: its sums depend on the number of threads";
  const std::string why = reject_common(q);
  if (!why.empty()) return why;
  const onednn::ThreadScope threads(num_threads());
  const ConvGeometry g = conv::geometry_of(q);
  return make_part(conv::direction_of(q), Descriptors(g, g.n, q.in[0].dtype, q.in[0].dtype), nullptr);
}

std::string reject_strict(const KernelQuery& q) {
  if (!strict_mode()) return "for strict mode only";
  std::string why = reject_common(q);
  if (!why.empty()) return why;
  const onednn::ThreadScope one_thread(1);
  const Pieces pieces(conv::geometry_of(q).n);
  for (const int64_t images : {pieces.images, pieces.last}) {
    if (why.empty()) why = make_part(conv::direction_of(q), strict_descriptors(q, images), nullptr);
  }
  return why;
}

std::unique_ptr<Kernel> make_strict(const KernelQuery& q) { return std::make_unique<StrictOneDnnConv>(q); }
std::unique_ptr<Kernel> make_onednn(const KernelQuery& q) { return std::make_unique<OneDnnConv>(q); }

bool add(const char* op) {
  return register_kernel({.op = op, .name = "onednn", .priority = 20, .reject = reject_onednn, .make = make_onednn}) &&
         register_kernel({.op = op, .name = "onednn_strict", .priority = 20, .reject = reject_strict, .make = make_strict});
}
const bool kForward = add("conv2d"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri
