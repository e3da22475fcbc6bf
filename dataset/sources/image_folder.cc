// root/class/file. A label is the index of the class folder's name, sorted by bytes.
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "dataset/node.h"
#include "dataset/transforms/vision_ops.h"
#include "sindri/core/log.h"
#include "sindri/dataset/registry.h"
#include "src/core/nearest.h"

namespace sindri::dataset {

namespace {

std::string suffix_of(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? "(none)" : name.substr(dot);
}

bool is_image_suffix(const std::string& suffix) {
  static constexpr const char* kKnown[] = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"};
  std::string lower = suffix;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const char* k) { return lower == k; });
}

class ImageFolderSource : public Source {
 public:
  explicit ImageFolderSource(ImageFolderDataset::Options o) : o_(std::move(o)) {}

  std::string str() const override {
    return fmt::format("ImageFolder(extensions=[{}], class_indexing=[{}], decode={})", fmt::join(o_.extensions, ","), fmt::join(o_.class_indexing, ","),
                       o_.decode);  // any_extension shows in the listing
  }

  void open() override {
    const auto entries = list_folder(o_.dataset_dir, "ImageFolderDataset");
    int64_t loose = 0;
    std::vector<std::string> classes;
    for (const auto& e : entries) {
      if (e.name[0] == '.') continue;
      const unsigned char type = type_of(o_.dataset_dir + "/" + e.name, e.type);
      if (type == DT_DIR) classes.push_back(e.name);
      else if (type == DT_REG && is_image_suffix(suffix_of(e.name))) ++loose;
    }
    if (classes.empty()) {
      throw DataError(ErrorCode::kDataMissing,
                      loose > 0
                          ? fmt::format("{} images lie directly in {}; ImageFolderDataset expects {}/<class>/<image>", loose, o_.dataset_dir, o_.dataset_dir)
                          : fmt::format("{} has no class folders; ImageFolderDataset expects {}/<class>/<image>", o_.dataset_dir, o_.dataset_dir),
                      o_.dataset_dir, "put the images of each class into a separate folder");
    }
    choose_classes(classes);
    std::vector<std::string> empty;
    for (const auto& [name, label] : order_) {
      const size_t before = label_.size();
      list_class(name, label);
      if (label_.size() == before) empty.push_back(name);
    }
    report(empty);
    hash_ = XXH3_64bits_withSeed(names_.data(), names_.size(), XXH3_64bits(label_.data(), label_.size() * sizeof(int32_t)));
  }

  int64_t rows() const override { return static_cast<int64_t>(label_.size()); }
  std::vector<ColumnInfo> columns() const override {
    ColumnInfo image{"image", DType::kUInt8, {-1}};
    if (o_.decode) image.shape = {-1, -1, 3};
    return {image, {"label", DType::kInt32, {}}};
  }
  uint64_t listing_hash() const override { return hash_; }

  // Reading the size of a million files takes minutes on a slow disk, so of many files only some are read; all names count.
  FilesHash files_hash(bool contents) const override {
    constexpr int64_t kLookedAt = 50'000;
    FilesHash h{hash_, 0};
    const int64_t stride = contents ? 1 : std::max<int64_t>(1, rows() / kLookedAt);
    for (int64_t row = 0; row < rows(); row += stride) {
      const std::string path = row_name(row);
      if (contents) {
        h.files = MappedFile(path).content_hash(h.files);
        continue;
      }
      struct stat st {};
      if (::stat(path.c_str(), &st) != 0)
        throw IoError(fmt::format("cannot stat {}: {}", path, std::strerror(errno)), path, "check its permissions and the disk");
      h.files = hash_combine(h.files, static_cast<uint64_t>(st.st_size));
      h.times = hash_combine(h.times, static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(st.st_mtim.tv_nsec));
    }
    return h;
  }

  void read(uint64_t, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    scratch.path.assign(o_.dataset_dir).append("/").append(name(row_id));
    const Value bytes = read_file(scratch.path, scratch);
    if (bytes.shape[0] == 0) throw BadSample("the file is empty", "", "replace the file, or set data.on_corrupt: replace");
    out[0] = o_.decode ? decode_image(bytes, scratch) : bytes;
    out[1] = {reinterpret_cast<const uint8_t*>(&label_[static_cast<size_t>(row_id)]), DType::kInt32, {}};
  }
  std::string row_name(int64_t row_id) const override { return o_.dataset_dir + "/" + std::string(name(row_id)); }
  std::map<std::string, int32_t> class_indexing() const override { return {order_.begin(), order_.end()}; }
  std::optional<int64_t> num_classes() const override { return static_cast<int64_t>(order_.size()); }

 private:
  // "class/file" of a row. One string holds the names of all rows, another array their ends.
  std::string_view name(int64_t row) const {
    const uint64_t begin = row == 0 ? 0 : ends_[static_cast<size_t>(row) - 1];
    return std::string_view(names_).substr(begin, ends_[static_cast<size_t>(row)] - begin);
  }

