// See data.h. The transform chains are those of MindSpore's ResNet scripts (create_dataset) and the usual ones for small images.
#include "src/app/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/dataset/augment.h"
#include "sindri/dataset/registry.h"
#include "sindri/dataset/shard.h"
#include "sindri/dataset/transforms.h"
#include "sindri/dataset/vision.h"
#include "sindri/device/device.h"
#include "sindri/ops/image.h"
#include "src/app/build.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

using dataset::DataPart;
using dataset::Dataset;
using dataset::FoundData;
using dataset::KindFacts;
using dataset::Transform;
namespace vision = dataset::vision;

struct Normalization {
  std::vector<double> mean, std;
};  // per channel, pixels scaled to 0..1

// Returns the kind's own statistics. If it has none, returns CIFAR-10's for nets with images of at most 64 pixels, else ImageNet's.
Normalization known_normalization(const KindFacts& facts, int64_t side) {
  if (facts.mean.empty() != facts.std.empty()) throw ValueError("a kind of data has only one of mean and std", "dataset::KindFacts", "give both or neither");
  if (!facts.mean.empty()) return {facts.mean, facts.std};
  const KindFacts& small = dataset::kinds().find("cifar10").facts;
  const Normalization of_rgb = side > 64 ? Normalization{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}} : Normalization{small.mean, small.std};
  if (facts.channels == 3) return of_rgb;
  const auto middle = [](const std::vector<double>& v) { return std::vector<double>{(v[0] + v[1] + v[2]) / 3}; };
  return {middle(of_rgb.mean), middle(of_rgb.std)};
}

struct Source {
  Dataset::Ptr data;
  std::string kind;
  KindFacts facts;
};

Source open_source(const Settings& s, bool train) {
  const std::string path = s.get_string("data.path"), kind = s.get_string("data.kind");
  const bool found_by_look = kind == "auto";
  if (path.empty() && (found_by_look || dataset::kinds().find(kind).facts.needs_path))
    throw SettingsError("data.path is not set", "settings", "--set data.path=DIR, a folder with the training and evaluation data");
  DataPart part{.path = path, .train = train, .shuffle = train};
  if (!found_by_look) {
    const auto& entry = dataset::kinds().find(kind);
    return {entry.make(part, s.chosen("data.kind")), kind, entry.facts};
  }
  const FoundData found = dataset::find_data(path, train ? "train" : "eval");
  const auto& entry = dataset::kinds().find(dataset::kind_of(found));
  if (found.kind == FoundData::Kind::kImageFolder) return {dataset::open_data(found, part.shuffle), entry.name, entry.facts};  // the kind would search again
  part.path = found.dir;
  return {dataset::kinds().make(entry.name, {}, part), entry.name, entry.facts};
}

Normalization normalization_of(const Settings& s, const KindFacts& facts, int64_t channels, int64_t side) {
  Normalization n = known_normalization(facts, side);
  if (!s.get_floats("data.mean").empty()) n.mean = s.get_floats("data.mean");
  if (!s.get_floats("data.std").empty()) n.std = s.get_floats("data.std");
  for (const auto* v : {&n.mean, &n.std}) {
    if (v->size() != 1 && static_cast<int64_t>(v->size()) != channels)
      throw SettingsError(fmt::format("data.mean and data.std need 1 or {} values, got {}", channels, v->size()), s.origin("data.mean"));
  }
  return n;
}

// [H, W, 3] -> [H, W, 1] with the weights of ITU-R BT.601, for nets with one input channel.
Transform grayscale() {
  return dataset::transforms::Function("grayscale", [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    Tensor out = Tensor::empty({in[0].dim(0), in[0].dim(1), 1}, DType::kUInt8);
    const uint8_t* rgb = in[0].data<uint8_t>();
    uint8_t* gray = out.mutable_data<uint8_t>();
    for (int64_t i = 0; i < out.numel(); ++i) gray[i] = static_cast<uint8_t>((299 * rgb[3 * i] + 587 * rgb[3 * i + 1] + 114 * rgb[3 * i + 2] + 500) / 1000);
    return {out};
  });
}

