// JPEG files with restart markers inside their rows: each marker begins a segment that can be decoded by itself, so a window of the picture costs the
// segments it touches. `make_seekable` writes such files without loss; any other reader opens them too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sindri::dataset {

/// Where the segments of one file lie. Kept and filled again for each file.
class JpegSegments {
 public:
  /// Looks for segments in a sequential Huffman file of one scan; false where there are none that divide its rows of MCUs.
  /// The file's numbers are checked against its bytes.
  bool find(const uint8_t* data, size_t bytes);
  /// Whether the markers that the last find() saw are those of all its segments, in order, up to the end of the picture.
  bool complete() const { return complete_; }
  int64_t segment_width() const { return interval_ * mcu_width_; }
  int64_t mcu_width() const { return mcu_width_; }
  int64_t mcu_height() const { return mcu_height_; }
  /// The picture from (top, left), multiples of mcu_height and segment_width, to (bottom, right), likewise or the picture's edge.
  struct Part {
    std::span<const uint8_t> header;  ///< a file of that size without the data of its scan
    std::span<const std::span<const uint8_t>> segments;  ///< those, in the file that find() saw
  };
  Part part(int64_t top, int64_t left, int64_t bottom, int64_t right);

 private:
  bool read_header(const uint8_t* data, size_t bytes, size_t* scan);
  bool read_frame(const uint8_t* segment, size_t length);
  bool find_markers(const uint8_t* data, size_t bytes, size_t scan);

  const uint8_t* data_ = nullptr;
  std::vector<uint8_t> header_;  // what a decoder needs, up to the scan's data
  size_t size_at_ = 0;  // of height and width in it
  int64_t height_ = 0, width_ = 0, mcu_width_ = 0, mcu_height_ = 0, interval_ = 0, per_row_ = 0, rows_ = 0;
  bool complete_ = false;
  std::vector<size_t> begins_;  // of each segment, and behind the last one the end + 2
  std::vector<uint8_t> part_;
  std::vector<std::span<const uint8_t>> part_segments_;
};

/// The file with the same coefficients, optimised tables and restart markers every 32 pixels or so; empty for what is no sequential 8-bit Huffman file
/// of 1 or 3 components, which then stays as it is. Throws BadSample for damaged files.
std::vector<uint8_t> make_seekable(const uint8_t* data, size_t bytes);

}  // namespace sindri::dataset
