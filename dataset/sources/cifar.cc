// CIFAR-10 and CIFAR-100 binaries: label bytes, then 32 x 32 planes of R, G, B.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>

#include "dataset/node.h"
#include "dataset/sources/byte_files.h"
#include "dataset/transforms/tail_simd.h"
#include "sindri/core/log.h"
#include "sindri/dataset/registry.h"

namespace sindri::dataset {

namespace {

constexpr int64_t kCifarSide = 32, kCifarPixels = kCifarSide * kCifarSide;

class CifarSource : public Source {
 public:
  CifarSource(Cifar10Dataset::Options o, bool hundred)
      : o_(std::move(o)), hundred_(hundred), who_(hundred ? "Cifar100Dataset" : "Cifar10Dataset"), labels_(hundred ? 2 : 1) {
    check_usage(o_.usage, who_);
  }
  std::string str() const override { return fmt::format("{}(usage={})", who_, o_.usage.empty() ? "all" : o_.usage); }

  void open() override {
    const auto entries = list_folder(o_.dataset_dir, who_);
    std::vector<std::string> names;
    for (const auto& e : entries) {
      if (is_wanted(e.name)) names.push_back(e.name);
    }
    if (names.empty()) raise_missing(entries);
    for (const auto& name : names) open_file(o_.dataset_dir + "/" + name);
    check_complete(entries, names);
  }
  int64_t rows() const override { return rows_; }
  std::vector<ColumnInfo> columns() const override {
    const ColumnInfo image{"image", DType::kUInt8, {32, 32, 3}};
    if (hundred_) return {image, {"coarse_label", DType::kInt32, {}}, {"fine_label", DType::kInt32, {}}};
    return {image, {"label", DType::kInt32, {}}};
  }
  uint64_t listing_hash() const override { return hash_; }
  FilesHash files_hash(bool) const override {
    uint64_t h = hash_;
    for (const auto& f : files_) h = f->content_hash(h);
    return {h, 0};
  }

  void read(uint64_t, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    const auto [file, row] = locate(row_id);
    const uint8_t* record = files_[file]->data() + row * record_bytes();
    uint8_t* image = scratch.arena.allocate(3 * kCifarPixels);
    SINDRI_SIMD_CALL(tail_join)(record + labels_, kCifarPixels, kCifarPixels, image);
    out[0] = {image, DType::kUInt8, {32, 32, 3}};
    for (int64_t k = 0; k < labels_; ++k) out[static_cast<size_t>(k) + 1] = label_value(scratch, record[k]);
  }
  std::string row_name(int64_t row_id) const override {
    const auto [file, row] = locate(row_id);
    return fmt::format("{}, record {}, byte {}", files_[file]->path(), row, row * record_bytes());
  }
  std::optional<int64_t> num_classes() const override { return hundred_ ? 100 : 10; }

 private:
  int64_t record_bytes() const { return labels_ + 3 * kCifarPixels; }

  bool is_wanted(const std::string& name) const {
    if (!ends_with(name, ".bin")) return false;
    const bool train = hundred_ ? name.find("train") != std::string::npos : name.find("data_batch") != std::string::npos;
    const bool test = hundred_ ? name.find("test") != std::string::npos : name.find("test_batch") != std::string::npos;
    return (train && o_.usage != "test") || (test && o_.usage != "train");
  }

  [[noreturn]] void raise_missing(const std::vector<DirEntry>& entries) const {
    const char* wanted = hundred_ ? (o_.usage == "test" ? "test.bin" : "train.bin and test.bin")
                                  : (o_.usage == "test" ? "test_batch.bin" : "data_batch_1.bin ... data_batch_5.bin");
    std::string found;
    for (const auto& e : entries) {
      const std::string& n = e.name;
      if (ends_with(n, ".gz") || ends_with(n, ".tgz") || ends_with(n, ".tar")) found += fmt::format("; {} is packed: unpack it first", n);
      else if (!ends_with(n, ".bin") && (n == "batches.meta" || n == "data_batch_1" || n == "test_batch" || n == "train" || n == "test") && e.type == 8)
        found += fmt::format("; {} is the Python (pickle) form, the binary form is needed", n);
      else if (n == "cifar-10-batches-bin" || n == "cifar-100-binary" || n == "cifar-10-verify-bin")
        found += fmt::format("; did you mean {}/{}?", o_.dataset_dir, n);
    }
    throw DataError(ErrorCode::kDataMissing, fmt::format("{}: no {} in {}{}", who_, wanted, o_.dataset_dir, found), o_.dataset_dir,
                    fmt::format("use the '{} binary version' from the CIFAR page", hundred_ ? "CIFAR-100" : "CIFAR-10"));
  }

  [[noreturn]] void raise_incomplete(const std::string& what) const {
    throw DataError(ErrorCode::kDataCorrupt, fmt::format("{}: {}", who_, what), o_.dataset_dir, "the dataset is not complete; unpack or download it again");
  }

