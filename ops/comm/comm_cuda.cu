// Collective ops on CUDA devices: they find the group and put its calls on the stream of their lane (NCCL; a world of one rank copies). Their own arithmetic is
// done by kernels over all tensors of a call at once: the factor, 16-bit wires, and the search for elements that are not finite.
//
// Messages between two ranks carry no tag here, because the host would have to wait to compare it. They match by order, and sizes must agree.
#include <atomic>
#include <mutex>
#include <new>
#include <optional>

#include "ops/comm/comm_ops.h"
#include "ops/comm/pieces_cuda.h"
#include "sindri/core/device.h"
#include "sindri/core/runtime.h"
#include "src/device/cuda/reduce.h"

namespace sindri::comm_cuda {
namespace {

using namespace comm_ops;
using namespace cuda;

constexpr int kBlocksOfNccl = 32;  // NCCL launches at most this many, one per channel; each may need its own multiprocessor
comm::Call on_stream(const Call& call, const char* what, int index = 0) {
  if (comm::world().size() > 1) cuda::reserve_multiprocessors(kBlocksOfNccl);
  return {what, index, &call.stream};
}
int64_t bytes_of(const Buffer& b) { return b.meta->nbytes(); }

// ----- watched calls -----

// The first operand with a non-finite element that a watched call found and the host has not read yet. Stored in pinned memory.
struct Finding {
  unsigned written, unused;
  int64_t index, tensor, tensors;
};
struct FindingAt {
  Finding* at;  // in a struct, like all host memory passed to kernels
  int64_t index, tensors;
};

struct Watched {
  const void* from;
  int64_t numel;
  uint32_t first_block;
  int tensor;
};
// Finds the lowest index of a tensor that has a non-finite element.
template <class E> __global__ void look(const __grid_constant__ Table<Watched> table, int* lowest) {
  const Chunk<Watched> c = chunk_of(table);
  const E* const from = static_cast<const E*>(c.entry.from);
  bool bad = false;
  for (int64_t i = c.begin + threadIdx.x; i < c.end; i += blockDim.x) bad = bad || !isfinite(cuda::load(from[i]));
  if (bad) (void)atomicMin(lowest, c.entry.tensor);
}
constexpr int kNone = 0x7f7f7f7f;
__global__ void note(const int* lowest, FindingAt finding) {
  if (*lowest == kNone || finding.at->written != 0) return;
  finding.at->index = finding.index;
  finding.at->tensor = *lowest;
  finding.at->tensors = finding.tensors;
  __threadfence_system();
  finding.at->written = 1;
}

std::mutex g_mutex;
std::vector<Finding*>& findings() {  // by device; never freed, because recorded graphs keep their addresses
  static auto* const list = new std::vector<Finding*>;
  return *list;
}
Finding* finding_of(Device device) {
  const std::lock_guard lock(g_mutex);
  const auto i = static_cast<size_t>(device.index);
  if (findings().size() <= i) findings().resize(i + 1, nullptr);
  if (findings()[i] == nullptr) {
    const cuda::NotCaptured outside;
    void* p = nullptr;
    cuda::check(cudaHostAlloc(&p, sizeof(Finding), cudaHostAllocPortable), "allocating memory for the findings of watched calls", device);
    findings()[i] = new (p) Finding{};
  }
  return findings()[i];
}
std::optional<ops::NonFiniteOperand> take_finding() {
  const Device device = current_device();
  const std::lock_guard lock(g_mutex);
  const auto i = static_cast<size_t>(device.index);
  if (device.kind != Device::kCuda || i >= findings().size() || findings()[i] == nullptr) return std::nullopt;
  Finding& f = *findings()[i];
  const std::atomic_ref<unsigned> written(f.written);
  if (written.load(std::memory_order_acquire) == 0) return std::nullopt;
  const ops::NonFiniteOperand found{f.index, f.tensor, f.tensors};
  written.store(0, std::memory_order_release);
  return found;
}

void watch(const Call& call, int64_t index, int* lowest) {
  const DType type = call.in[0].meta->dtype;
  if (!is_floating(type)) return;
  std::vector<Watched> all;
  for (size_t k = 0; k < call.in.size(); ++k) all.push_back({call.in[k].data, call.in[k].meta->numel(), 0, static_cast<int>(k)});
  fill_bytes(call, lowest, 0x7f, sizeof(int));
  cuda::dispatch_floating_element(type, [&]<class E>() {
    for_tables<Watched>(all, [&](const Table<Watched>& table, int64_t blocks) { launch(call, grid_of(blocks), look<E>, table, lowest); });
  });
  launch(call, {dim3(1), dim3(1), 0}, note, lowest, FindingAt{finding_of(call.stream.device()), index, static_cast<int64_t>(call.in.size())});
}

// ----- all_reduce -----

constexpr int64_t kWatchBytes = 256;

int64_t wire_bytes(const AllReduceNodeAttrs& a, DType type, int64_t count) {
  return a.wire.empty() || parse_dtype(a.wire) == type ? 0 : count * static_cast<int64_t>(dtype_size(parse_dtype(a.wire)));
}
int64_t workspace(const KernelQuery& q) {
  int64_t count = 0;
  for (const TensorMeta& m : q.in) count += m.numel();
  return kWatchBytes + wire_bytes(q.attrs.as<AllReduceNodeAttrs>(), q.in[0].dtype, count);
}

// Each rank scales before the sum, so that the sum stays in the range of 16 bits.
template <class Wire> void reduce_narrow(const Call& call, comm::Communicator& group, const AllReduceNodeAttrs& a, ReduceOp op, Wire* wire) {
  std::vector<Move> there, back;
  int64_t count = 0;
  for (size_t k = 0; k < call.in.size(); ++k) {
    const int64_t n = call.in[k].meta->numel();
    there.push_back({call.in[k].data, wire + count, n, 0});
    back.push_back({wire + count, call.out[k].data, n, 0});
    count += n;
  }
  launch_moves<float, Wire>(call, there, op == ReduceOp::kMean ? a.scale / group.size() : a.scale);
  group.all_reduce(wire, wire, count, parse_dtype(a.wire), ReduceOp::kSum, on_stream(call, a.what.c_str(), static_cast<int>(a.index)));
  launch_moves<Wire, float>(call, back, 1);
}

void all_reduce(const Call& call) {
  const auto& a = call.query.attrs.as<AllReduceNodeAttrs>();
  const ReduceOp op = parse_reduce_op("all_reduce", a.op);
  const DType type = call.in[0].meta->dtype;
  comm::Communicator& group = comm::find_group(a.group);
  if (a.watch) watch(call, a.index, static_cast<int*>(call.workspace));
  char* const wire = static_cast<char*>(call.workspace) + kWatchBytes;
  if (wire_bytes(a, type, 1) > 0) {
    if (parse_dtype(a.wire) == DType::kBFloat16) reduce_narrow(call, group, a, op, reinterpret_cast<Bf16*>(wire));
    else reduce_narrow(call, group, a, op, reinterpret_cast<Half*>(wire));
    return;
  }
  std::vector<comm::Piece> pieces;
  std::vector<Move> moves;
  for (size_t k = 0; k < call.in.size(); ++k) {
    pieces.push_back({call.in[k].data, call.out[k].data, call.in[k].meta->numel()});
    moves.push_back({call.out[k].data, call.out[k].data, call.in[k].meta->numel(), 0});
  }
  group.all_reduce(pieces, type, op, on_stream(call, a.what.c_str(), static_cast<int>(a.index)));
  if (a.scale != 1) cuda::dispatch_floating_element(type, [&]<class E>() { launch_moves<E, E>(call, moves, a.scale); });
}

// ----- calls without arithmetic -----

void all_gather(const Call& call) {
  comm::find_group(call.query.attrs.as<GroupAttrs>().group)
      .all_gather(call.in[0].data, call.out[0].data, call.in[0].meta->numel(), call.in[0].meta->dtype, on_stream(call, "all_gather op"));
}
void reduce_scatter(const Call& call) {
  const auto& a = call.query.attrs.as<ReduceScatterAttrs>();
  comm::find_group(a.group).reduce_scatter(call.in[0].data, call.out[0].data, call.out[0].meta->numel(), call.in[0].meta->dtype,
                                           parse_reduce_op("reduce_scatter", a.op), on_stream(call, "reduce_scatter op"));
}
void broadcast(const Call& call) {
  const auto& a = call.query.attrs.as<BroadcastAttrs>();
  comm::Communicator& group = comm::find_group(a.group);
  for (size_t k = 0; k < call.in.size(); ++k) {
    const Buffer &in = call.in[k], &out = call.out[k];
    if (out.data != in.data && bytes_of(in) > 0 && group.rank() == a.root) copy_bytes(call, out.data, in.data, bytes_of(in));
    group.broadcast(out.data, out.meta->numel(), out.meta->dtype, static_cast<int>(a.root), on_stream(call, "broadcast op", static_cast<int>(k)));
  }
}
void all_to_all(const Call& call) {
  comm::Communicator& group = comm::find_group(call.query.attrs.as<GroupAttrs>().group);
  group.all_to_all(call.in[0].data, call.out[0].data, call.in[0].meta->numel() / group.size(), call.in[0].meta->dtype, on_stream(call, "all_to_all op"));
}

// Rounds as on the CPU: in round d each rank sends to the d-th rank after it and receives from the d-th before it.
void neighbor_exchange(const Call& call) {
  const auto& a = call.query.attrs.as<ExchangeAttrs>();
  comm::Communicator& group = comm::find_group(a.group);
  const int size = group.size(), me = group.rank();
  const auto at = [](const std::vector<int64_t>& ranks, int rank, Span<const Buffer> buffers) -> const Buffer* {
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    return found == ranks.end() ? nullptr : &buffers[static_cast<size_t>(found - ranks.begin())];
  };
  if (a.from.empty() && call.out[0].data != call.in[0].data && bytes_of(call.in[0]) > 0)
    copy_bytes(call, call.out[0].data, call.in[0].data, bytes_of(call.in[0]));
  const comm::Call body = on_stream(call, "message", static_cast<int>(a.tag));
  for (int d = 0; d < size; ++d) {
    const int to = (me + d) % size, from = (me - d + size) % size;
    const Buffer* const x = at(a.to, to, call.in);
    const Buffer* const y = at(a.from, from, call.out);
    if (x != nullptr && y != nullptr) group.send_recv(x->data, x->meta->numel(), to, y->data, y->meta->numel(), from, a.dtype, body);
    else if (x != nullptr) group.send(x->data, x->meta->numel(), a.dtype, to, body);
    else if (y != nullptr) group.recv(y->data, y->meta->numel(), a.dtype, from, body);
  }
}

const bool kWatch = add_nonfinite_source(take_finding);
const bool kAllReduce = register_cuda_kernel({.op = "all_reduce", .run = all_reduce, .workspace = workspace});
const bool kAllGather = register_cuda_kernel({.op = "all_gather", .run = all_gather});
const bool kReduceScatter = register_cuda_kernel({.op = "reduce_scatter", .run = reduce_scatter});
const bool kBroadcast = register_cuda_kernel({.op = "broadcast", .run = broadcast});
const bool kAllToAll = register_cuda_kernel({.op = "all_to_all", .run = all_to_all});
const bool kNeighborExchange = register_cuda_kernel({.op = "neighbor_exchange", .run = neighbor_exchange});

}  // namespace
}  // namespace sindri::comm_cuda
