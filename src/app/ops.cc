// ops: prints what the registry knows about the ops and their kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::app {

namespace {

const char* text_of(AmpClass c) {
  switch (c) {
    case AmpClass::kLower: return "half";
    case AmpClass::kFp32: return "float32";
    case AmpClass::kMixed: return "half with float32 parameters";
    default: return "as its inputs";
  }
}
const char* text_of(LayoutRule r) {
  switch (r) {
    case LayoutRule::kAgnostic: return "any, the same for all operands";
    case LayoutRule::kFollowInput0: return "that of an input";
    case LayoutRule::kChannelsLastPreferred: return "channels last for activations";
    case LayoutRule::kContiguousOnly: return "contiguous";
    default: return "as the op says";
  }
}

std::vector<const OpDef*> by_name() {
  std::vector<const OpDef*> ops = all_ops();
  std::sort(ops.begin(), ops.end(), [](const OpDef* a, const OpDef* b) { return std::string_view(a->name) < b->name; });
  return ops;
}

// "stride=[1, 1]" for each attribute, with its default.
std::vector<std::string> attributes_of(const OpDef& op) {
  std::vector<std::string> out;
  const Attrs defaults = op.attrs.make({});
  for (const AttrField& f : defaults.fields()) out.push_back(fmt::format("{}={}", f.name, attr_value_text(f.value)));
  return out;
}

// "tiled, onednn, reference": in the order of selection. Kernels of equal priority are alternatives that are timed.
std::string kernels_text(const OpDef& op) {
  std::string out;
  const KernelDef* before = nullptr;
  for (const KernelDef* k : kernels_of(op.name)) {
    out += (before == nullptr ? "" : before->priority == k->priority ? " | " : ", ") + std::string(k->name);
    before = k;
  }
  return out;
}

std::string one_op(const std::string& name) {
  std::vector<std::string> names;
  for (const OpDef* op : by_name()) {
    if (op->name != name) {
      names.emplace_back(op->name);
      continue;
    }
    return fmt::format(
        "{}\n  {}\n\nattributes: {}\ngradient: {}\nmixed precision: {}\nlayout: {}\nkernels in the order of selection (| between those that are timed against "
        "each "
        "other): {}\n",
        op->name, op->doc, fmt::join(attributes_of(*op), ", "), op->vjp != nullptr ? "yes" : "no", text_of(op->traits.amp), text_of(op->traits.layout),
        kernels_text(*op));
  }
  const std::string near = did_you_mean(name, names);
  throw ValueError(fmt::format("there is no op '{}'", name), "sindri ops", near.empty() ? "sindri ops lists them" : near);
}

}  // namespace

std::string ops(const std::string& name) {
  if (!name.empty()) return one_op(name);
  std::string out;
  for (const OpDef* op : by_name()) out += fmt::format("{:<34} {}\n", op->name, kernels_text(*op));
  return out;
}

std::string ops_markdown() {
  std::string out =
      "# Operators\n\nThis page is generated from the registry by `sindri ops --markdown`; the test `Verbs.OpsDocumentIsUpToDate`\n"
      "compares the two. `sindri ops NAME` shows one op with its kernels on this machine.\n\n"
      "Attributes are listed with their defaults. Mixed precision: the types in which an op computes at amp levels O1 and O2\n"
      "(see `design/amp.md`).\n\n"
      "| op | attributes | gradient | mixed precision | what it computes |\n| --- | --- | --- | --- | --- |\n";
  for (const OpDef* op : by_name()) {
    std::string doc;
    for (const char c : std::string(op->doc)) doc += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
    std::string attributes;
    for (const std::string& a : attributes_of(*op)) attributes += (attributes.empty() ? "`" : ", `") + a + "`";
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", op->name, attributes, op->vjp != nullptr ? "yes" : "no", text_of(op->traits.amp), doc);
  }
  return out;
}

}  // namespace sindri::app
