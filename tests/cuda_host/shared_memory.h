// Shared memory of a block, with a log of accesses between two barriers: two threads that access one element, one of them writing, race unless a barrier (or,
// within a warp, an exchange) lies between the accesses.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda_host/fibers.h"

namespace sindri::cuda_host {

class AccessLog {
 public:
  void clear(size_t elements) { cells_.assign(elements, Cell{}); }
  void read(const char* name, size_t element);
  void write(const char* name, size_t element);
  void atomic(const char* name, size_t element);
  bool in_bounds(const char* name, int64_t element) const;

 private:
  struct Access {
    uint32_t thread = ~0u, barriers = 0, exchanges = 0;
    bool atomic = false;
  };
  struct Cell {
    Access write, read;
    bool many_readers = false;  // in the read access's interval
  };
  static bool together(const Access& a, const Moment& now);
  void report(const char* name, size_t element, const char* what, const Access& other) const;
  std::vector<Cell> cells_;
};

template <class T> class SharedView;

/// One declaration of shared memory: a thread_local array, filled with poison when a new block enters.
template <class T> class SharedArray {
 public:
  SharedArray(const char* name, size_t count) : name_(name), count_(count) {}
  explicit SharedArray(const char* name) : name_(name) {}  // as large as the launch specifies
  SharedView<T> enter();
  T* values() { return reinterpret_cast<T*>(memory_.data()); }
  AccessLog log;
  const char* name() const { return name_; }

 private:
  const char* name_;
  size_t count_ = 0;
  uint64_t block_ = 0;
  std::vector<unsigned char> memory_;
};

/// An element that is read or assigned; accesses are logged.
template <class T> class SharedElement {
 public:
  SharedElement(SharedArray<T>& array, int64_t at) : array_(array), at_(at), ok_(array.log.in_bounds(array.name(), at)) {}
  operator T() const {  // NOLINT(google-explicit-constructor): an element reads as its value
    if (!ok_) return T{};
    array_.log.read(array_.name(), static_cast<size_t>(at_));
    return array_.values()[at_];
  }
  const SharedElement& operator=(const T& v) const {
    if (!ok_) return *this;
    array_.log.write(array_.name(), static_cast<size_t>(at_));
    array_.values()[at_] = v;
    return *this;
  }
  const SharedElement& operator=(const SharedElement& o) const { return *this = static_cast<T>(o); }
  SharedElement(const SharedElement&) = default;
  const SharedElement& operator+=(const T& v) const { return *this = static_cast<T>(static_cast<T>(*this) + v); }
  const SharedElement& operator-=(const T& v) const { return *this = static_cast<T>(static_cast<T>(*this) - v); }
  const SharedElement& operator*=(const T& v) const { return *this = static_cast<T>(static_cast<T>(*this) * v); }

 private:
  SharedArray<T>& array_;
  int64_t at_;
  bool ok_;
};

template <class T> class SharedView {
 public:
  explicit SharedView(SharedArray<T>* array, int64_t at = 0) : array_(array), at_(at) {}
  SharedElement<T> operator[](int64_t i) const { return {*array_, at_ + i}; }
  SharedElement<T> operator*() const { return (*this)[0]; }
  SharedView operator+(int64_t by) const { return SharedView(array_, at_ + by); }
  template <class F> T atomic(F&& f) const {
    if (!array_->log.in_bounds(array_->name(), at_)) return T{};
    array_->log.atomic(array_->name(), static_cast<size_t>(at_));
    T& v = array_->values()[at_];
    const T old = v;
    v = f(old);
    return old;
  }

 private:
  SharedArray<T>* array_;
  int64_t at_;
};

template <class T> SharedView<T> SharedArray<T>::enter() {
  static_assert(std::is_trivially_copyable_v<T>);
  if (const uint64_t now = moment().block; now != block_) {
    block_ = now;
    const size_t count = count_ != 0 ? count_ : dynamic_shared_bytes() / sizeof(T);
    memory_.assign(count * sizeof(T), 0xff);  // NaN in every floating type
    log.clear(count);
  }
  return SharedView<T>(this);
}

}  // namespace sindri::cuda_host
