// The number of terminal columns of UTF-8 text. Not for plots, whose letters differ in width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sindri {

/// Columns of a text without control characters: East Asian wide characters and emoji count two, combining marks none,
/// a byte that is not UTF-8 one.
size_t text_columns(std::string_view text);
/// Returns the longest prefix of at most `columns` columns; no character is split.
std::string fit_columns(std::string_view text, size_t columns);
/// Returns lines of at most `width` columns, broken at spaces; lines after the first are indented by `indent`. A longer word stays whole.
std::string fold_columns(std::string_view text, size_t width, size_t indent = 2);

}  // namespace sindri
