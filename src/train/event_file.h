// TensorBoard event files: protobuf Event messages in TFRecord frames.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace sindri::train {

/// CRC-32C (Castagnoli), as TFRecord uses it.
uint32_t crc32c(std::string_view data);
/// TFRecord stores checksums rotated and offset, so that the checksum of data that holds checksums stays well mixed.
inline uint32_t masked_crc32c(std::string_view data) {
  const uint32_t c = crc32c(data);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}
/// Length, checksum of the length, data, checksum of the data.
std::string tfrecord_frame(std::string_view data);

class EventFile {
 public:
  /// Creates FOLDER/events.out.tfevents.SECONDS.HOST.PID. Throws IoError.
  explicit EventFile(const std::string& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  const std::string& path() const { return path_; }
  void scalar(const std::string& tag, int64_t step, double value);

 private:
  void write(const std::string& event);
  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace sindri::train
