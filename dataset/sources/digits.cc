// The 8x8 handwritten digits (dataset/digits/README.md): a CSV file, gzipped or not, of 64 pixels 0..16 and a label per line.
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "dataset/node.h"
#include "dataset/sources/byte_files.h"
#include "sindri/dataset/registry.h"
#include "src/core/installation.h"

namespace sindri::dataset {

namespace {

constexpr int64_t kDigitsSide = 8, kDigitsPixels = kDigitsSide * kDigitsSide;
constexpr int kMaxPixel = 16, kClasses = 10;
constexpr int64_t kTestEvery = 5;  // lines 5, 10, 15, … are the test set
constexpr int64_t kMaxText = int64_t{64} << 20;  // the original file has 264,712 bytes; a small compressed file must not expand without limit

std::string default_file() {
  const std::string here = "dataset/digits/digits.csv.gz", found = find_installed(here, "digits/digits.csv.gz");
  return found.empty() ? here : found;
}

class DigitsSource : public Source {
 public:
  explicit DigitsSource(DigitsDataset::Options o) : o_(std::move(o)) { check_usage(o_.usage, "DigitsDataset"); }
  std::string str() const override { return fmt::format("DigitsDataset(usage={})", o_.usage.empty() ? "all" : o_.usage); }

  void open() override {
    path_ = o_.dataset_file.empty() ? default_file() : o_.dataset_file;
    if (is_folder(path_)) path_ += "/digits.csv.gz";
    parse(read_text());
    if (labels_.empty())
      throw DataError(ErrorCode::kDataEmpty, fmt::format("DigitsDataset: {} holds no digits", path_), path_, "copy dataset/digits from the sources again");
    hash_ = XXH3_64bits_withSeed(pixels_.data(), pixels_.size(), XXH3_64bits(labels_.data(), labels_.size()));
  }
  int64_t rows() const override { return static_cast<int64_t>(labels_.size()); }
  std::vector<ColumnInfo> columns() const override { return {{"image", DType::kUInt8, {kDigitsSide, kDigitsSide, 1}}, {"label", DType::kInt32, {}}}; }
  uint64_t listing_hash() const override { return hash_; }
  void read(uint64_t, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    out[0] = {pixels_.data() + row_id * kDigitsPixels, DType::kUInt8, {kDigitsSide, kDigitsSide, 1}};
    out[1] = label_value(scratch, labels_[static_cast<size_t>(row_id)]);
  }
  std::string row_name(int64_t row_id) const override { return fmt::format("{}, line {}", path_, lines_[static_cast<size_t>(row_id)]); }
  std::optional<int64_t> num_classes() const override { return kClasses; }

 private:
  // gzread returns uncompressed files unchanged.
  std::string read_text() const {
    struct stat info {};
    if (stat(path_.c_str(), &info) != 0) {
      if (errno != ENOENT && errno != ENOTDIR)
        throw IoError(fmt::format("DigitsDataset: cannot stat {}: {}", path_, std::strerror(errno)), path_, "check its permissions and the disk");
      throw DataError(ErrorCode::kDataMissing, fmt::format("DigitsDataset: {} does not exist", path_), path_,
                      "start in the root of the sources, or set data.path to dataset/digits there, or to share/sindri/digits of an installation");
    }
    gzFile file = S_ISREG(info.st_mode) ? gzopen(path_.c_str(), "rb") : nullptr;
    if (file == nullptr) throw IoError(fmt::format("DigitsDataset: cannot open {}", path_), path_, "check its kind and permissions");
    std::string text;
    char buffer[1 << 16];
    int n = 0;
    while ((n = gzread(file, buffer, sizeof buffer)) > 0 && static_cast<int64_t>(text.size()) <= kMaxText) text.append(buffer, static_cast<size_t>(n));
    int state = Z_OK;
    gzerror(file, &state);
    // Closing reports a compressed stream that ends early.
    const int closed = gzclose(file);
    if (n < 0 || state != Z_OK || closed != Z_OK)
      throw DataError(ErrorCode::kDataCorrupt, fmt::format("DigitsDataset: {} is damaged (gzip)", path_), path_, "copy dataset/digits from the sources again");
    if (static_cast<int64_t>(text.size()) > kMaxText)
      throw DataError(ErrorCode::kDataCorrupt, fmt::format("DigitsDataset: {} holds more than {} bytes", path_, kMaxText), path_, "is this the right file?");
    return text;
  }

