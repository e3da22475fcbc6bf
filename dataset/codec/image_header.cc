// Parses only the part of each format that holds its size. Every read is checked against the end of the file.
#include "dataset/codec/image_header.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

namespace {

struct Bytes {
  const uint8_t* data;
  int64_t n;
  bool has(int64_t offset, int64_t count) const { return offset >= 0 && count >= 0 && offset <= n && count <= n - offset; }
  bool starts(const char* magic, int64_t count, int64_t offset = 0) const {
    return has(offset, count) && std::memcmp(data + offset, magic, static_cast<size_t>(count)) == 0;
  }
  uint32_t little(int64_t o, int count) const {
    uint32_t v = 0;
    for (int i = 0; i < count; ++i) v |= static_cast<uint32_t>(data[o + i]) << (8 * i);
    return v;
  }
  uint32_t big(int64_t o, int count) const {
    uint32_t v = 0;
    for (int i = 0; i < count; ++i) v = v << 8 | data[o + i];
    return v;
  }
};

std::optional<ImageHeader> webp(const Bytes& b) {
  if (!b.has(0, 30)) return {};
  if (b.starts("VP8X", 4, 12)) return ImageHeader{"WebP", {static_cast<int64_t>(b.little(27, 3)) + 1, static_cast<int64_t>(b.little(24, 3)) + 1}};
  if (b.starts("VP8L", 4, 12)) {
    const uint32_t bits = b.little(21, 4);
    return ImageHeader{"WebP", {static_cast<int64_t>((bits >> 14) & 0x3fff) + 1, static_cast<int64_t>(bits & 0x3fff) + 1}};
  }
  if (b.starts("VP8 ", 4, 12)) return ImageHeader{"WebP", {b.little(28, 2) & 0x3fff, b.little(26, 2) & 0x3fff}};
  return {};
}

std::optional<ImageHeader> tiff(const Bytes& b, bool big_endian) {
  auto read = [&](int64_t o, int count) { return big_endian ? b.big(o, count) : b.little(o, count); };
  if (!b.has(0, 8)) return {};
  const int64_t directory = read(4, 4);
  if (!b.has(directory, 2)) return {};
  const int64_t entries = read(directory, 2);
  ImageHeader h{"TIFF", {}};
  for (int64_t i = 0; i < entries && b.has(directory + 2 + 12 * i, 12); ++i) {
    const int64_t at = directory + 2 + 12 * i;
    const uint32_t tag = read(at, 2), type = read(at + 2, 2);
    const int64_t value = type == 3 ? read(at + 8, 2) : read(at + 8, 4);
    if (tag == 256) h.size.width = value;
    if (tag == 257) h.size.height = value;
  }
  return h;
}

}  // namespace

std::optional<ImageHeader> read_image_header(const uint8_t* data, int64_t bytes) {
  const Bytes b{data, bytes};
  if (b.starts("\x89PNG\r\n\x1a\n", 8)) {
    if (!b.has(16, 8)) return {};
    return ImageHeader{"PNG", {b.big(20, 4), b.big(16, 4)}};
  }
  if (b.starts("BM", 2)) {
    if (!b.has(14, 12)) return {};
    if (b.little(14, 4) == 12) return ImageHeader{"BMP", {b.little(20, 2), b.little(18, 2)}};  // OS/2: 16-bit sizes
    return ImageHeader{"BMP", {std::llabs(static_cast<int32_t>(b.little(22, 4))), std::llabs(static_cast<int32_t>(b.little(18, 4)))}};
  }
  if (b.starts("GIF8", 4) && b.has(6, 4)) return ImageHeader{"GIF", {b.little(8, 2), b.little(6, 2)}};
  if (b.starts("RIFF", 4) && b.starts("WEBP", 4, 8)) return webp(b);
  if (b.starts("II*\0", 4)) return tiff(b, false);
  if (b.starts("MM\0*", 4)) return tiff(b, true);
  return {};
}

ImageHeader check_image_header(const uint8_t* data, int64_t bytes) {
  const std::optional<ImageHeader> header = read_image_header(data, bytes);
  if (!header) {
    const auto byte = [&](int64_t i) { return bytes > i ? data[i] : 0; };
    throw BadSample(fmt::format("the file is not an image: it begins with {:02x} {:02x} {:02x} {:02x}", byte(0), byte(1), byte(2), byte(3)), "",
                    "use JPEG, PNG, BMP, TIFF or WebP");
  }
  if (std::string_view(header->format) == "GIF")
    throw BadSample("the file is a GIF image, which is not supported", "", "convert it to JPEG, PNG, BMP, TIFF or WebP");
  if (header->size.height < 1 || header->size.width < 1 || header->size.height > kMaxPixels / header->size.width)
    throw BadSample(fmt::format("the {} image has {} x {} pixels, the limit is 64 million", header->format, header->size.width, header->size.height), "",
                    "make the image smaller");
  return *header;
}

}  // namespace sindri::dataset
