// See event_file.h. Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; },
// Summary { repeated Value { string tag = 1; float simple_value = 2; Image image = 4; HistogramProto histo = 5; TensorProto tensor = 8;
// SummaryMetadata metadata = 9; } value = 1; } (tensorflow/tensorflow: core/util/event.proto, core/framework/summary.proto).
#include "src/train/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "sindri/core/log.h"
#include "src/train/atomic_file.h"
#include "src/train/wire.h"

namespace sindri::train {

uint32_t crc32c(std::string_view data) {
  uint32_t c = ~0u;
  // ISA-L takes lengths as int, and does not write to its non-const argument.
  for (constexpr size_t kMost = size_t{1} << 30; !data.empty(); data.remove_prefix(std::min(data.size(), kMost)))
    c = crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<char*>(data.data())), static_cast<int>(std::min(data.size(), kMost)), c);
  return ~c;
}

std::string tfrecord_frame(std::string_view data) {
  const auto raw = [](auto v) {
    std::string s(sizeof v, '\0');
    std::memcpy(s.data(), &v, sizeof v);
    return s;
  };
  const std::string length = raw(static_cast<uint64_t>(data.size()));
  return length + raw(masked_crc32c(length)) + std::string(data) + raw(masked_crc32c(data));
}

namespace {

constexpr int64_t kMaxEventBytes = int64_t{1} << 30;

double wall_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Iterates over a protobuf message's fields, as far as events need them. next() returns false at the end, and if the bytes are malformed.
class Fields {
 public:
  explicit Fields(std::string_view message) : left_(message) {}
  bool next() {
    uint64_t key = 0;
    if (left_.empty() || !varint(&key)) return false;
    number = key >> 3;
    bytes = {};
    switch (key & 7) {
      case wire::kVarint: return varint(&value);
      case wire::kFixed64: return take(8);
      case wire::kFixed32: return take(4);
      case wire::kLengthDelimited: return varint(&value) && take(value);
      default: return false;
    }
  }
  uint64_t number = 0, value = 0;
  std::string_view bytes;

 private:
  bool varint(uint64_t* v) {
    *v = 0;
    for (int shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto b = static_cast<uint8_t>(left_[0]);
      left_.remove_prefix(1);
      *v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return true;
    }
    return false;
  }
  bool take(uint64_t n) {
    if (n > left_.size()) return false;
    bytes = left_.substr(0, n);
    left_.remove_prefix(n);
    return true;
  }
  std::string_view left_;
};

std::string_view first_field(std::string_view message, uint64_t number) {
  for (Fields f(message); f.next();) {
    if (f.number == number) return f.bytes;
  }
  return {};
}

int64_t step_of(std::string_view event) {
  for (Fields f(event); f.next();) {
    if (f.number == 2) return static_cast<int64_t>(f.value);
  }
  return 0;
}

// Calls use(event, frame) for each whole frame. Returns false if anything follows them but the partial frame that a killed process leaves.
bool for_each_frame(std::string_view bytes, const std::function<void(std::string_view event, std::string_view frame)>& use) {
  while (bytes.size() >= 12) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    uint32_t sum = 0;
    std::memcpy(&sum, bytes.data() + 8, 4);
    if (sum != masked_crc32c(bytes.substr(0, 8))) return false;
    if (length > bytes.size() || bytes.size() - length < 16) return true;  // a partial frame
    const std::string_view event = bytes.substr(12, length);
    std::memcpy(&sum, bytes.data() + 12 + length, 4);
    if (sum != masked_crc32c(event)) return false;
    use(event, bytes.substr(0, length + 16));
    bytes.remove_prefix(length + 16);
  }
  return true;
}

}  // namespace

