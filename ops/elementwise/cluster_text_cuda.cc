// See cluster_text.h.
#include "ops/elementwise/cluster_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "sindri/core/error.h"

namespace sindri::elementwise {

namespace {

const char* element_name(DType t) {
  switch (t) {
    case DType::kBool:
    case DType::kUInt8: return "uint8_t";
    case DType::kInt32: return "int32_t";
    case DType::kInt64: return "int64_t";
    case DType::kFloat16: return "Half";
    case DType::kBFloat16: return "Bf16";
    case DType::kFloat32: return "float";
    default: return "double";
  }
}
const char* form_name(DType t) { return t == DType::kFloat64 ? "double" : is_floating(t) ? "float" : "Int"; }

std::string value_name(const ClusterOperand& o) { return fmt::format("{}{}", o.step ? 't' : 'i', o.index); }

// Code that rounds a step's value as if it had been written and read again; empty if this changes nothing.
std::string rounding(size_t step, DType t) {
  switch (t) {
    case DType::kBool: return fmt::format(" t{0} = truth(t{0});", step);
    case DType::kUInt8:
    case DType::kInt32:
    case DType::kFloat16:
    case DType::kBFloat16: return fmt::format(" t{0} = rounded<{1}>(t{0});", step, element_name(t));
    default: return "";
  }
}

std::string step_text(const ClusterStep& s, size_t k, const std::vector<DType>& from, DType to) {
  std::string line = fmt::format("    {} t{};", form_name(to), k);
  const std::string_view name = s.op->name;
  if (name == "where") {
    line += fmt::format(" t{} = {}.v != 0 ? {} : {};", k, value_name(s.in[0]), value_name(s.in[1]), value_name(s.in[2]));
  } else if (name == "cast") {
    if (is_floating(from[0]) && !is_floating(to)) {
      const char* const by = to == DType::kBool ? "to_bool" : to == DType::kInt64 ? "to_int64" : "to_int32";
      line += fmt::format(" t{} = {}({});", k, by, value_name(s.in[0]));
    } else {
      line += fmt::format(" convert({}, &t{});", value_name(s.in[0]), k);
    }
  } else {
    const std::array<double, 2> p = numbers_of(s.attrs);
    line += fmt::format(" {{ using T = {};", form_name(from[0]));
    if (s.in.size() == 1) line += fmt::format(" const T x = {};", value_name(s.in[0]));
    else line += fmt::format(" [[maybe_unused]] const T a = {}, b = {};", value_name(s.in[0]), value_name(s.in[1]));
    if (!s.attrs.fields().empty())
      line += fmt::format(" [[maybe_unused]] const double p0 = number({:#x}ull), p1 = number({:#x}ull);", std::bit_cast<uint64_t>(p[0]),
                          std::bit_cast<uint64_t>(p[1]));
    line += fmt::format(" put({}, &t{}); }}", s.op->expr, k);
  }
  return line + rounding(k, to) + "\n";
}

}  // namespace

ClusterText cluster_text(const ClusterProgram& program, Span<const TensorMeta> in, const OperandWalk& walk) {
  const std::vector<TensorMeta> made = infer_cluster_steps(program, in);
  // The narrowest type among contiguous operands and results decides: 16 bytes of it, at most 8 elements.
  size_t narrowest = 8;
  for (size_t k = 0; k < in.size(); ++k)
    if (walk.flat[k]) narrowest = std::min(narrowest, dtype_size(in[k].dtype));
  for (size_t k : program.out) narrowest = std::min(narrowest, dtype_size(made[k].dtype));
  ClusterText t;
  t.vector = static_cast<int>(std::min<size_t>(8, 16 / narrowest));

  std::string before, each, after;
  const auto last = static_cast<size_t>(std::max(walk.rank - 1, 0));
  for (size_t k = 0; k < in.size(); ++k) {
    const char* const e = element_name(in[k].dtype);
    const auto& stride = walk.stride[k];
    if (walk.flat[k]) {
      before += fmt::format("  const Pack<{0}, V> x{1} = load<{0}, V>(args.in[{1}], i);\n", e, k);
      each += fmt::format("    const {} i{} = value(x{}.e[v]);\n", form_name(in[k].dtype), k, k);
    } else if (std::all_of(stride.begin(), stride.begin() + walk.rank, [](int64_t s) { return s == 0; })) {
      before += fmt::format("  const {} i{} = value(*static_cast<const {}*>(args.in[{}]));\n", form_name(in[k].dtype), k, e, k);
    } else if (walk.size[last] % t.vector == 0 && (stride[last] == 0 || stride[last] == 1)) {  // a group is within a row
      before += fmt::format("  const {0}* const x{1} = static_cast<const {0}*>(args.in[{1}]) + offset<{2}>(args, {1}, i);\n", e, k, walk.rank);
      each += fmt::format("    const {} i{} = value(x{}[{}]);\n", form_name(in[k].dtype), k, k, stride[last] == 0 ? "0" : "v");
    } else {
      each += fmt::format("    const {0} i{1} = value(static_cast<const {2}*>(args.in[{1}])[offset<{3}>(args, {1}, i + v)]);\n", form_name(in[k].dtype), k, e,
                          walk.rank);
    }
  }
  for (size_t k = 0; k < program.steps.size(); ++k) {
    const ClusterStep& s = program.steps[k];
    std::vector<DType> from;
    for (const ClusterOperand& o : s.in) from.push_back((o.step ? made[o.index] : in[o.index]).dtype);
    if (s.op->expr == nullptr) throw InternalError(fmt::format("elementwise_cluster: no expression of {}", s.op->name));
    each += step_text(s, k, from, made[k].dtype);
  }
  for (size_t k = 0; k < program.out.size(); ++k) {
    const char* const e = element_name(made[program.out[k]].dtype);
    before += fmt::format("  Pack<{}, V> y{};\n", e, k);
    each += fmt::format("    element(t{}, &y{}.e[v]);\n", program.out[k], k);
    after += fmt::format("  store<{0}, V>(args.out[{1}], i, y{1});\n", e, k);
  }
  t.text = fmt::format(
      "#define SINDRI_GENERATED_CLUSTER\n#include \"ops/elementwise/generated_cluster.h\"\nnamespace sindri::cuda::generated {{\n"
      "template <int V> SINDRI_GENERATED void compute(const ClusterArgs& args, int64_t i) {{\n{}"
      "  SINDRI_UNROLL for (int v = 0; v < V; ++v) {{\n{}  }}\n{}}}\n"
      "SINDRI_CLUSTER_KERNEL {{\n"
      "  for (int64_t g = global_thread(); g < args.groups; g += global_threads()) compute<{}>(args, g * {});\n"
      "  for (int64_t i = args.groups * {} + global_thread(); i < args.n; i += global_threads()) compute<1>(args, i);\n"
      "}}\n}}  // namespace sindri::cuda::generated\n",
      before, each, after, t.vector, t.vector, t.vector);
  return t;
}

}  // namespace sindri::elementwise
