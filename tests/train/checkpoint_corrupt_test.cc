// Damaged and hostile .ckpt files: every refusal of the format, truncation at every offset, every single bit flipped.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <functional>

#include "sindri/core/error.h"
#include "src/train/wire.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

// Builders of the wire format, in which every part can be wrong.
std::string tensor(const std::vector<int64_t>& dims, const std::string& type, const std::string& content) {
  std::string s;
  for (const int64_t d : dims) wire::put_int(&s, 1, d);
  wire::put_bytes(&s, 2, type);
  wire::put_bytes(&s, 3, content);
  return s;
}
std::string value(const std::string& tag, const std::string& tensor_bytes, uint32_t field = 2) {
  std::string body, s;
  wire::put_bytes(&body, 1, tag);
  wire::put_bytes(&body, field, tensor_bytes);
  wire::put_bytes(&s, 1, body);
  return s;
}
std::string floats(int n) { return std::string(static_cast<size_t>(n) * 4, '\0'); }
std::string plain(const std::string& tag = "w") { return value(tag, tensor({2}, "Float32", floats(2))); }
std::string message_of(const std::string& body) {
  std::string s;
  wire::put_bytes(&s, 1, body);
  return s;
}
std::string trailer(uint64_t crc) {
  std::string t = "crc_num";
  for (int shift = 72; shift >= 0; shift -= 8) t.push_back(shift >= 64 ? '\0' : static_cast<char>(crc >> shift));
  return t;
}
uint64_t crc_of(const std::string& s) { return crc32_z(0, reinterpret_cast<const Bytef*>(s.data()), s.size()); }

std::string seal(const std::string& text) {
  std::string s;
  wire::put_bytes(&s, 15, text);
  return s;
}

struct Case {
  const char* name;
  std::string bytes;
  const char* message;
  ErrorCode code = ErrorCode::kCheckpointCorrupt;
};

