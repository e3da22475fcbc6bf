// Kernels of the collective ops on the CPU: they find the current runtime's group and call it. They run on a separate thread, in parallel with the threads that
// compute, and do their own arithmetic without a thread team.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "ops/comm/comm_ops.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/comm.h"
#include "src/comm/algorithms.h"
#include "src/comm/session.h"

namespace sindri {
namespace {

using namespace comm_ops;

template <class Half> void narrow(const float* from, void* to, int64_t n, float factor) {
  auto* const out = static_cast<Half*>(to);
  for (int64_t i = 0; i < n; ++i) out[i] = Half(from[i] * factor);
}
template <class Half> void widen(const void* from, float* to, int64_t n) {
  const auto* const in = static_cast<const Half*>(from);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(in[i]);
}

// Whether any exponent is all ones. Uses integers, so that compilers vectorise the comparisons.
template <class Bits, Bits exponent> bool has_nonfinite(const void* data, int64_t n) {
  const auto* const p = static_cast<const Bits*>(data);
  constexpr int64_t kPiece = 4096;
  for (int64_t at = 0; at < n; at += kPiece) {
    Bits bad = 0;
    for (int64_t i = at, end = std::min(n, at + kPiece); i < end; ++i) bad |= static_cast<Bits>((p[i] & exponent) == exponent ? 1 : 0);
    if (bad != 0) return true;
  }
  return false;
}
bool has_nonfinite(const Buffer& b) {
  const int64_t n = b.meta->numel();
  switch (b.meta->dtype) {
    case DType::kFloat16: return has_nonfinite<uint16_t, 0x7c00>(b.data, n);
    case DType::kBFloat16: return has_nonfinite<uint16_t, 0x7f80>(b.data, n);
    case DType::kFloat32: return has_nonfinite<uint32_t, 0x7f800000>(b.data, n);
    case DType::kFloat64: return has_nonfinite<uint64_t, 0x7ff0000000000000>(b.data, n);
    default: return false;
  }
}

struct Findings {
  std::mutex mutex;
  std::optional<ops::NonFiniteOperand> first;
};
constinit RuntimeSlot<Findings> findings;

std::vector<NonFiniteSource>& nonfinite_sources() {
  static std::vector<NonFiniteSource> list;  // filled at load time
  return list;
}

void watch(int64_t index, Span<const Buffer> in) {
  for (size_t k = 0; k < in.size(); ++k) {
    if (!has_nonfinite(in[k])) continue;
    Findings& f = findings.get();
    const std::lock_guard lock(f.mutex);
    if (!f.first) f.first = {index, static_cast<int64_t>(k), static_cast<int64_t>(in.size())};
    return;
  }
}

int64_t elements_of(Span<const TensorMeta> metas) {
  int64_t n = 0;
  for (const TensorMeta& m : metas) n += m.numel();
  return n;
}

class AllReduce final : public Kernel {
 public:
  explicit AllReduce(const KernelQuery& q)
      : attrs_(q.attrs.as<AllReduceNodeAttrs>()), op_(parse_reduce_op("all_reduce", attrs_.op)), dtype_(q.in[0].dtype), count_(elements_of(q.in)) {
    if (!attrs_.wire.empty()) wire_ = parse_dtype(attrs_.wire);
  }
  int64_t workspace_bytes() const override { return wire_ == dtype_ ? 0 : count_ * static_cast<int64_t>(dtype_size(wire_)); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    comm::Communicator& group = comm::find_group(attrs_.group);
    const comm::Call call{attrs_.what.c_str(), static_cast<int>(attrs_.index)};
    if (attrs_.watch) watch(attrs_.index, in);
    if (workspace_bytes() > 0) return run_narrow(group, call, ctx.workspace, in, out);
    std::vector<comm::Piece> pieces;
    for (size_t k = 0; k < in.size(); ++k) pieces.push_back({in[k].data, out[k].data, in[k].meta->numel()});
    group.all_reduce(pieces, dtype_, op_, call);
    if (attrs_.scale == 1) return;
    for (const Buffer& b : out) comm::scale(b.data, b.meta->numel(), dtype_, attrs_.scale);
  }

 private:
  // Each rank scales before the sum, so that the sum stays in the range of 16 bits.
  void run_narrow(comm::Communicator& group, const comm::Call& call, void* wire, Span<const Buffer> in, Span<const Buffer> out) const {
    const double share = op_ == ReduceOp::kMean ? attrs_.scale / group.size() : attrs_.scale;
    auto* at = static_cast<char*>(wire);
    const auto each = [&](Span<const Buffer> buffers, auto f) {
      at = static_cast<char*>(wire);
      for (const Buffer& b : buffers) {
        f(b.as<float>(), b.meta->numel());
        at += b.meta->numel() * static_cast<int64_t>(dtype_size(wire_));
      }
    };
    const bool brain = wire_ == DType::kBFloat16;
    each(in, [&](const float* x, int64_t n) { (brain ? narrow<bfloat16> : narrow<float16>)(x, at, n, static_cast<float>(share)); });
    group.all_reduce(wire, wire, count_, wire_, ReduceOp::kSum, call);
    each(out, [&](float* x, int64_t n) { (brain ? widen<bfloat16> : widen<float16>)(at, x, n); });
  }

