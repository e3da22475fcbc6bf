// The key of the random ops: a Parameter, so that compiled steps read and write it like other state.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "ops/random/random_ops.h"
#include "ops/random/state.h"
#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/core/runtime.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"

namespace sindri {

namespace {

int64_t seed_now() { return seed_is_set() ? get_seed() : -1; }

struct Numbers {
  std::atomic<int64_t> instance{0}, seedings{0};
};
constinit RuntimeSlot<Numbers> numbers_slot;
Numbers& numbers() { return numbers_slot.get(); }

// The ops of a traced graph are numbered separately: a call by another thread during tracing must not permanently give two of them the same
// number. There is one count per thread and, if a thread works in several runtimes, one per runtime.
int64_t& traced_instance() {
  thread_local std::vector<std::pair<uint64_t, int64_t>> of_runtimes;
  const uint64_t id = Runtime::current().id();
  const auto at = std::find_if(of_runtimes.begin(), of_runtimes.end(), [id](const auto& r) { return r.first == id; });
  return at != of_runtimes.end() ? at->second : of_runtimes.emplace_back(id, 0).second;
}

Tensor key_tensor(int64_t seed, int64_t step, int64_t sample_offset) { return Tensor::from_vector<int64_t>({3}, {seed, step, sample_offset}); }

struct Key {
  std::atomic<int64_t> seed_taken{seed_now()};  // the global seed that the state was last initialised from; -1: none
  Parameter state{key_tensor(get_seed(), 0, 0), "rng_state", false};
};
constinit RuntimeSlot<Key> key_slot;
Parameter& slot() { return key_slot.get().state; }

// Stores the instance number at which the running part starts. Modifies only the bits that hold it, because another thread may have changed the others in the
// meantime.
void set_first_instance(int64_t first) {
  constexpr int64_t kCounter = (int64_t{1} << random_ops::kCounterBits) - 1;
  const Tensor key = slot().stored();
  const auto bits = [](int64_t part) { return (part & random_ops::kPartMask) << random_ops::kCounterBits; };
  const int64_t of_step = bits(first), of_offset = bits(first >> random_ops::kPartBits);
  if (!key.device().is_cpu()) {  // with ops, so that the host does not wait for the key
    const DeviceScope there(key.device());
    slot().store(ops::bitwise_or(ops::bitwise_and(key, key_tensor(-1, kCounter, kCounter)), key_tensor(0, of_step, of_offset)));
    return;
  }
  const auto* const k = key.data<int64_t>();
  const int64_t step = (k[1] & kCounter) | of_step, offset = (k[2] & kCounter) | of_offset;
  if (step != k[1] || offset != k[2]) slot().store(key_tensor(k[0], step, offset));
}

}  // namespace

int64_t random_ops::next_instance() { return is_tracing_graph() ? traced_instance()++ : numbers().instance.fetch_add(1); }

Parameter& ops::rng_state() {
  auto& [seed_taken, state] = key_slot.get();
  // A set_seed since then restarts the sequence.
  if (seed_is_set() && get_seed() != seed_taken) {
    seed_taken = get_seed();
    numbers().instance = 0;
    ++numbers().seedings;
    state.store(key_tensor(get_seed(), 0, state.stored().to_vector<int64_t>()[2]));
  }
  state.move_to(current_device());  // the key is stored on the device that draws
  return state;
}

void ops::reset_rng(int64_t seed, int64_t step, int64_t sample_offset) {
  if (step < 0 || sample_offset < 0) throw ValueError(fmt::format("reset_rng: step {} and sample offset {} must not be negative", step, sample_offset));
  slot().store(key_tensor(seed, step, sample_offset));
  key_slot.get().seed_taken = seed_now();
  numbers().instance = 0;
  ++numbers().seedings;
}

void ops::begin_rng_step() {
  rng_state();
  set_rng_instance(0);
}

int64_t ops::rng_instance() { return is_tracing_graph() ? traced_instance() : numbers().instance.load(); }
void ops::set_rng_instance(int64_t next) {
  if (is_tracing_graph()) traced_instance() = next;
  else numbers().instance = next;
}

ops::RngPart::RngPart() {
  rng_state();
  first_ = numbers().instance;
  seedings_ = numbers().seedings;
  set_first_instance(first_);
}

ops::RngPart::~RngPart() {
  try {
    end(0);
  } catch (const DeviceError&) {}  // the device, and with it the key, is lost or out of memory; the next use of the key reports it
}

void ops::RngPart::end(int64_t drawn) {
  if (ended_) return;
  ended_ = true;
  set_first_instance(0);
  if (numbers().seedings == seedings_) numbers().instance = first_ + drawn;
}

void ops::end_rng_step() {
  const Tensor one_step = pad(full({1}, 1, DType::kInt64), {1, 1});  // {0, 1, 0}
  rng_state().assign(add(rng_state().value(), one_step));
}

}  // namespace sindri
