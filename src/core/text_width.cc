// See text_width.h. The ranges are those of Unicode's EastAsianWidth.txt (W and F) and of its combining marks; ranges
// are merged if no other character lies between them. The C library's wcwidth knows them too, but only in a UTF-8
// locale, and a program runs in one only if it calls setlocale.
#include "src/core/text_width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace sindri {

namespace {

struct Range {
  uint32_t first, last;
};
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
                           {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x26bd, 0x26be},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2757},
                           {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b55},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
                           {0x4e00, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
                           {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2fb}, {0x1f004, 0x1f004}, {0x1f18e, 0x1f1ff}, {0x1f200, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
constexpr Range kNone[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x0900, 0x0902},  {0x093c, 0x093c}, {0x0941, 0x0948},
                           {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},  {0x200b, 0x200f}, {0x20d0, 0x20f0},
                           {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};

template <size_t N> bool within(const Range (&ranges)[N], uint32_t c) {
  const Range* const at = std::lower_bound(std::begin(ranges), std::end(ranges), c, [](const Range& r, uint32_t v) { return r.last < v; });
  return at != std::end(ranges) && at->first <= c;
}

// The number of bytes and the number of columns of a character.
struct Character {
  size_t bytes;
  size_t columns;
};
Character character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {1, 1};
  uint32_t c = byte(0) & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {1, 1};
    c = c << 6 | (byte(i) & 0x3fu);
  }
  return {bytes, within(kNone, c) ? 0u : within(kWide, c) ? 2u : 1u};
}

}  // namespace

size_t text_columns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character c = character_at(text);
    columns += c.columns;
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string fit_columns(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const Character c = character_at(text.substr(at));
    if (used + c.columns > columns) break;
    used += c.columns;
    at += c.bytes;
  }
  return std::string(text.substr(0, at));
}

std::string fold_columns(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t used = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t space = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, space - start);
    const size_t columns = text_columns(word);
    if (used > indent && used + 1 + columns > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (start > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns;
    start = space + 1;
  }
  return out;
}

}  // namespace sindri
