// See sindri/train/summary.h. The numbers passed to put_… are the field numbers in MindSpore's .proto files.
#include "sindri/train/summary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"
#include "src/train/atomic_file.h"
#include "src/train/event_file.h"
#include "src/train/png.h"
#include "src/train/wire.h"

namespace sindri::train::summary {

uint32_t crc32c(std::string_view data) { return train::crc32c(data); }
uint32_t masked_crc32c(std::string_view data) { return train::masked_crc32c(data); }

namespace {

double wall_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// DataType of anf_ir.proto; 0 for types that it lacks.
int64_t data_type(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames = {"bool",   "int8",   "int16",  "int32",   "int64",   "uint8",
                                                       "uint16", "uint32", "uint64", "float16", "float32", "float64"};
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  return it == kNames.end() ? 0 : it - kNames.begin() + 1;
}

// Returns a message that starts with the tag, followed by a message in another field.
std::string tagged(std::string_view tag, uint32_t field, std::string_view message) {
  std::string out;
  wire::put_bytes(&out, 1, tag);
  wire::put_bytes(&out, field, message);
  return out;
}

}  // namespace

std::string scalar_value(std::string_view tag, double value) {
  std::string out;
  wire::put_bytes(&out, 1, tag);
  wire::put_float(&out, 3, static_cast<float>(value));
  return out;
}

std::string tensor_value(std::string_view tag, std::string_view type, const std::vector<int64_t>& shape, const Elements& elements) {
  const int64_t kind = data_type(type);
  if (kind == 0) throw ValueError(fmt::format("summary '{}': arrays of {} cannot be recorded", tag, type));
  std::string out;
  for (const int64_t d : shape) wire::put_int(&out, 1, d);
  wire::put_int(&out, 2, kind);
  const uint32_t integers = type == "int64" ? 5 : type == "uint64" || type == "uint32" ? 7 : 4;
  const auto put_each = [&](auto values) {
    using T = std::remove_const_t<typename decltype(values)::element_type>;
    for (const T v : values) {
      if constexpr (std::is_same_v<T, float>) wire::put_float(&out, 3, v);
      else if constexpr (std::is_same_v<T, double>) wire::put_double(&out, 6, v);
      else wire::put_int(&out, integers, v);
    }
  };
  std::visit(put_each, elements);
  return tagged(tag, 8, out);
}

std::string image_value(std::string_view tag, const std::vector<int64_t>& shape, std::span<const double> elements, bool bytes) {
  const auto refuse = [&] {
    return ValueError(fmt::format("summary '{}': an image must have shape [N, 1, 3 or 4, H, W], got [{}]", tag, fmt::join(shape, ", ")));
  };
  if (shape.size() != 4 || (shape[1] != 1 && shape[1] != 3 && shape[1] != 4) || shape[0] < 1) throw refuse();
  const int64_t channels = shape[1], height = shape[2], width = shape[3], area = height * width;
  if (area < 1) throw refuse();
  const auto first = elements.first(static_cast<size_t>(channels * area));
  const auto [low, high] = std::minmax_element(first.begin(), first.end());
  double from = 0, range = bytes ? 255 : 1;
  if (!bytes && !(*low >= 0 && *high <= 1)) from = *low, range = *high - *low;
  std::string rows;
  for (int64_t i = 0; i < area; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      const double v = range > 0 ? (first[static_cast<size_t>(c * area + i)] - from) / range : 0;
      rows.push_back(static_cast<char>(static_cast<uint8_t>(std::isnan(v) ? 0 : std::clamp(bytes ? std::round(v * 255) : v * 255, 0.0, 255.0))));
    }
  }
  std::string out;
  wire::put_int(&out, 1, height);
  wire::put_int(&out, 2, width);
  wire::put_int(&out, 3, channels);
  wire::put_bytes(&out, 4, png(height, width, channels, rows));
  return tagged(tag, 4, out);
}

namespace {

// The number of elements in each of equal-width bins, and the bins' edges.
struct Bins {
  std::vector<double> edges;
  std::vector<int64_t> counts;
};

Bins bins_of(const std::vector<double>& values, double low, double high) {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t n = count <= 5 ? 2 : count <= 10 ? 3 : std::min<int64_t>(count / 10 + 1, 90);
  if (low == high) low -= 0.5, high += 0.5;
  Bins b;
  b.counts.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) b.edges.push_back(low + static_cast<double>(i) * ((high - low) / static_cast<double>(n)));
  b.edges.push_back(high);
  for (const double v : values) {
    auto i = std::min(static_cast<size_t>((v - low) / (high - low) * static_cast<double>(n)), b.counts.size() - 1);
    // Rounding can put a value into a neighbouring bin: the edges decide. The last bin includes its right edge.
    if (v < b.edges[i]) --i;
    else if (v >= b.edges[i + 1] && i + 1 < b.counts.size()) ++i;
    ++b.counts[i];
  }
  return b;
}

}  // namespace

