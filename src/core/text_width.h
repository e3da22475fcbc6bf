// How many columns of a terminal UTF-8 text takes. Not for pictures, whose letters have widths of their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sindri {

/// Columns of a text without control characters: East Asian wide characters and emoji take two, combining marks none, a byte that is no UTF-8 one.
size_t text_columns(std::string_view text);
/// The longest beginning that fits into so many columns; no character is cut in two.
std::string fit_columns(std::string_view text, size_t columns);
/// Lines of at most `width` columns, broken at spaces; what follows the first is indented by `indent`. A word that is longer stays whole.
std::string fold_columns(std::string_view text, size_t width, size_t indent = 2);

}  // namespace sindri
