// conv2d and its gradients by oneDNN. Activations stay channels-last. The library chooses the weight format, so weights are
// reordered from (or, for their gradient, to) OIHW in the workspace of each call. The reorder moves a few percent of the
// convolution's data and enables the fast implementation.
//
// "onednn" lets the library split the work over threads, so the order of sums depends on their number. "onednn_strict", used in
// strict mode, cuts the batch into pieces that depend on the shape alone. Each piece is computed by a primitive for one thread,
// and partial weight gradients are added in the order of the pieces.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
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

// Descriptors of one convolution over `batch` images. Grouped weights are the same OIHW memory viewed as [G, O/G, C/G, KH, KW].
struct Descriptors {
  memory::desc x, y, weight_any, weight_plain, forward_weight, bias;  // bias: zero descriptor if there is none
  bool residual = false;  // whether conv2d_bias_act has a residual
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
  memory::desc bias;
  dnnl::reorder reorder;  // reorders the weight, or its gradient back; empty if the library works on OIHW
  memory::desc weight, weight_plain, x, y, scratchpad;
  bool packed() const { return weight != weight_plain; }
};

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

template <class PrimitiveDesc> void finish_part(const PrimitiveDesc& pd, const memory::desc& weight, const Descriptors& d, bool weight_is_output, Part* part) {
  part->x = d.x, part->y = d.y, part->bias = d.bias;
  part->weight = weight;
  part->weight_plain = d.weight_plain;
  part->scratchpad = pd.scratchpad_desc();
  if (!part->packed()) return;
  const memory::desc &from = weight_is_output ? weight : d.weight_plain, &to = weight_is_output ? d.weight_plain : weight;
  part->reorder = dnnl::reorder(dnnl::reorder::primitive_desc(onednn::engine(), from, onednn::engine(), to, user_scratchpad()));
}

// Fills *part and returns an empty string, or returns why oneDNN does not support the problem.
template <class Primitive, class Make, class Weight>
std::string build(const Descriptors& d, bool weight_is_output, Make&& make, Weight&& weight_of, Part* part) {
  typename Primitive::primitive_desc pd;
  std::string why;
  if (!onednn::try_make(make, &pd, &why) || part == nullptr) return why;
  part->primitive = Primitive(pd);
  finish_part(pd, weight_of(pd), d, weight_is_output, part);
  return "";
}

std::string make_part(Direction direction, const Descriptors& d, Part* part) {
  using Forward = dnnl::convolution_forward;
  using InputGrad = dnnl::convolution_backward_data;
  using WeightGrad = dnnl::convolution_backward_weights;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = onednn::engine();
  const dnnl::primitive_attr attr = user_scratchpad();
  const auto weights = [](const auto& pd) { return pd.weights_desc(); };
  // Also needed as the hint of the backward descriptors.
  const auto forward = [&] {
    if (d.bias.is_zero()) {
      const Forward::desc desc(dnnl::prop_kind::forward_training, algorithm, d.x, d.forward_weight, d.y, d.stride, d.dilation, d.pad_before, d.pad_after);
      return Forward::primitive_desc(desc, attr, engine);
    }
    dnnl::primitive_attr with_post_ops = attr;
    dnnl::post_ops post_ops;
    if (d.residual) post_ops.append_sum();
    with_post_ops.set_post_ops(post_ops);
    const Forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, d.x, d.forward_weight, d.bias, d.y, d.stride, d.dilation, d.pad_before,
                             d.pad_after);
    return Forward::primitive_desc(desc, with_post_ops, engine);
  };
  const auto input_grad = [&] {
    const InputGrad::desc desc(algorithm, d.x, d.weight_any, d.y, d.stride, d.dilation, d.pad_before, d.pad_after);
    return InputGrad::primitive_desc(desc, attr, engine, forward());
  };
  const auto weight_grad = [&] {
    const WeightGrad::desc desc(algorithm, d.x, d.weight_any, d.y, d.stride, d.dilation, d.pad_before, d.pad_after);
    return WeightGrad::primitive_desc(desc, attr, engine, forward());
  };
  switch (direction) {
    case Direction::kForward: return build<Forward>(d, false, forward, weights, part);
    case Direction::kInputGrad: return build<InputGrad>(d, false, input_grad, weights, part);
    default:
      return build<WeightGrad>(
          d, true, weight_grad, [](const auto& pd) { return pd.diff_weights_desc(); }, part);
  }
}

