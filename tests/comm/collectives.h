// The matrix of collective calls (docs/design/distributed.md): any communicator against what one thread computes from the inputs of all ranks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sindri/comm/communicator.h"

namespace sindri::comm {

/// Ranks of a world as threads: f is called with each one's communicator. `hosts`: by rank; empty: one host.
using Worlds = std::function<void(int size, const std::vector<int>& hosts, const std::function<void(Communicator&)>& f)>;

/// Every operation, type and size of elements on a communicator; all ranks call it. Failures are gtest's.
void check_collectives(Communicator& c, const std::vector<DType>& dtypes, const std::vector<int64_t>& counts);
/// Calls in an order and of kinds, sizes and groups drawn from the seed, with pauses that differ between ranks.
void check_random_calls(Communicator& world, uint64_t seed, int calls);

std::vector<int> hosts_of(int size, int local_size);

}  // namespace sindri::comm
