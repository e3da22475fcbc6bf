// Checkpoints, the networks that come with the library, and the C++ training step, for comparison.
#include "python/src/casters.h"
#include "sindri/models/models.h"
#include "sindri/train/checkpoint.h"

namespace sindri::python {

namespace {

using train::CheckpointEntry;

std::string save(const py::list& entries, const std::string& path, bool compat_mindspore1, const std::optional<py::function>& seal, int64_t block_bytes) {
  std::vector<CheckpointEntry> list;
  for (const py::handle h : entries) {
    const auto pair = py::reinterpret_borrow<py::tuple>(h);
    const auto name = py::cast<std::string>(pair[0]);
    const py::object value = pair[1];
    if (py::isinstance<py::str>(value)) {
      list.push_back(CheckpointEntry::text(name, py::cast<std::string>(value)));
    } else if (py::isinstance<py::bytes>(value)) {
      CheckpointEntry e;
      e.name = name, e.kind = CheckpointEntry::kBytes, e.data = py::cast<std::string>(value);
      list.push_back(std::move(e));
    } else {
      list.push_back(CheckpointEntry::of(name, to_tensor(value)));
      if (pair.size() > 2) list.back().stored_type = py::cast<std::string>(pair[2]);
    }
  }
  train::SaveOptions options;
  options.compat_mindspore1 = compat_mindspore1;
  options.block_bytes = block_bytes;
  if (seal.has_value()) {
    options.seal = [&seal](std::string_view block) {
      const py::gil_scoped_acquire acquire;
      const py::object sealed = (*seal)(py::bytes(block.data(), block.size()));
      if (!py::isinstance<py::bytes>(sealed))
        throw DTypeError("seal must return bytes, got " + py::cast<std::string>(py::str(py::type::of(sealed))), "save_checkpoint");
      return py::cast<std::string>(sealed);
    };
  }
  const py::gil_scoped_release release;
  return train::save_checkpoint(list, path, options);
}

py::list load(const std::string& path, const std::string& name) {
  train::LoadedCheckpoint c;
  {
    const py::gil_scoped_release release;
    c = train::load_checkpoint(path, name);
  }
  py::list out;
  for (const CheckpointEntry& e : c.entries) {
    py::object value = e.kind == CheckpointEntry::kTensor ? to_python(e.tensor)
        : e.kind == CheckpointEntry::kText                ? py::object(py::str(e.data))
                                                          : py::object(py::bytes(e.data));
    if (e.stored_type.empty()) out.append(py::make_tuple(e.name, value));
    else out.append(py::make_tuple(e.name, value, e.stored_type));
  }
  return out;
}

/// A network of the C++ library. Its Parameters are handed out as Python ones that keep the network alive.
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
  nn::Cell& cell() { return *cell_; }

 private:
  nn::CellPtr cell_;
};

}  // namespace

void bind_train(py::module_& m) {
  m.def("save_checkpoint", &save, py::arg("entries"), py::arg("path"), py::arg("compat_mindspore1") = false, py::arg("seal") = py::none(),
        py::arg("block_bytes") = int64_t{64} << 20,
        "Writes [(name, Tensor | str | bytes)] in MindSpore's form, with checksums, all or nothing; returns the path. A third member names the "
        "narrower type of the file ('Int8') of an integer Tensor. seal(bytes) -> bytes encrypts "
        "what goes to the file, in blocks of block_bytes.");
  m.def("load_checkpoint", &load, py::arg("path"), py::arg("name") = "",
        "[(name, Tensor | str | bytes)] in file order, with the file's type ('Int8') as a third member where Tensors have none such; checksums are verified "
        "where the file has them. Messages call the file `name` if it is given.");
  m.def("find_newest_checkpoint", &train::find_newest_checkpoint, py::arg("folder"), py::arg("prefix") = "");
  py::class_<PyNativeCell>(m, "NativeCell", "A network of the C++ library.")
      .def("__call__", &PyNativeCell::call)
      .def("parameters", &PyNativeCell::parameters, "[(name, Parameter)] in definition order.")
      .def(
          "set_train", [](PyNativeCell& c, bool on) { c.cell().set_train(on); }, py::arg("on") = true)
      .def("describe", [](PyNativeCell& c) { return c.cell().tree(); });
  m.def(
      "create_network",
      [](const std::string& name, int64_t num_classes, int64_t in_channels, const std::string& variant, const std::string& conv_init,
         const std::string& dense_init, bool zero_init_residual) {
        return std::make_unique<PyNativeCell>(models::create(name,
                                                             {.num_classes = num_classes,
                                                              .in_channels = in_channels,
                                                              .variant = variant,
                                                              .conv_init = conv_init,
                                                              .dense_init = dense_init,
                                                              .zero_init_residual = zero_init_residual}));
      },
      py::arg("name"), py::arg("num_classes") = 0, py::arg("in_channels") = 0, py::arg("variant") = "", py::arg("conv_init") = "", py::arg("dense_init") = "",
      py::arg("zero_init_residual") = false);
  m.def("network_names", &models::names);
}

}  // namespace sindri::python