int64_t bytes(const memory::desc& d) { return static_cast<int64_t>(d.get_size()); }

void run_reorder(const Part& part, const memory::desc& from, const void* src, const memory::desc& to, void* dst) {
  onednn::execute(part.reorder, {{DNNL_ARG_FROM, &from, src}, {DNNL_ARG_TO, &to, dst}});
}

void run_part(Direction direction, const Part& p, const void* x, const void* weight, const void* y, void* scratchpad, const void* bias = nullptr) {
  switch (direction) {
    case Direction::kForward:
      if (bias != nullptr)
        return onednn::execute(p.primitive,
                               {{DNNL_ARG_SRC, &p.x, x},
                                {DNNL_ARG_WEIGHTS, &p.weight, weight},
                                {DNNL_ARG_BIAS, &p.bias, bias},
                                {DNNL_ARG_DST, &p.y, y},
                                {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
      return onednn::execute(
          p.primitive,
          {{DNNL_ARG_SRC, &p.x, x}, {DNNL_ARG_WEIGHTS, &p.weight, weight}, {DNNL_ARG_DST, &p.y, y}, {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
    case Direction::kInputGrad:
      return onednn::execute(p.primitive,
                             {{DNNL_ARG_DIFF_DST, &p.y, y},
                              {DNNL_ARG_WEIGHTS, &p.weight, weight},
                              {DNNL_ARG_DIFF_SRC, &p.x, x},
                              {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
    case Direction::kWeightGrad:
      return onednn::execute(p.primitive,
                             {{DNNL_ARG_SRC, &p.x, x},
                              {DNNL_ARG_DIFF_DST, &p.y, y},
                              {DNNL_ARG_DIFF_WEIGHTS, &p.weight, weight},
                              {DNNL_ARG_SCRATCHPAD, &p.scratchpad, scratchpad}});
  }
}

// The three operands of a query by role, for all directions.
struct Operands {
  char *x, *weight, *y;
};
Operands operands(Direction direction, Span<const Buffer> in, Span<const Buffer> out) {
  const auto p = [](const Buffer& b) { return static_cast<char*>(b.data); };
  switch (direction) {
    case Direction::kForward: return {p(in[0]), p(in[1]), p(out[0])};
    case Direction::kInputGrad: return {p(out[0]), p(in[1]), p(in[0])};
    default: return {p(in[1]), p(out[0]), p(in[0])};
  }
}

Descriptors descriptors_of(const KernelQuery& q) {
  const ConvGeometry g = conv::geometry_of(q);
  Descriptors d(g, g.n, q.in[0].dtype, q.in[0].dtype);
  if (std::string_view(q.op.name) != "conv2d_bias_act") return d;
  d.bias = onednn::descriptor(q.in[2]);
  d.residual = q.in.size() > 3;
  return d;
}

class OneDnnConv final : public Kernel {
 public:
  explicit OneDnnConv(const KernelQuery& q) : direction_(conv::direction_of(q)), threads_(num_threads()), relu_(conv::relu_of(q)) {
    const onednn::ThreadScope threads(threads_);
    const std::string why = make_part(direction_, descriptors_of(q), &part_);
    if (!why.empty()) throw InternalError("conv2d: " + why);
    WorkspaceLayout layout;
    scratchpad_at_ = layout.add(bytes(part_.scratchpad));
    if (part_.packed()) weight_at_ = layout.add(bytes(part_.weight));
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }
  int64_t prepared_bytes(size_t in) const override { return in == 1 && takes_weight() ? bytes(part_.weight) : 0; }
  void prepare(ExecContext&, size_t, const Buffer& from, void* to) const override {
    const onednn::ThreadScope threads(threads_);
    run_reorder(part_, part_.weight_plain, from.data, part_.weight, to);
  }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const onednn::ThreadScope threads(threads_);
    const Operands o = operands(direction_, in, out);
    void* scratchpad = workspace_at(ctx.workspace, scratchpad_at_);
    if (direction_ == Direction::kWeightGrad) {
      void* weight = part_.packed() ? workspace_at(ctx.workspace, weight_at_) : o.weight;
      run_part(direction_, part_, o.x, weight, o.y, scratchpad);
      if (part_.packed()) run_reorder(part_, part_.weight, weight, part_.weight_plain, o.weight);
      return;
    }
    const void* weight = o.weight;
    if (takes_weight() && in[1].prepared != nullptr) {
      weight = in[1].prepared;
    } else if (takes_weight()) {
      void* packed = workspace_at(ctx.workspace, weight_at_);
      run_reorder(part_, part_.weight_plain, o.weight, part_.weight, packed);
      weight = packed;
    }
    // The library adds to the result's previous value.
    if (in.size() > 3 && in[3].data != out[0].data) copy(in[3], out[0]);
    run_part(direction_, part_, o.x, weight, o.y, scratchpad, in.size() > 2 ? in[2].data : nullptr);
    if (relu_) apply_relu(out[0]);
  }

 private:
  bool takes_weight() const { return part_.packed() && direction_ != Direction::kWeightGrad; }
  static void copy(const Buffer& from, const Buffer& to) {
    parallel_for(from.meta->nbytes(), 1 << 16,
                 [&](int64_t begin, int64_t end) { std::copy(from.as<char>() + begin, from.as<char>() + end, to.as<char>() + begin); });
  }

  // The library's own relu after a convolution turns NaN into 0.
  static void apply_relu(const Buffer& y) {
    const auto relu = [&]<class T>(T* at) {
      parallel_for(y.meta->numel(), 1 << 14, [&](int64_t begin, int64_t end) {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) at[i] = static_cast<float>(at[i]) < 0 ? T(0.0f) : at[i];
      });
    };
    if (y.meta->dtype == DType::kFloat32) relu(y.as<float>());
    else relu(y.as<bfloat16>());
  }

  Direction direction_;
  int threads_;
  bool relu_;
  Part part_;
  int64_t scratchpad_at_ = 0, weight_at_ = 0, workspace_ = 0;
};

// The pieces into which strict mode cuts the batch: by shape alone, and enough for the cores of a socket. Every piece of a
// weight gradient writes a partial result of the weight's size, so large weights get fewer pieces.
struct Pieces {
  int64_t count, images, last;  // number of pieces, images of each, images of the last one

  Pieces(Direction direction, const ConvGeometry& g) {
    constexpr int64_t kMost = 16, kFewest = 4, kPartialBytes = 16 << 20;
    const int64_t weight_bytes = std::max<int64_t>(1, g.weight_numel()) * static_cast<int64_t>(sizeof(float));
    const int64_t wanted = direction == Direction::kWeightGrad ? std::clamp(kPartialBytes / weight_bytes, kFewest, kMost) : kMost;
    images = fixed_chunks(g.n, wanted);
    count = fixed_chunks(g.n, images);
    last = g.n - images * (count - 1);
  }
};

// Partial weight gradients are float32, so that their sum is rounded once.
Descriptors strict_descriptors(const KernelQuery& q, int64_t images) {
  const DType dtype = q.in[0].dtype;
  return {conv::geometry_of(q), images, dtype, conv::direction_of(q) == Direction::kWeightGrad ? DType::kFloat32 : dtype};
}

class StrictOneDnnConv final : public Kernel {
 public:
  explicit StrictOneDnnConv(const KernelQuery& q)
      : direction_(conv::direction_of(q)), dtype_(q.in[0].dtype), geometry_(conv::geometry_of(q)), pieces_(direction_, geometry_) {
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

  // If all pieces share one packed format, their results are added in it and only the sum is converted to OIHW.
  bool sums_packed() const { return parts_.size() == 1 && parts_[0].packed(); }

  void run_weight_grad(void* workspace, const Operands& o) {
    parallel_tasks(pieces_.count, [&](int64_t i) {
      const onednn::ThreadScope one_thread(1);
      const Part& p = part(i);
      const auto at = static_cast<size_t>(i);
      void* partial = workspace_at(workspace, partial_at_[at]);
      void* weight = p.packed() ? workspace_at(workspace, packed_at_[at]) : partial;
      run_part(direction_, p, o.x + i * x_bytes(), weight, o.y + i * y_bytes(), workspace_at(workspace, scratchpad_at_[at]));
      if (p.packed() && !sums_packed()) run_reorder(p, p.weight, weight, p.weight_plain, partial);
    });
    const int64_t count = geometry_.weight_numel();
    float* plain = dtype_ == DType::kFloat32 ? reinterpret_cast<float*>(o.weight) : static_cast<float*>(workspace_at(workspace, partial_at_[0]));
    if (sums_packed()) {
      const Part& p = parts_[0];
      float* packed = static_cast<float*>(workspace_at(workspace, packed_at_[0]));
      add_in_order(workspace, packed_at_, bytes(p.weight) / static_cast<int64_t>(sizeof(float)), packed);
      const onednn::ThreadScope one_thread(1);
      run_reorder(p, p.weight, packed, p.weight_plain, plain);
    } else {
      add_in_order(workspace, partial_at_, count, plain);
    }
    if (dtype_ == DType::kFloat32) return;
    bfloat16* dw = reinterpret_cast<bfloat16*>(o.weight);
    parallel_for(count, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) dw[i] = bfloat16(plain[i]);
    });
  }

  // `to` may be the first of the terms.
  static void add_in_order(void* workspace, const std::vector<int64_t>& terms, int64_t count, float* to) {
    parallel_for(count, 16384, [&](int64_t begin, int64_t end) {
      constexpr int64_t kBlock = 2048;  // stays in L1 while the terms are streamed
      for (int64_t first = begin; first < end; first += kBlock) {
        const int64_t last = std::min(end, first + kBlock);
        const float* term0 = static_cast<const float*>(workspace_at(workspace, terms[0]));
        if (to != term0) std::copy(term0 + first, term0 + last, to + first);
        for (size_t t = 1; t < terms.size(); ++t) {
          const float* term = static_cast<const float*>(workspace_at(workspace, terms[t]));
          for (int64_t i = first; i < last; ++i) to[i] += term[i];
        }
      }
    });
  }

  Direction direction_;
  DType dtype_;
  ConvGeometry geometry_;
  Pieces pieces_;
  int64_t workspace_ = 0;
  std::vector<Part> parts_;  // one for full pieces, and one for a shorter last piece
  std::vector<int64_t> scratchpad_at_, packed_at_, partial_at_;
};

// The library plans with 32-bit integers and checks few of them: a padding of 2^26 rows causes a division by zero in it (avx512) or
// takes seconds of planning. So it is only used for geometries it was designed for.
std::string out_of_bounds(const ConvGeometry& g) {
  constexpr int64_t kFarthest = 1024, kStride = 4096, kImage = int64_t{1} << 30;
  if (std::max({g.pad_top, g.pad_bottom, g.pad_left, g.pad_right}) > kFarthest) return fmt::format("padding above {}", kFarthest);
  if (std::max(g.stride_h, g.stride_w) > kStride) return fmt::format("a stride above {}", kStride);
  if (std::max({g.dilation_h, g.dilation_w, g.kh, g.kw}) > kStride || std::max(g.dilation_h * g.kh, g.dilation_w * g.kw) > (kStride << 4))
    return fmt::format("a kernel or dilation above {}, or one that spans more than {}", kStride, kStride << 4);
  const auto image = [](int64_t channels, int64_t h, int64_t w) {
    int64_t size = 0;
    return !__builtin_mul_overflow(h, w, &size) && !__builtin_mul_overflow(size, channels, &size) && size <= kImage;
  };
  if (!image(g.c, g.h + g.pad_top + g.pad_bottom, g.w + g.pad_left + g.pad_right) || !image(g.o, g.oh, g.ow)) return "an image of more than 2^30 elements";
  if (!image(g.o, g.c_per_group(), g.kh * g.kw)) return "a weight of more than 2^30 elements";
  return "";
}

std::string reject_common(const KernelQuery& q) {
  const std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (const std::string far = out_of_bounds(g); !far.empty()) return far;
  // Over channels-last images the library gathers pixels in blocks of 8 channels, or 16 with AVX-512, even if there are fewer channels. The gradients are then
  // wrong and the heap is corrupted (github.com/uxlfoundation/oneDNN/issues/6035; 2.6.3).
  const bool strided_pointwise = g.kh * g.kw == 1 && (g.stride_h > 1 || g.stride_w > 1);
  if (conv::direction_of(q) == Direction::kWeightGrad && strided_pointwise && g.c_per_group() < 16)
    return "oneDNN writes past its workspace for 1x1 kernels with a stride over fewer than 16 channels";
  // The library fills rows of tiles with the pixels that follow the window and multiplies them by zero weights. An infinity among them becomes NaN in the
  // result.
  constexpr int64_t kFewChannels = 4;
  if (conv::direction_of(q) == Direction::kForward && q.in[0].dtype == DType::kBFloat16 && cpu_isa() == CpuIsa::kAvx512Amx && g.kh * g.kw > 1 &&
      g.c_per_group() <= kFewChannels)
    return "oneDNN's tiles read past the window of a kernel over four channels or fewer";
  // Its bfloat16 instructions multiply pairs of channels. The last of an odd number of channels is paired with the next pixel's first one, multiplied
  // by a zero weight. Depthwise kernels have no pairs.
  const int64_t channels = conv::direction_of(q) == Direction::kInputGrad ? g.o_per_group() : g.c_per_group();
  const bool paired = conv::direction_of(q) != Direction::kWeightGrad && q.in[0].dtype == DType::kBFloat16 && !(g.groups > 1 && channels == 1);
  if (paired && channels % 2 != 0) return "oneDNN pairs the last of an odd number of bfloat16 channels with the next pixel";
  return "";
}

std::string reject_onednn(const KernelQuery& q) {
  if (strict_mode()) return "strict mode: its sums depend on the number of threads";
  const std::string why = reject_common(q);
  if (!why.empty()) return why;
  const ConvGeometry g = conv::geometry_of(q);
  if (q.in.size() > 3 && g.c_per_group() == 1 && cpu_isa() < CpuIsa::kAvx2) return "oneDNN crashes adding to depthwise convolutions without AVX2";
  const onednn::ThreadScope threads(num_threads());
  return make_part(conv::direction_of(q), descriptors_of(q), nullptr);
}

std::string reject_strict(const KernelQuery& q) {
  if (!strict_mode()) return "for strict mode only";
  std::string why = reject_common(q);
  if (!why.empty()) return why;
  const onednn::ThreadScope one_thread(1);
  const Pieces pieces(conv::direction_of(q), conv::geometry_of(q));
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
const bool kBiasAct = register_kernel({.op = "conv2d_bias_act", .name = "onednn", .priority = 20, .reject = reject_onednn, .make = make_onednn});

}  // namespace
}  // namespace sindri
