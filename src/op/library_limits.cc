// See sindri/op/kernel_choice.h.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/op/kernel_choice.h"
#include "src/op/cache_file.h"

namespace sindri {

namespace {

[[noreturn]] void refuse(const char* variable, std::string_view text, const char* what, const char* fix) {
  throw SettingsError(fmt::format("{}={}: {}", variable, text, what), fmt::format("environment variable {}", variable), fix);
}

bool switched_on(const char* variable) {
  const char* const v = std::getenv(variable);
  const std::string_view text = v != nullptr ? v : "";
  if (text.empty() || text == "1") return true;
  if (text == "0") return false;
  refuse(variable, text, "the values are 0 and 1", "use 0 or 1, or unset it for 1");
}

LibraryLimits limits_of_environment() {
  LibraryLimits limits;
  constexpr const char* kWorkspace = "SINDRI_WORKSPACE_LIMIT";
  constexpr int64_t kMostMib = int64_t{1} << 20;
  if (const char* const v = std::getenv("SINDRI_WORKSPACE_LIMIT"); v != nullptr && *v != 0) {
    const std::string_view text = v;
    int64_t mib = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mib);
    if (error != std::errc() || end != text.data() + text.size() || mib < 0 || mib > kMostMib)
      refuse(kWorkspace, text, "not a whole number of MiB from 0 to 1048576", "give MiB, or unset it for 256");
    limits.workspace = mib << 20;
  }
  limits.deterministic = switched_on("SINDRI_DETERMINISTIC");
  limits.runtime_compilation = switched_on("SINDRI_CUDNN_RTC");
  limits.code_generation = switched_on("SINDRI_CUDA_CODEGEN");
  return limits;
}

}  // namespace

LibraryLimits library_limits() {
  static const LibraryLimits given = limits_of_environment();
  LibraryLimits limits = given;
  limits.deterministic = limits.deterministic || strict_mode();
  return limits;
}

std::string plan_cache_file() { return cache_file("plans.json"); }

}  // namespace sindri
