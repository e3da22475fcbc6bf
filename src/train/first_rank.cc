// See first_rank.h.
#include "src/train/first_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/core/runtime.h"
#include "src/core/tensor_impl.h"

namespace sindri::train {

namespace {

using nlohmann::json;

json error_json(const Error& e) { return {{"code", static_cast<int>(e.code())}, {"message", e.message()}, {"where", e.where()}, {"fix", e.fix()}}; }

[[noreturn]] void throw_like(const json& j) {
  const auto code = static_cast<ErrorCode>(j.at("code").get<int>());
  const std::string message = "rank 0: " + j.at("message").get<std::string>(), where = j.at("where"), fix = j.at("fix");
  switch (static_cast<int>(code) / 1000) {
    case 2: throw SettingsError(code, message, where, fix);
    case 3: throw DataError(code, message, where, fix);
    case 4: throw CheckpointError(code, message, where, fix);
    default: throw Error(code, message, where, fix);
  }
}

// Tells the other ranks every few seconds that rank 0 is still at work, from a separate thread.
class StillAtWork {
 public:
  StillAtWork(comm::Communicator& world, const char* what, double seconds)
      : world_(world), what_(what), thread_(in_this_runtime([this, seconds] { run(seconds); })) {}
  ~StillAtWork() { finish("{}"); }
  StillAtWork(const StillAtWork&) = delete;
  StillAtWork& operator=(const StillAtWork&) = delete;

  /// Sends the last message; throws the error of an earlier one.
  void end(const std::string& message) {
    finish(message);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void finish(const std::string& message) {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      message_ = message;
    }
    wake_.notify_all();
    thread_.join();
  }
  void run(double seconds) {
    try {
      std::unique_lock lock(mutex_);
      while (message_.empty()) {
        if (wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return !message_.empty(); })) break;
        lock.unlock();
        world_.all_gather_text("", {what_});
        lock.lock();
      }
      world_.all_gather_text(message_, {what_});
    } catch (...) { error_ = std::current_exception(); }
  }
  comm::Communicator& world_;
  const char* what_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string message_;  // the last message, once it is known
  std::exception_ptr error_;
  std::thread thread_;
};

std::string first_message(comm::Communicator& world, const char* what) {
  while (true) {
    if (std::string text = world.all_gather_text("", {what})[0]; !text.empty()) return text;
  }
}

}  // namespace

std::string from_first_rank(comm::Communicator& world, const char* what, const std::function<std::string()>& f, double seconds) {
  if (world.size() == 1) return f();
  json told;
  std::exception_ptr error;
  if (world.rank() == 0) {
    StillAtWork others(world, what, seconds);
    try {
      told["text"] = f();
    } catch (const Error& e) {
      told["error"] = error_json(e);
      error = std::current_exception();
    } catch (const std::exception& e) {
      told["error"] = error_json(InternalError(e.what()));
      error = std::current_exception();
    }
    others.end(told.dump(-1, ' ', false, json::error_handler_t::replace));
  } else {
    told = json::parse(first_message(world, what));
  }
  if (told.contains("error")) {
    try {  // no rank ends the job before all have received the reason
      world.barrier({what});
    } catch (const CommError&) {}  // the original error matters
    if (error) std::rethrow_exception(error);
    throw_like(told["error"]);
  }
  return told.value("text", "");
}

void check_same_on_all(comm::Communicator& world, const char* what, const std::string& lines) {
  if (world.size() == 1) return;
  const std::vector<std::string> all = world.all_gather_text(lines, {what});
  std::vector<std::vector<std::string>> split(all.size());
  size_t most = 0;
  for (size_t r = 0; r < all.size(); ++r) {
    for (size_t at = 0; at < all[r].size();) {
      const size_t end = std::min(all[r].find('\n', at), all[r].size());
      split[r].push_back(all[r].substr(at, end - at));
      at = end + 1;
    }
    most = std::max(most, split[r].size());
  }
  for (size_t i = 0; i < most; ++i) {
    std::map<std::string, std::vector<size_t>> who;
    for (size_t r = 0; r < all.size(); ++r) who[i < split[r].size() ? split[r][i] : "nothing"].push_back(r);
    if (who.size() == 1) continue;
    std::string text;
    for (const auto& [line, ranks] : who) {
      text += fmt::format("{}{} on rank{} {}", text.empty() ? "" : ", ", line, ranks.size() == 1 ? "" : "s", fmt::join(ranks, " "));
    }
    throw CommError(ErrorCode::kCommMismatch, fmt::format("the {} differ between ranks: {}", what, text), "before the first step",
                    "give all ranks the same settings, program and data");
  }
}

