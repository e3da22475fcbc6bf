// MNIST and Fashion-MNIST idx files: big-endian headers, one byte per pixel.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "dataset/node.h"
#include "dataset/sources/byte_files.h"
#include "sindri/dataset/registry.h"

namespace sindri::dataset {

namespace {

constexpr uint32_t kImagesMagic = 2051, kLabelsMagic = 2049;
constexpr int64_t kImagesHeader = 16, kLabelsHeader = 8, kMnistSide = 28;

uint32_t big_endian(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 | static_cast<uint32_t>(p[2]) << 8 | p[3];
}

class MnistSource : public Source {
 public:
  MnistSource(MnistDataset::Options o, const char* who) : o_(std::move(o)), who_(who) { check_usage(o_.usage, who_); }
  std::string str() const override { return fmt::format("{}(usage={})", who_, o_.usage.empty() ? "all" : o_.usage); }

  void open() override {
    const auto entries = list_folder(o_.dataset_dir, who_);
    if (o_.usage != "test") open_part(entries, "train");
    if (o_.usage != "train") open_part(entries, "t10k");
    if (parts_.empty()) raise_missing(entries, o_.usage == "test" ? "t10k" : "train", "images-idx3-ubyte");
    if (rows_ == 0)
      throw DataError(ErrorCode::kDataEmpty, fmt::format("{}: the files in {} hold no images", who_, o_.dataset_dir), o_.dataset_dir,
                      "download the dataset again");
  }
  int64_t rows() const override { return rows_; }
  std::vector<ColumnInfo> columns() const override { return {{"image", DType::kUInt8, {kMnistSide, kMnistSide, 1}}, {"label", DType::kInt32, {}}}; }
  uint64_t listing_hash() const override { return hash_; }
  FilesHash files_hash(bool) const override {
    uint64_t h = hash_;
    for (const Part& p : parts_) h = p.images->content_hash(h);
    return {h, 0};
  }
  void read(uint64_t, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    const auto [part, row] = locate(row_id);
    out[0] = {part->images->data() + kImagesHeader + row * kMnistSide * kMnistSide, DType::kUInt8, {kMnistSide, kMnistSide, 1}};
    out[1] = label_value(scratch, part->labels->data()[kLabelsHeader + row]);
  }
  std::string row_name(int64_t row_id) const override {
    const auto [part, row] = locate(row_id);
    return fmt::format("{}, image {}, byte {}", part->images->path(), row, kImagesHeader + row * kMnistSide * kMnistSide);
  }
  std::optional<int64_t> num_classes() const override { return 10; }

 private:
  struct Part {
    std::unique_ptr<MappedFile> images, labels;
    int64_t end = 0;  // rows up to the end of this part
  };

  static std::string find(const std::vector<DirEntry>& entries, const std::string& prefix, const char* kind, const char* rank) {
    for (const auto& e : entries) {
      const bool named = e.name.find(prefix + "-" + kind) != std::string::npos;
      const bool idx = ends_with(e.name, (std::string("-") + rank + "-ubyte").c_str()) || ends_with(e.name, (std::string(".") + rank + "-ubyte").c_str());
      if (named && idx) return e.name;
    }
    return {};
  }

  [[noreturn]] void raise_missing(const std::vector<DirEntry>& entries, const std::string& prefix, const char* what) const {
    std::string found;
    for (const auto& e : entries) {
      if (ends_with(e.name, "-ubyte.gz")) found = fmt::format("; {} is packed: gunzip it first", e.name);
    }
    throw DataError(ErrorCode::kDataMissing, fmt::format("{}: no {}-{} in {}{}", who_, prefix, what, o_.dataset_dir, found), o_.dataset_dir,
                    "the folder needs train-images-idx3-ubyte, train-labels-idx1-ubyte and the same with t10k");
  }

  void open_part(const std::vector<DirEntry>& entries, const std::string& prefix) {
    const std::string images = find(entries, prefix, "images", "idx3"), labels = find(entries, prefix, "labels", "idx1");
    if (images.empty() && labels.empty()) {
      if (o_.usage == "train" || o_.usage == "test") raise_missing(entries, prefix, "images-idx3-ubyte");
      return;  // "all" accepts any part
    }
    if (images.empty()) raise_missing(entries, prefix, "images-idx3-ubyte");
    if (labels.empty()) raise_missing(entries, prefix, "labels-idx1-ubyte");
    Part p;
    p.images = std::make_unique<MappedFile>(o_.dataset_dir + "/" + images);
    p.labels = std::make_unique<MappedFile>(o_.dataset_dir + "/" + labels);
    const int64_t n = check_images(*p.images);
    check_labels(*p.labels, n);
    hash_ = XXH3_64bits_withSeed(p.labels->data(), static_cast<size_t>(p.labels->bytes()), hash_);
    rows_ += n;
    p.end = rows_;
    parts_.push_back(std::move(p));
  }

