// Error text: the parts of a message joined by " | ".
#include "sindri/core/error.h"

namespace sindri {

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
    : std::runtime_error(message), code_(code), message_(std::move(message)), where_(std::move(where)), fix_(std::move(fix)) {
  compose();
}

void Error::add_where(const std::string& part) {
  if (part.empty() || where_.find(part) != std::string::npos) return;
  where_ += (where_.empty() ? "" : " | ") + part;
  compose();
}

void Error::compose() {
  text_ = message_;
  if (!where_.empty()) text_ += " | " + where_;
  if (!fix_.empty()) text_ += " | " + fix_;
}

}  // namespace sindri
