// summary, doctor, version: what a net, a machine and a build are made of.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "sindri/app/app.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/op/op_def.h"
#include "sindri/version.h"
#include "src/app/build.h"
#include "src/core/machine.h"

namespace sindri::app {

namespace {

std::string with_commas(int64_t n) {
  const std::string digits = std::to_string(n);
  std::string s;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) s += ',';
    s += digits[i];
  }
  return s;
}

// What is there, and what is missing and how to get it.
std::string device_lines() {
  const auto gib = [](int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (int64_t{1} << 30)); };
  std::string out;
  for (const DeviceListing& d : devices()) {
    const int64_t limit = device_memory_stats(d.device).limit;
    out += fmt::format("device {}: {}; device_target {}, device_id {}; memory {}, free {}, limit {}\n", d.device.str(), d.info.name, d.target, d.device.index,
                       gib(d.info.memory), gib(d.info.free), limit > 0 ? gib(limit) : "none");
  }
  for (const MissingPart& part : missing_parts()) out += fmt::format("missing for {}: {}; {}\n", part.target, part.what, part.fix);
  return out;
}

std::string net_list() {
  std::string out = "Nets (sindri summary NET):\n";
  for (const std::string& n : models::names())
    out += fmt::format("  {:<16} input {:<14} {}\n", n, models::input_shape(n).str(), models::networks().info(n).doc);
  return out;
}

}  // namespace

std::string summary(const std::string& named, const Settings& settings, bool all_cells) {
  const std::string net = named.empty() ? settings.get_string("model.name") : named;
  if (net.empty()) return net_list();
  Shape input;
  try {
    input = models::input_shape(net);
  } catch (ValueError& e) {
    e.add_where("sindri summary " + net);
    throw;
  }
  if (const int64_t side = settings.get_int("data.image_size"); side > 0) input[1] = input[2] = side;
  Settings chosen = settings;
  chosen.set("model.name=" + net);
  chosen.validate();  // what was set may belong to another net
  const nn::CellPtr model = models::create(net, {.num_classes = settings.get_int("model.num_classes")}, chosen.chosen("model.name"));

  std::map<const nn::Cell*, std::string> shapes;
  {
    const nn::CallObserver observer([&](const nn::Cell& cell, const nn::Value& out) {
      const std::vector<Tensor> t = out.flatten();
      if (!t.empty()) shapes[&cell] = t[0].shape().str();
    });
    Shape batched = input;
    batched.insert(0, 1);
    (*model)(Tensor::zeros(batched));
  }

  std::string out = fmt::format("{:<38} {:<18} {:>14}\n", "layer", "output", "parameters");
  for (const auto& [name, cell] : model->cells_and_names()) {
    const auto depth = name.empty() ? 0 : std::count(name.begin(), name.end(), '.') + 1;
    if (!all_cells && depth > 2) continue;
    out += fmt::format(
        "{:<38} {:<18} {:>14}\n",
        std::string(static_cast<size_t>(depth) * 2, ' ') + (name.empty() ? net : name.substr(name.rfind('.') + 1)) + " (" + cell->class_name() + ")",
        shapes[cell], with_commas(cell->num_parameters()));
  }
  const int64_t trainable = model->num_parameters(), all = model->num_parameters(false);
  out += fmt::format("\ninput: {}\nparameters: {} ({:.1f} MB as float32)\nbuffers: {}\n", input.str(), with_commas(trainable),
                     static_cast<double>(trainable) * 4e-6, with_commas(all - trainable));
  return out;
}

std::string doctor() {
  std::string out = version_text();
  out += fmt::format("cpu: {}\n", cpu_model());
  out += fmt::format("cores: {} (threads used by kernels: {})\n", std::thread::hardware_concurrency(), num_threads());
  out += fmt::format("instruction set in use: {}\n", cpu_isa_name(cpu_isa()));
  out += fmt::format("memory: {:.1f} GiB\n", memory_gib());
  out += fmt::format("strict mode: {}\n", strict_mode() ? "on" : "off (SINDRI_STRICT=1 turns it on)");
  out += device_lines();
  out += "mpi: not built in\npython: not built in\n";
  out += fmt::format("ops: {}\n", all_ops().size());
  return out;
}

std::string version_text() { return fmt::format("sindri {}\n", SINDRI_VERSION_STRING); }

}  // namespace sindri::app
