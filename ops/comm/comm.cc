// Collective calls as ops: shapes and gradients. Calls that MindSpore also has use its gradient rules.
//
// Collective ops run on the communication lane and have an effect outside this process, so no pass merges, folds or drops one: a rank that omitted a call would
// leave the others waiting. For the same reason a gradient rule makes all of its calls, whichever gradients are needed.
#include "sindri/ops/comm.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/comm/comm_ops.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri {

ReduceOp comm_ops::parse_reduce_op(const char* op, const std::string& name) {
  for (const ReduceOp r : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd})
    if (name == reduce_op_name(r)) return r;
  throw ValueError(fmt::format("{}: there is no reduction '{}'", op, name), "", "the reductions are sum, mean, max, min, prod");
}

namespace {

using namespace comm_ops;
using TensorList = std::vector<Tensor>;

int64_t size_of(const std::string& group) { return comm::find_group(group).size(); }

void check_some(const char* op, Span<const TensorMeta> in) {
  if (in.empty()) throw ValueError(fmt::format("{}: expected at least one tensor", op));
  check_same_dtype(op, in);
}
void check_rows(const char* op, const TensorMeta& x) {
  if (x.shape.rank() == 0) throw ShapeError(fmt::format("{}: a scalar has no first dimension", op), "", "give it one with ops::reshape");
}
void check_parts(const char* op, const TensorMeta& x, int64_t size) {
  check_rows(op, x);
  if (x.shape[0] % size != 0) throw ShapeError(fmt::format("{}: the first dimension of {} is not a multiple of the group's {} ranks", op, x.str(), size));
}
// Means and scales of integers would be rounded silently.
void check_floats(const char* op, ReduceOp reduce, bool more, DType dtype) {
  if (is_floating(dtype) || (reduce != ReduceOp::kMean && !more)) return;
  throw DTypeError(fmt::format("{}: a mean or a factor needs floating tensors, got {}", op, dtype_name(dtype)));
}

std::vector<TensorMeta> plain(Span<const TensorMeta> in) { return {in.begin(), in.end()}; }

std::vector<TensorMeta> infer_all_reduce(const Attrs& attrs, Span<const TensorMeta> in) {
  const auto& a = attrs.as<AllReduceNodeAttrs>();
  check_some("all_reduce", in);
  (void)size_of(a.group);
  const ReduceOp reduce = parse_reduce_op("all_reduce", a.op);
  check_floats("all_reduce", reduce, a.scale != 1, in[0].dtype);
  const bool sums = reduce == ReduceOp::kSum || reduce == ReduceOp::kMean;
  if (a.scale != 1 && !sums) throw ValueError(fmt::format("all_reduce: scale is for sums, not for {}", a.op));
  if (a.wire.empty()) return plain(in);
  if (!is_half(parse_dtype(a.wire))) throw ValueError(fmt::format("all_reduce: wire is '{}'", a.wire), "", "bfloat16, float16, or nothing");
  if (in[0].dtype != DType::kFloat32 || !sums) throw ValueError(fmt::format("all_reduce: wire is for sums of float32, not for {} of {}", a.op, in[0].str()));
  return plain(in);
}

// The gradients of all outputs of a call, zeros for outputs without one, so that every rank makes the same call.
TensorList all_douts(const VjpContext& c) {
  TensorList d(c.dout.begin(), c.dout.end());
  for (size_t i = 0; i < d.size(); ++i)
    if (!d[i].defined()) d[i] = ops::full(c.in[i].shape(), 0, c.in[i].dtype());
  return d;
}

std::vector<Tensor> all_reduce_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<AllReduceNodeAttrs>();
  const ReduceOp reduce = parse_reduce_op("all_reduce", a.op);
  if (reduce == ReduceOp::kProd) throw ValueError("all_reduce of products has no gradient", "", "use sum, mean, max or min");
  const bool sums = reduce == ReduceOp::kSum || reduce == ReduceOp::kMean;
  TensorList d =
      ops::all_reduce(all_douts(c), {.op = sums ? a.op : "sum", .group = a.group, .what = a.what, .index = a.index, .scale = a.scale, .wire = a.wire});
  for (size_t i = 0; i < d.size() && !sums; ++i) d[i] = ops::mul(d[i], ops::cast(ops::equal(c.in[i], c.out[i]), d[i].dtype()));
  return d;
}

