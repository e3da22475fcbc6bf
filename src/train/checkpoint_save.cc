// Writes .ckpt files: checksums first (so that the integrity text can lead the file), then one message per slice.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "sindri/core/error.h"
#include "src/core/utf8.h"
#include "src/train/atomic_file.h"
#include "src/train/checkpoint_format.h"
#include "src/train/wire.h"

namespace sindri::train {

CheckpointEntry CheckpointEntry::of(std::string name, const Tensor& t) { return {std::move(name), kTensor, t, {}}; }
CheckpointEntry CheckpointEntry::text(std::string name, std::string value) { return {std::move(name), kText, {}, std::move(value)}; }
CheckpointEntry CheckpointEntry::number(std::string name, int64_t value) { return of(std::move(name), Tensor::from_data({}, DType::kInt64, &value)); }
CheckpointEntry CheckpointEntry::number(std::string name, double value) { return of(std::move(name), Tensor::scalar(value, DType::kFloat64)); }

std::string checkpoint_file_name(const std::string& prefix, int64_t epoch, int64_t step) { return fmt::format("{}-{}_{}.ckpt", prefix, epoch, step); }

namespace {

// An entry as it goes to disk: row-major bytes and MindSpore's description of them.
struct Encoded {
  std::string type;
  std::vector<int64_t> dims;
  Tensor tensor;  // keeps the memory of `data`
  std::string owned;
  const void* data = nullptr;
  int64_t bytes = 0;
};

std::vector<int64_t> stored_dims(const Tensor& t) { return t.rank() == 0 ? std::vector<int64_t>{0} : t.shape().vec(); }  // MindSpore's scalars are [0]

void encode_narrow(const CheckpointEntry& e, Encoded* out) {
  const ckpt::NarrowType* type = ckpt::find_narrow_type(e.stored_type);
  if (type == nullptr || !is_integral(e.tensor.dtype()))
    throw CheckpointError(fmt::format("entry {} of {} cannot be saved as {}", e.name, dtype_name(e.tensor.dtype()), e.stored_type));
  if (!ckpt::narrow(*type, out->tensor, &out->owned))
    throw CheckpointError(fmt::format("entry {} holds values that {} does not", e.name, e.stored_type), "", "save it in a wider type");
  out->type = e.stored_type;
  out->dims = stored_dims(out->tensor);
}

Encoded encode(const CheckpointEntry& e) {
  Encoded out;
  switch (e.kind) {
    case CheckpointEntry::kTensor:
      if (!e.tensor.has_data())
        throw CheckpointError(fmt::format("entry {} has no value to save", e.name), "", "save outside of graph tracing, after the parameters are set");
      out.tensor = e.tensor.contiguous();
      if (!e.stored_type.empty()) {
        encode_narrow(e, &out);
        break;
      }
      out.type = ckpt::type_name(e.tensor.dtype());
      out.dims = stored_dims(out.tensor);
      out.data = out.tensor.raw_data();
      out.bytes = out.tensor.nbytes();
      return out;
    case CheckpointEntry::kText: {
      if (first_invalid_utf8(e.data) >= 0) throw CheckpointError(fmt::format("the text of entry {} is not UTF-8", e.name));
      if (e.data.find('\0') != std::string::npos)
        throw CheckpointError(fmt::format("the text of entry {} holds a zero character", e.name), "", "save it as bytes");
      std::u32string wide = utf8_to_utf32(e.data);
      if (wide.empty()) wide.push_back(U'\0');  // MindSpore fails on an empty payload; NumPy, and so MindSpore, drops trailing zeros
      out.owned.assign(reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(char32_t));
      out.type = "str";
      out.dims = {0};
      break;
    }
    case CheckpointEntry::kBytes:
      out.owned = e.data;
      out.type = "random_op";
      out.dims = {0};
      break;
  }
  out.bytes = static_cast<int64_t>(out.owned.size());
  return out;
}
const void* payload(const Encoded& e) { return e.data != nullptr ? e.data : e.owned.data(); }

void check_names(const std::vector<CheckpointEntry>& entries) {
  if (static_cast<int64_t>(entries.size()) >= ckpt::kMaxEntries)
    throw CheckpointError(fmt::format("{} entries are more than a checkpoint holds ({})", entries.size(), ckpt::kMaxEntries - 1));
  std::set<std::string> seen;
  for (const CheckpointEntry& e : entries) {
    if (e.name.empty() || e.name.size() > ckpt::kMaxTagBytes || first_invalid_utf8(e.name) >= 0 || e.name == ckpt::kIntegrityName) {
      throw CheckpointError(fmt::format("'{}' cannot be the name of an entry", e.name.substr(0, 80)), "",
                            fmt::format("use UTF-8 of 1 to {} bytes other than {}", ckpt::kMaxTagBytes, ckpt::kIntegrityName));
    }
    if (!seen.insert(e.name).second) throw CheckpointError(fmt::format("two entries are named {}", e.name), "", "give each entry a unique name");
  }
}

// Writes messages to the file, sealed if requested, and keeps the running CRC-32 of the trailer.
class Writer {
 public:
  Writer(AtomicFile& file, const SaveOptions& options) : file_(file), options_(options), trailer_(!options.compat_mindspore1) {}

