// See training_state.h.
#include "sindri/train/training_state.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/random.h"
#include "sindri/train/boost.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/checkpoint_fit.h"
#include "sindri/train/cipher.h"

namespace sindri::train {

namespace {

constexpr const char* kRngEntry = "sindri.rng_state";
constexpr const char* kPositionEntry = "sindri.position";
constexpr const char* kOfRanks = "sindri.of_ranks.";

using Named = std::vector<std::pair<std::string, Parameter*>>;

Named all_state(nn::Cell& network, optim::Optimizer* optimizer, LossScaleManager* scale, const std::vector<Parameter*>& algorithm_state) {
  Named named = network.parameters_and_names();
  if (optimizer == nullptr) return named;
  for (Parameter* p : optimizer->state()) named.emplace_back(p->name(), p);
  if (scale != nullptr)
    for (Parameter* p : scale->state()) named.emplace_back(p->name(), p);
  for (Parameter* p : algorithm_state) named.emplace_back(p->name(), p);
  return named;
}

}  // namespace

std::vector<CheckpointEntry> training_state_entries(const TrainPosition& position) {
  const nlohmann::json j = {{"version", 1},
                            {"epoch", position.epoch},
                            {"step_in_epoch", position.step_in_epoch},
                            {"step", position.step},
                            {"dataset_state", position.dataset_state},
                            {"settings_hash", position.settings_hash},
                            {"data_fingerprint", position.data_fingerprint},
                            {"class_names", position.class_names},
                            {"counts", {position.counts.skipped, position.counts.overflow, position.counts.nonfinite, position.counts.nonfinite_in_epoch}},
                            {"record", position.record},
                            {"callbacks", position.callbacks},
                            {"epoch_open", position.epoch_open},
                            {"samples", position.samples},
                            {"global_batch", position.global_batch},
                            {"virtual_ranks", position.virtual_ranks},
                            {"ranks", position.ranks}};
  std::vector<CheckpointEntry> out = {CheckpointEntry::of(kRngEntry, ops::rng_state().stored()), CheckpointEntry::text(kPositionEntry, j.dump())};
  for (const auto& [name, tensor] : position.of_ranks) out.push_back(CheckpointEntry::of(kOfRanks + name, tensor));
  return out;
}

void save_training_state(const std::string& path, nn::Cell& network, optim::Optimizer* optimizer, const TrainPosition& position,
                         const SaveStateOptions& options) {
  std::vector<CheckpointEntry> entries;
  for (const auto& [name, p] : all_state(network, options.save_optimizer ? optimizer : nullptr, options.loss_scale_manager, options.algorithm_state))
    entries.push_back(CheckpointEntry::of(name, p->stored()));
  entries.push_back(CheckpointEntry::number("epoch_num", position.step_in_epoch > 0 ? position.epoch + 1 : position.epoch));
  entries.push_back(CheckpointEntry::number("step_num", position.step));
  for (CheckpointEntry& e : training_state_entries(position)) {
    if (options.save_optimizer || e.name == kPositionEntry) entries.push_back(std::move(e));
  }
  save_checkpoint(entries, path, {.compat_mindspore1 = options.mindspore1});
}

TrainPosition position_of(const LoadedCheckpoint& file) {
  if (file.find(kPositionEntry) == nullptr || file.find(kRngEntry) == nullptr)
    throw CheckpointError("the checkpoint holds weights but no training state", file.path, "start a new run from its weights (sindri train --checkpoint)");
  try {
    const nlohmann::json j = nlohmann::json::parse(file.text(kPositionEntry));
    if (j.at("version").get<int>() != 1)
      throw CheckpointError("the training state is of a newer version of Sindri", file.path, "use the version that wrote it");
    TrainPosition p = {.epoch = j.at("epoch"),
                       .step_in_epoch = j.at("step_in_epoch"),
                       .step = j.at("step"),
                       .dataset_state = j.at("dataset_state"),
                       .settings_hash = j.at("settings_hash"),
                       .data_fingerprint = j.value("data_fingerprint", ""),  // this field and the following ones were added later
                       .class_names = j.value("class_names", std::vector<std::string>()),
                       .counts = {},
                       .record = j.value("record", ""),
                       .callbacks = j.value("callbacks", ""),
                       .epoch_open = j.value("epoch_open", false),
                       .samples = j.value("samples", int64_t{0}),
                       .global_batch = j.value("global_batch", int64_t{0}),
                       .virtual_ranks = j.value("virtual_ranks", int64_t{0}),
                       .ranks = j.value("ranks", int64_t{0}),
                       .of_ranks = {}};
    for (const CheckpointEntry& e : file.entries)
      if (e.kind == CheckpointEntry::kTensor && e.name.starts_with(kOfRanks)) p.of_ranks.emplace_back(e.name.substr(std::strlen(kOfRanks)), e.tensor);
    if (const auto counts = j.value("counts", std::vector<int64_t>()); counts.size() == 4) p.counts = {counts[0], counts[1], counts[2], counts[3]};
    return p;
  } catch (const nlohmann::json::exception& e) {
    throw CheckpointError(ErrorCode::kCheckpointCorrupt, std::string("the training position cannot be read: ") + e.what(), file.path,
                          "use an older checkpoint of the run, or copy the file again");
  }
}

namespace {

ReadState fit_training_state(const LoadedCheckpoint& file, std::vector<WantedParam> wanted, bool others_allowed) {
  ReadState out{.position = position_of(file), .values = {}};
  // A rate table has one entry per step. One of another length belongs to another number of epochs, and the optimizer keeps its own.
  std::erase_if(wanted, [&](const WantedParam& w) {
    const CheckpointEntry* e = w.name.starts_with("learning_rate") && w.shape.rank() == 1 ? file.find(w.name) : nullptr;
    return e != nullptr && e->kind == CheckpointEntry::kTensor && e->tensor.rank() == 1 && e->tensor.shape() != w.shape;
  });
  wanted.push_back({kRngEntry, ops::rng_state().dtype(), ops::rng_state().shape()});
  CheckpointFit fit = fit_checkpoint(wanted, file.entries, true);
  const LoadReport& r = fit.report;
  if (!r.missing.empty() || !r.mismatched.empty() || (!r.unexpected.empty() && !others_allowed)) {
    const std::string what =
        r.missing.empty() ? "the checkpoint does not match the training run" : fmt::format("the checkpoint lacks {} of the run's parameters", r.missing.size());
    throw CheckpointError(ErrorCode::kCheckpointMismatch, fmt::format("{}: {}", what, r.table()), file.path,
                          "use the network, optimizer, loss scale and training algorithms of the saved run");
  }
  out.values = std::move(fit.values);
  return out;
}

}  // namespace

ReadState read_training_state(const std::string& given, std::vector<WantedParam> wanted, bool others_allowed, const std::string& dec_key,
                              const std::string& dec_mode, const MoreWanted& more) {
  const bool is_folder = std::filesystem::is_directory(given);
  const std::string path = is_folder ? find_newest_checkpoint(given, "", dec_key, dec_mode) : given;
  if (path.empty()) throw CheckpointError("there is no checkpoint in the folder", given, "name a folder that contains a run's checkpoints");
  const LoadedCheckpoint file = dec_key.empty() ? load_checkpoint(path) : load_sealed_checkpoint(path, dec_key, dec_mode);
  if (more)
    for (WantedParam& w : more(file.entries)) wanted.push_back(std::move(w));
  return fit_training_state(file, std::move(wanted), others_allowed);
}

TrainPosition load_training_state(const std::string& path, nn::Cell& network, optim::Optimizer& optimizer, LossScaleManager* loss_scale_manager,
                                  const std::vector<Parameter*>& algorithm_state) {
  const std::string file = std::filesystem::is_directory(path) ? find_newest_checkpoint(path) : path;
  if (file.empty()) throw CheckpointError("there is no checkpoint in the folder", path, "name a folder that contains a run's checkpoints");
  return load_training_state(load_checkpoint(file), network, optimizer, loss_scale_manager, algorithm_state);
}

TrainPosition load_training_state(const LoadedCheckpoint& file, nn::Cell& network, optim::Optimizer& optimizer, LossScaleManager* loss_scale_manager,
                                  const std::vector<Parameter*>& algorithm_state) {
  std::map<std::string, TensorMeta> stored;
  for (const CheckpointEntry& e : file.entries)
    if (e.kind == CheckpointEntry::kTensor) stored[e.name] = e.tensor.meta();
  optimizer.expect_state(stored);
  std::map<std::string, Parameter*> by_name;
  std::vector<WantedParam> wanted;
  for (const auto& [name, p] : all_state(network, &optimizer, loss_scale_manager, algorithm_state)) {
    wanted.push_back({name, p->dtype(), p->shape()});
    by_name[name] = p;
  }
  by_name[kRngEntry] = &ops::rng_state();
  const ReadState state = fit_training_state(file, std::move(wanted), false);
  for (const auto& [name, value] : state.values) by_name.at(name)->assign(value);
  return state.position;
}

std::vector<std::string> class_names_of(const LoadedCheckpoint& checkpoint) {
  const CheckpointEntry* position = checkpoint.find(kPositionEntry);
  if (position == nullptr || position->kind != CheckpointEntry::kText) return {};
  const nlohmann::json j = nlohmann::json::parse(position->data, nullptr, false);
  try {
    return j.is_object() ? j.value("class_names", std::vector<std::string>()) : std::vector<std::string>();
  } catch (const nlohmann::json::exception&) { return {}; }  // written by a program that uses the name for something else
}

namespace {

// Until the algorithm starts, the entries of its weights exist with their values from before training.
bool has_taken_in(const LoadedCheckpoint& file, const std::string& which) {
  const CheckpointEntry* count = file.find(boosts().find(which).facts.weights_count);
  return count == nullptr || count->kind != CheckpointEntry::kTensor || count->tensor.numel() != 1 || count->tensor.item() != 0;
}

std::string not_begun(const std::string& which) {
  return fmt::format("the training algorithm '{}' has no weights yet: {} is 0", which, boosts().find(which).facts.weights_count);
}

}  // namespace

LoadedCheckpoint with_weights(LoadedCheckpoint file, const std::string& which) {
  if (which == "trained") return file;
  check_keeps_weights(which);
  if (!has_taken_in(file, which)) {
    if (comm::world().rank() == 0) log::warn("checkpoint", fmt::format("{}: {}; the trained weights are used", file.path, not_begun(which)));
    return file;
  }
  const std::string prefix = which + ".";
  std::set<std::string> replaced;
  for (const CheckpointEntry& e : file.entries) {
    if (e.name.starts_with(prefix)) replaced.insert(e.name.substr(prefix.size()));
  }
  if (replaced.empty())
    throw CheckpointError(fmt::format("the checkpoint holds no weights of the training algorithm '{}'", which), file.path,
                          fmt::format("it was trained without boost.{}.enabled, or saved without its state: use the trained weights", which));
  std::erase_if(file.entries, [&](const CheckpointEntry& e) { return replaced.contains(e.name); });
  for (CheckpointEntry& e : file.entries) {
    if (e.name.starts_with(prefix)) e.name.erase(0, prefix.size());
  }
  return file;
}

std::vector<std::string> load_weights(const std::string& path, nn::Cell& network, const std::string& which) {
  const LoadedCheckpoint file = with_weights(load_checkpoint(path), which);
  load_param_into_net(network.parameters_and_names(), file, true);
  return class_names_of(file);
}

std::string export_weights(const std::string& checkpoint, const std::string& which, const std::string& output) {
  const LoadedCheckpoint file = load_checkpoint(checkpoint);
  // Nothing in the file marks the trained weights' entries; the others have names.
  if (which == "trained") throw ValueError("the checkpoint itself holds the trained weights", checkpoint, "name the training algorithm whose weights to write");
  check_keeps_weights(which);
  if (!has_taken_in(file, which))
    throw CheckpointError(not_begun(which), checkpoint,
                          fmt::format("use the checkpoint as it is, with the trained weights, or set boost.{}.start to a step of the run", which));
  const LoadedCheckpoint chosen = with_weights(file, which);
  std::vector<CheckpointEntry> entries;
  for (const CheckpointEntry& e : chosen.entries) {
    if (file.find(which + "." + e.name) != nullptr) entries.push_back(e);
  }
  const nlohmann::json names = {{"version", 1}, {"class_names", class_names_of(file)}};
  entries.push_back(CheckpointEntry::text(kPositionEntry, names.dump()));
  return save_checkpoint(entries, output);
}

}  // namespace sindri::train
