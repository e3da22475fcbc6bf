// Checkpoints: round trips, files of the real MindSpore, an independent protobuf parser, loading into a network, newest file.
#include "sindri/train/checkpoint.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <fstream>

#include "sindri/core/error.h"
#include "src/train/checkpoint_format.h"
#include "src/train/wire.h"
#include "tests/train/checkpoint_util.h"
#include "tests/train/temp_folder.h"

namespace sindri::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_equal(const CheckpointEntry& a, const CheckpointEntry& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind) << a.name;
  EXPECT_EQ(a.data, b.data) << a.name;
  if (a.kind != CheckpointEntry::kTensor || b.kind != CheckpointEntry::kTensor) return;
  EXPECT_EQ(a.tensor.shape(), b.tensor.shape()) << a.name;
  EXPECT_EQ(a.tensor.dtype(), b.tensor.dtype()) << a.name;
  const Tensor x = a.tensor.contiguous(), y = b.tensor.contiguous();
  ASSERT_EQ(x.nbytes(), y.nbytes());
  EXPECT_TRUE(x.nbytes() == 0 || std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.nbytes())) == 0) << a.name;
}

TEST(Checkpoint, RoundTripsEveryKind) {
  const TempFolder folder;
  for (const bool compat : {false, true}) {
    const std::vector<CheckpointEntry> saved = sample_entries();
    const std::string path = save_checkpoint(saved, folder.file(compat ? "old" : "new"), {.compat_mindspore1 = compat});
    EXPECT_EQ(path, folder.file(compat ? "old.ckpt" : "new.ckpt"));
    const LoadedCheckpoint loaded = load_checkpoint(path);
    EXPECT_TRUE(loaded.verified);
    EXPECT_EQ(loaded.notice, "");
    ASSERT_EQ(loaded.entries.size(), saved.size());
    for (size_t i = 0; i < saved.size(); ++i) expect_equal(saved[i], loaded.entries[i]);
    EXPECT_EQ(loaded.integer("step_num"), 123);
    EXPECT_EQ(loaded.number("lr"), 0.25);
    EXPECT_EQ(loaded.text("note"), "héllo 你");
    EXPECT_THROW(loaded.integer("lr"), CheckpointError);
    EXPECT_THROW(loaded.integer("note"), CheckpointError);
    EXPECT_THROW(loaded.integer("absent"), CheckpointError);
    EXPECT_THROW(loaded.text("lr"), CheckpointError);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0400u);
  }
}

TEST(Checkpoint, SlicedTensorsAreJoined) {
  const TempFolder folder;
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::vector<CheckpointEntry> saved = {CheckpointEntry::of("a", Tensor::from_vector<float>({10, 100}, values)),
                                              CheckpointEntry::of("b", Tensor::from_vector<float>({1000}, values))};
  for (const int64_t slice : {1, 7, 4000, 3999, 4001}) {
    const std::string path = save_checkpoint(saved, folder.file("s"), {.slice_bytes = slice});
    const LoadedCheckpoint loaded = load_checkpoint(path);
    ASSERT_EQ(loaded.entries.size(), 2u);
    for (size_t i = 0; i < 2; ++i) expect_equal(saved[i], loaded.entries[i]);
  }
}

// The output of a seal, with its blocks joined and decrypted, is the plain file, whatever the sizes of writes and blocks.
TEST(Checkpoint, SealedBlocksAreThePlainFile) {
  const TempFolder folder;
  const auto content = [](const std::string& path) {
    std::ifstream f(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(f), {});
  };
  const std::string plain = content(save_checkpoint(sample_entries(), folder.file("plain")));
  const auto size = static_cast<int64_t>(plain.size());
  for (const int64_t block : {int64_t{1}, int64_t{7}, size - 1, size, size + 1, int64_t{1} << 20}) {
    std::vector<std::string> blocks;
    const auto seal = [&](std::string_view bytes) {
      blocks.emplace_back(bytes);
      return "<" + std::string(bytes.rbegin(), bytes.rend()) + ">";
    };
    const std::string path = save_checkpoint(sample_entries(), folder.file("sealed"), {.seal = seal, .block_bytes = block});
    std::string joined, expected;
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(static_cast<int64_t>(blocks[i].size()), std::min(block, size - static_cast<int64_t>(i) * block)) << "block " << i;
      joined += blocks[i];
      expected += "<" + std::string(blocks[i].rbegin(), blocks[i].rend()) + ">";
    }
    EXPECT_TRUE(joined == plain) << "blocks of " << block;
    EXPECT_TRUE(content(path) == expected) << "blocks of " << block;
  }
  const auto same = [](std::string_view bytes) { return std::string(bytes); };
  EXPECT_THROW(save_checkpoint(sample_entries(), folder.file("none"), {.seal = same, .block_bytes = 0}), ValueError);
  EXPECT_THROW(save_checkpoint(sample_entries(), folder.file("none"), {.compat_mindspore1 = true, .seal = same}), ValueError);
}

