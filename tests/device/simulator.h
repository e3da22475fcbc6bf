// A simulated accelerator: what a backend promises, with as little of its own as possible, and hostile where a promise leaves room.
//
//   - Device addresses lie in pages that nobody may touch. Kernels and copies see the same bytes at another address, which only they know. A host
//     thread that follows a device address is stopped there and then, with the op it last put on a stream. (Memory protection keys would leave
//     the page open to whichever threads hold the key, the helpers of a kernel's parallel loops among them, which serve the host's own loops in
//     between; with two addresses no thread has to be trusted, and no processor has to have keys.)
//   - Each stream is a thread that runs its work in order, with random pauses. Whoever forgets to wait computes with old numbers.
//   - Memory has a limit, and what is handed out is full of NaN. Copies to and from the host take pinned memory only, until they are done.
//   - Faults: an allocation that fails, memory that is all taken from some moment on, a copy that fails, a device that is lost. Waits can be left
//     out, to see that somebody notices.
//
// Its kernels are the CPU's, by name and priority. It uses public headers only, as a backend of another library would.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sindri/device/device.h"

namespace sindri::sim {

inline constexpr Device kDevice{Device::kOther, 0}, kSecond{Device::kOther, 1};

class SimStream;

/// The state the streams of one device share.
struct Board {
  std::mutex mutex;
  std::exception_ptr error;  // of the first work that failed since someone waited
  std::string failed;  // what that was
  bool lost = false;
  bool broken() {
    const std::lock_guard lock(mutex);
    return lost || error != nullptr;
  }
};

class Simulator final : public Backend {
 public:
  /// The one of this process, registered with a kernel for each of the CPU's at the first call.
  static Simulator& get();
  /// Another, which no table knows: memory and streams for a stand-in of a device library (tests/cuda_host).
  static Simulator& machine();
  ~Simulator() override;

  // ----- what tests set -----
  /// Pauses of up to `longest` microseconds in front of a share of all work, from this seed; 0: none.
  void set_delays(uint64_t seed, int longest, double share = 0.25);
  /// A pause in front of all work of a lane.
  void set_lane_delay(Lane lane, int microseconds) { lane_delay_[static_cast<size_t>(lane)] = microseconds; }
  /// The n-th from now on fails, 1 for the next; 0: none. Once.
  void fail_allocation(int64_t n) { fail_allocation_ = n; }
  void fail_copy(int64_t n) { fail_copy_ = n; }
  /// The device is lost at the n-th piece of work from now on.
  void lose(int index, int64_t n);
  /// It is lost at the n-th copy to the host from now on.
  void lose_at_read(int index, int64_t n) { lose_read_[static_cast<size_t>(index)] = n; }
  /// Another program takes what is left of the memory at the n-th piece of work from now on.
  void exhaust(int index, int64_t n) { exhaust_[static_cast<size_t>(index)] = n; }
  /// Allocations end where their last page ends, up to 16 bytes, and a page that nobody may touch follows. Before the first allocation.
  void set_guards(bool on) { guards_ = on; }
  /// As after the machine was started anew: what waited is dropped, nothing of it runs later.
  void repair();
  /// Leaves out the n-th wait of a kind from now on, 1 for the next: "compute for copy" (a stream for an event of another lane), "host for compute",
  /// "asks for copy" (somebody asks whether an event is reached, and is told too early that it is); "": of whichever kind, but for the last.
  void drop_wait(int64_t n, const std::string& kind = "");
  int64_t waits() const { return waits_; }  ///< of streams for events and of the host, so far
  /// How often each kind was there since the last call.
  std::map<std::string, int64_t> take_waits();
  int64_t pinned_bytes();  ///< of host memory handed out
  int64_t work() const { return work_; }  ///< kernels and copies put on streams, so far

  // ----- Backend -----
  const char* name() const override { return "sim"; }
  const char* target() const override { return "SIM"; }
  int count() override { return present_ ? kOffered : 0; }
  std::vector<MissingPart> missing() override;
  DeviceInfo info(int index) override;
  void* allocate(int index, int64_t bytes) override;
  void release(int index, void* p, int64_t bytes) noexcept override;
  void* allocate_pinned(int64_t bytes) override;
  void release_pinned(void* p, int64_t bytes) noexcept override;
  std::unique_ptr<Stream> make_stream(Device device, Lane lane) override;

  // ----- for its streams and kernels -----
  static constexpr int kDevices = 4;  ///< there is room for
  static constexpr int kOffered = 2;  ///< by the simulated accelerator, and by stand-ins on machine() unless they are told otherwise
  static constexpr int64_t kMemory = int64_t{2} << 30;
  /// What is at a device address, for work that runs on the device. Throws DeviceError for an address of the host.
  void* inside(const void* address, const char* who) const;
  bool is_inside(const void* address) const;
  bool is_shadow(const void* address) const;  ///< where work sees the bytes
  Board& board(int index) { return boards_[static_cast<size_t>(index)]; }
  void pause(Lane lane);
  bool drop_this_wait(const std::string& kind);
  void note_stream(SimStream* stream, bool lives);
  void count_read(int index) {
    if (counted_down(&lose_read_[static_cast<size_t>(index)])) lose(index, 1);
  }
  bool copy_fails() { return counted_down(&fail_copy_); }
  void count_work(int index, const std::string& what);
  /// Work runs between these two. False where the process is ending: what still waits is dropped, as a device drops it.
  bool begin_work();
  void end_work(const std::string& what);
  /// Throws DeviceError where host memory of a copy is not of allocate_pinned.
  void check_pinned(const void* p, int64_t bytes);

 private:
  Simulator();
  void* take(int index, int64_t bytes);
  void* allocate_guarded(int index, int64_t bytes);
  static bool counted_down(std::atomic<int64_t>* n);
  char* fence_ = nullptr;  // device addresses
  char* shadow_ = nullptr;  // the same bytes
  std::mutex mutex_;
  std::array<std::map<int64_t, int64_t>, kDevices> free_;  // by device: offset -> bytes of each gap
  std::array<Board, kDevices> boards_;
  std::array<std::atomic<int>, kLanes> lane_delay_{};
  std::array<std::atomic<int64_t>, kDevices> lose_{}, lose_read_{}, exhaust_{};
  std::array<std::atomic<bool>, kDevices> exhausted_{};
  std::map<const char*, int64_t> pinned_;  // blocks of host memory: address -> bytes
  std::atomic<int64_t> fail_allocation_{0}, fail_copy_{0}, waits_{0}, work_{0};
  int64_t drop_wait_ = 0;  // under the mutex, with what follows
  std::string drop_kind_;
  std::map<std::string, int64_t> kinds_;
  std::mt19937_64 random_;
  void end();
  static void end_all();
  bool present_ = true, guards_ = false;
  std::atomic<bool> ended_{false};
  std::atomic<int> running_{0};
  std::set<std::string> ran_;
  std::set<SimStream*> streams_;  // under the mutex
  int longest_ = 0;
  double share_ = 0;
};

// For who builds on machine().
/// Puts work on one of its streams, as a kernel does.
void run_on(Stream& stream, std::string what, std::function<void()> work);
/// Of a recording under way on this thread: only work of the streams named so is noted, that of others runs at once.
void note_only(Stream& stream);
bool is_noted(const Stream& stream);
/// Whether the stream has nothing more to do.
bool is_idle(Stream& stream);

}  // namespace sindri::sim
