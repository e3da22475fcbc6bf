// Encrypted checkpoints: round trips, files of the real MindSpore, wrong keys, damage. tests/python/test_encryption.py has further cases.
#include "sindri/train/cipher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <functional>

#include "sindri/core/error.h"
#include "source_dir.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

using ::testing::HasSubstr;

const std::string kKey = "0123456789abcdef";
const std::vector<std::string> kModes = {"AES-GCM", "AES-CBC", "SM4-CBC"};

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "";
}

std::string save_sealed(const TempFolder& folder, const std::string& mode) {
  return save_checkpoint(sample_entries(), folder.file(mode), {.seal = [mode](std::string_view b) { return seal_block(b, kKey, mode); }, .block_bytes = 1000});
}

TEST(Cipher, WhatIsWrittenIsRead) {
  const TempFolder folder;
  for (const std::string& mode : kModes) {
    const std::string path = save_sealed(folder, mode);
    EXPECT_TRUE(is_sealed(path));
    const LoadedCheckpoint found = load_sealed_checkpoint(path, kKey, mode);
    EXPECT_TRUE(found.verified);
    EXPECT_EQ(found.entries.size(), sample_entries().size());
    EXPECT_EQ(found.text("note"), "héllo 你");
    EXPECT_THAT(message_of([&] { load_checkpoint(path); }), HasSubstr("is encrypted"));
    EXPECT_THAT(message_of([&] { load_sealed_checkpoint(path, "0123456789abcdeX", mode); }), HasSubstr("differs from the key"));
  }
}

TEST(Cipher, ReadsFilesOfMindSpore) {
  for (const std::string& mode : kModes) {
    std::string name = mode;
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    const LoadedCheckpoint found =
        load_sealed_checkpoint(std::string(SINDRI_SOURCE_DIR) + "/tests/python/expectations/mindspore_" + name + ".ckpt", kKey, mode);
    ASSERT_EQ(found.entries.size(), 2u);
    EXPECT_EQ(found.find("fc.bias")->tensor.to_vector<float>(), (std::vector<float>{1.5f, -2.f}));
  }
}

TEST(Cipher, DamageIsFound) {
  const TempFolder folder;
  const std::string path = save_sealed(folder, "AES-GCM");
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (size_t at = 0; at < whole.size(); at += 37) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    if (at >= 40 && at < 44) continue;  // GCM uses 12 of the iv's 16 bytes
    std::ofstream(folder.file("broken.ckpt"), std::ios::binary) << changed;
    EXPECT_THROW(load_sealed_checkpoint(folder.file("broken.ckpt"), kKey, "AES-GCM"), CheckpointError) << "byte " << at;
    std::ofstream(folder.file("short.ckpt"), std::ios::binary) << whole.substr(0, at);
    EXPECT_THROW(load_sealed_checkpoint(folder.file("short.ckpt"), kKey, "AES-GCM"), CheckpointError) << at << " bytes";
  }
}

TEST(Cipher, KeysAndModesAreChecked) {
  EXPECT_THROW(check_cipher_mode("DES", "enc_mode"), ValueError);
  EXPECT_THROW(check_cipher_key("short", "AES-GCM", "enc_key"), ValueError);
  EXPECT_THROW(check_cipher_key(kKey + kKey, "SM4-CBC", "enc_key"), ValueError);
  EXPECT_NO_THROW(check_cipher_key(kKey + kKey, "AES-CBC", "enc_key"));
}

TEST(Cipher, WithoutLibcryptoOnlyKeysFail) {
  hide_libcrypto("EVP");
  EXPECT_THAT(message_of([] { seal_block("text", kKey, "AES-GCM"); }), HasSubstr("needs OpenSSL"));
  hide_libcrypto("");
  EXPECT_NE(seal_block("text", kKey, "AES-GCM"), "");
}

}  // namespace
}  // namespace sindri::train
