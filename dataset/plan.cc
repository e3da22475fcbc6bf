// Compiles the tree of nodes to programs, and fuses neighbouring operations.
#include "dataset/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "dataset/transforms/fused_tail.h"

namespace sindri::dataset {

namespace {

class Compiler {
 public:
  Compiler(Plan& plan, const PlanOptions& options) : plan_(plan), options_(options) {}

  std::unique_ptr<Program> compile(Node& root) {
    auto p = std::make_unique<Program>();
    p->columns = node_columns(root);
    p->outputs = visit(root, {}, *p);
    return p;
  }

 private:
  std::vector<int> visit(Node& node, std::vector<IndexOp> path, Program& p) {
    if (node.kind == Node::Kind::kShard) return shard(node, std::move(path), p);
    const uint32_t number = next_number_++;
    plan_.tree.push_back(tree_str(node));
    plan_.workers = std::max(plan_.workers, node.workers);
    switch (node.kind) {
      case Node::Kind::kSource: return source(node, std::move(path), p);
      case Node::Kind::kMap: return map(node, std::move(path), p);
      case Node::Kind::kBatch: return nested(node, std::move(path), p);
      case Node::Kind::kConcat: return nested(node, std::move(path), p);
      case Node::Kind::kZip: {
        std::vector<int> regs;
        for (auto& in : node.inputs) {
          for (int r : visit(*in, path, p)) regs.push_back(r);
        }
        return regs;
      }
      case Node::Kind::kRename: return visit(*node.inputs[0], std::move(path), p);
      case Node::Kind::kProject: {
        const std::vector<ColumnInfo> columns = node_columns(*node.inputs[0]);
        const std::vector<int> in = visit(*node.inputs[0], std::move(path), p);
        std::vector<int> regs;
        for (const auto& name : node.in_names) regs.push_back(in[static_cast<size_t>(column_index(columns, name, "project"))]);
        return regs;
      }
      case Node::Kind::kTake: break;  // the first rows keep their index
      case Node::Kind::kShuffle:
        if (node_rows(*node.inputs[0]) < 0) throw ValueError("shuffle: its input has no end", node_str(node), "put repeat() after shuffle()");
        plan_.shuffles.push_back(std::make_unique<PassCache<std::vector<int64_t>>>());
        path.push_back({node.kind, node.count, node_rows(*node.inputs[0]), number, static_cast<int>(plan_.shuffles.size()) - 1});
        break;
      default: path.push_back({node.kind, node.count, node_rows(*node.inputs[0]), number, -1});
    }
    return visit(*node.inputs[0], std::move(path), p);
  }

  // A shard node has no number and no entry in the printed tree, so random draws and saved states are those of the pipeline without it.
  std::vector<int> shard(Node& node, std::vector<IndexOp> path, Program& p) {
    Node& in = *node.inputs[0];
    const int64_t rows = node_rows(in), sources = next_source_;
    const bool sequential = plan_.has_sequential;
    plan_.has_sequential = false;
    if (node.shard.pad) plan_.rows_padded += node.shard.num_shards * ((rows + node.shard.num_shards - 1) / node.shard.num_shards) - rows;
    plan_.sharded |= node.shard.num_shards > node.shard.count;
    plan_.in_shards |= node.shard.num_shards > 1;
    plan_.several_shards |= node.shard.count > 1;
    path.push_back({.kind = node.kind, .rows = rows, .shard = node.shard});
    std::vector<int> regs = visit(in, std::move(path), p);
    if (plan_.has_sequential && next_source_ > sources)
      throw ValueError("shard: a sequential source cannot be sharded, because its rows can only be read in order", node_str(node),
                       "use a random-access source");
    plan_.has_sequential = sequential;
    return regs;
  }

  // The printed form of a node. For a batch it shows the number of rows that all shards together contribute to it.
  static std::string tree_str(const Node& node) {
    if (node.kind != Node::Kind::kBatch) return node_str(node);
    return fmt::format("Batch({}, drop_remainder={})", rows_of_all_shards(node, node.count), node.drop_remainder);
  }

  std::vector<int> add_leaf(std::unique_ptr<Leaf> leaf, size_t columns, Program& p) {
    for (size_t i = 0; i < columns; ++i) leaf->regs.push_back(p.num_regs++);
    std::vector<int> regs = leaf->regs;
    p.leaves.push_back(std::move(leaf));
    return regs;
  }

