// ModelCheckpoint: when to save, under which name, and which older files to remove. A file is removed only after its successor is safely on disk. With several
// ranks, rank 0 does all of it, and the others learn the outcome.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/train/callback.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/checkpoint_files.h"
#include "src/core/clock.h"
#include "src/train/atomic_file.h"
#include "src/train/save_state.h"

namespace sindri::train {

namespace fs = std::filesystem;

namespace {

// Renames `path` to PATH.aside, or to the first PATH.aside.N that is free.
void set_aside(const std::string& path) {
  std::string to = path + ".aside";
  for (int n = 2; file_exists(to, "checkpoint"); ++n) to = fmt::format("{}.aside.{}", path, n);
  if (std::rename(path.c_str(), to.c_str()) != 0) throw_io_error("rename", "checkpoint", path, errno);
  log::warn("checkpoint", fmt::format("{} is from a later step than the one that training continues from; it is kept as {}", path, to));
}

bool first(const TrainState& s) { return s.ranks == nullptr || s.ranks->rank() == 0; }

// Points the link FOLDER/latest to NAME in one step. On file systems without links, none is made.
void point_latest(const fs::path& path) {
  const fs::path link = path.parent_path() / "latest", next = path.parent_path() / fmt::format("latest.tmp.{}", getpid());
  std::error_code error;
  fs::remove(next, error);
  fs::create_symlink(path.filename(), next, error);
  if (!error) fs::rename(next, link, error);
  if (error) fs::remove(next, error);
}

}  // namespace

ModelCheckpoint::ModelCheckpoint(std::string prefix, std::string directory, CheckpointConfig config, bool resuming)
    : prefix_(std::move(prefix)), directory_(std::move(directory)), config_(std::move(config)) {
  if (prefix_.empty() || prefix_.find('/') != std::string::npos)
    throw ValueError(fmt::format("ModelCheckpoint: prefix '{}' must be a file name without '/'", prefix_));
  if (config_.save_checkpoint_steps < 0 || config_.save_checkpoint_seconds < 0 || config_.keep_checkpoint_max < 0 || config_.keep_checkpoint_per_n_minutes < 0)
    throw ValueError("ModelCheckpoint: intervals and counts must not be negative");
  if (config_.save_checkpoint_steps == 0 && config_.save_checkpoint_seconds == 0 && config_.keep_checkpoint_max == 0 &&
      config_.keep_checkpoint_per_n_minutes == 0)
    throw ValueError("ModelCheckpoint: all four conditions are 0", "", "set save_checkpoint_steps or save_checkpoint_seconds");
  if (directory_.empty()) directory_.push_back('.');
  if (!resuming && comm::world().rank() == 0) prefix_ = free_checkpoint_prefix(directory_, prefix_);
}

void ModelCheckpoint::begin(TrainState& s) {
  last_step_ = s.cur_step_num;
  last_time_ = now_seconds();
  on_first_rank(s, "checkpoint folder", [&] {
    prepare(s);
    return "";
  });
}

void ModelCheckpoint::prepare(const TrainState& s) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) throw IoError(fmt::format("cannot create the checkpoint folder: {}", error.message()), directory_, "choose a folder you may write to");
  // When a run resumes, earlier files count towards keep_checkpoint_max, oldest first. File times mean nothing if the folder was copied. Files of later steps
  // could not be verified, or belong to a run that the user rolls back. They are renamed instead of being overwritten or rotated away.
  const EpochStep here = s.step_in_epoch() > 0 ? EpochStep{s.cur_epoch_num, s.step_in_epoch()} : EpochStep{s.cur_epoch_num + 1, 0};
  std::vector<std::pair<EpochStep, std::string>> earlier;
  for (const std::string& name : names_in_folder(directory_, "checkpoint folder")) {
    const std::string path = (fs::path(directory_) / name).string();
    // A process killed between writing or removing the two files of a mindspore1 checkpoint leaves one of them.
    if (s.cur_step_num > 0 && name.ends_with(".ckpt.sum") && checkpoint_numbers(name.substr(0, name.size() - 4), prefix_) &&
        !file_exists(path.substr(0, path.size() - 4), "checkpoint"))
      fs::remove(path, error);
    const auto n = checkpoint_numbers(name, prefix_);
    if (!n) continue;
    if (s.cur_step_num == 0 || !(here < *n)) earlier.emplace_back(*n, path);
    else set_aside(path);
  }
  std::sort(earlier.begin(), earlier.end());
  saved_.clear();
  for (const auto& [numbers, path] : earlier) saved_.emplace_back(path, 0.0);
  if (config_.keep_checkpoint_max > 0) rotate();  // a killed process may have had no time for it
}

void ModelCheckpoint::step_end(TrainState& s) {
  bool due = checkpoint_due(config_.save_checkpoint_steps, config_.save_checkpoint_seconds, s.cur_step_num - last_step_, now_seconds() - last_time_);
  // Clocks differ: rank 0's decides.
  if (s.ranks != nullptr && config_.save_checkpoint_steps == 0 && config_.save_checkpoint_seconds > 0)
    due = s.ranks->all_gather_text(due ? "1" : "", {"checkpoint due"})[0] == "1";
  if (due) save(s);
}

void ModelCheckpoint::end(TrainState& s) { save(s); }

std::string ModelCheckpoint::save(TrainState& s) {
  if (s.cur_step_num == last_step_) return "";  // saved already, or nothing trained since the file it was resumed from
  if (s.settle) s.settle();  // no state from non-finite steps is saved, and the counts include all steps
  // Used on rank 0 only, since the prefix is chosen there.
  const std::string path = (fs::path(directory_) / checkpoint_file_name(prefix_, s.cur_epoch_num, s.step_in_epoch())).string();
  last_step_ = s.cur_step_num;
  last_time_ = now_seconds();
  const std::shared_ptr<void> merged = s.merge_ranks ? s.merge_ranks() : nullptr;
  // A failed write is logged, not thrown: the run is worth more than this copy, the previous file is untouched, and the next interval retries.
  const std::string outcome = on_first_rank(s, "checkpoint", [&]() -> std::string {
    try {
      write(s, path);
    } catch (const IoError& e) { return std::string("-") + e.what(); }
    return "+" + path;
  });
  if (outcome.starts_with('-')) {
    last_error_ = outcome.substr(1);
    log::error("checkpoint", fmt::format("not saved: {}", last_error_));
    return "";
  }
  last_error_.clear();
  latest_ = outcome.substr(1);
  if (!first(s)) return latest_;
  point_latest(path);
  std::erase_if(saved_, [&](const auto& f) { return f.first == path; });
  saved_.emplace_back(path, now_seconds());
  rotate();
  return path;
}

void ModelCheckpoint::write(const TrainState& s, const std::string& path) const { save_train_state(s, path, config_.save_optimizer, config_.mindspore1); }

void ModelCheckpoint::rotate() {
  if (saved_.empty()) return;
  std::vector<double> ages;  // in minutes; for files of earlier processes so large that the rule by minutes does not apply
  for (const auto& [path, time] : saved_) ages.push_back((now_seconds() - time) / 60);
  ages.pop_back();
  const std::vector<size_t> superfluous = checkpoints_to_remove(ages, {config_.keep_checkpoint_max, config_.keep_checkpoint_per_n_minutes});
  for (auto i = superfluous.rbegin(); i != superfluous.rend(); ++i) {
    remove_checkpoint(saved_[*i].first);
    saved_.erase(saved_.begin() + static_cast<std::ptrdiff_t>(*i));
  }
}

}  // namespace sindri::train
