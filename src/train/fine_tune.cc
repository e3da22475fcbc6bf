// See sindri/train/fine_tune.h.
#include "sindri/train/fine_tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sindri/core/error.h"
#include "sindri/core/name_pattern.h"
#include "sindri/nn/norm.h"
#include "sindri/train/checkpoint_fit.h"

namespace sindri::train {

namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return name_matches(p, name); });
}

// True for layers that differ in their number of outputs only: "f32[10, 512]" and "f32[20, 512]".
bool other_width(const Shape& a, const Shape& b) { return a.rank() == b.rank() && a.rank() > 0 && std::equal(a.begin() + 1, a.end(), b.begin() + 1); }

// A pattern that matches nothing on either side is misspelt.
void check_skips(const std::vector<std::string>& skip, const std::vector<WantedParam>& wanted, const LoadedCheckpoint& weights) {
  if (skip.empty()) return;
  std::vector<std::string> names;
  for (const WantedParam& w : wanted) names.push_back(w.name);
  for (const CheckpointEntry& e : weights.entries) names.push_back(e.name);
  match_names(skip, names, "parts to skip");
}

// Moves mismatched and missing names of the last layer to `replaced` if the layer has another width or is missing completely.
void take_head_out(const std::vector<std::string>& head, const std::map<std::string, WantedParam>& wanted, const LoadedCheckpoint& weights,
                   InitReport* report) {
  const std::string& prefix = report->names.stripped_prefix;
  const auto in_head = [&](const std::string& name) { return std::find(head.begin(), head.end(), name) != head.end(); };
  const auto has_other_width = [&](const LoadReport::Mismatch& m) {
    if (!in_head(m.name)) return false;
    const CheckpointEntry* e = weights.find(m.name);
    if (e == nullptr) e = weights.find(prefix + m.name);
    return e != nullptr && e->kind == CheckpointEntry::kTensor && other_width(e->tensor.shape(), wanted.at(m.name).shape);
  };
  LoadReport& r = report->names;
  const bool all_missing =
      std::all_of(head.begin(), head.end(), [&](const std::string& name) { return std::find(r.missing.begin(), r.missing.end(), name) != r.missing.end(); });
  for (const LoadReport::Mismatch& m : r.mismatched) {
    if (has_other_width(m)) report->replaced.push_back(m);
  }
  std::erase_if(r.mismatched, has_other_width);
  if (!all_missing) return;
  for (const std::string& name : head) {
    const WantedParam& w = wanted.at(name);
    report->replaced.push_back({name, fmt::format("{}{}", dtype_short_name(w.dtype), w.shape.str()), "nothing"});
  }
  std::erase_if(r.missing, in_head);
}

std::string why_refused(const InitReport& r, InitMatch match) {
  const LoadReport& n = r.names;
  if (n.loaded.empty()) return "no parameter of the network is in the weights";
  if (match == InitMatch::kAny) return "";
  if (!n.missing.empty() || !n.unexpected.empty() || !n.mismatched.empty()) return "the weights do not fit the network";
  if (match == InitMatch::kAll && !r.replaced.empty()) return "the last layer has another width";
  return "";
}

}  // namespace

std::string InitReport::table() const {
  const size_t all = names.loaded.size() + names.missing.size() + names.mismatched.size() + replaced.size() + skipped.size();
  std::string out = fmt::format("{} of {} parameters are loaded", names.loaded.size(), all);
  const auto count = [&](size_t n, const char* what) {
    if (n > 0) out += fmt::format(", {} {}", n, what);
  };
  count(replaced.size(), "replaced");
  count(skipped.size(), "skipped");
  count(names.missing.size(), "missing");
  count(names.unexpected.size(), "unexpected");
  count(names.mismatched.size(), "mismatched");
  if (!names.stripped_prefix.empty()) out += fmt::format(" (without the prefix '{}')", names.stripped_prefix);
  for (const LoadReport::Mismatch& m : replaced)
    out += fmt::format("\n  {:<11} {}: {} here, {} there; it is initialised", "replaced", m.name, m.expected, m.found);
  for (const std::string& name : skipped) out += fmt::format("\n  {:<11} {}", "skipped", name);
  std::string rest = names.table();  // its first line is the count
  rest.erase(0, rest.find('\n'));
  while (!rest.empty() && rest.back() == '\n') rest.pop_back();
  return out + rest;
}

