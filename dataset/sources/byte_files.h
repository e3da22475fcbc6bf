// Helpers shared by the sources of fixed-size records.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "dataset/source.h"

namespace sindri::dataset {

inline bool ends_with(const std::string& s, const char* suffix) {
  const size_t n = std::strlen(suffix);
  return s.size() >= n && s.compare(s.size() - n, n, suffix) == 0;
}

inline void check_usage(const std::string& usage, const char* who) {
  if (usage != "" && usage != "all" && usage != "train" && usage != "test")
    throw ValueError(fmt::format("{}: usage '{}' is not known", who, usage), "", "use train, test or all");
}

/// A label byte as the int32 scalar that columns hold.
inline Value label_value(Scratch& scratch, uint8_t label) {
  uint8_t* p = scratch.arena.allocate(sizeof(int32_t));
  const int32_t v = label;
  std::memcpy(p, &v, sizeof v);
  return {p, DType::kInt32, {}};
}

}  // namespace sindri::dataset
