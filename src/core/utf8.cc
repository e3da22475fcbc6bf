// See utf8.h.
#include "src/core/utf8.h"

namespace sindri {

namespace {
// Decodes the sequence at `i` and moves past it; returns false if it is malformed.
bool decode(std::string_view s, size_t* i, uint32_t* code_point) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(s[k]); };
  const uint8_t lead = byte(*i);
  if (lead < 0x80) {
    *code_point = lead;
    ++*i;
    return true;
  }
  const int extra = lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xF0 && lead < 0xF5 ? 3 : 0;
  if (extra == 0 || *i + static_cast<size_t>(extra) >= s.size()) return false;
  uint32_t c = lead & (0x3Fu >> extra);
  for (int k = 1; k <= extra; ++k) {
    const uint8_t b = byte(*i + static_cast<size_t>(k));
    if ((b & 0xC0u) != 0x80u) return false;
    c = (c << 6) | (b & 0x3Fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};  // smaller code points have a shorter form
  if (c < kSmallest[extra] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
  *i += static_cast<size_t>(extra) + 1;
  *code_point = c;
  return true;
}
}  // namespace

int64_t first_invalid_utf8(std::string_view text) {
  uint32_t c = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    if (!decode(text, &i, &c)) return static_cast<int64_t>(start);
  }
  return -1;
}

std::u32string utf8_to_utf32(std::string_view text) {
  std::u32string out;
  uint32_t c = 0;
  for (size_t i = 0; i < text.size() && decode(text, &i, &c);) out.push_back(static_cast<char32_t>(c));
  return out;
}

bool append_utf8(uint32_t c, std::string* out) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
  const auto put = [&](uint32_t b) { out->push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
  return true;
}

}  // namespace sindri
