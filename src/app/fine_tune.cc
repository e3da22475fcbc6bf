// See fine_tune.h.
#include "src/app/fine_tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/app/build.h"
#include "src/app/settings_tune.h"
#include "src/train/atomic_file.h"
#include "src/train/first_rank.h"

namespace sindri::app {

namespace {

train::InitMatch match_of(const Settings& s) {
  const std::string name = s.get_string("train.init_match");
  return name == "all" ? train::InitMatch::kAll : name == "any" ? train::InitMatch::kAny : train::InitMatch::kHead;
}

std::string from(const Settings& s, const char* setting) { return fmt::format("{}, from {}", setting, s.origin(setting)); }

// Writes the messages from before the run folder was opened to its log.
class StartLog final : public train::Callback {
 public:
  explicit StartLog(Session* s) : s_(s) {}
  void begin(train::TrainState&) override {
    for (const std::string& note : s_->start_notes) s_->folder->log(note);
  }

 private:
  Session* s_;
};

// Returns (epoch, value) of the resumed run's evaluations in the run folder; all ranks receive rank 0's. Used for checkpoints without callback states.
std::vector<std::pair<int64_t, double>> earlier_values(const Session& s, const std::string& metric, int64_t every) {
  if (!s.request.resume) return {};
  const int64_t done = s.options.initial_epoch - (s.options.epoch_not_ended ? 1 : 0);
  const std::string text = s.group.from_first("earlier evaluations", [&] {
    nlohmann::json j = nlohmann::json::array();
    for (const EventValues& values : s.folder->epoch_rows()) {
      const std::map<std::string, double> row(values.begin(), values.end());
      const auto value = row.find("eval_" + metric);
      const auto epoch = static_cast<int64_t>(row.at("epoch"));
      // An evaluation made only because the run ended does not count in a run that continues.
      if (value != row.end() && epoch <= done && epoch % every == 0) j.push_back({epoch, value->second});
    }
    return j.dump();
  });
  std::vector<std::pair<int64_t, double>> out;
  for (const nlohmann::json& pair : nlohmann::json::parse(text)) out.emplace_back(pair[0].get<int64_t>(), pair[1].is_number() ? pair[1].get<double>() : NAN);
  return out;
}

struct Kept {
  int64_t epoch = 0;  // 0: nothing is kept
  double value = NAN;
};

// Returns the evaluation that best.ckpt belongs to, unless it was made after the present step. No other checkpoint holds the final evaluation of a finished
// run.
Kept kept_best(const Session& s, const std::string& path) {
  const train::TrainOptions& o = s.options;
  if (!s.request.resume || s.resumed_from.empty()) return {};
  const std::string text = s.group.from_first("best checkpoint", [&]() -> std::string {
    try {
      if (!train::file_exists(path, "checkpoint")) return "{}";
      const train::TrainPosition p = train::position_of(train::load_checkpoint(path));
      const bool later = p.step > o.initial_total || (p.step == o.initial_total && o.epoch_not_ended);
      const nlohmann::json states = nlohmann::json::parse(p.callbacks, nullptr, false);
      return later || !states.is_object() ? "{}" : states.at("cpp").at("keep_best").at(0).get<std::string>();
    } catch (const std::exception& e) {  // best.ckpt is of an earlier version or damaged: the resumed checkpoint decides
      log::debug("train", e.what());
      return "{}";
    }
  });
  if (text == "{}") return {};
  train::KeepBest kept({.metric = s.best->metric()});
  kept.load_state(text);
  return {kept.best_epoch(), kept.best_value()};
}

// Evaluations and patience count as in an uninterrupted run. If no better evaluation follows until the end, best.ckpt stays as it was.
class AdoptBest final : public train::Callback {
 public:
  AdoptBest(std::shared_ptr<train::KeepBest> best, Kept kept) : best_(std::move(best)), kept_(kept) {}
  void begin(train::TrainState&) override { epoch_ = best_->best_epoch(); }  // the checkpoint's state is loaded by now
  void end(train::TrainState&) override {
    if (kept_.epoch > 0 && best_->best_epoch() == epoch_) best_->adopt(kept_.epoch, kept_.value);
  }

