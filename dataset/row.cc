// A worker's scratch memory, and the destinations of results.
#include "dataset/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dataset/codec/jpeg.h"

namespace sindri::dataset {

namespace {
constexpr int64_t kFirstChunk = 1 << 18;
constexpr int64_t kShrinkFactor = 16;
constexpr int kShrinkRows = 256;
}  // namespace

uint8_t* Arena::allocate(int64_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  used_ += bytes;
  while (chunk_ < chunks_.size() && offset_ + bytes > chunks_[chunk_].bytes) {
    ++chunk_;
    offset_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    const int64_t size = std::max({bytes, kFirstChunk, capacity_});
    chunks_.push_back({std::unique_ptr<uint8_t[]>(new uint8_t[static_cast<size_t>(size)]), size});
    capacity_ += size;
    offset_ = 0;
  }
  uint8_t* p = chunks_[chunk_].data.get() + offset_;
  offset_ += bytes;
  return p;
}

void Arena::reset() {
  high_ = std::max(high_, used_);
  if (chunks_.size() > 1 || (++rows_ >= kShrinkRows && capacity_ > kFirstChunk && capacity_ > kShrinkFactor * high_)) {
    // Replaces several chunks by one that holds a whole row, and an oversized chunk by one of the right size.
    chunks_.clear();
    const int64_t size = std::max(kFirstChunk, high_);
    chunks_.push_back({std::unique_ptr<uint8_t[]>(new uint8_t[static_cast<size_t>(size)]), size});
    capacity_ = size;
  }
  if (rows_ >= kShrinkRows) rows_ = 0, high_ = 0;
  chunk_ = 0;
  offset_ = used_ = 0;
}

Scratch::Scratch() : jpeg(std::make_unique<JpegDecoder>()) {}
Scratch::~Scratch() = default;

std::string value_str(const Value& v) { return std::string(dtype_name(v.dtype)) + v.shape.str(); }

uint8_t* RowCall::output(size_t k, DType dtype, const Shape& shape) {
  Value& v = outputs[k];
  v.dtype = dtype;
  v.shape = shape;
  const Slot* slot = k < slots_.size() && slots_[k].data != nullptr ? &slots_[k] : nullptr;
  if (slot == nullptr) {
    uint8_t* p = scratch.arena.allocate(v.nbytes());
    v.data = p;
    return p;
  }
  if (slot->dtype != dtype || !(slot->shape == shape)) {
    throw BadSample(fmt::format("the row's value is {}, the batch expects {}{}", value_str(v), dtype_name(slot->dtype), slot->shape.str()), "",
                    "rows of one batch need equal shapes: add a Resize or a crop before batch()");
  }
  v.data = slot->data;
  return slot->data;
}

void RowCall::forward(size_t k, const Value& v) {
  if (k < slots_.size() && slots_[k].data != nullptr) {
    uint8_t* p = output(k, v.dtype, v.shape);
    if (v.nbytes() > 0) std::memcpy(p, v.data, static_cast<size_t>(v.nbytes()));
    return;
  }
  outputs[k] = v;
}

}  // namespace sindri::dataset
