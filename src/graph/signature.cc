// See signature.h.
#include "src/graph/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/context.h"
#include "sindri/op/kernel.h"
#include "src/core/runtime_state.h"
#include "src/graph/trace.h"

namespace sindri {

namespace {

constexpr size_t kManySignatures = 8;

// Appends "name: 1, 2, 3" if the values returned by `get` differ among the signatures.
template <class F> void note_change(const std::vector<Signature>& all, const std::string& name, F&& get, std::string* out) {
  std::vector<std::string> values;
  for (const Signature& s : all) {
    const std::string v = get(s);
    if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  if (values.size() < 2) return;
  *out += (out->empty() ? "" : "; ") + fmt::format("{}: {}", name, fmt::join(values, ", "));
}

// Compares the metas at one place of every signature, dimension by dimension while the rank is the same.
template <class F> void note_meta_changes(const std::vector<Signature>& all, const std::string& name, F&& meta, std::string* out) {
  const int rank = meta(all[0]).shape.rank();
  const bool same_rank = std::all_of(all.begin(), all.end(), [&](const Signature& s) { return meta(s).shape.rank() == rank; });
  if (!same_rank)
    note_change(
        all, name + " shape", [&](const Signature& s) { return meta(s).shape.str(); }, out);
  for (int d = 0; same_rank && d < rank; ++d) {
    note_change(
        all, fmt::format("{} dimension {}", name, d), [&](const Signature& s) { return std::to_string(meta(s).shape[d]); }, out);
  }
  note_change(
      all, name + " type", [&](const Signature& s) { return std::string(dtype_name(meta(s).dtype)); }, out);
  note_change(
      all, name + " layout", [&](const Signature& s) { return std::string(layout_name(meta(s).layout)); }, out);
}

std::string changes(const std::vector<Signature>& all) {
  std::string out;
  const size_t inputs = all[0].inputs.size();
  if (std::any_of(all.begin(), all.end(), [&](const Signature& s) { return s.inputs.size() != inputs; })) {
    note_change(
        all, "number of inputs", [](const Signature& s) { return std::to_string(s.inputs.size()); }, &out);
  } else {
    for (size_t i = 0; i < inputs; ++i)
      note_meta_changes(
          all, fmt::format("input {}", i), [i](const Signature& s) -> const TensorMeta& { return s.inputs[i]; }, &out);
  }
  for (size_t i = 0; i < all[0].states.size(); ++i) {
    const Parameter* p = all[0].states[i].param;
    if (std::any_of(all.begin(), all.end(), [&](const Signature& s) { return i >= s.states.size() || s.states[i].param != p; })) break;
    note_meta_changes(
        all, "parameter '" + p->name() + "'", [i](const Signature& s) -> const TensorMeta& { return s.states[i].meta; }, &out);
  }
  note_change(
      all, "device", [](const Signature& s) { return s.device.str(); }, &out);
  note_change(
      all, "variant", [](const Signature& s) { return std::to_string(s.variant); }, &out);
  note_change(
      all, "runtime", [](const Signature& s) { return std::to_string(s.runtime); }, &out);
  note_change(
      all, "threads", [](const Signature& s) { return std::to_string(s.threads); }, &out);
  note_change(
      all, "strict mode", [](const Signature& s) { return std::string(s.strict ? "on" : "off"); }, &out);
  return out;
}

}  // namespace

bool Signature::matches(const Signature& call) const {
  return inputs == call.inputs && device == call.device && variant == call.variant && strict == call.strict && threads == call.threads &&
      runtime == call.runtime && forced_kernel == call.forced_kernel &&
      std::all_of(states.begin(), states.end(), [](const State& s) { return s.param->meta() == s.meta; });
}

Signature make_signature(Span<const Tensor> in, int variant) {
  Signature s;
  for (const Tensor& t : in) s.inputs.push_back(t.meta());
  s.device = device_of_inputs(s.inputs);
  s.variant = variant;
  RuntimeState& here = *t_place.runtime;
  s.strict = here.is_strict();
  s.threads = here.num_threads();
  s.runtime = here.id;
  s.forced_kernel = forced_kernel() != nullptr ? forced_kernel() : "";
  return s;
}

std::string SignatureHistory::add(const std::string& function, const Signature& s) {
  if (warned_) return "";
  // Variants do not count: each is a graph that the caller selected by its number.
  const bool known = std::any_of(seen_.begin(), seen_.end(), [&](const Signature& k) {
    Signature same = k;
    same.variant = s.variant;
    return same.inputs == s.inputs && same.variant != k.variant && same.matches(s);
  });
  if (known) return "";
  seen_.push_back(s);
  if (seen_.size() != kManySignatures) return "";
  const std::string what = changes(seen_);
  warned_ = true;
  seen_ = {};
  return fmt::format(
      "'{}' has been compiled for {} signatures ({}); each costs a trace and memory | pad to a fixed size, or drop the incomplete last batch (drop_remainder)",
      function, kManySignatures, what.empty() ? "nothing visible changes" : what);
}

}  // namespace sindri