std::vector<TensorMeta> infer_all_gather(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("all_gather", in, 1);
  check_rows("all_gather", in[0]);
  TensorMeta out = in[0];
  if (__builtin_mul_overflow(out.shape[0], size_of(attrs.as<GroupAttrs>().group), &out.shape[0])) throw ValueError("all_gather: the sizes overflow");
  return {out};
}
std::vector<Tensor> all_gather_vjp(const VjpContext& c) { return {ops::reduce_scatter(c.dout[0], "sum", c.attrs.as<GroupAttrs>().group)}; }

std::vector<TensorMeta> infer_reduce_scatter(const Attrs& attrs, Span<const TensorMeta> in) {
  const auto& a = attrs.as<ReduceScatterAttrs>();
  check_arity("reduce_scatter", in, 1);
  const int64_t size = size_of(a.group);
  check_parts("reduce_scatter", in[0], size);
  check_floats("reduce_scatter", parse_reduce_op("reduce_scatter", a.op), false, in[0].dtype);
  TensorMeta out = in[0];
  out.shape[0] /= size;
  return {out};
}
std::vector<Tensor> reduce_scatter_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<ReduceScatterAttrs>();
  const ReduceOp reduce = parse_reduce_op("reduce_scatter", a.op);
  if (reduce != ReduceOp::kSum && reduce != ReduceOp::kMean)
    throw ValueError(fmt::format("reduce_scatter of {} has no gradient", a.op), "", "use sum or mean, or all_reduce");
  const Tensor d = ops::all_gather(c.dout[0], a.group);
  return {reduce == ReduceOp::kSum ? d : ops::mul(d, 1.0 / static_cast<double>(size_of(a.group)))};
}

std::vector<TensorMeta> infer_broadcast(const Attrs& attrs, Span<const TensorMeta> in) {
  const auto& a = attrs.as<BroadcastAttrs>();
  check_some("broadcast", in);
  if (const int64_t size = size_of(a.group); a.root < 0 || a.root >= size)
    throw ValueError(fmt::format("broadcast: there is no rank {} in group '{}' of {}", a.root, a.group, size));
  return plain(in);
}
std::vector<Tensor> broadcast_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<BroadcastAttrs>();
  TensorList d = ops::all_reduce(all_douts(c), {.group = a.group, .what = "broadcast gradient"});
  if (comm::find_group(a.group).rank() == a.root) return d;
  for (Tensor& t : d) t = ops::full(t.shape(), 0, t.dtype());
  return d;
}

std::vector<TensorMeta> infer_all_to_all(const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity("all_to_all", in, 1);
  check_parts("all_to_all", in[0], size_of(attrs.as<GroupAttrs>().group));
  return {in[0]};
}
std::vector<Tensor> all_to_all_vjp(const VjpContext& c) { return {ops::all_to_all(c.dout[0], c.attrs.as<GroupAttrs>().group)}; }

void check_partners(const char* what, const std::vector<int64_t>& ranks, const ExchangeAttrs& a) {
  const int64_t size = size_of(a.group);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= size)
      throw ValueError(fmt::format("neighbor_exchange: {} {} is not a rank of group '{}', which has {}", what, ranks[i], a.group, size));
    if (std::find(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(i), ranks[i]) != ranks.begin() + static_cast<ptrdiff_t>(i))
      throw ValueError(fmt::format("neighbor_exchange: {} names rank {} twice", what, ranks[i]), "", "concatenate the tensors, or call it twice");
  }
}

