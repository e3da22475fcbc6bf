// Accesses several elements at once.
#pragma once

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// V elements that are read or written by one access of up to 16 bytes; the address must be a multiple of their total size.
template <class E, int V> struct alignas(sizeof(E) * V) ElementVector { E e[V]; };
/// Number of elements in 16 bytes; in 8 bytes for one-byte types.
template <class E> inline constexpr int kVector = sizeof(E) == 1 ? 8 : static_cast<int>(16 / sizeof(E));

template <int V, class E> SINDRI_DEVICE ElementVector<E, V> load_vector(const E* p) { return *reinterpret_cast<const ElementVector<E, V>*>(p); }
template <int V, class E> SINDRI_DEVICE void store_vector(E* p, const ElementVector<E, V>& v) { *reinterpret_cast<ElementVector<E, V>*>(p) = v; }

/// Returns element i of an operand whose floating type is checked at run time: for small operands, such as factors per channel.
template <class T> SINDRI_DEVICE T read_floating(const void* p, DType t, int64_t i) {
  switch (t) {
    case DType::kFloat16: return static_cast<T>(load(static_cast<const Half*>(p)[i]));
    case DType::kBFloat16: return static_cast<T>(load(static_cast<const Bf16*>(p)[i]));
    case DType::kFloat32: return static_cast<T>(static_cast<const float*>(p)[i]);
    default: return static_cast<T>(static_cast<const double*>(p)[i]);
  }
}
template <class T> SINDRI_DEVICE void write_floating(void* p, DType t, int64_t i, T v) {
  switch (t) {
    case DType::kFloat16: static_cast<Half*>(p)[i] = store_as<Half>(v); break;
    case DType::kBFloat16: static_cast<Bf16*>(p)[i] = store_as<Bf16>(v); break;
    case DType::kFloat32: static_cast<float*>(p)[i] = store_as<float>(v); break;
    default: static_cast<double*>(p)[i] = store_as<double>(v);
  }
}
/// Such an operand, as a kernel argument.
struct Floating {
  void* data;
  DType dtype;
  template <class T> SINDRI_DEVICE T read(int64_t i) const { return read_floating<T>(data, dtype, i); }
  template <class T> SINDRI_DEVICE void write(int64_t i, T v) const { write_floating(data, dtype, i, v); }
};

/// Host side: returns whether vectors of kVector<E> elements may start at all of these addresses.
template <class E, class... P> bool aligned_for_vectors(const P*... p) { return ((reinterpret_cast<uintptr_t>(p) % (sizeof(E) * kVector<E>) == 0) && ...); }

/// Calls f(constant V, i) for the elements i … i + V - 1 of a row of n that this lane of `width` processes: V is
/// kVector<E> with `vectors` (n must be a multiple), else 1.
template <int V> struct VectorOf { static constexpr int value = V; };
template <class E, class F> SINDRI_DEVICE void for_lane(int64_t n, int lane, int width, bool vectors, F&& f) {
  constexpr int V = kVector<E>;
  if (vectors) {
    for (int64_t i = int64_t{lane} * V; i < n; i += int64_t{width} * V) f(VectorOf<V>(), i);
  } else {
    for (int64_t i = lane; i < n; i += width) f(VectorOf<1>(), i);
  }
}

}  // namespace sindri::cuda
