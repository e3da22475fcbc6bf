// See data.h. The transform chains are the seeds' (create_dataset of the ResNet scripts) and the usual ones for small images.
#include "src/app/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sindri/core/error.h"
#include "sindri/dataset/transforms.h"
#include "sindri/dataset/vision.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

using dataset::Dataset;
using dataset::FoundData;
using dataset::Transform;
namespace vision = dataset::vision;

struct Normalization {
  std::vector<double> mean, std;
};  // per channel, pixels scaled to 0..1

// Of the data sets themselves; ImageNet's for photographs.
Normalization known_normalization(const std::string& kind, int64_t side) {
  if (kind == "digits") return {{0.0}, {1.0}};
  if (kind == "mnist") return {{0.1307}, {0.3081}};
  if (kind == "fashion_mnist") return {{0.2860}, {0.3530}};
  if (kind == "cifar10" || kind == "cifar100" || side <= 64) return {{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}};
  return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
}

struct Source {
  Dataset::Ptr data;
  std::string kind;
  bool encoded = false;  // images are file bytes
};

Source open_source(const Settings& s, const std::string& usage) {
  const std::string& path = s.get_string("data.path");
  std::string kind = s.get_string("data.kind");
  const bool training = usage == "train";
  const std::string part = training ? "train" : "test";
  if (path.empty() && kind != "digits")
    throw SettingsError("data.path is not set", "settings", "--set data.path=DIR, a folder with the training and evaluation data");
  if (kind == "digits") return {dataset::DigitsDataset::make({.dataset_file = path, .usage = part, .shuffle = training}), kind, false};
  if (kind == "cifar10") return {dataset::Cifar10Dataset::make({.dataset_dir = path, .usage = part, .shuffle = training}), kind, false};
  if (kind == "cifar100") {
    const auto d = dataset::Cifar100Dataset::make({.dataset_dir = path, .usage = part, .shuffle = training});
    return {d->project({"image", "fine_label"})->rename({"fine_label"}, {"label"}), kind, false};
  }
  if (kind == "mnist" || kind == "fashion_mnist") return {dataset::MnistDataset::make({.dataset_dir = path, .usage = part, .shuffle = training}), kind, false};
  const FoundData found = dataset::find_data(path, training ? "train" : "eval");
  if (kind == "imagefolder" && found.kind != FoundData::Kind::kImageFolder)
    throw DataError(ErrorCode::kDataMissing, fmt::format("data.kind is imagefolder, but {} holds {}", found.dir, found.kind_name()), path,
                    "set data.kind: auto");
  Dataset::Ptr data = dataset::open_data(found, training);
  switch (found.kind) {
    case FoundData::Kind::kImageFolder: return {data, "imagefolder", true};
    case FoundData::Kind::kCifar10: return {data, "cifar10", false};
    case FoundData::Kind::kCifar100: return {data->project({"image", "fine_label"})->rename({"fine_label"}, {"label"}), "cifar100", false};
    case FoundData::Kind::kMnist: break;
  }
  return {data, "mnist", false};
}

Normalization normalization_of(const Settings& s, const std::string& kind, int64_t channels, int64_t side) {
  Normalization n = known_normalization(kind, side);
  if (!s.get_floats("data.mean").empty()) n.mean = s.get_floats("data.mean");
  if (!s.get_floats("data.std").empty()) n.std = s.get_floats("data.std");
  for (const auto* v : {&n.mean, &n.std}) {
    if (v->size() != 1 && static_cast<int64_t>(v->size()) != channels)
      throw SettingsError(fmt::format("data.mean and data.std need 1 or {} values, got {}", channels, v->size()), s.origin("data.mean"));
  }
  return n;
}

// Height and width of the images in the data set's own files; 0: they differ.
int64_t native_side(const std::string& kind) {
  if (kind == "cifar10" || kind == "cifar100") return 32;
  if (kind == "mnist" || kind == "fashion_mnist") return 28;
  return kind == "digits" ? 8 : 0;
}