  [[noreturn]] static void corrupt(const MappedFile& f, const std::string& what, int64_t byte) {
    throw DataError(ErrorCode::kDataCorrupt, fmt::format("{}: {}", f.path(), what), fmt::format("{}, byte {}", f.path(), byte),
                    "the file is damaged or of another kind; download it again");
  }

  static int64_t check_images(const MappedFile& f) {
    if (f.bytes() < kImagesHeader) corrupt(f, fmt::format("{} bytes, the header alone has {}", f.bytes(), kImagesHeader), f.bytes());
    const uint32_t magic = big_endian(f.data());
    if (magic != kImagesMagic) corrupt(f, fmt::format("expected magic {}, got {}", kImagesMagic, magic), 0);
    const int64_t n = big_endian(f.data() + 4), rows = big_endian(f.data() + 8), columns = big_endian(f.data() + 12);
    if (rows != kMnistSide || columns != kMnistSide) corrupt(f, fmt::format("expected images of 28 x 28, got {} x {}", rows, columns), 8);
    // n < 2^32 and an image has 784 bytes: the product stays far below 2^63.
    if (kImagesHeader + n * kMnistSide * kMnistSide != f.bytes())
      corrupt(f, fmt::format("{} images need {} bytes, the file has {}", n, kImagesHeader + n * kMnistSide * kMnistSide, f.bytes()), 4);
    return n;
  }

  static void check_labels(const MappedFile& f, int64_t images) {
    if (f.bytes() < kLabelsHeader) corrupt(f, fmt::format("{} bytes, the header alone has {}", f.bytes(), kLabelsHeader), f.bytes());
    const uint32_t magic = big_endian(f.data());
    if (magic != kLabelsMagic) corrupt(f, fmt::format("expected magic {}, got {}", kLabelsMagic, magic), 0);
    const int64_t n = big_endian(f.data() + 4);
    if (n != images) corrupt(f, fmt::format("expected {} labels, one per image, got {}", images, n), 4);
    if (kLabelsHeader + n != f.bytes()) corrupt(f, fmt::format("{} labels need {} bytes, the file has {}", n, kLabelsHeader + n, f.bytes()), 4);
    for (int64_t i = 0; i < n; ++i) {
      const uint8_t label = f.data()[kLabelsHeader + i];
      if (label > 9)
        throw DataError(ErrorCode::kLabelRange, fmt::format("label {} of {} is {}, expected 0 to 9", i, f.path(), label),
                        fmt::format("{}, byte {}", f.path(), kLabelsHeader + i), "the file is damaged or of another dataset; download it again");
    }
  }

  std::pair<const Part*, int64_t> locate(int64_t row_id) const {
    int64_t begin = 0;
    for (const Part& p : parts_) {
      if (row_id < p.end) return {&p, row_id - begin};
      begin = p.end;
    }
    throw InternalError(fmt::format("{}: row {} of {}", who_, row_id, rows_));
  }

  MnistDataset::Options o_;
  const char* who_;
  std::vector<Part> parts_;
  int64_t rows_ = 0;
  uint64_t hash_ = 0;
};

Dataset::Ptr make_mnist(MnistDataset::Options o, const char* who) {
  OrderSpec order = make_order(who, o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<MnistSource>(std::move(o), who), std::move(order), workers);
}

}  // namespace

Dataset::Ptr MnistDataset::make(Options o) { return make_mnist(std::move(o), "MnistDataset"); }
Dataset::Ptr FashionMnistDataset::make(Options o) { return make_mnist(std::move(o), "FashionMnistDataset"); }

namespace {

const auto& kMnist = kinds().add({
    .name = "mnist",
    .doc = "handwritten digits, 28x28, grey: idx files; not augmented",
    .facts = {.channels = 1, .side = kMnistSide, .mean = {0.1307}, .std = {0.3081}, .augment = false},
    .make = [](const DataPart& p,
               const SettingValues&) { return MnistDataset::make({.dataset_dir = p.path, .usage = p.train ? "train" : "test", .shuffle = p.shuffle}); },
});
const auto& kFashionMnist = kinds().add({
    .name = "fashion_mnist",
    .doc = "articles of clothing, 28x28, grey: idx files like mnist's; not augmented",
    .facts = {.channels = 1, .side = kMnistSide, .mean = {0.2860}, .std = {0.3530}, .augment = false},
    .make = kMnist.make,
});

}  // namespace

}  // namespace sindri::dataset
