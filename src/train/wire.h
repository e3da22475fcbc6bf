// Writes protobuf's wire format, as far as .ckpt and TensorBoard's event files need it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sindri::train::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

inline void put_varint(std::string* out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}
inline void put_key(std::string* out, uint32_t field, Type type) { put_varint(out, field << 3 | type); }
inline void put_int(std::string* out, uint32_t field, int64_t v) {
  put_key(out, field, kVarint);
  put_varint(out, static_cast<uint64_t>(v));
}
inline void put_bytes(std::string* out, uint32_t field, std::string_view bytes) {
  put_key(out, field, kLengthDelimited);
  put_varint(out, bytes.size());
  out->append(bytes);
}
inline void put_double(std::string* out, uint32_t field, double v) {
  put_key(out, field, kFixed64);
  char raw[8];
  std::memcpy(raw, &v, 8);
  out->append(raw, 8);
}
inline void put_float(std::string* out, uint32_t field, float v) {
  put_key(out, field, kFixed32);
  char raw[4];
  std::memcpy(raw, &v, 4);
  out->append(raw, 4);
}
inline int64_t varint_size(uint64_t v) { return (std::bit_width(v | 1) + 6) / 7; }

static_assert(std::endian::native == std::endian::little, "checkpoints and event files are written from little-endian memory");

}  // namespace sindri::train::wire
