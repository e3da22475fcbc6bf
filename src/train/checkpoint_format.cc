// See checkpoint_format.h.
#include "src/train/checkpoint_format.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sindri::train::ckpt {

namespace {
// In the order of DType.
constexpr std::array<const char*, kNumDTypes> kTypeNames = {"Bool", "UInt8", "Int32", "Int64", "Float16", "BFloat16", "Float32", "Float64"};
}  // namespace

const char* type_name(DType t) { return kTypeNames[static_cast<size_t>(t)]; }

bool parse_type_name(const std::string& name, DType* t) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (name != kTypeNames[i]) continue;
    *t = static_cast<DType>(i);
    return true;
  }
  return false;
}

void Integrity::begin(const std::string& name, const std::string& type, const std::vector<int64_t>& dims) {
  XXH64_reset(state_, 0);
  // Each part with its length, so that no two entries give the same byte sequence.
  const auto add = [&](const void* data, size_t bytes) {
    const uint64_t n = bytes;
    XXH64_update(state_, &n, sizeof n);
    if (bytes > 0) XXH64_update(state_, data, bytes);
  };
  add(name.data(), name.size());
  add(type.data(), type.size());
  add(dims.data(), dims.size() * sizeof(int64_t));
}

void Integrity::content(const void* data, int64_t bytes) {
  if (bytes > 0) XXH64_update(state_, data, static_cast<size_t>(bytes));
  bytes_ += bytes;
}

void Integrity::end() { digests_.push_back(XXH64_digest(state_)); }

std::string Integrity::text() const {
  std::string s = fmt::format("sindri-integrity 1\nentries {}\nbytes {}\n", digests_.size(), bytes_);
  for (const uint64_t d : digests_) s += fmt::format("{:016x}\n", d);
  return s + fmt::format("self {:016x}\n", XXH64(s.data(), s.size(), 0));
}

}  // namespace sindri::train::ckpt
