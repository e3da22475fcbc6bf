// See cudnn_ops.h.
#include "cuda_host/cudnn_ops.h"

#include <algorithm>
#include <cmath>

#include "sindri/core/dtype.h"
#include "sindri/core/error.h"

namespace sindri::cuda_host {

namespace {

double read(const void* p, cudnnDataType_t t, int64_t i) {
  switch (t) {
    case CUDNN_DATA_HALF: return static_cast<float>(static_cast<const float16*>(p)[i]);
    case CUDNN_DATA_BFLOAT16: return static_cast<float>(static_cast<const bfloat16*>(p)[i]);
    default: return static_cast<const float*>(p)[i];
  }
}
void write(void* p, cudnnDataType_t t, int64_t i, double v) {
  switch (t) {
    case CUDNN_DATA_HALF: static_cast<float16*>(p)[i] = float16(static_cast<float>(v)); break;
    case CUDNN_DATA_BFLOAT16: static_cast<bfloat16*>(p)[i] = bfloat16(static_cast<float>(v)); break;
    default: static_cast<float*>(p)[i] = static_cast<float>(v);
  }
}

int64_t place(const DnnTensor& t, int64_t n, int64_t c, int64_t h, int64_t w) {
  const auto at = [&](size_t d, int64_t i) { return t.dims[d] == 1 ? 0 : i * t.strides[d]; };  // a size of 1 is repeated
  return at(0, n) + at(1, c) + at(2, h) + at(3, w);
}

// The three tensors of a convolution by their roles. Any of them may be the computed one.
struct Roles {
  const DnnTensor &x, &w, &y;
};
Roles roles(const DnnOp& op) {
  if (op.kind == DnnKind::kConv) return {op.a, op.b, op.y};
  if (op.kind == DnnKind::kDgrad) return {op.y, op.b, op.a};
  return {op.b, op.y, op.a};
}

// Every element of the result is a sum over the products that contribute to it.
void convolve(const DnnOp& op, const void* a, const void* b, void* result) {
  const auto [x, w, y] = roles(op);
  const int64_t channels = w.dims[1], outputs = w.dims[0] / (x.dims[1] / channels);  // of a group
  std::vector<double> sums(static_cast<size_t>(op.y.numel()), 0.0);
  const auto dense = [&](int64_t n, int64_t c, int64_t h, int64_t k) {
    return static_cast<size_t>(((n * op.y.dims[1] + c) * op.y.dims[2] + h) * op.y.dims[3] + k);
  };
  for (int64_t n = 0; n < y.dims[0]; ++n)
    for (int64_t o = 0; o < y.dims[1]; ++o)
      for (int64_t i = 0; i < y.dims[2]; ++i)
        for (int64_t j = 0; j < y.dims[3]; ++j)
          for (int64_t r = 0; r < w.dims[2]; ++r)
            for (int64_t s = 0; s < w.dims[3]; ++s) {
              const int64_t h = i * op.strides[0] + r * op.dilations[0] - op.pad_before[0], k = j * op.strides[1] + s * op.dilations[1] - op.pad_before[1];
              if (h < 0 || h >= x.dims[2] || k < 0 || k >= x.dims[3]) continue;
              for (int64_t c = 0; c < channels; ++c) {
                const int64_t channel = o / outputs * channels + c;
                const int64_t at_x = place(x, n, channel, h, k), at_w = place(w, o, c, r, s), at_y = place(y, n, o, i, j);
                if (op.kind == DnnKind::kConv) sums[dense(n, o, i, j)] += read(a, x.type, at_x) * read(b, w.type, at_w);
                else if (op.kind == DnnKind::kDgrad) sums[dense(n, channel, h, k)] += read(a, y.type, at_y) * read(b, w.type, at_w);
                else sums[dense(o, c, r, s)] += read(a, y.type, at_y) * read(b, x.type, at_x);
              }
            }
  const DnnTensor& t = op.y;
  for (int64_t n = 0; n < t.dims[0]; ++n)
    for (int64_t c = 0; c < t.dims[1]; ++c)
      for (int64_t h = 0; h < t.dims[2]; ++h)
        for (int64_t k = 0; k < t.dims[3]; ++k) write(result, t.type, place(t, n, c, h, k), sums[dense(n, c, h, k)]);
}

void apply(const DnnOp& op, const void* a, const void* b, void* result) {
  const DnnTensor& t = op.y;
  for (int64_t n = 0; n < t.dims[0]; ++n)
    for (int64_t c = 0; c < t.dims[1]; ++c)
      for (int64_t h = 0; h < t.dims[2]; ++h)
        for (int64_t k = 0; k < t.dims[3]; ++k) {
          double v = read(a, op.a.type, place(op.a, n, c, h, k));
          if (op.mode == CUDNN_POINTWISE_ADD) v += read(b, op.b.type, place(op.b, n, c, h, k));
          else v = v < 0 ? 0 : v;
          write(result, t.type, place(t, n, c, h, k), v);
        }
}

bool is_io_type(cudnnDataType_t t) { return t == CUDNN_DATA_HALF || t == CUDNN_DATA_BFLOAT16 || t == CUDNN_DATA_FLOAT; }

}  // namespace

int64_t DnnTensor::numel() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}
bool DnnTensor::channels_last() const { return strides == std::vector<int64_t>{dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]}; }

