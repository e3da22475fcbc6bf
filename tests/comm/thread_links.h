// Links between threads, which count the bytes sent over them: for testing algorithms without a network.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sindri/core/error.h"
#include "src/comm/algorithms.h"

namespace sindri::comm {

/// The mailboxes of all ranks of a world. Messages are copied when they are sent.
class Post {
 public:
  explicit Post(int size, int local_size = 1) : local_size_(local_size), sent_(static_cast<size_t>(size)), sent_far_(static_cast<size_t>(size)) {}
  void put(const std::string& channel, int from, int to, const void* data, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    sent_[static_cast<size_t>(from)] += bytes;
    if (from / local_size_ != to / local_size_) sent_far_[static_cast<size_t>(from)] += bytes;
    const auto* const first = static_cast<const char*>(data);
    boxes_[{channel, from, to}].emplace_back(first, first + bytes);
    changed_.notify_all();
  }
  void get(const std::string& channel, int from, int to, void* data, int64_t bytes) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<char>>& box = boxes_[{channel, from, to}];
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !box.empty() || broken_; })) broken_ = true;
    if (box.empty()) throw CommError("rank " + std::to_string(to) + " waits for rank " + std::to_string(from) + " in vain");
    const std::vector<char> message = std::move(box.front());
    box.pop_front();
    if (static_cast<int64_t>(message.size()) != bytes) {
      broken_ = true;
      changed_.notify_all();
      throw CommError("a message of " + std::to_string(message.size()) + " bytes instead of " + std::to_string(bytes));
    }
    std::memcpy(data, message.data(), message.size());
  }
  /// Bytes that a rank has sent, and the part of them sent to another host.
  int64_t sent(int rank) const { return sent_[static_cast<size_t>(rank)]; }
  int64_t sent_far(int rank) const { return sent_far_[static_cast<size_t>(rank)]; }
  bool empty() const {
    for (const auto& [key, box] : boxes_)
      if (!box.empty()) return false;
    return true;
  }

 private:
  const int local_size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::tuple<std::string, int, int>, std::deque<std::vector<char>>> boxes_;
  std::vector<int64_t> sent_, sent_far_;
  bool broken_ = false;
};

class ThreadLinks final : public Links {
 public:
  ThreadLinks(std::shared_ptr<Post> post, std::vector<int> members, int rank, std::string channel)
      : post_(std::move(post)), members_(std::move(members)), me_(members_[static_cast<size_t>(rank)]), channel_(std::move(channel)) {}
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override {
    exchange_while(sends, receives, [] { return false; });
  }
  // Work runs before anything has arrived, and received data overwrites the buffers afterwards: work that touches them is detected.
  void exchange_while(std::span<const Message> sends, std::span<const Message> receives, const std::function<bool()>& work) override {
    for (const Message& m : sends) post_->put(channel_, me_, members_.at(static_cast<size_t>(m.peer)), m.data, m.bytes);
    for (const Message& m : receives) std::memset(m.data, 0xa5, static_cast<size_t>(m.bytes));
    while (work()) {}
    for (const Message& m : receives) post_->get(channel_, members_.at(static_cast<size_t>(m.peer)), me_, m.data, m.bytes);
  }

 private:
  const std::shared_ptr<Post> post_;
  const std::vector<int> members_;
  const int me_;
  const std::string channel_;
};

}  // namespace sindri::comm
