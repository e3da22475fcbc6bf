// Reads .safetensors: eight bytes with the length of a JSON header, the header, then the tensors without gaps. Nothing in the file is trusted: every number is
// compared with the file size before it determines an allocation.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/core/error.h"
#include "sindri/train/fine_tune.h"
#include "src/core/utf8.h"
#include "src/train/checkpoint_format.h"
#include "src/train/file_reader.h"

namespace sindri::train {

namespace {

using nlohmann::json;

constexpr int64_t kMaxHeader = 100'000'000;  // as in the format's own reader
constexpr int kMaxDepth = 4;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kIntegrity = "sindri.integrity";
constexpr const char* kHeaderSum = "sindri.header";

// zlib's CRC-32, in eight digits.
std::string crc32_text(const void* data, size_t size) {
  uint32_t crc = 0;
  const auto* p = static_cast<const unsigned char*>(data);
  while (size > 0) {
    const size_t n = std::min(size, size_t{1} << 30);
    crc = crc32_gzip_refl(crc, p, n);
    p += n;
    size -= n;
  }
  return fmt::format("{:08x}", crc);
}

// The format's names of element types; for types that tensors do not have, MindSpore's (ckpt::find_narrow_type).
const std::map<std::string, std::string>& type_names() {
  static const std::map<std::string, std::string> names = {{"BOOL", "Bool"},     {"U8", "UInt8"},    {"I8", "Int8"},    {"I16", "Int16"},  {"U16", "UInt16"},
                                                           {"I32", "Int32"},     {"U32", "UInt32"},  {"I64", "Int64"},  {"U64", "UInt64"}, {"F16", "Float16"},
                                                           {"BF16", "BFloat16"}, {"F32", "Float32"}, {"F64", "Float64"}};
  return names;
}

// Returns a name from the file, shortened and without control characters.
std::string quoted(const std::string& s) {
  std::string out = "'";
  for (const char c : s.substr(0, 80)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (s.size() > 80 ? "…'" : "'");
}

struct Stored {
  std::string name, type;  // type as in ckpt::parse_type_name or find_narrow_type
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;  // byte range in the data
};

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, "") {}