void check_channels(const Settings& s, const Source& source, const Shape& image) {
  const int64_t channels = source.facts.channels;
  if (channels == image[0]) return;
  throw SettingsError(fmt::format("{} takes images of {} channel{}, the data ({}) has {}", s.get_string("model.name"), image[0], image[0] == 1 ? "" : "s",
                                  source.kind, channels),
                      "model.name, from " + s.origin("model.name"), "choose a net for these images; `sindri summary` lists the nets with their inputs");
}

// RandAugment's colour operations need RGB images.
Transform rand_augment(const Settings& s, const KindFacts& facts) {
  if (facts.channels != 3)
    throw SettingsError(fmt::format("data.rand_augment needs RGB images, the data has {} channel{}", facts.channels, facts.channels == 1 ? "" : "s"),
                        "data.rand_augment, from " + s.origin("data.rand_augment"), "set it to 0");
  constexpr int kStrengths = 31;
  return vision::RandAugment(static_cast<int>(s.get_int("data.rand_augment")), static_cast<int>(s.get_int("data.rand_augment_magnitude")), kStrengths,
                             vision::Inter::kNearest, {0});
}

// In units of the images' values.
Normalization of_pixels(const Settings& s, const KindFacts& facts, const Shape& image) {
  Normalization n = normalization_of(s, facts, image[0], image[1]);
  for (double& v : n.mean) v *= facts.largest;
  for (double& v : n.std) v *= facts.largest;
  return n;
}

// Returns why a device cannot normalise the images; empty if it can. `train`: the training data's facts, or null.
std::string host_normalises(const Settings& s, const KindFacts& facts, const KindFacts* train, const Shape& image) {
  if (image[0] > ops::kMostImageChannels)
    return fmt::format("the net takes images of {} channels, a device normalises {} at most", image[0], ops::kMostImageChannels);
  if (train == nullptr) return "";
  if (mixes_samples(s)) return "data.mixup and data.cutmix mix images after they are normalised, on the host";
  const Normalization a = of_pixels(s, facts, image), b = of_pixels(s, *train, image);
  return a.mean == b.mean && a.std == b.std ? "" : "training and evaluation data are of kinds with different means or standard deviations";
}

// Returns the conversion of bytes to the net's input on the device if data.device_input selects it. Null: the pipelines convert, in training and evaluation
// alike.
Prepare prepare_of(const Settings& s, const KindFacts& facts, const KindFacts* train, const Shape& image) {
  const std::string& wanted = s.get_string("data.device_input");
  if (wanted == "off" || (wanted == "auto" && current_device().is_cpu())) return nullptr;
  const std::string why = host_normalises(s, facts, train, image);
  if (!why.empty() && wanted == "on") throw SettingsError(why, "data.device_input, from " + s.origin("data.device_input"), "set data.device_input to auto");
  log::info("data", why.empty() ? "images are normalised on the device" : "images are normalised on the host: " + why);
  if (!why.empty()) return nullptr;
  return [n = of_pixels(s, facts, image)](const Tensor& x) { return ops::image_input(x, n.mean, n.std); };
}

// `bytes`: the images stay u8 [H, W, C], and prepare_of's function does the rest. The chain still contains the deferred transforms, with their description, so
// that a run can resume on another device.
std::vector<Transform> image_chain(const Settings& s, const KindFacts& facts, const Shape& image, bool training, bool bytes) {
  const int64_t side = image[1];
  const bool encoded = facts.encoded, augment = training && s.get_bool("data.augment") && facts.augment;
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
      // Small datasets usually have the net's size already; an image of another size is resized first.
      if (encoded || side != facts.side) chain.push_back(vision::Resize(vision::Size(side, side)));
      if (augment) chain.push_back(vision::RandomCrop(vision::Size(side, side), {.padding = {4}}));
    }
  }
  if (augment) chain.push_back(vision::RandomHorizontalFlip(0.5));
  if (training && s.get_int("data.rand_augment") > 0) chain.push_back(rand_augment(s, facts));
  if (encoded && image[0] == 1) chain.push_back(grayscale());
  const Normalization n = of_pixels(s, facts, image);
  for (const Transform& last : {Transform(vision::Normalize(n.mean, n.std)), Transform(vision::HWC2CHW())})
    chain.push_back(bytes ? Transform(dataset::transforms::Deferred(last)) : last);
  return chain;
}

