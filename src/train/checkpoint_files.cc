// See sindri/train/checkpoint_files.h.
#include "sindri/train/checkpoint_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <tuple>

#include "sindri/core/log.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

namespace fs = std::filesystem;

std::optional<EpochStep> checkpoint_numbers(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix + "-") || !name.ends_with(".ckpt")) return {};
  EpochStep n;
  const char* const end = name.data() + name.size() - 5;
  const auto epoch = std::from_chars(name.data() + prefix.size() + 1, end, n.epoch);
  if (epoch.ec != std::errc{} || epoch.ptr == end || *epoch.ptr != '_' || n.epoch < 0) return {};
  const auto step = std::from_chars(epoch.ptr + 1, end, n.step);
  if (step.ec != std::errc{} || step.ptr != end || n.step < 0) return {};
  return n;
}

namespace {

struct File {
  int64_t mtime_ns;
  EpochStep numbers;
  std::string path;
  bool operator<(const File& o) const { return std::tie(mtime_ns, numbers) < std::tie(o.mtime_ns, o.numbers); }
};

std::vector<File> files_of(const std::string& folder, const std::string& prefix) {
  std::vector<File> found;
  for (const std::string& name : names_in_folder(folder, "checkpoint folder")) {
    const std::optional<EpochStep> numbers = checkpoint_numbers(name, prefix);
    if (!numbers) continue;
    const std::string path = (fs::path(folder) / name).string();
    struct stat info {};
    if (stat(path.c_str(), &info) == 0) found.push_back({info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, *numbers, path});
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> checkpoint_files(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> paths;
  for (const File& f : files_of(folder, prefix)) paths.push_back(f.path);
  return paths;
}

std::string free_checkpoint_prefix(const std::string& folder, const std::string& prefix) {
  int64_t next = 0;
  for (const std::string& name : names_in_folder(folder, "checkpoint folder")) {
    const size_t dash = name.rfind('-');
    if (dash == std::string::npos || !checkpoint_numbers(name, name.substr(0, dash))) continue;
    if (dash == prefix.size() && name.starts_with(prefix)) next = std::max<int64_t>(next, 1);
    if (dash <= prefix.size() + 1 || !name.starts_with(prefix + "_")) continue;
    int64_t n = 0;
    const auto number = std::from_chars(name.data() + prefix.size() + 1, name.data() + dash, n);
    if (number.ec == std::errc{} && number.ptr == name.data() + dash && n >= 0 && n < INT64_MAX) next = std::max(next, n + 1);
  }
  return next == 0 ? prefix : fmt::format("{}_{}", prefix, next);
}

void remove_checkpoint(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) log::warn("checkpoint", fmt::format("cannot delete {}: {}", path, error.message()));
  fs::remove(path + ".sum", error);
}

bool checkpoint_due(int64_t every_steps, int64_t every_seconds, int64_t steps_since, double seconds_since) {
  if (every_steps > 0) return steps_since >= every_steps;
  return every_seconds > 0 && seconds_since > static_cast<double>(every_seconds);
}

std::vector<size_t> checkpoints_to_remove(const std::vector<double>& ages, const CheckpointsKept& kept) {
  std::vector<size_t> out;
  if (kept.keep_max > 0) {
    const auto most = static_cast<size_t>(kept.keep_max - 1);
    for (size_t i = 0; i + most < ages.size(); ++i) out.push_back(i);
  } else if (kept.keep_per_n_minutes > 0) {
    bool oldest = true;
    for (size_t i = 0; i < ages.size(); ++i) {
      if (ages[i] >= static_cast<double>(kept.keep_per_n_minutes)) continue;
      if (!oldest) out.push_back(i);
      oldest = false;
    }
  }
  return out;
}

void rotate_checkpoints(const std::string& folder, const std::string& prefix, const std::string& newest, const CheckpointsKept& kept) {
  std::vector<File> files = files_of(folder, prefix);
  std::erase_if(files, [&](const File& f) { return f.path == newest; });
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::vector<double> ages;
  for (const File& f : files) ages.push_back((now - static_cast<double>(f.mtime_ns) * 1e-9) / 60);
  for (const size_t i : checkpoints_to_remove(ages, kept)) remove_checkpoint(files[i].path);
}

}  // namespace sindri::train
