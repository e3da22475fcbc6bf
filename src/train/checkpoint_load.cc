// Reads .ckpt files. Nothing in the file is trusted: lengths are compared with the remaining bytes before anything is allocated.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/train/cipher.h"
#include "src/core/utf8.h"
#include "src/train/atomic_file.h"
#include "src/train/checkpoint_format.h"
#include "src/train/file_reader.h"
#include "src/train/wire.h"

namespace sindri::train {

namespace {

// A range of bytes inside the file, read front to back.
class Cursor {
 public:
  Cursor(FileReader& file, int64_t begin, int64_t end) : file_(&file), at_(begin), end_(end) {}
  bool done() const { return at_ >= end_; }
  int64_t at() const { return at_; }

  uint64_t varint() {
    uint64_t v = 0;
    const int64_t start = at_;
    for (int shift = 0; shift < 64; shift += 7) {
      if (done()) file_->damaged(start, "it ends inside a number");
      const uint64_t b = file_->byte_at(at_++);
      if (shift == 63 && b > 1) break;
      v |= (b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    file_->damaged(start, "a number has more than 64 bits");
  }
  // Returns the range of the next length-delimited field and moves the cursor past it.
  Cursor field() {
    const int64_t start = at_;
    const uint64_t length = varint();
    if (length > static_cast<uint64_t>(end_ - at_))
      file_->damaged(start, fmt::format("a field of {} bytes is longer than the {} bytes left", length, end_ - at_));
    Cursor inner(*file_, at_, at_ + static_cast<int64_t>(length));
    at_ += static_cast<int64_t>(length);
    return inner;
  }
  int64_t left() const { return end_ - at_; }
  std::string bytes() const {
    std::string s(static_cast<size_t>(left()), '\0');
    file_->read_at(at_, s.data(), left());
    return s;
  }

 private:
  FileReader* file_;
  int64_t at_, end_;
};

// One Value message; the content stays in the file.
struct Piece {
  int64_t start = 0;  // offset of the message, for errors
  std::string tag, type;
  std::vector<int64_t> dims;
  std::vector<std::pair<int64_t, int64_t>> content;  // (offset, bytes), one per slice
  int64_t bytes = 0;
};

class Parser {
 public:
  explicit Parser(FileReader& file) : file_(file) {}

  LoadedCheckpoint run() {
    LoadedCheckpoint out;
    out.path = file_.path();
    if (file_.size() == 0) file_.damaged(0, "the file is empty");
    const bool trailer = check_trailer();
    Cursor top(file_, 0, body_);
    read_integrity(top);
    std::optional<Piece> open;  // an entry that may have more slices
    while (!top.done()) {
      Piece piece = read_value(top);
      if (open && open->tag == piece.tag) {
        join(*open, piece);
        continue;
      }
      if (open) finish(*open, &out);
      if (!tags_.insert(piece.tag).second) file_.damaged(piece.start, fmt::format("the name {} occurs twice", quoted(piece.tag)));
      if (static_cast<int64_t>(tags_.size()) > ckpt::kMaxEntries) file_.damaged(piece.start, fmt::format("it has more than {} entries", ckpt::kMaxEntries));
      open = std::move(piece);
    }
    if (open) finish(*open, &out);
    check_integrity(trailer, &out);
    return out;
  }

 private:
  // Finds the CRC-32 trailer, compares it with the bytes before it and sets body_.
  bool check_trailer() {
    body_ = file_.size();
    if (file_.size() < ckpt::kTrailerBytes) return false;
    uint8_t t[ckpt::kTrailerBytes];
    file_.read_at(file_.size() - ckpt::kTrailerBytes, t, ckpt::kTrailerBytes);
    if (std::memcmp(t, ckpt::kTrailerMark, 7) != 0) return false;
    body_ = file_.size() - ckpt::kTrailerBytes;
    uint64_t expected = 0;
    for (int i = 7; i < 17; ++i) {
      if (i < 9 && t[i] != 0) file_.damaged(body_, "the trailer's checksum has more than 64 bits");
      expected = expected << 8 | t[i];
    }
    std::vector<uint8_t> chunk(1 << 20);
    uLong crc = crc32_z(0, nullptr, 0);
    for (int64_t at = 0; at < body_;) {
      const int64_t n = std::min<int64_t>(static_cast<int64_t>(chunk.size()), body_ - at);
      file_.read_at(at, chunk.data(), n);
      crc = crc32_z(crc, chunk.data(), static_cast<size_t>(n));
      at += n;
    }
    if (crc != expected) file_.damaged(body_, fmt::format("checksum of the file: expected {:#010x}, got {:#010x}", expected, crc));
    return true;
  }

  // Reads the integrity text if the file starts with it; otherwise the cursor does not move.
  void read_integrity(Cursor& top) {
    Cursor field = top;
    if (top.done() || field.varint() != (ckpt::kIntegrityField << 3 | wire::kLengthDelimited)) return;
    top = field;
    integrity_ = top.field().bytes();
  }

  Piece read_value(Cursor& top) {
    Piece p;
    p.start = top.at();
    if (top.varint() != (1u << 3 | wire::kLengthDelimited)) {
      file_.damaged(
          p.start,
          p.start == 0 ? "it does not begin like a MindSpore checkpoint (is it encrypted, or another kind of file?)" : "bytes that belong to no tensor");
    }
    Cursor value = top.field();
    bool has_tag = false, has_tensor = false;
    while (!value.done()) {
      const int64_t at = value.at();
      const uint64_t key = value.varint();
      if (key == (1u << 3 | wire::kLengthDelimited) && !has_tag) {
        has_tag = true;
        p.tag = read_tag(value.field(), at);
      } else if (key == (2u << 3 | wire::kLengthDelimited) && !has_tensor) {
        has_tensor = true;
        read_tensor(value.field(), &p);
      } else if (key == (3u << 3 | wire::kLengthDelimited)) {
        throw CheckpointError(fmt::format("entry {} is a map tensor (MapParameter), which Sindri does not have", quoted(p.tag)),
                              fmt::format("{}, byte {}", file_.path(), at), "save the checkpoint without map parameters");
      } else {
        file_.damaged(at, fmt::format("unknown or repeated field {} of an entry", key >> 3));
      }
    }
    if (!has_tag || !has_tensor) file_.damaged(p.start, has_tag ? fmt::format("entry {} has no tensor", quoted(p.tag)) : "an entry has no name");
    return p;
  }

  std::string read_tag(const Cursor& field, int64_t at) {
    if (field.left() == 0 || field.left() > static_cast<int64_t>(ckpt::kMaxTagBytes))
      file_.damaged(at, fmt::format("a name has {} bytes, expected 1 to {}", field.left(), ckpt::kMaxTagBytes));
    std::string tag = field.bytes();
    if (first_invalid_utf8(tag) >= 0) file_.damaged(at, "a name is not UTF-8");
    return tag;
  }

  void read_tensor(Cursor t, Piece* p) {
    bool has_type = false, has_content = false;
    const int64_t start = t.at();
    while (!t.done()) {
      const int64_t at = t.at();
      const uint64_t key = t.varint();
      if (key == (1u << 3 | wire::kVarint)) {
        add_dim(static_cast<int64_t>(t.varint()), at, p);
      } else if (key == (1u << 3 | wire::kLengthDelimited)) {  // packed form
        for (Cursor dims = t.field(); !dims.done();) add_dim(static_cast<int64_t>(dims.varint()), at, p);
      } else if (key == (2u << 3 | wire::kLengthDelimited) && !has_type) {
        has_type = true;
        const Cursor type = t.field();
        if (type.left() > 64) file_.damaged(at, fmt::format("an element type has a name of {} bytes", type.left()));
        p->type = type.bytes();
      } else if (key == (3u << 3 | wire::kLengthDelimited) && !has_content) {
        has_content = true;
        const Cursor content = t.field();
        p->bytes = content.left();
        p->content = {{content.at(), content.left()}};
      } else {
        file_.damaged(at, fmt::format("unknown or repeated field {} of a tensor", key >> 3));
      }
    }
    if (!has_type || !has_content) file_.damaged(start, fmt::format("a tensor has no {}", has_type ? "content" : "element type"));
  }

  void add_dim(int64_t d, int64_t at, Piece* p) {
    if (d < 0) file_.damaged(at, fmt::format("a dimension is {}", d));
    if (p->dims.size() >= static_cast<size_t>(Shape::kMaxRank)) file_.damaged(at, fmt::format("a tensor has more than {} dimensions", Shape::kMaxRank));
    p->dims.push_back(d);
  }

  // MindSpore splits payloads above 512 MiB into adjacent values with the same name and the dims of the whole tensor.
  void join(Piece& whole, const Piece& next) {
    const std::optional<int64_t> want = expected_bytes(whole);
    if (whole.dims != next.dims || whole.type != next.type)
      file_.damaged(next.start, fmt::format("slices of {} differ in dims or element type", quoted(whole.tag)));
    if (!want || whole.bytes >= *want) file_.damaged(next.start, fmt::format("the name {} occurs twice", quoted(whole.tag)));
    whole.content.push_back(next.content[0]);
    if (__builtin_add_overflow(whole.bytes, next.bytes, &whole.bytes)) file_.damaged(next.start, "slices overflow 64 bits");
  }

  // Returns the payload size that dims and type require; none for text and opaque bytes. Dims [0] with a payload that is not empty mean a scalar, as in
  // MindSpore.
  std::optional<int64_t> expected_bytes(const Piece& p) {
    DType type{};
    const ckpt::NarrowType* narrow = ckpt::find_narrow_type(p.type);
    if (narrow == nullptr && !ckpt::parse_type_name(p.type, &type)) return std::nullopt;
    int64_t bytes = narrow != nullptr ? narrow->bytes : static_cast<int64_t>(dtype_size(type));
    if (scalar(p)) return bytes;
    // An early zero would mask an overflow of the other factors, so zeros count only at the end.
    bool empty = false;
    for (const int64_t d : p.dims) {
      if (d == 0) empty = true;
      else if (__builtin_mul_overflow(bytes, d, &bytes))
        file_.damaged(p.start, fmt::format("the dims [{}] of {} overflow 64 bits", fmt::join(p.dims, ", "), quoted(p.tag)));
    }
    return empty ? 0 : bytes;
  }
  static bool scalar(const Piece& p) { return p.dims.empty() || (p.dims.size() == 1 && p.dims[0] == 0 && p.bytes > 0); }

  void finish(const Piece& p, LoadedCheckpoint* out) {
    const bool integrity = p.tag == ckpt::kIntegrityName && out->entries.empty() && !integrity_;
    if (!integrity) sums_.begin(p.tag, p.type, p.dims);
    CheckpointEntry e;
    e.name = p.tag;
    if (p.type == "str" || p.type == "random_op") {
      e.kind = p.type == "str" ? CheckpointEntry::kText : CheckpointEntry::kBytes;
      e.data.resize(static_cast<size_t>(p.bytes));
      read_content(p, e.data.data());
      raw_ = e.data;
      if (e.kind == CheckpointEntry::kText) e.data = decode_text(p, raw_);
    } else {
      e.tensor = read_tensor_data(p, &e.stored_type);
    }
    if (integrity) {
      integrity_ =
          e.kind == CheckpointEntry::kTensor ? std::string(static_cast<const char*>(e.tensor.raw_data()), static_cast<size_t>(e.tensor.nbytes())) : e.data;
      return;
    }
    sums_.content(e.kind == CheckpointEntry::kTensor && e.stored_type.empty() ? e.tensor.raw_data() : raw_.data(), p.bytes);
    sums_.end();
    out->entries.push_back(std::move(e));
  }

  void read_content(const Piece& p, char* to) const {
    for (const auto& [offset, bytes] : p.content) {
      file_.read_at(offset, to, bytes);
      to += bytes;
    }
  }

  Tensor read_tensor_data(const Piece& p, std::string* stored_type) {
    DType type{};
    const ckpt::NarrowType* narrow = ckpt::find_narrow_type(p.type);
    if (narrow != nullptr) {
      type = narrow->wide;
      *stored_type = p.type;
    } else if (!ckpt::parse_type_name(p.type, &type)) {
      static const std::set<std::string> kForeign = {"Int4", "Complex64", "Complex128"};
      if (kForeign.contains(p.type)) {
        throw CheckpointError(fmt::format("entry {} holds {}, an element type Sindri does not have", quoted(p.tag), p.type),
                              fmt::format("{}, byte {}", file_.path(), p.start), "cast it before saving");
      }
      file_.damaged(p.start, fmt::format("entry {} has the unknown element type {}", quoted(p.tag), quoted(p.type)));
    }
    const int64_t want = *expected_bytes(p);
    if (p.bytes != want) {
      file_.damaged(p.start, fmt::format("entry {} of {} [{}]: expected {} bytes, got {}", quoted(p.tag), p.type, fmt::join(p.dims, ", "), want, p.bytes));
    }
    // `want` equals the number of bytes in the file, so this allocation is at most as large as the file (four times, for Int8).
    Tensor t = Tensor::empty(scalar(p) ? Shape{} : Shape(p.dims), type);
    if (narrow != nullptr) {
      raw_.resize(static_cast<size_t>(want));
      if (want > 0) read_content(p, raw_.data());
      if (want > 0 && !ckpt::widen(*narrow, raw_.data(), t.numel(), t.mutable_raw_data()))
        throw CheckpointError(fmt::format("entry {} holds {} values beyond Int64, which Sindri does not support", quoted(p.tag), p.type),
                              fmt::format("{}, byte {}", file_.path(), p.start), "cast it before saving");
      return t;
    }
    if (want > 0) read_content(p, static_cast<char*>(t.mutable_raw_data()));
    if (type == DType::kBool) check_bools(p, t);
    return t;
  }

  // A bool other than 0 and 1 would be undefined behaviour in every reader.
  void check_bools(const Piece& p, const Tensor& t) {
    const auto* b = static_cast<const uint8_t*>(t.raw_data());
    if (std::any_of(b, b + t.nbytes(), [](uint8_t v) { return v > 1; }))
      file_.damaged(p.start, fmt::format("entry {} holds a Bool that is neither 0 nor 1", quoted(p.tag)));
  }

  std::string decode_text(const Piece& p, const std::string& utf32) {
    std::string text;
    if (utf32.size() % 4 != 0) file_.damaged(p.start, fmt::format("the text {} has {} bytes, not a multiple of 4", quoted(p.tag), utf32.size()));
    for (size_t i = 0; i < utf32.size(); i += 4) {
      uint32_t c = 0;
      std::memcpy(&c, utf32.data() + i, 4);
      if (!append_utf8(c, &text)) file_.damaged(p.start, fmt::format("the text {} contains {:#x}, which is not a character", quoted(p.tag), c));
    }
    text.erase(text.find_last_not_of('\0') + 1);  // padding, as in NumPy
    return text;
  }

  void check_integrity(bool trailer, LoadedCheckpoint* out) {
    if (integrity_) {
      // Only files with a trailer are written with this entry: it reveals a file cut just before the trailer.
      if (!trailer) file_.damaged(file_.size(), "its trailer is missing");
      if (*integrity_ != sums_.text()) file_.damaged(0, "its checksums, or the number of tensors or bytes, differ from what was saved");
    } else if (const std::string sum = ckpt::sum_path(file_.path()); !trailer && file_exists(sum, "checksum file")) {
      if (read_small_file(sum, int64_t{64} << 20, "checksum file").find(sums_.text()) == std::string::npos) {
        file_.damaged(0, fmt::format("it does not match the checksums in {}", sum));
      }
    } else if (!trailer) {
      out->notice = "no integrity data";
      return;
    }
    out->verified = true;
  }

  // Shortens names from the file and removes control characters before they are printed.
  static std::string quoted(const std::string& s) {
    std::string out = "'";
    for (const char c : s.substr(0, 80)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return out + (s.size() > 80 ? "…'" : "'");
  }

  FileReader& file_;
  int64_t body_ = 0;
  std::set<std::string> tags_;
  std::optional<std::string> integrity_;
  std::string raw_;  // payload of the text or bytes read last
  ckpt::Integrity sums_;
};

}  // namespace

LoadedCheckpoint load_checkpoint(const std::string& path, const std::string& name) {
  if (is_sealed(path)) throw CheckpointError("the checkpoint is encrypted", name.empty() ? path : name, "give the dec_key and dec_mode it was written with");
  FileReader file(path, name);
  LoadedCheckpoint out = Parser(file).run();
  if (!out.notice.empty()) log::warn("checkpoint", fmt::format("{}: {}", name.empty() ? path : name, out.notice));
  return out;
}

const CheckpointEntry* LoadedCheckpoint::find(const std::string& name) const {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const CheckpointEntry& e) { return e.name == name; });
  return it == entries.end() ? nullptr : &*it;
}

namespace {
const Tensor& scalar_entry(const LoadedCheckpoint& c, const std::string& name) {
  const CheckpointEntry* e = c.find(name);
  if (e == nullptr) throw CheckpointError(fmt::format("the checkpoint has no entry {}", name), c.path, "was it saved by a training run of this version?");
  if (e->kind != CheckpointEntry::kTensor || e->tensor.numel() != 1)
    throw CheckpointError(fmt::format("entry {} of the checkpoint is not a number", name), c.path);
  return e->tensor;
}
}  // namespace

int64_t LoadedCheckpoint::integer(const std::string& name) const {
  const Tensor& t = scalar_entry(*this, name);
  if (!is_integral(t.dtype()))
    throw CheckpointError(fmt::format("entry {} of the checkpoint is {}, expected a whole number", name, dtype_name(t.dtype())), path);
  return t.to_vector<int64_t>()[0];
}
double LoadedCheckpoint::number(const std::string& name) const { return scalar_entry(*this, name).item(); }
const std::string& LoadedCheckpoint::text(const std::string& name) const {
  const CheckpointEntry* e = find(name);
  if (e == nullptr || e->kind == CheckpointEntry::kTensor) throw CheckpointError(fmt::format("the checkpoint has no text {}", name), path);
  return e->data;
}

}  // namespace sindri::train