int64_t classes_of(const Source& source) { return source.data->num_classes().value_or(source.facts.num_classes); }

// Turns batches [N, C, H, W] with labels [N] into mixed batches with labels [N, classes]. A batch is mixed within one virtual rank, so that training does not
// depend on which process computes it.
Dataset::Ptr mixed(const Settings& s, const Dataset::Ptr& batches, const Parts& parts, int workers) {
  if (parts.count > 1)
    throw SettingsError(fmt::format("data.mixup and data.cutmix mix the batch of a rank, this process has {} virtual ranks", parts.count),
                        "dist.virtual_ranks, from " + s.origin("dist.virtual_ranks"), "start one process per rank, or turn data.mixup and data.cutmix off");
  if (s.get_int("train.batch_size") < 2)
    throw SettingsError("data.mixup and data.cutmix need at least 2 samples per batch, got 1", "train.batch_size, from " + s.origin("train.batch_size"),
                        "use a batch of at least 2, or turn data.mixup and data.cutmix off");
  const Transform mix = s.get_float("data.mixup") > 0 ? vision::MixUpBatch(s.get_float("data.mixup"))
                                                      : vision::CutMixBatch(false, s.get_float("data.cutmix"), s.get_float("data.cutmix_prob"));
  return batches->map({mix}, {.input_columns = {"image", "label"}, .num_parallel_workers = workers});
}

Dataset::Ptr finish(const Settings& s, const Source& source, const Shape& image, bool training, const Parts& parts, bool bytes) {
  const int workers = static_cast<int>(s.get_int("data.workers"));
  const int64_t batch = s.get_int("train.batch_size");
  Dataset::Ptr d = source.data;
  if (training && parts.virtual_ranks > 1)
    d = dataset::shard(d, {.num_shards = parts.virtual_ranks, .first = parts.first, .count = parts.count, .block = batch});
  d = d->map(image_chain(s, source.facts, image, training, bytes), {.input_columns = {"image"}, .num_parallel_workers = workers});
  const bool mixes = training && mixes_samples(s);
  std::vector<Transform> label = {dataset::transforms::TypeCast(DType::kInt32)};
  if (mixes) label.push_back(dataset::transforms::OneHot(class_count(s, classes_of(source))));
  d = d->map(label, {.input_columns = {"label"}, .num_parallel_workers = workers});
  // Training drops the short last batch, so that a step has one signature; evaluation must see every sample.
  d = d->batch(training ? batch * parts.count : batch, {.drop_remainder = training, .num_parallel_workers = workers});
  if (mixes) d = mixed(s, d, parts, workers);
  // Whole batches are distributed. Each batch is the same as without parts, so means over batches do not change.
  if (!training && parts.ranks > 1) d = dataset::shard(d, {.num_shards = parts.ranks, .first = parts.rank, .pad = false});
  return d;
}

Tensor file_bytes(const std::string& path) {
  const std::string bytes = train::read_small_file(path, int64_t{1} << 30, "image");
  if (bytes.empty()) throw dataset::BadSample("the file is empty", path, "check the path");
  return Tensor::from_data({static_cast<int64_t>(bytes.size())}, DType::kUInt8, bytes.data());
}

// The position of every class folder is its label, so both parts must have the same folders.
void check_same_classes(const Dataset& train, const Dataset& eval, const std::string& path) {
  const auto a = train.get_class_indexing(), b = eval.get_class_indexing();
  if (a == b) return;
  const auto i = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  throw DataError(fmt::format("label {} is '{}' in the training data and '{}' in the evaluation data", i.first->second, i.first->first, i.second->first), path,
                  "both need the same class folders");
}

