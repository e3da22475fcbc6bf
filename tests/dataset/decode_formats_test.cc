// PNG, WebP, TIFF and BMP in every supported colour form, against the pixels they were written from; hostile files of each.
#include "sindri/dataset/vision.h"
#include "tests/dataset/helpers.h"

namespace sindri::dataset {
namespace decode_formats {

using Bytes = std::vector<uint8_t>;

Tensor decode(const Bytes& b) { return vision::Decode()(Tensor::from_vector({static_cast<int64_t>(b.size())}, b)); }

std::string refusal(const Bytes& b) {
  try {
    decode(b);
  } catch (const BadSample& e) { return e.message(); }
  return "decoded";
}

Bytes noise(size_t n, uint32_t seed) {
  Bytes out(n);
  for (auto& b : out) b = static_cast<uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  return out;
}

// Sample i of a row of packed big-endian samples.
uint32_t sample(const uint8_t* row, size_t i, int bits) {
  if (bits == 16) return static_cast<uint32_t>(row[2 * i] << 8 | row[2 * i + 1]);
  const size_t per_byte = 8 / static_cast<size_t>(bits);
  return row[i / per_byte] >> (8 - bits * static_cast<int>(i % per_byte + 1)) & ((1u << bits) - 1);
}
uint8_t to_8_bits(uint32_t v, int bits) { return static_cast<uint8_t>(bits == 16 ? v >> 8 : v * 255 / ((1u << bits) - 1)); }

TEST(DecodePng, EveryColourFormDepthAndOrderOfRows) {
  struct Case {
    int type, channels, bits;
  };
  std::vector<Case> cases;
  for (const int bits : {1, 2, 4, 8, 16}) cases.push_back({PNG_COLOR_TYPE_GRAY, 1, bits});
  for (const int bits : {1, 2, 4, 8}) cases.push_back({PNG_COLOR_TYPE_PALETTE, 1, bits});
  for (const int bits : {8, 16})
    for (const auto& [type, channels] : {std::pair{PNG_COLOR_TYPE_GRAY_ALPHA, 2}, {PNG_COLOR_TYPE_RGB, 3}, {PNG_COLOR_TYPE_RGB_ALPHA, 4}})
      cases.push_back({type, channels, bits});
  const int h = 11, w = 13;
  for (const Case& c : cases) {
    for (const bool interlaced : {false, true}) {
      SCOPED_TRACE(testing::Message() << "colour type " << c.type << ", " << c.bits << " bits" << (interlaced ? ", interlaced" : ""));
      const size_t stride = static_cast<size_t>(w * c.channels * c.bits + 7) / 8;
      const Bytes rows = noise(stride * h, static_cast<uint32_t>(c.type * 100 + c.bits));
      const bool palette = c.type == PNG_COLOR_TYPE_PALETTE;
      const Tensor t = decode(encode_png(h, w, {c.type, c.bits, interlaced, palette ? 1 << c.bits : 0}, rows));
      ASSERT_EQ(t.shape(), (Shape{h, w, 3}));
      for (size_t i = 0; i < static_cast<size_t>(h * w); ++i) {
        const uint8_t* row = &rows[i / w * stride];
        const uint8_t* got = t.data<uint8_t>() + 3 * i;
        const size_t x = i % w;
        if (palette) {
          const uint32_t index = sample(row, x, c.bits);
          ASSERT_EQ(got[0], static_cast<uint8_t>(index));
          ASSERT_EQ(got[1], static_cast<uint8_t>(2 * index));
          ASSERT_EQ(got[2], static_cast<uint8_t>(255 - index));
        } else {
          for (size_t k = 0; k < 3; ++k)
            ASSERT_EQ(got[k], to_8_bits(sample(row, x * static_cast<size_t>(c.channels) + (c.channels >= 3 ? k : 0), c.bits), c.bits)) << "pixel " << i;
        }
      }
    }
  }
}

TEST(DecodeTiff, ColourFormsAndCompressions) {
  const int h = 10, w = 7;
  const Bytes colour = noise(static_cast<size_t>(h * w * 3), 1), grey = noise(static_cast<size_t>(h * w), 2), wide = noise(static_cast<size_t>(h * w * 6), 3);
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
    const Tensor t = decode(encode_tiff(h, w, {.compression = compression}, colour));
    ASSERT_EQ(t.shape(), (Shape{h, w, 3}));
    EXPECT_EQ(std::memcmp(t.raw_data(), colour.data(), colour.size()), 0) << compression;
    for (const int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE}) {
      const Tensor g = decode(encode_tiff(h, w, {.photometric = photometric, .compression = compression}, grey));
      for (size_t i = 0; i < grey.size() * 3; ++i) ASSERT_EQ(g.data<uint8_t>()[i], photometric == PHOTOMETRIC_MINISBLACK ? grey[i / 3] : 255 - grey[i / 3]);
    }
    const Tensor d = decode(encode_tiff(h, w, {.bits = 16, .compression = compression}, wide));
    for (size_t i = 0; i < colour.size(); ++i) ASSERT_NEAR(d.data<uint8_t>()[i], (wide[2 * i + 1] << 8 | wide[2 * i]) / 257.0, 0.51);
  }
  EXPECT_THAT(refusal(encode_tiff(h, w, {.bits = 32, .photometric = PHOTOMETRIC_MINISBLACK, .sample_format = SAMPLEFORMAT_IEEEFP},
                                  noise(static_cast<size_t>(h * w * 4), 4))),
              testing::HasSubstr("unsupported "));
}

