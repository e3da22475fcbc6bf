// image_input on the CPU.
#include "ops/shape/image_input.h"

#include <algorithm>

#include "ops/shape/shape_ops.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

using namespace shape_ops;

template <class T> void images_to_planes(const KernelQuery& q, const uint8_t* x, const uint8_t* flip, T* y) {
  const Shape& s = q.in[0].shape;
  const int64_t height = s[1], width = s[2], channels = s[3], plane = height * width;
  const ImageScale f = image_scale(q.attrs.as<ImageInputAttrs>());
  parallel_for(s[0] * channels, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, plane)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t n = p / channels, c = p % channels;
      const bool mirrored = flip != nullptr && flip[n] != 0;
      for (int64_t h = 0; h < height; ++h) {
        const uint8_t* const row = x + (n * height + h) * width * channels + c;
        T* const to = y + p * plane + h * width;
        for (int64_t w = 0; w < width; ++w)
          to[w] = static_cast<T>(static_cast<float>(row[(mirrored ? width - 1 - w : w) * channels]) * f.scale[c] + f.shift[c]);
      }
    }
  });
}

void run_image_input(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const uint8_t* const x = in[0].as<uint8_t>();
  const uint8_t* const flip = in.size() > 1 ? in[1].as<uint8_t>() : nullptr;
  const DType dtype = q.attrs.as<ImageInputAttrs>().dtype;
  if (dtype == DType::kFloat32) images_to_planes(q, x, flip, out[0].as<float>());
  else if (dtype == DType::kFloat16) images_to_planes(q, x, flip, out[0].as<float16>());
  else images_to_planes(q, x, flip, out[0].as<bfloat16>());
}

const bool kReference = register_kernel({.op = "image_input", .name = "reference", .priority = kReferencePriority, .simple = run_image_input});

}  // namespace
}  // namespace sindri
