// Shared by the pooling kernels on CUDA devices: windows from their attributes, and channels in groups.
#pragma once

#include <algorithm>

#include "ops/pool/pool_common.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/windows.h"

namespace sindri::cuda {

inline AxisRule axis_rule(const ops::Pool2dAttrs& a, int axis, int64_t in) {
  const auto i = static_cast<size_t>(axis);
  return fixed_rule(in, ops::pooled_size(a, axis, in), a.kernel[i], a.stride[i], a.pad[2 * i], a.pad[2 * i + 1], a.count_include_pad);
}
inline AxisRule adaptive_rule(int64_t in, int64_t out) { return {in, out, 1, 1, 0, in, true, false, {}}; }

/// Channels per thread: 16 bytes of E if the layout is channels-last and all tensors allow it, otherwise one.
template <class E> inline constexpr int kGroupOf = static_cast<int>(16 / sizeof(E));
inline bool takes_groups(const Call& call, int64_t channels, int group, bool channels_last) {
  if (!channels_last || channels % group != 0) return false;
  const auto aligned = [](const Buffer& b) { return reinterpret_cast<uintptr_t>(b.data) % 16 == 0; };
  return std::all_of(call.in.begin(), call.in.end(), aligned) && std::all_of(call.out.begin(), call.out.end(), aligned);
}

}  // namespace sindri::cuda
