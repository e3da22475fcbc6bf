// Files that the user named: replaced whole where they are plain files, written through where they are something else.
#include "src/train/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sindri/core/error.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& text) { OutputFile(path, "JSON file").write(text); }

TEST(OutputFile, PlainFilesAndLinksToThemAreReplaced) {
  const TempFolder temp;
  std::ofstream(temp.file("old")) << "a longer text that was there";
  fs::create_symlink("old", temp.file("link"));
  fs::create_symlink("later", temp.file("dangling"));
  for (const char* name : {"new", "link", "dangling"}) {
    write(temp.file(name), "new");
    EXPECT_EQ(read_all(temp.file(name)), "new") << name;
  }
  EXPECT_EQ(read_all(temp.file("old")), "new");
  EXPECT_TRUE(fs::is_symlink(temp.file("link")));
  EXPECT_TRUE(fs::is_symlink(temp.file("dangling")));
  { const OutputFile unused(temp.file("old"), "JSON file"); }
  EXPECT_EQ(read_all(temp.file("old")), "new") << "opening alone changes nothing";
}

TEST(OutputFile, WhatIsNoPlainFileStays) {
  const TempFolder temp;
  std::ofstream(temp.file("one")) << "a longer text that was there";
  fs::create_hard_link(temp.file("one"), temp.file("two"));
  write(temp.file("two"), "new");
  EXPECT_EQ(read_all(temp.file("one")), "new");
  EXPECT_EQ(fs::hard_link_count(temp.file("one")), 2u);

  ASSERT_EQ(mkfifo(temp.file("pipe").c_str(), 0600), 0);
  const int reader = open(temp.file("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  write(temp.file("pipe"), "through");
  char text[16] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(temp.file("pipe")));

  write("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (mknod(temp.file("null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {  // root only
    write(temp.file("null"), "nothing");
    EXPECT_TRUE(fs::is_character_file(temp.file("null")));
  }
  EXPECT_THROW(OutputFile(temp.path(), "JSON file"), IoError);
  EXPECT_THROW(write("/dev/full", "text"), IoError);
  EXPECT_THROW(OutputFile(temp.file("absent/file"), "JSON file"), IoError);
}

}  // namespace
}  // namespace sindri::train