  std::vector<int> source(Node& node, std::vector<IndexOp> path, Program& p) {
    auto leaf = std::make_unique<Leaf>();
    const Source& s = opened_source(node);
    leaf->node = &node;
    leaf->id = next_source_++;
    leaf->rows = order_size(node.order, s.rows());
    check_subset(node, s);
    const SequentialReader::Order order = order_below(path);
    leaf->path = std::move(path);
    if (s.sequential()) {
      if (options_.on_corrupt != OnCorrupt::kFail)
        throw ValueError("a sequential source cannot replace or skip bad rows: it cannot be read again", node_str(node),
                         "use a random-access source, or on_corrupt = fail");
      leaf->reader = std::make_unique<SequentialReader>(s, order);
      plan_.has_sequential = true;
    } else {
      plan_.orders.push_back(std::make_unique<PassCache<PassOrder>>());
      leaf->cache = static_cast<int>(plan_.orders.size()) - 1;
    }
    plan_.rows_padded += order_padding(node.order, s.rows());
    plan_.sharded |= node.order.sharded();
    source_rows_ += s.rows();
    plan_.listing = hash_combine(hash_combine(plan_.listing, s.listing_hash()), static_cast<uint64_t>(s.rows()));
    return add_leaf(std::move(leaf), s.columns().size(), p);
  }

  // The order in which rows are requested below these operations.
  SequentialReader::Order order_below(const std::vector<IndexOp>& path) const {
    using Order = SequentialReader::Order;
    Order order = order_above_;
    for (const IndexOp& op : path) {
      if (op.kind == Node::Kind::kShuffle && order == Order::kRising) order = Order::kAnyOfAPass;
      if (op.kind == Node::Kind::kRepeat && order == Order::kAnyOfAPass) order = Order::kAnyOfSeveral;
    }
    return order;
  }

  static void check_subset(const Node& node, const Source& s) {
    for (int64_t i : node.order.sampler.indices) {
      if (i >= s.rows()) throw ValueError(fmt::format("sampler index {} is out of range: the source has {} rows", i, s.rows()), node_str(node));
    }
  }

  // Batch and concat: leaves of this program with their own programs.
  std::vector<int> nested(Node& node, std::vector<IndexOp> path, Program& p) {
    auto leaf = std::make_unique<Leaf>();
    leaf->kind = node.kind;
    leaf->node = &node;
    leaf->path = std::move(path);
    const SequentialReader::Order outer = order_above_;
    order_above_ = order_below(leaf->path);
    for (auto& in : node.inputs) {
      leaf->sizes.push_back(node_rows(*in));
      auto inner = std::make_unique<Program>();
      inner->columns = node_columns(*in);
      inner->outputs = visit(*in, {}, *inner);
      finish(*inner);
      leaf->programs.push_back(std::move(inner));
    }
    order_above_ = outer;
    leaf->rows = leaf->sizes[0];
    if (node.kind == Node::Kind::kConcat && leaf->sizes[0] < 0)
      throw ValueError("concat: its first input has no end", node_str(node), "put repeat() after concat()");
    const size_t columns = leaf->programs[0]->columns.size();
    return add_leaf(std::move(leaf), columns, p);
  }

  std::vector<int> map(Node& node, std::vector<IndexOp> path, Program& p) {
    const std::vector<ColumnInfo> columns = node_columns(*node.inputs[0]);
    const MapColumns m = map_columns(node, columns);
    const size_t leaves_before = p.leaves.size();
    std::vector<int> regs = visit(*node.inputs[0], std::move(path), p);
    std::vector<int> current;
    for (int i : m.in) current.push_back(regs[static_cast<size_t>(i)]);
    for (size_t i = 0; i < node.ops.size(); ++i) {
      Step s;
      s.op = node.ops[i].op();
      s.in = current;
      current.clear();
      for (int k = 0; k < s.op->num_outputs(); ++k) current.push_back(p.num_regs++);
      s.out = current;
      s.number = next_number_++;
      s.leaf = leaves_before;  // of several leaves (zip), the first below this map
      s.where = fmt::format("map operation {}, {}", i + 1, s.op->str());
      p.steps.push_back(std::move(s));
    }
    if (current.size() == m.in.size()) {
      for (size_t i = 0; i < current.size(); ++i) regs[static_cast<size_t>(m.in[i])] = current[i];
      return regs;
    }
    std::vector<int> out;
    for (size_t i = 0; i < regs.size(); ++i) {
      if (static_cast<int>(i) == m.in[0]) out.insert(out.end(), current.begin(), current.end());
      if (std::find(m.in.begin(), m.in.end(), static_cast<int>(i)) == m.in.end()) out.push_back(regs[i]);
    }
    return out;
  }

 public:
  int64_t source_rows() const { return source_rows_; }

