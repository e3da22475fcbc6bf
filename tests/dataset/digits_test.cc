// DigitsDataset: the stored file, its split, and damaged copies.
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "sindri/dataset/dataset.h"
#include "source_dir.h"

namespace sindri::dataset {
namespace {

const std::string kFolder = std::string(SINDRI_SOURCE_DIR) + "/dataset/digits";

std::vector<std::vector<Tensor>> rows_of(const DigitsDataset::Options& o) {
  const auto d = DigitsDataset::make(o);
  const auto it = d->create_iterator({.num_epochs = 1});
  std::vector<std::vector<Tensor>> rows;
  for (std::vector<Tensor> row; it->next(&row);) rows.push_back(row);
  return rows;
}

TEST(Digits, HoldsEverySampleOnce) {
  const auto all = rows_of({.dataset_file = kFolder, .shuffle = false});
  const auto train = rows_of({.dataset_file = kFolder, .usage = "train", .shuffle = false});
  const auto test = rows_of({.dataset_file = kFolder, .usage = "test", .shuffle = false});
  ASSERT_EQ(all.size(), 1797u);
  ASSERT_EQ(train.size(), 1438u);
  ASSERT_EQ(test.size(), 359u);
  EXPECT_EQ(all[0][0].meta().str(), "u8[8, 8, 1]");
  // The first line of the file.
  const std::vector<int> first = all[0][0].to_vector<int>();
  EXPECT_EQ(std::vector<int>(first.begin(), first.begin() + 10), (std::vector<int>{0, 0, 5, 13, 9, 1, 0, 0, 0, 0}));
  EXPECT_EQ(all[0][1].item(), 0);
  std::vector<int> counts(10);
  size_t a = 0, b = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& same = i % 5 == 4 ? test[b++] : train[a++];
    EXPECT_EQ(all[i][0].to_vector<int>(), same[0].to_vector<int>()) << i;
    EXPECT_EQ(all[i][1].item(), same[1].item()) << i;
    ++counts[static_cast<size_t>(all[i][1].item())];
  }
  EXPECT_EQ(counts, (std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180})) << "as the UCI page states them";
}

// The error for a file with this content.
DataError refusal(const std::string& content, bool packed = false) {
  const std::string path = ::testing::TempDir() + "sindri_digits_test.csv";
  if (packed) {
    gzFile f = gzopen(path.c_str(), "wb");
    gzwrite(f, content.data(), static_cast<unsigned>(content.size()));
    gzclose(f);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);  // into the packed data
  } else {
    std::ofstream(path, std::ios::binary) << content;
  }
  try {
    DigitsDataset::make({.dataset_file = path})->get_dataset_size();
  } catch (const DataError& e) {
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_FALSE(e.fix().empty());
    return e;
  }
  ADD_FAILURE() << "accepted";
  return DataError("accepted");
}
std::string line(int pixel, int label) {
  std::string s;
  for (int i = 0; i < 64; ++i) s += std::to_string(pixel) + ",";
  return s + std::to_string(label) + "\n";
}

TEST(Digits, RefusesDamagedFiles) {
  EXPECT_EQ(refusal("").code(), ErrorCode::kDataEmpty);
  EXPECT_EQ(refusal(line(1, 1) + line(1, 10)).code(), ErrorCode::kLabelRange);
  EXPECT_EQ(refusal(line(1, -1)).code(), ErrorCode::kLabelRange);
  const DataError pixel = refusal(line(1, 1) + line(17, 1));
  EXPECT_EQ(pixel.code(), ErrorCode::kDataCorrupt);
  EXPECT_NE(pixel.message().find("expected 0 to 16, got 17"), std::string::npos) << pixel.what();
  EXPECT_NE(pixel.where().find(", line 2"), std::string::npos) << pixel.what();
  for (const std::string& bad : {std::string("\n"), std::string("1,2,3\n"), line(1, 1) + "\n" + line(1, 1), line(1, 1).substr(0, 100), "x" + line(1, 1),
                                 line(1, 1).insert(129, ","), std::string(1, '\0')}) {
    EXPECT_EQ(refusal(bad).code(), ErrorCode::kDataCorrupt) << bad;
  }
  std::string many;
  for (int i = 0; i < 500; ++i) many += line(i % 17, i % 10);
  EXPECT_EQ(refusal(many, true).code(), ErrorCode::kDataCorrupt);
}

TEST(Digits, MissingFileSaysWhere) {
  try {
    DigitsDataset::make({.dataset_file = "/no/such/file"})->get_dataset_size();
    FAIL();
  } catch (const DataError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDataMissing);
    EXPECT_EQ(e.where(), "/no/such/file");
  }
  EXPECT_THROW(DigitsDataset::make({.dataset_file = kFolder, .usage = "both"}), ValueError);
}

}  // namespace
}  // namespace sindri::dataset