std::vector<TensorMeta> infer_neighbor_exchange(const Attrs& attrs, Span<const TensorMeta> in) {
  const auto& a = attrs.as<ExchangeAttrs>();
  if (in.size() != a.to.size()) throw ValueError(fmt::format("neighbor_exchange: {} tensors are given for {} ranks", in.size(), a.to.size()));
  if (a.to.empty() && a.from.empty()) throw ValueError("neighbor_exchange: no rank to send to or to receive from is given");
  check_partners("to", a.to, a);
  check_partners("from", a.from, a);
  const int64_t me = comm::find_group(a.group).rank();
  if ((std::find(a.to.begin(), a.to.end(), me) == a.to.end()) != (std::find(a.from.begin(), a.from.end(), me) == a.from.end()))
    throw ValueError(fmt::format("neighbor_exchange: rank {} would wait for itself", me), "", "name it in both lists or in neither");
  for (const TensorMeta& m : in)
    if (m.dtype != a.dtype) throw DTypeError(fmt::format("neighbor_exchange: operand {} does not have the messages' type {}", m.str(), dtype_name(a.dtype)));
  if (a.from.empty()) return {in[0]};
  const std::vector<Shape> shapes = unpack_shapes(a.shapes);
  if (shapes.size() != a.from.size())
    throw ValueError(fmt::format("neighbor_exchange: {} shapes are given for {} ranks to receive from", shapes.size(), a.from.size()));
  std::vector<TensorMeta> out;
  for (const Shape& s : shapes) {
    int64_t bytes = 0;
    if (std::any_of(s.begin(), s.end(), [](int64_t d) { return d < 0; }) ||
        __builtin_mul_overflow(s.numel(), static_cast<int64_t>(dtype_size(a.dtype)), &bytes))
      throw ValueError(fmt::format("neighbor_exchange: there is no tensor of shape {}", s.str()));
    TensorMeta m = in.empty() ? TensorMeta{s, a.dtype, Layout::kContiguous, {}} : in[0];
    m.shape = s;
    out.push_back(m);
  }
  return out;
}
std::vector<Tensor> neighbor_exchange_vjp(const VjpContext& c) {
  const auto& a = c.attrs.as<ExchangeAttrs>();
  TensorList back;
  for (size_t i = 0; i < c.out.size(); ++i) back.push_back(c.dout[i].defined() ? c.dout[i] : ops::full(c.out[i].shape(), 0, c.out[i].dtype()));
  std::vector<Shape> shapes;
  for (const Tensor& t : c.in) shapes.push_back(t.shape());
  if (!a.from.empty()) {
    TensorList d = ops::neighbor_exchange(back, a.from, a.to, shapes, a.dtype, a.tag, a.group);
    return a.to.empty() ? TensorList() : d;
  }
  TensorList d = ops::neighbor_exchange({}, {}, a.to, shapes, a.dtype, a.tag, a.group);
  d[0] = ops::add(d[0], back[0]);
  return d;
}

bool kth_on_kth(const Attrs&, size_t, size_t out, size_t in) { return out == in; }

