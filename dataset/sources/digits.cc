// The 1,797 handwritten 8 x 8 digits that come with Sindri (dataset/digits/README.md): a gzipped table, 64 pixels 0..16 and a label a line.
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zlib.h>

#include <charconv>

#include "dataset/node.h"
#include "dataset/sources/byte_files.h"

namespace sindri::dataset {

namespace {

constexpr int64_t kSide = 8, kPixels = kSide * kSide, kEvery = 5;   // every fifth sample is for testing
constexpr size_t kMaxBytes = 16u << 20;                              // unpacked; the real table has 0.3 MB

class DigitsSource : public Source {
 public:
  explicit DigitsSource(DigitsDataset::Options o) : o_(std::move(o)) { check_usage(o_.usage, "DigitsDataset"); }
  std::string str() const override { return fmt::format("DigitsDataset(usage={})", o_.usage.empty() ? "all" : o_.usage); }

  void open() override {
    path_ = o_.dataset_file;
    struct stat info {};
    if (path_.empty()) path_ = "dataset/digits";
    if (stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) path_ += "/digits.csv.gz";
    const std::string text = unpack();
    parse(text);
    if (labels_.empty()) throw DataError(ErrorCode::kDataEmpty, fmt::format("{} holds no samples for '{}'", path_, o_.usage), path_, "restore dataset/digits/digits.csv.gz");
    hash_ = XXH3_64bits(text.data(), text.size());
  }
  int64_t rows() const override { return static_cast<int64_t>(labels_.size()); }
  std::vector<ColumnInfo> columns() const override { return {{"image", DType::kUInt8, {kSide, kSide, 1}}, {"label", DType::kInt32, {}}}; }
  uint64_t listing_hash() const override { return hash_; }
  void read(uint64_t, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    out[0] = {pixels_.data() + row_id * kPixels, DType::kUInt8, {kSide, kSide, 1}};
    out[1] = label_value(scratch, labels_[static_cast<size_t>(row_id)]);
  }
  std::string row_name(int64_t row_id) const override { return fmt::format("{}, sample {}", path_, row_id); }
  std::optional<int64_t> num_classes() const override { return 10; }

 private:
  std::string unpack() const {
    gzFile f = gzopen(path_.c_str(), "rb");
    if (f == nullptr) throw DataError(ErrorCode::kDataMissing, fmt::format("cannot open the digits table {}", path_), path_, "give data.path the folder dataset/digits of the source tree, or the file itself");
    std::string text;
    char block[65536];
    int n = 0;
    while ((n = gzread(f, block, sizeof block)) > 0 && text.size() < kMaxBytes) text.append(block, static_cast<size_t>(n));
    const bool whole = n == 0 && gzclose_r(f) == Z_OK;
    if (!whole) throw DataError(ErrorCode::kDataCorrupt, fmt::format("{} is damaged or too large", path_), path_, "restore dataset/digits/digits.csv.gz");
    return text;
  }

  [[noreturn]] void corrupt(int64_t line, const std::string& what) const {
    throw DataError(ErrorCode::kDataCorrupt, fmt::format("{}: {}", path_, what), fmt::format("{}, line {}", path_, line + 1), "each line needs 64 numbers 0..16 and a label 0..9");
  }

  void parse(const std::string& text) {
    const char *p = text.data(), *end = p + text.size();
    for (int64_t line = 0; p < end; ++line) {
      const bool test = line % kEvery == kEvery - 1;
      const bool wanted = o_.usage.empty() || o_.usage == "all" || (o_.usage == "test") == test;
      for (int64_t i = 0; i <= kPixels; ++i) {
        int v = -1;
        const auto [next, error] = std::from_chars(p, end, v);
        const bool last = i == kPixels;
        if (error != std::errc() || v < 0 || v > (last ? 9 : 16)) corrupt(line, fmt::format("value {} is not a number from 0 to {}", i + 1, last ? 9 : 16));
        p = next;
        if (!last && (p == end || *p != ',')) corrupt(line, fmt::format("{} values, expected {}", i + 1, kPixels + 1));
        if (!last) ++p;
        if (!wanted) continue;
        if (last) labels_.push_back(static_cast<uint8_t>(v));
        else pixels_.push_back(static_cast<uint8_t>(v));
      }
      if (p < end && *p == '\r') ++p;
      if (p < end && *p != '\n') corrupt(line, "more than 65 values");
      if (p < end) ++p;
    }
  }

  DigitsDataset::Options o_;
  std::string path_;
  std::vector<uint8_t> pixels_, labels_;
  uint64_t hash_ = 0;
};

}  // namespace

Dataset::Ptr DigitsDataset::make(Options o) {
  OrderSpec order = make_order("DigitsDataset", o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<DigitsSource>(std::move(o)), std::move(order), workers);
}

}  // namespace sindri::dataset
