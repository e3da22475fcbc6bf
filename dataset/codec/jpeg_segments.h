// JPEG files with restart markers within their rows. Each marker starts a segment that can be decoded alone, so a window of the image costs only the
// segments it touches. `make_seekable` writes such files without loss; any other reader can open them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sindri::dataset {

/// The positions of the segments in one file. The object is reused for other files.
class JpegSegments {
 public:
  /// Finds the segments of a sequential Huffman file with one scan. Returns false if it has no segments that divide its rows of MCUs. Values in the file are
  /// checked against its size.
  bool find(const uint8_t* data, size_t bytes);
  /// Whether the last find() saw the markers of all segments, in order, up to the end of the image.
  bool complete() const { return complete_; }
  int64_t segment_width() const { return interval_ * mcu_width_; }
  int64_t mcu_width() const { return mcu_width_; }
  int64_t mcu_height() const { return mcu_height_; }
  /// The image from (top, left) to (bottom, right). All four are multiples of mcu_height or segment_width, but bottom and right may also be the image's edges.
  struct Part {
    std::span<const uint8_t> header;  ///< the header of a file of that size, without the scan's data
    std::span<const std::span<const uint8_t>> segments;  ///< its segments, in the file that find() read
  };
  Part part(int64_t top, int64_t left, int64_t bottom, int64_t right);

 private:
  bool read_header(const uint8_t* data, size_t bytes, size_t* scan);
  bool read_frame(const uint8_t* segment, size_t length);
  bool find_markers(const uint8_t* data, size_t bytes, size_t scan);

  const uint8_t* data_ = nullptr;
  std::vector<uint8_t> header_;  // everything a decoder needs before the scan's data
  size_t size_at_ = 0;  // offset of height and width in it
  int64_t height_ = 0, width_ = 0, mcu_width_ = 0, mcu_height_ = 0, interval_ = 0, per_row_ = 0, rows_ = 0;
  bool complete_ = false;
  std::vector<size_t> begins_;  // start of each segment; the last entry is the end + 2
  std::vector<uint8_t> part_;
  std::vector<std::span<const uint8_t>> part_segments_;
};

/// Returns the file with the same coefficients, optimised tables and restart markers about every 32 pixels. Empty if it is not a sequential 8-bit
/// Huffman file with 1 or 3 components; such files stay unchanged. Throws BadSample for damaged files.
std::vector<uint8_t> make_seekable(const uint8_t* data, size_t bytes);

}  // namespace sindri::dataset
