// BMP, decoded here without a library: a header, a palette, rows of 32-bit words from the bottom up.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dataset/codec/decode.h"
#include "sindri/dataset/dataset.h"

namespace sindri::dataset {

namespace {

struct Mask {
  uint32_t bits = 0;
  // The field's value scaled to 0..255.
  uint8_t of(uint32_t pixel) const {
    if (bits == 0) return 0;
    const int shift = __builtin_ctz(bits);
    const uint64_t most = bits >> shift, value = (pixel & bits) >> shift;
    return static_cast<uint8_t>((value * 255 + most / 2) / most);
  }
};

struct Bmp {
  const uint8_t* data;
  int64_t bytes;
  uint32_t u16(int64_t o) const { return data[o] | static_cast<uint32_t>(data[o + 1]) << 8; }
  uint32_t u32(int64_t o) const { return u16(o) | u16(o + 2) << 16; }

  int64_t pixels = 0;  // offset of the first row
  int bits = 0;
  bool bottom_up = true;
  std::array<Mask, 3> masks{};  // 16 and 32 bits: red, green, blue
  std::array<std::array<uint8_t, 3>, 256> palette{};

  void read_header() {
    if (bytes < 26) throw_damaged("BMP", "the file ends within its header");
    const int64_t header = u32(14);
    const bool old = header == 12;
    if ((!old && header < 40) || 14 + header > bytes) throw_damaged("BMP", fmt::format("its header has {} bytes", header));
    pixels = u32(10);
    bits = static_cast<int>(u16(old ? 24 : 28));
    const uint32_t compression = old ? 0 : u32(30);
    bottom_up = old || static_cast<int32_t>(u32(22)) > 0;
    if (compression == 1 || compression == 2) throw_unsupported("BMP", "it is run-length encoded");
    if (compression != 0 && compression != 3 && compression != 6) throw_unsupported("BMP", fmt::format("its compression is {}", compression));
    if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32) throw_unsupported("BMP", fmt::format("{} bits a pixel", bits));
    if (bits == 16) masks = {Mask{0x7c00}, Mask{0x03e0}, Mask{0x001f}};
    if (bits == 32) masks = {Mask{0xff0000}, Mask{0xff00}, Mask{0xff}};
    if (compression != 0) {
      if (bits != 16 && bits != 32) throw_damaged("BMP", fmt::format("fields in {} bits a pixel", bits));
      if (bytes < 66) throw_damaged("BMP", "the file ends within its header");
      for (size_t c = 0; c < 3; ++c) masks[c].bits = u32(54 + 4 * static_cast<int64_t>(c));
    }
    if (bits <= 8) read_palette(14 + header, old ? 3 : 4, old ? 0 : u32(46));
  }

  void read_palette(int64_t at, int64_t entry, int64_t used) {
    const int64_t most = int64_t{1} << bits, n = used == 0 ? most : used;
    if (n > most || at + n * entry > bytes) throw_damaged("BMP", fmt::format("a palette of {} colours", n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < 3; ++c) palette[static_cast<size_t>(i)][static_cast<size_t>(c)] = data[at + i * entry + 2 - c];
  }

  void row(const uint8_t* in, int64_t width, uint8_t* rgb) const {
    for (int64_t x = 0; x < width; ++x, rgb += 3) {
      if (bits == 24) {
        for (int64_t c = 0; c < 3; ++c) rgb[c] = in[3 * x + 2 - c];
      } else if (bits <= 8) {
        const int64_t per_byte = 8 / bits;
        const unsigned index = in[x / per_byte] >> (8 - bits * static_cast<int>(x % per_byte + 1)) & ((1u << bits) - 1);
        for (size_t c = 0; c < 3; ++c) rgb[c] = palette[index][c];
      } else {
        const uint32_t pixel = bits == 16
            ? in[2 * x] | in[2 * x + 1] << 8
            : in[4 * x] | static_cast<uint32_t>(in[4 * x + 1]) << 8 | static_cast<uint32_t>(in[4 * x + 2]) << 16 | static_cast<uint32_t>(in[4 * x + 3]) << 24;
        for (size_t c = 0; c < 3; ++c) rgb[c] = masks[c].of(pixel);
      }
    }
  }
};

}  // namespace

void decode_bmp(const uint8_t* data, int64_t bytes, ImageSize size, uint8_t* rgb) {
  Bmp bmp{data, bytes};
  bmp.read_header();
  const int64_t stride = (size.width * bmp.bits + 31) / 32 * 4;  // the image has at most kMaxPixels pixels, so nothing overflows
  if (bmp.pixels < 26 || bmp.pixels > bytes || stride * size.height > bytes - bmp.pixels) throw_damaged("BMP", "the file ends within the image");
  for (int64_t y = 0; y < size.height; ++y) {
    const int64_t from = bmp.bottom_up ? size.height - 1 - y : y;
    bmp.row(data + bmp.pixels + from * stride, size.width, rgb + y * size.width * 3);
  }
}

bool bmp_is_grey(const uint8_t* data, int64_t bytes) {
  Bmp bmp{data, bytes};
  bmp.read_header();
  return bmp.bits <= 8 && std::ranges::all_of(bmp.palette, [](const auto& c) { return c[0] == c[1] && c[1] == c[2]; });
}

}  // namespace sindri::dataset
