// The matrix of collective calls (docs/design/distributed.md): any communicator against what one thread computes from the inputs of all ranks.
#pragma once

#include <vector>

#include "sindri/comm/communicator.h"

namespace sindri::comm {

/// Every operation, type and size of elements on a communicator; all ranks call it. Failures are gtest's.
void check_collectives(Communicator& c, const std::vector<DType>& dtypes, const std::vector<int64_t>& counts);
/// The same of some operations only, on buffers of so many bytes.
void check_large(Communicator& c, const std::vector<DType>& dtypes, int64_t bytes);
/// Three communicators of all ranks, in other orders, with calls that take turns.
void check_two_at_once(Communicator& world);
/// Calls in an order and of kinds, sizes and groups drawn from the seed, with pauses that differ between ranks.
void check_random_calls(Communicator& world, uint64_t seed, int calls);

std::vector<int> hosts_of(int size, int local_size);

}  // namespace sindri::comm