std::vector<std::string> head_parameters(nn::Cell& network) {
  std::vector<std::string> out;
  for (const auto& [path, cell] : network.cells_and_names()) {
    std::vector<std::string> own;
    bool trainable = false;
    for (const auto& [name, p] : cell->own_parameters()) {
      own.push_back(path.empty() ? name : path + "." + name);
      trainable = trainable || p->requires_grad;
    }
    if (trainable) out = std::move(own);
  }
  // In cells without a prefix, a parameter's name differs from its path, so only names that the network has are returned.
  std::set<std::string> known;
  for (const auto& [name, p] : network.parameters_and_names()) known.insert(name);
  std::erase_if(out, [&](const std::string& name) { return !known.contains(name); });
  return out;
}

InitReport init_weights(nn::Cell& network, const LoadedCheckpoint& weights, const InitOptions& options) {
  std::vector<WantedParam> wanted;
  std::map<std::string, WantedParam> by_name;
  std::map<std::string, Parameter*> params;
  InitReport report;
  for (const auto& [name, p] : network.parameters_and_names()) {
    wanted.push_back({name, p->dtype(), p->shape()});
    by_name.insert_or_assign(name, wanted.back());
    params[name] = p;
    if (any_matches(options.skip, name)) report.skipped.push_back(name);
  }
  check_skips(options.skip, wanted, weights);
  // An optimizer's state of a skipped part ("moments.end_point.weight") is skipped with it, even if the network has no such part.
  const auto skipped = [&](const std::string& name) {
    const size_t dot = name.find('.');
    return any_matches(options.skip, name) || (!by_name.contains(name) && dot != std::string::npos && any_matches(options.skip, name.substr(dot + 1)));
  };
  std::vector<CheckpointEntry> entries;
  for (const CheckpointEntry& e : weights.entries) {
    if (!skipped(e.name)) entries.push_back(e);
  }
  const CheckpointFit fit = fit_checkpoint(wanted, entries, false);
  report.names = fit.report;
  std::erase_if(report.names.missing, [&](const std::string& name) { return any_matches(options.skip, name); });
  std::vector<std::string> head = head_parameters(network);
  std::erase_if(head, [&](const std::string& name) { return any_matches(options.skip, name); });
  if (!head.empty()) take_head_out(head, by_name, weights, &report);
  if (const std::string why = why_refused(report, options.match); !why.empty()) {
    const bool foreign = std::any_of(report.names.unexpected.begin(), report.names.unexpected.end(),
                                     [](const std::string& n) { return n.ends_with("running_mean") || n.ends_with("num_batches_tracked"); });
    throw CheckpointError(ErrorCode::kCheckpointMismatch, fmt::format("{}: {}", why, report.table()), weights.path,
                          foreign ? "these are PyTorch's names: python3 -m sindri convert writes the file with those of the network"
                              : options.match == InitMatch::kAll ? "use the net of the weights, or replace its last layer (match head)"
                                                                 : "use the net of the weights, skip parts (skip), or load what matches (match any)");
  }
  for (const auto& [name, value] : fit.values) params.at(name)->assign(value);
  return report;
}

FreezeReport freeze(nn::Cell& network, const std::vector<std::string>& patterns, FrozenNorm norm) {
  const std::vector<Parameter*> trainable = network.trainable_params();
  std::vector<std::string> names;
  for (const auto& [name, p] : network.parameters_and_names()) {
    if (p->requires_grad) names.push_back(name);
  }
  const std::vector<int> chosen = match_names(patterns, names, "frozen parts");
  if (!patterns.empty() && std::none_of(chosen.begin(), chosen.end(), [](int c) { return c < 0; }))
    throw ValueError("frozen parts: all parameters would be frozen, none is left to train", "", "omit the part to be trained, usually the last layer");
  FreezeReport report;
  std::set<const Parameter*> frozen;
  for (size_t i = 0; i < trainable.size(); ++i) {
    if (chosen[i] < 0) continue;
    trainable[i]->requires_grad = false;
    frozen.insert(trainable[i]);
    report.parameters.push_back(names[i]);
    report.elements += trainable[i]->shape().numel();
  }
  if (norm == FrozenNorm::kBatch) return report;
  for (const auto& [path, cell] : network.cells_and_names()) {
    auto* bn = dynamic_cast<nn::BatchNorm*>(cell);
    if (bn == nullptr || bn->bypassed() || !frozen.contains(&bn->gamma()) || !frozen.contains(&bn->beta())) continue;
    bn->use_batch_statistics(false);
    report.fixed_norms.push_back(path);
  }
  return report;
}

}  // namespace sindri::train
