// Networks by name. Each network's file registers itself; the registry knows none of them.
#include "models/registry.h"

#include <cmath>
#include <map>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"

namespace sindri::models {

namespace {

std::map<std::string, ModelEntry>& table() {
  static std::map<std::string, ModelEntry> entries;
  return entries;
}

const ModelEntry& find(const std::string& name) {
  const auto it = table().find(name);
  if (it == table().end()) throw ValueError("network '" + name + "' is not known", "", did_you_mean(name, names()));
  return it->second;
}

}  // namespace

bool register_models(std::vector<ModelEntry> entries) {
  for (ModelEntry& e : entries) {
    if (!table().emplace(e.name, e).second) throw InternalError("network '" + e.name + "' is registered twice");
  }
  return true;
}

nn::CellPtr create(const std::string& name, const ModelOptions& options) {
  const ModelEntry& e = find(name);
  ModelOptions o = options;
  if (o.num_classes < 0) throw ValueError(name + ": num_classes must be at least 1, got " + std::to_string(o.num_classes));
  if (o.in_channels < 0) throw ValueError(name + ": in_channels must be at least 1, got " + std::to_string(o.in_channels));
  if (o.num_classes == 0) o.num_classes = e.num_classes;
  if (o.in_channels == 0) o.in_channels = e.input[0];
  return e.make(name, o);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, entry] : table()) out.push_back(name);
  return out;
}

Shape input_shape(const std::string& name) { return find(name).input; }
int64_t default_num_classes(const std::string& name) { return find(name).num_classes; }

nn::Init init_or(const std::string& alias, const nn::Init& otherwise) {
  if (alias.empty()) return otherwise;
  return alias == "torch" ? nn::Init(nn::HeUniform(std::sqrt(5.0))) : nn::Init(alias);
}

nn::Init torch_bias(int64_t fan_in) { return nn::Uniform(1 / std::sqrt(static_cast<double>(fan_in))); }

void refuse_resnet_options(const std::string& name, const ModelOptions& options) {
  if (!options.variant.empty() && options.variant != "mindspore")
    throw ValueError(name + " has the variant mindspore only, got '" + options.variant + "'", "", "leave variant out");
  if (options.zero_init_residual) throw ValueError(name + " has no residual blocks to zero", "", "leave zero_init_residual out");
}

}  // namespace sindri::models
