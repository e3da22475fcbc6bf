// See sindri/op/kernel_choice.h. The cache file is JSON, {"version", "choices": {query: {"kernel", "of": the kernels it
// was measured against, "at": when, in seconds}}}. It is read again before a choice is added, and replaced atomically,
// both under a lock on FILE.lock, so that processes that start together end with the same choices.
#include "src/op/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/long_wait.h"
#include "sindri/core/runtime.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/version.h"
#include "src/core/fork.h"
#include "src/core/tensor_impl.h"
#include "src/op/cache_file.h"

namespace sindri {

namespace {

namespace fs = std::filesystem;

// The strings of kernel_choice_origins().
constexpr const char *kMeasured = "measured", *kCached = "cache file", *kRecorded = "recorded", *kFixed = "fixed";

constexpr const char* kCacheVersion = SINDRI_VERSION_STRING " form 4";

// A network needs between ten and a hundred choices. Without a bound, a program whose shapes keep changing would grow
// the memory, and the file, which is rewritten for each choice. So a process keeps the choices it used last and adds
// only its first ones to the file, and the file keeps the newest.
constexpr size_t kMostUsed = 1024, kMostAdded = 256, kMostInFile = 2048;

// The fastest of several kernels. If the alternatives have changed since, it is measured again.
struct Measured {
  std::string kernel;
  std::vector<std::string> of;
  int64_t at = 0;
};
using Measurements = std::map<std::string, Measured>;
void to_json(nlohmann::json& j, const Measured& m) { j = {{"kernel", m.kernel}, {"of", m.of}, {"at", m.at}}; }
void from_json(const nlohmann::json& j, Measured& m) {
  j.at("kernel").get_to(m.kernel);
  j.at("of").get_to(m.of);
  m.at = j.value("at", int64_t{0});
}

// If there are more than `most` entries, removes at least a quarter of them, those with the lowest `age_of`.
template <class Map, class F> void bound(Map* entries, size_t most, F&& age_of) {
  if (entries->size() <= most) return;
  std::vector<decltype(age_of(entries->begin()->second))> ages;
  for (const auto& [key, entry] : *entries) ages.push_back(age_of(entry));
  const auto limit = ages.begin() + static_cast<std::ptrdiff_t>(most / 4);
  std::nth_element(ages.begin(), limit, ages.end());
  std::erase_if(*entries, [&](const auto& e) { return age_of(e.second) <= *limit; });
}

std::vector<std::string> names_of(const std::vector<const KernelDef*>& list) {
  std::vector<std::string> names;
  for (const KernelDef* k : list) names.emplace_back(k->name);
  std::sort(names.begin(), names.end());
  return names;
}

const KernelDef* find(const std::vector<const KernelDef*>& list, const std::string& name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const KernelDef* k) { return name == k->name; });
  return it == list.end() ? nullptr : *it;
}

const KernelDef* first_by_name(const std::vector<const KernelDef*>& list) {
  return *std::min_element(list.begin(), list.end(), [](const KernelDef* a, const KernelDef* b) { return std::string_view(a->name) < b->name; });
}

// Reads choices in the form of repro.json, {"kernel_choices": {query: kernel}}.
KernelChoices pinned_choices() {
  constexpr const char* kVariable = "SINDRI_KERNEL_CHOICES";
  const char* file = std::getenv(kVariable);
  if (file == nullptr || *file == 0) return {};
  try {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) throw std::runtime_error(fs::exists(file, error) ? "it is not a file" : "it does not exist");
    std::ifstream f(file);
    if (!f) throw std::runtime_error("it cannot be opened");
    return nlohmann::json::parse(f).at("kernel_choices").get<KernelChoices>();
  } catch (const std::exception& e) {
    throw SettingsError(fmt::format("{}={}: the kernel choices cannot be read: {}", kVariable, file, e.what()),
                        fmt::format("environment variable {}", kVariable), "name the repro.json of a run, or unset it");
  }
}

Tuning tuning_of_environment() {
  const char* const v = std::getenv("SINDRI_TUNE");
  const std::string_view text = v != nullptr ? v : "";
  if (text.empty() || text == "quick" || text == "1") return Tuning::kQuick;
  if (text == "0" || text == "off") return Tuning::kOff;
  if (text == "full") return Tuning::kFull;
  throw SettingsError(fmt::format("SINDRI_TUNE={}: the values are off (or 0), quick and full", text), "environment variable SINDRI_TUNE",
                      "use one of these, or unset it for quick");
}

