// Shared by the kernels of adaptive_sum.
#pragma once

#include <cstdint>

#include "ops/comm/comm_ops.h"

namespace sindri::comm_ops {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// The position of this rank. `whole` is the largest power of two up to `groups`. Group g >= whole is first combined into group g - whole and receives the
/// result at the end.
struct Place {
  comm::Communicator& group;
  int64_t members, groups, whole, own_group, local;
  int rank_of(int64_t other_group) const { return static_cast<int>(other_group * members + local); }
};
/// Throws CommError (kLayout) for numbers of ranks and groups that do not match.
SINDRI_API Place place_of(comm::Communicator& group, const AdaptiveSumAttrs& a);

/// A squared norm below this is not safe to divide by: the tensor's factor is then 1, and it does not change the other tensor's factor unless that one is as
/// small.
inline constexpr double kTiny = 1.5e-154;

}  // namespace sindri::comm_ops