TEST(DecodeWebp, LosslessPixelsAndNoAnimations) {
  const cv::Mat m = picture(19, 23, 4);
  const Tensor t = decode(encode_webp(m));
  ASSERT_EQ(t.shape(), (Shape{19, 23, 3}));
  EXPECT_EQ(std::memcmp(t.raw_data(), rgb_bytes(m).data(), static_cast<size_t>(t.nbytes())), 0);
  // An animation of 8 x 8 pixels: the flag in the extended header, and its chunk.
  Bytes moving{'R', 'I', 'F', 'F', 36, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0, 0,
               0,   2,   0,   0,   0,  7, 0, 0, 7,   0,   0,   'A', 'N', 'I', 'M', 6,   0,  0, 0};
  moving.resize(44);
  EXPECT_THAT(refusal(moving), testing::HasSubstr("it is an animation"));
}

TEST(DecodeBmp, EveryDepth) {
  const int h = 5, w = 11;
  Bytes palette;
  for (int i = 0; i < 256; ++i)
    palette.insert(palette.end(), {static_cast<uint8_t>(3 * i), static_cast<uint8_t>(2 * i), static_cast<uint8_t>(i), 0});  // blue first
  const auto scaled = [](uint32_t v, uint32_t most) { return static_cast<uint8_t>((v * 255 + most / 2) / most); };
  for (const int bits : {1, 4, 8, 16, 24, 32}) {
    for (const bool fields : {false, true}) {  // 16 bits as 5-6-5 and 32 as XBGR, given by masks
      if (fields && bits != 16 && bits != 32) continue;
      SCOPED_TRACE(testing::Message() << bits << (fields ? " bits with masks" : " bits"));
      const size_t stride = static_cast<size_t>((w * bits + 31) / 32 * 4);
      const Bytes rows = noise(stride * h, static_cast<uint32_t>(bits));
      Bytes before;
      if (bits <= 8) before.assign(palette.begin(), palette.begin() + (4 << bits));
      if (fields) before = bits == 16 ? Bytes{0, 0xf8, 0, 0, 0xe0, 7, 0, 0, 0x1f, 0, 0, 0} : Bytes{0xff, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0xff, 0};
      const Bytes file = encode_bmp(h, w, bits, fields ? 3 : 0, before, rows);
      const Tensor t = decode(file);
      ASSERT_EQ(t.shape(), (Shape{h, w, 3}));
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          const uint8_t* row = &rows[static_cast<size_t>(h - 1 - y) * stride];
          uint8_t want[3];
          if (bits <= 8) {
            const uint32_t index = sample(row, static_cast<size_t>(x), bits);
            for (uint32_t k = 0; k < 3; ++k) want[k] = static_cast<uint8_t>((k + 1) * index);
          } else if (bits == 16) {
            const uint32_t v = row[2 * x] | static_cast<uint32_t>(row[2 * x + 1]) << 8, green = fields ? 63 : 31;
            want[0] = scaled(fields ? v >> 11 : v >> 10 & 31, 31);
            want[1] = scaled(v >> 5 & green, green);
            want[2] = scaled(v & 31, 31);
          } else {
            for (int k = 0; k < 3; ++k) want[k] = row[x * bits / 8 + (fields ? k : 2 - k)];
          }
          for (int k = 0; k < 3; ++k) ASSERT_EQ(t.data<uint8_t>()[(y * w + x) * 3 + k], want[k]) << y << ", " << x << ", channel " << k;
        }
      }
      Bytes upside_down = file;  // a height below zero: the first row comes first
      for (size_t k = 0; k < 4; ++k) upside_down[22 + k] = static_cast<uint8_t>(static_cast<uint32_t>(-h) >> (8 * k));
      const Tensor u = decode(upside_down);
      EXPECT_EQ(std::memcmp(u.data<uint8_t>(), t.data<uint8_t>() + (h - 1) * w * 3, static_cast<size_t>(w * 3)), 0);
    }
  }
  EXPECT_THAT(refusal(encode_bmp(2, 2, 8, 1, palette, noise(8, 1))), testing::HasSubstr("run-length encoded"));
  Bytes many = encode_bmp(2, 2, 4, 0, Bytes(64), noise(8, 1));
  many[46] = 17;  // colours of the palette
  EXPECT_THAT(refusal(many), testing::HasSubstr("a palette of 17 colours"));
}

