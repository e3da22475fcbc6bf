// summary and version: the structure of a net. doctor.cc describes the machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sindri/app/app.h"
#include "sindri/app/inspect.h"
#include "sindri/core/error.h"
#include "sindri/models/models.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/op/parameter.h"
#include "sindri/version.h"
#include "src/app/build.h"
#include "src/core/tensor_impl.h"

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

std::string net_list() {
  std::string out = "Nets (sindri summary NET):\n";
  for (const std::string& n : models::names())
    out += fmt::format("  {:<16} input {:<14} {}\n", n, models::input_shape(n).str(), models::networks().info(n).doc);
  return out;
}

// Runs nothing: computes each op's output shapes, and adds up the matrix work of each Cell. This describes a net at any image size without the time and memory
// of a forward pass.
class MultiplyAdds final : public Trace {
 public:
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace*) override {
    std::vector<TensorMeta> given;
    for (const Tensor& t : in) {
      given.push_back(t.meta());
      given.back().layout = Layout::kContiguous;
    }
    const std::vector<TensorMeta> made = op.infer(attrs, given);
    if (op.traits.amp == AmpClass::kLower)
      if (const int64_t operations = count_flops(op, attrs, given, made); operations > 0) of_scope_[current_scope()] += operations / 2;
    std::vector<Tensor> out;
    for (const TensorMeta& m : made) out.push_back(symbol(m));
    return out;
  }
  Tensor read(Parameter& p, Trace*) override { return symbol(p.meta()); }
  void assign(Parameter&, const Tensor&, Trace*) override {}
  Tensor symbol(TensorMeta meta) const {
    meta.layout = Layout::kContiguous;
    return make_symbolic(meta, this, 0);
  }
  // Includes the Cells within. Scopes are "Net/layer1.0.conv1"; the net's own is "Net".
  int64_t of(const std::string& cell) const {
    int64_t n = 0;
    for (const auto& [scope, count] : of_scope_) {
      const size_t slash = scope.find('/');
      const std::string name = slash == std::string::npos ? "" : scope.substr(slash + 1);
      if (cell.empty() || name == cell || name.starts_with(cell + ".")) n += count;
    }
    return n;
  }

 private:
  std::map<std::string, int64_t> of_scope_;
};

}  // namespace

std::vector<std::pair<std::string, Shape>> trained_weights(const Settings& settings) {
  const std::string& kind = settings.get_string("data.kind");
  if (settings.get_int("model.num_classes") == 0 && kind != "digits" && kind != "cifar10" && kind != "mnist")
    throw SettingsError("the number of classes is left to the data", "model.num_classes", "set it to what the training found, e.g. --set model.num_classes=10");
  const nn::CellPtr network = make_network(settings, 10);
  std::vector<std::pair<std::string, Shape>> out;
  for (const Parameter* p : network->trainable_params()) out.emplace_back(p->name(), p->shape());
  return out;
}

NetSummary summarize(const std::string& net, const Settings& settings) {
  NetSummary out{.net = net, .input = {}, .cells = {}};
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
  chosen.validate();  // a setting may belong to another net
  const nn::CellPtr model = models::create(net, {.num_classes = settings.get_int("model.num_classes")}, chosen.chosen("model.name"));
  model->set_train(false);

  std::map<const nn::Cell*, std::string> shapes;
  MultiplyAdds work;
  {
    const nn::CallObserver observer([&](const nn::Cell& cell, const nn::Value& value) {
      const std::vector<Tensor> t = value.flatten();
      if (!t.empty()) shapes[&cell] = t[0].shape().str();
    });
    const TraceScope scope(work);
    Shape batched = input;
    batched.insert(0, 1);
    (*model)(work.symbol({batched, DType::kFloat32, Layout::kContiguous, Device{}}));
  }
  for (const auto& [name, cell] : model->cells_and_names())
    out.cells.push_back(
        {.name = name, .kind = cell->class_name(), .output = shapes[cell], .parameters = cell->num_parameters(), .multiply_adds = work.of(name)});
  out.input = input.str();
  out.parameters = model->num_parameters();
  out.buffers = model->num_parameters(false) - out.parameters;
  out.multiply_adds = work.of("");
  return out;
}

std::string summary_json(const NetSummary& s) {
  using nlohmann::ordered_json;
  ordered_json cells = ordered_json::array();
  for (const CellSummary& c : s.cells)
    cells.push_back({{"name", c.name}, {"class", c.kind}, {"output", c.output}, {"parameters", c.parameters}, {"multiply_adds", c.multiply_adds}});
  const ordered_json j = {{"net", s.net},
                          {"input", s.input},
                          {"parameters", s.parameters},
                          {"buffers", s.buffers},
                          {"multiply_adds", s.multiply_adds},
                          {"cells", std::move(cells)}};
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string summary(const std::string& named, const Settings& settings, bool all_cells) {
  const std::string net = named.empty() ? settings.get_string("model.name") : named;
  if (net.empty()) return net_list();
  const NetSummary s = summarize(net, settings);
  std::string out = fmt::format("{:<38} {:<18} {:>14} {:>16}\n", "layer", "output", "parameters", "multiply-adds");
  for (const CellSummary& c : s.cells) {
    const auto depth = c.name.empty() ? 0 : std::count(c.name.begin(), c.name.end(), '.') + 1;
    if (!all_cells && depth > 2) continue;
    out += fmt::format("{:<38} {:<18} {:>14} {:>16}\n",
                       std::string(static_cast<size_t>(depth) * 2, ' ') + (c.name.empty() ? net : c.name.substr(c.name.rfind('.') + 1)) + " (" + c.kind + ")",
                       c.output, with_commas(c.parameters), with_commas(c.multiply_adds));
  }
  out += fmt::format("\ninput: {}\nparameters: {} ({:.1f} MB as float32)\nbuffers: {}\nmultiply-adds: {} ({:.3g} G a sample, forward)\n", s.input,
                     with_commas(s.parameters), static_cast<double>(s.parameters) * 4e-6, with_commas(s.buffers), with_commas(s.multiply_adds),
                     static_cast<double>(s.multiply_adds) * 1e-9);
  return out;
}

std::string version_text() { return fmt::format("sindri {}\n", SINDRI_VERSION_STRING); }

}  // namespace sindri::app