  AllReduceNodeAttrs attrs_;
  ReduceOp op_;
  DType dtype_, wire_ = dtype_;
  int64_t count_;
};

void all_gather(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  comm::find_group(q.attrs.as<GroupAttrs>().group).all_gather(in[0].data, out[0].data, in[0].meta->numel(), in[0].meta->dtype, {"all_gather op"});
}
void reduce_scatter(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<ReduceScatterAttrs>();
  comm::find_group(a.group).reduce_scatter(in[0].data, out[0].data, out[0].meta->numel(), in[0].meta->dtype, parse_reduce_op("reduce_scatter", a.op),
                                           {"reduce_scatter op"});
}
void broadcast(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<BroadcastAttrs>();
  comm::Communicator& group = comm::find_group(a.group);
  for (size_t k = 0; k < in.size(); ++k) {
    if (out[k].data != in[k].data && in[k].meta->nbytes() > 0 && group.rank() == a.root)
      std::memcpy(out[k].data, in[k].data, static_cast<size_t>(in[k].meta->nbytes()));
    group.broadcast(out[k].data, out[k].meta->numel(), out[k].meta->dtype, static_cast<int>(a.root), {"broadcast op", static_cast<int>(k)});
  }
}
void all_to_all(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  comm::Communicator& group = comm::find_group(q.attrs.as<GroupAttrs>().group);
  group.all_to_all(in[0].data, out[0].data, in[0].meta->numel() / group.size(), in[0].meta->dtype, {"all_to_all op"});
}

// Precedes each message: its tag and size, so that a receiver that expects another message does not read this one.
struct Head {
  int64_t tag, bytes;
};

void check_head(comm::Communicator& group, int from, const Head& got, const Head& wanted) {
  if (got.tag == wanted.tag && got.bytes == wanted.bytes) return;
  comm::Session& session = *group.session();
  const CommError error(ErrorCode::kCommMismatch,
                        fmt::format("rank {} of '{}' sent {} with tag {}, rank {} waits for {} with tag {}", from, group.name(), comm::bytes_text(got.bytes),
                                    got.tag, group.rank(), comm::bytes_text(wanted.bytes), wanted.tag),
                        session.where(), "messages between two ranks arrive in the order in which they are sent");
  session.fail(error);  // an error recorded earlier, such as the sender's, is kept: it may say more
  session.check();
}

// In round d each rank sends to the d-th rank after it and receives from the d-th before it. A rank that waits in round d waits for a rank that is in round d
// or an earlier one, so there is no deadlock.
void neighbor_exchange(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<ExchangeAttrs>();
  comm::Communicator& group = comm::find_group(a.group);
  const int size = group.size(), me = group.rank();
  const auto at = [](const std::vector<int64_t>& ranks, int rank, Span<const Buffer> buffers) -> const Buffer* {
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    return found == ranks.end() ? nullptr : &buffers[static_cast<size_t>(found - ranks.begin())];
  };
  if (a.from.empty() && out[0].data != in[0].data && in[0].meta->nbytes() > 0) std::memcpy(out[0].data, in[0].data, static_cast<size_t>(in[0].meta->nbytes()));
  const comm::Call head{"head of a message", static_cast<int>(a.tag)}, body{"message", static_cast<int>(a.tag)};
  for (int d = 0; d < size; ++d) {
    const int to = (me + d) % size, from = (me - d + size) % size;
    const Buffer* const x = at(a.to, to, in);
    const Buffer* const y = at(a.from, from, out);
    const Head mine{a.tag, x != nullptr ? x->meta->nbytes() : 0}, wanted{a.tag, y != nullptr ? y->meta->nbytes() : 0};
    Head theirs{};
    if (x != nullptr && y != nullptr) {
      group.send_recv(&mine, 2, to, &theirs, 2, from, DType::kInt64, head);
      check_head(group, from, theirs, wanted);
      group.send_recv(x->data, x->meta->numel(), to, y->data, y->meta->numel(), from, a.dtype, body);
    } else if (x != nullptr) {
      group.send(&mine, 2, DType::kInt64, to, head);
      group.send(x->data, x->meta->numel(), a.dtype, to, body);
    } else if (y != nullptr) {
      group.recv(&theirs, 2, DType::kInt64, from, head);
      check_head(group, from, theirs, wanted);
      group.recv(y->data, y->meta->numel(), a.dtype, from, body);
    }
  }
}

// These ops have no other kernels. They are named "reference" because the op suite expects that name for the kernel with the lowest priority.
const bool kAllReduce = register_kernel({.op = "all_reduce", .name = "reference", .priority = kReferencePriority, .make = [](const KernelQuery& q) {
                                           return std::unique_ptr<Kernel>(std::make_unique<AllReduce>(q));
                                         }});
const bool kAllGather = register_kernel({.op = "all_gather", .name = "reference", .priority = kReferencePriority, .simple = all_gather});
const bool kReduceScatter = register_kernel({.op = "reduce_scatter", .name = "reference", .priority = kReferencePriority, .simple = reduce_scatter});
const bool kBroadcast = register_kernel({.op = "broadcast", .name = "reference", .priority = kReferencePriority, .simple = broadcast});
const bool kAllToAll = register_kernel({.op = "all_to_all", .name = "reference", .priority = kReferencePriority, .simple = all_to_all});
const bool kNeighborExchange = register_kernel({.op = "neighbor_exchange", .name = "reference", .priority = kReferencePriority, .simple = neighbor_exchange});

}  // namespace

bool comm_ops::add_nonfinite_source(NonFiniteSource source) {
  nonfinite_sources().push_back(source);
  return true;
}

std::optional<ops::NonFiniteOperand> ops::take_nonfinite_operand() {
  std::optional<NonFiniteOperand> found;
  {
    Findings& f = findings.get();
    const std::lock_guard lock(f.mutex);
    found = std::exchange(f.first, std::nullopt);
  }
  for (const NonFiniteSource source : nonfinite_sources()) {
    const auto there = source();
    if (!found) found = there;
  }
  return found;
}

}  // namespace sindri
