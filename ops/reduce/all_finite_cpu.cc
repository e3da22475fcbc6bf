// Kernels of all_finite. The fast one cuts every input into pieces; once a piece has failed, pieces not yet started are skipped.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "ops/reduce/all_finite_simd.h"
#include "src/device/cpu/parallel.h"
#include "src/op/element.h"

namespace sindri {
namespace {

constexpr int64_t kPiece = 65536;  // elements: large enough to hide the cost of a task

struct Piece {
  const char* data;
  int64_t count;
  int dtype;
};

void simd(const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
  std::vector<Piece> pieces;
  for (const Buffer& b : in) {
    const int64_t n = b.meta->numel(), size = static_cast<int64_t>(dtype_size(b.meta->dtype));
    for (int64_t at = 0; at < n; at += kPiece)
      pieces.push_back({static_cast<const char*>(b.data) + at * size, std::min(kPiece, n - at), static_cast<int>(b.meta->dtype)});
  }
  std::atomic<bool> finite{true};
  parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && finite.load(std::memory_order_relaxed); ++i) {
      const Piece& p = pieces[static_cast<size_t>(i)];
      if (!SINDRI_SIMD_CALL(row_is_finite)(p.dtype, p.data, p.count)) finite.store(false, std::memory_order_relaxed);
    }
  });
  *out[0].as<bool>() = finite.load();
}

void reference(const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
  bool finite = true;
  for (const Buffer& b : in)
    for (int64_t i = 0; i < b.meta->numel(); ++i) finite = finite && std::isfinite(load_element(b, i));
  *out[0].as<bool>() = finite;
}

const bool kSimd = register_kernel({.op = "all_finite", .name = "simd", .simple = simd});
const bool kReference = register_kernel({.op = "all_finite", .name = "reference", .priority = kReferencePriority, .simple = reference});

}  // namespace
}  // namespace sindri
