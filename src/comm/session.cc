// See session.h.
#include "src/comm/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/comm/socket.h"

namespace sindri::comm {

namespace {
constexpr size_t kCallsKept = 1024;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
}  // namespace

std::string bytes_text(int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 1e9) return fmt::format("{:.1f} GB", b / 1e9);
  if (b >= 1e6) return fmt::format("{:.1f} MB", b / 1e6);
  if (b >= 1e3) return fmt::format("{:.1f} kB", b / 1e3);
  return fmt::format("{} bytes", bytes);
}

std::string call_text(const char* kind, const std::string& what, int index, int64_t bytes) {
  std::string text = kind;
  if (!what.empty()) text += fmt::format(" \"{}{}\"", what, index != 0 ? fmt::format(" {}", index) : "");
  return text + fmt::format(" ({})", bytes_text(bytes));
}

std::shared_ptr<const CommError> Session::failure() const {
  const std::lock_guard lock(guard_);
  return failure_;
}

bool Session::fail(const CommError& error) {
  std::vector<std::function<void(const CommError&)>> listeners;
  {
    const std::lock_guard lock(guard_);
    if (failure_ != nullptr) return false;
    failure_ = std::make_shared<const CommError>(error);
    failed_.store(true, std::memory_order_release);
    listeners = listeners_;
  }
  for (const auto& listener : listeners) listener(error);
  return true;
}

void Session::check() const {
  if (failed()) throw CommError(*failure());
}

void Session::on_failure(std::function<void(const CommError&)> f) {
  std::shared_ptr<const CommError> already;
  {
    const std::lock_guard lock(guard_);
    if (failure_ == nullptr) return listeners_.push_back(std::move(f));
    already = failure_;
  }
  f(*already);
}

void Session::on_close(std::function<void()> f) {
  const std::lock_guard lock(guard_);
  closers_.push_back(std::move(f));
}

void Session::close() {
  std::vector<std::function<void()>> closers;
  {
    const std::lock_guard lock(guard_);
    closers.swap(closers_);
  }
  std::for_each(closers.rbegin(), closers.rend(), [](const std::function<void()>& f) { f(); });
}

CallRecord& Session::enter(const char* kind, const Call& call, int64_t bytes, const std::string& group, const std::vector<int>& members) {
  const int64_t number = call_number.load(std::memory_order_relaxed) + 1;
  const std::lock_guard lock(guard_);
  if (ring_.empty()) ring_.resize(kCallsKept);  // never moves afterwards
  CallRecord& record = ring_[static_cast<size_t>(number) % kCallsKept];
  record.number = number;
  record.kind = kind;
  record.what = call.what;
  record.index = call.index;
  record.bytes = bytes;
  record.group = group;
  record.members = members;
  record.entered = now();
  record.began = now_seconds();
  record.left = 0;
  call_number.store(number, std::memory_order_release);
  return record;
}

void Session::leave(CallRecord& record) {
  const std::lock_guard lock(guard_);
  record.left = now();
  const auto took = static_cast<int64_t>((now_seconds() - record.began) * 1e9);
  nanoseconds_in_calls += took;
  if (trainer.load() == std::this_thread::get_id()) nanoseconds_trainer_in_calls += took;
}

std::vector<CallRecord> Session::calls() const {
  const std::lock_guard lock(guard_);
  std::vector<CallRecord> result;
  for (const CallRecord& record : ring_)
    if (record.number > 0) result.push_back(record);
  std::sort(result.begin(), result.end(), [](const CallRecord& a, const CallRecord& b) { return a.number < b.number; });
  return result;
}

std::string Session::where() const {
  const int64_t number = call_number.load(std::memory_order_acquire);
  if (number == 0) return {};
  const std::lock_guard lock(guard_);
  const CallRecord& r = ring_[static_cast<size_t>(number) % kCallsKept];
  return fmt::format("{}call {} {}", step > 0 ? fmt::format("step {}, ", step.load()) : "", r.number, call_text(r.kind, r.what, r.index, r.bytes));
}

}  // namespace sindri::comm
