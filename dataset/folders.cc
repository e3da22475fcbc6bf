// Finds a dataset in a folder by the names that MindSpore's model scripts use.
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dataset/source.h"
#include "dataset/sources/byte_files.h"
#include "sindri/dataset/registry.h"

namespace sindri::dataset {

namespace {

// The entries of a folder that decide the kind of a dataset.
struct Contents {
  bool cifar10_train = false, cifar10_test = false, cifar100_train = false, cifar100_test = false, mnist_train = false, mnist_test = false;
  int64_t folders = 0;
  std::vector<std::string> names;
};

Contents look(const std::string& dir) {
  Contents c;
  for (const auto& e : list_folder(dir, "data.path")) {
    const std::string& n = e.name;
    if (n[0] == '.') continue;
    c.names.push_back(n);
    const bool folder = e.type == DT_DIR || ((e.type == DT_LNK || e.type == DT_UNKNOWN) && is_folder(dir + "/" + n));
    if (folder) ++c.folders;
    else if (ends_with(n, ".bin") && n.find("data_batch") != std::string::npos) c.cifar10_train = true;
    else if (n == "test_batch.bin") c.cifar10_test = true;
    else if (n == "train.bin") c.cifar100_train = true;
    else if (n == "test.bin") c.cifar100_test = true;
    else if (n.find("train-images") != std::string::npos && ends_with(n, "idx3-ubyte")) c.mnist_train = true;
    else if (n.find("t10k-images") != std::string::npos && ends_with(n, "idx3-ubyte")) c.mnist_test = true;
  }
  return c;
}

// Binary datasets directly in `dir`.
bool binary_in(const std::string& dir, const Contents& c, bool train, FoundData* found) {
  found->dir = dir;
  found->usage = train ? "train" : "test";
  if (train ? c.cifar10_train : c.cifar10_test) found->kind = FoundData::Kind::kCifar10;
  else if (train ? c.cifar100_train : c.cifar100_test) found->kind = FoundData::Kind::kCifar100;
  else if (train ? c.mnist_train : c.mnist_test) found->kind = FoundData::Kind::kMnist;
  else return false;
  return true;
}

// A folder of class folders. Folders that contain further datasets ("train" next to "val") do not count as classes.
bool class_folders(const std::string& dir, const Contents& c) {
  if (c.folders == 0) return false;
  for (const auto& name : c.names) {
    const std::string path = dir + "/" + name;
    if (!is_folder(path)) continue;
    for (const auto& e : list_folder(path, "data.path")) {
      if (e.name[0] != '.' && (e.type == DT_REG || e.type == DT_LNK || (e.type == DT_UNKNOWN && !is_folder(path + "/" + e.name)))) return true;
    }
  }
  return false;
}

constexpr const char* kTrainNames[] = {"train", "ilsvrc"};
constexpr const char* kEvalNames[] = {"val", "validation_preprocess", "ilsvrc_eval", "validation", "eval", "test"};
// Folders that unpacked archives create around the binary files.
constexpr const char* kBinaryFolders[] = {"cifar-10-batches-bin", "cifar-100-binary"};

}  // namespace

const char* FoundData::kind_name() const {
  static constexpr const char* kNames[] = {"image folder", "CIFAR-10 binary", "CIFAR-100 binary", "MNIST idx"};
  return kNames[static_cast<int>(kind)];
}

const char* kind_of(const FoundData& found) {
  static constexpr const char* kNames[] = {"imagefolder", "cifar10", "cifar100", "mnist"};
  return kNames[static_cast<int>(found.kind)];
}

Registry<MakeData, KindFacts>& kinds() {
  static Registry<MakeData, KindFacts>& all = *new Registry<MakeData, KindFacts>("kind of data");  // filled before main, by any library
  return all;
}

FoundData find_data(const std::string& root, const std::string& usage) {
  if (usage != "train" && usage != "eval") throw ValueError(fmt::format("find_data: usage '{}' is not known", usage), "", "use train or eval");
  const bool train = usage == "train";
  std::vector<std::string> candidates(train ? std::vector<std::string>(std::begin(kTrainNames), std::end(kTrainNames))
                                            : std::vector<std::string>(std::begin(kEvalNames), std::end(kEvalNames)));
  if (!train) candidates.push_back("cifar-10-verify-bin");
  candidates.insert(candidates.end(), std::begin(kBinaryFolders), std::end(kBinaryFolders));

  FoundData found;
  const Contents top = look(root);
  if (binary_in(root, top, train, &found)) return found;
  for (const auto& name : candidates) {
    const std::string dir = root + "/" + name;
    if (!is_folder(dir)) continue;
    const Contents c = look(dir);
    if (binary_in(dir, c, train, &found)) return found;
    if (class_folders(dir, c)) return {FoundData::Kind::kImageFolder, dir, ""};
  }
  // The folder may itself be the dataset: class folders, none of them named like a part of a dataset.
  bool parts = false;
  for (const char* name : kTrainNames) parts |= is_folder(root + "/" + name);
  for (const char* name : kEvalNames) parts |= is_folder(root + "/" + name);
  if (!parts && class_folders(root, top)) return {FoundData::Kind::kImageFolder, root, ""};

  std::vector<std::string> shown(top.names.begin(), top.names.begin() + std::min<std::ptrdiff_t>(10, static_cast<std::ptrdiff_t>(top.names.size())));
  if (top.names.size() > shown.size()) shown.push_back(fmt::format("and {} more", top.names.size() - shown.size()));
  throw DataError(
      ErrorCode::kDataMissing,
      fmt::format(
          "no {} data in {}: looked for CIFAR .bin and MNIST idx files there, and for these folders with class folders or such files in them: {}; found: {}",
          usage, root, fmt::join(candidates, ", "), shown.empty() ? "nothing" : fmt::format("{}", fmt::join(shown, ", "))),
      root, train ? "set data.path to the folder that holds train/<class>/<image>" : "set data.path to the folder that holds val/<class>/<image>");
}

Dataset::Ptr open_data(const FoundData& found, std::optional<bool> shuffle, std::optional<int64_t> num_shards, std::optional<int64_t> shard_id) {
  if (found.kind == FoundData::Kind::kImageFolder)
    return ImageFolderDataset::make({.dataset_dir = found.dir, .shuffle = shuffle, .num_shards = num_shards, .shard_id = shard_id});
  Cifar10Dataset::Options o{.dataset_dir = found.dir, .usage = found.usage, .shuffle = shuffle, .num_shards = num_shards, .shard_id = shard_id};
  if (found.kind == FoundData::Kind::kCifar10) return Cifar10Dataset::make(o);
  return found.kind == FoundData::Kind::kCifar100 ? Cifar100Dataset::make(o) : MnistDataset::make(o);
}

}  // namespace sindri::dataset