  // Removes steps whose results are unused, fuses, and records which results are output columns.
  static void finish(Program& p) {
    std::vector<char> needed(static_cast<size_t>(p.num_regs), 0);
    for (int r : p.outputs) needed[static_cast<size_t>(r)] = 1;
    for (size_t i = p.steps.size(); i-- > 0;) {
      bool used = false;
      for (int r : p.steps[i].out) used |= needed[static_cast<size_t>(r)] != 0;
      if (!used) {
        p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      for (int r : p.steps[i].in) needed[static_cast<size_t>(r)] = 1;
    }
    const char* mode = std::getenv("SINDRI_DATA_PLAN");
    if (mode == nullptr || *mode == 0) {
      fuse(p);
    } else if (std::string_view(mode) != "none") {
      throw SettingsError(fmt::format("SINDRI_DATA_PLAN={} is not known", mode), "environment", "use none, or leave it unset");
    }
    std::vector<int> writer(static_cast<size_t>(p.num_regs), -1);
    for (auto& s : p.steps) {
      s.dest.assign(s.out.size(), -1);
      for (size_t k = 0; k < s.out.size(); ++k) {
        const auto it = std::find(p.outputs.begin(), p.outputs.end(), s.out[k]);
        if (it == p.outputs.end()) continue;
        s.dest[k] = static_cast<int>(it - p.outputs.begin());
        writer[static_cast<size_t>(s.out[k])] = s.dest[k];
      }
    }
    // A column projected twice is written once and then copied.
    for (size_t c = 0; c < p.outputs.size(); ++c) {
      if (writer[static_cast<size_t>(p.outputs[c])] != static_cast<int>(c)) p.direct.push_back(static_cast<int>(c));
    }
  }

 private:
  // Replaces chains of single-column steps by one fused step if one exists. The result is bitwise identical, with one pass over the image.
  static void fuse(Program& p) {
    std::vector<int> uses(static_cast<size_t>(p.num_regs), 0);
    for (int r : p.outputs) uses[static_cast<size_t>(r)] += 2;  // an output must be materialised
    for (const auto& s : p.steps) {
      for (int r : s.in) ++uses[static_cast<size_t>(r)];
    }
    for (size_t i = 0; i < p.steps.size(); ++i) {
      std::vector<size_t> chain = {i};
      while (true) {
        const Step& last = p.steps[chain.back()];
        if (last.out.size() != 1 || uses[static_cast<size_t>(last.out[0])] != 1) break;
        size_t next = chain.back() + 1;
        while (next < p.steps.size() && (p.steps[next].in.size() != 1 || p.steps[next].in[0] != last.out[0])) ++next;
        if (next == p.steps.size()) break;
        chain.push_back(next);
      }
      std::vector<FusePart> parts;
      for (size_t k : chain) parts.push_back({p.steps[k].op, p.steps[k].number});
      const Fused fused = fuse_ops(parts);
      if (!fused.op) continue;
      Step& first = p.steps[i];
      first.op = fused.op;
      first.number = fused.number;
      first.out = p.steps[chain[fused.length - 1]].out;
      first.where = fmt::format("fused map operations, {}", fused.op->str());
      for (size_t k = fused.length - 1; k >= 1; --k) p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(chain[k]));
    }
  }

  Plan& plan_;
  const PlanOptions& options_;
  uint32_t next_number_ = 0;
  int next_source_ = 0;
  int64_t source_rows_ = 0;
  SequentialReader::Order order_above_ = SequentialReader::Order::kRising;  // of the program around the one being compiled
};

}  // namespace

bool may_be_empty(const Node& node) {
  if (node.kind == Node::Kind::kShard && !node.shard.pad) return true;
  if (node.kind == Node::Kind::kSource)
    return node.order.sampler.kind == Sampler::Kind::kDistributed && (!node.order.sampler.pad || node.order.sampler.offset >= 0);
  return std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& in) { return may_be_empty(*in); });
}

bool is_sharded(const Node& node) {
  if (node.kind == Node::Kind::kSource) return node.order.sharded();
  if (node.kind == Node::Kind::kShard && node.shard.num_shards > node.shard.count) return true;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [](const auto& in) { return is_sharded(*in); });
}

std::unique_ptr<Plan> make_plan(Node& root, const PlanOptions& options) {
  auto plan = std::make_unique<Plan>();
  plan->seed = options.seed;
  plan->draw_key = seed_key(options.seed);
  plan->on_corrupt = options.on_corrupt;
  plan->workers = 0;
  plan->items = node_rows(root);
  Compiler compiler(*plan, options);
  plan->top = compiler.compile(root);
  Compiler::finish(*plan->top);
  plan->max_corrupt = options.max_corrupt >= 0 ? options.max_corrupt : std::max<int64_t>(100, compiler.source_rows() / 1000);
  return plan;
}

}  // namespace sindri::dataset
