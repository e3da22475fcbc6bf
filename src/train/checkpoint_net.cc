// Copies a loaded checkpoint into a network's parameters, and finds the newest checkpoint of a folder.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/checkpoint_fit.h"
#include "sindri/train/cipher.h"
#include "src/core/nearest.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

namespace {

using NamedParams = std::vector<std::pair<std::string, Parameter*>>;

// Returns `value` in the shape `want` if the shapes differ in trailing dimensions of 1 only.
std::optional<Tensor> fit_shape(const Tensor& value, const Shape& want) {
  if (value.shape() == want) return value;
  const auto trimmed = [](const Shape& s) {
    std::vector<int64_t> v = s.vec();
    while (!v.empty() && v.back() == 1) v.pop_back();
    return v;
  };
  if (trimmed(value.shape()) != trimmed(want)) return std::nullopt;
  return value.contiguous().view(want);
}

// Returns whether the types differ in their width only.
bool of_one_kind(DType a, DType b) {
  const auto integer = [](DType t) { return t == DType::kInt32 || t == DType::kInt64; };
  return a == b || (is_floating(a) && is_floating(b)) || (integer(a) && integer(b));
}

Tensor cast_width(const Tensor& t, DType to) {
  if (t.dtype() == to) return t;
  if (is_floating(to)) return Tensor::from_values(t.shape(), t.to_vector<double>(), to);
  if (to == DType::kInt64) return Tensor::from_vector(t.shape(), t.to_vector<int64_t>());
  return Tensor::from_vector(t.shape(), t.to_vector<int32_t>());
}

// Optimizer slots ("moments.<param>"), counters and rates (no dot, at most one dimension), strings and Sindri's own entries ("sindri.<name>": the random state)
// are expected to remain when a training checkpoint is loaded into a bare network.
bool is_training_state(const CheckpointEntry& e, const std::set<std::string>& net_names) {
  if (e.kind != CheckpointEntry::kTensor || e.name.starts_with("sindri.")) return true;
  const size_t dot = e.name.find('.');
  if (dot == std::string::npos) return e.tensor.rank() <= 1;
  return net_names.contains(e.name.substr(dot + 1)) || (e.tensor.rank() == 0 && !net_names.contains(e.name));
}

// `prefix` is removed from the front of the checkpoint's names.
CheckpointFit match(const std::vector<WantedParam>& params, const std::vector<CheckpointEntry>& entries, const std::string& prefix, bool strict) {
  const auto own_name = [&](const CheckpointEntry& e) { return e.name.starts_with(prefix) ? e.name.substr(prefix.size()) : e.name; };
  std::map<std::string, const CheckpointEntry*> by_name;
  for (const CheckpointEntry& e : entries) by_name[own_name(e)] = &e;
  CheckpointFit fit;
  std::set<std::string> net_names;
  for (const auto& [name, dtype, shape] : params) {
    net_names.insert(name);
    const auto it = by_name.find(name);
    if (it == by_name.end()) {
      fit.report.missing.push_back(name);
      continue;
    }
    const CheckpointEntry& e = *it->second;
    const std::string expected = fmt::format("{}{}", dtype_short_name(dtype), shape.str());
    if (e.kind != CheckpointEntry::kTensor) {
      fit.report.mismatched.push_back({name, expected, "text"});
      continue;
    }
    const std::optional<Tensor> value = fit_shape(e.tensor, shape);
    if (!value || (strict ? e.tensor.dtype() != dtype : !of_one_kind(e.tensor.dtype(), dtype))) {
      fit.report.mismatched.push_back({name, expected, fmt::format("{}{}", dtype_short_name(e.tensor.dtype()), e.tensor.shape().str())});
      continue;
    }
    fit.report.loaded.push_back(name);
    fit.values.emplace_back(name, cast_width(*value, dtype));
  }
  for (const auto& [name, e] : by_name) {
    if (net_names.contains(name)) continue;
    CheckpointEntry named = *e;
    named.name = name;
    (is_training_state(named, net_names) ? fit.report.state : fit.report.unexpected).push_back(name);
  }
  return fit;
}

// Returns the dotted prefix that all entries with a dot share ("network."); empty if there is none.
std::string common_prefix(const std::vector<CheckpointEntry>& entries) {
  std::optional<std::string> prefix;
  for (const CheckpointEntry& e : entries) {
    const size_t dot = e.name.find('.');
    if (dot == std::string::npos) continue;
    const std::string head = e.name.substr(0, dot + 1);
    if (prefix && *prefix != head) return "";
    prefix = head;
  }
  return prefix.value_or("");
}

std::string summary(const LoadReport& r) {
  return fmt::format("{} loaded, {} missing, {} unexpected, {} mismatched", r.loaded.size(), r.missing.size(), r.unexpected.size(), r.mismatched.size());
}

}  // namespace

