// See text_reader.h.
#include "src/op/text_reader.h"

#include <algorithm>
#include <cctype>

#include "sindri/core/error.h"

namespace sindri {

void TextReader::fail(const std::string& message) const {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < std::min(at_, text_.size()); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else ++column;
  }
  throw ValueError(fmt::format("{}: {}", what_, message), fmt::format("line {}, column {}", line, column));
}

void TextReader::skip_space() {
  while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)) ++at_;
}

char TextReader::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextReader::try_symbol(std::string_view s) {
  skip_space();
  if (text_.substr(at_, s.size()) != s) return false;
  at_ += s.size();
  return true;
}

void TextReader::expect(std::string_view s) {
  if (!try_symbol(s)) fail(fmt::format("expected '{}'", s));
}

bool TextReader::word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string TextReader::word() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && word_char(text_[at_])) ++at_;
  if (at_ == begin) fail("expected a name");
  return std::string(text_.substr(begin, at_ - begin));
}

bool TextReader::try_word(std::string_view w) {
  const size_t before = at_;
  if (word_char(peek()) && word() == w) return true;
  at_ = before;
  return false;
}

void TextReader::expect_word(std::string_view w) {
  if (!try_word(w)) fail(fmt::format("expected '{}'", w));
}

std::string TextReader::string() {
  expect("\"");
  std::string s;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      s += text_[at_] == 'n' ? '\n' : text_[at_];
    } else {
      s += text_[at_];
    }
  }
  expect("\"");
  return s;
}

std::string TextReader::number_text() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && (word_char(text_[at_]) || text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+')) ++at_;
  if (at_ == begin) fail("expected a number");
  return std::string(text_.substr(begin, at_ - begin));
}

AttrFields TextReader::attributes() {
  AttrFields fields;
  if (!try_symbol("{")) return fields;
  do {
    std::string name = word();
    expect("=");
    fields.push_back({std::move(name), attribute()});
  } while (try_symbol(","));
  expect("}");
  return fields;
}

namespace {

bool is_decimal(const std::string& s) { return s.find_first_of(".einf") != std::string::npos; }

}  // namespace

AttrValue TextReader::attribute() {
  if (peek() == '"') return string();
  if (try_symbol("[")) return list();
  const std::string s = number_text();
  if (s == "true" || s == "false") return s == "true";
  const bool numeric = std::isdigit(static_cast<unsigned char>(s[0])) != 0 || s[0] == '-' || s[0] == '.' || s == "inf" || s == "nan";
  if (!numeric) return parse_dtype(s);
  if (is_decimal(s)) return to_number<double>(s);
  return to_number<int64_t>(s);
}

AttrValue TextReader::list() {
  std::vector<std::string> items;
  if (peek() != ']') do
      items.push_back(number_text());
    while (try_symbol(","));
  expect("]");
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  const bool decimal = std::any_of(items.begin(), items.end(), is_decimal);
  for (const std::string& s : items) {
    if (decimal) doubles.push_back(to_number<double>(s));
    else integers.push_back(to_number<int64_t>(s));
  }
  if (decimal) return doubles;
  return integers;
}

}  // namespace sindri
