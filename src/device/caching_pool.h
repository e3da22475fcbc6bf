// A caching allocator for one device's memory. Freed blocks are kept by stream and size and reused.
//
// The host may free a block while work that uses it still waits in a stream. The block's next user is later work of the
// same stream, so nobody waits. If other streams used the block too (use), an event on each of them must complete
// first.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sindri/device/device.h"
#include "src/device/holders.h"
#include "src/device/size_class.h"

namespace sindri {

class CachingPool {
 public:
  CachingPool(Device device, Backend& backend) : device_(device), backend_(backend) {}
  /// Allocates for work of `stream`. If neither the limit nor the device has room, even after cached blocks were freed,
  /// throws DeviceError(kMemory) that names the largest holders.
  void* allocate(int64_t bytes, Stream& stream);
  void release(void* p) noexcept;
  void use(void* p, Stream& stream);
  void trim();
  void set_limit(int64_t bytes);
  void reset_peaks(bool in_use, bool reserved);
  DeviceMemoryStats stats();

 private:
  struct Block {
    int64_t bytes;
    Stream* home;
    std::set<Stream*> users;  // besides home
    Holder holder;
  };
  struct Waiting {
    void* p;
    int64_t bytes;
    Stream* home;
    std::vector<std::shared_ptr<Event>> events;
  };
  using Key = std::pair<Stream*, int64_t>;

  void* take_cached(const Key& key);
  void collect_waiting();
  void wait_for_device(std::unique_lock<std::mutex>& lock);
  void release_cached(std::unique_lock<std::mutex>& lock);
  bool fits(int64_t bytes) const { return stats_.limit == 0 || stats_.in_use + stats_.cached + bytes <= stats_.limit; }
  void hand_out(void* p, int64_t bytes, Stream& stream);
  std::string largest_holders() const;

  const Device device_;
  Backend& backend_;
  std::mutex mutex_;
  std::unordered_map<void*, Block> live_;
  std::map<Key, std::vector<void*>> free_;
  std::vector<Waiting> waiting_;
  DeviceMemoryStats stats_;
};

/// Host memory for copies: a block is reused once the copy it served is done.
class PinnedPool {
 public:
  explicit PinnedPool(Backend& backend) : backend_(backend) {}
  struct Block {
    void* data = nullptr;
    SizeClass size{};
  };
  Block take(int64_t bytes);
  /// `used`: an event after the last copy that reads or writes the block; null if none is in flight.
  void give_back(Block block, std::shared_ptr<Event> used);

 private:
  struct Kept {
    Block block;
    std::shared_ptr<Event> used;
  };
  Backend& backend_;
  std::mutex mutex_;
  std::array<std::vector<Kept>, SizeClass::kCount> kept_;
};

}  // namespace sindri
