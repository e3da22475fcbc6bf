// See checkpoint_format.h.
#include "src/train/checkpoint_format.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
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

namespace {
constexpr std::array<NarrowType, 5> kNarrowTypes = {{{"Int8", 1, true, DType::kInt32},
                                                     {"Int16", 2, true, DType::kInt32},
                                                     {"UInt16", 2, false, DType::kInt32},
                                                     {"UInt32", 4, false, DType::kInt64},
                                                     {"UInt64", 8, false, DType::kInt64}}};
}  // namespace

const NarrowType* find_narrow_type(const std::string& name) {
  for (const NarrowType& t : kNarrowTypes)
    if (name == t.name) return &t;
  return nullptr;
}

bool widen(const NarrowType& type, const char* from, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;  // little-endian, as memory is (wire.h)
    std::memcpy(&bits, from + i * type.bytes, static_cast<size_t>(type.bytes));
    const int shift = static_cast<int>(64 - 8 * type.bytes);
    const auto v = type.is_signed ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits);
    if (!type.is_signed && v < 0) return false;  // UInt64 beyond Int64
    if (type.wide == DType::kInt32) static_cast<int32_t*>(to)[i] = static_cast<int32_t>(v);
    else static_cast<int64_t*>(to)[i] = v;
  }
  return true;
}

bool narrow(const NarrowType& type, const Tensor& from, std::string* to) {
  const int64_t bits = 8 * type.bytes;
  const int64_t top = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (type.is_signed ? bits - 1 : bits)) - 1;
  const int64_t bottom = type.is_signed ? -top - 1 : 0;
  to->clear();
  for (const int64_t v : from.to_vector<int64_t>()) {
    if (v < bottom || v > top) return false;
    to->append(reinterpret_cast<const char*>(&v), static_cast<size_t>(type.bytes));
  }
  return true;
}

void Integrity::begin(const std::string& name, const std::string& type, const std::vector<int64_t>& dims) {
  XXH64_reset(state_, 0);
  // Each part is preceded by its length, so that no two entries give the same byte sequence.
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
