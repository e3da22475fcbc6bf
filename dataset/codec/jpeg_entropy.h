// Huffman decoding of sequential JPEG files, replacing libjpeg-turbo's decoder, which is called once per MCU. Headers, transforms, upsampling and colour
// conversion remain the library's. Entropy decoding takes most of the time for a photograph. Stuffed bytes are removed in advance, piece by piece, so that
// refilling the bit buffer needs no checks. One table lookup gives the runs, lengths and values of up to two coefficients. The library has no fast path for
// files with restart markers, and decodes MCUs shortly before the end of a file twice.
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
  /// Builds the table from codes that libjpeg has checked. ac: symbols hold a run of zeros and a coefficient's size; otherwise the size alone.
  void set(const JHUFF_TBL& table, bool ac);

  static constexpr int kBits = 11;
  /// The first coefficient in the next kBits bits. From bit 16: the coefficient (signed); from bit 8: the number of zeros before it, or kSpecial; from bit 0:
  /// the number of bits used.
  using Entry = uint32_t;
  /// Marks an entry without a coefficient. From bit 16 it holds a symbol whose extra bits are not included, or that has none (the end of a block). If the
  /// number of bits is 0, the code is longer than kBits.
  static constexpr Entry kSpecial = 0x8000;
  const Entry* entries() const { return entries_.data(); }
  /// An entry together with what follows the coefficient, if kBits hold that as well. Bits 0 to 7: the number of bits of both. From bit 32: the number of bits
  /// of the first alone. From bit 40: the distance of the second coefficient from the first, or kEnd if the block ends. From bit 48: the second coefficient
  /// (the first again if there is none).
  using Pair = uint64_t;
  static constexpr Pair kEnd = 1ull << 47;
  const Pair* pairs() const { return pairs_.data(); }
  static bool ends_block(int symbol) { return (symbol & 15) == 0 && symbol != 0xf0; }

  /// Finds the symbol and length of a code longer than kBits at the top of the buffer. Returns false if no code matches.
  bool find_long(uint64_t buffer, int* symbol, int* length) const;

 private:
  void set_pairs();
  std::array<Entry, 1 << kBits> entries_{};
  std::array<Pair, 1 << kBits> pairs_{};
  std::array<int32_t, 18> last_code_{}, offset_{};  // by code length; symbol = symbols_[code + offset]
  std::array<uint8_t, 256> symbols_{};
  JHUFF_TBL made_of_{};
  bool made_ = false, ac_ = false;
};

/// Decodes the scan of one image. The object is reused for other images.
class JpegEntropy {
 public:
  /// Whether this decoder supports the file whose header was read: sequential, Huffman, 8 bits, one scan. With SINDRI_JPEG_ENTROPY=library it supports none.
  static bool serves(j_decompress_ptr info);
  /// Replaces the decoder of `info`'s scan. `segments` are the data between restart markers, without the markers, one for each `restart_interval`
  /// MCUs. Call it after jpeg_start_decompress(); `info->client_data` must be this object. Returns false if the file is not supported.
  bool take_over(j_decompress_ptr info, std::span<const std::span<const uint8_t>> segments);
  /// The same for a file whose data start at the source's next byte. Missing or misplaced restart markers end the decode with libjpeg's error.
  bool take_over(j_decompress_ptr info);

 private:
  struct Bits {
    uint64_t buffer = 0;  // filled from the top
    int count = 0;  // valid bits
    const uint8_t* next = nullptr;  // the byte after those in the buffer
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
  int64_t left_ = 0, segment_left_ = 0;  // remaining MCUs of the image, of the segment
  // Segments: listed, or found in sequence in the file.
  std::span<const std::span<const uint8_t>> listed_;
  bool from_file_ = false;
  size_t segment_ = 0;  // number of segments started
  const uint8_t *raw_ = nullptr, *raw_end_ = nullptr;  // bytes not yet unstuffed; in a file they extend beyond this segment
  bool loaded_ = true;  // whether the whole segment is loaded
  std::vector<uint8_t> bytes_;
  const uint8_t* end_ = nullptr;  // end of the loaded bytes
  Bits bits_;
};

}  // namespace sindri::dataset
