// For the public functions of op families: calls with little overhead compared with their kernel, for small tensors in eager mode.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "sindri/op/op_def.h"

namespace sindri {

/// Returns the first output of bind(). If nothing records or traces, an op with one output reaches its kernel without building lists.
Tensor bind_one(const OpDef& op, const Attrs& attrs, std::initializer_list<const Tensor*> in = {});

/// Attrs::of(value), which builds names, values and hash; this function reuses the result for a value that this thread used recently.
template <class T> Attrs recent_attrs(const T& value) {
  constexpr size_t kKept = 16;
  thread_local std::array<std::optional<std::pair<T, Attrs>>, kKept> kept;
  thread_local size_t next = 0;
  for (const auto& k : kept) {
    if (!k.has_value()) break;
    if (k->first == value) return k->second;
  }
  auto& slot = kept[next++ % kKept];
  slot.emplace(value, Attrs::of(value));
  return slot->second;
}

}  // namespace sindri
