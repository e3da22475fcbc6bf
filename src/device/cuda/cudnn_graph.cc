// See cudnn_graph.h: the description of a graph. cudnn_plan.cc builds plans from it.
#include "src/device/cuda/cudnn_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <numeric>

#include "sindri/core/error.h"

namespace sindri::cuda {

cudnnDataType_t cudnn_type(DType type) {
  switch (type) {
    case DType::kUInt8: return CUDNN_DATA_UINT8;
    case DType::kInt32: return CUDNN_DATA_INT32;
    case DType::kInt64: return CUDNN_DATA_INT64;
    case DType::kFloat16: return CUDNN_DATA_HALF;
    case DType::kBFloat16: return CUDNN_DATA_BFLOAT16;
    case DType::kFloat32: return CUDNN_DATA_FLOAT;
    case DType::kFloat64: return CUDNN_DATA_DOUBLE;
    case DType::kBool: break;
  }
  throw DTypeError("cuDNN has no boolean of one byte", "", "cast it to uint8");
}

std::vector<int64_t> channels_last_strides(std::span<const int64_t> nchw) {
  std::vector<int64_t> strides(nchw.size());
  strides[1] = 1;
  int64_t next = nchw[1];
  for (size_t d = nchw.size(); d-- > 2;) strides[d] = next, next *= nchw[d];
  strides[0] = next;
  return strides;
}

std::vector<int64_t> row_major_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t next = 1;
  for (size_t d = dims.size(); d-- > 0;) strides[d] = next, next *= dims[d];
  return strides;
}

TensorId CudnnGraph::tensor(GraphTensor t) {
  tensors_.push_back({std::move(t), std::nullopt});
  const auto id = static_cast<TensorId>(tensors_.size());
  if (tensors_.back().role != Role::kVirtual) arguments_.push_back(id);
  return id;
}
TensorId CudnnGraph::channels_last(cudnnDataType_t type, std::vector<int64_t> nchw, Role role) {
  std::vector<int64_t> strides = channels_last_strides(nchw);
  return tensor({type, std::move(nchw), std::move(strides), role});
}
TensorId CudnnGraph::per_channel(cudnnDataType_t type, int64_t channels, Role role) { return channels_last(type, {1, channels, 1, 1}, role); }
TensorId CudnnGraph::scalar(double value, cudnnDataType_t type, int rank) {
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  tensors_.push_back({{type, ones, ones, Role::kInput}, value});
  return static_cast<TensorId>(tensors_.size());
}
TensorId CudnnGraph::between(TensorId like, cudnnDataType_t type) {
  GraphTensor t = tensors_.at(static_cast<size_t>(like) - 1);
  t.type = type;
  t.role = Role::kVirtual;
  return tensor(std::move(t));
}

template <class T>
CudnnGraph::Setting CudnnGraph::setting(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, const std::vector<T>& values) {
  Setting s{attribute, type, static_cast<int64_t>(values.size()), std::vector<char>(values.size() * sizeof(T))};
  std::memcpy(s.bytes.data(), values.data(), s.bytes.size());
  return s;
}
template <class T> CudnnGraph::Setting CudnnGraph::setting(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type, const T& value) {
  return setting(attribute, type, std::vector<T>{value});
}

// A factor in the compute type.
CudnnGraph::Setting CudnnGraph::real(cudnnBackendAttributeName_t attribute, double value) const {
  if (compute_ == CUDNN_DATA_DOUBLE) return setting(attribute, CUDNN_TYPE_DOUBLE, value);
  return setting(attribute, CUDNN_TYPE_FLOAT, static_cast<float>(value));
}

std::vector<CudnnGraph::Setting> CudnnGraph::settings(const ConvGeometry& g) const {
  return {setting(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_),
          setting(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION),
          setting(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(g.strides.size())),
          setting(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, g.pad_before),
          setting(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, g.pad_after),
          setting(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, g.strides),
          setting(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, g.dilations)};
}