struct Used {
  std::string kernel;
  const char* from = "";  // see kernel_choice_origins()
  uint64_t last = 0;
};

// The choices a runtime was given or has made; under the mutex of State.
struct Choices {
  Tuning tuning = tuning_of_environment();
  KernelChoices given;
  std::map<std::string, Used> used;
  uint64_t clock = 0;

  void use(const std::string& key, std::string kernel, const char* from) {
    used[key] = {std::move(kernel), from, ++clock};
    bound(&used, kMostUsed, [](const Used& u) { return u.last; });
  }
};
constinit RuntimeSlot<Choices> choices_slot;
Choices& choices_here() { return choices_slot.get(); }

// State of the process, since the environment and the cache file belong to the process: runtimes reuse each other's measurements.
struct State {
  const KernelChoices pinned = pinned_choices();  // may throw
  std::mutex mutex;  // guards everything below, and each runtime's Choices
  const AtFork at_fork{mutex, AtFork::kKernelChoices};
  Measurements cached;
  bool warned_of_missing = false;
  std::string cache_file;  // the file that was read
  size_t added = 0;  // number of choices added to it

  // Returns the choice in the cache file for a query if it was measured among the same kernels.
  const KernelDef* measured(const std::string& key, const std::vector<const KernelDef*>& alternatives) const {
    const auto it = cached.find(key);
    return it == cached.end() || it->second.of != names_of(alternatives) ? nullptr : find(alternatives, it->second.kernel);
  }
};
State& state() {
  static State s;
  return s;
}

// Call with the mutex held.
void tell_of_missing(State* s, const std::string& key) {
  if (!std::exchange(s->warned_of_missing, true))
    log::warn("dispatch", fmt::format("SINDRI_KERNEL_CHOICES has no choice for {}; results may not be bitwise identical to the recorded run", key));
}

// Only one measurement at a time (a kernel may cause others). Locked before the state's mutex, which measuring does not need.
std::recursive_mutex& measuring() {
  static PerProcess<std::recursive_mutex> m;
  return m.get();
}

std::string key_of(const KernelQuery& q) {
  std::string in;
  for (const TensorMeta& m : q.in) in += (in.empty() ? "" : ", ") + m.str();
  return fmt::format("{}{}({}) {} {} threads", q.op.name, q.attrs.text(), in, cpu_isa_name(cpu_isa()), num_threads());
}

Measurements read_cache(const std::string& file) {
  Measurements out;
  try {
    if (!fs::exists(file)) return out;
    if (!fs::is_regular_file(file)) throw std::runtime_error("it is not a regular file");
    std::ifstream f(file);
    if (!f) throw std::runtime_error("it cannot be opened");
    const nlohmann::json j = nlohmann::json::parse(f);
    if (j.at("version") != kCacheVersion) return out;  // since then, other kernels may have become faster
    j.at("choices").get_to(out);
  } catch (const std::exception& e) {
    log::warn("dispatch", fmt::format("the kernel cache {} cannot be read and is rebuilt: {}", file, e.what()));
    out.clear();
  }
  return out;
}