std::string histogram_value(std::string_view tag, std::span<const double> elements) {
  std::vector<double> good;
  int64_t nans = 0, above = 0, below = 0;
  for (const double v : elements) {
    if (std::isfinite(v)) good.push_back(v);
    else ++(std::isnan(v) ? nans : v > 0 ? above : below);
  }
  std::string out;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  if (!good.empty()) {
    low = *std::min_element(good.begin(), good.end());
    high = *std::max_element(good.begin(), good.end());
    const Bins b = bins_of(good, low, high);
    for (size_t i = 0; i < b.counts.size(); ++i) {
      std::string bin;
      wire::put_double(&bin, 1, b.edges[i]);
      wire::put_double(&bin, 2, b.edges[i + 1] - b.edges[i]);
      wire::put_int(&bin, 3, b.counts[i]);
      wire::put_bytes(&out, 1, bin);
    }
  }
  wire::put_int(&out, 2, nans);
  wire::put_int(&out, 3, above);
  wire::put_int(&out, 4, below);
  wire::put_double(&out, 5, high);
  wire::put_double(&out, 6, low);
  wire::put_double(&out, 7, std::accumulate(good.begin(), good.end(), 0.0));
  wire::put_int(&out, 8, static_cast<int64_t>(elements.size()));
  return tagged(tag, 9, out);
}

std::string landscape_value(std::string_view tag, std::string_view message) { return tagged(tag, 10, message); }

std::string summary(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& v : values) wire::put_bytes(&out, 1, v);
  return out;
}

std::string graph(const std::vector<std::pair<std::string, std::string>>& cells, const std::vector<GraphParameter>& parameters) {
  std::string out;
  std::string_view outermost;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto& [name, kind] = cells[i];
    if (name.empty()) {
      outermost = kind;
      continue;
    }
    std::string path = "Default/" + name, node;
    std::replace(path.begin(), path.end(), '.', '/');
    wire::put_bytes(&node, 2, std::to_string(i));
    wire::put_bytes(&node, 3, kind);
    wire::put_bytes(&node, 4, path.substr(0, path.rfind('/')));
    wire::put_bytes(&node, 8, path);
    wire::put_bytes(&out, 1, node);
  }
  wire::put_bytes(&out, 2, outermost);
  for (const GraphParameter& p : parameters) {
    constexpr int64_t kTensorType = 14;
    std::string shape, tensor, type;
    for (const int64_t d : p.shape) {
      std::string dim;
      wire::put_int(&dim, 1, d);
      wire::put_bytes(&shape, 1, dim);
    }
    wire::put_int(&tensor, 1, data_type(p.type));
    wire::put_bytes(&tensor, 2, shape);
    wire::put_int(&type, 1, kTensorType);
    wire::put_bytes(&type, 2, tensor);
    std::string parameter;
    wire::put_bytes(&parameter, 1, p.name);
    wire::put_bytes(&parameter, 2, type);
    wire::put_bytes(&out, 3, parameter);
  }
  return out;
}

namespace {

using Fact = Facts::value_type::second_type;

// A fact's place: the part of the message, the field there, and whether a number is a float.
struct FactField {
  std::string_view name;
  uint32_t part, field;
};
constexpr FactField kTrainFields[] = {{"optimizer", 1, 1},          {"learning_rate", 1, 2}, {"loss_function", 1, 3}, {"epoch", 1, 4},
                                      {"parallel_mode", 1, 5},      {"device_num", 1, 6},    {"batch_size", 1, 8},    {"train_dataset_path", 2, 1},
                                      {"train_dataset_size", 2, 2}, {"network", 3, 1},       {"loss", 3, 2},          {"model_path", 4, 3},
                                      {"model_size", 4, 4}};
constexpr FactField kEvalFields[] = {{"metrics", 0, 2}, {"valid_dataset_path", 3, 1}, {"valid_dataset_size", 3, 2}};

void put_fact(std::string* out, uint32_t field, const Fact& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) wire::put_int(out, field, *number);
  else if (const auto* fraction = std::get_if<double>(&value)) wire::put_float(out, field, static_cast<float>(*fraction));
  else wire::put_bytes(out, field, std::get<std::string>(value));
}

// Writes the facts of the table to their fields. Part 0 is the message itself; `parts` are separate messages, written even if empty.
std::string by_table(std::span<const FactField> table, std::initializer_list<uint32_t> parts, const Facts& facts) {
  std::array<std::string, 5> bytes;
  for (const FactField& f : table) {
    const auto it = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == f.name; });
    if (it != facts.end()) put_fact(&bytes[f.part], f.field, it->second);
  }
  std::string out = bytes[0];
  for (const uint32_t part : parts) wire::put_bytes(&out, part, bytes[part]);
  return out;
}

