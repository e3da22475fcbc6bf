// Shared by the data pipeline's tests: temporary folders, tiny image files, and hashes of an iterator's output.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "sindri/dataset/dataset.h"
#include "sindri/dataset/vision.h"
#include "tests/dataset/encode_image.h"

namespace sindri::dataset {

/// A folder that is removed with the object.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "sindri-dataset-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string str() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream f(path, std::ios::binary);
  f.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

/// A smooth image with some noise that depends on `seed`; BGR.
inline cv::Mat picture(int height, int width, int seed, int channels = 3) {
  cv::Mat m(height, width, CV_8UC(channels));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        state = state * 1664525u + 1013904223u;
        m.data[(y * width + x) * channels + c] = static_cast<uint8_t>((x * 5 + y * 3 + c * 40 + seed * 17 + static_cast<int>(state >> 28)) % 256);
      }
    }
  }
  return m;
}

/// dir/class_k/NNN.jpg, `per_class` images each.
inline void make_image_folder(const std::string& dir, int classes, int per_class, int height = 24, int width = 24) {
  for (int c = 0; c < classes; ++c) {
    for (int i = 0; i < per_class; ++i) {
      char name[64];
      std::snprintf(name, sizeof name, "/class_%d/%03d.jpg", c, i);
      write_bytes(dir + name, encoded(picture(height, width, c * 1000 + i)));
    }
  }
}

inline uint64_t hash_tensor(const Tensor& t, uint64_t h = 1469598103934665603ull) {
  auto mix = [&h](const void* p, size_t n) {
    for (size_t i = 0; i < n; ++i) h = (h ^ static_cast<const uint8_t*>(p)[i]) * 1099511628211ull;
  };
  const std::string meta = t.meta().str();
  mix(meta.data(), meta.size());
  if (t.nbytes() > 0) mix(t.raw_data(), static_cast<size_t>(t.nbytes()));
  return h;
}

/// One hash per batch of one epoch.
inline std::vector<uint64_t> epoch_hashes(Iterator& it) {
  std::vector<uint64_t> out;
  std::vector<Tensor> columns;
  while (it.next(&columns)) {
    uint64_t h = 7;
    for (const auto& t : columns) h = hash_tensor(t, h);
    out.push_back(h);
  }
  return out;
}

inline std::vector<uint64_t> all_hashes(Iterator& it, int epochs) {
  std::vector<uint64_t> out;
  for (int e = 0; e < epochs; ++e) {
    if (e > 0) it.next_epoch();
    const auto h = epoch_hashes(it);
    out.insert(out.end(), h.begin(), h.end());
    out.push_back(0);
  }
  return out;
}

/// The first column of every batch of one epoch, flattened.
inline std::vector<int64_t> epoch_values(Iterator& it) {
  std::vector<int64_t> out;
  std::vector<Tensor> columns;
  while (it.next(&columns)) {
    for (int64_t v : columns[0].to_vector<int64_t>()) out.push_back(v);
  }
  return out;
}

/// 0 … n-1 as one int32 column "x".
inline Dataset::Ptr counting(int64_t n, std::optional<bool> shuffle = false, std::optional<int64_t> shards = {}, std::optional<int64_t> shard = {}) {
  std::vector<int32_t> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  return NumpySlicesDataset::make({.columns = {{"x", Tensor::from_vector({n}, v)}}, .shuffle = shuffle, .num_shards = shards, .shard_id = shard});
}

/// Runs f and returns the E that it throws; fails the test if it throws nothing or another exception.
template <class E, class F> E caught(F&& f) {
  try {
    f();
  } catch (const E& e) { return e; } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    throw;
  }
  ADD_FAILURE() << "nothing was thrown";
  throw std::runtime_error("nothing was thrown");
}

}  // namespace sindri::dataset
