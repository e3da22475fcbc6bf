// Properties of a tree that are known without running it: sizes, columns, printed form.
#include "dataset/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "dataset/order.h"
#include "sindri/core/device.h"
#include "src/core/nearest.h"

namespace sindri::dataset {

Source& opened_source(Node& node) {
  node.opened.call([&] {
    const DeviceScope host(Device{});
    node.source->open();
  });
  return *node.source;
}

int64_t node_rows(Node& node) {
  if (node.kind == Node::Kind::kSource) return order_size(node.order, opened_source(node).rows());
  std::vector<int64_t> n;
  for (const auto& in : node.inputs) n.push_back(node_rows(*in));
  const int64_t rows = n[0];
  switch (node.kind) {
    case Node::Kind::kBatch: return rows < 0 ? -1 : node.drop_remainder ? rows / node.count : (rows + node.count - 1) / node.count;
    case Node::Kind::kRepeat: return node.count < 0 || rows < 0 ? (rows == 0 ? 0 : -1) : rows * node.count;
    case Node::Kind::kSkip: return rows < 0 ? -1 : std::max<int64_t>(0, rows - node.count);
    case Node::Kind::kTake: return node.count < 0 ? rows : rows < 0 ? node.count : std::min(rows, node.count);
    case Node::Kind::kZip: {
      int64_t least = -1;
      for (int64_t v : n) {
        if (v >= 0) least = least < 0 ? v : std::min(least, v);
      }
      return least;
    }
    case Node::Kind::kConcat: return n[0] < 0 || n[1] < 0 ? -1 : n[0] + n[1];
    case Node::Kind::kShard:
      if (rows < 0) throw ValueError("shard: its input has no end", "", "put repeat() after shard()");
      return shard_size(node.shard, rows);
    default: return rows;
  }
}

int column_index(const std::vector<ColumnInfo>& columns, const std::string& name, const std::string& who) {
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
    names.push_back(columns[i].name);
  }
  throw ValueError(fmt::format("{}: no column '{}', the columns are: {}", who, name, fmt::join(names, ", ")), "", did_you_mean(name, names));
}

namespace {

void check_unique(const std::vector<ColumnInfo>& columns, const std::string& who) {
  std::set<std::string> seen;
  for (const auto& c : columns) {
    if (!seen.insert(c.name).second) throw ValueError(fmt::format("{}: two columns are called '{}'", who, c.name), "", "rename one of them first");
  }
}

const char* kind_name(Node::Kind k) {
  static constexpr const char* kNames[] = {"Source", "Map", "Batch", "Shuffle", "Repeat", "Skip", "Take", "Rename", "Project", "Zip", "Concat", "Shard"};
  return kNames[static_cast<int>(k)];
}

std::vector<ColumnInfo> map_result(Node& node, std::vector<ColumnInfo> columns) {
  const MapColumns m = map_columns(node, columns);
  std::vector<ColumnInfo> in;
  for (int i : m.in) in.push_back(columns[static_cast<size_t>(i)]);
  std::vector<ColumnInfo> made = infer_ops(node, in);
  for (size_t i = 0; i < made.size(); ++i) made[i].name = m.out_names[i];
  if (made.size() == m.in.size()) {
    for (size_t i = 0; i < made.size(); ++i) columns[static_cast<size_t>(m.in[i])] = made[i];
  } else {
    // If the number of results differs from the number of inputs, the results replace the first input, and the other inputs are removed.
    std::vector<ColumnInfo> kept;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (static_cast<int>(i) == m.in[0]) kept.insert(kept.end(), made.begin(), made.end());
      if (std::find(m.in.begin(), m.in.end(), static_cast<int>(i)) == m.in.end()) kept.push_back(columns[i]);
    }
    columns = std::move(kept);
  }
  return columns;
}

ColumnInfo common(const ColumnInfo& a, const ColumnInfo& b) {
  ColumnInfo c = a;
  if (!a.dtype_known || !b.dtype_known) c.dtype_known = false;
  if (!a.rank_known || !b.rank_known || a.shape.rank() != b.shape.rank()) {
    c.rank_known = false;
    return c;
  }
  for (int i = 0; i < c.shape.rank(); ++i) {
    if (a.shape[i] != b.shape[i]) c.shape[i] = -1;
  }
  return c;
}

std::vector<ColumnInfo> concat_columns(const std::vector<ColumnInfo>& a, const std::vector<ColumnInfo>& b) {
  if (a.size() != b.size())
    throw ValueError(fmt::format("concat: the first dataset has {} columns, the second {}", a.size(), b.size()), "", "project both to the same columns");
  std::vector<ColumnInfo> out;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name)
      throw ValueError(fmt::format("concat: column {} is '{}' in the first dataset and '{}' in the second", i, a[i].name, b[i].name), "",
                       "rename or project one of them");
    if (a[i].dtype_known && b[i].dtype_known && a[i].dtype != b[i].dtype)
      throw DTypeError(
          fmt::format("concat: column '{}' is {} in the first dataset and {} in the second", a[i].name, dtype_name(a[i].dtype), dtype_name(b[i].dtype)), "",
          "add a TypeCast to one of them");
    out.push_back(common(a[i], b[i]));
  }
  return out;
}

}  // namespace

