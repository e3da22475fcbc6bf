// WebP by libwebp.
#include <fmt/format.h>
#include <webp/decode.h>

#include "dataset/codec/decode.h"

namespace sindri::dataset {

namespace {

const char* reason(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return "out of memory";
    case VP8_STATUS_NOT_ENOUGH_DATA: return "the file ends within the image";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "a feature that libwebp does not support";
    default: return "its data are damaged";
  }
}

}  // namespace

void decode_webp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) throw_damaged("WebP", "libwebp is of another version than its header");
  const size_t n = static_cast<size_t>(bytes);
  VP8StatusCode code = WebPGetFeatures(data, n, &config.input);
  if (code != VP8_STATUS_OK) throw_damaged("WebP", reason(code));
  if (config.input.has_animation != 0) throw_unsupported("WebP", "it is an animation");
  if (config.input.width != size.width || config.input.height != size.height) throw_damaged("WebP", "two sizes in one file");
  const size_t stride = static_cast<size_t>(size.width) * 3;
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {rgb, static_cast<int>(stride), stride * static_cast<size_t>(size.height)};
  code = WebPDecode(data, n, &config);
  WebPFreeDecBuffer(&config.output);
  if (code != VP8_STATUS_OK) throw_damaged("WebP", reason(code));
}

}  // namespace sindri::dataset