void write_cache(const std::string& file, const Measurements& choices) {
  const std::string text = nlohmann::json{{"version", kCacheVersion}, {"choices", choices}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (const std::string why = replace_cache_file(file, text + "\n"); !why.empty())
    log::warn("dispatch", fmt::format("the kernel cache {} cannot be written ({}): choices are measured again next time", file, why));
}

constexpr double kNotTimed = 1e30;  // seconds; for a kernel that was dropped before its first timed turn

// Buffers to time kernels on. Filled with ones: no kernel is slower on them than on data (zeros and denormals can mislead).
class Trial {
 public:
  explicit Trial(const KernelQuery& q) : device_(q.device()), stream_(device_.is_cpu() ? nullptr : &current_stream(device_)) {
    for (const TensorMeta& m : q.in) add(m, &in_);
    for (const TensorMeta& m : q.out) add(m, &out_);
  }
  // Returns the best time of each kernel. Kernels run alternately, so that a moment in which the machine is busy does
  // not decide between them. A kernel is dropped if it took three times as long as another in one turn, the warm-up
  // included, or 1.3 times as long both in the warm-up and in the later turns. Timing ends when a single kernel is
  // left.
  std::vector<double> seconds(const std::vector<std::shared_ptr<Kernel>>& list) {
    int64_t workspace_bytes = 0;
    for (const auto& k : list) workspace_bytes = std::max(workspace_bytes, k->workspace_bytes());
    const Storage workspace(workspace_bytes, device_);
    ExecContext context{workspace.data(), stream_};
    std::vector<double> warm(list.size(), 0), best(list.size(), kNotTimed);
    const auto behind = [](const std::vector<double>& times, size_t k, double factor) {
      return times[k] > factor * *std::min_element(times.begin(), times.end());
    };
    const auto in_race = [&](size_t k, int turn) {
      if (turn < 0) return true;
      if (behind(warm, k, kFar)) return false;
      return turn == 0 || (!behind(best, k, kFar) && !(behind(warm, k, kClear) && behind(best, k, kClear)));
    };
    double total = 0;
    for (int i = -1; i < kMostRuns && (i < kFewestRuns || total < kEnough * static_cast<double>(list.size())); ++i) {
      std::vector<size_t> racing;
      for (size_t k = 0; k < list.size(); ++k) {
        if (in_race(k, i)) racing.push_back(k);
      }
      if (i > 0 && racing.size() == 1) break;
      for (const size_t k : racing) {
        const auto start = std::chrono::steady_clock::now();
        list[k]->run(context, in_, out_);
        if (stream_ != nullptr) stream_->synchronize();
        const double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (i < 0) warm[k] = t;
        else best[k] = std::min(best[k], t), total += t;
      }
    }
    return best;
  }

 private:
  static constexpr int kFewestRuns = 2, kMostRuns = 50;
  static constexpr double kFar = 3, kClear = 1.3;
  static constexpr double kEnough = 0.002;  // seconds per kernel; all but small calls reach this at once

  void add(const TensorMeta& m, std::vector<Buffer>* to) {
    memory_.push_back(std::make_unique<Storage>(m.nbytes(), device_));
    const Storage host(device_.is_cpu() ? 0 : m.nbytes());
    void* const data = device_.is_cpu() ? memory_.back()->data() : host.data();
    if (is_floating(m.dtype)) {
      dispatch_dtype(m.dtype, [&]<class T>() { std::fill_n(static_cast<T*>(data), m.numel(), static_cast<T>(1.0f)); });
    } else {
      std::memset(data, 0, static_cast<size_t>(m.nbytes()));
    }
    if (host.bytes() > 0) device_memory().write(device_, memory_.back()->data(), data, m.nbytes());
    to->push_back({memory_.back()->data(), &m});
  }
  const Device device_;
  Stream* const stream_;
  std::vector<std::unique_ptr<Storage>> memory_;
  std::vector<Buffer> in_, out_;
};

// A convolution does the same for each sample, so a few samples suffice to find the fastest kernel: as many as make
// kTrialFlops operations, rounded up to a multiple of the threads. Choosing ResNet-50's 71 kernels at batch 16 then
// takes a fifth of the time. Work that a kernel does once per call (transforming the weights) has too large a share in
// these timings; the resulting choices cost a hundredth of the step time.
// that cost a hundredth of the step.
class FewSamples {
 public:
  explicit FewSamples(const KernelQuery& q) : in_(q.in.begin(), q.in.end()), out_(q.out.begin(), q.out.end()), query_{q.op, q.attrs, in_, out_} {
    std::vector<TensorMeta*> samples;
    add_samples(&in_, q.op.traits.layout_weights, &samples);
    add_samples(&out_, q.op.traits.layout_weights >> 16, &samples);
    const bool batched = q.op.traits.layout == LayoutRule::kChannelsLastPreferred && !samples.empty() &&
        std::all_of(samples.begin(), samples.end(), [&](const TensorMeta* m) { return m->shape[0] == samples[0]->shape[0]; });
    const int64_t flops = batched ? count_flops(q.op, q.attrs, q.in, q.out) : 0;
    if (flops <= kTrialFlops) return;
    const int64_t all = samples[0]->shape[0], threads = num_threads(), few = (all * kTrialFlops / flops / threads + 1) * threads;
    for (TensorMeta* m : samples) {
      std::vector<int64_t> dims(m->shape.begin(), m->shape.end());
      dims[0] = std::min(few, all);
      m->shape = Shape(dims);
    }
  }
  FewSamples(const FewSamples&) = delete;
  FewSamples& operator=(const FewSamples&) = delete;
  /// The attributes are those of the whole call: kernels derive shapes from the operands.
  const KernelQuery& query() const { return query_; }

 private:
  static constexpr int64_t kTrialFlops = 800'000'000;

  static void add_samples(std::vector<TensorMeta>* operands, uint32_t weights, std::vector<TensorMeta*>* to) {
    for (size_t i = 0; i < operands->size(); ++i) {
      if ((*operands)[i].shape.rank() == 4 && (weights >> i & 1) == 0) to->push_back(&(*operands)[i]);
    }
  }
  std::vector<TensorMeta> in_, out_;
  KernelQuery query_;
};

const KernelDef* measure(const KernelQuery& q, const std::string& key, const std::vector<const KernelDef*>& alternatives, const MakeKernel& make) {
  const FewSamples few(q);
  const bool all_take_few = std::all_of(alternatives.begin(), alternatives.end(), [&](const KernelDef* k) { return rejection(*k, few.query()).empty(); });
  const KernelQuery& trial = all_take_few ? few.query() : q;
  std::vector<std::shared_ptr<Kernel>> list;
  for (const KernelDef* k : alternatives) list.push_back(make(*k, trial));
  const std::vector<double> seconds = Trial(trial).seconds(list);
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string time = seconds[i] < kNotTimed ? fmt::format("{:.1f} us", seconds[i] * 1e6) : "dropped at once";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", alternatives[i]->name, time);
  }
  log::info("dispatch", fmt::format("measured {}: {}", key, text));
  return alternatives[static_cast<size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin())];
}

}  // namespace

