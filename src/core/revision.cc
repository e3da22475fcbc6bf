// See revision.h. CMake passes the commit to this file only, so that a new commit recompiles nothing else.
#include "src/core/revision.h"

#include "sindri/version.h"

namespace sindri {

std::string revision() {
  const std::string commit = SINDRI_COMMIT;
  return commit.empty() ? SINDRI_VERSION_STRING : SINDRI_VERSION_STRING "+g" + commit;
}

}  // namespace sindri
