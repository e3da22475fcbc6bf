// Event files and their messages.
#include "sindri/train/summary.h"

#include "python/src/casters.h"

namespace sindri::python {

namespace {

namespace summary = train::summary;

std::vector<int64_t> shape_of(const py::array& a) { return {a.shape(), a.shape() + a.ndim()}; }

template <class T> py::array_t<T> converted(const py::array& a) { return py::array_t<T, py::array::c_style | py::array::forcecast>(a); }
template <class T> std::span<const T> elements(const py::array_t<T>& a) { return {a.data(), static_cast<size_t>(a.size())}; }

std::string tensor_value(const std::string& tag, const py::array& a) {
  const auto type = py::cast<std::string>(a.dtype().attr("name"));
  const auto encode = [&](const auto& held) { return summary::tensor_value(tag, type, shape_of(a), elements(held)); };
  if (type == "float64") return encode(converted<double>(a));
  if (type == "float32" || type == "float16") return encode(converted<float>(a));
  return a.dtype().kind() == 'c' || a.dtype().kind() == 'O' ? summary::tensor_value(tag, type, {}, std::span<const int64_t>()) : encode(converted<int64_t>(a));
}

// Returns the Summary.Value of a plugin.
py::bytes value_of(const std::string& plugin, const std::string& tag, const py::object& value) {
  if (plugin == "landscape") return summary::landscape_value(tag, py::cast<std::string>(value));
  const py::array a = py::array::ensure(value);
  if (plugin == "tensor") return tensor_value(tag, a);
  const py::array_t<double> numbers = converted<double>(a);
  if (plugin == "histogram") return summary::histogram_value(tag, elements(numbers));
  if (plugin == "image") return summary::image_value(tag, shape_of(a), elements(numbers), a.dtype().kind() == 'u' && a.itemsize() == 1);
  if (plugin == "scalar" && a.size() > 0) return summary::scalar_value(tag, *numbers.data());
  throw ValueError("there is no summary of the kind '" + plugin + "'");
}

summary::Facts facts_of(const py::dict& given) {
  summary::Facts out;
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    if (value.is_none()) continue;
    if (py::isinstance<py::int_>(value)) out.emplace_back(name, py::cast<int64_t>(value));
    else if (py::isinstance<py::float_>(value)) out.emplace_back(name, py::cast<double>(value));
    else out.emplace_back(name, py::cast<std::string>(py::str(value)));
  }
  return out;
}

}  // namespace

void bind_summary(py::module_& m) {
  py::module_ events = m.def_submodule("events", "MindSpore's event files (include/sindri/train/summary.h).");
  events.def(
      "masked_crc32c", [](const py::bytes& data) { return summary::masked_crc32c(std::string(data)); }, py::arg("data"));
  events.def(
      "crc32c", [](const py::bytes& data) { return summary::crc32c(std::string(data)); }, py::arg("data"));
  events.def("value", &value_of, py::arg("plugin"), py::arg("tag"), py::arg("value"),
             "Returns the Summary.Value of an array for the plugin 'scalar', 'tensor', 'image' or 'histogram', or of the bytes of a 'landscape'.");
  events.def(
      "summary",
      [](const std::vector<py::bytes>& values) {
        return py::bytes(summary::summary({values.begin(), values.end()}));
      },
      py::arg("values"), "Returns a Summary message of such values.");
  events.def(
      "graph",
      [](const std::vector<std::pair<std::string, std::string>>& cells,
         const std::vector<std::tuple<std::string, std::string, std::vector<int64_t>>>& parameters) {
        std::vector<summary::GraphParameter> list;
        for (const auto& [name, type, shape] : parameters) list.push_back({name, type, shape});
        return py::bytes(summary::graph(cells, list));
      },
      py::arg("cells"), py::arg("parameters"), "Returns a GraphProto of [(dotted name, class)] and [(name, type, shape)].");
  events.def(
      "lineage", [](const std::string& plugin, const py::dict& facts) { return py::bytes(summary::lineage(plugin, facts_of(facts))); }, py::arg("plugin"),
      py::arg("facts"), "Returns the message of a lineage plugin; facts that are None are omitted.");
  py::class_<summary::EventFile>(events, "EventFile",
                                 "An event file, created with its first event; readable by its owner only, and read-only after it is closed.")
      .def(py::init<std::string, std::string, std::string, bool, std::optional<int64_t>>(), py::arg("folder"), py::arg("prefix"), py::arg("suffix"),
           py::arg("version"), py::arg("max_bytes"))
      .def(
          "write",
          [](summary::EventFile& f, const std::string& plugin, const py::bytes& message, std::optional<int64_t> step) {
            return f.write(plugin, std::string(message), step);
          },
          py::arg("plugin"), py::arg("message"), py::arg("step") = py::none(),
          "Appends an event of the plugin; returns False and writes nothing if the file would exceed its size.")
      .def("close", &summary::EventFile::close, "Closes the file.")
      .def_property_readonly("path", &summary::EventFile::path);
}

}  // namespace sindri::python
