// all_finite on CUDA devices: one launch for up to five hundred tensors, whose pieces are distributed over blocks. Memory traffic: every input once, in 16-byte
// accesses.
#include <algorithm>

#include "src/device/cuda/launch.h"
#include "src/device/cuda/vector.h"

namespace sindri::cuda {
namespace {

constexpr int kTensors = 512;  // per launch: kernel arguments have 32 KB
constexpr int64_t kPiece = 16384;  // elements

struct Tensors {
  int count = 0;
  const void* data[kTensors] = {};
  int64_t elements[kTensors] = {};
  int64_t pieces_up_to[kTensors] = {};  // number of pieces of this tensor and those before it
  DType dtype[kTensors] = {};
};

// Whether no element is NaN or infinite: the exponent is not all ones.
template <class Bits> SINDRI_DEVICE bool piece_is_finite(const void* data, int64_t begin, int64_t end, Bits exponent) {
  const Bits* const x = static_cast<const Bits*>(data);
  constexpr int V = kVector<Bits>;
  bool finite = true;
  int64_t i = begin;
  if (reinterpret_cast<uintptr_t>(x) % 16 == 0) {  // pieces start at multiples of V elements
    const int64_t whole = begin + (end - begin) / V * V;
    for (int64_t k = begin + int64_t{threadIdx.x} * V; k < whole; k += int64_t{blockDim.x} * V) {
      const auto v = load_vector<V>(x + k);
      for (int j = 0; j < V; ++j) finite = finite && (v.e[j] & exponent) != exponent;
    }
    i = whole;
  }
  for (i += threadIdx.x; i < end; i += blockDim.x) finite = finite && (x[i] & exponent) != exponent;
  return finite;
}

// Every thread that finds an element that is not finite writes the same 0; the first launch has written 1 before.
__global__ void find_not_finite(const __grid_constant__ Tensors t, uint8_t* finite, bool first) {
  bool all = true;
  for (int64_t piece = blockIdx.x; piece < t.pieces_up_to[t.count - 1]; piece += gridDim.x) {
    int k = 0, last = t.count - 1;  // the first tensor whose pieces extend beyond this one
    while (k < last) {
      const int middle = (k + last) / 2;
      if (piece < t.pieces_up_to[middle]) last = middle;
      else k = middle + 1;
    }
    const int64_t begin = (piece - (k > 0 ? t.pieces_up_to[k - 1] : 0)) * kPiece, end = begin + kPiece < t.elements[k] ? begin + kPiece : t.elements[k];
    bool fine = true;
    switch (t.dtype[k]) {
      case DType::kFloat16: fine = piece_is_finite<uint16_t>(t.data[k], begin, end, 0x7c00); break;
      case DType::kBFloat16: fine = piece_is_finite<uint16_t>(t.data[k], begin, end, 0x7f80); break;
      case DType::kFloat32: fine = piece_is_finite<uint32_t>(t.data[k], begin, end, 0x7f800000u); break;
      default: fine = piece_is_finite<uint64_t>(t.data[k], begin, end, 0x7ff0000000000000ull);
    }
    all = all && fine;
  }
  if (first) {
    if (global_thread() == 0) *finite = 1;
    sync_grid();
  }
  if (!all) *finite = 0;
}

void run(const Call& call) {
  Tensors t;
  bool first = true;
  const auto go = [&] {
    if (t.count == 0) return;
    const int64_t blocks = std::min(t.pieces_up_to[t.count - 1], coresident_blocks(call, kThreads, find_not_finite));
    launch_cooperative(call, Grid{dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0}, find_not_finite, t, call.output<uint8_t>(0), first);
    first = false;
    t = {};
  };
  for (const Buffer& b : call.in) {
    const int64_t n = b.meta->numel();
    if (n == 0) continue;
    const int64_t before = t.count > 0 ? t.pieces_up_to[t.count - 1] : 0;
    t.data[t.count] = b.data;
    t.elements[t.count] = n;
    t.dtype[t.count] = b.meta->dtype;
    t.pieces_up_to[t.count++] = before + ceil_div(n, kPiece);
    if (t.count == kTensors) go();
  }
  go();
  if (first) fill_bytes(call, call.out[0].data, 1, 1);  // no elements
}

KernelCost cost(const KernelQuery& q) { return {.launches = (static_cast<int>(q.in.size()) + kTensors - 1) / kTensors}; }

const bool kAllFinite = register_cuda_kernel({.op = "all_finite", .run = run, .cost = cost});

}  // namespace
}  // namespace sindri::cuda