std::vector<CudnnGraph::Setting> CudnnGraph::settings(const PoolGeometry& g) const {
  // Padding never wins a maximum, and it does not count in a mean unless the mode says so.
  const cudnnPaddingMode_t padding = g.mode == CUDNN_RESAMPLE_MAXPOOL ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD;
  return {setting(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, g.mode),
          setting(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_),
          setting(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, padding),
          setting(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(g.window.size())),
          setting(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_INT64, g.window),
          setting(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_INT64, g.pad_before),
          setting(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_INT64, g.pad_after),
          setting(CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_INT64, g.strides)};
}

void CudnnGraph::add(Op op) {
  std::erase_if(op.operands, [](const Operand& o) { return o.tensor == 0; });
  for (const Operand& o : op.operands)
    if (o.tensor < 0 || o.tensor > static_cast<TensorId>(tensors_.size()))
      throw InternalError(fmt::format("op {} of a cuDNN graph has no tensor {}", op.name, o.tensor));
  ops_.push_back(std::move(op));
}

void CudnnGraph::conv(TensorId x, TensorId w, TensorId y, const ConvGeometry& g) {
  add({"conv",
       CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x}, {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w}, {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y}},
       {real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1), real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0)},
       CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       settings(g)});
}
void CudnnGraph::conv_dgrad(TensorId dy, TensorId w, TensorId dx, const ConvGeometry& g) {
  add({"dgrad",
       CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx}},
       {real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1), real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0)},
       CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       settings(g)});
}
void CudnnGraph::conv_wgrad(TensorId x, TensorId dy, TensorId dw, const ConvGeometry& g) {
  add({"wgrad",
       CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw}},
       {real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1), real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0)},
       CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       settings(g)});
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, TensorId a, TensorId b, TensorId y, TensorId t) {
  add({"pointwise",
       CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, a},
        {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
        {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}},
       {},
       CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
       {setting(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode), setting(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_)}});
}
void CudnnGraph::pointwise_backward(cudnnPointwiseMode_t mode, TensorId dy, TensorId x, TensorId dx) {
  add({"pointwise_backward",
       CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, dy}, {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x}, {CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dx}},
       {},
       CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
       {setting(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode), setting(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_)}});
}
void CudnnGraph::reduce(cudnnReduceTensorOp_t op, TensorId x, TensorId y) {
  add({"reduce",
       CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}},
       {},
       CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_REDUCTION_DESC,
       {setting(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op),
        setting(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_)}});
}
void CudnnGraph::generate_stats(TensorId x, TensorId sum, TensorId square_sum) {
  add({"stats",
       CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x}, {CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum}, {CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, square_sum}},
       {setting(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM),
        setting(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_)},
       {},
       {},
       {}});
}

void CudnnGraph::bn_finalize(const BatchNormFinalize& t) {
  add({"bn_finalize",
       CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, t.sum},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, t.square_sum},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, t.bias},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, t.epsilon},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, t.count},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, t.eq_scale},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, t.eq_bias},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC, t.factor},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, t.running_mean},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, t.running_variance},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, t.new_running_mean},
        {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, t.new_running_variance}},
       {setting(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, CUDNN_TYPE_BN_FINALIZE_STATS_MODE, CUDNN_BN_FINALIZE_STATISTICS_TRAINING),
        setting(CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_)},
       {},
       {},
       {}});
}
void CudnnGraph::bn_sums(const BatchNormSums& t) {
  add({"bn_sums",
       CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, t.x},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, t.dy},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, t.dscale},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, t.dbias},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, t.eq_dy},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, t.eq_x},
        {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, t.eq_bias}},
       {setting(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_)},
       {},
       {},
       {}});
}
void CudnnGraph::norm_forward(const NormForward& t) {
  add({"norm_forward",
       CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, t.x},
        {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, t.bias},
        {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, t.epsilon},
        {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, t.y},
        {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, t.factor},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, t.running_mean},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, t.running_variance},
        {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, t.new_running_mean},
        {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, t.new_running_variance}},
       {setting(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, t.mode),
        setting(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, t.training ? CUDNN_NORM_FWD_TRAINING : CUDNN_NORM_FWD_INFERENCE)},
       {},
       {},
       {}});
}
void CudnnGraph::norm_backward(const NormBackward& t) {
  add({"norm_backward",
       CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, t.dy},
        {CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, t.x},
        {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, t.dx},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, t.dscale},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, t.dbias}},
       {setting(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, t.mode)},
       {},
       {},
       {}});
}