std::vector<Case> cases() {
  const std::string two = tensor({2}, "Float32", floats(2));
  std::string tag_twice, tensor_twice, no_tag, no_tensor, type_twice, packed_negative;
  wire::put_bytes(&tag_twice, 1, "w"), wire::put_bytes(&tag_twice, 1, "v"), wire::put_bytes(&tag_twice, 2, two);
  wire::put_bytes(&tensor_twice, 1, "w"), wire::put_bytes(&tensor_twice, 2, two), wire::put_bytes(&tensor_twice, 2, two);
  wire::put_bytes(&no_tag, 2, two);
  wire::put_bytes(&no_tensor, 1, "w");
  wire::put_bytes(&type_twice, 2, "Float32"), wire::put_bytes(&type_twice, 2, "Float32"), wire::put_bytes(&type_twice, 3, "");
  wire::put_bytes(&packed_negative, 1, std::string(9, '\xff') + '\x01');
  const std::string half_slice = value("w", tensor({4}, "Float32", floats(2)));
  const std::string good = plain();
  return {
      {"empty file", "", "the file is empty"},
      {"text", "hello, this is not a checkpoint", "does not begin like a MindSpore checkpoint"},
      {"empty tag", value("", two), "a name has 0 bytes"},
      {"long tag", value(std::string(1025, 'a'), two), "a name has 1025 bytes"},
      {"tag not UTF-8", value("\xc3(", two), "not UTF-8"},
      {"negative dim", value("w", tensor({-2}, "Float32", floats(2))), "a dimension is -2"},
      {"negative packed dim", value("w", packed_negative), "a dimension is -1"},
      {"nine dims", value("w", tensor({1, 1, 1, 1, 1, 1, 1, 1, 1}, "Float32", floats(1))), "more than 8 dimensions"},
      {"product overflow", value("w", tensor({int64_t{1} << 40, int64_t{1} << 40}, "Float32", floats(1))), "overflow 64 bits"},
      {"product overflow with a dimension of 0", value("w", tensor({0, int64_t{1} << 40, int64_t{1} << 40}, "Float32", "")), "overflow 64 bits"},
      {"bytes overflow", value("w", tensor({int64_t{1} << 62}, "Float32", floats(1))), "overflow 64 bits"},
      {"too few bytes", value("w", tensor({3}, "Float32", floats(2))), "expected 12 bytes, got 8"},
      {"too many bytes", value("w", tensor({1}, "Float32", floats(2))), "expected 4 bytes, got 8"},
      {"huge claim", value("w", tensor({int64_t{1} << 50}, "UInt8", "abc")), "expected 1125899906842624 bytes, got 3"},
      {"scalar of two", value("w", tensor({}, "Float32", floats(2))), "expected 4 bytes, got 8"},
      {"slices end early", half_slice, "expected 16 bytes, got 8"},
      {"slices differ in dims", half_slice + value("w", tensor({2, 2}, "Float32", floats(2))), "differ in dims or element type"},
      {"slices differ in type", half_slice + value("w", tensor({4}, "Int32", floats(2))), "differ in dims or element type"},
      {"slices not adjacent", half_slice + plain("v") + half_slice, "expected 16 bytes, got 8"},
      {"slices too long", half_slice + value("w", tensor({4}, "Float32", floats(3))), "expected 16 bytes, got 20"},
      {"duplicate adjacent", good + good, "'w' occurs twice"},
      {"duplicate apart", good + plain("v") + good, "'w' occurs twice"},
      {"duplicate text", value("t", tensor({0}, "str", floats(1))) + value("t", tensor({0}, "str", floats(1))), "'t' occurs twice"},
      {"unknown dtype", value("w", tensor({2}, "Float33", floats(2))), "unknown element type 'Float33'"},
      {"long dtype name", value("w", tensor({2}, std::string(65, 'F'), floats(2))), "name of 65 bytes"},
      {"foreign dtype", value("w", tensor({1}, "Complex64", floats(2))), "an element type Sindri does not have", ErrorCode::kCheckpoint},
      {"UInt64 beyond Int64", value("w", tensor({1}, "UInt64", std::string(8, '\xff'))), "'w' holds UInt64 values beyond Int64", ErrorCode::kCheckpoint},
      {"too few bytes of Int16", value("w", tensor({3}, "Int16", floats(1))), "expected 6 bytes, got 4"},
      {"map tensor", value("w", two, 3), "map tensor", ErrorCode::kCheckpoint},
      {"unknown field of value", value("w", two, 9), "unknown or repeated field 9"},
      {"tag twice", message_of(tag_twice), "repeated field 1 of an entry"},
      {"tensor twice", message_of(tensor_twice), "repeated field 2 of an entry"},
      {"no tag", message_of(no_tag), "an entry has no name"},
      {"no tensor", message_of(no_tensor), "'w' has no tensor"},
      {"empty value", message_of(""), "an entry has no name"},
      {"type twice", value("w", type_twice), "repeated field 2 of a tensor"},
      {"no content",
       value("w",
             std::string("\x12\x07"
                         "Float32")),
       "no content"},
      {"no type", value("w", std::string("\x1a\x00", 2)), "no element type"},
      {"trailing bytes", good + "xyz", "bytes that belong to no tensor"},
      {"trailing zero", good + std::string(1, '\0'), "bytes that belong to no tensor"},
      {"length beyond file", std::string("\x0a\x7f") + "abc", "longer than the 3 bytes left"},
      {"length beyond entry", message_of(std::string("\x0a\x50") + "w"), "longer than the 1 bytes left"},
      {"endless varint", std::string("\x0a") + std::string(20, '\xff'), "more than 64 bits"},
      {"65 bit varint", std::string("\x0a") + std::string(9, '\xff') + "\x02", "more than 64 bits"},
      {"number cut off", good + std::string("\x0a\xff"), "ends inside a number"},
      {"text not a multiple of 4", value("t", tensor({0}, "str", "abc")), "not a multiple of 4"},
      {"text with a surrogate", value("t", tensor({0}, "str", std::string("\x00\xd8\x00\x00", 4))), "not a character"},
      {"bool that is 2", value("b", tensor({1}, "Bool", "\x02")), "neither 0 nor 1"},
      {"wrong checksum", good + trailer(crc_of(good) ^ 1), "checksum of the file: expected"},
      {"checksum beyond 64 bits", good + "crc_num\1" + std::string(9, '\0'), "more than 64 bits"},
      {"integrity says otherwise",
       value("sindri.integrity", tensor({3}, "UInt8", "abc")) + good + trailer(crc_of(value("sindri.integrity", tensor({3}, "UInt8", "abc")) + good)),
       "differ from what was saved"},
      {"integrity field says otherwise", seal("abc") + good + trailer(crc_of(seal("abc") + good)), "differ from what was saved"},
      {"integrity field without trailer", seal("abc") + good, "its trailer is missing"},
      {"integrity field after an entry", good + seal("abc"), "bytes that belong to no tensor"},
      {"integrity field beyond the file", std::string("\x7a\x7f") + "abc", "longer than the 3 bytes left"},
      {"integrity without trailer", value("sindri.integrity", tensor({3}, "UInt8", "abc")) + good, "its trailer is missing"},
  };
}