  // Writes one Value message: TensorProto's `head`, then the content without a copy.
  void value(const std::string& name, const std::string& type, const std::vector<int64_t>& dims, const void* data, int64_t bytes) {
    std::string tensor;
    for (const int64_t d : dims) wire::put_int(&tensor, 1, d);
    wire::put_bytes(&tensor, 2, type);
    wire::put_key(&tensor, 3, wire::kLengthDelimited);
    wire::put_varint(&tensor, static_cast<uint64_t>(bytes));
    std::string body;
    wire::put_bytes(&body, 1, name);
    wire::put_key(&body, 2, wire::kLengthDelimited);
    wire::put_varint(&body, tensor.size() + static_cast<uint64_t>(bytes));
    body += tensor;
    std::string head;
    wire::put_key(&head, 1, wire::kLengthDelimited);
    wire::put_varint(&head, body.size() + static_cast<uint64_t>(bytes));
    head += body;
    write(head.data(), static_cast<int64_t>(head.size()));
    write(data, bytes);
  }

  void integrity(const std::string& text) {
    std::string field;
    wire::put_bytes(&field, ckpt::kIntegrityField, text);
    write(field.data(), static_cast<int64_t>(field.size()));
  }

  void finish() {
    if (trailer_) {
      std::string t = ckpt::kTrailerMark;
      for (int shift = 72; shift >= 0; shift -= 8) t.push_back(shift >= 32 ? '\0' : static_cast<char>(crc_ >> shift));
      put(t.data(), static_cast<int64_t>(t.size()));
    }
    if (!block_.empty()) file_.write(options_.seal(block_));
  }

 private:
  void write(const void* data, int64_t bytes) {
    if (trailer_) crc_ = crc32_z(crc_, static_cast<const Bytef*>(data), static_cast<size_t>(bytes));
    put(data, bytes);
  }
  void put(const void* data, int64_t bytes) {
    if (!options_.seal) return file_.write(data, bytes);
    for (const char* p = static_cast<const char*>(data); bytes > 0;) {
      const int64_t n = std::min(bytes, options_.block_bytes - static_cast<int64_t>(block_.size()));
      block_.append(p, static_cast<size_t>(n));
      p += n;
      bytes -= n;
      if (static_cast<int64_t>(block_.size()) < options_.block_bytes) continue;
      file_.write(options_.seal(block_));
      block_.clear();
    }
  }
  AtomicFile& file_;
  const SaveOptions& options_;
  bool trailer_;
  std::string block_;  // plain bytes that are not sealed yet
  uLong crc_ = crc32_z(0, nullptr, 0);
};

// Copies entries on devices to the host, with one synchronisation.
std::vector<CheckpointEntry> on_host(const std::vector<CheckpointEntry>& entries) {
  std::vector<Tensor> tensors;
  for (const CheckpointEntry& e : entries) tensors.push_back(e.kind == CheckpointEntry::kTensor && e.tensor.has_data() ? e.tensor : Tensor());
  const std::vector<Tensor> host = to_host(tensors, "checkpoint");
  std::vector<CheckpointEntry> out = entries;
  for (size_t i = 0; i < out.size(); ++i)
    if (host[i].defined()) out[i].tensor = host[i];
  return out;
}

std::string integrity_of(const std::vector<CheckpointEntry>& entries) {
  ckpt::Integrity sums;
  for (const CheckpointEntry& entry : entries) {
    const Encoded e = encode(entry);
    sums.begin(entry.name, e.type, e.dims);
    sums.content(payload(e), e.bytes);
    sums.end();
  }
  return sums.text();
}

// Until the new checkpoint has its name, the .sum file describes the previous one as well. Otherwise a crash between the two renames would make a good file
// look damaged.
void write_sum_file(const std::string& path, const std::string& sums, bool keep_previous) {
  const std::string sum = ckpt::sum_path(path);
  std::string text = sums;
  struct stat info {};
  if (keep_previous && stat(sum.c_str(), &info) == 0) text += read_small_file(sum, int64_t{64} << 20, "checksum file");
  write_file_atomically(sum, text, "checksum file");
}

}  // namespace

std::string save_checkpoint(const std::vector<CheckpointEntry>& given, const std::string& requested, const SaveOptions& options) {
  const std::string path = requested.ends_with(".ckpt") ? requested : requested + ".ckpt";
  for (const auto& [name, bytes] : {std::pair{"slice_bytes", options.slice_bytes}, std::pair{"block_bytes", options.block_bytes}})
    if (bytes <= 0) throw ValueError(fmt::format("save_checkpoint: {} is {}, must be positive", name, bytes));
  if (options.seal && options.compat_mindspore1)
    throw ValueError("save_checkpoint: seal cannot be combined with compat_mindspore1: the .sum file would describe the plain content", "",
                     "remove one of the two");
  check_names(given);
  const std::vector<CheckpointEntry> entries = on_host(given);  // before the file is created: a device may fail
  const std::string sums = integrity_of(entries);
  AtomicFile file(path, "checkpoint");
  Writer writer(file, options);
  if (!options.compat_mindspore1) writer.integrity(sums);
  for (const CheckpointEntry& entry : entries) {
    const Encoded e = encode(entry);
    const char* p = static_cast<const char*>(payload(e));
    for (int64_t done = 0; done == 0 || done < e.bytes; done += options.slice_bytes) {
      writer.value(entry.name, e.type, e.dims, p + done, std::min(options.slice_bytes, e.bytes - done));
    }
  }
  writer.finish();
  if (options.compat_mindspore1) write_sum_file(path, sums, true);
  file.commit(0400);
  if (options.compat_mindspore1) write_sum_file(path, sums, false);
  else unlink(ckpt::sum_path(path).c_str());  // left by an earlier mindspore1 file of this name; no longer read
  return path;
}

}  // namespace sindri::train
