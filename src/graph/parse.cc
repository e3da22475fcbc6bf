// Reads the printed form of a graph. Nodes are appended one by one, so everything that infer checks is checked, and the
// types in the text must equal those that infer returns.
#include <fmt/format.h>
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/graph/graph.h"
#include "src/op/text_reader.h"

namespace sindri {

namespace {

class Parser : private TextReader {
 public:
  Parser(std::string_view text, Span<const Tensor> pool, Span<Parameter* const> params)
      : TextReader(text, "graph text"), pool_(pool), params_(params), graph_("") {}

  Graph run() {
    expect_word("graph");
    const std::string name = string();
    graph_ = Graph(name, try_word("on") ? find_device(string()) : Device{});
    expect("{");
    while (!try_word("return")) statement();
    std::vector<ValueId> outputs;
    if (peek() == '%') do
        outputs.push_back(use());
      while (try_symbol(","));
    graph_.set_outputs(std::move(outputs));
    expect("}");
    if (!at_end()) fail("unexpected text after the graph");
    return std::move(graph_);
  }

 private:
  // ----- values and types -----
  int32_t value_number() {
    expect("%");
    return static_cast<int32_t>(integer());
  }
  void define(int32_t number, ValueId v) {
    if (!values_.emplace(number, v).second) fail(fmt::format("%{} is defined twice", number));
  }
  ValueId use() {
    const int32_t n = value_number();
    const auto it = values_.find(n);
    if (it == values_.end()) fail(fmt::format("%{} is used before it is defined", n));
    return it->second;
  }
  TensorMeta meta() {
    TensorMeta m;
    m.dtype = parse_dtype(word());
    expect("[");
    if (!try_symbol("]")) {
      do {
        const int64_t d = integer();
        if (d < 0 || m.shape.rank() == Shape::kMaxRank) fail("not a shape");
        m.shape.push_back(d);
      } while (try_symbol(","));
      expect("]");
    }
    if (try_symbol(":")) {
      if (word() != layout_name(Layout::kChannelsLast) || m.shape.rank() != 4) fail("not a layout of this shape");
      m.layout = Layout::kChannelsLast;
    }
    return m;
  }

  TensorMeta here(TensorMeta m) const {
    m.device = graph_.device();
    return m;
  }

  // ----- statements -----
  void statement() {
    if (try_word("state")) {  // state %1 <- %9
      const ValueId read = use();
      expect("<-");
      const ValueId written = use();
      for (size_t i = 0; i < graph_.states().size(); ++i) {
        if (graph_.states()[i].read == read) return graph_.set_written(i, written);
      }
      fail("that value is not a state");
    }
    std::vector<int32_t> numbers;
    if (peek() == '%') do
        numbers.push_back(value_number());
      while (try_symbol(","));
    expect("=");
    const std::string what = word();
    if (what == "input" || what == "state" || what == "constant") {
      if (numbers.size() != 1) fail(what + " defines one value");
      if (what == "input") define(numbers[0], (expect(":"), graph_.add_input(here(meta()))));
      else if (what == "state") define(numbers[0], state());
      else define(numbers[0], (expect(":"), graph_.add_constant(constant(meta()))));
    } else {
      node(what, numbers);
    }
  }

  ValueId state() {
    const std::string name = string();
    expect(":");
    const TensorMeta m = here(meta());
    const size_t i = graph_.states().size();
    if (params_.empty()) return graph_.add_state(nullptr, name, m);
    if (i >= params_.size()) fail(fmt::format("{} parameters given, the graph has more states", params_.size()));
    if (!(params_[i]->meta() == m)) fail(fmt::format("state '{}' is {}, parameter '{}' {}", name, m.str(), params_[i]->name(), params_[i]->meta().str()));
    return graph_.add_state(params_[i], name, m);
  }

  Tensor constant(const TensorMeta& m) {
    expect("=");
    if (try_word("pool")) {
      expect("[");
      const auto i = static_cast<size_t>(integer());
      expect("]");
      if (i >= pool_.size()) fail(fmt::format("the pool holds {} constants", pool_.size()));
      const Tensor& t = pool_[i];
      if (!(t.meta() == m)) fail(fmt::format("pool[{}] is {}, expected {}", i, t.meta().str(), m.str()));
      expect_word("hash");
      if (word() != fmt::format("0x{:016x}", XXH3_64bits(t.raw_data(), static_cast<size_t>(t.nbytes()))))
        fail(fmt::format("pool[{}] holds other bytes than the graph was printed with", i));
      return t;
    }
    if (m.numel() > static_cast<int64_t>(size())) fail("more elements than the text can hold");
    Tensor t = Tensor::empty(m);
    expect("{");
    dispatch_dtype(m.dtype, [&]<class T>() {
      T* p = t.mutable_data<T>();
      for (int64_t i = 0; i < m.numel(); ++i) {
        if (i > 0) expect(",");
        p[i] = element<T>();
      }
    });
    expect("}");
    return t;
  }

  template <class T> T element() {
    const std::string s = number_text();
    if constexpr (std::is_same_v<T, bool>) {
      if (s != "true" && s != "false") fail("expected true or false");
      return s == "true";
    } else if constexpr (std::is_integral_v<T>) {
      const int64_t v = to_number<int64_t>(s);
      if (static_cast<int64_t>(static_cast<T>(v)) != v) fail(fmt::format("{} does not fit {}", v, dtype_name(dtype_of<T>)));
      return static_cast<T>(v);
    } else if (s == "nan" && try_symbol("(")) {
      const std::string bits = word();
      expect(")");
      const uint64_t v = std::strtoull(bits.c_str(), nullptr, 16);  // 0x…
      T x;
      std::memcpy(static_cast<void*>(&x), &v, sizeof x);  // little-endian: the low bytes come first
      return x;
    } else if constexpr (sizeof(T) == 8) {
      return to_number<double>(s);
    } else {
      return T(to_number<float>(s));  // not through double: rounding twice could miss the nearest float
    }
  }

  void node(const std::string& op_name, const std::vector<int32_t>& numbers) {
    const OpDef& op = find_op(op_name);
    std::vector<ValueId> in;
    expect("(");
    if (peek() == '%') do
        in.push_back(use());
      while (try_symbol(","));
    expect(")");
    const AttrFields fields = attributes();
    expect(":");
    std::vector<TensorMeta> metas;
    if (!numbers.empty()) do
        metas.push_back(meta());
      while (try_symbol(","));
    std::string scope;
    if (try_symbol("@")) scope = string();
    const size_t before = graph_.order().size();
    const NodeId n = graph_.append(op, op.attrs.make(fields), in, scope);
    if (graph_.order().size() != before + 1) fail(op_name + " takes its inputs in another layout");
    const std::vector<ValueId>& out = graph_.node(n).out;
    if (out.size() != numbers.size() || out.size() != metas.size()) fail(fmt::format("{} has {} outputs", op_name, out.size()));
    for (size_t k = 0; k < out.size(); ++k) {
      if (!(graph_.value(out[k]).meta == here(metas[k])))
        fail(fmt::format("output {} of {} is {}, the text says {}", k, op_name, graph_.value(out[k]).meta.str(), metas[k].str()));
      define(numbers[k], out[k]);
    }
  }

  Span<const Tensor> pool_;
  Span<Parameter* const> params_;
  Graph graph_;
  std::map<int32_t, ValueId> values_;
};

}  // namespace

Graph parse_graph(std::string_view text, Span<const Tensor> pool, Span<Parameter* const> params) { return Parser(text, pool, params).run(); }

}  // namespace sindri
