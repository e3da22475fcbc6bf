// See png.h.
#include "src/train/png.h"

#include <zlib.h>

#include <string_view>

#include "sindri/core/error.h"

namespace sindri::train {

namespace {

void png_chunk(std::string* out, std::string_view kind, const std::string& data) {
  const auto big_endian = [out](uint64_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(v >> shift));
  };
  const std::string body = std::string(kind) + data;
  big_endian(data.size());
  *out += body;
  big_endian(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
}

}  // namespace

std::string png(int64_t height, int64_t width, int64_t channels, const std::string& rows) {
  std::string header, raw, out = "\x89PNG\r\n\x1a\n";
  for (const int64_t v : {width, height})
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<char>(v >> shift));
  header += {8, static_cast<char>(channels == 1 ? 0 : channels == 3 ? 2 : 6), 0, 0, 0};  // bits, colour; deflate, standard filters, not interlaced
  const auto row_bytes = static_cast<size_t>(width * channels);
  for (size_t at = 0; at < rows.size(); at += row_bytes) raw += '\0' + rows.substr(at, row_bytes);  // each row follows its filter's number: none
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size()) != Z_OK)
    throw InternalError("an image could not be compressed");
  packed.resize(size);
  png_chunk(&out, "IHDR", header);
  png_chunk(&out, "IDAT", packed);
  png_chunk(&out, "IEND", "");
  return out;
}

}  // namespace sindri::train
