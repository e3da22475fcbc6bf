// What the kernels of adaptive_sum share.
#pragma once

#include <cstdint>

#include "ops/comm/comm_ops.h"

namespace sindri::comm_ops {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// Where this rank stands. Groups from `whole` on, if there are, are first combined with the groups before them and get their result.
struct Place {
  comm::Communicator& group;
  int64_t members, groups, whole, own_group, local;
  int rank_of(int64_t other_group) const { return static_cast<int>(other_group * members + local); }
};
/// Throws CommError (kLayout) for numbers of ranks and groups that do not fit.
SINDRI_API Place place_of(comm::Communicator& group, const AdaptiveSumAttrs& a);

/// A norm whose square is below the smallest safe one: its tensor adds nothing and takes nothing away.
inline constexpr double kTiny = 1.5e-154;

}  // namespace sindri::comm_ops
