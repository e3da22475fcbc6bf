// _core.ops: the public functions of include/sindri/ops, elementwise, shape and reduction families.
#include "python/src/op_function.h"
#include "sindri/autograd/grad.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::python {

namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

// Both as tensors; one of them may be a number.
std::pair<Tensor, Tensor> operands(py::handle a, py::handle b, bool compared = false) {
  const auto beside = compared ? &number_compared : &number_beside;
  const NumberKind kind_a = number_kind(a), kind_b = number_kind(b);
  if (kind_a != NumberKind::kNone && kind_b == NumberKind::kNone) {
    const Tensor y = to_tensor(b);
    return {beside(y, a, kind_a), y};
  }
  const Tensor x = to_tensor(a);
  return {x, kind_b != NumberKind::kNone ? beside(x, b, kind_b) : to_tensor(b)};
}

template <Binary F, bool compared = false> Tensor binary(py::handle a, py::handle b) {
  const auto [x, y] = operands(a, b, compared);
  return without_lock(x.numel() + y.numel(), [&, &x = x, &y = y] { return F(x, y); });
}

Tensor where(const Tensor& cond, py::handle a, py::handle b) {
  const auto [x, y] = operands(a, b);
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

// A field's own type decides: a tuple may be a Shape or a list, an int a double.
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

void bind_elementwise(py::module_& m) {
  const auto unary = [&](const char* name, Unary f) { def_op(m, name, f, py::arg("input")); };
  // clang-format off
#define SINDRI_UNARY(name) unary(#name, &ops::name);
  SINDRI_UNARY(neg)
  SINDRI_UNARY(abs)
  SINDRI_UNARY(sign) SINDRI_UNARY(floor) SINDRI_UNARY(ceil) SINDRI_UNARY(round) SINDRI_UNARY(exp) SINDRI_UNARY(expm1) SINDRI_UNARY(log) SINDRI_UNARY(log1p)
  SINDRI_UNARY(sqrt) SINDRI_UNARY(rsqrt) SINDRI_UNARY(square) SINDRI_UNARY(reciprocal) SINDRI_UNARY(sin) SINDRI_UNARY(cos) SINDRI_UNARY(erf)
  SINDRI_UNARY(tanh) SINDRI_UNARY(sigmoid) SINDRI_UNARY(relu) SINDRI_UNARY(relu6) SINDRI_UNARY(silu) SINDRI_UNARY(softplus) SINDRI_UNARY(hswish)
  SINDRI_UNARY(hsigmoid) SINDRI_UNARY(logical_not) SINDRI_UNARY(isnan) SINDRI_UNARY(isfinite) SINDRI_UNARY(zeros_like) SINDRI_UNARY(ones_like)
  SINDRI_UNARY(stop_gradient)
#undef SINDRI_UNARY
#define SINDRI_BINARY(name) def_op(m, #name, &binary<static_cast<Binary>(&ops::name)>, py::arg("input"), py::arg("other"));
  SINDRI_BINARY(add) SINDRI_BINARY(sub) SINDRI_BINARY(mul) SINDRI_BINARY(floor_div) SINDRI_BINARY(mod) SINDRI_BINARY(pow)
  SINDRI_BINARY(maximum) SINDRI_BINARY(minimum) SINDRI_BINARY(logical_and) SINDRI_BINARY(logical_or)
  SINDRI_BINARY(logical_xor) SINDRI_BINARY(bitwise_and) SINDRI_BINARY(bitwise_or) SINDRI_BINARY(bitwise_xor) SINDRI_BINARY(bitwise_left_shift)
  SINDRI_BINARY(bitwise_right_shift)
#undef SINDRI_BINARY
// A quotient of integers is a fraction: a number that their type does not hold keeps its value, as in comparisons.
#define SINDRI_COMPARE(name) def_op(m, #name, &binary<static_cast<Binary>(&ops::name), true>, py::arg("input"), py::arg("other"));
  SINDRI_COMPARE(div) SINDRI_COMPARE(equal) SINDRI_COMPARE(not_equal) SINDRI_COMPARE(less) SINDRI_COMPARE(less_equal) SINDRI_COMPARE(greater) SINDRI_COMPARE(greater_equal)
#undef SINDRI_COMPARE
      // clang-format on
      def_op(m, "leaky_relu", &ops::leaky_relu, py::arg("x"), py::arg("alpha") = 0.2);
  def_op(m, "elu", &ops::elu, py::arg("x"), py::arg("alpha") = 1.0);
  def_op(m, "gelu", &ops::gelu, py::arg("x"), py::arg("approximate") = true);
  def_op(m, "where", &where, py::arg("cond"), py::arg("a"), py::arg("b"));
  def_op(m, "clamp", &ops::clamp, py::arg("x"), py::arg("lo"), py::arg("hi"));
  def_op(
      m, "cast", [](const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }, py::arg("x"), py::arg("dtype"));
  def_documented_op(
      m, "scalar_like",
      "The number as it stands beside x: in x's type, but int64 or float32 where it is of a higher kind (bool, integer, fraction). ValueError: an integer "
      "that x's type does not hold.",
      [](const Tensor& x, py::handle value) {
        const NumberKind kind = number_kind(value);
        if (kind == NumberKind::kNone) throw py::type_error("scalar_like: expected a number");
        return to_python(number_beside(x, value, kind));
      },
      py::arg("x"), py::arg("value"));
}

void bind_shape(py::module_& m) {
  def_op(m, "reshape", &ops::reshape, py::arg("x"), py::arg("shape"));
  def_op(m, "flatten", &ops::flatten, py::arg("x"), py::arg("start_axis") = 1, py::arg("end_axis") = -1);
  def_op(m, "squeeze", &ops::squeeze, py::arg("x"), py::arg("axis"));
  def_documented_op(m, "expand_dims", "x with a dimension of size 1 put in at axis; counted from the end when negative.", &ops::expand_dims, py::arg("x"),
                    py::arg("axis"));
  def_op(m, "transpose", &ops::transpose, py::arg("x"), py::arg("perm"));
  def_op(m, "concat", &ops::concat, py::arg("xs"), py::arg("axis"));
  def_op(m, "stack", &ops::stack, py::arg("xs"), py::arg("axis"));
  def_op(
      m, "split", [](const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis) { return TensorTuple{ops::split(x, sizes, axis)}; }, py::arg("x"),
      py::arg("sizes"), py::arg("axis"));
  def_op(m, "slice", &ops::slice, py::arg("x"), py::arg("begin"), py::arg("end"), py::arg("stride") = std::vector<int64_t>{});
  def_op(m, "pad", &ops::pad, py::arg("x"), py::arg("pads"), py::arg("value") = 0.0, py::arg("mode") = "constant");
  def_op(m, "broadcast_to", &ops::broadcast_to, py::arg("x"), py::arg("shape"));
  def_op(m, "sum_to", &ops::sum_to, py::arg("x"), py::arg("shape"));
  def_op(m, "tile", &ops::tile, py::arg("x"), py::arg("repeats"));
  def_op(m, "gather", &ops::gather, py::arg("x"), py::arg("indices"), py::arg("axis") = 0);
  def_op(m, "scatter_add", &ops::scatter_add, py::arg("x"), py::arg("indices"), py::arg("updates"), py::arg("axis") = 0);
  def_op(m, "gather_elements", &ops::gather_elements, py::arg("x"), py::arg("indices"), py::arg("axis"));
  def_op(m, "ravel_indices", &ops::ravel_indices, py::arg("indices"), py::arg("dims"), py::arg("wrap") = true, py::arg("axes") = std::vector<int64_t>{});
  def_op(m, "one_hot", &ops::one_hot, py::arg("indices"), py::arg("depth"), py::arg("on") = 1.0, py::arg("off") = 0.0, py::arg("dtype") = DType::kFloat32);
  def_op(m, "arange", &ops::arange, py::arg("start"), py::arg("stop"), py::arg("step") = 1.0, py::arg("dtype") = DType::kInt64);
  def_op(m, "full", &ops::full, py::arg("shape"), py::arg("value"), py::arg("dtype") = DType::kFloat32);
  def_op(m, "embedding", &ops::embedding, py::arg("table"), py::arg("ids"));
}

void bind_reduce(py::module_& m) {
  using Reduce = Tensor (*)(const Tensor&, const ops::Axes&, bool);
  const auto reduce = [&](const char* name, Reduce f) { def_op(m, name, f, py::arg("x"), py::arg("axes") = ops::Axes{}, py::arg("keep_dims") = false); };
  reduce("sum", &ops::sum), reduce("mean", &ops::mean), reduce("prod", &ops::prod), reduce("max", &ops::max), reduce("min", &ops::min);
  reduce("any", &ops::any), reduce("all", &ops::all), reduce("logsumexp", &ops::logsumexp);
  def_op(m, "all_finite", &ops::all_finite, py::arg("tensors"));
  def_op(m, "argmax", &ops::argmax, py::arg("x"), py::arg("axis") = -1, py::arg("keep_dims") = false);
  def_op(m, "argmin", &ops::argmin, py::arg("x"), py::arg("axis") = -1, py::arg("keep_dims") = false);
  m.def("topk", &ops::topk, py::arg("x"), py::arg("k"), py::arg("axis") = -1, py::arg("largest") = true, py::call_guard<ReleaseForLongCall>(),
        op_doc("topk").c_str());
  def_op(m, "norm", &ops::norm, py::arg("x"), py::arg("p") = 2.0, py::arg("axes") = ops::Axes{}, py::arg("keep_dims") = false);
  def_op(m, "cumsum", &ops::cumsum, py::arg("x"), py::arg("axis") = -1);
}

}  // namespace

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
  py::module_ o = m.def_submodule("ops", "The functions of include/sindri/ops: eager, recorded by a tape, or traced, as the scopes in force say.");
  bind_op_function_type(m);
  bind_elementwise(o);
  bind_shape(o);
  bind_reduce(o);
  m.def(
      "run_op",
      [](const std::string& name, const std::vector<Tensor>& inputs, const py::dict& attrs) {
        const OpDef& op = find_op(name);
        return to_python_tuple(sindri::bind(op, op.attrs.make(to_fields(op, attrs)), inputs));
      },
      py::arg("name"), py::arg("inputs"), py::arg("attrs") = py::dict(), "Runs any op of the registry; attrs by the names describe_op gives.");
  m.def("param_use_input", &param_use_input, py::arg("op"), py::arg("attrs"), py::arg("operands"), py::arg("operand"),
        "What meets a Parameter that is this operand of an op (ParamUse::input); None where nothing does.");
  m.def("describe_op", [](const std::string& name) { return describe(find_op(name)); });
  m.def("op_names", [] {
    std::vector<std::string> names;
    for (const OpDef* op : all_ops()) names.emplace_back(op->name);
    return names;
  });
}

}  // namespace sindri::python
