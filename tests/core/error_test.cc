// Errors: text, codes, their documentation; the nearest-name helper and UTF-8.
#include "sindri/core/error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "source_dir.h"
#include "src/core/nearest.h"
#include "src/core/utf8.h"

namespace sindri {
namespace {

struct Row {
  ErrorCode code;
  const char* name;
};
constexpr Row kCodes[] = {
#define SINDRI_ERROR_CODE(name, number, text) {ErrorCode::name, #name},
#include "sindri/core/error_codes.def"
#undef SINDRI_ERROR_CODE
};

TEST(Error, JoinsItsParts) {
  EXPECT_STREQ(ValueError("what").what(), "what");
  EXPECT_STREQ(ValueError("what", "", "fix").what(), "what | fix");
  ShapeError e("what", "input f32[2]", "fix");
  e.add_where("in Net/conv");
  e.add_where("in Net/conv");
  e.add_where("");
  EXPECT_STREQ(e.what(), "what | input f32[2] | in Net/conv | fix");
  EXPECT_EQ(e.message(), "what");
  EXPECT_EQ(e.where(), "input f32[2] | in Net/conv");
  EXPECT_EQ(e.fix(), "fix");
}

TEST(Error, ClassesHaveTheCodesOfTheirKind) {
  EXPECT_EQ(InternalError("").exit_code(), 1);
  EXPECT_EQ(ShapeError("").exit_code(), 2);
  EXPECT_EQ(DTypeError("").exit_code(), 2);
  EXPECT_EQ(ValueError("").exit_code(), 2);
  EXPECT_EQ(SettingsError("").exit_code(), 2);
  EXPECT_EQ(DeviceError("").exit_code(), 2);
  EXPECT_EQ(DataError("").exit_code(), 3);
  EXPECT_EQ(CheckpointError("").exit_code(), 4);
  EXPECT_EQ(IoError("").exit_code(), 5);
  EXPECT_EQ(DeviceError(ErrorCode::kMemory, "").exit_code(), 5);
  EXPECT_EQ(NonFiniteError("").exit_code(), 6);
  EXPECT_EQ(CommError("").exit_code(), 7);
  EXPECT_THROW(throw DataError("x"), Error);
}

TEST(Error, EveryCodeIsNumberedOnceAndDocumented) {
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/docs/errors.md");
  const std::string docs((std::istreambuf_iterator<char>(in)), {});
  std::set<int> numbers;
  for (const Row& r : kCodes) {
    const int number = static_cast<int>(r.code);
    EXPECT_TRUE(numbers.insert(number).second) << r.name << " repeats " << number;
    EXPECT_GE(number, 1000);
    EXPECT_LE(number, 7999) << "the thousands digit is an exit code";
    const std::string heading = "## E" + std::to_string(number) + ": " + error_code_text(r.code) + "\n";
    const size_t at = docs.find(heading);
    ASSERT_NE(at, std::string::npos) << "docs/errors.md has no section '" << heading.substr(0, heading.size() - 1) << "' for " << r.name;
    EXPECT_GT(docs.find("\n## ", at + 3) - at, heading.size() + 80) << "no paragraph for " << r.name;
  }
}

TEST(Nearest, FindsTheMisspelt) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("same", "same"), 0);
  EXPECT_EQ(did_you_mean("epohcs", {"epochs", "batch_size"}), "did you mean 'epochs'?");
  EXPECT_EQ(did_you_mean("conv1", {"conv2", "conv3", "fc"}), "did you mean 'conv2' or 'conv3'?");
  EXPECT_EQ(did_you_mean("zzz", {"alpha", "beta"}), "known: alpha, beta");
  EXPECT_EQ(did_you_mean("zzz", {}), "");
}

TEST(Utf8, FindsMalformedSequences) {
  EXPECT_EQ(first_invalid_utf8(""), -1);
  EXPECT_EQ(first_invalid_utf8("aé你😀"), -1);
  for (const std::string bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe4\xbd", "\xff"}) {
    EXPECT_EQ(first_invalid_utf8("ab" + bad), 2) << bad.size();
    EXPECT_EQ(first_invalid_utf8("ab" + bad + "z"), 2) << bad.size();
  }
}

TEST(Utf8, ConvertsBothWays) {
  const std::string text = "aé你😀";
  std::string back;
  for (const char32_t c : utf8_to_utf32(text)) EXPECT_TRUE(append_utf8(c, &back));
  EXPECT_EQ(back, text);
  EXPECT_EQ(utf8_to_utf32(text).size(), 4u);
  EXPECT_FALSE(append_utf8(0xD800, &back));
  EXPECT_FALSE(append_utf8(0x110000, &back));
}

}  // namespace
}  // namespace sindri