// A folder of class folders, without train and val parts, is used for training and for evaluation.
void warn_of_same_images(const Settings& s, const Source& train, const Parts& parts) {
  if (train.kind != "imagefolder" || parts.rank != 0 || s.get_int("train.eval_interval") < 0) return;
  const std::string path = s.get_string("data.path");
  if (dataset::find_data(path, "train").dir != dataset::find_data(path, "eval").dir) return;
  log::warn("data",
            fmt::format("{} holds class folders, so its images are both trained on and evaluated: the accuracy says nothing about other images; "
                        "give a folder with train/ and val/, or set train.eval_interval to -1",
                        path));
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

Data open_data(const Settings& s, const Shape& image_shape, bool with_train, const Parts& parts) {
  Data out;
  const Source eval = open_source(s, false);
  out.num_classes = classes_of(eval);
  out.class_names = names_of(*eval.data, out.num_classes);
  if (!eval.data->get_class_indexing().empty()) out.folder_names = out.class_names;
  out.description = fmt::format("{}, {} evaluation samples", eval.kind, eval.data->get_dataset_size());
  check_channels(s, eval, image_shape);
  std::optional<Source> training;
  if (with_train) training = open_source(s, true);
  if (training) check_channels(s, *training, image_shape);
  out.prepare = prepare_of(s, eval.facts, training ? &training->facts : nullptr, image_shape);
  const bool bytes = out.prepare != nullptr;
  out.eval = finish(s, eval, image_shape, false, parts, bytes);
  out.eval_in_parts = parts.ranks > 1;
  if (!training) return out;
  const Source& train = *training;
  const int64_t train_classes = classes_of(train);
  if (train_classes != out.num_classes) {
    throw DataError(fmt::format("the training data has {} classes, the evaluation data {}", train_classes, out.num_classes), s.get_string("data.path"),
                    "both need the same class folders");
  }
  if (const int64_t rows = train.data->get_dataset_size(), batch = s.get_int("train.batch_size"), v = parts.virtual_ranks, each = (rows + v - 1) / v;
      rows > 0 && each < batch) {
    throw DataError(ErrorCode::kDataEmpty,
                    v == 1 ? fmt::format("{} training samples do not fill one batch of {}", rows, batch)
                           : fmt::format("{} training samples do not fill one batch of {} for each of {} virtual ranks", rows, batch, v),
                    "train.batch_size, from " + s.origin("train.batch_size"), fmt::format("--set train.batch_size={}, or less", each));
  }
  out.description = fmt::format("{}, {} training and {} evaluation samples", train.kind, train.data->get_dataset_size(), eval.data->get_dataset_size());
  check_same_classes(*train.data, *eval.data, s.get_string("data.path"));
  warn_of_same_images(s, train, parts);
  const bool contents = s.get_string("data.fingerprint") == "contents";
  out.fingerprint = train.data->fingerprint(contents) + ", evaluation " + eval.data->fingerprint(contents);
  out.train = finish(s, train, image_shape, true, parts, bytes);
  return out;
}

std::shared_ptr<Dataset> open_images(const Settings& s, const Shape& image_shape, const std::vector<ImageInput>& inputs, Prepare* prepare) {
  const std::string kind = s.get_string("data.kind"), likely = image_shape[0] == 1 ? "mnist" : "imagefolder";
  KindFacts facts = dataset::kinds().find(kind == "auto" ? likely : kind).facts;
  facts.encoded = true;
  facts.largest = 255;
  *prepare = prepare_of(s, facts, nullptr, image_shape);
  dataset::GeneratorDataset::Options options;
  options.column_names = {"image", "index"};
  options.size = static_cast<int64_t>(inputs.size());
  options.row = [](int64_t i) {
    const Tensor index = Tensor::scalar(static_cast<double>(i), DType::kInt64);
    return dataset::GeneratorDataset::Row{index, index};
  };
  // Files are read by a transform, not where rows are created: so an unusable file is a bad sample like any other (data.on_corrupt).
  const Transform read = dataset::transforms::Function("read", [inputs](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const ImageInput& input = inputs[static_cast<size_t>(in[0].to_vector<int64_t>()[0])];
    if (input.is_file()) return {file_bytes(input.name)};
    return {Tensor::from_data({static_cast<int64_t>(input.bytes.size())}, DType::kUInt8, input.bytes.data())};
  });
  options.shuffle = false;
  const auto d = dataset::GeneratorDataset::make(options);
  std::vector<Transform> chain = image_chain(s, facts, image_shape, false, *prepare != nullptr);
  chain.insert(chain.begin(), read);
  return d->map(chain, {.input_columns = {"image"}})->batch(1);
}

}  // namespace sindri::app