EarlierEvents read_event_files(const std::string& folder, const std::function<bool(const std::string& tag, int64_t step)>& keep) {
  std::vector<std::string> names;
  for (const std::string& name : names_in_folder(folder, "run folder")) {
    if (name.starts_with("events.out.tfevents.")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  EarlierEvents out;
  std::set<std::pair<std::string, int64_t>> seen;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name, bytes = read_small_file(path, kMaxEventBytes, "TensorBoard event file");
    const bool whole = static_cast<int64_t>(bytes.size()) < kMaxEventBytes && for_each_frame(bytes, [&](std::string_view event, std::string_view frame) {
                         const std::string_view summary = first_field(event, 5);
                         if (summary.empty()) return;  // the version; each file has its own
                         const std::string tag(first_field(first_field(summary, 1), 1));
                         const int64_t step = step_of(event);
                         if (keep(tag, step) && seen.emplace(tag, step).second) out.frames.append(frame);
                       });
    if (whole) out.files.push_back(path);
    else log::warn("train", fmt::format("{} is damaged or too large to be read; it is left as it is", path));
  }
  return out;
}

EventFile::EventFile(const std::string& folder, const EarlierEvents& earlier) {
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  // Two runs within one second of one process must not share a file.
  for (int attempt = 0; file_ == nullptr; ++attempt) {
    const std::string path = fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", folder, static_cast<int64_t>(wall_time()), host, getpid(), attempt);
    if (attempt == 99 || !file_exists(path, "TensorBoard event file")) file_ = std::make_unique<AppendFile>(path, "TensorBoard event file", O_EXCL);
  }
  std::string event;
  wire::put_double(&event, 1, wall_time());
  wire::put_bytes(&event, 3, "brain.Event:2");
  write(event);
  if (earlier.files.empty()) return;
  file_->append(earlier.frames);
  if (!file_->missing().empty()) return;  // the earlier files stay
  try {
    file_->sync();
  } catch (...) {
    unlink(file_->path().c_str());
    throw;
  }
  replaced_ = earlier.files;
}

void EventFile::remove_earlier() {
  for (const std::string& old : replaced_) unlink(old.c_str());
  replaced_.clear();
}

void EventFile::write(const std::string& event) { file_->append(tfrecord_frame(event)); }

void EventFile::write_summary(int64_t step, const std::string& summary) {
  std::string event;
  wire::put_double(&event, 1, wall_time());
  wire::put_int(&event, 2, step);
  wire::put_bytes(&event, 5, summary);
  write(event);
}

void EventFile::write_value(int64_t step, const std::string& value) {
  std::string summary;
  wire::put_bytes(&summary, 1, value);
  write_summary(step, summary);
}

void EventFile::scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    std::string v;
    wire::put_bytes(&v, 1, tag);
    wire::put_float(&v, 2, static_cast<float>(value));
    wire::put_bytes(&summary, 1, v);
  }
  write_summary(step, summary);
}

// HistogramProto { min = 1; max = 2; num = 3; sum = 4; sum_squares = 5; repeated double bucket_limit = 6, bucket = 7 [packed]; }
void EventFile::histogram(const std::string& tag, int64_t step, const std::vector<double>& values) {
  constexpr size_t kBins = 64;
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, squares = 0;
  int64_t count = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
    squares += x * x;
    ++count;
  }
  if (count == 0) return;
  const double width = (high > low ? high - low : std::max(std::abs(low), 1.0) * 1e-6) / kBins;
  std::vector<double> buckets(kBins, 0.0);
  for (const double x : values) {
    if (std::isfinite(x)) buckets[std::min(static_cast<size_t>((x - low) / width), kBins - 1)] += 1;
  }
  std::string limits, counts, histogram, v;
  for (size_t i = 0; i < kBins; ++i) {
    const double limit = i + 1 == kBins ? std::max(high, low + width * kBins) : low + width * static_cast<double>(i + 1);
    limits.append(reinterpret_cast<const char*>(&limit), sizeof limit);
    counts.append(reinterpret_cast<const char*>(&buckets[i]), sizeof buckets[i]);
  }
  wire::put_double(&histogram, 1, low);
  wire::put_double(&histogram, 2, high);
  wire::put_double(&histogram, 3, static_cast<double>(count));
  wire::put_double(&histogram, 4, sum);
  wire::put_double(&histogram, 5, squares);
  wire::put_bytes(&histogram, 6, limits);
  wire::put_bytes(&histogram, 7, counts);
  wire::put_bytes(&v, 1, tag);
  wire::put_bytes(&v, 5, histogram);
  write_value(step, v);
}

// Image { height = 1; width = 2; colorspace = 3; encoded_image_string = 4; }
void EventFile::image(const std::string& tag, int64_t step, int64_t height, int64_t width, std::string_view png) {
  std::string image, v;
  wire::put_int(&image, 1, height);
  wire::put_int(&image, 2, width);
  wire::put_int(&image, 3, 3);  // RGB
  wire::put_bytes(&image, 4, png);
  wire::put_bytes(&v, 1, tag);
  wire::put_bytes(&v, 4, image);
  write_value(step, v);
}

// TensorProto { dtype = 1 (DT_STRING is 7); TensorShapeProto { Dim { size = 1; } dim = 2; } tensor_shape = 2; repeated bytes string_val = 8; },
// SummaryMetadata { PluginData { plugin_name = 1; } plugin_data = 1; }
void EventFile::text(const std::string& tag, int64_t step, std::string_view markdown) {
  std::string dim, shape, tensor, plugin, metadata, v;
  wire::put_int(&dim, 1, 1);
  wire::put_bytes(&shape, 2, dim);
  wire::put_int(&tensor, 1, 7);
  wire::put_bytes(&tensor, 2, shape);
  wire::put_bytes(&tensor, 8, markdown);
  wire::put_bytes(&plugin, 1, "text");
  wire::put_bytes(&metadata, 1, plugin);
  wire::put_bytes(&v, 1, tag);
  wire::put_bytes(&v, 8, tensor);
  wire::put_bytes(&v, 9, metadata);
  write_value(step, v);
}

}  // namespace sindri::train
