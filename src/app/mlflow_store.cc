// See mlflow_store.h. The format is that of MLflow's FileStore; python/sindri/train/callback/_trackers.py writes the same.
#include "src/app/mlflow_store.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/app/build.h"
#include "src/app/session.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;
constexpr const char* kIdFile = "mlflow_run_id";  // in the run folder

int64_t now_milliseconds() { return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count(); }

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError(fmt::format("cannot create a folder of the MLflow store: {}", error.message()), path, "set log.mlflow to a folder you may write to");
}

void put(const std::string& path, const std::string& text) {
  make_folder(fs::path(path).parent_path().string());
  train::write_file_atomically(path, text, "MLflow file");
}

std::string get(const std::string& path) { return train::file_exists(path, "MLflow file") ? train::read_small_file(path, kMostBytes, "MLflow file") : ""; }

// Returns a mapping whose values are written as JSON, which is also valid YAML.
std::string yaml(const std::map<std::string, nlohmann::json>& values) {
  std::string out;
  for (const auto& [name, value] : values) out += fmt::format("{}: {}\n", name, value.dump());
  return out;
}

// Returns the value of a key in a mapping written by this file or MLflow; empty if the key is missing.
std::string value_of(const std::string& mapping, const std::string& key) {
  for (size_t at = 0; at < mapping.size();) {
    const size_t end = std::min(mapping.find('\n', at), mapping.size());
    const std::string line = mapping.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key + ": ")) continue;
    std::string value = line.substr(key.size() + 2);
    if (value.starts_with('"')) {
      const nlohmann::json text = nlohmann::json::parse(value, nullptr, false);
      return text.is_string() ? text.get<std::string>() : value;
    }
    return value.size() > 1 && value.front() == '\'' ? value.substr(1, value.size() - 2) : value;
  }
  return "";
}

// Replaces characters that MLflow does not allow in names: letters, digits, _ - . space : and / for groups are allowed.
std::string key_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && std::string_view("_-. :/").find(c) == std::string_view::npos; }, '_');
  return name;
}

std::string digits_of(const std::string& text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

void make_experiment(const std::string& store, const std::string& id, const std::string& name) {
  const int64_t now = now_milliseconds();
  put(store + "/" + id + "/meta.yaml",
      yaml({{"artifact_location", "file://" + store + "/" + id},
            {"creation_time", now},
            {"experiment_id", id},
            {"last_update_time", now},
            {"lifecycle_stage", "active"},
            {"name", name}}));
}

// Returns the number of the experiment with that name, and creates it if necessary. MLflow expects experiment 0, Default, in every store.
std::string find_experiment(const std::string& store, const std::string& name) {
  make_folder(store);
  bool has_default = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(store)) {
    const std::string meta = get(entry.path().string() + "/meta.yaml");
    if (!meta.empty() && value_of(meta, "name") == name) return entry.path().filename().string();
    has_default = has_default || (!meta.empty() && entry.path().filename() == "0");
  }
  if (!has_default) make_experiment(store, "0", "Default");
  if (name == "Default") return "0";
  const std::string id = std::to_string(XXH3_64bits(name.data(), name.size()) % 1'000'000'000'000'000'000);
  make_experiment(store, id, name);
  return id;
}

int64_t step_of(std::string_view line) {
  const size_t space = line.rfind(' ');
  int64_t step = INT64_MAX;
  if (space != std::string_view::npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), step);
  return step;
}

}  // namespace

MlflowRun::MlflowRun(const std::string& store, const std::string& experiment, const std::string& id, const std::string& name) : id_(id), name_(name) {
  const std::string root = fs::absolute(store).lexically_normal().string();
  experiment_id_ = find_experiment(root, experiment);
  folder_ = root + "/" + experiment_id_ + "/" + id;
  const std::string meta = get(folder_ + "/meta.yaml"), start = value_of(meta, "start_time");
  if (!meta.empty()) name_ = value_of(meta, "run_name");
  start_ = start.empty() ? now_milliseconds() : std::strtoll(start.c_str(), nullptr, 10);
  if (!meta.empty()) return;
  for (const char* part : {"metrics", "params", "tags", "artifacts"}) make_folder(folder_ + "/" + part);
  put(folder_ + "/tags/mlflow.runName", name_);
  status(Status::kRunning);
}