 private:
  std::shared_ptr<train::KeepBest> best_;
  Kept kept_;
  int64_t epoch_ = 0;
};

bool larger_is_better(const Settings& s, const std::string& metric) {
  const std::string mode = s.get_string("train.early_stop.mode");
  return mode == "auto" ? metric != "loss" : mode == "max";
}

}  // namespace

void freeze_parts(Session* s) {
  const Settings& set = s->settings;
  const std::vector<std::string> patterns = set.get_texts("train.freeze");
  if (patterns.empty()) return;
  try {
    s->frozen = train::freeze(*s->network, patterns, set.get_string("train.frozen_bn") == "batch" ? train::FrozenNorm::kBatch : train::FrozenNorm::kFixed);
  } catch (const ValueError& e) { throw SettingsError(e.message(), from(set, "train.freeze"), e.fix()); }
}

std::string frozen_text(const Session& s) {
  if (s.frozen.parameters.empty()) return "";
  std::string out = fmt::format("frozen: {} parameters with {} of {} elements", s.frozen.parameters.size(), s.frozen.elements,
                                s.frozen.elements + s.network->num_parameters());
  if (!s.frozen.fixed_norms.empty()) out += fmt::format("; {} batch norms use their moving averages, which do not change", s.frozen.fixed_norms.size());
  return out;
}

void init_from(Session* s, const std::string& path) {
  const Settings& set = s->settings;
  train::InitReport report;
  try {
    report = train::init_weights(*s->network, *s->start_file, {.match = match_of(set), .skip = set.get_texts("train.init_skip")});
  } catch (const ValueError& e) { throw SettingsError(e.message(), from(set, "train.init_skip"), e.fix()); } catch (const CheckpointError& e) {
    if (e.code() != ErrorCode::kCheckpointMismatch) throw;
    const bool foreign = e.fix().find("convert") != std::string::npos;
    throw CheckpointError(e.code(), e.message(), e.where(),
                          foreign ? e.fix()
                                  : "use the net of the weights (--set model.name=NET), skip parts (train.init_skip), or load what matches "
                                    "(train.init_match: head, or any)");
  }
  const std::string text = fmt::format("weights of {}: {}", path, report.table());
  if (s->request.dry_run && s->group.first()) std::fputs((text + "\n").c_str(), stdout);
  s->say(text);
  s->start_notes.push_back(text);
  for (const std::string& name : report.names.loaded) s->start_notes.push_back("loaded: " + name);
  const std::vector<std::string> head = train::head_parameters(*s->network);
  const bool kept_head = std::any_of(report.names.loaded.begin(), report.names.loaded.end(),
                                     [&](const std::string& n) { return std::find(head.begin(), head.end(), n) != head.end(); });
  const std::string difference = class_difference(train::class_names_of(*s->start_file), s->data.folder_names);
  if (kept_head && !difference.empty() && s->group.first())
    log::warn("train",
              fmt::format("{}; the last layer has the same number of classes and was loaded; train.init_skip: [{}] initialises it instead", difference,
                          head[0].substr(0, head[0].rfind('.'))));
}

void add_tuning_callbacks(Session* s, std::vector<train::CallbackPtr>* list) {
  if (s->folder != nullptr && !s->start_notes.empty()) list->push_back(std::make_shared<StartLog>(s));
  const Settings& set = s->settings;
  const std::string metric = watched_metric(set);
  if (metric.empty()) return;
  const bool stops = !set.get_string("train.early_stop.metric").empty();
  const bool keeps = !set.get_string("checkpoint.keep_best").empty() || set.get_bool("train.early_stop.restore_best");
  const int64_t every = set.get_int("train.eval_interval");
  s->best = std::make_shared<train::KeepBest>(train::BestOptions{.metric = metric,
                                                                 .larger_is_better = larger_is_better(set, metric),
                                                                 .min_delta = set.get_float("train.early_stop.min_delta"),
                                                                 .patience = stops ? set.get_int("train.early_stop.patience") : 0,
                                                                 .file = keeps ? s->run_dir + "/checkpoints/best.ckpt" : "",
                                                                 .mindspore1 = set.get_string("checkpoint.compat") == "mindspore1",
                                                                 .earlier = earlier_values(*s, metric, every)});
  if (keeps) list->push_back(std::make_shared<AdoptBest>(s->best, kept_best(*s, s->best->file())));
  list->push_back(s->best);
}

bool restore_best(Session* s) {
  if (!s->best || s->best->best_epoch() == 0) return false;
  if (!s->best->file().empty() && s->best->last_error().empty()) s->report.best_checkpoint = s->best->file();
  if (s->settings.get_string("train.early_stop.metric").empty() || !s->settings.get_bool("train.early_stop.restore_best")) return false;
  const int64_t best = s->best->best_epoch();
  const std::string path = s->best->file();
  // If the last evaluation is the best, the network already has its weights.
  const bool there = best == s->epoch && s->evaluated_at == s->steps_done && s->evaluations > 0;
  const std::string found = s->group.from_first("best checkpoint", [&] { return train::file_exists(path, "checkpoint") ? path : std::string(); });
  if (found.empty()) {
    s->report.best_checkpoint.clear();
    if (!there && s->group.first())
      log::warn("train", fmt::format("the checkpoint of the best evaluation does not exist: the last weights are kept ({})", path));
    return false;
  }
  if (there) return false;
  train::LoadedCheckpoint file;
  if (!s->group.several() || s->settings.get_bool("dist.load_local")) {
    file = train::load_checkpoint(path);
  } else {
    s->group.from_first("best checkpoint", [&] {
      file = train::load_checkpoint(path);
      return "";
    });
    train::broadcast_checkpoint(*s->group.world(), &file);
  }
  train::load_training_state(file, *s->network, *s->optimizer, s->model->loss_scale_manager().get(), s->model->algorithm_state());
  return true;
}

std::string best_text(const Session& s) {
  if (!s.best || s.best->best_epoch() == 0) return "";
  const std::string best = fmt::format("{} {:.4f} at epoch {}", s.best->metric(), s.best->best_value(), s.best->best_epoch());
  if (!s.best->exhausted()) return "best: " + best;
  return fmt::format("stopped early: {} evaluations without a better {}; best: {}", s.settings.get_int("train.early_stop.patience"), s.best->metric(), best);
}

}  // namespace sindri::app
