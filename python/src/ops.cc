// _core.ops: the functions with a special form; the others are generated from their declarations (scripts/op_bindings.py). Running ops by name.
#include "python/src/op_function.h"
#include "sindri/autograd/grad.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"

namespace sindri::python {

namespace {

Tensor where(const Tensor& cond, py::handle a, py::handle b) {
  const auto [x, y] = binary_operands(a, b);
  return without_lock(cond.numel() + x.numel() + y.numel(), [&, &x = x, &y = y] { return ops::where(cond, x, y); });
}

AttrValue to_attr(py::handle h) {
  if (PyBool_Check(h.ptr())) return h.ptr() == Py_True;
  if (PyLong_Check(h.ptr())) return py::cast<int64_t>(h);
  if (PyFloat_Check(h.ptr())) return py::cast<double>(h);
  if (py::isinstance<py::str>(h)) return py::cast<std::string>(h);
  if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
    for (const py::handle item : h)
      if (PyFloat_Check(item.ptr())) return py::cast<std::vector<double>>(h);
    return py::cast<std::vector<int64_t>>(h);
  }
  return to_dtype(h);
}

py::object param_use_input(const std::string& name, const py::dict& attrs, const std::vector<Tensor>& operands, size_t operand) {
  ParamUse use;
  use.op = &find_op(name);
  use.attrs = use.op->attrs.make(to_fields(*use.op, attrs));
  use.operand = operand;
  use.operands = operands;
  return or_none(use.input());
}

py::dict describe(const OpDef& op) {
  py::dict fields;
  const Attrs defaults = op.attrs.make({});
  for (const AttrField& f : defaults.fields()) fields[f.name.c_str()] = attr_value_text(f.value);
  py::dict d;
  d["name"] = op.name;
  d["doc"] = op.doc;
  d["attrs"] = fields;
  d["differentiable"] = op.vjp != nullptr;
  return d;
}

void bind_written(py::module_& m) {
  def_op(m, "where", &where, py::arg("cond"), py::arg("a"), py::arg("b"));
  def_op(
      m, "cast", [](const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }, py::arg("x"), py::arg("dtype"));
  def_documented_op(m, "product",
                    R"doc(Returns input * other in MindSpore's result type: a 0-d tensor widens one with dimensions to another kind only.

Args:
    input (Tensor or number): The first factor.
    other (Tensor or number): The second factor; the operands broadcast.

Returns:
    A tensor of the broadcast shape.

Examples:
    >>> import sindri as ms
    >>> print(ms.ops.mul(ms.Tensor([1, 2]), ms.Tensor([3, 4])))
    [3 8])doc",
                    &binary_op<product_of, false>, py::arg("input"), py::arg("other"));
  def_documented_op(m, "quotient",
                    R"doc(Returns input / other in MindSpore's result type, float32 for integers: a 0-d tensor widens one with dimensions to another kind only.

Args:
    input (Tensor or number): The dividend.
    other (Tensor or number): The divisor; the operands broadcast.

Returns:
    A tensor of the broadcast shape.

Examples:
    >>> import sindri as ms
    >>> print(ms.ops.true_divide(ms.Tensor([1, 3]), 2))
    [0.5 1.5])doc",
                    &binary_op<quotient_of, true>, py::arg("input"), py::arg("other"));
  def_documented_op(
      m, "scalar_like",
      "Returns the number as a tensor for an op with x: in x's type, or in int64 or float32 if the number is of a higher kind (bool, integer, fraction). "
      "Raises ValueError for an integer that x's type cannot hold.",
      [](const Tensor& x, py::handle value) {
        const NumberKind kind = number_kind(value);
        if (kind == NumberKind::kNone) throw py::type_error("scalar_like: expected a number");
        return to_python(number_next_to(x, value, kind));
      },
      py::arg("x"), py::arg("value"));
}

}  // namespace

// The field's type decides: a tuple may be a Shape or a list, an int a double.
AttrFields to_fields(const OpDef& op, const py::dict& attrs) {
  AttrFields fields;
  const Attrs defaults = op.attrs.make({});
  for (const auto& [key, value] : attrs) {
    AttrField f{py::cast<std::string>(key), to_attr(value)};
    for (const AttrField& d : defaults.fields()) {
      if (d.name != f.name) continue;
      if (std::holds_alternative<double>(d.value) && std::holds_alternative<int64_t>(f.value)) f.value = static_cast<double>(std::get<int64_t>(f.value));
      if (std::holds_alternative<Shape>(d.value)) f.value = to_shape(value);
      if (std::holds_alternative<std::vector<double>>(d.value)) f.value = py::cast<std::vector<double>>(value);
    }
    fields.push_back(std::move(f));
  }
  return fields;
}

py::dict attrs_dict(const Attrs& attrs) {
  py::dict d;
  for (const AttrField& f : attrs.fields()) {
    d[f.name.c_str()] = std::visit(
        [](const auto& v) -> py::object {
          if constexpr (requires { v.begin(); } && !std::is_same_v<std::decay_t<decltype(v)>, std::string>)
            return py::tuple(py::cast(std::vector(v.begin(), v.end())));
          else return py::cast(v);
        },
        f.value);
  }
  return d;
}

void bind_ops(py::module_& m) {
  py::module_ o = m.def_submodule("ops", "The functions of include/sindri/ops: eager, recorded by a tape, or traced, depending on the active scopes.");
  bind_op_function_type(m);
  bind_declared_ops(o);
  bind_written(o);
  bind_clip(o);
  m.def(
      "run_op",
      [](const std::string& name, const std::vector<Tensor>& inputs, const py::dict& attrs) {
        const OpDef& op = find_op(name);
        return to_python_tuple(sindri::bind(op, op.attrs.make(to_fields(op, attrs)), inputs));
      },
      py::arg("name"), py::arg("inputs"), py::arg("attrs") = py::dict(), "Runs any op of the registry; attrs have the names that describe_op returns.");
  m.def("param_use_input", &param_use_input, py::arg("op"), py::arg("attrs"), py::arg("operands"), py::arg("operand"),
        "Returns the input that a Parameter is combined with if it is this operand of an op (ParamUse::input); None if there is none.");
  m.def("describe_op", [](const std::string& name) { return describe(find_op(name)); });
  m.def("op_names", [] {
    std::vector<std::string> names;
    for (const OpDef* op : all_ops()) names.emplace_back(op->name);
    return names;
  });
}

}  // namespace sindri::python
