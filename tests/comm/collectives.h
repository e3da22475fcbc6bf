// The matrix of collective calls (docs/design/distributed.md): any communicator against one thread's result from the inputs of all ranks.
#pragma once

#include <vector>

#include "sindri/comm/communicator.h"

namespace sindri::comm {

/// Checks every operation, type and size on a communicator; all ranks call it. Failures are reported to gtest.
void check_collectives(Communicator& c, const std::vector<DType>& dtypes, const std::vector<int64_t>& counts);
/// Checks some operations only, on buffers of this many bytes.
void check_large(Communicator& c, const std::vector<DType>& dtypes, int64_t bytes);
/// Checks three communicators of all ranks, in different orders, with interleaved calls.
void check_two_at_once(Communicator& world);
/// Checks calls whose order, kind, sizes and groups are drawn from the seed, with pauses that differ between ranks.
void check_random_calls(Communicator& world, uint64_t seed, int calls);

std::vector<int> hosts_of(int size, int local_size);

}  // namespace sindri::comm