// [H, W, 3] -> [H, W, 1] with the weights of ITU-R BT.601, for nets of one channel.
Transform grayscale() {
  return dataset::transforms::Function("grayscale", [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    Tensor out = Tensor::empty({in[0].dim(0), in[0].dim(1), 1}, DType::kUInt8);
    const uint8_t* rgb = in[0].data<uint8_t>();
    uint8_t* gray = out.mutable_data<uint8_t>();
    for (int64_t i = 0; i < out.numel(); ++i) gray[i] = static_cast<uint8_t>((299 * rgb[3 * i] + 587 * rgb[3 * i + 1] + 114 * rgb[3 * i + 2] + 500) / 1000);
    return {out};
  });
}

void check_channels(const Settings& s, const std::string& kind, const Shape& image) {
  const int64_t channels = kind == "digits" || kind == "mnist" || kind == "fashion_mnist" ? 1 : 3;
  if (channels == image[0]) return;
  throw SettingsError(
      fmt::format("{} takes images of {} channel{}, the data ({}) has {}", s.get_string("model.name"), image[0], image[0] == 1 ? "" : "s", kind, channels),
      "model.name, from " + s.origin("model.name"), "choose a net for these images; `sindri summary` lists the nets with their inputs");
}

std::vector<Transform> image_chain(const Settings& s, const std::string& kind, bool encoded, const Shape& image, bool training) {
  const int64_t side = image[1];
  const bool augment = training && s.get_bool("data.augment") && kind != "digits" && kind != "mnist" && kind != "fashion_mnist";
  std::vector<Transform> chain;
  if (side > 64 && augment && encoded) {
    chain.push_back(vision::RandomCropDecodeResize(vision::Size(side, side)));
  } else {
    if (encoded) chain.push_back(vision::Decode());
    if (side > 64) {
      chain.push_back(vision::Resize(vision::Size(side * 256 / 224)));
      if (augment) chain.push_back(vision::RandomCrop(vision::Size(side, side)));
      else chain.push_back(vision::CenterCrop(vision::Size(side, side)));
    } else {
      // Small data sets mostly have the net's size already; an image of another size is brought to it first.
      if (encoded || side != native_side(kind)) chain.push_back(vision::Resize(vision::Size(side, side)));
      if (augment) chain.push_back(vision::RandomCrop(vision::Size(side, side), {.padding = {4}}));
    }
  }
  if (augment) chain.push_back(vision::RandomHorizontalFlip(0.5));
  if (encoded && image[0] == 1) chain.push_back(grayscale());
  const double unit = kind == "digits" && !encoded ? 16 : 255;  // the largest pixel value
  Normalization n = normalization_of(s, kind, image[0], side);
  for (double& v : n.mean) v *= unit;
  for (double& v : n.std) v *= unit;
  chain.push_back(vision::Normalize(n.mean, n.std));
  chain.push_back(vision::HWC2CHW());
  return chain;
}

Dataset::Ptr finish(const Settings& s, const Source& source, const Shape& image, bool training) {
  check_channels(s, source.kind, image);
  const int workers = static_cast<int>(s.get_int("data.workers"));
  Dataset::Ptr d =
      source.data->map(image_chain(s, source.kind, source.encoded, image, training), {.input_columns = {"image"}, .num_parallel_workers = workers});
  d = d->map({dataset::transforms::TypeCast(DType::kInt32)}, {.input_columns = {"label"}, .num_parallel_workers = workers});
  // Training drops the short last batch, so that a step has one signature; evaluation must see every sample.
  return d->batch(s.get_int("train.batch_size"), {.drop_remainder = training, .num_parallel_workers = workers});
}

Tensor file_bytes(const std::string& path) {
  const std::string bytes = train::read_small_file(path, int64_t{1} << 30, "image");
  if (bytes.empty()) throw DataError(ErrorCode::kDataCorrupt, "the file is empty", path, "check the path");
  return Tensor::from_data({static_cast<int64_t>(bytes.size())}, DType::kUInt8, bytes.data());
}

