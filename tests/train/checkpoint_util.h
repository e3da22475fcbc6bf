// Shared by the checkpoint tests: sample entries, whole files as strings.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "sindri/train/checkpoint.h"
#include "source_dir.h"

namespace sindri::train {

inline std::vector<CheckpointEntry> sample_entries() {
  return {CheckpointEntry::of("conv.weight", Tensor::from_vector<float>({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
          CheckpointEntry::of("half", Tensor::full({3}, 1.5, DType::kFloat16)),
          CheckpointEntry::of("brain", Tensor::full({2, 2}, -2.5, DType::kBFloat16)),
          CheckpointEntry::of("double", Tensor::full({1}, 0.1, DType::kFloat64)),
          CheckpointEntry::of("int", Tensor::full({2}, -7, DType::kInt32)),
          CheckpointEntry::of("byte", Tensor::full({5}, 200, DType::kUInt8)),
          CheckpointEntry::of("flag", Tensor::from_values({2}, {1, 0}, DType::kBool)),
          CheckpointEntry::of("empty", Tensor::zeros({0, 3})),
          CheckpointEntry::of("none", Tensor::zeros({0})),
          CheckpointEntry::of("scalar", Tensor::scalar(3)),
          CheckpointEntry::number("step_num", int64_t{123}),
          CheckpointEntry::number("lr", 0.25),
          CheckpointEntry::text("note", "héllo 你"),
          CheckpointEntry::text("nothing", ""),
          {"random_op", CheckpointEntry::kBytes, {}, std::string("\0\1\2", 3)}};
}

inline std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}
inline void overwrite(const std::string& path, const std::string& bytes) {
  chmod(path.c_str(), 0600);
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::string data_file(const std::string& name) { return std::string(SINDRI_SOURCE_DIR) + "/tests/train/data/" + name; }

}  // namespace sindri::train
