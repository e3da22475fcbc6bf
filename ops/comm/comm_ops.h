// Attributes of the collective ops, and the names in them.
#pragma once

#include <string>

#include "sindri/comm/communicator.h"
#include "sindri/op/attrs.h"

namespace sindri::comm_ops {

struct AllReduceNodeAttrs {
  std::string op = "sum", group = "world", what = "all_reduce";
  int64_t index = 0;
  double scale = 1;
  std::string wire = "";
  bool watch = false;
  SINDRI_ATTRS(AllReduceNodeAttrs, op, group, what, index, scale, wire, watch)
};
struct GroupAttrs {
  std::string group = "world";
  SINDRI_ATTRS(GroupAttrs, group)
};
struct ReduceScatterAttrs {
  std::string op = "sum", group = "world";
  SINDRI_ATTRS(ReduceScatterAttrs, op, group)
};
struct BroadcastAttrs {
  int64_t root = 0;
  std::string group = "world";
  SINDRI_ATTRS(BroadcastAttrs, root, group)
};

/// Throws ValueError, naming `op`, for another name than sum, mean, max, min, prod.
ReduceOp parse_reduce_op(const char* op, const std::string& name);

}  // namespace sindri::comm_ops
