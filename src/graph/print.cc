// The printed form of a graph. parse.cc reads it; golden tests and dumps contain it.
#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "sindri/graph/graph.h"

namespace sindri {

namespace {

constexpr int64_t kInlineElements = 16;

std::string quoted(const std::string& s) {
  std::string q = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    if (c == '\n') q += "\\n";
    else q += c;
  }
  return q + "\"";
}

// Returns the shortest text that reads back as a bitwise identical value. A NaN is written in hexadecimal, since its
// payload has no decimal form.
template <class T> std::string element_text(const T* p) {
  if constexpr (std::is_same_v<T, bool>) {
    return *p ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", *p);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
    const Wide x = static_cast<Wide>(*p);
    if (std::isnan(x)) {
      Bits bits;
      std::memcpy(&bits, p, sizeof bits);
      return fmt::format("nan(0x{:x})", bits);
    }
    return fmt::format("{}", x);
  }
}

std::string elements_text(const Tensor& t) {
  std::string s;
  dispatch_dtype(t.dtype(), [&]<class T>() {
    const T* p = static_cast<const T*>(t.raw_data());
    for (int64_t i = 0; i < t.numel(); ++i) s += (i == 0 ? "" : ", ") + element_text(p + i);  // in physical order
  });
  return s;
}

class Printer {
 public:
  Printer(const Graph& g, std::vector<Tensor>* pool) : g_(g), pool_(pool), number_(g.num_values(), kNoId) {}

  std::string run() {
    std::string s = fmt::format("graph {}{} {{\n", quoted(g_.name), g_.device().is_cpu() ? "" : " on " + quoted(g_.device().str()));
    for (ValueId v : g_.inputs()) s += fmt::format("  {} = input : {}\n", define(v), meta(v));
    for (const StateBinding& b : g_.states()) s += fmt::format("  {} = state {} : {}\n", define(b.read), quoted(b.name), meta(b.read));
    for (ValueId v : g_.constants()) s += constant(v);
    for (NodeId n : g_.order()) s += node(g_.node(n));
    for (const StateBinding& b : g_.states()) {
      if (b.written != kNoId) s += fmt::format("  state {} <- {}\n", name(b.read), name(b.written));
    }
    s += "  return";
    for (size_t i = 0; i < g_.outputs().size(); ++i) s += (i == 0 ? " " : ", ") + name(g_.outputs()[i]);
    return s + "\n}\n";
  }

 private:
  std::string name(ValueId v) const { return fmt::format("%{}", number_[static_cast<size_t>(v)]); }
  std::string define(ValueId v) {
    number_[static_cast<size_t>(v)] = next_++;
    return name(v);
  }
  std::string meta(ValueId v) const {
    TensorMeta m = g_.value(v).meta;
    m.device = {};  // the graph's
    return m.str();
  }

  std::string constant(ValueId v) {
    const Tensor& t = g_.value(v).constant;
    const std::string head = fmt::format("  {} = constant : {} = ", define(v), meta(v));
    if (t.numel() <= kInlineElements) return head + "{" + elements_text(t) + "}\n";
    if (pool_ != nullptr) pool_->push_back(t);
    return head + fmt::format("pool[{}] hash 0x{:016x}\n", pooled_++, XXH3_64bits(t.raw_data(), static_cast<size_t>(t.nbytes())));
  }

  std::string node(const Graph::Node& n) {
    std::string in, out, metas;
    for (ValueId v : n.in) in += (in.empty() ? "" : ", ") + name(v);
    for (ValueId v : n.out) {
      out += (out.empty() ? "" : ", ") + define(v);
      metas += (metas.empty() ? "" : ", ") + meta(v);
    }
    const std::string attrs = n.attrs.text();
    return fmt::format("  {} = {}({}){} : {}{}\n", out, n.op->name, in, attrs.empty() ? "" : " " + attrs, metas,
                       n.scope.empty() ? "" : " @ " + quoted(n.scope));
  }

  const Graph& g_;
  std::vector<Tensor>* pool_;
  std::vector<int32_t> number_;
  int32_t next_ = 0, pooled_ = 0;
};

}  // namespace

std::string Graph::text(std::vector<Tensor>* pool) const { return Printer(*this, pool).run(); }

}  // namespace sindri