Tuning tuning() {
  const std::lock_guard lock(state().mutex);
  return strict_mode() ? Tuning::kOff : choices_here().tuning;
}
void set_tuning(Tuning effort) {
  const std::lock_guard lock(state().mutex);
  choices_here().tuning = effort;
}
bool kernel_tuning() { return tuning() != Tuning::kOff; }
void set_kernel_tuning(bool on) { set_tuning(on ? Tuning::kQuick : Tuning::kOff); }
KernelChoices kernel_choices() {
  const std::lock_guard lock(state().mutex);
  KernelChoices all;
  const Choices& c = choices_here();
  for (const auto& [key, u] : c.used) all[key] = u.kernel;
  all.insert(c.given.begin(), c.given.end());  // a resumed run that ends early keeps the choices that it has not needed yet
  return all;
}
std::map<std::string, std::string> kernel_choice_origins() {
  const std::lock_guard lock(state().mutex);
  std::map<std::string, std::string> all;
  const Choices& c = choices_here();
  for (const auto& [key, u] : c.used) all[key] = u.from;
  for (const auto& [key, kernel] : c.given) all.try_emplace(key, kRecorded);
  return all;
}
void set_kernel_choices(const KernelChoices& choices) {
  const std::lock_guard lock(state().mutex);
  choices_here().given = choices;
}

std::string kernel_cache_file() { return cache_file("kernels.json"); }

std::string recorded_choice(const std::string& key) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const Choices& c = choices_here();
  if (const auto it = c.given.find(key); it != c.given.end()) return it->second;
  if (const auto it = c.used.find(key); it != c.used.end()) return it->second.kernel;
  if (const auto it = s.pinned.find(key); it != s.pinned.end()) return it->second;
  if (!s.pinned.empty()) tell_of_missing(&s, key);
  return "";
}

void record_choice(const std::string& key, const std::string& choice, ChoiceOrigin origin) {
  const char* const from = origin == ChoiceOrigin::kMeasured ? kMeasured
      : origin == ChoiceOrigin::kCached                      ? kCached
      : origin == ChoiceOrigin::kRecorded                    ? kRecorded
                                                             : kFixed;
  const std::lock_guard lock(state().mutex);
  Choices& c = choices_here();
  const auto it = c.used.find(key);
  c.use(key, choice, it != c.used.end() && origin == ChoiceOrigin::kRecorded && it->second.kernel == choice ? it->second.from : from);
}

