// Decoding as in ITU-T T.81, annex F.2.2. Anything other than a sequence of codes is an error; nothing is guessed.
#include "dataset/codec/jpeg_entropy.h"

#include <jerror.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace sindri::dataset {

namespace {

// The library's entropy decoder object, as in jpegint.h since version 6b of 1998. The second function is called for each MCU.
struct EntropyDecoder {
  void (*start_pass)(j_decompress_ptr info);
  boolean (*decode_mcu)(j_decompress_ptr info, JBLOCKROW* blocks);
  boolean insufficient_data;
};

// Positions of coefficients. Damaged data may run past the last one, by at most two runs.
constexpr int kOrder[64 + 32] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34,
                                 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63,
                                 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// An MCU has at most 10 blocks of 64 coefficients of 16 + 15 bits. It may read this many bytes, even past the last segment, before the overrun is detected.
constexpr ptrdiff_t kMostOfAnMcu = 2560;
constexpr ptrdiff_t kPiece = 8192;

int extend(int bits, int size) { return size == 0 ? 0 : bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits; }

uint64_t eight_bytes(const uint8_t* p) {
  uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(v);
}

bool library_asked_for() {
  const char* const v = std::getenv("SINDRI_JPEG_ENTROPY");
  return v != nullptr && std::strcmp(v, "library") == 0;
}

}  // namespace

void JpegCodes::set(const JHUFF_TBL& table, bool ac) {
  if (made_ && ac == ac_ && std::memcmp(table.bits, made_of_.bits, sizeof table.bits) == 0 &&
      std::memcmp(table.huffval, made_of_.huffval, sizeof table.huffval) == 0)
    return;
  made_of_ = table;
  ac_ = ac;
  made_ = true;
  entries_.fill(kSpecial);
  std::copy_n(table.huffval, symbols_.size(), symbols_.begin());
  int code = 0, k = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    offset_[static_cast<size_t>(length)] = k - code;
    for (int i = 0; i < table.bits[length]; ++i, ++code, ++k) {
      const int symbol = table.huffval[k], run = ac ? symbol >> 4 : 0, size = ac ? symbol & 15 : symbol;
      for (int rest = 0; length <= kBits && rest < 1 << (kBits - length); ++rest) {
        const bool whole = length + size <= kBits && !(ac && ends_block(symbol));
        const int value = whole ? extend(rest >> (kBits - length - size), size) : symbol;
        entries_[static_cast<size_t>(code << (kBits - length) | rest)] = static_cast<uint32_t>(value) << 16 |
            (whole ? static_cast<uint32_t>(run) << 8 | static_cast<uint32_t>(length + size) : kSpecial | static_cast<uint32_t>(length));
      }
    }
    last_code_[static_cast<size_t>(length)] = code - 1;  // less than every code if no code has this length
  }
  if (ac) set_pairs();
}

void JpegCodes::set_pairs() {
  constexpr uint64_t kMask = (1 << kBits) - 1;
  for (uint64_t i = 0; i <= kMask; ++i) {
    const Entry first = entries_[i];
    Pair& pair = pairs_[i] = first;
    if ((first & kSpecial) != 0) continue;
    const uint64_t bits = first & 0xff;
    const Entry second = entries_[i << bits & kMask];
    const uint64_t more = second & 0xff;
    pair |= bits << 32 | static_cast<uint64_t>(first >> 16) << 48;
    if (more == 0 || bits + more > kBits) continue;
    if ((second & kSpecial) == 0) {
      pair = (pair & ~(0xffffull << 48)) | static_cast<uint64_t>(second >> 16) << 48 | static_cast<uint64_t>((second >> 8 & 0x7f) + 1) << 40;
    } else if (ends_block(static_cast<int>(second >> 16))) {
      pair |= kEnd;
    } else {
      continue;
    }
    pair += more;
  }
}

bool JpegCodes::find_long(uint64_t buffer, int* symbol, int* length) const {
  for (int n = kBits + 1; n <= 16; ++n) {
    const int code = static_cast<int>(buffer >> (64 - n));
    const auto at = static_cast<size_t>(n);
    if (made_of_.bits[n] != 0 && code <= last_code_[at]) {
      const int index = code + offset_[at];
      if (index < 0 || index > 255) return false;
      *symbol = symbols_[static_cast<size_t>(index)];
      *length = n;
      return true;
    }
  }
  return false;
}

bool JpegEntropy::serves(j_decompress_ptr info) {
#ifdef LIBJPEG_TURBO_VERSION
  static const bool wanted = !library_asked_for();
  return wanted && !info->progressive_mode && !info->arith_code && info->data_precision == 8 && info->comps_in_scan == info->num_components &&
      jpeg_has_multiple_scans(info) == 0 && info->blocks_in_MCU <= D_MAX_BLOCKS_IN_MCU;
#else
  (void)info;
  return false;
#endif
}

