// See caching_pool.h.
#include "src/device/caching_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/log.h"

namespace sindri {

namespace {
constexpr int64_t kSmallestBlock = 512;
}

void CachingPool::hand_out(void* p, int64_t bytes, Stream& stream) {
  live_.emplace(p, Block{bytes, &stream, {}, current_holder()});
  stats_.in_use += bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.in_use + stats_.cached);
}

void* CachingPool::take_cached(const Key& key) {
  const auto at = free_.find(key);
  if (at == free_.end() || at->second.empty()) return nullptr;
  void* const p = at->second.back();
  at->second.pop_back();
  stats_.cached -= key.second;
  return p;
}

// Moves blocks that other streams have finished using to the list of their home stream.
void CachingPool::collect_waiting() {
  std::erase_if(waiting_, [&](Waiting& w) {
    std::erase_if(w.events, [](const std::shared_ptr<Event>& e) { return e->done(); });
    if (!w.events.empty()) return false;
    free_[{w.home, w.bytes}].push_back(w.p);
    return true;
  });
}

void* CachingPool::allocate(int64_t bytes, Stream& stream) {
  const int64_t size = size_class(std::max(bytes, kSmallestBlock)).bytes;
  std::unique_lock lock(mutex_);
  if (!waiting_.empty()) collect_waiting();
  void* p = take_cached({&stream, size});
  if (p == nullptr && fits(size)) p = backend_.allocate(device_.index, size);
  if (p == nullptr && !waiting_.empty()) {
    // Waits for the streams that still use freed blocks, and reuses those blocks. If they were freed to the device
    // instead, another program could take the memory.
    wait_for_device(lock);
    p = take_cached({&stream, size});
  }
  if (p == nullptr) {
    release_cached(lock);
    if (fits(size)) p = backend_.allocate(device_.index, size);
  }
  if (p == nullptr) {
    const std::string limit = stats_.limit > 0 ? fmt::format(", limit {}", stats_.limit) : "";
    throw DeviceError(ErrorCode::kMemory,
                      fmt::format("cannot allocate {} bytes on {} ({} in use, peak {}{}, the device has {}){}", size, device_.str(), stats_.in_use, stats_.peak,
                                  limit, backend_.info(device_.index).memory, largest_holders()),
                      "", "reduce the batch size or the net, collect gradients over several smaller batches, or use mixed precision");
  }
  hand_out(p, size, stream);
  return p;
}

// Returns "; largest holders: Net/layer1.conv 12.5 MB in 3 blocks, …"; empty if nothing is in use. Call with the mutex held.
std::string CachingPool::largest_holders() const {
  constexpr size_t kNamed = 5;
  struct Sum {
    int64_t bytes = 0, blocks = 0;
  };
  std::map<std::string, Sum> by_name;
  for (const auto& [p, block] : live_) {
    Sum& sum = by_name[block.holder.text()];
    sum.bytes += block.bytes;
    ++sum.blocks;
  }
  std::vector<std::pair<std::string, Sum>> sorted(by_name.begin(), by_name.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::string text;
  for (size_t i = 0; i < sorted.size() && i < kNamed; ++i) {
    const Sum& sum = sorted[i].second;
    text += fmt::format("{}{} {:.1f} MB in {} block{}", i == 0 ? "; largest holders: " : ", ", sorted[i].first, static_cast<double>(sum.bytes) * 1e-6,
                        sum.blocks, sum.blocks == 1 ? "" : "s");
  }
  return text;
}

void CachingPool::release(void* p) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = live_.find(p);
  Block block = std::move(at->second);
  live_.erase(at);
  stats_.in_use -= block.bytes;
  stats_.cached += block.bytes;
  if (block.users.empty()) {
    free_[{block.home, block.bytes}].push_back(p);
    return;
  }
  Waiting w{p, block.bytes, block.home, {}};
  try {
    for (Stream* s : block.users) w.events.push_back(s->record());
  } catch (const std::exception& e) {
    // The device is lost or its work failed: nothing runs any more, and the block is not reused.
    log::debug("device", e.what());
    return;
  }
  waiting_.push_back(std::move(w));
}

void CachingPool::use(void* p, Stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto at = live_.find(p);
  if (at != live_.end() && at->second.home != &stream) at->second.users.insert(&stream);
}

void CachingPool::wait_for_device(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  synchronize(device_);
  lock.lock();
  collect_waiting();
}

// Work that still waits in a stream may use a cached block: the device must finish before the block is freed.
void CachingPool::release_cached(std::unique_lock<std::mutex>& lock) {
  wait_for_device(lock);
  for (auto& [key, blocks] : free_) {
    for (void* p : blocks) backend_.release(device_.index, p, key.second);
    stats_.cached -= key.second * static_cast<int64_t>(blocks.size());
    blocks.clear();
  }
}

void CachingPool::trim() {
  std::unique_lock lock(mutex_);
  release_cached(lock);
}

void CachingPool::set_limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  stats_.limit = bytes;
}

void CachingPool::reset_peaks(bool in_use, bool reserved) {
  const std::lock_guard lock(mutex_);
  if (in_use) stats_.peak = stats_.in_use;
  if (reserved) stats_.peak_reserved = stats_.in_use + stats_.cached;
}

DeviceMemoryStats CachingPool::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

PinnedPool::Block PinnedPool::take(int64_t bytes) {
  const SizeClass size = size_class(std::max(bytes, kSmallestBlock));
  {
    const std::lock_guard lock(mutex_);
    auto& list = kept_[size.index];
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].used != nullptr && !list[i].used->done()) continue;
      const Block block = list[i].block;
      list.erase(list.begin() + static_cast<ptrdiff_t>(i));
      return block;
    }
  }
  void* const p = backend_.allocate_pinned(size.bytes);
  if (p == nullptr)
    throw DeviceError(ErrorCode::kMemory, fmt::format("cannot allocate {} bytes of host memory for copies to and from devices", size.bytes), "",
                      "close other programs, or raise the limit of locked memory");
  return {p, size};
}

void PinnedPool::give_back(Block block, std::shared_ptr<Event> used) {
  const std::lock_guard lock(mutex_);
  kept_[block.size.index].push_back({block, std::move(used)});
}

}  // namespace sindri