// The place of every class folder is its label, so the two parts must have the same.
void check_same_classes(const Dataset& train, const Dataset& eval, const std::string& path) {
  const auto a = train.get_class_indexing(), b = eval.get_class_indexing();
  if (a == b) return;
  const auto i = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  throw DataError(fmt::format("label {} is '{}' in the training data and '{}' in the evaluation data", i.first->second, i.first->first, i.second->first), path,
                  "both need the same class folders");
}

std::vector<std::string> names_of(const Dataset& d, int64_t classes) {
  std::vector<std::string> names(static_cast<size_t>(classes));
  for (size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
  for (const auto& [name, label] : d.get_class_indexing()) {
    if (label >= 0 && label < classes) names[static_cast<size_t>(label)] = name;
  }
  return names;
}

}  // namespace

Data open_data(const Settings& s, const Shape& image_shape, bool with_train) {
  Data out;
  const Source eval = open_source(s, "eval");
  out.num_classes = eval.data->num_classes().value_or(0);
  out.class_names = names_of(*eval.data, out.num_classes);
  if (!eval.data->get_class_indexing().empty()) out.folder_names = out.class_names;
  out.description = fmt::format("{}, {} evaluation samples", eval.kind, eval.data->get_dataset_size());
  out.eval = finish(s, eval, image_shape, false);
  if (!with_train) return out;
  const Source train = open_source(s, "train");
  const int64_t train_classes = train.data->num_classes().value_or(0);
  if (train_classes != out.num_classes) {
    throw DataError(fmt::format("the training data has {} classes, the evaluation data {}", train_classes, out.num_classes), s.get_string("data.path"),
                    "both need the same class folders");
  }
  if (const int64_t rows = train.data->get_dataset_size(), batch = s.get_int("train.batch_size"); rows > 0 && rows < batch) {
    throw DataError(ErrorCode::kDataEmpty, fmt::format("{} training samples do not fill one batch of {}", rows, batch),
                    "train.batch_size, from " + s.origin("train.batch_size"), fmt::format("--set train.batch_size={}, or less", rows));
  }
  out.description = fmt::format("{}, {} training and {} evaluation samples", train.kind, train.data->get_dataset_size(), eval.data->get_dataset_size());
  check_same_classes(*train.data, *eval.data, s.get_string("data.path"));
  const bool contents = s.get_string("data.fingerprint") == "contents";
  out.fingerprint = train.data->fingerprint(contents) + ", evaluation " + eval.data->fingerprint(contents);
  out.train = finish(s, train, image_shape, true);
  return out;
}

std::vector<std::string> image_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  static constexpr const char* kSuffixes[] = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"};
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw DataError(ErrorCode::kDataMissing, fmt::format("{} does not exist", path), path, "check the path");
    if (fs::is_regular_file(status)) {
      files.push_back(path);
      continue;
    }
    if (!fs::is_directory(status)) throw DataError(ErrorCode::kDataMissing, fmt::format("{} is neither a file nor a folder", path), path, "give image files");
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      std::string suffix = entry.path().extension().string();
      std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const bool image = std::find(std::begin(kSuffixes), std::end(kSuffixes), suffix) != std::end(kSuffixes);
      if (image && entry.is_regular_file(error)) inside.push_back(entry.path().string());
    }
    if (inside.empty())
      throw DataError(ErrorCode::kDataEmpty, fmt::format("no images lie directly in {}", path), path, "images end in .jpg .jpeg .png .bmp .webp .tif or .tiff");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

std::shared_ptr<Dataset> open_images(const Settings& s, const Shape& image_shape, const std::vector<std::string>& files) {
  const std::string& kind = s.get_string("data.kind");
  dataset::GeneratorDataset::Options options;
  options.column_names = {"image"};
  options.size = static_cast<int64_t>(files.size());
  options.row = [files](int64_t i) { return dataset::GeneratorDataset::Row{file_bytes(files[static_cast<size_t>(i)])}; };
  options.shuffle = false;
  const auto d = dataset::GeneratorDataset::make(options);
  const std::string likely = image_shape[0] == 1 ? "mnist" : "imagefolder";
  return d->map(image_chain(s, kind == "auto" ? likely : kind, true, image_shape, false), {.input_columns = {"image"}})->batch(1);
}

}  // namespace sindri::app
