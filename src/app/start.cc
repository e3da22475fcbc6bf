// The start of a run: its run folder, and the checkpoint that provides its weights or its whole state.
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>

#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/op/kernel_choice.h"
#include "src/app/build.h"
#include "src/app/fine_tune.h"
#include "src/app/session.h"
#include "src/train/atomic_file.h"
#include "src/train/first_rank.h"

namespace sindri::app {

std::string without_times(std::string fingerprint) {
  for (size_t at = 0; (at = fingerprint.find(" times:")) != std::string::npos;) fingerprint.erase(at, 7 + 16);
  return fingerprint;
}

namespace {

// Different files end a resume. If only their times differ, they may have been copied.
void check_fingerprint(const std::string& before, const std::string& now, const Session& s) {
  if (before.empty() || before == now) return;
  const auto kind = [](const std::string& text) { return text.substr(0, text.find(':')); };
  if (kind(before) != kind(now)) {
    log::warn("train", "data.fingerprint differs from before, so it is not known whether the data is the same");
  } else if (without_times(before) != without_times(now)) {
    throw DataError(fmt::format("the data differs from the start of the run: its fingerprint was {} and is {} now", before, now), s.data.description,
                    "restore the files; to continue with other data, start a new run from these weights: --checkpoint FILE without --resume");
  } else {
    log::warn("train",
              "the times of the data files differ from the start of the run; if the files were changed, the result will not be that of an uninterrupted run");
  }
}

// Returns the checkpoint to resume from; empty if no step was saved yet.
std::string find_start(const Session& s) {
  if (!s.request.checkpoint.empty()) return s.request.checkpoint;
  const std::string run = s.run_dir.empty() ? s.settings.get_string("train.run_dir") : s.run_dir, folder = run + "/checkpoints";
  if (run.empty()) return "";
  // A link to a disk that is not mounted does not mean a run without checkpoints.
  struct stat link {};
  if (lstat(folder.c_str(), &link) != 0 && errno == ENOENT) return "";
  return train::find_newest_checkpoint(folder);
}

// Returns whether the last epoch has steps whose row was not written when the Recorder made this record.
bool epoch_is_open(const std::string& record) {
  const nlohmann::json j = nlohmann::json::parse(record, nullptr, false);
  return j.is_object() && j.contains("samples") && j["samples"].is_number_integer() && j["samples"].get<int64_t>() > 0;
}

// Reads the checkpoint, unless look_at_start has. Returns its path; empty if there is nothing to start from.
std::string read_start(Session* s) {
  if (s->start_file) return s->start_file->path;
  if (!s->request.checkpoint.empty()) require_checkpoint(s->request.checkpoint);
  const std::string path = find_start(*s);
  if (!path.empty()) s->start_file = train::load_weights_file(path);
  return path;
}

// Reads the weights of train.init_from.
std::string read_init(Session* s) {
  const std::string path = s->settings.get_string("train.init_from");
  if (!train::file_exists(path, "weights"))
    throw CheckpointError("the file of weights does not exist", path,
                          fmt::format("check train.init_from, which is from {}", s->settings.origin("train.init_from")));
  s->start_file = train::load_weights_file(path);
  return path;
}

std::string contents_hash(const train::LoadedCheckpoint& file) {
  uint64_t hash = 0;
  for (const train::CheckpointEntry& e : file.entries) {
    hash = XXH64(e.name.data(), e.name.size(), hash);
    hash = XXH64(e.data.data(), e.data.size(), hash);
    if (e.kind != train::CheckpointEntry::kTensor) continue;
    const Tensor t = e.tensor.contiguous();
    hash = XXH64(t.raw_data(), static_cast<size_t>(t.nbytes()), hash);
  }
  return fmt::format("{:016x}", hash);
}

// Called on every rank: rank 0 names the file and reads it for all; with dist.load_local each rank reads it.
std::string read_on_all(Session* s, std::string (*read)(Session*)) {
  const Group& group = s->group;
  if (!group.several()) return read(s);
  const bool local = s->settings.get_bool("dist.load_local");
  const std::string path = group.from_first("checkpoint to start from", [&] { return read(s); });
  if (path.empty()) return path;
  if (local) {
    if (!s->start_file || !group.first()) s->start_file = train::load_weights_file(path);
    train::check_same_on_all(*group.world(), "checkpoints", "contents: " + contents_hash(*s->start_file));
  } else {
    if (!s->start_file) s->start_file.emplace();
    train::broadcast_checkpoint(*group.world(), &*s->start_file);
  }
  return path;
}

// If each step has as many samples as before, the run continues as if uninterrupted. Otherwise the position is converted by the number of samples.
void place_by_samples(Session* s, const train::TrainPosition& p) {
  const int64_t now = s->global_batch(), before = p.global_batch;
  const bool done = p.epoch >= s->settings.get_int("train.epochs");  // no step is left that could differ
  if (before == 0 || before == now || done) return;
  if (!s->request.allow_batch_change) {
    const int64_t batch = s->settings.get_int("train.batch_size");
    std::string fix = "--allow-batch-change, and check the learning rate; or restore it: ";
    if (before % batch == 0 && before / batch % s->parts.ranks == 0) fix += fmt::format("--set dist.virtual_ranks={}", before / batch);
    else if (before % s->parts.virtual_ranks == 0) fix += fmt::format("--set train.batch_size={}", before / s->parts.virtual_ranks);
    else fix += fmt::format("as many ranks as divide {} samples", before);
    throw SettingsError(fmt::format("the global batch was {} samples and is {} now ({} virtual ranks of {})", before, now, s->parts.virtual_ranks, batch),
                        "train.batch_size, dist.virtual_ranks and the number of ranks", fix);
  }
  train::TrainOptions& o = s->options;
  const int64_t seen = p.step_in_epoch * before, steps = (seen + now - 1) / now;
  o.dataset_state.clear();
  o.initial_step = steps;
  if (steps >= s->steps_per_epoch) {
    ++o.initial_epoch;
    o.initial_step = 0;
  }
  o.initial_total = o.initial_epoch * s->steps_per_epoch + o.initial_step;
  const int64_t passed = steps * now - seen;
  s->say(fmt::format("the global batch was {} samples and is {} now: the epoch continues after its sample {}{}", before, now, steps * now,
                     passed == 0 ? "" : fmt::format("; {} samples are skipped, so that a step starts there", passed)));
}

void resume(Session* s, const std::string& path) {
  // Settings take precedence, even for values stored with the state that changes in each step.
  std::vector<std::pair<Parameter*, Tensor>> from_settings;
  for (Parameter* state : s->optimizer->state()) {
    // With optimizer.groups every group has its own rate, "learning_rate_group_1".
    if (state->name().starts_with("learning_rate") || state->name() == "momentum") from_settings.emplace_back(state, state->stored());
  }
  train::TrainPosition p =
      train::load_training_state(*s->start_file, *s->network, *s->optimizer, s->model->loss_scale_manager().get(), s->model->algorithm_state());
  for (const auto& [state, value] : from_settings) state->store(value);
  check_classes(p.class_names, s->data.folder_names, path);
  check_fingerprint(p.data_fingerprint, s->data.fingerprint, *s);
  s->same_settings = p.settings_hash.empty() || p.settings_hash == s->settings.hash();
  if (!s->same_settings && s->group.first())
    log::warn("train", fmt::format("the settings differ from those {} was trained with; the result will not be that of an uninterrupted run", path));
  train::TrainOptions& o = s->options;
  o.initial_epoch = p.epoch;
  o.initial_step = p.step_in_epoch;
  o.initial_total = p.step;
  if (p.global_batch > 0) o.initial_samples = p.samples;
  o.dataset_state = p.dataset_state;
  o.initial_counts = p.counts;
  o.record = p.record;
  s->model->restore_of_ranks(std::move(p.of_ranks));
  o.callbacks = p.callbacks;
  place_by_samples(s, p);
  o.epoch_not_ended = o.initial_epoch > 0 && o.initial_step == 0 && (p.epoch_open || epoch_is_open(p.record));
  s->resumed_from = path;
  s->say(fmt::format("resuming from {} (epoch {}, step {} of the epoch)", path, o.initial_epoch + 1, o.initial_step));
  if (p.ranks > 0 && p.ranks != s->parts.ranks) s->say(fmt::format("it was saved by {} ranks, there are {} now", p.ranks, s->parts.ranks));
}

}  // namespace

// load_start reports errors in the file, once everything else is known to be right.
void look_at_start(Session* s) {
  int64_t wanted = s->settings.get_int("dist.virtual_ranks");
  if (s->request.resume && wanted == 0) {
    const std::string saved = s->group.from_first("virtual ranks", [&]() -> std::string {
      try {
        return read_start(s).empty() ? "0" : std::to_string(train::position_of(*s->start_file).virtual_ranks);
      } catch (const Error&) { return "0"; }
    });
    // If the ranks cannot share the saved number evenly, load_start handles the difference.
    if (const int64_t v = std::stoll(saved); v % s->group.size() == 0) wanted = v;
  }
  s->parts = parts_of(s->group, wanted);
}

void open_folder(Session* s) {
  const Settings& set = s->settings;
  const std::string& dir = set.get_string("train.run_dir");
  if (s->request.resume && dir.empty() && s->request.checkpoint.empty())
    throw SettingsError("--resume needs the run folder to continue", "command line", "give --set train.run_dir=DIR or --checkpoint FILE");
  const std::string made = s->group.from_first("run folder", [&] {
    s->folder = std::make_unique<RunFolder>(dir, net_name(set));
    nlohmann::json j = {{"path", s->folder->path()}, {"kernels", nlohmann::json::object()}};
    if (s->request.resume) j["kernels"] = s->folder->recorded_kernel_choices();
    if (s->folder->continued() && !s->request.resume)
      throw IoError(ErrorCode::kRunFolderBusy, fmt::format("{} holds an earlier run", s->folder->path()), s->folder->path(),
                    "continue it with --resume, or choose another train.run_dir");
    return j.dump();
  });
  const nlohmann::json j = nlohmann::json::parse(made);
  s->run_dir = j.at("path");
  if (s->request.resume) set_kernel_choices(j.at("kernels").get<std::map<std::string, std::string>>());
  if (!s->group.first()) s->rank_log = std::make_unique<RankLog>(s->group, s->run_dir);
}

void load_start(Session* s) {
  const TrainRequest& r = s->request;
  s->options.class_names = s->data.folder_names;
  s->options.data_fingerprint = s->data.fingerprint;
  const bool inits = !s->settings.get_string("train.init_from").empty();
  if (inits && !r.resume && !r.checkpoint.empty())
    throw SettingsError("two files of initial weights are given",
                        fmt::format("--checkpoint {} and train.init_from, from {}", r.checkpoint, s->settings.origin("train.init_from")),
                        "remove one of the two");
  std::string path;
  if (r.resume || !r.checkpoint.empty()) path = read_on_all(s, read_start);
  if (r.resume && path.empty()) s->say("no checkpoint to resume from yet: starting from the beginning");
  if (r.resume && !path.empty()) {
    resume(s, path);
  } else if (inits) {
    init_from(s, read_on_all(s, read_init));
  } else if (!path.empty()) {
    const std::string difference = class_difference(load_weights(*s->start_file, *s->network), s->data.folder_names);
    if (!difference.empty() && s->group.first()) log::warn("train", fmt::format("{}: {}", path, difference));
  }
  s->start_file.reset();
}

}  // namespace sindri::app
