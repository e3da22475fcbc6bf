// See choice.h.
#include "src/device/cuda/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "src/device/cuda/plan_cache.h"
#include "src/device/cuda/trial.h"
#include "src/op/kernel_choice.h"

namespace sindri::cuda {

namespace {

constexpr size_t kQuickCandidates = 4, kFullCandidates = 16;
constexpr double kClear = 0.97;  // a candidate replaces the earlier choice only if its time is below this fraction of the earlier choice's time
constexpr double kQuickSeconds = 20;

// Total time of quick tuning in this process.
std::atomic<int64_t> g_quick_ns{0};
// Allows one measurement at a time. Nothing inside waits for another lock that may be held during a measurement.
std::mutex& measuring() {
  static auto* const m = new std::mutex;
  return *m;
}

bool time_is_left(const std::string& owner) {
  if (static_cast<double>(g_quick_ns.load()) < kQuickSeconds * 1e9) return true;
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    log::info("dispatch",
              fmt::format("{}: {} s were spent on measuring; other problems use the library's first choice until the next run (SINDRI_TUNE=full has "
                          "no limit)",
                          owner, kQuickSeconds));
  return false;
}

struct Request {
  Problem& problem;
  const int device;
  const std::string owner, key;
  const Tuning effort;
  std::string record_key() const { return owner + ": " + key; }
};
using Chosen = std::shared_ptr<const Candidate>;

Chosen recorded(const Request& r) {
  const std::string choice = recorded_choice(r.record_key());
  if (choice.empty()) return nullptr;
  std::string why;
  Chosen c = r.problem.remembered(choice, &why);
  if (c != nullptr) record_choice(r.record_key(), choice, ChoiceOrigin::kRecorded);
  else
    log::warn(
        "dispatch",
        fmt::format("{}: the recorded choice '{}' cannot be used ({}); results may not be bitwise identical to the recorded run", r.record_key(), choice, why));
  return c;
}

// Returns the choice in plans.json; null: none, or none that can be used. *entry becomes its entry, or empty if null is returned.
Chosen cached(const Request& r, std::optional<CachedChoice>* entry) {
  *entry = cached_choice(r.owner, r.key);
  if (!entry->has_value()) return nullptr;
  std::string why;
  Chosen c = r.problem.remembered((*entry)->choice, &why);
  if (c == nullptr) {
    log::info("dispatch", fmt::format("{}: '{}' of {} cannot be used ({})", r.record_key(), (*entry)->choice, plan_cache_file(), why));
    entry->reset();
  }
  return c;
}

// Returns the fastest of the candidates; null: none was timed. `earlier` may be null.
Chosen measured(const Request& r, const Chosen& earlier, std::string* why_none) {
  const bool full = r.effort == Tuning::kFull;
  current_stream({Device::kCuda, r.device}).synchronize();  // earlier work of the stream must not count as tuning time
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Chosen> list = r.problem.candidates(full ? kFullCandidates : kQuickCandidates, full, why_none);
  if (list.empty()) return nullptr;
  size_t first = 0;  // the one that another must beat clearly
  if (earlier != nullptr) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const Chosen& c) { return c->choice() == earlier->choice(); });
    first = static_cast<size_t>(at - list.begin());
    if (at == list.end()) list.push_back(earlier);
  }
  std::vector<double> us;
  if (list.size() > 1) {
    const std::lock_guard one(measuring());
    std::string why;
    try {
      us = time_candidates(r.device, r.problem.operands(), list, &why);
    } catch (const DeviceError& e) {
      if (e.code() != ErrorCode::kMemory) throw;
      why = e.what();
    }
    if (us.empty()) {
      log::info("dispatch", fmt::format("{}: candidates cannot be timed here, the library's first choice is used: {}", r.record_key(), why));
      return nullptr;
    }
  } else {
    us = {0};
  }
  const size_t best = clearly_fastest(us, first);
  if (us[best] == kFailed) return nullptr;
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) text += fmt::format("{}{} {:.1f} us", i == 0 ? "" : "; ", list[i]->choice(), us[i]);
  if (list.size() > 1) log::info("dispatch", fmt::format("measured {}: {}; chosen: {}", r.record_key(), text, list[best]->choice()));
  keep_choice(r.owner, r.key, {list[best]->choice(), us[best], list[best]->workspace(), full, static_cast<int64_t>(std::time(nullptr))});
  record_choice(r.record_key(), list[best]->choice(), ChoiceOrigin::kMeasured);
  if (!full) g_quick_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  return list[best];
}

Chosen first_choice(const Request& r, bool record, std::string* why_none) {
  const std::vector<Chosen> list = r.problem.candidates(1, false, why_none);
  if (list.empty()) return nullptr;
  if (record) record_choice(r.record_key(), list[0]->choice(), ChoiceOrigin::kFixed);
  return list[0];
}

}  // namespace

size_t clearly_fastest(std::span<const double> us, size_t earlier) {
  const auto best = static_cast<size_t>(std::min_element(us.begin(), us.end()) - us.begin());
  return us[best] < kClear * us[earlier] ? best : earlier;
}

std::string choice_owner(Library library, int device) {
  static std::mutex mutex;
  static auto* const names = new std::map<int, std::string>;
  const std::lock_guard lock(mutex);
  std::string& gpu = (*names)[device];
  if (gpu.empty()) {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, device), "asking for a device's properties", {Device::kCuda, device});
    gpu = fmt::format("{}, {} SMs", p.name, p.multiProcessorCount);
  }
  const LibraryState& state = library_state(library);
  return fmt::format("{} {}, {}", state.name, state.version, gpu);
}

std::shared_ptr<const Candidate> choose(Problem& problem, int device, std::string* why_none) {
  const Request r{problem, device, choice_owner(problem.library(), device), problem.key(), tuning()};
  if (strict_mode()) return first_choice(r, false, why_none);
  if (Chosen c = recorded(r); c != nullptr) return c;
  if (r.effort != Tuning::kOff) {
    std::optional<CachedChoice> entry;
    const Chosen earlier = cached(r, &entry);
    const bool enough = entry && (r.effort == Tuning::kQuick || entry->full);
    const bool can_measure = !current_stream({Device::kCuda, device}).recording() && (r.effort == Tuning::kFull || time_is_left(r.owner));
    if (earlier != nullptr && (enough || !can_measure)) {
      record_choice(r.record_key(), earlier->choice(), ChoiceOrigin::kCached);
      return earlier;
    }
    if (can_measure)
      if (Chosen c = measured(r, earlier, why_none); c != nullptr) return c;
  }
  return first_choice(r, true, why_none);
}

}  // namespace sindri::cuda
