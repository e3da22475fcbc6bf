// Reads EXIF's orientation tag from the segments of a JPEG file or the chunks of a PNG file. Every read is checked against the end.
#include "dataset/codec/orientation.h"

#include <cstring>

#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

namespace {

struct Part {
  const uint8_t* data = nullptr;
  int64_t n = 0;
  bool starts(const char* magic, int64_t count) const { return n >= count && std::memcmp(data, magic, static_cast<size_t>(count)) == 0; }
  Part from(int64_t offset) const { return {data + offset, n - offset}; }
  uint32_t big(int64_t o, int count) const {
    uint32_t v = 0;
    for (int i = 0; i < count; ++i) v = v << 8 | data[o + i];
    return v;
  }
};

// Reads a TIFF header and its first directory.
int of_tiff(const Part& p) {
  if (!p.starts("II*\0", 4) && !p.starts("MM\0*", 4)) return 1;
  const bool big_endian = p.data[0] == 'M';
  const auto read = [&](int64_t o, int count) {
    if (big_endian) return p.big(o, count);
    uint32_t v = 0;
    for (int i = count - 1; i >= 0; --i) v = v << 8 | p.data[o + i];
    return v;
  };
  if (p.n < 8) return 1;
  const int64_t directory = read(4, 4);
  if (directory + 2 > p.n) return 1;
  const int64_t entries = read(directory, 2);
  for (int64_t i = 0, at = directory + 2; i < entries && at + 12 <= p.n; ++i, at += 12) {
    if (read(at, 2) != 0x112) continue;
    const uint32_t v = read(at + 8, 2);
    return v >= 1 && v <= 8 ? static_cast<int>(v) : 1;
  }
  return 1;
}

int of_jpeg(const Part& p) {
  for (int64_t at = 2; at + 4 <= p.n && p.data[at] == 0xff;) {
    const uint8_t marker = p.data[at + 1];
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) break;  // the image data start, or the file ends
    const int64_t length = p.big(at + 2, 2);
    if (length < 2 || at + 2 + length > p.n) break;
    const Part segment{p.data + at + 4, length - 2};
    if (marker == 0xe1 && segment.starts("Exif\0\0", 6)) return of_tiff(segment.from(6));
    at += 2 + length;
  }
  return 1;
}

int of_png(const Part& p) {
  for (int64_t at = 8; at + 12 <= p.n;) {
    const int64_t length = p.big(at, 4);
    if (at + 12 + length > p.n) break;
    const Part type{p.data + at + 4, 4 + length};
    if (type.starts("eXIf", 4)) return of_tiff(type.from(4));
    at += 12 + length;
  }
  return 1;
}

}  // namespace

int orientation(const uint8_t* data, int64_t bytes) {
  const Part p{data, bytes};
  if (JpegDecoder::is_jpeg(data, bytes)) return of_jpeg(p);
  return p.starts("\x89PNG\r\n\x1a\n", 8) ? of_png(p) : 1;
}

}  // namespace sindri::dataset
