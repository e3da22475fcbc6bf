// Files that the user named: plain files are replaced as a whole, anything else is written through.
#include "src/train/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "sindri/core/error.h"
#include "src/core/replaceable.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& text) { OutputFile(path, "JSON file").write(text); }

TEST(OutputFile, PlainFilesAndLinksToThemAreReplaced) {
  const TempFolder temp;
  std::ofstream(temp.file("old")) << "[\"a longer text that was there\"]";
  fs::create_symlink("old", temp.file("link"));
  fs::create_symlink("later", temp.file("dangling"));
  for (const char* name : {"new", "link", "dangling"}) {
    write(temp.file(name), "[]");
    EXPECT_EQ(read_all(temp.file(name)), "[]") << name;
  }
  EXPECT_EQ(read_all(temp.file("old")), "[]");
  EXPECT_TRUE(fs::is_symlink(temp.file("link")));
  EXPECT_TRUE(fs::is_symlink(temp.file("dangling")));
  { const OutputFile unused(temp.file("old"), "JSON file"); }
  EXPECT_EQ(read_all(temp.file("old")), "[]") << "opening alone changes nothing";
}

// An image or a checkpoint named by mistake, and a file that its owner has made read-only.
TEST(OutputFile, OtherKindsAndReadOnlyFilesAreKept) {
  const TempFolder temp;
  const std::string json = "\n {\"a\": 1}", png = "\x89PNG\r\n", npy = "\x93NUMPY";
  const std::map<FileKind, std::string> own = {{FileKind::kJson, json}, {FileKind::kPng, png}, {FileKind::kNpy, npy}};
  for (const std::string& content :
       {json, png, npy, std::string("\xff\xd8\xff\xe0 a photo"), std::string("\x0a\x15\x0a a checkpoint"), std::string("text"), std::string()}) {
    const std::string path = temp.file("file");
    for (const auto& [kind, begins] : own) {
      std::ofstream(path, std::ios::binary) << content;
      if (content.empty() || content == begins) {
        EXPECT_NO_THROW(check_replaceable(path, kind, "result")) << content;
      } else {
        EXPECT_THROW(check_replaceable(path, kind, "result"), IoError) << content;
      }
    }
    if (!content.empty() && content != json) { EXPECT_THROW(OutputFile(path, "JSON file"), IoError) << content; }
    EXPECT_EQ(read_all(path), content);
  }
  overwrite(temp.file("kept"), json);
  fs::permissions(temp.file("kept"), fs::perms::owner_read);
  EXPECT_THROW(OutputFile(temp.file("kept"), "JSON file"), IoError);
  for (const FileKind kind : {FileKind::kJson, FileKind::kPng})
    for (const std::string& passes : {std::string("/dev/null"), temp.file("absent"), temp.path()}) EXPECT_NO_THROW(check_replaceable(passes, kind, "result"));
}

TEST(OutputFile, WhatIsNoPlainFileStays) {
  const TempFolder temp;
  std::ofstream(temp.file("one")) << "{\"a longer\": \"text that was there\"}";
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
