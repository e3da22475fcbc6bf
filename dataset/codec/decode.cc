// Selects a file's decoder, and throws the errors that all decoders share.
#include "dataset/codec/decode.h"

#include <fmt/format.h>

#include <string_view>

#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

void decode_rgb(const uint8_t* data, int64_t bytes, const ImageHeader& header, uint8_t* rgb) {
  const std::string_view format = header.format;
  if (format == "PNG") return decode_png(data, bytes, header.size, {}, rgb);
  if (format == "BMP") return decode_bmp(data, bytes, header.size, rgb);
  if (format == "TIFF") return decode_tiff(data, bytes, header.size, rgb);
  if (format == "WebP") return decode_webp(data, bytes, header.size, rgb);
  throw InternalError(fmt::format("no decoder for {} images", header.format));
}

void throw_damaged(const char* format, const std::string& why) {
  throw BadSample(fmt::format("damaged {}: {}", format, why), "", "replace the file, or set data.on_corrupt: replace");
}
void throw_unsupported(const char* format, const std::string& what) {
  throw BadSample(fmt::format("unsupported {} image: {}", format, what), "", "convert it, e.g. to PNG with 8 bits a channel");
}

}  // namespace sindri::dataset