std::string dnn_shape_error(const DnnOp& op) {
  for (const DnnTensor* t : {&op.a, &op.b, &op.y})
    if (t->id != 0 && (t->dims.size() != 4 || t->strides.size() != 4)) return "tensors of four dimensions are wanted";
  if (op.kind == DnnKind::kPointwise) {
    if (op.mode != CUDNN_POINTWISE_ADD && op.mode != CUDNN_POINTWISE_RELU_FWD) return "the stand-in has no such pointwise mode";
    if ((op.mode == CUDNN_POINTWISE_ADD) != (op.b.id != 0)) return "a wrong number of operands";
    for (const DnnTensor* t : {&op.a, &op.b})
      for (size_t d = 0; t->id != 0 && d < 4; ++d)
        if (t->dims[d] != op.y.dims[d] && t->dims[d] != 1) return "an operand that is neither the result's size nor 1";
    return "";
  }
  const auto [x, w, y] = roles(op);
  if (op.pad_before.size() != 2 || op.pad_after.size() != 2 || op.strides.size() != 2 || op.dilations.size() != 2) return "two spatial dimensions are wanted";
  if (x.dims[0] != y.dims[0] || w.dims[0] != y.dims[1]) return "images or output channels differ";
  if (w.dims[1] < 1 || x.dims[1] % w.dims[1] != 0 || w.dims[0] % (x.dims[1] / w.dims[1]) != 0) return "channels do not divide into groups";
  for (size_t d = 0; d < 2; ++d) {
    const int64_t span = op.dilations[d] * (w.dims[2 + d] - 1) + 1, padded = x.dims[2 + d] + op.pad_before[d] + op.pad_after[d];
    if (op.strides[d] < 1 || op.dilations[d] < 1 || padded < span || (padded - span) / op.strides[d] + 1 != y.dims[2 + d]) return "sizes do not fit";
  }
  return "";
}

std::string dnn_unsupported(const std::vector<DnnOp>& ops) {
  if (ops.empty() || ops[0].kind == DnnKind::kPointwise) return "the graph does not begin with a convolution";
  const DnnOp& conv = ops[0];
  if (conv.compute != CUDNN_DATA_FLOAT) return "the convolution does not accumulate in float";
  if (!is_io_type(conv.a.type) || conv.b.type != conv.a.type) return "types of the operands";
  if (conv.kind != DnnKind::kConv && ops.size() > 1) return "pointwise ops after a gradient";
  for (const DnnTensor* t : {&conv.a, &conv.b, &conv.y})
    if (!t->channels_last()) return "a tensor is not packed channels-last";
  const DnnTensor& last = ops.back().y;
  if (last.is_virtual || last.type != conv.a.type) return "the result has another type than the operands";  // also for a weight's gradient in float
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    if (!ops[i].y.is_virtual || ops[i].y.id != ops[i + 1].a.id) return "ops are not a chain";
    if (ops[i].y.type != CUDNN_DATA_FLOAT) return "a virtual tensor after the convolution is not float";
    if (ops[i + 1].kind != DnnKind::kPointwise) return "a second convolution";
  }
  return "";
}

void dnn_run(const std::vector<DnnOp>& ops, const std::map<int64_t, void*>& memory) {
  std::map<int64_t, std::vector<float>> between;
  const auto at = [&](const DnnTensor& t) -> void* {
    if (t.id == 0) return nullptr;
    if (!t.is_virtual) return memory.at(t.id);
    std::vector<float>& values = between[t.id];  // virtual tensors are float (dnn_unsupported)
    values.resize(static_cast<size_t>(t.numel()), std::nanf(""));
    return values.data();
  };
  for (const DnnOp& op : ops) {
    void *const a = at(op.a), *const b = at(op.b), *const y = at(op.y);
    if (op.kind == DnnKind::kPointwise) apply(op, a, b, y);
    else convolve(op, a, b, y);
  }
}

}  // namespace sindri::cuda_host
