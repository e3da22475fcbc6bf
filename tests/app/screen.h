// A terminal's screen, for tests of terminal output.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "src/core/text_width.h"

namespace sindri::app {

/// What a terminal shows of the bytes written to it: rows of a fixed number of columns, wrapped by character. Knows only the escape sequences that Progress
/// writes.
class Screen {
 public:
  explicit Screen(size_t columns) : columns_(columns) {}
  void write(const std::string& s) {
    for (size_t i = 0; i < s.size();) {
      if (s[i] == '\x1b') {
        size_t end = i + 2;
        while (end < s.size() && std::isalpha(static_cast<unsigned char>(s[end])) == 0) ++end;
        sequence(s.substr(i + 2, end - i - 2), s[end]);
        i = end + 1;
      } else if (s[i] == '\r') {
        x_ = 0, ++i;
        line_.clear();
      } else if (s[i] == '\n') {
        if (++y_ == rows.size()) rows.emplace_back();
        line_.clear();
        ++i;
      } else {
        size_t n = 1;
        while (i + n < s.size() && (static_cast<unsigned char>(s[i + n]) & 0xc0u) == 0x80u) ++n;
        put(s.substr(i, n));
        i += n;
      }
    }
  }
  // The window becomes narrower, in a terminal that rewraps its lines: the cursor stays at its character.
  void narrow(size_t columns) {
    columns_ = columns;
    for (size_t y = 0; y < rows.size(); ++y) {
      while (text_columns(rows[y]) > columns_) {
        const std::string first = fit_columns(rows[y], columns_);
        rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(y) + 1, rows[y].substr(first.size()));
        rows[y] = first;
        if (y < y_) ++y_;
        ++y;
      }
    }
  }
  std::vector<std::string> rows{1};
  bool wrapped = false;
  std::vector<std::string> wrapped_lines;  // up to the point where they did not fit

 private:
  void put(const std::string& character) {
    const size_t wide = text_columns(character);
    if (x_ + wide > columns_) {
      wrapped = true;
      wrapped_lines.push_back(line_);
      x_ = 0;
      if (++y_ == rows.size()) rows.emplace_back();
    }
    std::string& row = rows[y_];
    const std::string before = fit_columns(row, x_);
    const std::string after = row.substr(fit_columns(row, x_ + wide).size());
    row = before + std::string(x_ - text_columns(before), ' ') + character + after;
    x_ += wide;
    line_ += character;
  }
  void sequence(const std::string& parameters, char what) {
    if (what == 'K') rows[y_] = fit_columns(rows[y_], x_);
    if (what == 'J' && parameters.empty()) {
      rows[y_] = fit_columns(rows[y_], x_);
      rows.resize(y_ + 1);
    }
  }
  size_t columns_, x_ = 0, y_ = 0;
  std::string line_;  // since the last \r or \n
};

}  // namespace sindri::app