const OpDef& kAllReduce = register_op({
    .name = "all_reduce",
    .doc =
        "Tensors of one type, of any shapes, reduced element by element over the ranks of `group` in one call: sum, mean, max, min or prod (`op`). "
        "`scale` multiplies sums once; with `wire`, float32 values are scaled and then sent in that 16-bit type. `what` and `index` name the call in errors. "
        "`watch` records whether this rank's tensors are finite.",
    .attrs = attrs_type<AllReduceNodeAttrs>(),
    .traits = {.saves_out = kSavesAll, .may_overwrite = kth_on_kth, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_all_reduce,
    .vjp = all_reduce_vjp,
});
const OpDef& kAllGather = register_op({
    .name = "all_gather",
    .doc = "[n, ...] of every rank of `group` -> [size * n, ...], by rank. The gradient is reduce_scatter of sums.",
    .attrs = attrs_type<GroupAttrs>(),
    .traits = {.saves_in = kSavesNone, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_all_gather,
    .vjp = all_gather_vjp,
});
const OpDef& kReduceScatter = register_op({
    .name = "reduce_scatter",
    .doc = "[size * n, ...] reduced over the ranks of `group` (`op`: sum, mean, max, min, prod); each rank receives its part [n, ...]. "
           "The gradient of sum and mean is all_gather.",
    .attrs = attrs_type<ReduceScatterAttrs>(),
    .traits = {.saves_in = kSavesNone, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_reduce_scatter,
    .vjp = reduce_scatter_vjp,
});
const OpDef& kBroadcast = register_op({
    .name = "broadcast",
    .doc = "Tensors of one type as rank `root` of `group` has them, on every rank. The gradient is the ranks' sum on the root, zero elsewhere.",
    .attrs = attrs_type<BroadcastAttrs>(),
    .traits = {.saves_in = kSavesNone, .may_overwrite = kth_on_kth, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_broadcast,
    .vjp = broadcast_vjp,
});
const OpDef& kAllToAll = register_op({
    .name = "all_to_all",
    .doc = "[size * n, ...]: part r along the first dimension goes to rank r of `group`, and comes from it. The gradient is the op itself.",
    .attrs = attrs_type<GroupAttrs>(),
    .traits = {.saves_in = kSavesNone, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_all_to_all,
    .vjp = all_to_all_vjp,
});

const OpDef& kNeighborExchange = register_op({
    .name = "neighbor_exchange",
    .doc = "Simultaneous messages between pairs of ranks of `group`: operand i is sent to rank `to`[i], result i is received from rank `from`[i]; without "
           "`from` the first operand is returned. `shapes` holds each result's number of dimensions followed by the dimensions. The gradient is the exchange "
           "the other way.",
    .attrs = attrs_type<ExchangeAttrs>(),
    .traits = {.saves_in = kSavesNone, .lane = Lane::kComm, .host_effect = true},
    .infer = infer_neighbor_exchange,
    .vjp = neighbor_exchange_vjp,
});

}  // namespace

std::vector<int64_t> comm_ops::pack_shapes(const std::vector<Shape>& shapes) {
  std::vector<int64_t> out;
  for (const Shape& s : shapes) {
    out.push_back(s.rank());
    out.insert(out.end(), s.begin(), s.end());
  }
  return out;
}

std::vector<Shape> comm_ops::unpack_shapes(const std::vector<int64_t>& packed) {
  std::vector<Shape> out;
  for (size_t at = 0; at < packed.size();) {
    const int64_t rank = packed[at++];
    if (rank < 0 || rank > static_cast<int64_t>(packed.size() - at))
      throw ValueError("neighbor_exchange: each entry of shapes must be a number of dimensions followed by the dimensions");
    out.emplace_back(std::vector<int64_t>(packed.begin() + static_cast<ptrdiff_t>(at), packed.begin() + static_cast<ptrdiff_t>(at) + rank));
    at += static_cast<size_t>(rank);
  }
  return out;
}

namespace ops {

std::vector<Tensor> all_reduce(const std::vector<Tensor>& xs, const AllReduceAttrs& a) {
  return sindri::bind(kAllReduce, Attrs::of(AllReduceNodeAttrs{a.op, a.group, a.what, a.index, a.scale, a.wire, a.watch}), Span<const Tensor>(xs));
}
Tensor all_gather(const Tensor& x, const std::string& group) { return bind_one(kAllGather, Attrs::of(GroupAttrs{group}), {x}); }
Tensor reduce_scatter(const Tensor& x, const std::string& op, const std::string& group) {
  return bind_one(kReduceScatter, Attrs::of(ReduceScatterAttrs{op, group}), {x});
}
std::vector<Tensor> broadcast(const std::vector<Tensor>& xs, int64_t root, const std::string& group) {
  return sindri::bind(kBroadcast, Attrs::of(BroadcastAttrs{root, group}), Span<const Tensor>(xs));
}
std::vector<Tensor> neighbor_exchange(const std::vector<Tensor>& xs, const std::vector<int64_t>& to, const std::vector<int64_t>& from,
                                      const std::vector<Shape>& shapes, DType dtype, int64_t tag, const std::string& group) {
  return sindri::bind(kNeighborExchange, Attrs::of(ExchangeAttrs{to, from, comm_ops::pack_shapes(shapes), dtype, tag, group}), Span<const Tensor>(xs));
}
Tensor send(const Tensor& x, int64_t to, int64_t tag, const std::string& group) { return neighbor_exchange({x}, {to}, {}, {}, x.dtype(), tag, group)[0]; }
Tensor recv(const Shape& shape, DType dtype, int64_t from, int64_t tag, const std::string& group) {
  return neighbor_exchange({}, {}, {from}, {shape}, dtype, tag, group)[0];
}
Tensor send_recv(const Tensor& x, int64_t to, int64_t from, int64_t tag, const std::string& group) {
  return neighbor_exchange({x}, {to}, {from}, {x.shape()}, x.dtype(), tag, group)[0];
}
Tensor all_to_all(const Tensor& x, const std::string& group) { return bind_one(kAllToAll, Attrs::of(GroupAttrs{group}), {x}); }

}  // namespace ops
}  // namespace sindri
