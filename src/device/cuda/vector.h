// Accesses of several elements at once.
#pragma once

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// V elements that are read or written by one access of up to 16 bytes; their address must be a multiple of their size together.
template <class E, int V> struct alignas(sizeof(E) * V) ElementVector { E e[V]; };
/// Elements of 16 bytes; of 8 for one-byte types.
template <class E> inline constexpr int kVector = sizeof(E) == 1 ? 8 : static_cast<int>(16 / sizeof(E));

template <int V, class E> SINDRI_DEVICE ElementVector<E, V> load_vector(const E* p) { return *reinterpret_cast<const ElementVector<E, V>*>(p); }
template <int V, class E> SINDRI_DEVICE void store_vector(E* p, const ElementVector<E, V>& v) { *reinterpret_cast<ElementVector<E, V>*>(p) = v; }

/// Host side: whether vectors of kVector<E> elements may begin at all of these addresses.
template <class E, class... P> bool aligned_for_vectors(const P*... p) { return ((reinterpret_cast<uintptr_t>(p) % (sizeof(E) * kVector<E>) == 0) && ...); }

/// f(constant V, i) for the elements i … i + V - 1 of a row of n that this of `width` lanes takes: V is kVector<E> with `vectors` (n must be a multiple), else 1.
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
