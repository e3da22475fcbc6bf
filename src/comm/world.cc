// The world and the groups of each runtime, and ranks that are threads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "src/comm/backends.h"
#include "src/comm/nccl.h"

namespace sindri::comm {

namespace {

struct Registry {
  std::mutex mutex;  // not held during communication
  std::shared_ptr<Communicator> single, world;  // world: since init
  Options options;
  bool given = false;  // the world belongs to run_ranks: its options apply
  std::map<std::string, std::shared_ptr<Communicator>> groups;
};
constinit RuntimeSlot<Registry> registry_slot;

bool same(const Options& a, const Options& b) {
  return a.backend == b.backend && a.rank_table == b.rank_table && a.interface == b.interface && a.job_id == b.job_id && a.init_timeout == b.init_timeout &&
      a.op_warn == b.op_warn && a.op_timeout == b.op_timeout && a.heartbeat == b.heartbeat && a.lost_after == b.lost_after && a.check == b.check &&
      a.strict_order == b.strict_order && a.test_delay_us == b.test_delay_us;
}

void check_options(const Options& o) {
  const auto positive = [](const char* name, double value) {
    if (!(value > 0)) throw SettingsError(fmt::format("dist.{} is {}", name, value), "comm::init", "give seconds above 0");
  };
  positive("init_timeout", o.init_timeout);
  positive("op_warn", o.op_warn);
  positive("op_timeout", o.op_timeout);
  positive("heartbeat", o.heartbeat);
  positive("lost_after", o.lost_after);
  if (!(o.test_delay_us >= 0)) throw SettingsError(fmt::format("dist.test_delay_us is {}", o.test_delay_us), "comm::init", "give microseconds, 0 or more");
}

// For a process that ends without finalize(): others may still wait for this one's BYE. Errors were reported when they occurred.
void at_exit() {
  try {
    finalize();
  } catch (const std::exception& e) { log::warn("comm", fmt::format("at the end of the process: {}", e.what())); }
}

}  // namespace

Communicator& init(const Options& options) {
  Registry& r = registry_slot.get();
  const std::lock_guard lock(r.mutex);
  if (r.given && (options.backend == "auto" || options.backend == "threads")) return *r.world;
  if (r.world != nullptr) {
    if (!r.given && same(options, r.options)) return *r.world;
    throw ValueError(fmt::format("comm::init() was called before with other options, for backend '{}'", r.world->backend()), "comm::init",
                     "call it once, or call finalize() first");
  }
  check_options(options);
  r.world = open_world(options);
  r.options = options;
  if (Runtime::current() == Runtime::process()) {
    static const int registered = std::atexit(at_exit);
    static_cast<void>(registered);
  }
  return *r.world;
}

bool initialized() {
  Registry& r = registry_slot.get();
  const std::lock_guard lock(r.mutex);
  return r.world != nullptr;
}

Communicator& world() {
  Registry& r = registry_slot.get();
  const std::lock_guard lock(r.mutex);
  if (r.world != nullptr) return *r.world;
  if (r.single == nullptr) r.single = open_single({});
  return *r.single;
}

void finalize() {
  Registry& r = registry_slot.get();
  std::shared_ptr<Communicator> world;
  std::map<std::string, std::shared_ptr<Communicator>> groups;
  {
    const std::lock_guard lock(r.mutex);
    world = r.world;
  }
  if (world == nullptr) return;
  const auto forget = [&] {
    const std::lock_guard lock(r.mutex);
    r.world = nullptr;
    r.given = false;
    groups.swap(r.groups);
  };
  try {
    if (!world->session()->failed()) world->barrier({"finalize"});
  } catch (...) {
    forget();
    world->session()->close();
    throw;
  }
  forget();
  groups.clear();
  world->session()->close();
}

Communicator& find_group(const std::string& name) {
  if (name == "world") return world();
  Registry& r = registry_slot.get();
  const std::lock_guard lock(r.mutex);
  const auto it = r.groups.find(name);
  if (it != r.groups.end()) return *it->second;
  std::string names = "world";
  for (const auto& [key, group] : r.groups) names += ", " + key;
  throw ValueError(fmt::format("there is no group '{}'", name), "comm", fmt::format("make it with create_group; there are: {}", names));
}

Communicator& create_group(const std::string& name, std::span<const int> ranks) {
  Registry& r = registry_slot.get();
  {
    const std::lock_guard lock(r.mutex);
    if (name.empty() || name == "world" || r.groups.count(name) != 0)
      throw ValueError(fmt::format("a group cannot have the name '{}'", name), "comm", "give a name that is not in use, or destroy_group first");
  }
  std::shared_ptr<Communicator> made = world().group(ranks, name);
  const std::lock_guard lock(r.mutex);
  return *(r.groups[name] = std::move(made));
}

void destroy_group(const std::string& name) {
  if (name == "world") throw ValueError("the world group cannot be destroyed", "comm", "call finalize()");
  Registry& r = registry_slot.get();
  std::shared_ptr<Communicator> last;
  {
    const std::lock_guard lock(r.mutex);
    const auto it = r.groups.find(name);
    if (it != r.groups.end()) {
      last = std::move(it->second);
      r.groups.erase(it);
    }
  }
  if (last == nullptr) find_group(name);  // throws with the list of existing groups
}

void abort(const std::string& reason, ErrorCode code) {
  Communicator& w = world();
  w.session()->fail(CommError(code, fmt::format("rank {} ends the job: {}", w.rank(), reason), w.session()->where()));
}

void run_ranks(int size, const std::function<void(int rank)>& f, int local_size, const Options& options) {
  if (size < 1) throw ValueError(fmt::format("{} ranks", size), "run_ranks", "give 1 or more");
  if (local_size < 0 || (local_size > 0 && size % local_size != 0))
    throw ValueError(fmt::format("{} ranks on hosts of {}", size, local_size), "run_ranks", "give a divisor of the ranks, or 0 for one host");
  check_options(options);
  const std::shared_ptr<ThreadsWorld> shared = make_threads_world(size, local_size == 0 ? size : local_size, options);
  std::mutex mutex;
  std::exception_ptr first;
  const auto rank_main = [&](int rank) {
    const RuntimeScope scope(Runtime(fmt::format("rank {}", rank)));
    Registry& r = registry_slot.get();
    r.world = shared->open(rank);
    r.options = options;
    r.given = true;
    try {
      f(rank);
      shared->ended(rank, nullptr);
    } catch (const std::exception& e) {
      {
        const std::lock_guard lock(mutex);
        if (first == nullptr) first = std::current_exception();
      }
      const auto* const comm_error = dynamic_cast<const CommError*>(&e);
      const CommError told = comm_error != nullptr ? *comm_error : CommError(ErrorCode::kPeerLost, fmt::format("rank {} ended: {}", rank, e.what()));
      shared->ended(rank, &told);
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(rank_main, rank);
  for (std::thread& t : threads) t.join();
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace sindri::comm
