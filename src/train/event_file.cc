// See event_file.h. Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; },
// Summary { repeated Value { string tag = 1; float simple_value = 2; } value = 1; } (tensorflow/tensorflow: core/util/event.proto).
#include "src/train/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include "sindri/core/log.h"
#include "src/train/atomic_file.h"
#include "src/train/wire.h"

namespace sindri::train {

uint32_t crc32c(std::string_view data) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78u : 0);
      t[i] = c;
    }
    return t;
  }();
  uint32_t c = ~0u;
  for (const char b : data) c = table[(c ^ static_cast<uint8_t>(b)) & 0xff] ^ (c >> 8);
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

// Fields of a protobuf message, as far as events need them: false at its end, and where it is none.
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

// Calls use(event, frame) for each whole frame; false when the file goes on behind them with something else than the part of a frame that a
// killed process leaves.
bool for_each_frame(std::string_view bytes, const std::function<void(std::string_view event, std::string_view frame)>& use) {
  while (bytes.size() >= 12) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    uint32_t sum = 0;
    std::memcpy(&sum, bytes.data() + 8, 4);
    if (sum != masked_crc32c(bytes.substr(0, 8))) return false;
    if (length > bytes.size() || bytes.size() - length < 16) return true;  // cut within
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
  file_->sync();
  for (const std::string& old : earlier.files) unlink(old.c_str());
}

void EventFile::write(const std::string& event) { file_->append(tfrecord_frame(event)); }

void EventFile::scalar(const std::string& tag, int64_t step, double value) {
  std::string v, summary, event;
  wire::put_bytes(&v, 1, tag);
  wire::put_float(&v, 2, static_cast<float>(value));
  wire::put_bytes(&summary, 1, v);
  wire::put_double(&event, 1, wall_time());
  wire::put_int(&event, 2, step);
  wire::put_bytes(&event, 5, summary);
  write(event);
}

}  // namespace sindri::train
