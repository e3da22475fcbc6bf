// The "simd" kernel of the elementwise ops: one vectorised loop per op over flat tiles of the output (tile_operands.h).
#include <algorithm>
#include <array>
#include <string_view>

#include "ops/elementwise/elementwise_impl.h"
#include "ops/elementwise/tile_loops.h"
#include "ops/elementwise/tile_operands.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace elementwise;

constexpr int64_t kTile = 1024;  // elements; three operand buffers of 8-byte elements stay in L1
constexpr int64_t kParallelGrain = 16384;  // elements per thread; with fewer, starting threads costs more than it saves
constexpr size_t kMaxOperands = 3;

class TileKernel final : public Kernel {
 public:
  TileKernel(const KernelQuery& q, TileFn tile)
      : tile_(tile), numel_(q.out[0].numel()), out_size_(dtype_size(q.out[0].dtype)), numbers_(numbers_of(q.attrs)), operands_(q.in, q.out[0]) {}

  void run(ExecContext&, Span<const Buffer> in, Span<const Buffer> out) override {
    if (numel_ == 0) return;
    char* y = static_cast<char*>(out[0].data);
    if (numel_ <= 2 * kParallelGrain - kTile && operands_.all_in_place()) {  // little work and no buffers: one thread, without tiles
      std::array<const void*, kMaxOperands> at{};
      for (size_t k = 0; k < in.size(); ++k) at[k] = in[k].data;
      return tile_(at.data(), y, numel_, numbers_.data());
    }
    parallel_for(fixed_chunks(numel_, kTile), kParallelGrain / kTile,
                 [&](int64_t first, int64_t last) { run_range(in, y, first * kTile, std::min(numel_, last * kTile)); });
  }

 private:
  using Access = TileOperands::Access;

  void run_range(Span<const Buffer> in, char* y, int64_t begin, int64_t end) const {
    alignas(64) std::array<std::array<char, kTile * 8>, kMaxOperands> buffers;
    std::array<const void*, kMaxOperands> at{};
    const int64_t step = operands_.all_in_place() ? end - begin : kTile;
    for (size_t k = 0; k < in.size(); ++k) {
      if (operands_.access(k) != Access::kConstant) continue;
      operands_.gather(k, in[k].data, begin, std::min(step, end - begin), buffers[k].data());
      at[k] = buffers[k].data();
    }
    for (int64_t i = begin; i < end; i += step) {
      const int64_t n = std::min(step, end - i);
      for (size_t k = 0; k < in.size(); ++k) {
        if (operands_.access(k) == Access::kInPlace) at[k] = static_cast<const char*>(in[k].data) + static_cast<size_t>(i) * operands_.element_size(k);
        if (operands_.access(k) != Access::kGather) continue;
        operands_.gather(k, in[k].data, i, n, buffers[k].data());
        at[k] = buffers[k].data();
      }
      tile_(at.data(), y + static_cast<size_t>(i) * out_size_, n, numbers_.data());
    }
  }

  TileFn tile_;
  int64_t numel_;
  size_t out_size_;
  std::array<double, 2> numbers_;
  TileOperands operands_;
};

struct Row {
  const char* op;
  TileFn (*loop)(Span<const TensorMeta> in, const TensorMeta& out);
};

int type_of(const TensorMeta& m) { return static_cast<int>(m.dtype); }

// clang-format off
constexpr Row kRows[] = {
#define UNARY(id, ...) \
  {#id, [](Span<const TensorMeta> in, const TensorMeta&) { return SINDRI_SIMD_CALL(unary_tile)(UnaryId::id, type_of(in[0])); }},
#define UNARY_WITH(id, ...) UNARY(id)
#include "ops/elementwise/unary.def"
#undef UNARY
#undef UNARY_WITH

#define BINARY(id, ...) \
  {#id, [](Span<const TensorMeta> in, const TensorMeta&) { return SINDRI_SIMD_CALL(binary_tile)(BinaryId::id, type_of(in[0])); }},
#define BINARY_WITH(id, ...) BINARY(id)
#define BINARY_FLAT(id, ...) BINARY(id)
#include "ops/elementwise/binary.def"
#undef BINARY
#undef BINARY_WITH
#undef BINARY_FLAT

    {"where", [](Span<const TensorMeta>, const TensorMeta& out) { return SINDRI_SIMD_CALL(where_tile)(static_cast<int>(dtype_size(out.dtype))); }},
    {"cast", [](Span<const TensorMeta> in, const TensorMeta& out) { return SINDRI_SIMD_CALL(cast_tile)(type_of(in[0]), type_of(out)); }},
};
// clang-format on

std::unique_ptr<Kernel> make_tiles(const KernelQuery& q) { return std::make_unique<TileKernel>(q, find_tile(q.op, q.in, q.out[0])); }

const bool kRegistered = [] {
  for (const Row& row : kRows) register_kernel({.op = row.op, .name = "simd", .make = make_tiles});
  return true;
}();

}  // namespace

TileFn elementwise::find_tile(const OpDef& op, Span<const TensorMeta> in, const TensorMeta& out) {
  for (const Row& row : kRows) {
    if (std::string_view(row.op) == op.name) return row.loop(in, out);
  }
  return nullptr;
}

}  // namespace sindri