  // Follows links, which may lead anywhere: subsets of large datasets are often folders of links. Broken links are counted and skipped.
  unsigned char type_of(const std::string& path, unsigned char type) {
    if (type == DT_REG || type == DT_DIR) return type;
    if (type != DT_LNK && type != DT_UNKNOWN) return type;
    struct stat st {};
    if (::stat(path.c_str(), &st) != 0) {
      if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        throw IoError(fmt::format("cannot stat {}: {}", path, std::strerror(errno)), path, "check its permissions and the disk");
      ++broken_;
      return DT_UNKNOWN;
    }
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
  }

  void choose_classes(const std::vector<std::string>& found) {
    if (o_.class_indexing.empty()) {
      for (size_t i = 0; i < found.size(); ++i) order_.emplace_back(found[i], static_cast<int32_t>(i));
      return;
    }
    for (const auto& [name, label] : o_.class_indexing) {
      if (label < 0) throw ValueError(fmt::format("class_indexing: '{}' has the negative label {}", name, label));
      if (std::find(found.begin(), found.end(), name) == found.end())
        throw DataError(ErrorCode::kDataMissing, fmt::format("class_indexing names '{}', a folder that {} does not have", name, o_.dataset_dir), o_.dataset_dir,
                        did_you_mean(name, found));
      order_.emplace_back(name, label);  // std::map is sorted by bytes already
    }
  }

  void list_class(const std::string& cls, int32_t label) {
    const std::string dir = o_.dataset_dir + "/" + cls;
    for (const auto& e : list_folder(dir, "ImageFolderDataset")) {
      const std::string suffix = suffix_of(e.name);
      const bool wanted = o_.extensions.empty() ? e.name[0] != '.' && (o_.any_extension || is_image_suffix(suffix))
                                                : std::find(o_.extensions.begin(), o_.extensions.end(), suffix) != o_.extensions.end();
      const unsigned char type = wanted ? type_of(dir + "/" + e.name, e.type) : e.type;
      if (!wanted || type != DT_REG) {
        ++skipped_[type == DT_DIR ? "(folder)" : suffix];
        continue;
      }
      names_.append(cls).append("/").append(e.name);
      ends_.push_back(names_.size());
      label_.push_back(label);
    }
  }

  void report(const std::vector<std::string>& empty) {
    std::string seen;
    for (const auto& [suffix, n] : skipped_) seen += fmt::format("{}{} x {}", seen.empty() ? "" : ", ", n, suffix);
    if (label_.empty()) {
      throw DataError(ErrorCode::kDataEmpty,
                      fmt::format("no images in the {} class folders of {}; other entries: {}", order_.size(), o_.dataset_dir, seen.empty() ? "none" : seen),
                      o_.dataset_dir,
                      o_.any_extension            ? "put images into the class folders"
                          : o_.extensions.empty() ? "images end in .jpg .jpeg .png .bmp .webp .tif or .tiff"
                                                  : fmt::format("extensions is [{}]", fmt::join(o_.extensions, ", ")));
    }
    if (!empty.empty() && !o_.allow_empty_classes)
      throw DataError(ErrorCode::kDataEmpty, fmt::format("class folders without images: {}", fmt::join(empty, ", ")), o_.dataset_dir,
                      "fill or remove them, or set allow_empty_classes");
    if (!empty.empty()) log::warn("data", fmt::format("{}: class folders without images keep their labels: {}", o_.dataset_dir, fmt::join(empty, ", ")));
    if (!skipped_.empty()) log::warn("data", fmt::format("{}: skipped entries: {}", o_.dataset_dir, seen));
    if (broken_ > 0) log::warn("data", fmt::format("{}: {} broken links are skipped", o_.dataset_dir, broken_));
  }

  ImageFolderDataset::Options o_;
  std::vector<std::pair<std::string, int32_t>> order_;  // class folders with their labels
  std::string names_;
  std::vector<uint64_t> ends_;
  std::vector<int32_t> label_;
  std::map<std::string, int64_t> skipped_;
  int64_t broken_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace

Dataset::Ptr ImageFolderDataset::make(Options o) {
  OrderSpec order = make_order("ImageFolderDataset", o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  for (const auto& e : o.extensions) {
    if (e.empty() || e[0] != '.') throw ValueError(fmt::format("ImageFolderDataset: extension '{}' has no dot", e), "", fmt::format("did you mean '.{}'?", e));
  }
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<ImageFolderSource>(std::move(o)), std::move(order), workers);
}

namespace {

const auto& kImageFolder = kinds().add({
    .name = "imagefolder",
    .doc = "image files in one folder per class, under train and val (or ilsvrc, validation, eval, test, …)",
    .facts = {.encoded = true},
    .make =
        [](const DataPart& p, const SettingValues&) {
          const FoundData found = find_data(p.path, p.train ? "train" : "eval");
          if (found.kind != FoundData::Kind::kImageFolder)
            throw DataError(ErrorCode::kDataMissing, fmt::format("data.kind is imagefolder, but {} holds {}", found.dir, found.kind_name()), p.path,
                            "set data.kind: auto");
          return open_data(found, p.shuffle);
        },
});

}  // namespace

}  // namespace sindri::dataset