// Copies more of the segment without the stuffed zeros after 0xff bytes; up to the segment's end if that is near.
void JpegEntropy::load() {
  const ptrdiff_t kept = std::max<ptrdiff_t>(0, end_ - bits_.next);
  if (bytes_.empty()) bytes_.resize(static_cast<size_t>(2 * kMostOfAnMcu + kPiece + 16));
  // A refill may have read beyond the loaded bytes and got zeros. Those positions are read again, since their bytes are loaded now.
  uint8_t *const begin = bytes_.data(), *to = begin;
  if (kept > 0) std::memmove(to, bits_.next, static_cast<size_t>(kept));
  to += kept;
  bits_.next = begin;
  while (!loaded_ && to - begin < kMostOfAnMcu + kPiece / 2) {
    const ptrdiff_t most = std::min<ptrdiff_t>(raw_end_ - raw_, kPiece / 2);
    const auto* stuffed = most == 0 ? nullptr : static_cast<const uint8_t*>(std::memchr(raw_, 0xff, static_cast<size_t>(most)));
    const ptrdiff_t plain = stuffed == nullptr ? most : stuffed - raw_;
    std::memcpy(to, raw_, static_cast<size_t>(plain));
    to += plain;
    raw_ += plain;
    if (raw_ == raw_end_) {
      loaded_ = true;
    } else if (stuffed != nullptr) {
      if (raw_ + 1 < raw_end_ && raw_[1] == 0) {
        *to++ = 0xff;
        raw_ += 2;
      } else if (raw_ + 1 < raw_end_ && raw_[1] == 0xff) {
        ++raw_;  // fill byte before a marker
      } else {
        loaded_ = true;  // a marker, or the end of the data
      }
    }
  }
  end_ = to;  // bytes past the end may be read but not used, which is checked at the end of the MCU
}

bool JpegEntropy::take_over(j_decompress_ptr info, std::span<const std::span<const uint8_t>> segments) {
  if (!serves(info)) return false;
  from_file_ = false;
  listed_ = segments;
  return begin(info);
}

bool JpegEntropy::take_over(j_decompress_ptr info) {
  if (!serves(info)) return false;
  from_file_ = true;
  raw_ = info->src->next_input_byte;
  raw_end_ = raw_ + info->src->bytes_in_buffer;
  return begin(info);
}

bool JpegEntropy::begin(j_decompress_ptr info) {
  num_blocks_ = info->blocks_in_MCU;
  for (int i = 0; i < num_blocks_; ++i) {
    const int component = info->MCU_membership[i];
    const jpeg_component_info& c = *info->cur_comp_info[component];
    const JHUFF_TBL *const dc = info->dc_huff_tbl_ptrs[c.dc_tbl_no], *const ac = info->ac_huff_tbl_ptrs[c.ac_tbl_no];
    if (dc == nullptr || ac == nullptr) return false;
    const auto d = static_cast<size_t>(c.dc_tbl_no), a = static_cast<size_t>(c.ac_tbl_no);
    dc_[d].set(*dc, false);
    ac_[a].set(*ac, true);
    blocks_[static_cast<size_t>(i)] = {&dc_[d], &ac_[a], component};
  }
  segment_ = 0;
  segment_left_ = 0;
  left_ = static_cast<int64_t>(info->MCUs_per_row) * info->MCU_rows_in_scan;
  reinterpret_cast<EntropyDecoder*>(info->entropy)->decode_mcu = decode_mcu;
  return true;
}

// Returns 0 or libjpeg's message number for the error, as do the functions below.
int JpegEntropy::next_segment(j_decompress_ptr info) {
  if (!from_file_) {
    if (segment_ >= listed_.size()) return JWRN_HIT_MARKER;
    raw_ = listed_[segment_].data();
    raw_end_ = raw_ + listed_[segment_].size();
  } else if (segment_ > 0) {
    bits_.next = end_;
    while (!loaded_) load(), bits_.next = end_;  // skip bytes that belong to no MCU
    if (raw_ + 1 >= raw_end_) return JWRN_HIT_MARKER;
    if (raw_[1] != 0xd0 + (segment_ - 1) % 8) return JWRN_MUST_RESYNC;
    raw_ += 2;
  }
  ++segment_;
  segment_left_ = info->restart_interval != 0 ? static_cast<int64_t>(info->restart_interval) : left_;
  loaded_ = false;
  bits_ = {};
  end_ = nullptr;
  load();
  last_dc_.fill(0);
  return 0;
}

// Fills the buffer to at least 56 bits if it holds fewer than `least`. A code with its extra bits takes at most 31.
inline void JpegEntropy::Bits::fill(int least) {
  if (count >= least) return;
  buffer |= eight_bytes(next) >> count;
  next += (63 - count) >> 3;
  count |= 56;
}

