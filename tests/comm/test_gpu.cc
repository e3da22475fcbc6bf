#include "tests/comm/test_gpu.h"

#include <cstdlib>
#include <cstring>

namespace sindri::test_gpu {

namespace {

thread_local int t_current = -1;

class TestEvent final : public Event {
 public:
  bool done() override {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
  }
  void set() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

class TestStream final : public Stream {
 public:
  TestStream(Device device, Lane lane) : Stream(device, lane) {
    handle_.put = [](fake_nccl::Stream* self, void (*run)(void*), void* argument) {
      reinterpret_cast<Handle*>(self)->stream->put([run, argument] { run(argument); });
    };
    handle_.stream = this;
    thread_ = std::thread([this] { loop(); });
  }
  ~TestStream() override {
    put(nullptr);
    thread_.join();
  }
  void put(std::function<void()> f) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(f));
    changed_.notify_one();
  }
  std::shared_ptr<Event> record() override {
    auto event = std::make_shared<TestEvent>();
    put([event] { event->set(); });
    return event;
  }
  void wait(const std::shared_ptr<Event>& event) override {
    put([event] { event->synchronize(); });
  }
  void copy(void* to, const void* from, int64_t bytes, CopyKind) override {
    put([=] { std::memmove(to, from, static_cast<size_t>(bytes)); });
  }
  void synchronize() override { record()->synchronize(); }
  void* native_handle() override { return Backend::get().handles ? &handle_ : nullptr; }

 private:
  struct Handle : fake_nccl::Stream {
    TestStream* stream;
  };
  void loop() {
    for (;;) {
      std::function<void()> f;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !queue_.empty(); });
        f = std::move(queue_.front());
        queue_.pop_front();
      }
      if (f == nullptr) return;
      f();
    }
  }
  Handle handle_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;
};

}  // namespace

Backend& Backend::get() {
  static Backend* const backend = [] {
    auto made = std::make_unique<Backend>();
    Backend* const b = made.get();
    register_backend(Device::kCuda, std::move(made));
    return b;
  }();
  return *backend;
}
int Backend::current() { return t_current; }
void Backend::forget_current() { t_current = -1; }
void Backend::make_current(int index) { t_current = index; }
void* Backend::allocate(int, int64_t bytes) { return std::aligned_alloc(256, static_cast<size_t>((bytes + 255) / 256 * 256)); }
void Backend::release(int, void* p, int64_t) noexcept { std::free(p); }
std::unique_ptr<Stream> Backend::make_stream(Device device, Lane lane) { return std::make_unique<TestStream>(device, lane); }

}  // namespace sindri::test_gpu
