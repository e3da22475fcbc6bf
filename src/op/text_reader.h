// Reads the text forms of the engine (printed graphs, programs in attributes): names, symbols, numbers and attributes,
// with spaces between them. Errors are ValueErrors that give the position in the text.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "sindri/op/attrs.h"

namespace sindri {

class TextReader {
 public:
  /// `what` starts every message: "graph text".
  TextReader(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  [[noreturn]] void fail(const std::string& message) const;
  void skip_space();
  /// Returns the next character; '\0' at the end.
  char peek();
  bool at_end() { return peek() == '\0'; }
  bool try_symbol(std::string_view s);
  void expect(std::string_view s);
  /// Reads letters, digits and '_'.
  std::string word();
  bool try_word(std::string_view w);
  void expect_word(std::string_view w);
  /// Reads a quoted string.
  std::string string();
  /// Reads the characters of a number, including "inf" and "nan".
  std::string number_text();
  int64_t integer() { return to_number<int64_t>(number_text()); }
  template <class N> N to_number(const std::string& s) const {
    N v{};
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (error != std::errc() || end != s.data() + s.size())
      fail(fmt::format("'{}' is not {}", s, std::is_integral_v<N> ? "a 64-bit integer" : "a number in range"));
    return v;
  }
  /// Reads "{name=value, …}"; nothing if the next character is another one.
  AttrFields attributes();

 protected:
  size_t size() const { return text_.size(); }

 private:
  static bool word_char(char c);
  AttrValue attribute();
  AttrValue list();

  std::string_view text_;
  std::string what_;
  size_t at_ = 0;
};

}  // namespace sindri