inline int JpegEntropy::Bits::number(int size) {
  if (size == 0) return 0;
  const int bits = static_cast<int>(buffer >> (64 - size));
  drop(size);
  return extend(bits, size);
}

// Returns the symbol at the top of the buffer and drops its code; -1: invalid code.
int JpegEntropy::symbol(const JpegCodes& codes, JpegCodes::Entry e, Bits* bits) {
  int found = static_cast<int>(e >> 16), length = static_cast<int>(e & 0xff);
  if (length == 0 && !codes.find_long(bits->buffer, &found, &length)) return -1;
  bits->drop(length);
  return found;
}

template <bool kWanted> int JpegEntropy::decode_block(const Block& block, JCOEF* out) {
  constexpr int kShift = 64 - JpegCodes::kBits;
  Bits bits = bits_;  // kept in registers: functions called below get a copy
  bits.fill(32);
  int& dc = last_dc_[static_cast<size_t>(block.component)];
  if (const JpegCodes::Entry e = block.dc->entries()[bits.buffer >> kShift]; (e & JpegCodes::kSpecial) == 0) {
    bits.drop(static_cast<int>(e & 0xff));
    dc += static_cast<int32_t>(e) >> 16;
  } else {
    Bits copy = bits;
    const int size = symbol(*block.dc, e, &copy);
    if (size < 0 || size > 16) return JWRN_HUFF_BAD_CODE;
    dc += copy.number(size);
    bits = copy;
  }
  if (kWanted) out[0] = static_cast<JCOEF>(dc);
  const JpegCodes::Pair* const pairs = block.ac->pairs();
  for (int k = 1; k < 64; ++k) {
    bits.fill(JpegCodes::kBits);
    const JpegCodes::Pair e = pairs[bits.buffer >> kShift];
    if ((e & JpegCodes::kSpecial) == 0) {
      const Bits before = bits;
      bits.drop(static_cast<int>(e & 0xff));
      k += static_cast<int>(e >> 8 & 0x7f);
      if (kWanted) out[kOrder[k]] = static_cast<JCOEF>(static_cast<int32_t>(e) >> 16);
      if (k >= 63) {  // the rest belongs to another block
        bits = before;
        bits.drop(static_cast<int>(e >> 32 & 0xff));
        break;
      }
      k += static_cast<int>(e >> 40 & 0x7f);
      if (kWanted) out[kOrder[k]] = static_cast<JCOEF>(static_cast<int64_t>(e) >> 48);
      if ((e & JpegCodes::kEnd) != 0) break;
      continue;
    }
    const auto single = static_cast<JpegCodes::Entry>(e);
    if (single >> 16 == 0 && (single & 0xff) != 0) {  // the usual end of a block
      bits.drop(static_cast<int>(single & 0xff));
      break;
    }
    Bits copy = bits;
    copy.fill(32);
    const int s = symbol(*block.ac, single, &copy);
    if (s < 0) return JWRN_HUFF_BAD_CODE;
    k += s >> 4;
    const int value = copy.number(s & 15);
    bits = copy;
    if (JpegCodes::ends_block(s)) break;
    if (kWanted) out[kOrder[k]] = static_cast<JCOEF>(value);
  }
  bits_ = bits;
  return 0;
}

int JpegEntropy::decode(j_decompress_ptr info, JBLOCKROW* blocks) {
  if (segment_left_ == 0) {
    if (const int problem = next_segment(info); problem != 0) return problem;
  }
  if (!loaded_ && end_ - bits_.next < kMostOfAnMcu) load();
  for (int b = 0; b < num_blocks_; ++b) {
    const Block& block = blocks_[static_cast<size_t>(b)];
    const int problem = blocks != nullptr ? decode_block<true>(block, *blocks[b]) : decode_block<false>(block, nullptr);
    if (problem != 0) return problem;
  }
  if ((bits_.next - end_) * 8 > bits_.count) return JWRN_HIT_MARKER;
  --segment_left_;
  if (--left_ == 0) leave_source(info);
  return 0;
}

// The library continues at the marker after the scan.
void JpegEntropy::leave_source(j_decompress_ptr info) {
  if (!from_file_) return;
  while (!loaded_) bits_.next = end_, load();
  info->src->bytes_in_buffer = static_cast<size_t>(raw_end_ - raw_);
  info->src->next_input_byte = raw_;
}

boolean JpegEntropy::decode_mcu(j_decompress_ptr info, JBLOCKROW* blocks) {
  if (const int problem = static_cast<JpegEntropy*>(info->client_data)->decode(info, blocks); problem != 0) {
    info->err->msg_code = problem;
    (*info->err->error_exit)(reinterpret_cast<j_common_ptr>(info));
  }
  return TRUE;
}

}  // namespace sindri::dataset