TEST(Checkpoint, ChannelsLastIsStoredRowMajor) {
  const TempFolder folder;
  Tensor t = Tensor::empty({1, 2, 2, 2}, DType::kFloat32, Layout::kChannelsLast);
  for (int i = 0; i < 8; ++i) t.mutable_data<float>()[i] = static_cast<float>(i);
  const LoadedCheckpoint loaded = load_checkpoint(save_checkpoint({CheckpointEntry::of("x", t)}, folder.file("c")));
  EXPECT_EQ(loaded.entries[0].tensor.layout(), Layout::kContiguous);
  EXPECT_EQ(loaded.entries[0].tensor.to_vector<float>(), t.to_vector<float>());
}

TEST(Checkpoint, ReadsFilesOfMindSpore) {
  for (const bool crc : {false, true}) {
    const LoadedCheckpoint c = load_checkpoint(data_file(crc ? "mindspore_crc.ckpt" : "mindspore_plain.ckpt"));
    EXPECT_EQ(c.verified, crc);
    EXPECT_EQ(c.notice, crc ? "" : "no integrity data");
    EXPECT_EQ(c.find("conv.weight")->tensor.shape(), Shape({2, 3, 2, 2}));
    EXPECT_EQ(c.find("conv.weight")->tensor.to_vector<float>()[23], 23.0f / 8);
    EXPECT_EQ(c.find("half")->tensor.dtype(), DType::kFloat16);
    EXPECT_THAT(c.find("half")->tensor.to_vector<double>(), ElementsAre(1.5, -2.0));
    EXPECT_EQ(c.find("brain")->tensor.dtype(), DType::kBFloat16);
    EXPECT_THAT(c.find("brain")->tensor.to_vector<double>(), ElementsAre(1.5, -2.0, 3.0));
    EXPECT_EQ(c.find("double")->tensor.meta().str(), "f64[1, 1]");
    EXPECT_THAT(c.find("int")->tensor.to_vector<int32_t>(), ElementsAre(7, -7));
    EXPECT_THAT(c.find("long")->tensor.to_vector<int64_t>(), ElementsAre(int64_t{1} << 40));
    EXPECT_THAT(c.find("byte")->tensor.to_vector<uint8_t>(), ElementsAre(0, 255));
    EXPECT_EQ(c.find("flag")->tensor.meta().str(), "bool[2]");
    EXPECT_EQ(c.find("scalar")->tensor.meta().str(), "f32[]");
    EXPECT_EQ(c.integer("epoch_num"), 3);
    EXPECT_EQ(c.number("lr"), 0.5);
    EXPECT_EQ(c.text("note"), "héllo 你");
  }
}

