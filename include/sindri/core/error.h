// The exception hierarchy. A message has three parts: what was expected and found, where, and how to fix it.
#pragma once

#include <stdexcept>
#include <string>

#include "sindri/export.h"

namespace sindri {

/// Numbered causes. The thousands digit is the exit code of the `sindri` program: 1 internal, 2 usage or settings, 3 data, 4
/// checkpoint or model file, 5 resources, 6 NaN or infinity, 7 distributed. docs/errors.md has a paragraph for each cause.
enum class ErrorCode : int {
#define SINDRI_ERROR_CODE(name, number, text) name = number,
#include "sindri/core/error_codes.def"
#undef SINDRI_ERROR_CODE
};
/// One line that names the cause, from error_codes.def.
SINDRI_API const char* error_code_text(ErrorCode code);

/// Base class of all exceptions that Sindri throws. what() is "what | where | fix" in one line, without empty parts.
class SINDRI_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, std::string where = {}, std::string fix = {});
  ErrorCode code() const { return code_; }  ///< the numbered cause
  /// Exit code of the program for this error: the thousands digit of the code.
  int exit_code() const { return static_cast<int>(code_) / 1000; }
  const std::string& message() const { return message_; }  ///< what was expected and found
  const std::string& where() const { return where_; }  ///< the place: a file, setting, op or Cell
  const std::string& fix() const { return fix_; }  ///< how to fix it
  const char* what() const noexcept override { return text_.c_str(); }  ///< message, place and fix in one line
  /// Appends `part` to where() while the exception propagates ("in ResNet/layer1.0.conv2"). A part that is already there is not
  /// repeated.
  void add_where(const std::string& part);

 private:
  void compose();
  ErrorCode code_;
  std::string message_, where_, fix_, text_;
};

#define SINDRI_ERROR_CLASS(Name, default_code) \
  class SINDRI_API Name : public Error { \
   public: \
    explicit Name(std::string message, std::string where = {}, std::string fix = {}) \
        : Error(ErrorCode::default_code, std::move(message), std::move(where), std::move(fix)) {} \
    Name(ErrorCode code, std::string message, std::string where = {}, std::string fix = {}) \
        : Error(code, std::move(message), std::move(where), std::move(fix)) {} \
  };

SINDRI_ERROR_CLASS(InternalError, kInternal)
SINDRI_ERROR_CLASS(ShapeError, kShape)
SINDRI_ERROR_CLASS(DTypeError, kDType)
SINDRI_ERROR_CLASS(ValueError, kValue)
SINDRI_ERROR_CLASS(DeviceError, kDevice)
SINDRI_ERROR_CLASS(SettingsError, kSettings)
SINDRI_ERROR_CLASS(DataError, kData)
SINDRI_ERROR_CLASS(CheckpointError, kCheckpoint)
SINDRI_ERROR_CLASS(IoError, kIo)
SINDRI_ERROR_CLASS(NonFiniteError, kNonFinite)
SINDRI_ERROR_CLASS(CommError, kComm)
#undef SINDRI_ERROR_CLASS

}  // namespace sindri
