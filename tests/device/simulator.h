// A simulated accelerator: exactly what a backend guarantees, with as little else as possible, and hostile where a guarantee leaves room.
//
//   - Device addresses lie in inaccessible pages. Kernels and copies see the same bytes at another address, which only they know. A host
//     thread that dereferences a device address is stopped at once, with the op it last submitted to a stream. (Memory protection keys would leave
//     the page accessible to all threads that hold the key, including a kernel's parallel helper threads, which also serve the host's loops in
//     between. With two addresses no thread has to be trusted, and the processor needs no keys.)
//   - Each stream is a thread that runs its work in order, with random pauses. Code that forgets to wait computes with old values.
//   - Memory has a limit, and new allocations are full of NaN. Copies to and from the host accept only pinned memory, until they are done.
//   - Faults: an allocation that fails, memory that is exhausted from some moment on, a copy that fails, a device that is lost. Waits can be
//     omitted, to check that the tests notice.
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
  std::exception_ptr error;  // error of the first work that failed since the last wait
  std::string failed;  // name of that work
  bool lost = false;
  bool broken() {
    const std::lock_guard lock(mutex);
    return lost || error != nullptr;
  }
};

class Simulator final : public Backend {
 public:
  /// The instance of this process, registered with a kernel for each of the CPU's at the first call.
  static Simulator& get();
  /// Another instance, which is not registered: memory and streams for a stand-in for a device library (tests/cuda_host).
  static Simulator& machine();
  ~Simulator() override;

  // ----- settings for tests -----
  /// Pauses of up to `longest` microseconds before a share of all work, from this seed; 0: none.
  void set_delays(uint64_t seed, int longest, double share = 0.25);
  /// Pauses before all work of a lane.
  void set_lane_delay(Lane lane, int microseconds) { lane_delay_[static_cast<size_t>(lane)] = microseconds; }
  /// Makes the n-th call from now on fail, 1 for the next; 0: none. Once.
  void fail_allocation(int64_t n) { fail_allocation_ = n; }
  void fail_copy(int64_t n) { fail_copy_ = n; }
  /// Makes the device lost at the n-th piece of work from now on.
  void lose(int index, int64_t n);
  /// Makes it lost at the n-th copy to the host from now on.
  void lose_at_read(int index, int64_t n) { lose_read_[static_cast<size_t>(index)] = n; }
  /// Another program takes the remaining memory at the n-th piece of work from now on.
  void exhaust(int index, int64_t n) { exhaust_[static_cast<size_t>(index)] = n; }
  /// Ends each allocation where its last page ends, up to 16 bytes; an inaccessible page follows. Call before the first allocation.
  void set_guards(bool on) { guards_ = on; }
  /// Acts as after a restart of the machine: waiting work is dropped and never runs.
  void repair();
  /// Omits the n-th wait of a kind from now on, 1 for the next: "compute for copy" (a stream for an event of another lane), "host for compute", "asks for copy"
  /// (a query whether an event is reached, which returns true too early); "": any kind except the last.
  void drop_wait(int64_t n, const std::string& kind = "");
  int64_t waits() const { return waits_; }  ///< waits of streams for events and waits of the host, so far
  /// The number of waits of each kind since the last call.
  std::map<std::string, int64_t> take_waits();
  int64_t pinned_bytes();  ///< of allocated host memory
  int64_t work() const { return work_; }  ///< kernels and copies submitted to streams, so far

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
  static constexpr int kDevices = 4;  ///< maximum number of devices
  static constexpr int kOffered = 2;  ///< devices of the simulated accelerator, and by default of stand-ins on machine()
  static constexpr int64_t kMemory = int64_t{2} << 30;
  /// The bytes at a device address, for work that runs on the device. Throws DeviceError for an address of the host.
  void* inside(const void* address, const char* who) const;
  bool is_inside(const void* address) const;
  bool is_shadow(const void* address) const;  ///< address at which work sees the bytes
  Board& board(int index) { return boards_[static_cast<size_t>(index)]; }
  void pause(Lane lane);
  bool drop_this_wait(const std::string& kind);
  void note_stream(SimStream* stream, bool lives);
  void count_read(int index) {
    if (counted_down(&lose_read_[static_cast<size_t>(index)])) lose(index, 1);
  }
  bool copy_fails() { return counted_down(&fail_copy_); }
  void count_work(int index, const std::string& what);
  /// Work runs between these two. Returns false if the process is ending: waiting work is dropped, as on a device.
  bool begin_work();
  void end_work(const std::string& what);
  /// Throws DeviceError if the host memory of a copy is not from allocate_pinned.
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

// For code that builds on machine().
/// Submits work to one of its streams, as a kernel does.
void run_on(Stream& stream, std::string what, std::function<void()> work);
/// For a recording in progress on this thread: only work of the streams marked here is recorded, other work runs at once.
void note_only(Stream& stream);
bool is_noted(const Stream& stream);
/// Whether the stream has no pending work.
bool is_idle(Stream& stream);

}  // namespace sindri::sim
