// See machine.h.
#include "src/core/machine.h"

#include <fstream>

namespace sindri {

std::string cpu_model() {
  std::ifstream f("/proc/cpuinfo");
  for (std::string line; std::getline(f, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

double memory_gib() {
  std::ifstream f("/proc/meminfo");
  std::string key;
  double kib = 0;
  f >> key >> kib;
  return kib / 1024 / 1024;
}

}  // namespace sindri