// The bytes that protobuf itself writes, from the message definition alone.
TEST(Checkpoint, IsAPlainProtobufMessage) {
  const TempFolder folder;
  const auto field = [](const char* name, int number, const char* label, const char* type) {
    return "field { name: '" + std::string(name) + "' number: " + std::to_string(number) + " label: LABEL_" + label + " " + type + " } ";
  };
  const std::string definition = "name: 'checkpoint.proto' message_type { name: 'Checkpoint' " +
      field("value", 1, "REPEATED", "type: TYPE_MESSAGE type_name: '.Value'") + "}" + "message_type { name: 'Value' " +
      field("tag", 1, "REQUIRED", "type: TYPE_STRING") + field("tensor", 2, "OPTIONAL", "type: TYPE_MESSAGE type_name: '.TensorProto'") + "}" +
      "message_type { name: 'TensorProto' " + field("dims", 1, "REPEATED", "type: TYPE_INT64") + field("tensor_type", 2, "REQUIRED", "type: TYPE_STRING") +
      field("tensor_content", 3, "REQUIRED", "type: TYPE_BYTES") + "}";
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(definition, &file));
  google::protobuf::DescriptorPool pool;
  const auto* descriptor = pool.BuildFile(file)->FindMessageTypeByName("Checkpoint");
  google::protobuf::DynamicMessageFactory factory(&pool);
  const auto parse = [&](const std::string& bytes) {
    std::unique_ptr<google::protobuf::Message> m(factory.GetPrototype(descriptor)->New());
    EXPECT_TRUE(m->ParseFromString(bytes));
    return m;
  };
  const std::vector<CheckpointEntry> entries = {CheckpointEntry::of("w", Tensor::from_vector<float>({2, 1}, {1, 2})), CheckpointEntry::number("n", int64_t{5})};
  const std::string bytes = read_all(save_checkpoint(entries, folder.file("p"), {.compat_mindspore1 = true}));
  const auto message = parse(bytes);
  EXPECT_EQ(message->SerializeAsString(), bytes) << "the canonical form, so byte-identical to what MindSpore's protobuf writes";
  EXPECT_THAT(message->ShortDebugString(), HasSubstr("tag: \"w\" tensor { dims: 2 dims: 1 tensor_type: \"Float32\""));
  EXPECT_THAT(message->ShortDebugString(), HasSubstr("tag: \"n\" tensor { dims: 0 tensor_type: \"Int64\""));
  const std::string full = read_all(save_checkpoint(entries, folder.file("q")));
  EXPECT_EQ(full.substr(full.size() - 17, 7), "crc_num");
  const auto with_integrity = parse(full.substr(0, full.size() - 17));
  EXPECT_NE(with_integrity->SerializeAsString(), bytes);
  with_integrity->DiscardUnknownFields();
  EXPECT_EQ(with_integrity->SerializeAsString(), bytes) << "MindSpore does not read the integrity text there";
  EXPECT_EQ(full.substr(full.size() - 17 - bytes.size(), bytes.size()), bytes) << "the entries themselves are the same";
}

// Files written before the text had a separate field have it as a first entry.
TEST(Checkpoint, TheIntegrityEntryOfEarlierFilesStillVerifies) {
  const TempFolder folder;
  const std::vector<CheckpointEntry> entries = {CheckpointEntry::of("w", Tensor::from_vector<float>({2}, {1, 2}))};
  const std::string plain = read_all(save_checkpoint(entries, folder.file("p"), {.compat_mindspore1 = true}));
  for (const float last : {2.0f, 3.0f}) {
    ckpt::Integrity sums;
    const float stated[] = {1, last};
    sums.begin("w", "Float32", {2});
    sums.content(stated, sizeof stated);
    sums.end();
    const std::string text = sums.text();
    std::string tensor, value, file;
    wire::put_int(&tensor, 1, static_cast<int64_t>(text.size()));
    wire::put_bytes(&tensor, 2, "UInt8");
    wire::put_bytes(&tensor, 3, text);
    wire::put_bytes(&value, 1, "sindri.integrity");
    wire::put_bytes(&value, 2, tensor);
    wire::put_bytes(&file, 1, value);
    file += plain;
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(file.data()), file.size());
    file += "crc_num" + std::string(6, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<char>(crc >> shift));
    const std::string path = folder.file("old.ckpt");
    overwrite(path, file);
    if (last != 2.0f) {
      EXPECT_THROW(load_checkpoint(path), CheckpointError);
      continue;
    }
    const LoadedCheckpoint c = load_checkpoint(path);
    EXPECT_TRUE(c.verified);
    EXPECT_EQ(c.entries.size(), 1u);
  }
}

