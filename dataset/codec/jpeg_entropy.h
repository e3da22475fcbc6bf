// Huffman decoding of sequential JPEG files in place of libjpeg-turbo's, which calls it for each MCU; headers, transforms, upsampling and colours stay
// the library's. Entropy decoding is most of the time of a photograph. The data are freed of stuffed bytes a piece ahead, so that the bit buffer is
// refilled without a look at them, and one look into a table gives runs, lengths and values of up to two coefficients. The library has no fast form for files with
// restart markers, and decodes what it meets shortly before a file's end twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <jpeglib.h>  // needs <cstdio> and <cstddef> before it

namespace sindri::dataset {

/// One table of Huffman codes.
class JpegCodes {
 public:
  /// Of the codes that libjpeg has checked. ac: symbols are a run of zeros and the size of a coefficient, else the size alone.
  void set(const JHUFF_TBL& table, bool ac);

  static constexpr int kBits = 11;
  /// What the next kBits bits begin with, in one word: from bit 16 the coefficient (signed), from bit 8 the zeros before it or kSpecial, from bit 0 how many
  /// bits that are.
  using Entry = uint32_t;
  /// No coefficient: from bit 16 a symbol whose bits follow, or of which none follow (the end of a block); no bits: the code is longer.
  static constexpr Entry kSpecial = 0x8000;
  const Entry* entries() const { return entries_.data(); }
  /// The same with what comes behind a coefficient where the bits hold that, too: bits 0 to 7 are then of both; from bit 32 those of the first alone, from
  /// bit 40 how far the second coefficient lies behind it, kEnd: the block ends, from bit 48 the second (the first once more where there is none).
  using Pair = uint64_t;
  static constexpr Pair kEnd = 1ull << 47;
  const Pair* pairs() const { return pairs_.data(); }
  static bool ends_block(int symbol) { return (symbol & 15) == 0 && symbol != 0xf0; }

  /// The symbol of a code of more than kBits bits at the top of the buffer, and its length; false: there is no such code.
  bool find_long(uint64_t buffer, int* symbol, int* length) const;

 private:
  void set_pairs();
  std::array<Entry, 1 << kBits> entries_{};
  std::array<Pair, 1 << kBits> pairs_{};
  std::array<int32_t, 18> last_code_{}, offset_{};  // of each length; symbol = symbols_[code + offset]
  std::array<uint8_t, 256> symbols_{};
  JHUFF_TBL made_of_{};
  bool made_ = false, ac_ = false;
};

/// The scan of one picture. Kept and filled again for each.
class JpegEntropy {
 public:
  /// Whether it decodes such files, of which the header has been read: sequential, Huffman, 8 bits, one scan. SINDRI_JPEG_ENTROPY=library: none.
  static bool serves(j_decompress_ptr info);
  /// Takes over the decoding of `info`'s scan, of which `segments` are the data between restart markers, one for each `restart_interval` MCUs, without
  /// the markers. To be called behind jpeg_start_decompress(). `info->client_data` must be this object. False where it does not serve.
  bool take_over(j_decompress_ptr info, std::span<const std::span<const uint8_t>> segments);
  /// The same for a file whose data begin at the source's next byte. False also where restart markers are missing or out of order: the library's decoder
  /// says what is wrong.
  bool take_over(j_decompress_ptr info);

 private:
  struct Bits {
    uint64_t buffer = 0;  // filled from the top
    int count = 0;  // so many bits are there
    const uint8_t* next = nullptr;  // the byte behind those
    void fill(int least);
    void drop(int n) {
      buffer <<= n;
      count -= n;
    }
    int number(int size);
  };
  struct Block {
    const JpegCodes *dc, *ac;
    int component;
  };
  static boolean decode_mcu(j_decompress_ptr info, JBLOCKROW* blocks);
  static int symbol(const JpegCodes& codes, JpegCodes::Entry e, Bits* bits);
  bool begin(j_decompress_ptr info);
  int next_segment(j_decompress_ptr info);
  void load();
  int decode(j_decompress_ptr info, JBLOCKROW* blocks);
  template <bool kWanted> int decode_block(const Block& block, JCOEF* out);
  void leave_source(j_decompress_ptr info);

  std::array<JpegCodes, NUM_HUFF_TBLS> dc_, ac_;
  std::array<Block, D_MAX_BLOCKS_IN_MCU> blocks_{};
  int num_blocks_ = 0;
  std::array<int, MAX_COMPS_IN_SCAN> last_dc_{};
  int64_t left_ = 0, segment_left_ = 0;  // MCUs of the picture, of the segment
  // Segments: listed, or found in the file one behind the other.
  std::span<const std::span<const uint8_t>> listed_;
  bool from_file_ = false;
  size_t segment_ = 0;  // how many were begun
  const uint8_t *raw_ = nullptr, *raw_end_ = nullptr;  // what is still stuffed; in a file beyond this segment's end, too
  bool loaded_ = true;  // all of the segment
  std::vector<uint8_t> bytes_;
  const uint8_t* end_ = nullptr;  // of what is loaded
  Bits bits_;
};

}  // namespace sindri::dataset
