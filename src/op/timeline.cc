// See timeline.h. Events are stored as text: the objects they name may no longer exist when the file is written.
#include "sindri/op/timeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "src/core/descriptor.h"
#include "src/core/replaceable.h"

namespace sindri {

using Clock = std::chrono::steady_clock;

struct Timeline::Impl {
  mutable std::mutex mutex;
  const Clock::time_point start = Clock::now();
  const int64_t max_bytes;
  std::string events;  // comma-separated JSON objects
  int64_t count = 0, dropped = 0;
  std::map<std::thread::id, int> lane_of;  // threads numbered in the order of their first events

  explicit Impl(int64_t limit) : max_bytes(limit) {}

  void add(nlohmann::ordered_json event, Clock::time_point begin, Clock::time_point end) {
    const auto micros = [](Clock::duration d) { return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count()) / 1000; };
    event["ph"] = "X";
    event["ts"] = micros(begin - start);
    event["dur"] = micros(end - begin);
    event["pid"] = getpid();
    const std::lock_guard lock(mutex);
    event["tid"] = lane_of.emplace(std::this_thread::get_id(), static_cast<int>(lane_of.size()) + 1).first->second;
    const std::string text = event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (static_cast<int64_t>(events.size() + text.size()) > max_bytes) {
      ++dropped;
      return;
    }
    events += (count++ == 0 ? "\n" : ",\n") + text;
  }
};

Timeline::Timeline(int64_t max_bytes) : impl_(std::make_unique<Impl>(max_bytes)) {}
Timeline::~Timeline() = default;

void Timeline::on_kernel(const KernelEvent& e) {
  std::string in, out;
  for (const TensorMeta& m : e.in) in += (in.empty() ? "" : ", ") + m.str();
  for (const TensorMeta& m : e.out) out += (out.empty() ? "" : ", ") + m.str();
  impl_->add({{"name", e.op.name}, {"cat", "kernel"}, {"args", {{"kernel", e.kernel}, {"cell", e.scope}, {"in", in}, {"out", out}, {"attrs", e.attrs.text()}}}},
             e.begin, e.end);
}

void Timeline::on_wait(const char* what, Clock::time_point begin, Clock::time_point end) {
  impl_->add({{"name", fmt::format("wait: {}", what)}, {"cat", "wait"}, {"args", {{"cell", current_scope()}}}}, begin, end);
}

void Timeline::add_span(const std::string& name, Clock::time_point begin, Clock::time_point end) { impl_->add({{"name", name}, {"cat", "span"}}, begin, end); }

int64_t Timeline::events() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->count;
}

int64_t Timeline::dropped() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->dropped;
}

void Timeline::write(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  check_replaceable(path, FileKind::kJson, "timeline");
  const std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + impl_->events + "\n]}\n";
  if (const int error = write_text_file(path, text); error != 0)
    throw IoError(fmt::format("cannot write the timeline: {}", std::strerror(error)), path, "name a file in a folder that can be written");
}

}  // namespace sindri
