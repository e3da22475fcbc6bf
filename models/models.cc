// Networks by name. Each network's file registers itself, so nothing here refers to a network.
#include "sindri/models/models.h"

#include <fmt/format.h>

#include <cmath>

#include "models/common.h"
#include "sindri/core/error.h"

namespace sindri::models {

Registry<MakeNetwork, NetworkFacts>& networks() {
  static Registry<MakeNetwork, NetworkFacts>& all = *new Registry<MakeNetwork, NetworkFacts>("network");  // filled before main, by any library
  return all;
}

nn::CellPtr create(const std::string& name, const ModelOptions& o) {
  std::map<std::string, SettingValue> given = o.settings;
  if (!o.variant.empty()) given["variant"] = o.variant;
  if (!o.conv_init.empty()) given["conv_init"] = o.conv_init;
  if (!o.dense_init.empty()) given["dense_init"] = o.dense_init;
  if (o.zero_init_residual) given["zero_init_residual"] = true;
  return create(name, {.in_channels = o.in_channels, .num_classes = o.num_classes}, networks().values(name, given));
}

nn::CellPtr create(const std::string& name, NetworkSize size, const SettingValues& settings) {
  const auto& network = networks().find(name);
  if (size.num_classes < 0) throw ValueError(fmt::format("{}: num_classes must be at least 1, got {}", name, size.num_classes));
  if (size.in_channels < 0) throw ValueError(fmt::format("{}: in_channels must be at least 1, got {}", name, size.in_channels));
  if (size.num_classes == 0) size.num_classes = network.facts.num_classes;
  if (size.in_channels == 0) size.in_channels = network.facts.input[0];
  return network.make(size, settings);
}

std::vector<std::string> names() { return networks().names(); }
Shape input_shape(const std::string& name) { return networks().find(name).facts.input; }
int64_t default_num_classes(const std::string& name) { return networks().find(name).facts.num_classes; }

SettingSpec variant_setting(const char* choices) {
  return {.name = "variant",
          .type = SettingType::kString,
          .fallback = "",
          .doc = "padding, batch-norm epsilon and initial weights as in that library; empty: as the network was published",
          .choices = choices};
}
SettingSpec conv_init_setting() {
  return {.name = "conv_init",
          .type = SettingType::kString,
          .fallback = "",
          .doc = "initializer of convolution weights: he_normal, xavier_uniform, torch, …; empty: the network's default"};
}
SettingSpec dense_init_setting() {
  return {.name = "dense_init",
          .type = SettingType::kString,
          .fallback = "",
          .doc = "initializer of dense-layer weights: normal, he_uniform, torch, …; empty: the network's default"};
}

nn::Init init_or(const std::string& alias, const nn::Init& otherwise) {
  if (alias.empty()) return otherwise;
  return alias == "torch" ? nn::Init(nn::HeUniform(std::sqrt(5.0))) : nn::Init(alias);
}

nn::Init torch_bias(int64_t fan_in) { return nn::Uniform(1 / std::sqrt(static_cast<double>(fan_in))); }

namespace {
void check_init(const SettingValues& settings, const char* name) {
  try {
    init_or(settings.get_string(name), "zeros");
  } catch (const ValueError& e) { throw ValueError(e.message(), name, e.fix()); }
}
}  // namespace

void check_inits(const SettingValues& settings) {
  check_init(settings, "conv_init");
  check_init(settings, "dense_init");
}
void check_dense_init(const SettingValues& settings) { check_init(settings, "dense_init"); }

}  // namespace sindri::models
