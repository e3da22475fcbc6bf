// Checkpoints, the networks of the C++ library, and its training step, for comparison.
#include <fmt/format.h>

#include <algorithm>

#include "python/src/casters.h"
#include "python/src/settings.h"
#include "sindri/models/models.h"
#include "sindri/train/boost.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/checkpoint_files.h"
#include "sindri/train/checkpoint_fit.h"
#include "sindri/train/cipher.h"
#include "sindri/train/lr_range.h"
#include "sindri/train/monitor_text.h"
#include "sindri/train/patience.h"
#include "sindri/train/training_state.h"

namespace sindri::python {

namespace {

using train::CheckpointEntry;

CheckpointEntry entry_of(const std::string& name, const py::handle& value) {
  if (py::isinstance<py::str>(value)) return CheckpointEntry::text(name, py::cast<std::string>(value));
  if (!py::isinstance<py::bytes>(value)) return CheckpointEntry::of(name, to_tensor(value));
  CheckpointEntry e;
  e.name = name, e.kind = CheckpointEntry::kBytes, e.data = py::cast<std::string>(value);
  return e;
}

py::object value_of(const CheckpointEntry& e) {
  if (e.kind == CheckpointEntry::kTensor) return to_python(e.tensor);
  return e.kind == CheckpointEntry::kText ? py::object(py::str(e.data)) : py::object(py::bytes(e.data));
}

std::string save(const py::list& entries, const std::string& path, bool compat_mindspore1, const std::optional<py::bytes>& key, const std::string& mode,
                 int64_t block_bytes) {
  std::vector<CheckpointEntry> list;
  for (const py::handle h : entries) {
    const auto pair = py::reinterpret_borrow<py::tuple>(h);
    const auto name = py::cast<std::string>(pair[0]);
    list.push_back(entry_of(name, pair[1]));
    if (pair.size() > 2) list.back().stored_type = py::cast<std::string>(pair[2]);
  }
  train::SaveOptions options;
  options.compat_mindspore1 = compat_mindspore1;
  options.block_bytes = block_bytes;
  if (key) options.seal = [secret = std::string(*key), mode](std::string_view block) { return train::seal_block(block, secret, mode); };
  const py::gil_scoped_release release;
  return train::save_checkpoint(list, path, options);
}

py::list load(const std::string& path, const std::optional<py::bytes>& key, const std::string& mode) {
  const std::string secret = key ? std::string(*key) : "";
  train::LoadedCheckpoint c;
  {
    const py::gil_scoped_release release;
    c = key ? train::load_sealed_checkpoint(path, secret, mode) : train::load_checkpoint(path);
  }
  py::list out;
  for (const CheckpointEntry& e : c.entries) {
    if (e.stored_type.empty()) out.append(py::make_tuple(e.name, value_of(e)));
    else out.append(py::make_tuple(e.name, value_of(e), e.stored_type));
  }
  return out;
}

// Raises Python's ValueError also if a key or a mode has another type, as MindSpore does.
void check_key(const py::object& key, const py::object& mode, const std::string& who, const std::string& key_name, const std::string& mode_name) {
  const auto type = [](const py::object& o) { return py::cast<std::string>(py::str(py::type::of(o).attr("__name__"))); };
  try {
    if (!py::isinstance<py::str>(mode)) throw ValueError("'" + mode_name + "' must be a str, got " + type(mode));
    train::check_cipher_mode(py::cast<std::string>(mode), mode_name);
    if (key.is_none()) return;
    if (!py::isinstance<py::bytes>(key)) throw ValueError("'" + key_name + "' must be None or bytes, got " + type(key));
    train::check_cipher_key(py::cast<std::string>(key), py::cast<std::string>(mode), key_name);
  } catch (const ValueError& e) { throw ValueError(who + ": " + e.message()); }
}

using WantedParams = std::vector<std::tuple<std::string, DType, Shape>>;
std::vector<train::WantedParam> wanted_of(const WantedParams& params) {
  std::vector<train::WantedParam> out;
  for (const auto& [name, dtype, shape] : params) out.push_back({name, dtype, shape});
  return out;
}

py::dict values_of(const std::vector<std::pair<std::string, Tensor>>& values) {
  py::dict out;
  for (const auto& [name, value] : values) out[py::str(name)] = to_python(value);
  return out;
}

// Returns (values by name, names that do not match, the prefix that was removed).
py::tuple fit(const WantedParams& params, const py::dict& values, bool strict) {
  std::vector<CheckpointEntry> entries;
  for (const auto& [name, value] : values) entries.push_back(entry_of(py::cast<std::string>(name), value));
  const train::CheckpointFit f = train::fit_checkpoint(wanted_of(params), entries, strict);
  std::vector<std::string> misfits;
  for (const auto& m : f.report.mismatched) misfits.push_back(m.name);
  return py::make_tuple(values_of(f.values), misfits, f.report.stripped_prefix);
}

/// A network of the C++ library. Its Parameters are exposed as Python Parameters that keep the network alive.
class PyNativeCell {
 public:
  explicit PyNativeCell(nn::CellPtr cell) : cell_(std::move(cell)) { cell_->trainable_params(); }
  py::object call(const py::args& args) {
    std::vector<nn::Value> in;
    for (const py::handle h : args) in.emplace_back(to_tensor(h));
    nn::Value out;
    {
      const py::gil_scoped_release release;
      out = cell_->call(in);
    }
    if (out.is_tensor()) return to_python(out.tensor());
    return to_python_tuple(out.flatten());
  }
  py::list parameters() {
    py::list out;
    for (const auto& [name, p] : cell_->parameters_and_names()) out.append(py::make_tuple(name, to_python(std::shared_ptr<Parameter>(cell_, p))));
    return out;
  }
  // Applies an algorithm's changes to the network before its parameters are read; they must be read again afterwards.
  void prepare(const std::string& algorithm, const py::dict& settings) {
    train::boosts().make(algorithm, settings_of(settings))->prepare(*cell_);
    cell_->trainable_params();
  }
  /// Returns the names of the weights of grouped convolutions.
  std::vector<std::string> grouped_weights() {
    const std::vector<const Parameter*> grouped = train::grouped_weights(*cell_);
    std::vector<std::string> out;
    for (const auto& [name, p] : cell_->parameters_and_names())
      if (std::find(grouped.begin(), grouped.end(), p) != grouped.end()) out.push_back(name);
    return out;
  }
  nn::Cell& cell() { return *cell_; }