void check_same_graph(comm::Communicator& world, const std::string& text) {
  if (world.size() == 1) return;
  std::string same;
  // Device numbers differ between the ranks of a host.
  const std::string own = current_device().is_cpu() ? "" : current_device().str();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string key = "constant : i64[3] = ";
    if (const size_t at = line.find(key); at != std::string::npos) line.resize(at + key.size());
    for (size_t at; !own.empty() && (at = line.find(own)) != std::string::npos;) line.replace(at, own.size(), "its device");
    same += line.substr(std::min(line.find_first_not_of(' '), line.size())) + "\n";
  }
  const std::vector<std::string> hashes = world.all_gather_text(fmt::format("{:x}", XXH3_64bits(same.data(), same.size())), {"graph check"});
  if (std::any_of(hashes.begin(), hashes.end(), [&](const std::string& h) { return h != hashes[0]; })) check_same_on_all(world, "graphs", same);
}

namespace {

Tensor receive_like(const json& e) {
  const HostTensors host;
  const auto dims = e.at("dims").get<std::vector<int64_t>>();
  Shape shape;
  for (const int64_t d : dims) shape.push_back(d);
  return Tensor::empty(shape, static_cast<DType>(e.at("dtype").get<int>()));
}

}  // namespace

void broadcast_checkpoint(comm::Communicator& world, LoadedCheckpoint* file) {
  if (world.size() == 1) return;
  json head;
  if (world.rank() == 0) {
    head = {{"path", file->path}, {"verified", file->verified}, {"notice", file->notice}, {"entries", json::array()}};
    for (CheckpointEntry& e : file->entries) {
      json one = {{"name", e.name}, {"kind", static_cast<int>(e.kind)}, {"stored_type", e.stored_type}, {"bytes", e.data.size()}};
      if (e.kind == CheckpointEntry::kTensor) {
        e.tensor = e.tensor.contiguous();
        one["dims"] = e.tensor.shape().vec();
        one["dtype"] = static_cast<int>(e.tensor.dtype());
      }
      head["entries"].push_back(std::move(one));
    }
  }
  const comm::Call call{"checkpoint"};
  head = json::parse(world.all_gather_text(world.rank() == 0 ? head.dump() : "", call)[0]);
  if (world.rank() != 0) {
    *file = {.path = head.at("path"), .entries = {}, .verified = head.at("verified"), .notice = head.at("notice")};
    for (const json& e : head.at("entries")) {
      CheckpointEntry& entry = file->entries.emplace_back();
      entry.name = e.at("name");
      entry.kind = static_cast<CheckpointEntry::Kind>(e.at("kind").get<int>());
      entry.stored_type = e.at("stored_type");
      entry.data.resize(e.at("bytes").get<size_t>());
      if (entry.kind == CheckpointEntry::kTensor) entry.tensor = receive_like(e);
    }
  }
  for (CheckpointEntry& e : file->entries) {
    if (!e.data.empty()) world.broadcast(e.data.data(), static_cast<int64_t>(e.data.size()), DType::kUInt8, 0, call);
    if (e.kind == CheckpointEntry::kTensor && e.tensor.nbytes() > 0)
      world.broadcast(world.rank() == 0 ? const_cast<void*>(e.tensor.raw_data()) : e.tensor.mutable_raw_data(), e.tensor.nbytes(), DType::kUInt8, 0, call);
  }
}

}  // namespace sindri::train