  LoadedCheckpoint run() {
    const json header = read_header();
    std::vector<Stored> all;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) check_metadata(value);
      else all.push_back(read_entry(name, value));
    }
    if (static_cast<int64_t>(all.size()) > ckpt::kMaxEntries) file_.damaged(8, fmt::format("it has more than {} tensors", ckpt::kMaxEntries));
    std::sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
    int64_t at = 0;
    for (const Stored& s : all) {
      if (s.begin != at)
        file_.damaged(data_ + s.begin, fmt::format("tensor {} begins at {} of the data, the one before it ends at {}", quoted(s.name), s.begin, at));
      at = s.end;
    }
    if (at != file_.size() - data_) file_.damaged(data_ + at, fmt::format("{} bytes after the last tensor", file_.size() - data_ - at));
    LoadedCheckpoint out;
    out.path = file_.path();
    const std::vector<std::string> sums = check_integrity(header, all);
    out.verified = !sums.empty();
    if (sums.empty()) out.notice = "no integrity data";
    for (size_t i = 0; i < all.size(); ++i) out.entries.push_back(read_tensor(all[i], sums.empty() ? "" : sums[i]));
    return out;
  }

 private:
  json read_header() {
    if (file_.size() < 8) file_.damaged(0, fmt::format("a file of weights has at least 8 bytes, this one {}", file_.size()));
    uint8_t bytes[8];
    file_.read_at(0, bytes, 8);
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | bytes[i];
    const int64_t most = std::min(kMaxHeader, file_.size() - 8);
    if (length == 0 || length > static_cast<uint64_t>(most))
      file_.damaged(0, fmt::format("its header would have {} bytes, there are {} and at most {} are read", length, file_.size() - 8, kMaxHeader));
    data_ = 8 + static_cast<int64_t>(length);
    std::string text(length, '\0');
    file_.read_at(8, text.data(), static_cast<int64_t>(length));
    if (text[0] != '{') file_.damaged(8, "its header does not begin with '{'");
    if (const int64_t bad = first_invalid_utf8(text); bad >= 0) file_.damaged(8 + bad, "its header is not UTF-8");
    header_text_ = text;
    std::vector<std::set<std::string>> open;  // keys of the objects being parsed
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth > kMaxDepth) file_.damaged(8, fmt::format("its header is nested deeper than {} levels", kMaxDepth));
      if (event == json::parse_event_t::object_start) open.emplace_back();
      else if (event == json::parse_event_t::object_end) open.pop_back();
      else if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
        file_.damaged(8, fmt::format("the name {} occurs twice in its header", quoted(parsed.get<std::string>())));
      return true;
    };
    try {
      json header = json::parse(text, watch);
      if (!header.is_object()) file_.damaged(8, "its header is not an object");
      return header;
    } catch (const json::exception& e) { file_.damaged(8, fmt::format("its header is not JSON: {}", e.what())); }
  }

  void check_metadata(const json& value) {
    const bool texts = value.is_object() && std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
    if (!texts) file_.damaged(8, "its metadata contains values other than strings");
  }

  // Handles the checksums that Sindri writes (python/sindri/tools/_safetensors.py): verifies the header's checksum here and returns those of the tensors. The
  // result is empty for files of other programs. Each of the two metadata entries states that the other exists, so that damage to a key is detected, too.
  std::vector<std::string> check_integrity(const json& header, const std::vector<Stored>& all) {
    const json metadata = header.value(kMetadata, json::object());
    const std::string text = metadata.value(kIntegrity, ""), sum = metadata.value(kHeaderSum, "");
    const bool promised = text.find("\"header\":1") != std::string::npos;
    if (!sum.empty() || promised) check_header(sum, promised);
    if (text.empty()) return {};
    const json stated = json::parse(text, nullptr, false);
    std::vector<std::string> sums;
    try {
      stated.at("crc32").get_to(sums);
      if (stated.at("tensors").get<size_t>() != all.size() || stated.at("bytes").get<int64_t>() != file_.size() - data_ || sums.size() != all.size())
        file_.damaged(8, "it does not hold the tensors that its metadata states");
    } catch (const json::exception&) { file_.damaged(8, fmt::format("its metadata '{}' cannot be read", kIntegrity)); }
    return sums;
  }

  void check_header(const std::string& sum, bool promised) {
    const auto entry = [](const std::string& digits) { return fmt::format("\"{}\":\"{}\"", kHeaderSum, digits); };
    const size_t at = header_text_.find(entry(sum));
    if (sum.empty() || !promised || at == std::string::npos) file_.damaged(8, "one of its header's two checksums is missing");
    header_text_.replace(at, entry(sum).size(), entry(std::string(sum.size(), '0')));
    if (const std::string got = crc32_text(header_text_.data(), header_text_.size()); got != sum)
      file_.damaged(8, fmt::format("its header has the CRC-32 {}, expected {}", got, sum));
    header_text_.clear();
  }

  Stored read_entry(const std::string& name, const json& value) {
    const auto fail = [&](const std::string& what) { file_.damaged(8, fmt::format("tensor {}: {}", quoted(name), what)); };
    Stored s;
    s.name = name;
    if (name.empty() || name.size() > ckpt::kMaxTagBytes) fail(fmt::format("its name has {} bytes, expected 1 to {}", name.size(), ckpt::kMaxTagBytes));
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets"))
      fail("expected dtype, shape and data_offsets");
    if (!value["dtype"].is_string()) fail("its dtype is not a string");
    const std::string dtype = value["dtype"];
    const auto type = type_names().find(dtype);
    if (type == type_names().end())
      throw CheckpointError(fmt::format("tensor {} holds {}, an element type Sindri does not have", quoted(name), quoted(dtype)), file_.path(),
                            "cast it before saving");
    s.type = type->second;
    const json& shape = value["shape"];
    if (!shape.is_array() || shape.size() > static_cast<size_t>(Shape::kMaxRank))
      fail(fmt::format("its shape is not a list of at most {} sizes", Shape::kMaxRank));
    for (const json& d : shape) s.dims.push_back(number(d, "size", name));
    const json& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) fail("its data_offsets are not two numbers");
    s.begin = number(offsets[0], "offset", name);
    s.end = number(offsets[1], "offset", name);
    if (s.begin > s.end || s.end > file_.size() - data_)
      fail(fmt::format("its bytes {} to {} lie outside the {} bytes of data", s.begin, s.end, file_.size() - data_));
    if (s.end - s.begin != bytes_of(s)) fail(fmt::format("{} [{}] has {} bytes, got {}", dtype, fmt::join(s.dims, ", "), bytes_of(s), s.end - s.begin));
    return s;
  }

  int64_t number(const json& v, const char* what, const std::string& name) {
    if (!v.is_number_unsigned() || v.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      file_.damaged(8, fmt::format("tensor {}: a {} is not a non-negative integer", quoted(name), what));
    return v.get<int64_t>();
  }

  int64_t bytes_of(const Stored& s) {
    DType type{};
    const ckpt::NarrowType* narrow = ckpt::find_narrow_type(s.type);
    int64_t bytes = narrow != nullptr ? narrow->bytes : ckpt::parse_type_name(s.type, &type) ? static_cast<int64_t>(dtype_size(type)) : 0;
    bool empty = false;
    for (const int64_t d : s.dims) {
      empty = empty || d == 0;
      if (d != 0 && __builtin_mul_overflow(bytes, d, &bytes)) file_.damaged(8, fmt::format("tensor {}: its shape overflows 64 bits", quoted(s.name)));
    }
    return empty ? 0 : bytes;
  }

  // `sum` is empty if it is unknown.
  CheckpointEntry read_tensor(const Stored& s, const std::string& sum) {
    const auto check = [&](const void* bytes) {
      if (sum.empty()) return;
      const std::string got = crc32_text(bytes, static_cast<size_t>(s.end - s.begin));
      if (got != sum) file_.damaged(data_ + s.begin, fmt::format("tensor {} has the CRC-32 {}, expected {}", quoted(s.name), got, sum));
    };

    CheckpointEntry e;
    e.name = s.name;
    const int64_t bytes = s.end - s.begin;
    const ckpt::NarrowType* narrow = ckpt::find_narrow_type(s.type);
    DType type{};
    if (narrow == nullptr) ckpt::parse_type_name(s.type, &type);
    e.tensor = Tensor::empty(Shape(s.dims), narrow != nullptr ? narrow->wide : type);
    if (bytes == 0) return e;
    if (narrow != nullptr) {
      e.stored_type = s.type;
      std::string raw(static_cast<size_t>(bytes), '\0');
      file_.read_at(data_ + s.begin, raw.data(), bytes);
      check(raw.data());
      if (!ckpt::widen(*narrow, raw.data(), e.tensor.numel(), e.tensor.mutable_raw_data()))
        throw CheckpointError(fmt::format("tensor {} holds values beyond Int64, which Sindri does not support", quoted(s.name)), file_.path(),
                              "cast it before saving");
      return e;
    }
    file_.read_at(data_ + s.begin, e.tensor.mutable_raw_data(), bytes);
    check(e.tensor.raw_data());
    if (type == DType::kBool) {
      const auto* b = static_cast<const uint8_t*>(e.tensor.raw_data());
      if (std::any_of(b, b + bytes, [](uint8_t v) { return v > 1; }))
        file_.damaged(data_ + s.begin, fmt::format("tensor {} holds a Bool that is neither 0 nor 1", quoted(s.name)));
    }
    return e;
  }

  FileReader file_;
  int64_t data_ = 0;  // offset of the first tensor
  std::string header_text_;
};

}  // namespace

LoadedCheckpoint load_safetensors(const std::string& path) { return Reader(path).run(); }

LoadedCheckpoint load_weights_file(const std::string& path) { return path.ends_with(".safetensors") ? load_safetensors(path) : load_checkpoint(path); }

}  // namespace sindri::train
