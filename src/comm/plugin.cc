// See plugin.h.
#include "src/comm/plugin.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/core/plugin.h"

namespace sindri::comm {

void* open_plugin(const char* file, const char* symbol, bool global, const std::string& fix) {
  const Plugin plugin = open_library_next_to(file, global);
  if (void* const found = plugin.symbol(symbol)) return found;
  const std::string problem = plugin.library != nullptr ? fmt::format("{} has no {}", plugin.path, symbol) : plugin.problem;
  throw CommError(ErrorCode::kCommLibrary, problem, "comm::init", fix);
}

}  // namespace sindri::comm
