// The key of the random ops: a Parameter, so that compiled steps read and write it like any other state.
#include <fmt/format.h>

#include <atomic>

#include "ops/random/random_ops.h"
#include "ops/random/state.h"
#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/core/rng.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"

namespace sindri {

namespace {

std::atomic<int64_t> g_instance{0};
// A graph's ops are numbered apart: a call by another thread while it is traced must not give two of them one number for good.
thread_local int64_t t_traced_instance = 0;
std::atomic<int64_t> g_seedings{0};
std::atomic<int64_t> g_seed_taken{-1};  // the global seed the state was last made from; -1: none

Tensor key_tensor(int64_t seed, int64_t step, int64_t sample_offset) { return Tensor::from_vector<int64_t>({3}, {seed, step, sample_offset}); }

Parameter& slot() {
  static Parameter state = [] {
    g_seed_taken = seed_is_set() ? get_seed() : -1;
    return Parameter(key_tensor(get_seed(), 0, 0), "rng_state", false);
  }();
  return state;
}

// Where the part that runs begins. Of what the state holds now, which another thread may have changed: at the end it is whole in any case.
void set_first_instance(int64_t first) {
  constexpr int64_t kCounter = (int64_t{1} << random_ops::kCounterBits) - 1;
  const Tensor key = slot().stored();
  const auto bits = [](int64_t part) { return (part & random_ops::kPartMask) << random_ops::kCounterBits; };
  const int64_t of_step = bits(first), of_offset = bits(first >> random_ops::kPartBits);
  if (!key.device().is_cpu()) {  // by ops: the host does not wait for the key
    const DeviceScope there(key.device());
    slot().store(ops::bitwise_or(ops::bitwise_and(key, key_tensor(-1, kCounter, kCounter)), key_tensor(0, of_step, of_offset)));
    return;
  }
  const auto* const k = key.data<int64_t>();
  const int64_t step = (k[1] & kCounter) | of_step, offset = (k[2] & kCounter) | of_offset;
  if (step != k[1] || offset != k[2]) slot().store(key_tensor(k[0], step, offset));
}

}  // namespace

int64_t random_ops::next_instance() { return is_tracing_graph() ? t_traced_instance++ : g_instance.fetch_add(1); }

Parameter& ops::rng_state() {
  Parameter& state = slot();
  // A set_seed since then starts the numbers again.
  if (seed_is_set() && get_seed() != g_seed_taken) {
    g_seed_taken = get_seed();
    g_instance = 0;
    ++g_seedings;
    state.store(key_tensor(get_seed(), 0, state.stored().to_vector<int64_t>()[2]));
  }
  state.move_to(current_device());  // it goes where the numbers are drawn
  return state;
}

void ops::reset_rng(int64_t seed, int64_t step, int64_t sample_offset) {
  if (step < 0 || sample_offset < 0) throw ValueError(fmt::format("reset_rng: step {} and sample offset {} must not be negative", step, sample_offset));
  slot().store(key_tensor(seed, step, sample_offset));
  g_seed_taken = seed_is_set() ? get_seed() : -1;
  g_instance = 0;
  ++g_seedings;
}

void ops::begin_rng_step() {
  rng_state();
  set_rng_instance(0);
}

int64_t ops::rng_instance() { return is_tracing_graph() ? t_traced_instance : g_instance.load(); }
void ops::set_rng_instance(int64_t next) {
  if (is_tracing_graph()) t_traced_instance = next;
  else g_instance = next;
}

ops::RngPart::RngPart() {
  rng_state();
  first_ = g_instance;
  seedings_ = g_seedings;
  set_first_instance(first_);
}

ops::RngPart::~RngPart() { end(0); }

void ops::RngPart::end(int64_t drawn) {
  if (ended_) return;
  ended_ = true;
  set_first_instance(0);
  if (g_seedings == seedings_) g_instance = first_ + drawn;
}

void ops::end_rng_step() {
  const Tensor one_step = pad(full({1}, 1, DType::kInt64), {1, 1});  // {0, 1, 0}
  rng_state().assign(add(rng_state().value(), one_step));
}

}  // namespace sindri
