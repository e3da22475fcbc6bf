// Common subexpressions: two nodes with equal op, attributes and inputs compute the same values. Random ops carry an
// `instance` attribute, so draws that are meant to differ also differ here. Nodes that a Cell marked `recompute` runs
// again for its gradient are not merged with their first run: merging would keep alive the values that were to be dropped.
#include <xxhash.h>

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "sindri/core/rng.h"
#include "src/graph/passes/passes.h"

namespace sindri {

namespace {

// Equal constants are merged up to this size; comparing large weights would cost more than it can save.
constexpr int64_t kMaxComparedBytes = 1 << 16;

class Cse final : public Pass {
 public:
  const char* name() const override { return "cse"; }

  bool run(Graph& g, const PassContext&) override {
    bool changed = merge_constants(g);
    std::unordered_multimap<uint64_t, NodeId> seen;
    for (NodeId n : std::vector<NodeId>(g.order())) {
      if (g.node(n).op->traits.host_effect) continue;
      const uint64_t key = hash(g.node(n));
      const NodeId same = find(g, seen, key, n);
      if (same == kNoId) {
        seen.emplace(key, n);
        continue;
      }
      for (size_t k = 0; k < g.node(n).out.size(); ++k) g.replace_uses(g.node(n).out[k], g.node(same).out[k]);
      g.erase(n);
      changed = true;
    }
    return changed;
  }

 private:
  static uint64_t hash(const Graph::Node& n) {
    uint64_t h = hash_combine(reinterpret_cast<uintptr_t>(n.op), n.attrs.hash());
    for (ValueId v : n.in) h = hash_combine(h, static_cast<uint64_t>(v));
    return hash_combine(h, is_repeated(n) ? 1 : 0);
  }

  // Returns whether "recompute" is a part of the scope path ("WithLossCell/grad.recompute.Block.conv1").
  static bool is_repeated(const Graph::Node& n) {
    constexpr std::string_view kPart = "recompute";
    const std::string_view scope = n.scope;
    for (size_t at = scope.find(kPart); at != std::string_view::npos; at = scope.find(kPart, at + 1)) {
      const auto border = [&](size_t i) { return i >= scope.size() || scope[i] == '.' || scope[i] == '/'; };
      if ((at == 0 || border(at - 1)) && border(at + kPart.size())) return true;
    }
    return false;
  }

  static NodeId find(const Graph& g, const std::unordered_multimap<uint64_t, NodeId>& seen, uint64_t key, NodeId n) {
    const Graph::Node& a = g.node(n);
    for (auto [it, end] = seen.equal_range(key); it != end; ++it) {
      const Graph::Node& b = g.node(it->second);
      if (a.op == b.op && a.attrs == b.attrs && a.in == b.in && is_repeated(a) == is_repeated(b)) return it->second;
    }
    return kNoId;
  }

  static bool merge_constants(Graph& g) {
    bool changed = false;
    std::unordered_multimap<uint64_t, ValueId> seen;
    for (ValueId v : std::vector<ValueId>(g.constants())) {
      const Tensor& t = g.value(v).constant;
      const auto bytes = static_cast<size_t>(t.nbytes());
      if (t.nbytes() > kMaxComparedBytes) continue;
      const uint64_t key = XXH3_64bits(t.raw_data(), bytes);
      ValueId same = kNoId;
      for (auto [it, end] = seen.equal_range(key); it != end && same == kNoId; ++it) {
        const Tensor& other = g.value(it->second).constant;
        if (other.meta() == t.meta() && (bytes == 0 || std::memcmp(other.raw_data(), t.raw_data(), bytes) == 0)) same = it->second;
      }
      if (same == kNoId) {
        seen.emplace(key, v);
        continue;
      }
      g.replace_uses(v, same);
      g.erase_unused(v);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> make_cse() { return std::make_unique<Cse>(); }

}  // namespace sindri
