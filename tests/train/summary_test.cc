// Messages of event files against those that the real MindSpore wrote (tests/reference/make_summary_expectations.py), and the file itself.
#include "sindri/train/summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "source_dir.h"
#include "tests/train/temp_folder.h"

namespace sindri::train::summary {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return out;
}

std::string value_of(const nlohmann::json& c) {
  const std::string tag = c.at("tag");
  std::vector<double> values;
  for (const std::string& text : c.at("value").get<std::vector<std::string>>()) values.push_back(std::stod(text));
  return c.at("plugin") == "scalar" ? scalar_value(tag, values.at(0)) : histogram_value(tag, values);
}

TEST(Summary, MessagesAreMindSpores) {
  std::ifstream in(std::string(SINDRI_SOURCE_DIR) + "/tests/python/expectations/summary.json");
  const nlohmann::json all = nlohmann::json::parse(in);
  ASSERT_GE(all.at("cases").size(), 5u);
  for (const nlohmann::json& c : all.at("cases")) EXPECT_EQ(hex(value_of(c)), c.at("message").get<std::string>()) << c.at("tag");
}

TEST(Summary, TensorsKeepTheirTypes) {
  const std::vector<float> f = {1, 2};
  const std::vector<double> d = {-2.5};
  const std::vector<int64_t> i = {-1, 300};
  EXPECT_EQ(hex(tensor_value("t", "float32", {2, 1}, std::span<const float>(f))),
            "0a0174"
            "4210"
            "08020801"
            "100b"
            "1d0000803f"
            "1d00000040");
  EXPECT_EQ(hex(tensor_value("t", "float64", {1}, std::span<const double>(d))),
            "0a0174"
            "420d"
            "0801"
            "100c"
            "3100000000000004c0");
  EXPECT_EQ(hex(tensor_value("t", "int32", {2}, std::span<const int64_t>(i))),
            "0a0174"
            "4212"
            "0802"
            "1004"
            "20ffffffffffffffffff01"
            "20ac02");
  EXPECT_THROW(tensor_value("t", "complex64", {}, std::span<const float>()), ValueError);
}

TEST(Summary, ImagesAreStretchedToBytes) {
  const std::string bytes = image_value("im", {1, 1, 1, 3}, std::vector<double>{0, 100, 255}, true);
  EXPECT_EQ(image_value("im", {2, 1, 1, 3}, std::vector<double>{-1, 1, 5, 9, 9, 9}, false),
            image_value("im", {1, 1, 1, 3}, std::vector<double>{0, 1 / 3.0, 1}, false))
      << "from the smallest to the largest, of the first image";
  EXPECT_NE(bytes.find("\x89PNG\r\n"), std::string::npos);
  EXPECT_THROW(image_value("im", {1, 2, 1, 1}, std::vector<double>{0, 0}, false), ValueError);
  EXPECT_THROW(image_value("im", {1, 1, 0, 3}, {}, false), ValueError);
}

TEST(Summary, LineageLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(hex(lineage("train_lineage", {{"epoch", int64_t{3}}, {"other", int64_t{1}}, {"loss", 0.5}})),
            "0a022003"
            "1200"
            "1a0515"
            "0000003f"
            "2200");
  EXPECT_EQ(hex(lineage("custom_lineage_data", {{"a", int64_t{7}}, {"b", std::string("x")}})),
            "0a0f"
            "1a05"
            "0a0161"
            "1007"
            "2206"
            "0a0162"
            "120178");
  EXPECT_THROW(lineage("graph", {}), ValueError);
}

TEST(Summary, FileAppearsWithItsFirstEventAndStopsAtItsSize) {
  const TempFolder folder;
  EventFile file(folder.path(), "events", "_MS", true, 120);
  EXPECT_EQ(file.path(), "");
  EXPECT_TRUE(file.write("summary", summary({scalar_value("loss", 0.5)}), 1));
  EXPECT_FALSE(file.write("summary", std::string(1000, 'x'), 2));
  EXPECT_FALSE(file.write("summary", "", 3)) << "a full file stays full";
  EXPECT_THROW(file.write("sound", "", 3), ValueError);
  file.close();
  struct stat info {};
  ASSERT_EQ(stat(file.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0400u);
  EXPECT_LE(info.st_size, 120);
  EventFile second(folder.path(), "events", "_MS", true, {});
  second.write("graph", "");
  EXPECT_NE(second.path(), file.path());
}

}  // namespace
}  // namespace sindri::train::summary
