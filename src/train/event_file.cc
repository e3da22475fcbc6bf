// See event_file.h. Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; },
// Summary { repeated Value { string tag = 1; float simple_value = 2; } value = 1; } (tensorflow/tensorflow: core/util/event.proto).
#include "src/train/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

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
double wall_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
}  // namespace

EventFile::EventFile(const std::string& folder) {
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  // Two runs within one second of one process must not share a file.
  for (int attempt = 0; file_ == nullptr && attempt < 100; ++attempt) {
    path_ = fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", folder, static_cast<int64_t>(wall_time()), host, getpid(), attempt);
    file_ = std::fopen(path_.c_str(), "wbxe");
    if (file_ == nullptr && errno != EEXIST) break;
  }
  if (file_ == nullptr) throw_io_error("create", "TensorBoard event file", path_, errno);
  std::string event;
  wire::put_double(&event, 1, wall_time());
  wire::put_bytes(&event, 3, "brain.Event:2");
  write(event);
}

EventFile::~EventFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void EventFile::write(const std::string& event) {
  const std::string frame = tfrecord_frame(event);
  if (std::fwrite(frame.data(), 1, frame.size(), file_) != frame.size() || std::fflush(file_) != 0)
    throw_io_error("write", "TensorBoard event file", path_, errno);
}

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