TEST(Checkpoint, NarrowIntegersKeepTheirType) {
  const TempFolder folder;
  const auto narrow = [](const std::string& name, const char* type, const Tensor& t) {
    CheckpointEntry e = CheckpointEntry::of(name, t);
    e.stored_type = type;
    return e;
  };
  const Tensor wide = Tensor::from_vector<int64_t>({2}, {5, (int64_t{1} << 32) - 1});
  const std::vector<CheckpointEntry> entries = {narrow("a", "Int8", Tensor::from_vector<int32_t>({2}, {-128, 127})),
                                                narrow("b", "UInt16", Tensor::from_vector<int32_t>({2}, {0, 65535})), narrow("c", "UInt32", wide),
                                                narrow("d", "UInt64", wide), narrow("e", "Int16", Tensor::scalar(-3, DType::kInt32))};
  const std::string path = save_checkpoint(entries, folder.file("n"));
  const LoadedCheckpoint c = load_checkpoint(path);
  EXPECT_TRUE(c.verified);
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(c.entries[i].stored_type, entries[i].stored_type);
    EXPECT_EQ(c.entries[i].tensor.to_vector<int64_t>(), entries[i].tensor.to_vector<int64_t>());
    EXPECT_EQ(c.entries[i].tensor.dtype(), entries[i].tensor.dtype());
  }
  EXPECT_EQ(read_all(save_checkpoint(c.entries, folder.file("m"))), read_all(path));
  EXPECT_THROW(save_checkpoint({narrow("a", "Int8", wide)}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({narrow("a", "UInt8", wide)}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({narrow("a", "Int8", Tensor::zeros({1}))}, folder.file("x")), CheckpointError);
}

TEST(Checkpoint, RefusesWhatCannotBeSaved) {
  const TempFolder folder;
  const Tensor t = Tensor::zeros({2});
  for (const std::string& name : {std::string(), std::string(1025, 'a'), std::string("\xff"), std::string("sindri.integrity")}) {
    EXPECT_THROW(save_checkpoint({CheckpointEntry::of(name, t)}, folder.file("x")), CheckpointError);
  }
  EXPECT_THROW(save_checkpoint({CheckpointEntry::of("a", t), CheckpointEntry::of("a", t)}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({CheckpointEntry::of("a", Tensor())}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({CheckpointEntry::text("a", "\xc3")}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({CheckpointEntry::text("a", std::string(1, '\0'))}, folder.file("x")), CheckpointError);
  EXPECT_THROW(save_checkpoint({}, folder.file("x"), {.slice_bytes = 0}), ValueError);
  EXPECT_THROW(save_checkpoint({}, folder.file("no/such/folder/x")), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

struct Net {
  Parameter weight{Tensor::zeros({2, 3}), "fc.weight"}, bias{Tensor::zeros({2}), "fc.bias"};
  std::vector<std::pair<std::string, Parameter*>> params() { return {{"fc.weight", &weight}, {"fc.bias", &bias}}; }
};
LoadedCheckpoint in_memory(std::vector<CheckpointEntry> entries) {
  LoadedCheckpoint c;
  c.path = "memory.ckpt";
  c.entries = std::move(entries);
  return c;
}
CheckpointEntry ones(const std::string& name, const Shape& shape, DType t = DType::kFloat32) { return CheckpointEntry::of(name, Tensor::full(shape, 1, t)); }

TEST(LoadIntoNet, LoadsAMindSporeTrainingCheckpoint) {
  Net net;
  const LoadReport r = load_param_into_net(net.params(), load_checkpoint(data_file("mindspore_net.ckpt")));
  EXPECT_THAT(r.loaded, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(r.state, ElementsAre("global_step", "learning_rate", "moments.fc.bias", "moments.fc.weight", "momentum"));
  EXPECT_EQ(net.weight.value().to_vector<float>(), std::vector<float>(6, 1));
}

TEST(LoadIntoNet, StrictMismatchNamesEverythingAndAssignsNothing) {
  Net net;
  const LoadedCheckpoint c = in_memory({ones("fc.weight", {2, 4}), ones("fc.bais", {2})});
  try {
    load_param_into_net(net.params(), c);
    FAIL();
  } catch (const CheckpointError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCheckpointMismatch);
    EXPECT_EQ(e.exit_code(), 4);
    EXPECT_THAT(e.message(), HasSubstr("0 loaded, 1 missing, 1 unexpected, 1 mismatched"));
    EXPECT_THAT(e.message(), HasSubstr("mismatched  fc.weight: expected f32[2, 3], got f32[2, 4]"));
    EXPECT_THAT(e.message(), HasSubstr("missing     fc.bias  (did you mean 'fc.bais'?)"));
    EXPECT_THAT(e.message(), HasSubstr("unexpected  fc.bais  (did you mean 'fc.bias'?)"));
    EXPECT_EQ(e.where(), "memory.ckpt");
  }
  EXPECT_THROW(load_param_into_net(net.params(), in_memory({ones("fc.weight", {2, 3}), ones("fc.bias", {3})})), CheckpointError);
  EXPECT_EQ(net.weight.value().to_vector<float>(), std::vector<float>(6, 0)) << "a refused checkpoint must not be half loaded";
}

TEST(LoadIntoNet, LooseTakesWhatFitsAndCastsFloats) {
  Net net;
  const LoadReport r = load_param_into_net(net.params(), in_memory({ones("fc.weight", {2, 3}, DType::kFloat16), ones("other.x", {1, 1})}), false);
  EXPECT_THAT(r.loaded, ElementsAre("fc.weight"));
  EXPECT_THAT(r.missing, ElementsAre("fc.bias"));
  EXPECT_THAT(r.unexpected, ElementsAre("other.x"));
  EXPECT_EQ(net.weight.value().to_vector<float>(), std::vector<float>(6, 1));
  EXPECT_EQ(net.weight.dtype(), DType::kFloat32);
  EXPECT_THROW(load_param_into_net(net.params(), in_memory({ones("fc.weight", {2, 3}, DType::kFloat16), ones("fc.bias", {2})})), CheckpointError);
  const LoadReport ints = load_param_into_net(net.params(), in_memory({ones("fc.weight", {2, 3}, DType::kInt32), ones("fc.bias", {2})}), false);
  EXPECT_EQ(ints.mismatched.size(), 1u);
}

TEST(LoadIntoNet, TrailingOnesAndCommonPrefix) {
  Net net;
  load_param_into_net(net.params(), in_memory({ones("fc.weight", {2, 3, 1, 1}), ones("fc.bias", {2, 1})}));
  EXPECT_EQ(net.bias.value().to_vector<float>(), std::vector<float>(2, 1));
  Net other;
  const LoadReport r = load_param_into_net(other.params(), in_memory({ones("network.fc.weight", {2, 3}), ones("network.fc.bias", {2}), ones("epoch_num", {})}));
  EXPECT_EQ(r.stripped_prefix, "network.");
  EXPECT_THAT(r.loaded, ElementsAre("fc.weight", "fc.bias"));
}

TEST(Newest, TakesTheHighestThatVerifies) {
  const TempFolder folder;
  EXPECT_EQ(find_newest_checkpoint(folder.path()), "");
  const auto save = [&](const std::string& name) { return save_checkpoint(sample_entries(), folder.file(name)); };
  save(checkpoint_file_name("net", 1, 10));
  const std::string good = save(checkpoint_file_name("net", 2, 9));
  save(checkpoint_file_name("net", 1, 11));
  save("net-notes");
  const std::string other = save(checkpoint_file_name("other-net", 2, 10));
  const std::string damaged = save(checkpoint_file_name("net", 10, 1));
  overwrite(damaged, read_all(damaged).substr(0, 300));
  std::ofstream(folder.file("net-11_1.ckpt.tmp.1")) << "partial";
  std::ofstream(folder.file("net-12_1.ckpt"));
  EXPECT_EQ(find_newest_checkpoint(folder.path(), "net"), good);
  EXPECT_EQ(find_newest_checkpoint(folder.path()), other);
  overwrite(folder.file("plain-99_1.ckpt"), read_all(data_file("mindspore_plain.ckpt")));
  EXPECT_EQ(find_newest_checkpoint(folder.path()), other) << "a file without checksums does not win over one that verifies";
  EXPECT_EQ(find_newest_checkpoint(folder.path(), "plain"), folder.file("plain-99_1.ckpt"));
  EXPECT_THROW(find_newest_checkpoint(folder.file("absent")), IoError);
}

}  // namespace
}  // namespace sindri::train
