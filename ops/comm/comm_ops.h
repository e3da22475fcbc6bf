// Attributes of the collective ops and the names in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/ops/comm.h"

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
struct AdaptiveSumAttrs {
  int64_t members = 1;
  bool fold = false;
  std::string group = "world";
  SINDRI_ATTRS(AdaptiveSumAttrs, members, fold, group)
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

struct ExchangeAttrs {
  std::vector<int64_t> to, from;  ///< ranks of the group; operand i is sent to to[i], result i is received from from[i]
  std::vector<int64_t> shapes;  ///< shapes of the results, each as its rank followed by its dimensions (pack_shapes)
  DType dtype = DType::kFloat32;
  int64_t tag = 0;
  std::string group = "world";
  SINDRI_ATTRS(ExchangeAttrs, to, from, shapes, dtype, tag, group)
};

/// Throws ValueError, naming `op`, if the name is not sum, mean, max, min or prod.
SINDRI_API ReduceOp parse_reduce_op(const char* op, const std::string& name);
/// Converts to and from ExchangeAttrs::shapes. Throws ValueError if the values are not such a list.
std::vector<int64_t> pack_shapes(const std::vector<Shape>& shapes);
std::vector<Shape> unpack_shapes(const std::vector<int64_t>& packed);

/// Returns the non-finite operand that watched calls on devices found, if any. ops::take_nonfinite_operand calls it after it has checked the host's own
/// findings. Registered at load time.
using NonFiniteSource = std::optional<ops::NonFiniteOperand> (*)();
SINDRI_API bool add_nonfinite_source(NonFiniteSource source);

}  // namespace sindri::comm_ops