TEST(DecodeFormats, EveryTruncationIsABadSampleAndNoFlippedByteCrashes) {
  for (const char* suffix : {".png", ".webp", ".tiff", ".bmp"}) {
    const Bytes file = encoded(picture(12, 12, 1), suffix);
    // The last byte of a WebP may only be padding to an even length, so a file without it is valid.
    for (size_t n = 0; n + 1 < file.size(); ++n)
      EXPECT_THROW(decode({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)}), BadSample)
          << suffix << ": " << n << " of " << file.size() << " bytes";
    int refused = 0;
    for (size_t i = 0; i < file.size(); ++i) {
      for (const uint8_t flip : {0xff, 0x80, 0x01}) {
        Bytes flipped = file;
        flipped[i] ^= flip;
        try {
          decode(flipped);
        } catch (const BadSample&) { ++refused; }
      }
    }
    EXPECT_GT(refused, 20) << suffix;
  }
}

TEST(DecodeFormats, HugeSizesAreRefusedFromTheHeader) {
  Bytes bmp = encoded(picture(4, 4, 1), ".bmp");
  bmp[20] = bmp[24] = 0x7f;
  EXPECT_THAT(refusal(bmp), testing::HasSubstr("64 million"));
  Bytes webp(44);
  std::memcpy(webp.data(), "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff", 30);
  EXPECT_THAT(refusal(webp), testing::HasSubstr("64 million"));
  Bytes tiff(8 + 2 + 24);  // a directory with only width and height
  std::memcpy(tiff.data(), "II*\0\x08\0\0\0\x02\0\0\x01\x04\0\x01\0\0\0\xff\xff\xff\x7f\x01\x01\x04\0\x01\0\0\0\xff\xff\xff\x7f", 34);
  EXPECT_THAT(refusal(tiff), testing::HasSubstr("64 million"));
}

}  // namespace decode_formats
}  // namespace sindri::dataset