std::string custom_lineage(const Facts& facts) {
  std::string all, out;
  for (const auto& [name, value] : facts) {
    std::string pair;
    wire::put_bytes(&pair, 1, name);
    if (const auto* fraction = std::get_if<double>(&value)) wire::put_double(&pair, 2, *fraction);
    else put_fact(&pair, 2, value);
    constexpr std::array<uint32_t, 3> kMaps = {3, 5, 4};  // fields for the maps of integers, fractions and strings
    wire::put_bytes(&all, kMaps[value.index()], pair);
  }
  wire::put_bytes(&out, 1, all);
  return out;
}

// A single node whose parameters are strings.
std::string dataset_graph(const Facts& facts) {
  std::string node, out;
  for (const auto& [name, value] : facts) {
    std::string pair;
    wire::put_bytes(&pair, 1, name);
    put_fact(&pair, 2, value);
    wire::put_bytes(&node, 1, pair);
  }
  wire::put_bytes(&out, 2, node);
  return out;
}

struct Plugin {
  std::string_view name;
  uint32_t event_field;
  std::function<std::string(const Facts&)> encode;  // encodes lineage messages
};

const Plugin& plugin_of(std::string_view name) {
  static const std::array<Plugin, 7> all = {{
      {"graph", 4, nullptr},
      {"summary", 5, nullptr},
      {"explainer", 6, nullptr},
      {"train_lineage", 6,
       [](const Facts& f) {
         return by_table(kTrainFields, {1, 2, 3, 4}, f);
       }},
      {"eval_lineage", 7, [](const Facts& f) { return by_table(kEvalFields, {3}, f); }},
      {"dataset_graph", 9, &dataset_graph},
      {"custom_lineage_data", 10, &custom_lineage},
  }};
  const auto it = std::find_if(all.begin(), all.end(), [&](const Plugin& p) { return p.name == name; });
  if (it == all.end()) throw ValueError(fmt::format("there is no event of the plugin '{}'", name));
  return *it;
}

}  // namespace

std::string lineage(std::string_view plugin, const Facts& facts) {
  const Plugin& p = plugin_of(plugin);
  if (!p.encode) throw ValueError(fmt::format("'{}' is not lineage data", plugin));
  return p.encode(facts);
}

EventFile::EventFile(std::string folder, std::string prefix, std::string suffix, bool version, std::optional<int64_t> max_bytes)
    : folder_(std::move(folder)), prefix_(std::move(prefix)), suffix_(std::move(suffix)), version_(version), left_(max_bytes) {}

EventFile::~EventFile() {
  if (fd_ >= 0) ::close(fd_);
}

void EventFile::open() {
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  const auto seconds = static_cast<int64_t>(wall_time());
  for (int attempt = 0; attempt < 1000 && fd_ < 0; ++attempt) {  // files created in the same second differ by a number
    const std::string number = attempt == 0 ? "" : fmt::format(".{}", attempt);
    path_ = fmt::format("{}/{}.out.events.summary.{}{}.{}{}", folder_, prefix_, seconds, number, host, suffix_);
    fd_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (fd_ < 0 && errno != EEXIST) throw_io_error("create", "event file", path_, errno);
  }
  if (fd_ < 0) throw_io_error("create", "event file", path_, EEXIST);
  if (!version_) return;
  std::string event;
  wire::put_double(&event, 1, wall_time());
  wire::put_bytes(&event, 3, "MindSpore.Event:1");
  put(event);
}

bool EventFile::put(std::string_view event) {
  const std::string data = tfrecord_frame(event);
  if (left_) {
    full_ = static_cast<int64_t>(data.size()) > *left_;
    if (full_) return false;
    *left_ -= static_cast<int64_t>(data.size());
  }
  for (size_t done = 0; done < data.size();) {
    const ssize_t n = ::write(fd_, data.data() + done, data.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error("write", "event file", path_, n == 0 ? EIO : errno);
    done += static_cast<size_t>(n);
  }
  return true;
}

bool EventFile::write(std::string_view plugin, std::string_view message, std::optional<int64_t> step) {
  const uint32_t field = plugin_of(plugin).event_field;
  if (full_) return false;
  if (fd_ < 0) open();
  std::string event;
  wire::put_double(&event, 1, wall_time());
  if (step) wire::put_int(&event, 2, *step);
  wire::put_bytes(&event, field, message);
  return put(event);
}

void EventFile::close() {
  if (fd_ < 0) return;
  const int error = fchmod(fd_, S_IRUSR) != 0 ? errno : 0;
  ::close(fd_);
  fd_ = -1;
  if (error != 0) throw_io_error("change the mode of", "event file", path_, error);
}

}  // namespace sindri::train::summary