void CudnnGraph::pool(TensorId x, TensorId y, TensorId index, const PoolGeometry& g) {
  add({"pool",
       CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x}, {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y}, {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, index}},
       {},
       CUDNN_BACKEND_RESAMPLE_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC,
       settings(g)});
}
void CudnnGraph::pool_backward(TensorId dy, TensorId index, TensorId dx, const PoolGeometry& g) {
  add({"pool_backward",
       CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, dy}, {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, index}, {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, dx}},
       {},
       CUDNN_BACKEND_RESAMPLE_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC,
       settings(g)});
}
void CudnnGraph::matmul(TensorId a, TensorId b, TensorId c) {
  add({"matmul",
       CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a}, {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b}, {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}},
       {},
       CUDNN_BACKEND_MATMUL_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_MATMUL_DESC,
       {setting(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_)}});
}

namespace {

const char* type_text(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT: return "f32";
    case CUDNN_DATA_DOUBLE: return "f64";
    case CUDNN_DATA_HALF: return "f16";
    case CUDNN_DATA_BFLOAT16: return "bf16";
    case CUDNN_DATA_INT8: return "i8";
    case CUDNN_DATA_UINT8: return "u8";
    case CUDNN_DATA_INT32: return "i32";
    case CUDNN_DATA_INT64: return "i64";
    case CUDNN_DATA_BOOLEAN: return "bit";
    default: throw InternalError(fmt::format("a cuDNN graph has a tensor of type {}", static_cast<int>(type)));
  }
}

}  // namespace

// "conv[704=1,703=2,705=3 …] 1=f16:256x64x56x56/200704,1,3584,64@16in …": attributes by their numbers in cuDNN's
// interface, which do not change.
std::string CudnnGraph::key() const {
  std::map<TensorId, int> numbers;
  std::string ops, tensors;
  const auto describe = [&](TensorId id) {
    const auto [at, fresh] = numbers.emplace(id, static_cast<int>(numbers.size()) + 1);
    if (!fresh) return at->second;
    const Tensor& t = tensors_[static_cast<size_t>(id) - 1];
    tensors += fmt::format(" {}={}:{}/{}", at->second, type_text(t.type), fmt::join(t.dims, "x"), fmt::join(t.strides, ","));
    if (t.value) tensors += fmt::format("={}", *t.value);
    else tensors += t.role == Role::kVirtual ? "virtual" : fmt::format("@{}{}", t.alignment, t.role == Role::kInput ? "in" : "out");
    return at->second;
  };
  const auto values = [&](const std::vector<Setting>& settings) {
    for (const Setting& s : settings) {
      ops += fmt::format(" {}:", static_cast<int>(s.attribute));
      const size_t size = s.bytes.size() / static_cast<size_t>(s.count);
      for (int64_t i = 0; i < s.count; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, s.bytes.data() + static_cast<size_t>(i) * size, size);
        ops += fmt::format("{}{:x}", i > 0 ? "," : "", bits);
      }
    }
  };
  for (const Op& op : ops_) {
    ops += fmt::format("{}{}[", ops.empty() ? "" : " ", op.name);
    for (size_t i = 0; i < op.operands.size(); ++i)
      ops += fmt::format("{}{}={}", i > 0 ? "," : "", static_cast<int>(op.operands[i].attribute), describe(op.operands[i].tensor));
    values(op.settings);
    values(op.part_settings);
    ops += "]";
  }
  return ops + tensors;
}

}  // namespace sindri::cuda