MapColumns map_columns(const Node& node, const std::vector<ColumnInfo>& columns) {
  MapColumns m;
  if (node.in_names.empty()) m.in.push_back(0);
  for (const auto& name : node.in_names) m.in.push_back(column_index(columns, name, "map"));
  m.out_names = node.out_names;
  if (m.out_names.empty()) {
    for (int i : m.in) m.out_names.push_back(columns[static_cast<size_t>(i)].name);
  }
  return m;
}

std::vector<ColumnInfo> infer_ops(const Node& node, std::vector<ColumnInfo> in) {
  for (size_t i = 0; i < node.ops.size(); ++i) {
    const RowOp& op = *node.ops[i].op();
    const std::string where = fmt::format("map operation {}, {}", i + 1, op.str());
    if (op.num_inputs() > 0 && static_cast<size_t>(op.num_inputs()) != in.size())
      throw ValueError(fmt::format("{} takes {} column, got {}", op.str(), op.num_inputs(), in.size()), where, "map each column separately");
    try {
      in = op.infer(in);
    } catch (Error& e) {
      e.add_where(where);
      throw;
    }
  }
  const size_t named = node.out_names.empty() ? std::max<size_t>(1, node.in_names.size()) : node.out_names.size();
  if (in.size() != named)
    throw ValueError(fmt::format("map: the last operation returns {} columns, {} names are given", in.size(), named), node_str(node),
                     "give output_columns one name per result");
  return in;
}

std::vector<ColumnInfo> node_columns(Node& node) {
  if (node.kind == Node::Kind::kSource) return opened_source(node).columns();
  std::vector<ColumnInfo> columns = node_columns(*node.inputs[0]);
  switch (node.kind) {
    case Node::Kind::kMap: columns = map_result(node, std::move(columns)); break;
    case Node::Kind::kBatch: {
      const int64_t n = node_rows(*node.inputs[0]);
      const bool fixed = node.drop_remainder || n < 0 || n % node.count == 0;
      for (auto& c : columns) {
        if (c.rank_known) c.shape.insert(0, fixed ? node.count : -1);
      }
      break;
    }
    case Node::Kind::kRename: {
      const std::vector<ColumnInfo> before = columns;  // two columns may exchange their names
      for (size_t i = 0; i < node.in_names.size(); ++i) columns[static_cast<size_t>(column_index(before, node.in_names[i], "rename"))].name = node.out_names[i];
      break;
    }
    case Node::Kind::kProject: {
      std::vector<ColumnInfo> kept;
      for (const auto& name : node.in_names) kept.push_back(columns[static_cast<size_t>(column_index(columns, name, "project"))]);
      columns = std::move(kept);
      break;
    }
    case Node::Kind::kZip:
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        for (auto& c : node_columns(*node.inputs[i])) columns.push_back(c);
      }
      break;
    case Node::Kind::kConcat: columns = concat_columns(columns, node_columns(*node.inputs[1])); break;
    default: break;
  }
  check_unique(columns, kind_name(node.kind));
  return columns;
}

int64_t rows_of_all_shards(const Node& node, int64_t rows) {
  if (node.kind == Node::Kind::kShard) return rows / node.shard.count * node.shard.num_shards;
  return node.inputs.empty() ? rows : rows_of_all_shards(*node.inputs[0], rows);
}

std::string node_str(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kSource: return fmt::format("{}, {}", node.source->str(), node.order.str());
    case Node::Kind::kMap: {
      std::vector<std::string> ops;
      for (const auto& op : node.ops) ops.push_back(op.str());
      return fmt::format("Map({} -> {}: {})", fmt::join(node.in_names, ", "), fmt::join(node.out_names, ", "), fmt::join(ops, ", "));
    }
    case Node::Kind::kBatch: return fmt::format("Batch({}, drop_remainder={})", node.count, node.drop_remainder);
    case Node::Kind::kRename:
    case Node::Kind::kProject: return fmt::format("{}({} -> {})", kind_name(node.kind), fmt::join(node.in_names, ", "), fmt::join(node.out_names, ", "));
    case Node::Kind::kZip:
    case Node::Kind::kConcat: return kind_name(node.kind);
    case Node::Kind::kShard:
      return fmt::format("Shard({} of {} from {}, block={}, pad={})", node.shard.count, node.shard.num_shards, node.shard.first, node.shard.block,
                         node.shard.pad);
    default: return fmt::format("{}({})", kind_name(node.kind), node.count);
  }
}

}  // namespace sindri::dataset