std::string LoadReport::table() const {
  constexpr size_t kShown = 40;
  std::string out = summary(*this) + (stripped_prefix.empty() ? "" : fmt::format(" (without the prefix '{}')", stripped_prefix)) + "\n";
  const auto section = [&](const std::vector<std::string>& names, const char* what, const std::vector<std::string>& others) {
    for (size_t i = 0; i < names.size() && i < kShown; ++i) {
      const std::string hint = others.size() <= 4096 ? did_you_mean(names[i], others) : "";
      out += fmt::format("  {:<11} {}{}\n", what, names[i], hint.starts_with("did") ? "  (" + hint + ")" : "");
    }
    if (names.size() > kShown) out += fmt::format("  {:<11} ... and {} more\n", what, names.size() - kShown);
  };
  for (const Mismatch& m : mismatched) out += fmt::format("  {:<11} {}: expected {}, got {}\n", "mismatched", m.name, m.expected, m.found);
  section(missing, "missing", unexpected);
  section(unexpected, "unexpected", missing);
  return out;
}

CheckpointFit fit_checkpoint(const std::vector<WantedParam>& params, const std::vector<CheckpointEntry>& entries, bool strict) {
  CheckpointFit fit = match(params, entries, "", strict);
  if (!fit.report.loaded.empty() || !fit.report.mismatched.empty() || params.empty()) return fit;
  const std::string prefix = common_prefix(entries);
  if (prefix.empty()) return fit;
  CheckpointFit stripped = match(params, entries, prefix, strict);
  if (stripped.report.loaded.empty() && stripped.report.mismatched.empty()) return fit;
  stripped.report.stripped_prefix = prefix;
  return stripped;
}

LoadReport load_param_into_net(const NamedParams& params, const LoadedCheckpoint& checkpoint, bool strict) {
  std::vector<WantedParam> wanted;
  std::map<std::string, Parameter*> by_name;
  for (const auto& [name, p] : params) {
    wanted.push_back({name, p->dtype(), p->shape()});
    by_name[name] = p;
  }
  const CheckpointFit fit = fit_checkpoint(wanted, checkpoint.entries, strict);
  const LoadReport& r = fit.report;
  const bool fits = r.missing.empty() && r.unexpected.empty() && r.mismatched.empty();
  if (strict && !fits) {
    throw CheckpointError(ErrorCode::kCheckpointMismatch, "the checkpoint does not fit the network: " + r.table(), checkpoint.path,
                          "check the net and its number of classes, or load without strict to load what matches");
  }
  for (const auto& [name, value] : fit.values) by_name.at(name)->assign(value);
  if (!fits) log::warn("checkpoint", fmt::format("{}: {}", checkpoint.path, r.table()));
  return r;
}

namespace {

struct Candidate {
  int64_t epoch = 0, step = 0;
  int64_t mtime_ns = 0;
  std::string path;
  bool operator<(const Candidate& o) const { return std::tie(epoch, step, mtime_ns) < std::tie(o.epoch, o.step, o.mtime_ns); }
};

// "PREFIX-EPOCH_STEP.ckpt".
bool parse_file_name(const std::string& file, const std::string& prefix, Candidate* c) {
  if (!file.ends_with(".ckpt")) return false;
  const size_t dash = file.rfind('-');
  if (dash == std::string::npos || (!prefix.empty() && file.substr(0, dash) != prefix)) return false;
  const char* end = file.data() + file.size() - 5;
  const auto epoch = std::from_chars(file.data() + dash + 1, end, c->epoch);
  if (epoch.ec != std::errc{} || epoch.ptr == end || *epoch.ptr != '_') return false;
  const auto step = std::from_chars(epoch.ptr + 1, end, c->step);
  return step.ec == std::errc{} && step.ptr == end;
}

std::vector<Candidate> list_candidates(const std::string& folder, const std::string& prefix) {
  // Also detects a link to a missing target, for which stat() reports that nothing exists.
  if (DIR* const there = opendir(folder.c_str())) closedir(there);
  else throw_io_error("open", "checkpoint folder", folder, errno);
  std::vector<Candidate> found;
  for (const std::string& name : names_in_folder(folder, "checkpoint folder")) {
    Candidate c;
    if (!parse_file_name(name, prefix, &c)) continue;
    c.path = folder + "/" + name;
    struct stat info {};
    if (stat(c.path.c_str(), &info) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile
      throw_io_error("look at", "checkpoint", c.path, errno);
    }
    c.mtime_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
    found.push_back(c);
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

}  // namespace

std::string find_newest_checkpoint(const std::string& folder, const std::string& prefix, const std::string& dec_key, const std::string& dec_mode) {
  std::string unverified, damage;
  const std::vector<Candidate> candidates = list_candidates(folder, prefix);
  for (const Candidate& c : candidates) {
    try {
      if ((dec_key.empty() ? load_checkpoint(c.path) : load_sealed_checkpoint(c.path, dec_key, dec_mode)).verified) return c.path;
      if (unverified.empty()) unverified = c.path;
    } catch (const CheckpointError& e) {
      // Other errors, above all a file that cannot be opened or read, do not show that the file is bad: it may be the good one.
      if (e.code() != ErrorCode::kCheckpointCorrupt) throw;
      log::warn("checkpoint", fmt::format("skipped: {}", e.what()));
      damage = e.message();
    }
  }
  if (unverified.empty() && !candidates.empty()) {
    throw CheckpointError(ErrorCode::kCheckpointCorrupt, fmt::format("none of the {} checkpoints can be used; the oldest: {}", candidates.size(), damage),
                          folder, "restore a good copy of one; to start over, choose another folder or move these files away");
  }
  return unverified;
}

}  // namespace sindri::train
