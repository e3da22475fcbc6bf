// docs/settings.md against the table it is generated from: in this program, because its tests register no settings.
#include <gtest/gtest.h>

#include <fstream>

#include "sindri/app/settings.h"
#include "source_dir.h"

namespace sindri::app {
namespace {

TEST(Settings, DocumentationIsUpToDate) {
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/docs/settings.md");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text == Settings::schema_markdown()) return;
  const std::string fresh = ::testing::TempDir() + "settings.md";
  std::ofstream(fresh) << Settings::schema_markdown();
  ADD_FAILURE() << "docs/settings.md differs from the table; copy " << fresh << " over it";
}

}  // namespace
}  // namespace sindri::app
