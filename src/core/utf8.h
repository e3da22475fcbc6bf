// UTF-8 checks and conversion for names and text that come from files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sindri {

/// Returns the byte position of the first malformed sequence (overlong forms and surrogates included), or -1.
int64_t first_invalid_utf8(std::string_view text);
/// Returns the code points of valid UTF-8.
std::u32string utf8_to_utf32(std::string_view text);
/// Appends one code point; returns false if it is invalid (surrogate or beyond 0x10FFFF).
bool append_utf8(uint32_t code_point, std::string* out);

}  // namespace sindri
