// image_input on CUDA devices. Memory traffic: each byte of the images is read once and each element of the result written once.
#include "ops/shape/image_input.h"
#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

// A thread computes a pixel of the result: neighbouring threads write neighbouring elements of each plane. `pixels` is the number of pixels of all images.
template <class E>
__global__ void image_planes(const uint8_t* x, const uint8_t* flip, E* y, int64_t pixels, Divisor plane, Divisor width, int channels, ImageScale f) {
  for (int64_t i = global_thread(); i < pixels; i += global_threads()) {
    const int64_t n = plane.quotient(i), place = i - n * plane.value;
    int64_t from = i;
    if (flip != nullptr && flip[n] != 0) {
      const int64_t row = width.quotient(place), column = place - row * width.value;
      from = i - column + (width.value - 1 - column);
    }
    E* const to = y + n * plane.value * channels + place;
    // Two roundings, as on the host, which does not contract them.
    for (int c = 0; c < channels; ++c)
      to[c * plane.value] = store_as<E>(__fadd_rn(__fmul_rn(static_cast<float>(x[from * channels + c]), f.scale[c]), f.shift[c]));
  }
}

void run_image_input(const Call& call) {
  const Shape& s = call.query.in[0].shape;
  const int64_t plane = s[1] * s[2], pixels = s[0] * plane;
  if (pixels == 0) return;
  const auto& a = call.query.attrs.as<ImageInputAttrs>();
  const uint8_t* const flip = call.in.size() > 1 ? call.input<uint8_t>(1) : nullptr;
  const auto start = [&]<class E>(E* y) {
    launch(call, grid_for(pixels), image_planes<E>, call.input<uint8_t>(0), flip, y, pixels, Divisor(plane, pixels), Divisor(s[2], plane),
           static_cast<int>(s[3]), image_scale(a));
  };
  if (a.dtype == DType::kFloat32) start(call.output<float>(0));
  else if (a.dtype == DType::kFloat16) start(call.output<Half>(0));
  else start(call.output<Bf16>(0));
}

const bool kImageInput = register_cuda_kernel({.op = "image_input", .run = run_image_input});

}  // namespace
}  // namespace sindri::cuda
