// Formats error messages, whose parts are joined by " | ".
#include "sindri/core/error.h"

#include <cctype>

namespace sindri {

namespace {

// Paths and names may come from anywhere. Text longer than the longest path does not help a reader.
constexpr size_t kLongestWord = 5000, kKept = 200;

// Returns the last character boundary of UTF-8 at or before `at`.
size_t boundary(const std::string& s, size_t at) {
  while (at > 0 && (static_cast<unsigned char>(s[at]) & 0xc0) == 0x80) --at;
  return at;
}

// Shortens long runs without a space to their start and end.
std::string with_short_words(std::string s) {
  if (s.size() <= kLongestWord) return s;
  std::string out;
  for (size_t begin = 0; begin < s.size();) {
    size_t end = begin;
    while (end < s.size() && std::isspace(static_cast<unsigned char>(s[end])) == 0) ++end;
    if (end - begin <= kLongestWord) {
      out.append(s, begin, end - begin);
    } else {
      const size_t head = boundary(s, begin + kKept), tail = boundary(s, end - kKept);
      out.append(s, begin, head - begin).append("…(").append(std::to_string(tail - head)).append(" bytes)…").append(s, tail, end - tail);
    }
    for (begin = end; begin < s.size() && std::isspace(static_cast<unsigned char>(s[begin])) != 0; ++begin) out += s[begin];
  }
  return out;
}

}  // namespace

const char* error_code_text(ErrorCode code) {
  switch (code) {
#define SINDRI_ERROR_CODE(name, number, text) \
  case ErrorCode::name: \
    return text;
#include "sindri/core/error_codes.def"
#undef SINDRI_ERROR_CODE
  }
  return "unknown error";
}

Error::Error(ErrorCode code, std::string message, std::string where, std::string fix)
    : std::runtime_error(""),
      code_(code),
      message_(with_short_words(std::move(message))),
      where_(with_short_words(std::move(where))),
      fix_(with_short_words(std::move(fix))) {
  compose();
}

void Error::add_where(const std::string& part) {
  if (part.empty() || where_.find(part) != std::string::npos) return;
  where_ += (where_.empty() ? "" : " | ") + with_short_words(part);
  compose();
}

void Error::compose() {
  text_ = message_;
  if (!where_.empty()) text_ += " | " + where_;
  if (!fix_.empty()) text_ += " | " + fix_;
}

}  // namespace sindri
