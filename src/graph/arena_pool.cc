// See arena_pool.h.
#include "src/graph/arena_pool.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "src/core/fork.h"
#include "src/device/holders.h"

namespace sindri {

namespace {

using Arena = std::unique_ptr<Storage>;
using Sizes = std::multiset<int64_t, std::greater<>>;  // largest first

class Pool {
 public:
  explicit Pool(Device device) : device_(device) {}
  void add_claim(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    claims_.insert(bytes);
  }

  void remove_claim(int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      claims_.erase(claims_.find(bytes));
    }
    free_excess();
  }

  // Returns the smallest free arena that is large enough. If there is none, frees the largest and allocates a new one.
  Arena take(int64_t bytes) {
    Arena small;
    {
      const std::lock_guard lock(mutex_);
      const auto fits = std::lower_bound(free_.begin(), free_.end(), bytes, [](const Arena& a, int64_t b) { return a->bytes() < b; });
      const bool found = fits != free_.end();
      if (found || !free_.empty()) {
        const auto at = found ? fits : free_.end() - 1;
        Arena arena = std::move(*at);
        free_.erase(at);
        if (found) return arena;
        arenas_.erase(arenas_.find(arena->bytes()));
        small = std::move(arena);
      }
    }
    small.reset();
    const HoldFor compiled("the arena of compiled functions");
    Arena fresh = std::make_unique<Storage>(bytes, device_);
    const std::lock_guard lock(mutex_);
    arenas_.insert(bytes);
    free_.reserve(arenas_.size());  // giving back must not fail
    return fresh;
  }

  void give_back(Arena arena) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto at = std::lower_bound(free_.begin(), free_.end(), arena->bytes(), [](const Arena& a, int64_t b) { return a->bytes() < b; });
      free_.insert(at, std::move(arena));
      if (arenas_.size() == 1 && *arenas_.begin() <= *claims_.begin()) return;  // nearly always
    }
    free_excess();
  }

  ArenaStats stats() {
    const std::lock_guard lock(mutex_);
    ArenaStats s{static_cast<int64_t>(arenas_.size()), 0};
    for (const int64_t bytes : arenas_) s.bytes += bytes;
    return s;
  }

 private:
  void free_excess() noexcept {
    while (take_excess() != nullptr) {}
  }

  // Each executable runs once at a time. So the pool needs at most one arena per claim, and its k-th largest arena need
  // not be larger than the k-th largest claim. Returns a free arena that is too large by this rule, or null. A leased
  // arena is checked when it is returned.
  Arena take_excess() noexcept {
    const std::lock_guard lock(mutex_);
    auto claim = claims_.begin();
    for (const int64_t bytes : arenas_) {
      const int64_t wanted = claim == claims_.end() ? -1 : *claim++;
      if (bytes <= wanted) continue;
      const auto at = std::upper_bound(free_.begin(), free_.end(), wanted, [](int64_t b, const Arena& a) { return b < a->bytes(); });
      if (at == free_.end()) return nullptr;
      Arena out = std::move(*at);
      free_.erase(at);
      arenas_.erase(arenas_.find(out->bytes()));
      return out;
    }
    return nullptr;
  }

  const Device device_;
  std::mutex mutex_;
  const AtFork at_fork_{mutex_, AtFork::kArenas};
  std::vector<Arena> free_;  // smallest first
  Sizes arenas_, claims_;
};

// Never destroyed: static executables may outlive other statics.
Pool& pool(Device device) {
  static Pool* const cpu = new Pool(Device{});
  if (device.is_cpu()) return *cpu;
  static std::mutex mutex;
  static auto* const others = new std::map<std::pair<int, int>, std::unique_ptr<Pool>>;
  const std::lock_guard lock(mutex);
  auto& p = (*others)[{device.kind, device.index}];
  if (p == nullptr) p = std::make_unique<Pool>(device);
  return *p;
}

}  // namespace

ArenaClaim::ArenaClaim(int64_t bytes, Device device) : bytes_(bytes), device_(device) { pool(device_).add_claim(bytes_); }
ArenaClaim::~ArenaClaim() { pool(device_).remove_claim(bytes_); }
ArenaClaim::Lease::Lease(const ArenaClaim& claim) : storage_(pool(claim.device_).take(claim.bytes_)), device_(claim.device_) {}
ArenaClaim::Lease::~Lease() { pool(device_).give_back(std::move(storage_)); }
ArenaStats arena_stats(Device device) { return pool(device).stats(); }

}  // namespace sindri
