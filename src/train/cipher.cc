// See sindri/train/cipher.h. libcrypto is opened when the first key is used, so that neither building nor running anything else needs it.
#include "sindri/train/cipher.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

namespace {

struct Mode {
  std::string_view name;
  uint32_t magic;
  std::vector<size_t> key_bytes;
  bool tagged;
};

const std::array<Mode, 3>& modes() {
  static const std::array<Mode, 3> all = {
      {{"AES-GCM", 0x7F3A5ED8, {16, 24, 32}, true}, {"AES-CBC", 0x7F3A5ED9, {16, 24, 32}, false}, {"SM4-CBC", 0x7F3A5EDA, {16}, false}}};
  return all;
}

const Mode* mode_of_magic(uint32_t magic) {
  const auto it = std::find_if(modes().begin(), modes().end(), [&](const Mode& m) { return m.magic == magic; });
  return it == modes().end() ? nullptr : it;
}

const Mode& mode_named(std::string_view name, std::string_view argument) {
  const auto it = std::find_if(modes().begin(), modes().end(), [&](const Mode& m) { return m.name == name; });
  if (it == modes().end()) throw ValueError(fmt::format("'{}' must be one of AES-GCM, AES-CBC, SM4-CBC, got '{}'", argument, name));
  return *it;
}

constexpr size_t kIv = 16, kTag = 16, kSizes = 4 + 4 + kIv + 4;  // bytes of a block's head from `size` on

std::string& hidden() {
  static std::string part;
  return part;
}

// Returns a function of libcrypto 1.1 or 3; null if it has none of that name.
void* crypto_symbol(const std::string& name) {
  static void* const library = [] {
    for (const char* file : {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"})
      if (void* const found = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return found;
    return static_cast<void*>(nullptr);
  }();
  if (library == nullptr || (!hidden().empty() && name.find(hidden()) != std::string::npos)) return nullptr;
  return dlsym(library, name.c_str());
}

template <class F> F* crypto(const std::string& name) {
  void* const found = crypto_symbol(name);
  if (found == nullptr)
    throw DeviceError("encryption of checkpoints needs OpenSSL, and its library libcrypto (1.1 or 3) is not found", "enc_key, dec_key",
                      "install the package openssl (libssl3)");
  return reinterpret_cast<F*>(found);
}

using Bytes = const unsigned char*;
Bytes bytes_of(std::string_view s) { return reinterpret_cast<Bytes>(s.data()); }

// Encrypts or decrypts the text. Returns nullopt if decrypting fails: wrong key, or changed bytes. `tag` is read when decrypting and written when encrypting,
// for a mode that has one.
std::optional<std::string> run(bool encrypting, const Mode& mode, const std::string& key, std::string_view iv, std::string_view text, std::string* tag) {
  constexpr int kGetTag = 0x10, kSetTag = 0x11;  // EVP_CTRL_AEAD_GET_TAG, EVP_CTRL_AEAD_SET_TAG
  const auto free_context = crypto<void(void*)>("EVP_CIPHER_CTX_free");
  const std::unique_ptr<void, void (*)(void*)> context(crypto<void*()>("EVP_CIPHER_CTX_new")(), free_context);
  const auto control = crypto<int(void*, int, int, void*)>("EVP_CIPHER_CTX_ctrl");
  const std::string kind = mode.name == "SM4-CBC" ? "EVP_sm4_cbc" : fmt::format("EVP_aes_{}_{}", 8 * key.size(), mode.tagged ? "gcm" : "cbc");
  void* const make = crypto_symbol(kind);
  if (make == nullptr) throw DeviceError(fmt::format("this system's OpenSSL has no {}", mode.name), "enc_mode, dec_mode", "use AES-GCM");
  void* const cipher = reinterpret_cast<void* (*)()>(make)();
  const auto init = crypto<int(void*, void*, void*, Bytes, Bytes, int)>("EVP_CipherInit_ex");
  if (context == nullptr || init(context.get(), cipher, nullptr, bytes_of(key), bytes_of(iv), encrypting ? 1 : 0) != 1)
    throw DeviceError(fmt::format("OpenSSL refuses the cipher {}", mode.name), "enc_mode", "use AES-GCM");
  if (!encrypting && mode.tagged && control(context.get(), kSetTag, kTag, tag->data()) != 1) return {};
  std::string out(text.size() + kIv, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(out.data());
  int done = 0, rest = 0;
  const auto update = crypto<int(void*, unsigned char*, int*, Bytes, int)>("EVP_CipherUpdate");
  if (update(context.get(), to, &done, bytes_of(text), static_cast<int>(text.size())) != 1) return {};
  if (crypto<int(void*, unsigned char*, int*)>("EVP_CipherFinal_ex")(context.get(), to + done, &rest) != 1) return {};
  if (encrypting && mode.tagged) control(context.get(), kGetTag, kTag, tag->data());
  out.resize(static_cast<size_t>(done + rest));
  return out;
}

void put_u32(std::string* out, size_t v) {
  const auto n = static_cast<uint32_t>(v);
  out->append(reinterpret_cast<const char*>(&n), 4);
}

uint32_t u32_at(std::string_view bytes, size_t at) {
  uint32_t v = 0;
  if (at + 4 <= bytes.size()) std::memcpy(&v, bytes.data() + at, 4);
  return v;
}

// Returns whether the end of a block's head, from `size` on, is consistent.
bool sizes_fit(std::string_view head) {
  return head.size() >= kSizes && u32_at(head, 4) == kIv && u32_at(head, 0) == uint64_t{4} + kIv + 4 + u32_at(head, 4 + 4 + kIv);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Reads at most `bytes` bytes: fewer at the end of the file.
std::string read_bytes(int fd, size_t bytes, const std::string& path) {
  std::string out(bytes, '\0');
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = read(fd, out.data() + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_io_error("read", "checkpoint", path, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

void write_bytes(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error("decrypt", "checkpoint", path, n == 0 ? EIO : errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

// Returns the magic number that every block of the file must have, determined from the first block's head.
uint32_t magic_of(std::string_view head, const Mode& mode, const std::string& path) {
  const uint32_t first = u32_at(head, 0);
  const bool of_1x = first == modes()[0].magic && sizes_fit(head.substr(4));
  if (of_1x && mode.tagged) {
    throw CheckpointError("the file has no authentication tags, like files of MindSpore 1.x: changes could not be detected", path,
                          "load and save it with MindSpore 1.x without encryption");
  }
  if (first == mode.magic || (of_1x && mode.name == "AES-CBC")) return first;
  const Mode* const other = head.size() < 4 ? nullptr : mode_of_magic(first);
  if (other == nullptr) throw CheckpointError("the file is not encrypted", path, "omit dec_key");
  throw CheckpointError(fmt::format("the file is encrypted with {}, dec_mode is {}", other->name, mode.name), path,
                        fmt::format("give dec_mode='{}'", other->name));
}

// Decrypts the file block by block into `to`.
void decrypt(int from, int to, const std::string& key, const Mode& mode, const std::string& path) {
  struct stat info {};
  if (fstat(from, &info) != 0) throw_io_error("look at", "checkpoint", path, errno);
  const size_t tag_bytes = mode.tagged ? kTag : 0, head_bytes = 4 + tag_bytes + kSizes;
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  std::optional<uint32_t> magic;
  for (uint64_t at = 0;;) {
    const std::string head = read_bytes(from, head_bytes, path);
    if (head.empty()) return;
    const auto require = [&](bool holds, const char* what, const char* fix = "use an older checkpoint of the run, or copy the file again") {
      if (!holds) throw CheckpointError(ErrorCode::kCheckpointCorrupt, what, fmt::format("{}, byte {}", path, at), fix);
    };
    if (!magic) magic = magic_of(head, mode, path);
    require(head.size() == head_bytes, "the file ends inside a block");
    require(u32_at(head, 0) == *magic, "the following bytes are not an encrypted block");
    const std::string_view sizes = std::string_view(head).substr(4 + tag_bytes);
    const uint64_t text_bytes = u32_at(head, head_bytes - 4);
    require(sizes_fit(sizes) && text_bytes <= INT32_MAX && text_bytes <= file_bytes - at - head_bytes, "the sizes of a block are inconsistent");
    const std::string text = read_bytes(from, text_bytes, path);
    std::string tag = head.substr(4, tag_bytes);
    const std::optional<std::string> plain = run(false, mode, key, sizes.substr(8, kIv), text, &tag);
    require(plain.has_value(), "a block cannot be decrypted: dec_key differs from the key that the file was written with, or the file is damaged",
            "check dec_key");
    write_bytes(to, *plain, path);
    at += head_bytes + text_bytes;
  }
}

}  // namespace

void check_cipher_mode(std::string_view mode, std::string_view name) { mode_named(mode, name); }

void check_cipher_key(std::string_view key, std::string_view mode, std::string_view name) {
  const std::vector<size_t>& sizes = mode_named(mode, "mode").key_bytes;
  if (std::find(sizes.begin(), sizes.end(), key.size()) == sizes.end())
    throw ValueError(fmt::format("'{}' of {} must have {} bytes, got {}", name, mode, fmt::join(sizes, ", "), key.size()));
}

std::string seal_block(std::string_view block, const std::string& key, const std::string& mode) {
  const Mode& m = mode_named(mode, "enc_mode");
  check_cipher_key(key, mode, "enc_key");
  std::string iv(kIv, '\0'), tag(m.tagged ? kTag : 0, '\0'), out;
  if (getrandom(iv.data(), iv.size(), 0) != static_cast<ssize_t>(iv.size())) throw InternalError("the system provides no random numbers");
  const std::optional<std::string> text = run(true, m, key, iv, block, &tag);
  if (!text) throw DeviceError(fmt::format("OpenSSL could not encrypt {} bytes with {}", block.size(), mode), "enc_mode");
  put_u32(&out, m.magic);
  out += tag;
  put_u32(&out, 4 + kIv + 4 + text->size());
  put_u32(&out, kIv);
  out += iv;
  put_u32(&out, text->size());
  return out + *text;
}

bool is_sealed(const std::string& path) {
  const std::string head = read_small_file(path, 4, "checkpoint");
  return head.size() == 4 && mode_of_magic(u32_at(head, 0)) != nullptr;
}

LoadedCheckpoint load_sealed_checkpoint(const std::string& path, const std::string& key, const std::string& mode) {
  const Mode& m = mode_named(mode, "dec_mode");
  check_cipher_key(key, mode, "dec_key");
  const Descriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), plain(above_standard_streams(memfd_create("checkpoint", MFD_CLOEXEC)));
  if (from.get() < 0 || plain.get() < 0) throw_io_error("open", "checkpoint", path, errno);
  decrypt(from.get(), plain.get(), key, m, path);
  try {
    return load_checkpoint(fmt::format("/proc/self/fd/{}", plain.get()), path);
  } catch (const CheckpointError& e) {
    if (m.tagged) throw;  // the tags prove that these bytes were written
    throw CheckpointError(ErrorCode::kCheckpointCorrupt,
                          "the decrypted file is not a checkpoint: dec_key differs from the key that it was written with, or the file is damaged", path,
                          "check dec_key");
  }
}

void hide_libcrypto(std::string part) { hidden() = std::move(part); }

}  // namespace sindri::train