namespace {

// Returns the kernel that is known for a query without measuring; null: none. Call with the state's mutex held.
const KernelDef* known_kernel(State& s, const std::string& key, const std::string& file, const std::vector<const KernelDef*>& alternatives) {
  const auto in = [&](const KernelChoices& choices) -> const KernelDef* {
    const auto it = choices.find(key);
    if (it == choices.end()) return nullptr;
    const KernelDef* k = find(alternatives, it->second);
    if (k == nullptr)
      log::warn("dispatch",
                fmt::format("{}: the recorded kernel '{}' does not exist; results may not be bitwise identical to the recorded run", key, it->second));
    return k;
  };
  Choices& c = choices_here();
  const char* from = kRecorded;
  const KernelDef* k = in(c.given);
  if (const auto it = c.used.find(key); k == nullptr && it != c.used.end()) {
    k = find(alternatives, it->second.kernel);
    from = it->second.from;
  }
  if (k == nullptr) {
    k = in(s.pinned);
    from = kRecorded;
  }
  if (k == nullptr && !s.pinned.empty() && !s.pinned.contains(key)) tell_of_missing(&s, key);
  if (k == nullptr && c.tuning != Tuning::kOff && !file.empty()) {
    if (s.cache_file != file || (!s.cached.contains(key) && s.added < kMostAdded)) s.cached = read_cache(file);
    if (std::exchange(s.cache_file, file) != file) s.added = 0;
    k = s.measured(key, alternatives);
    from = kCached;
  }
  if (k == nullptr && c.tuning == Tuning::kOff) {
    k = first_by_name(alternatives);
    from = kFixed;
  }
  if (k != nullptr) c.use(key, k->name, from);
  return k;
}

// Returns the fastest kernel and stores it in the cache file; if memory for measuring is short, the first by name,
// which is not stored.
const KernelDef* measure_and_keep(State& s, const KernelQuery& q, const std::string& key, const std::string& file,
                                  const std::vector<const KernelDef*>& alternatives, const MakeKernel& make) {
  const KernelDef* k = nullptr;
  std::string why;
  try {
    k = measure(q, key, alternatives, make);
  } catch (const DeviceError& e) { why = e.what(); } catch (const std::bad_alloc&) {
    why = "no memory is left";
  }
  if (k == nullptr) log::warn("dispatch", fmt::format("{}: kernels cannot be measured here, the first by name is used: {}", key, why));
  const bool keep = k != nullptr && !file.empty() && s.added < kMostAdded;  // only a thread that measures adds, one at a time
  std::optional<CacheLock> one;
  if (keep) one.emplace(file);  // taken before the mutex: waiting for the file may take long, and other threads need the mutex
  const std::lock_guard lock(s.mutex);
  const char* from = k != nullptr ? kMeasured : kFixed;
  if (k == nullptr) k = first_by_name(alternatives);
  if (keep) {
    s.cached = read_cache(file);
    if (const KernelDef* other = s.measured(key, alternatives)) {  // another process measured it first
      k = other;
      from = kCached;
    } else {
      s.cached[key] = {k->name, names_of(alternatives), static_cast<int64_t>(std::time(nullptr))};
      bound(&s.cached, kMostInFile, [](const Measured& m) { return m.at; });
      write_cache(file, s.cached);
      ++s.added;
    }
  }
  choices_here().use(key, k->name, from);
  return k;
}

}  // namespace

const KernelDef* choose_kernel(const KernelQuery& q, const std::vector<const KernelDef*>& alternatives, const MakeKernel& make) {
  if (alternatives.size() == 1 || strict_mode()) return first_by_name(alternatives);
  State& s = state();
  const std::string key = key_of(q), file = kernel_cache_file();
  const auto known = [&] {
    const std::lock_guard lock(s.mutex);
    return known_kernel(s, key, file, alternatives);
  };
  if (const KernelDef* k = known()) return k;
  const KernelDef* k = nullptr;
  long_wait([&] {
    const std::lock_guard one(measuring());
    k = known();  // another thread may have measured it meanwhile
    if (k == nullptr) k = measure_and_keep(s, q, key, file, alternatives, make);
  });
  return k;
}

}  // namespace sindri