  // Truncation between two records shows only in a file's size. So sizes are checked only for the published sets: folders with the list of class names, or with
  // a file of the published size. If whole files are missing, the dataset is smaller, which may be intended, so a warning names the missing files.
  void check_complete(const std::vector<DirEntry>& entries, const std::vector<std::string>& names) const {
    bool published =
        std::any_of(entries.begin(), entries.end(), [&](const DirEntry& e) { return e.name == (hundred_ ? "fine_label_names.txt" : "batches.meta.txt"); });
    for (size_t i = 0; i < files_.size() && !hundred_; ++i) published |= records_in(i) == 10'000;
    for (size_t i = 0; i < names.size(); ++i) {
      const int64_t whole = !hundred_ || names[i] == "test.bin" ? 10'000 : 50'000;
      if (published && records_in(i) != whole) raise_incomplete(fmt::format("{} has {} records, expected {}", names[i], records_in(i), whole));
    }
    if (hundred_ || o_.usage == "test") return;
    std::vector<std::string> missing, gaps;
    int64_t rows = 0;
    for (int i = 1; i <= 5; ++i) {
      const std::string name = fmt::format("data_batch_{}.bin", i);
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) {
        missing.push_back(name);
        continue;
      }
      rows += records_in(static_cast<size_t>(at - names.begin()));
      gaps = missing;
    }
    if (published) gaps = missing;  // all five files if published, else those up to the largest number present
    if (rows > 0 && !gaps.empty())
      log::warn("data", fmt::format("{}: {} has no {}; the other files hold {} training rows", who_, o_.dataset_dir, fmt::join(gaps, ", "), rows));
  }
  int64_t records_in(size_t file) const { return ends_[file] - (file == 0 ? 0 : ends_[file - 1]); }

  void open_file(const std::string& path) {
    auto f = std::make_unique<MappedFile>(path);
    if (f->bytes() == 0) throw DataError(ErrorCode::kDataEmpty, fmt::format("{}: {} is empty", who_, path), path, "download the dataset again");
    if (f->bytes() % record_bytes() != 0) {
      throw DataError(ErrorCode::kDataCorrupt, fmt::format("{} has {} bytes, expected a multiple of {}", path, f->bytes(), record_bytes()),
                      fmt::format("{}, byte {}", path, f->bytes()), "the file is cut short or of another dataset; download it again");
    }
    const int64_t n = f->bytes() / record_bytes();
    std::vector<uint8_t> labels;
    for (int64_t i = 0; i < n; ++i) {
      const uint8_t* record = f->data() + i * record_bytes();
      for (int64_t k = 0; k < labels_; ++k) {
        const int limit = !hundred_ ? 10 : k == 0 ? 20 : 100;
        if (record[k] >= limit) {
          throw DataError(ErrorCode::kLabelRange, fmt::format("record {} of {} has the label {}, expected 0 to {}", i, path, record[k], limit - 1),
                          fmt::format("{}, byte {}", path, i * record_bytes() + k), "the file is damaged or of another dataset; download it again");
        }
        labels.push_back(record[k]);
      }
    }
    hash_ = XXH3_64bits_withSeed(labels.data(), labels.size(), hash_);
    rows_ += n;
    ends_.push_back(rows_);
    files_.push_back(std::move(f));
  }

  std::pair<size_t, int64_t> locate(int64_t row_id) const {
    const size_t file = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row_id) - ends_.begin());
    return {file, file == 0 ? row_id : row_id - ends_[file - 1]};
  }

  Cifar10Dataset::Options o_;
  bool hundred_;
  const char* who_;
  int64_t labels_, rows_ = 0;
  std::vector<std::unique_ptr<MappedFile>> files_;
  std::vector<int64_t> ends_;
  uint64_t hash_ = 0;
};

Dataset::Ptr make_cifar(Cifar10Dataset::Options o, bool hundred) {
  OrderSpec order = make_order(hundred ? "Cifar100Dataset" : "Cifar10Dataset", o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<CifarSource>(std::move(o), hundred), std::move(order), workers);
}

}  // namespace

Dataset::Ptr Cifar10Dataset::make(Options o) { return make_cifar(std::move(o), false); }
Dataset::Ptr Cifar100Dataset::make(Options o) { return make_cifar(std::move(o), true); }

namespace {

KindFacts cifar_facts() { return {.channels = 3, .side = kCifarSide, .mean = {0.4914, 0.4822, 0.4465}, .std = {0.2470, 0.2435, 0.2616}}; }

const auto& kCifar10 = kinds().add({
    .name = "cifar10",
    .doc = "photographs of 10 classes, 32x32: the binary version",
    .facts = cifar_facts(),
    .make = [](const DataPart& p,
               const SettingValues&) { return Cifar10Dataset::make({.dataset_dir = p.path, .usage = p.train ? "train" : "test", .shuffle = p.shuffle}); },
});
const auto& kCifar100 = kinds().add({
    .name = "cifar100",
    .doc = "photographs of 100 classes, 32x32: the binary version with its fine labels",
    .facts = cifar_facts(),
    .make =
        [](const DataPart& p, const SettingValues&) {
          const auto data = Cifar100Dataset::make({.dataset_dir = p.path, .usage = p.train ? "train" : "test", .shuffle = p.shuffle});
          return data->project({"image", "fine_label"})->rename({"fine_label"}, {"label"});
        },
});

}  // namespace

}  // namespace sindri::dataset
