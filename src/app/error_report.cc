// See error_report.h.
#include "sindri/app/error_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "src/core/text_width.h"

namespace sindri::app {

namespace {

// Indents continuation lines by `indent` and masks other control characters.
std::string clean(const std::string& text, int indent) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += "\n" + std::string(static_cast<size_t>(indent), ' ');
    else out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out.substr(0, out.find_last_not_of(" \n") + 1);
}

std::string where_lines(std::string where) {
  for (size_t at = where.find(" | "); at != std::string::npos; at = where.find(" | ", at)) where.replace(at, 3, "\n");
  return clean(where, 9);  // aligned with the text after "  where: "
}

}  // namespace

namespace {

std::string report(const Error& e) {
  std::string out = fmt::format("error[E{:04}] {}", static_cast<int>(e.code()), clean(e.message(), 2));
  if (!e.where().empty()) out += "\n  where: " + where_lines(e.where());
  if (!e.fix().empty()) out += "\n  fix: " + clean(e.fix(), 7);
  return out;
}

std::string report_of_any(const std::exception& e) {
  if (const auto* known = dynamic_cast<const Error*>(&e)) return report(*known);
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
    return report(DeviceError(ErrorCode::kMemory, "out of memory", "", "reduce train.batch_size or close other programs"));
  return report(InternalError(fmt::format("unexpected error: {}", e.what()), "", "please report it, with the command and the settings used"));
}

}  // namespace

std::string format_error_report(const std::exception& e, size_t columns) {
  const std::string whole = report_of_any(e);
  if (columns == 0) return whole;
  std::string out;
  for (size_t start = 0; start <= whole.size();) {
    const size_t end = std::min(whole.find('\n', start), whole.size());
    const std::string line = whole.substr(start, end - start);
    const size_t indent = line.starts_with("  where: ") ? 9 : line.starts_with("  fix: ") ? 7 : std::max<size_t>(2, line.find_first_not_of(' '));
    out += (start > 0 ? "\n" : "") + fold_columns(line, columns, std::min(indent, columns / 2));
    start = end + 1;
  }
  return out;
}

int exit_code_of(const std::exception& e) {
  if (const auto* known = dynamic_cast<const Error*>(&e)) return known->exit_code();
  return dynamic_cast<const std::bad_alloc*>(&e) != nullptr ? 5 : 1;
}

}  // namespace sindri::app
