// docs/settings.md against the table it is made from: in this program, whose tests register nothing of their own.
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