 private:
  nn::CellPtr cell_;
};

}  // namespace

void bind_train(py::module_& m) {
  py::class_<train::TrainPosition>(m, "TrainPosition",
                                   "A position in a training run. epoch: completed epochs; step_in_epoch: steps of the following epoch; step: steps in total; "
                                   "dataset_state: state of the data iterator, '' if it has none; callbacks: their states, '' if there are none; epoch_open: "
                                   "whether the end of the last completed epoch has not been processed yet.")
      .def(
          py::init([](int64_t epoch, int64_t step_in_epoch, int64_t step, const std::string& dataset_state, const std::string& callbacks, bool epoch_open) {
            return train::TrainPosition{
                .epoch = epoch, .step_in_epoch = step_in_epoch, .step = step, .dataset_state = dataset_state, .callbacks = callbacks, .epoch_open = epoch_open};
          }),
          py::arg("epoch") = 0, py::arg("step_in_epoch") = 0, py::arg("step") = 0, py::arg("dataset_state") = "", py::arg("callbacks") = "",
          py::arg("epoch_open") = false)
      .def_readonly("epoch", &train::TrainPosition::epoch)
      .def_readonly("step_in_epoch", &train::TrainPosition::step_in_epoch)
      .def_readonly("step", &train::TrainPosition::step)
      .def_readonly("dataset_state", &train::TrainPosition::dataset_state)
      .def_readonly("callbacks", &train::TrainPosition::callbacks)
      .def_readonly("epoch_open", &train::TrainPosition::epoch_open)
      .def("__repr__",
           [](const train::TrainPosition& p) { return fmt::format("Position(epoch={}, step_in_epoch={}, step={})", p.epoch, p.step_in_epoch, p.step); });
  m.def("save_checkpoint", &save, py::arg("entries"), py::arg("path"), py::arg("compat_mindspore1") = false, py::arg("key") = py::none(),
        py::arg("mode") = "AES-GCM", py::arg("block_bytes") = train::kSealedBlockBytes,
        "Writes [(name, Tensor | str | bytes)] in MindSpore's format with checksums, atomically; returns the path. A third member names the file's narrower "
        "type ('Int8') of an integer Tensor. With a key the file is encrypted, in blocks of block_bytes.");
  m.def("load_checkpoint", &load, py::arg("path"), py::arg("key") = py::none(), py::arg("mode") = "AES-GCM",
        "Returns [(name, Tensor | str | bytes)] in file order, with the file's type ('Int8') as a third member if Tensors lack it; verifies the checksums if "
        "the file has them.");
  m.def(
      "seal_block",
      [](const py::bytes& block, const py::bytes& key, const std::string& mode) {
        return py::bytes(train::seal_block(std::string(block), std::string(key), mode));
      },
      py::arg("block"), py::arg("key"), py::arg("mode"), "Returns one encrypted block of a file.");
  m.def("check_key", &check_key, py::arg("key"), py::arg("mode"), py::arg("who"), py::arg("key_name"), py::arg("mode_name"),
        "Raises ValueError unless the mode is known and the key is None or bytes of a size that it supports.");
  m.def("hide_libcrypto", &train::hide_libcrypto, py::arg("part"), "For tests: treats functions of libcrypto whose names contain this as missing.");
  m.def("fit_checkpoint", &fit, py::arg("params"), py::arg("values"), py::arg("strict"),
        "Matches values with [(name, dtype, shape)] and returns ({name: matching value}, names that do not match, prefix removed from the values' names).");
  m.def(
      "training_state_entries",
      [](const train::TrainPosition& position) {
        py::list out;
        for (const CheckpointEntry& e : train::training_state_entries(position)) out.append(py::make_tuple(e.name, value_of(e)));
        return out;
      },
      py::arg("position"), "Returns the entries of a training checkpoint besides Parameters.");
  m.def(
      "load_training_state",
      [](const std::string& path, const WantedParams& params, const std::optional<py::bytes>& key, const std::string& mode, const py::object& more) {
        const std::string secret = key ? std::string(*key) : "";
        const auto ask = [&more](const std::vector<CheckpointEntry>& entries) {
          const py::gil_scoped_acquire acquire;
          py::dict held;
          for (const CheckpointEntry& e : entries)
            if (e.kind == CheckpointEntry::kTensor)
              held[e.name.c_str()] =
                  py::make_tuple(py::tuple(py::cast(std::vector<int64_t>(e.tensor.shape().begin(), e.tensor.shape().end()))), e.tensor.dtype());
          return wanted_of(py::cast<WantedParams>(more(held)));
        };
        train::ReadState s;
        {
          const py::gil_scoped_release release;
          s = train::read_training_state(path, wanted_of(params), true, secret, mode, more.is_none() ? train::MoreWanted() : train::MoreWanted(ask));
        }
        return py::make_tuple(s.position, values_of(s.values));
      },
      py::arg("path"), py::arg("params"), py::arg("key") = py::none(), py::arg("mode") = "AES-GCM", py::arg("more") = py::none(),
      "Returns (position, {name: value}) of a training checkpoint; for a folder, of the newest valid one. more({name: (shape, type)} of the file's contents) "
      "returns further params.");
  m.def("loss_line", &train::loss_line, py::arg("epoch"), py::arg("step"), py::arg("loss"), "Returns the line that LossMonitor prints.");
  m.def("epoch_time_line", &train::epoch_time_line, py::arg("mode"), py::arg("milliseconds"), py::arg("steps"), py::arg("outside_steps") = py::none(),
        "Returns the line that TimeMonitor prints.");
  py::class_<train::Patience>(m, "Patience", "Decides when a monitored value has stopped improving (include/sindri/train/patience.h).")
      .def(py::init([](bool larger_is_better, double min_delta, int64_t patience, std::optional<double> baseline) {
             return train::Patience{.larger_is_better = larger_is_better, .min_delta = min_delta, .patience = patience, .baseline = baseline};
           }),
           py::arg("larger_is_better"), py::arg("min_delta"), py::arg("patience"), py::arg("baseline") = py::none())
      .def_readwrite("wait", &train::Patience::wait)
      .def_readwrite("cooldown", &train::Patience::cooldown)
      .def_readwrite("best", &train::Patience::best)
      .def(py::pickle(
          [](const train::Patience& p) { return py::make_tuple(p.larger_is_better, p.min_delta, p.patience, p.baseline, p.wait, p.cooldown, p.best); },
          [](const py::tuple& t) {
            return train::Patience{.larger_is_better = py::cast<bool>(t[0]),
                                   .min_delta = py::cast<double>(t[1]),
                                   .patience = py::cast<int64_t>(t[2]),
                                   .baseline = py::cast<std::optional<double>>(t[3]),
                                   .wait = py::cast<int64_t>(t[4]),
                                   .cooldown = py::cast<int64_t>(t[5]),
                                   .best = py::cast<double>(t[6])};
          }))
      .def("see", &train::Patience::see, py::arg("value"), "Adds a value; returns whether it is better than all values before it.")
      .def("exhausted", &train::Patience::exhausted);
  py::class_<train::LrRange>(m, "LrRange", "The learning rates and losses of a learning-rate range test (include/sindri/train/lr_range.h).")
      .def(py::init<double, double, int64_t, double>(), py::arg("first"), py::arg("last"), py::arg("steps"), py::arg("stop_factor"))
      .def("rate", &train::LrRange::rate, py::arg("step"), "Returns the learning rate of a step, counted from 0.")
      .def("add", &train::LrRange::add, py::arg("loss"), "Adds the loss of a step; returns False when the test is over.")
      .def_property_readonly("losses", &train::LrRange::losses)
      .def("smoothed", &train::LrRange::smoothed)
      .def("suggestion", &train::LrRange::suggestion)
      .def("csv", &train::LrRange::csv);
  m.def("checkpoint_files", &train::checkpoint_files, py::arg("folder"), py::arg("prefix"), "Returns the paths of a prefix's checkpoints, oldest first.");
  m.def("checkpoint_due", &train::checkpoint_due, py::arg("every_steps"), py::arg("every_seconds"), py::arg("steps_since"), py::arg("seconds_since"));
  m.def("free_checkpoint_prefix", &train::free_checkpoint_prefix, py::arg("folder"), py::arg("prefix"));
  m.def("remove_checkpoint", &train::remove_checkpoint, py::arg("path"));
  m.def(
      "rotate_checkpoints",
      [](const std::string& folder, const std::string& prefix, const std::string& newest, int64_t keep_max, int64_t minutes) {
        train::rotate_checkpoints(folder, prefix, newest, {keep_max, minutes});
      },
      py::arg("folder"), py::arg("prefix"), py::arg("newest"), py::arg("keep_max"), py::arg("keep_per_n_minutes"));
  m.def(
      "find_newest_checkpoint", [](const std::string& folder, const std::string& prefix) { return train::find_newest_checkpoint(folder, prefix); },
      py::arg("folder"), py::arg("prefix") = "");
  py::class_<PyNativeCell>(m, "NativeCell", "A network of the C++ library.")
      .def("__call__", &PyNativeCell::call)
      .def("parameters", &PyNativeCell::parameters, "Returns [(name, Parameter)] in definition order.")
      .def("grouped_weights", &PyNativeCell::grouped_weights, "Returns the names of the weights of grouped convolutions.")
      .def("prepare", &PyNativeCell::prepare, py::arg("algorithm"), py::arg("settings"),
           "Applies a training algorithm's changes to the network (BoostAlgorithm::prepare); parameters() returns others afterwards.")
      .def(
          "set_train", [](PyNativeCell& c, bool on) { c.cell().set_train(on); }, py::arg("on") = true)
      .def("describe", [](PyNativeCell& c) { return c.cell().tree(); });
  m.def(
      "create_network",
      [](const std::string& name, int64_t num_classes, int64_t in_channels, const std::string& variant, const std::string& conv_init,
         const std::string& dense_init, bool zero_init_residual, const py::dict& settings) {
        return std::make_unique<PyNativeCell>(models::create(name,
                                                             {.num_classes = num_classes,
                                                              .in_channels = in_channels,
                                                              .variant = variant,
                                                              .conv_init = conv_init,
                                                              .dense_init = dense_init,
                                                              .zero_init_residual = zero_init_residual,
                                                              .settings = settings_of(settings)}));
      },
      py::arg("name"), py::arg("num_classes") = 0, py::arg("in_channels") = 0, py::arg("variant") = "", py::arg("conv_init") = "", py::arg("dense_init") = "",
      py::arg("zero_init_residual") = false, py::arg("settings") = py::dict());
  m.def("network_names", &models::names);
}

}  // namespace sindri::python
