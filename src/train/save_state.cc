// See save_state.h.
#include "src/train/save_state.h"

#include <map>
#include <nlohmann/json.hpp>

#include "sindri/comm/communicator.h"
#include "sindri/train/boost.h"
#include "sindri/train/training_state.h"
#include "src/train/first_rank.h"

namespace sindri::train {

// {"cpp": {name: [state, …]}}, one state per callback of that name; empty if no callback has a state.
std::string states_of(const std::vector<Callback*>& callbacks) {
  nlohmann::json states = nlohmann::json::object();
  for (const Callback* c : callbacks)
    if (const std::string name = c->state_name(); !name.empty()) states[name].push_back(c->state());
  return states.empty() ? "" : nlohmann::json({{"cpp", states}}).dump();
}

void load_states(const std::vector<Callback*>& callbacks, const std::string& text) {
  const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("cpp")) return;  // none, or those of another language's callbacks
  std::map<std::string, size_t> next;
  for (Callback* c : callbacks) {
    const std::string name = c->state_name();
    if (name.empty() || !j["cpp"].contains(name)) continue;
    if (const size_t n = next[name]++; n < j["cpp"][name].size()) c->load_state(j["cpp"][name][n]);
  }
}

void save_train_state(const TrainState& s, const std::string& path, bool save_optimizer, bool mindspore1) {
  const bool complete = s.epoch_complete;
  const TrainPosition position{.epoch = complete ? s.cur_epoch_num : s.cur_epoch_num - 1,
                               .step_in_epoch = complete ? 0 : s.step_in_epoch(),
                               .step = s.cur_step_num,
                               .dataset_state = s.dataset_state,
                               .settings_hash = s.settings_hash,
                               .data_fingerprint = s.data_fingerprint,
                               .class_names = s.class_names,
                               .counts = s.counts(),
                               .record = s.record,
                               .callbacks = states_of(s.callbacks),
                               .epoch_open = complete && !s.epoch_ending,
                               .samples = s.global_samples,
                               .global_batch = s.global_batch > 0 ? s.global_batch : s.batch_size,
                               .virtual_ranks = s.virtual_ranks,
                               .ranks = s.ranks == nullptr ? 1 : s.ranks->size(),
                               .of_ranks = s.of_ranks};
  std::vector<Parameter*> algorithm_state;
  for (const auto& a : s.algorithms) {
    for (Parameter* p : a->state()) algorithm_state.push_back(p);
  }
  save_training_state(path, *s.network, s.optimizer, position, {save_optimizer, mindspore1, s.loss_scale_manager, algorithm_state});
}

std::string on_first_rank(const TrainState& s, const char* what, const std::function<std::string()>& f) {
  return s.ranks == nullptr ? f() : from_first_rank(*s.ranks, what, f);
}

}  // namespace sindri::train
