// conv2d and its gradients by oneDNN. Activations stay channels-last; the weight format is the library's choice, so weights are
// reordered from (or, for their gradient, to) OIHW in the workspace of each call. The reorder moves a few percent of what the
// convolution moves; what it buys is the fast implementation.
//
// "onednn" lets the library split the work over threads, which changes the order of sums with their number. "onednn_strict", used
// in strict mode, cuts the batch into pieces that depend on the shape alone; each piece is computed by a primitive made for one
// thread, and partial weight gradients are added in the order of the pieces.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;
using dnnl::memory;

// Descriptors of one convolution over `batch` images. Grouped weights are the same OIHW memory seen as [G, O/G, C/G, KH, KW].
struct Descriptors {
  memory::desc x, y, weight_any, weight_plain;
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
    return dnnl::convolution_forward::primitive_desc({dnnl::prop_kind::forward_training, algorithm, d.x, d.weight_any, d.y, d.stride, d.dilation, d.pad_before, d.pad_after},
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
    onednn::WorkspaceLayout layout;
    scratchpad_at_ = layout.add(bytes(part_.scratchpad));
    if (part_.packed()) weight_at_ = layout.add(bytes(part_.weight));
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const onednn::ThreadScope threads(threads_);
    const Operands o = operands(direction_, in, out);
    void* weight = part_.packed() ? onednn::at(ctx.workspace, weight_at_) : o.weight;
    if (part_.packed() && direction_ != Direction::kWeightGrad) run_reorder(part_, part_.weight_plain, o.weight, part_.weight, weight);
    run_part(direction_, part_, o.x, weight, o.y, onednn::at(ctx.workspace, scratchpad_at_));
    if (part_.packed() && direction_ == Direction::kWeightGrad) run_reorder(part_, part_.weight, weight, part_.weight_plain, o.weight);
  }

 private:
  Direction direction_;
  int threads_;
  Part part_;
  int64_t scratchpad_at_ = 0, weight_at_ = 0, workspace_ = 0;
};

std::string reject_common(const KernelQuery& q) {
  const std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  const onednn::ThreadScope threads(strict_mode() ? 1 : num_threads());
  return make_part(conv::direction_of(q), Descriptors(g, g.n, q.in[0].dtype, q.in[0].dtype), nullptr);
}

std::string reject_onednn(const KernelQuery& q) { return strict_mode() ? "strict mode: its sums depend on the number of threads" : reject_common(q); }

std::unique_ptr<Kernel> make_onednn(const KernelQuery& q) { return std::make_unique<OneDnnConv>(q); }

constexpr int kPriority = 20;
const bool kForward = register_kernel({.op = "conv2d", .name = "onednn", .priority = kPriority, .reject = reject_onednn, .make = make_onednn});
const bool kInputGrad = register_kernel({.op = "conv2d_input_grad", .name = "onednn", .priority = kPriority, .reject = reject_onednn, .make = make_onednn});
const bool kWeightGrad = register_kernel({.op = "conv2d_weight_grad", .name = "onednn", .priority = kPriority, .reject = reject_onednn, .make = make_onednn});

}  // namespace
}  // namespace sindri