void MlflowRun::params(const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) put(folder_ + "/params/" + key_of(name), value);
}

void MlflowRun::metrics(int64_t step, const EventValues& values) {
  const int64_t now = now_milliseconds();
  for (const auto& [name, value] : values) {
    if (std::isnan(value)) continue;
    const std::string path = folder_ + "/metrics/" + key_of(name), before = get(path);
    std::string kept;
    for (size_t at = 0; at < before.size();) {
      const size_t end = before.find('\n', at);
      if (end == std::string::npos) break;  // a partial line of a killed process
      const std::string_view line(before.data() + at, end - at);
      if (step_of(line) < step) kept.append(line).append("\n");
      at = end + 1;
    }
    put(path, kept + fmt::format("{} {} {}\n", now, value, step));
  }
}

void MlflowRun::status(Status status) {
  const char* user = std::getenv("USER");
  const nlohmann::json end = status == Status::kRunning ? nlohmann::json() : nlohmann::json(now_milliseconds());
  put(folder_ + "/meta.yaml",
      yaml({{"artifact_uri", "file://" + folder_ + "/artifacts"},
            {"deleted_time", nullptr},
            {"end_time", end},
            {"entry_point_name", ""},
            {"experiment_id", experiment_id_},
            {"lifecycle_stage", "active"},
            {"run_id", id_},
            {"run_name", name_},
            {"run_uuid", id_},
            {"source_name", ""},
            {"source_type", 4},
            {"source_version", ""},
            {"start_time", start_},
            {"status", static_cast<int>(status)},
            {"tags", nlohmann::json::array()},
            {"user_id", user == nullptr ? "" : user}}));
}

namespace {

// Runs `work` with the run's place in the store.
template <class Work> void track(Session* s, bool begins, const Work& work) {
  const std::string& store = s->settings.get_string("log.mlflow");
  if (store.empty() || !s->folder) return;
  try {
    const std::string file = s->folder->file(kIdFile);
    std::string id = begins && !s->request.resume ? "" : get(file).substr(0, 32);
    const bool is_new = id.size() != 32;
    if (is_new) {
      id = digits_of(fmt::format("{} {}", fs::absolute(s->run_dir).string(), now_milliseconds()));
      put(file, id + "\n");
    }
    MlflowRun run(store, s->settings.get_string("log.mlflow_experiment"), id, fs::path(s->run_dir).filename().string());
    work(run, is_new);
  } catch (const IoError& e) { log::warn("train", fmt::format("{}; the training continues", e.what())); } catch (const fs::filesystem_error& e) {
    log::warn("train", fmt::format("log.mlflow: {}; the training continues", e.what()));
  }
}

}  // namespace

void track_begin(Session* s) {
  track(s, true, [s](MlflowRun& run, bool is_new) {
    if (!is_new) return run.status(MlflowRun::Status::kRunning);
    std::vector<std::pair<std::string, std::string>> params = {{"run_dir", fs::absolute(s->run_dir).string()}};
    for (const char* name : {"model.name", "data.path", "data.kind", "train.epochs", "train.batch_size", "train.seed", "train.amp_level", "optimizer.name",
                             "optimizer.weight_decay", "lr.schedule", "lr.max", "loss.name"})
      params.emplace_back(name, s->settings.value_text(name));
    run.params(params);
  });
}

void track_epoch(Session* s) {
  if (s->last_row.empty()) return;
  track(s, false, [s](MlflowRun& run, bool) {
    EventValues values = {{"epoch", static_cast<double>(s->epoch)}};
    values.insert(values.end(), s->last_row.begin(), s->last_row.end());
    run.metrics(s->steps_done, values);
  });
}

void track_end(Session* s, MlflowRun::Status status) {
  track(s, false, [status](MlflowRun& run, bool) { run.status(status); });
}

}  // namespace sindri::app