TEST(CheckpointDamage, EveryRefusalNamesWhatAndWhere) {
  const TempFolder folder(TempFolder::kMemory);
  const std::string path = folder.file("bad.ckpt");
  for (const Case& c : cases()) {
    overwrite(path, c.bytes);
    try {
      load_checkpoint(path);
      ADD_FAILURE() << c.name << ": accepted";
    } catch (const CheckpointError& e) {
      EXPECT_NE(e.message().find(c.message), std::string::npos) << c.name << "\nexpected: " << c.message << "\ngot: " << e.what();
      EXPECT_EQ(e.code(), c.code) << c.name;
      EXPECT_TRUE(e.where().starts_with(path + ", byte ")) << c.name << ": " << e.where();
      EXPECT_FALSE(e.fix().empty()) << c.name;
    }
  }
}

TEST(CheckpointDamage, UnusualButValidFormsLoad) {
  const TempFolder folder(TempFolder::kMemory);
  const std::string path = folder.file("ok.ckpt");
  std::string packed, reordered, body;
  wire::put_bytes(&packed, 1, std::string("\x02\x03"));
  wire::put_bytes(&packed, 2, "Float32"), wire::put_bytes(&packed, 3, floats(6));
  wire::put_bytes(&reordered, 3, floats(2)), wire::put_bytes(&reordered, 2, "Float32"), wire::put_int(&reordered, 1, 2);
  wire::put_bytes(&body, 2, reordered), wire::put_bytes(&body, 1, "r");
  overwrite(path, value("p", packed) + message_of(body));
  const LoadedCheckpoint c = load_checkpoint(path);
  EXPECT_EQ(c.find("p")->tensor.shape(), Shape({2, 3}));
  EXPECT_EQ(c.find("r")->tensor.shape(), Shape({2}));
}

TEST(CheckpointDamage, TruncationAtEveryOffsetIsDetected) {
  const TempFolder folder(TempFolder::kMemory);
  const std::string whole = read_all(save_checkpoint(sample_entries(), folder.file("whole")));
  const std::string path = folder.file("cut.ckpt");
  for (size_t n = 0; n < whole.size(); ++n) {
    overwrite(path, whole.substr(0, n));
    EXPECT_THROW(load_checkpoint(path), CheckpointError) << "cut to " << n << " of " << whole.size() << " bytes";
  }
}

TEST(CheckpointDamage, TruncationOfACompatFileIsDetectedByItsSumFile) {
  const TempFolder folder(TempFolder::kMemory);
  const std::string path = save_checkpoint(sample_entries(), folder.file("old"), {.compat_mindspore1 = true});
  const std::string whole = read_all(path);
  for (size_t n = 0; n < whole.size(); ++n) {
    overwrite(path, whole.substr(0, n));
    EXPECT_THROW(load_checkpoint(path), CheckpointError) << "cut to " << n << " of " << whole.size() << " bytes";
  }
  overwrite(path, whole);
  EXPECT_TRUE(load_checkpoint(path).verified);
  std::filesystem::remove(path + ".sum");
  EXPECT_EQ(load_checkpoint(path).notice, "no integrity data");
}

void flip_every_bit(const TempFolder& folder, const std::string& path) {
  const std::string whole = read_all(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      overwrite(path, damaged);
      EXPECT_THROW(load_checkpoint(path), CheckpointError) << "bit " << bit << " of byte " << i << " of " << whole.size();
    }
  }
  overwrite(path, whole);
  EXPECT_TRUE(load_checkpoint(path).verified) << folder.path();
}

TEST(CheckpointDamage, EveryFlippedBitIsDetected) {
  const TempFolder folder(TempFolder::kMemory);
  std::vector<CheckpointEntry> few = sample_entries();
  few.erase(few.begin() + 6, few.end() - 4);
  flip_every_bit(folder, save_checkpoint(few, folder.file("new")));
  flip_every_bit(folder, save_checkpoint(few, folder.file("old"), {.compat_mindspore1 = true}));
}

TEST(CheckpointDamage, NoAllocationFollowsAClaimInTheFile) {
  const TempFolder folder(TempFolder::kMemory);
  const std::string path = folder.file("claim.ckpt");
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int64_t shift = 20; shift < 62; ++shift) {
    overwrite(path, value("w", tensor({int64_t{1} << shift}, "UInt8", "abc")));
    EXPECT_THROW(load_checkpoint(path), CheckpointError);
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 * 1024) << "KiB more at the peak";
}

TEST(CheckpointDamage, OtherThingsThanFiles) {
  const TempFolder folder(TempFolder::kMemory);
  EXPECT_THROW(load_checkpoint(folder.file("absent.ckpt")), IoError);
  EXPECT_THROW(load_checkpoint(folder.path()), IoError);
  ASSERT_EQ(mkfifo(folder.file("fifo.ckpt").c_str(), 0600), 0);
  EXPECT_THROW(load_checkpoint(folder.file("fifo.ckpt")), IoError);
}

}  // namespace
}  // namespace sindri::train
