// Where a tensor's bytes live.
#pragma once
#include <cstdint>
#include <string>

namespace sindri {

struct Device {
  enum Kind : uint8_t { kCpu, kCuda };
  Kind kind = kCpu;
  int index = 0;
  bool operator==(const Device&) const = default;
  std::string str() const { return kind == kCpu ? "cpu" : "cuda:" + std::to_string(index); }
};

}  // namespace sindri
