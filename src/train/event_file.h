// TensorBoard event files: protobuf Event messages in TFRecord frames.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/train/append_file.h"

namespace sindri::train {

/// CRC-32C (Castagnoli), as used by TFRecord.
uint32_t crc32c(std::string_view data);
/// TFRecord stores checksums rotated and offset, so that the checksum of data that contains checksums stays well mixed.
inline uint32_t masked_crc32c(std::string_view data) {
  const uint32_t c = crc32c(data);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}
/// Length, checksum of the length, data, checksum of the data.
std::string tfrecord_frame(std::string_view data);

/// Event files of earlier processes, read when a run resumes.
struct EarlierEvents {
  std::string frames;  ///< the kept frames, in order, each (tag, step) once
  std::vector<std::string> files;  ///< the files that were read completely: the new file replaces them
};
/// Reads all event files of a folder; `keep` decides on every event. Frames after damage are not read, and a damaged file is not deleted. Throws IoError.
EarlierEvents read_event_files(const std::string& folder, const std::function<bool(const std::string& tag, int64_t step)>& keep);

class EventFile {
 public:
  /// Creates FOLDER/events.out.tfevents.SECONDS.HOST.PID, starting with the frames kept of earlier files. Throws IoError and leaves no file.
  explicit EventFile(const std::string& folder, const EarlierEvents& earlier = {});
  /// Deletes the earlier files, unless their events could not be written to this one. Until then both exist.
  void remove_earlier();
  const std::string& path() const { return file_->path(); }
  void scalar(const std::string& tag, int64_t step, double value) { scalars(step, {{tag, value}}); }
  /// Writes several scalars in one event, which read_event_files identifies by the first.
  void scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  /// Writes the distribution of the finite values; nothing if there are none.
  void histogram(const std::string& tag, int64_t step, const std::vector<double>& values);
  void image(const std::string& tag, int64_t step, int64_t height, int64_t width, std::string_view png);
  /// Shown as Markdown.
  void text(const std::string& tag, int64_t step, std::string_view markdown);
  /// See AppendFile.
  std::string missing() { return file_->missing(); }

 private:
  void write(const std::string& event);
  void write_summary(int64_t step, const std::string& summary);
  void write_value(int64_t step, const std::string& value);
  std::unique_ptr<AppendFile> file_;
  std::vector<std::string> replaced_;  // earlier files whose events are in this one
};

}  // namespace sindri::train
