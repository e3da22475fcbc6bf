// Which backend a process gets.
#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/comm/backends.h"

namespace sindri::comm {

std::shared_ptr<Communicator> open_world(const Options& options) {
  if (options.backend == "auto" || options.backend == "single") return open_single(options);
  throw SettingsError(fmt::format("dist.backend '{}' is not there", options.backend), "comm::init", "use auto or single");
}

}  // namespace sindri::comm