  void parse(const std::string& text) {
    int64_t line = 0;
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view row(text.data() + start, end - start);
      start = end + 1;
      ++line;
      const bool test = line % kTestEvery == 0;
      if ((o_.usage == "train" && test) || (o_.usage == "test" && !test)) {
        parse_row(row, line, false);
      } else {
        parse_row(row, line, true);
        lines_.push_back(line);
      }
    }
  }

  // Rows of the other part are checked as well: a damaged file is damaged for both.
  void parse_row(std::string_view row, int64_t line, bool keep) {
    if (row.ends_with('\r')) row.remove_suffix(1);
    uint8_t values[kDigitsPixels + 1];
    const char* p = row.data();
    const char* const end = row.data() + row.size();
    for (int64_t i = 0; i <= kDigitsPixels; ++i) {
      int v = 0;
      const auto [next, error] = std::from_chars(p, end, v);
      if (error != std::errc{}) corrupt(line, fmt::format("expected {} numbers, number {} cannot be read", kDigitsPixels + 1, i + 1));
      if (i < kDigitsPixels && (v < 0 || v > kMaxPixel)) corrupt(line, fmt::format("pixel {}: expected 0 to {}, got {}", i + 1, kMaxPixel, v));
      if (i == kDigitsPixels && (v < 0 || v >= kClasses)) {
        throw DataError(ErrorCode::kLabelRange, fmt::format("label of line {}: expected 0 to {}, got {}", line, kClasses - 1, v),
                        fmt::format("{}, line {}", path_, line), "copy dataset/digits from the sources again");
      }
      values[i] = static_cast<uint8_t>(v);
      p = next;
      if (i < kDigitsPixels ? p == end || *p++ != ',' : p != end) corrupt(line, fmt::format("expected {} numbers with commas between them", kDigitsPixels + 1));
    }
    if (!keep) return;
    pixels_.insert(pixels_.end(), values, values + kDigitsPixels);
    labels_.push_back(values[kDigitsPixels]);
  }
  [[noreturn]] void corrupt(int64_t line, const std::string& what) const {
    throw DataError(ErrorCode::kDataCorrupt, fmt::format("DigitsDataset: {}", what), fmt::format("{}, line {}", path_, line),
                    "copy dataset/digits from the sources again");
  }

  DigitsDataset::Options o_;
  std::string path_;
  std::vector<uint8_t> pixels_, labels_;
  std::vector<int64_t> lines_;  // of the file, from 1
  uint64_t hash_ = 0;
};

}  // namespace

Dataset::Ptr DigitsDataset::make(Options o) {
  OrderSpec order = make_order("DigitsDataset", o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<DigitsSource>(std::move(o)), std::move(order), workers);
}

namespace {

const auto& kDigits = kinds().add({
    .name = "digits",
    .doc = "the 1,797 handwritten digits included with Sindri, 8x8, grey: a CSV file, by default the installed one; not augmented",
    .facts = {.channels = 1, .side = kDigitsSide, .largest = kMaxPixel, .mean = {0}, .std = {1}, .augment = false, .needs_path = false},
    .make = [](const DataPart& p,
               const SettingValues&) { return DigitsDataset::make({.dataset_file = p.path, .usage = p.train ? "train" : "test", .shuffle = p.shuffle}); },
});

}  // namespace

}  // namespace sindri::dataset
