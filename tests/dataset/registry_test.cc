// The kinds of data by name: the facts that each declares match its rows.
#include "sindri/dataset/registry.h"

#include <gmock/gmock.h>

#include "source_dir.h"
#include "tests/dataset/helpers.h"

namespace sindri::registered_kinds {
namespace {

using dataset::DataPart;
using dataset::Dataset;
using dataset::kinds;
using dataset::TempDir;
using dataset::write_bytes;

std::vector<uint8_t> bytes(size_t n, std::vector<uint8_t> head) {
  head.resize(n, 7);
  return head;
}

// The smallest data of each format, each in its own subfolder.
void make_data(const TempDir& dir) {
  for (const char* part : {"data_batch_1.bin", "test_batch.bin"}) write_bytes(dir / "cifar10/" + part, bytes(3073, {4}));
  for (const char* part : {"train.bin", "test.bin"}) write_bytes(dir / "cifar100/" + part, bytes(3074, {3, 70}));
  for (const char* kind : {"mnist", "fashion_mnist"}) {
    for (const char* part : {"train", "t10k"}) {
      write_bytes(dir / kind + "/" + part + "-images-idx3-ubyte", bytes(16 + 784, {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28}));
      write_bytes(dir / kind + "/" + part + "-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, 5});
    }
  }
  for (const char* part : {"train", "val"}) write_bytes(dir / "imagefolder/" + part + "/cat/1.png", dataset::encoded(dataset::picture(8, 8, 1), ".png"));
}

TEST(DataKinds, TellWhatTheirRowsAre) {
  const TempDir dir;
  make_data(dir);
  EXPECT_THAT(kinds().names(), ::testing::ElementsAre("cifar10", "cifar100", "digits", "fashion_mnist", "imagefolder", "mnist"));
  for (const std::string& name : kinds().names()) {
    const auto& kind = kinds().find(name);
    EXPECT_FALSE(kind.doc.empty()) << name;
    EXPECT_EQ(kind.facts.mean.size(), kind.facts.std.size()) << name;
    EXPECT_TRUE(kind.facts.mean.size() <= 1 || kind.facts.mean.size() == static_cast<size_t>(kind.facts.channels)) << name;
    for (const bool train : {true, false}) {
      const Dataset::Ptr data =
          kinds().make(name, {}, DataPart{.path = kind.facts.needs_path ? dir / name : SINDRI_SOURCE_DIR "/dataset/digits", .train = train});
      const auto columns = data->columns();
      ASSERT_EQ(columns.size(), 2u) << name;
      EXPECT_EQ(columns[0].name, "image");
      EXPECT_EQ(columns[0].dtype, DType::kUInt8);
      EXPECT_EQ(columns[1].name, "label");
      EXPECT_GT(data->num_classes().value_or(0), 0) << name;
      const int64_t side = kind.facts.side;
      EXPECT_EQ(columns[0].shape, kind.facts.encoded ? Shape({-1}) : Shape({side, side, kind.facts.channels})) << name;
      std::vector<Tensor> row;
      ASSERT_TRUE(data->create_iterator({.num_epochs = 1})->next(&row)) << name;
      for (const double v : row[0].to_vector<double>()) EXPECT_LE(v, kind.facts.largest) << name;
    }
  }
}

TEST(DataKinds, FineLabelsOfAHundredClasses) {
  const TempDir dir;
  make_data(dir);
  std::vector<Tensor> row;
  kinds().make("cifar100", {}, DataPart{.path = dir / "cifar100"})->create_iterator({.num_epochs = 1})->next(&row);
  EXPECT_EQ(row[1].to_vector<int32_t>()[0], 70);
}

TEST(DataKinds, WhatAFolderHoldsHasAName) {
  const TempDir dir;
  make_data(dir);
  for (const char* name : {"cifar10", "cifar100", "mnist", "imagefolder"}) EXPECT_STREQ(dataset::kind_of(dataset::find_data(dir / name, "train")), name);
  try {
    kinds().make("imagefolder", {}, DataPart{.path = dir / "cifar10"});
    FAIL();
  } catch (const DataError& e) {
    EXPECT_THAT(e.message(), ::testing::HasSubstr("data.kind is imagefolder, but"));
    EXPECT_EQ(e.fix(), "set data.kind: auto");
  }
}

}  // namespace
}  // namespace sindri::registered_kinds
