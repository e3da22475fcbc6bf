// See run_folder.h.
#include "sindri/app/run_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "src/core/descriptor.h"
#include "src/train/append_file.h"
#include "src/train/atomic_file.h"
#include "src/train/event_file.h"

namespace sindri::app {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kMeasures = "measures";
constexpr const char* kAtEpochEnd = "at_epoch_end";  // in a measures event: it belongs to the end of its epoch
constexpr const char* kFolderFix = "set train.run_dir to a folder you may write to";

[[noreturn]] void folder_error(const std::string& action, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} the run folder: {}", action, std::strerror(error)), path, kFolderFix);
}

ordered_json number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  if (v == std::floor(v) && std::abs(v) < 1e15) return static_cast<int64_t>(v);
  return v;
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(std::time(nullptr))); }
double wall_clock_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Creates runs/<name>-NNN; mkdir decides between two processes that try the same number. Returns the new folders, the numbered one last.
std::vector<std::string> create_numbered(const std::string& name) {
  std::vector<std::string> made;
  std::error_code error;
  if (fs::create_directories("runs", error)) made.emplace_back("runs");
  if (error) folder_error("create", "runs", error.value());
  for (int n = 1; n < 100000; ++n) {
    const std::string path = fmt::format("runs/{}-{:03}", name, n);
    if (mkdir(path.c_str(), 0755) == 0) {
      made.push_back(path);
      return made;
    }
    if (errno != EEXIST) folder_error("create", path, errno);
  }
  throw IoError("all run numbers are in use", "runs/" + name + "-99999", "delete old runs or set train.run_dir");
}

// Metric names become column names. Characters that would need quoting become '_', so that reading can simply split at commas.
std::string column_name(std::string s) {
  std::replace_if(
      s.begin(), s.end(), [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; }, '_');
  return s;
}

const char* build_flags() {
#ifdef NDEBUG
  return "release";
#else
  return "debug";
#endif
}

}  // namespace

struct RunFolder::Impl {
  int lock = -1;
  std::string made_lock;  // the lock file, if it is new
  std::vector<std::string> made_folders;  // new folders, outermost first
  std::vector<std::string> made_by_start;  // new files and folders, until all of start() has succeeded
  bool started = false;
  std::unique_ptr<train::AppendFile> metrics, log;
  std::unique_ptr<train::EventFile> events;
  std::set<std::string> kept_tags;  // tags of the kept events of earlier processes
  std::vector<std::string> columns;  // of metrics.csv, without epoch
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> rows;  // (epoch, values): rows of this process, and rows read from the file
  std::map<std::string, std::string> unwritten;  // path -> content that could not be written

  ~Impl() {
    if (!started) leave_no_trace();
    if (lock >= 0) close(lock);  // releases the flock
  }
  void check_started(const std::string& folder) const {
    if (!started) throw InternalError("the run folder is written to before start()", folder);
  }
  void make_folders(const std::string& path);
  void take_lock(const std::string& folder, const std::string& path);
  std::unique_ptr<train::AppendFile> open_record(const std::string& path, const char* what);
  void open_all(const RunFolder& folder, const train::EarlierEvents& earlier, const std::optional<ResumePoint>& point);
  void undo_start() noexcept;
  void leave_no_trace() noexcept;
  void read_csv(const std::string& path);
  std::string csv() const;
  // A temporarily full disk must not end the run: the next call retries a failed write.
  void replace_file(const std::string& path, std::string content);
};

// Creates all folders of `path` and remembers which are new.
void RunFolder::Impl::make_folders(const std::string& path) {
  std::vector<std::string> missing;
  for (fs::path p = path; !p.empty() && !train::file_exists(p.string(), "run folder"); p = p.parent_path()) missing.push_back(p.string());
  std::error_code error;
  fs::create_directories(path, error);
  if (error) folder_error("create", path, error.value());
  if (!fs::is_directory(path, error)) folder_error("create", path, ENOTDIR);
  made_folders.assign(missing.rbegin(), missing.rend());
}

void RunFolder::Impl::take_lock(const std::string& folder, const std::string& path) {
  lock = open_file(path, O_RDWR);
  if (lock < 0 && errno == ENOENT) {
    lock = open_file(path, O_RDWR | O_CREAT, 0644);
    if (lock >= 0) made_lock = path;
  }
  if (lock < 0) folder_error("write to", folder, errno);
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return;
  made_lock.clear();
  made_folders.clear();
  if (errno != EWOULDBLOCK) folder_error("lock", folder, errno);
  throw IoError(ErrorCode::kRunFolderBusy, "another process is writing to the run folder", folder,
                "wait for it, stop it, or set train.run_dir to another folder");
}

// A refused start leaves the folder unchanged, or removes it if it is new.
void RunFolder::Impl::leave_no_trace() noexcept {
  if (!made_lock.empty()) unlink(made_lock.c_str());
  for (auto it = made_folders.rbegin(); it != made_folders.rend(); ++it) rmdir(it->c_str());
}

void RunFolder::Impl::replace_file(const std::string& path, std::string content) {
  try {
    train::write_file_atomically(path, content, fs::path(path).filename().string());
    unwritten.erase(path);
  } catch (const IoError& e) {
    if (!unwritten.contains(path)) log::warn("train", fmt::format("{}; training continues, and Sindri will try again", e.what()));
    unwritten[path] = std::move(content);
  }
}

// A resumed run keeps its earlier rows.
void RunFolder::Impl::read_csv(const std::string& path) {
  if (!train::file_exists(path, "metrics.csv")) return;
  const std::string text = train::read_small_file(path, int64_t{64} << 20, "metrics.csv");
  bool header = true;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::vector<std::string> fields;
    const std::string line = text.substr(start, end - start);
    for (size_t a = 0;;) {
      const size_t b = line.find(',', a);
      fields.push_back(line.substr(a, b - a));
      if (b == std::string::npos) break;
      a = b + 1;
    }
    start = end + 1;
    if (fields.size() < 2) continue;  // not one of our rows
    if (header) {
      columns.assign(fields.begin() + 1, fields.end());
    } else {
      std::map<std::string, std::string> values;
      for (size_t i = 1; i < fields.size() && i <= columns.size(); ++i) values[columns[i - 1]] = fields[i];
      rows.emplace_back(fields[0], std::move(values));
    }
    header = false;
  }
}

std::string RunFolder::Impl::csv() const {
  std::string out = "epoch";
  for (const std::string& c : columns) out += "," + c;
  out += "\n";
  for (const auto& [epoch, values] : rows) {
    out += epoch;
    for (const std::string& c : columns) {
      const auto it = values.find(c);
      out += "," + (it == values.end() ? "" : it->second);
    }
    out += "\n";
  }
  return out;
}

RunFolder::RunFolder(const std::string& path, const std::string& name) : impl_(std::make_unique<Impl>()) {
  if (path.empty()) {
    impl_->made_folders = create_numbered(name);
    path_ = impl_->made_folders.back();
  } else {
    path_ = path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
    try {
      impl_->make_folders(path_);
    } catch (const IoError& e) { throw IoError(e.message(), path_, kFolderFix); }
  }
  impl_->take_lock(path_, file("lock"));
  struct stat info {};
  if (stat(file("metrics.jsonl").c_str(), &info) == 0) continued_ = info.st_size > 0;
  else if (errno != ENOENT) folder_error("read metrics.jsonl of", path_, errno);
  impl_->read_csv(file("metrics.csv"));
}

RunFolder::~RunFolder() = default;

namespace {

// Returns whether an event of metrics.jsonl belongs to the steps before the resume point.
bool is_before(const ResumePoint& point, const nlohmann::json& j) {
  if (!j.is_object() || !j.contains("event") || !j.contains("step") || !j["step"].is_number_integer()) return false;
  const int64_t step = j["step"];
  if (step != point.step) return step < point.step;
  if (j["event"] == "epoch" || j.contains(kAtEpochEnd)) return !point.within_epoch && j.value("epoch", int64_t{0}) <= point.epochs;
  return j["event"] == "step" || j["event"] == kMeasures;
}

bool is_before(const ResumePoint& point, std::string_view line) { return is_before(point, nlohmann::json::parse(line, nullptr, false)); }

// Returns whether an event of TensorBoard's file belongs to work done before the resume point.
bool is_kept(const ResumePoint& point, const std::string& tag, int64_t step, const std::set<std::string>& measured) {
  if (tag == "report") return false;  // the plot of a run that ended there
  if (step != point.step || tag == "train/loss" || measured.contains(tag)) return step <= point.step;
  return !point.within_epoch && (point.evaluated || !tag.starts_with("eval/"));  // an event of an epoch's end
}

// Returns the curves of measures at the step of `point`: TensorBoard's events do not say whether a value belongs to a step or to its epoch's end.
std::set<std::string> measured_at(const ResumePoint& point, const std::string& path) {
  std::set<std::string> tags;
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0 && errno == ENOENT) return tags;
  if (fd < 0) train::throw_io_error("open", "metrics file", path, errno);
  const std::unique_ptr<const int, void (*)(const int*)> closed(&fd, [](const int* open) { close(*open); });
  (void)train::end_of_last_line(fd, path, "metrics file", [&](std::string_view line) {
    const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
    const int64_t step = j.is_object() ? j.value("step", INT64_MAX) : INT64_MAX;
    if (step == point.step && j.value("event", "") == kMeasures && is_before(point, j))
      for (const auto& [name, value] : j.items()) tags.insert(name);
    return step < point.step;
  });
  return tags;
}

}  // namespace

std::unique_ptr<train::AppendFile> RunFolder::Impl::open_record(const std::string& path, const char* what) {
  const bool is_new = !train::file_exists(path, what);
  auto file = std::make_unique<train::AppendFile>(path, what);
  if (is_new) made_by_start.push_back(path);
  return file;
}

void RunFolder::Impl::open_all(const RunFolder& folder, const train::EarlierEvents& earlier, const std::optional<ResumePoint>& point) {
  metrics = open_record(folder.file("metrics.jsonl"), "metrics file");
  log = open_record(folder.file("log.txt"), "log file");
  std::error_code error;
  if (fs::create_directories(folder.checkpoints(), error)) made_by_start.push_back(folder.checkpoints());
  if (error) folder_error("write to", folder.checkpoints(), error.value());
  events = std::make_unique<train::EventFile>(folder.path(), earlier);
  made_by_start.push_back(events->path());
  // A process killed while a line crossed a page leaves a partial line, to which the next line must not be appended. Data cut from the metrics cannot be
  // restored, so cutting comes after everything else that may fail.
  for (train::AppendFile* f : {log.get(), metrics.get()}) {
    const bool cut = point && f == metrics.get();
    f->truncate(train::end_of_last_line(f->fd(), f->path(), "file of the run", [&](std::string_view line) { return !cut || is_before(*point, line); }));
  }
}

// Removes what start() created before it failed.
void RunFolder::Impl::undo_start() noexcept {
  metrics.reset();
  log.reset();
  events.reset();
  started = false;
  for (auto it = made_by_start.rbegin(); it != made_by_start.rend(); ++it)
    if (unlink(it->c_str()) != 0) rmdir(it->c_str());
  made_by_start.clear();
}

void RunFolder::start(const std::optional<ResumePoint>& point) {
  if (impl_->started) throw InternalError("the run folder is in use already", path_);
  // Everything that may be refused comes before the first write.
  train::EarlierEvents earlier;
  if (point) {
    const std::set<std::string> measured = measured_at(*point, file("metrics.jsonl"));
    earlier = train::read_event_files(path_, [&](const std::string& tag, int64_t step) {
      const bool kept = is_kept(*point, tag, step, measured);
      if (kept) impl_->kept_tags.insert(tag);
      return kept;
    });
  }
  try {
    impl_->open_all(*this, earlier, point);
  } catch (...) {
    impl_->undo_start();
    throw;
  }
  impl_->started = true;
  impl_->events->remove_earlier();
  train::remove_leftovers(path_);
  train::remove_leftovers(checkpoints());
  if (point) {
    const auto later = [&](const auto& row) { return std::atoll(row.first.c_str()) > point->epochs; };
    size_t changes = std::erase_if(impl_->rows, later);
    for (auto& [epoch, values] : impl_->rows) {
      if (!point->evaluated && std::atoll(epoch.c_str()) == point->epochs)
        changes += std::erase_if(values, [](const auto& v) { return v.first.starts_with("eval_"); });
    }
    if (changes > 0) {
      const auto unused = [&](const std::string& column) {
        return std::none_of(impl_->rows.begin(), impl_->rows.end(),
                            [&](const auto& row) { return row.second.contains(column) && !row.second.at(column).empty(); });
      };
      std::erase_if(impl_->columns, unused);
      impl_->replace_file(file("metrics.csv"), impl_->csv());
    }
  }
}

bool RunFolder::started() const { return impl_->started; }

void RunFolder::discard() {
  if (!impl_->started || impl_->made_folders.empty()) return;
  for (const char* name : {"config.resolved.yaml", "env.json", "repro.json", "metrics.csv"}) unlink(file(name).c_str());
  impl_->undo_start();
  impl_->leave_no_trace();
  impl_->made_lock.clear();
  impl_->made_folders.clear();
}

std::string RunFolder::missing() {
  if (!impl_->started) return "";
  for (const auto& [path, content] : std::map(impl_->unwritten)) impl_->replace_file(path, content);
  if (!impl_->unwritten.empty()) return impl_->unwritten.begin()->first;
  for (const std::string& text : {impl_->metrics->missing(), impl_->log->missing(), impl_->events->missing()}) {
    if (!text.empty()) return text;
  }
  return "";
}

std::vector<EventValues> RunFolder::epoch_rows() const {
  std::vector<EventValues> out;
  for (const auto& [epoch, values] : impl_->rows) {
    EventValues& row = out.emplace_back();
    row.emplace_back("epoch", std::atof(epoch.c_str()));
    for (const auto& [name, text] : values) {
      if (!text.empty()) row.emplace_back(name, std::strtod(text.c_str(), nullptr));
    }
  }
  return out;
}

void RunFolder::write_settings(const Settings& settings) { train::write_file_atomically(file("config.resolved.yaml"), settings.to_yaml(), "settings file"); }

void RunFolder::write_environment(const std::string& command_line) {
  utsname u{};
  uname(&u);
  ordered_json j = {{"time", now_text()},       {"program", "sindri"},
                    {"host", u.nodename},       {"kernel", u.release},
                    {"machine", u.machine},     {"compiler", __VERSION__},
                    {"build", build_flags()},   {"cpu_isa", cpu_isa_name(cpu_isa())},
                    {"threads", num_threads()}, {"device", current_device().str()}};
  for (const DeviceListing& d : devices()) {
    if (d.device != current_device()) continue;
    j["device_name"] = d.info.name;
    j["device_target"] = d.target;
  }
  if (const std::string line = target_substitution(); !line.empty()) {
    j["device_target"] = context().device_target;
    j["device_note"] = line;
  }
  if (!command_line.empty()) j["command"] = command_line;
  ordered_json variables = ordered_json::object();
  std::vector<std::string> sorted;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) sorted.emplace_back(*p);
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& v : sorted) {
    if (v.starts_with("SINDRI_") || v.starts_with("OMP_")) variables[v.substr(0, v.find('='))] = v.substr(v.find('=') + 1);
  }
  j["variables"] = variables;
  train::write_file_atomically(file("env.json"), j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n", "env.json");
}

namespace {

// The hash of the current plans.json; empty if there is none. The choices that a run read from that file are among the run's kernel_choices.
std::string plan_cache_hash() {
  std::ifstream f(plan_cache_file(), std::ios::binary);
  if (!f) return "";
  const std::string text{std::istreambuf_iterator<char>(f), {}};
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

}  // namespace

void RunFolder::write_repro(const ReproInfo& info, const Settings& settings) {
  ordered_json seeds = ordered_json::object();
  for (const auto& [name, seed] : info.seeds) seeds[name] = seed;
  ordered_json j = {
      {"seeds", seeds},
      {"revision", info.revision},
      {"build", build_flags()},
      {"compiler", __VERSION__},
      {"cpu_isa", cpu_isa_name(cpu_isa())},
      {"device", current_device().str()},
      {"threads", num_threads()},
      {"strict", strict_mode()},
      {"world_size", info.world_size},
      {"data_fingerprint", info.data_fingerprint},
      {"settings_hash", settings.hash()},
      {"loss_bits_hash", info.loss_bits_hash},
      {"kernel_choices_pinned_by", "SINDRI_KERNEL_CHOICES=FILE, this one, in another run, --resume in this; SINDRI_STRICT=1 fixes kernels in all"},
      {"kernel_choices_from", info.kernel_choice_origins},
      {"kernel_choices", info.kernel_choices}};
  if (const std::string hash = current_device().is_cpu() ? "" : plan_cache_hash(); !hash.empty()) j["plan_cache_hash"] = hash;
  impl_->replace_file(file("repro.json"), j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

std::map<std::string, std::string> RunFolder::recorded_kernel_choices() const {
  if (!train::file_exists(file("repro.json"), "repro.json")) return {};
  const std::string text = train::read_small_file(file("repro.json"), int64_t{64} << 20, "repro.json");
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    const auto compare = [&](const char* what, const nlohmann::json& now) {
      if (const nlohmann::json before = j.value(what, now); before != now)
        log::warn("train",
                  fmt::format("{} was {} in the resumed run and is {} now: the result will not be bitwise identical to that of an uninterrupted run", what,
                              before.dump(), now.dump()));
    };
    compare("strict", strict_mode());
    if (!strict_mode()) compare("threads", num_threads());
    compare("cpu_isa", cpu_isa_name(cpu_isa()));
    return j.value("kernel_choices", std::map<std::string, std::string>());
  } catch (const nlohmann::json::exception& e) {
    log::warn("train", fmt::format("{} cannot be read; kernels are chosen again: {}", file("repro.json"), e.what()));
    return {};
  }
}

void RunFolder::event(const std::string& kind, int64_t epoch, int64_t step, const EventValues& values) {
  impl_->check_started(path_);
  ordered_json j = {{"event", kind}, {"time", std::round(wall_clock_seconds() * 1000) / 1000}, {"epoch", epoch}, {"step", step}};
  for (const auto& [name, v] : values) j[name] = number(v);
  impl_->metrics->append(j.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

void RunFolder::measures(int64_t epoch, int64_t step, const EventValues& values, bool at_epoch_end) {
  EventValues line = values;
  if (at_epoch_end) line.insert(line.begin(), {kAtEpochEnd, 1});
  event(kMeasures, epoch, step, line);
  scalars(step, values);
}

void RunFolder::epoch_row(int64_t epoch, const EventValues& values) {
  impl_->check_started(path_);
  std::map<std::string, std::string> row;
  for (const auto& [raw_name, v] : values) {
    const std::string name = column_name(raw_name);
    if (std::find(impl_->columns.begin(), impl_->columns.end(), name) == impl_->columns.end()) impl_->columns.push_back(name);
    row[name] = fmt::format("{}", v);
  }
  // A resumed run repeats the epoch in which it was stopped: the later row counts.
  const std::string key = std::to_string(epoch);
  std::erase_if(impl_->rows, [&](const auto& r) { return r.first == key; });
  impl_->rows.emplace_back(key, std::move(row));
  impl_->replace_file(file("metrics.csv"), impl_->csv());
}

void RunFolder::log(const std::string& line) {
  impl_->check_started(path_);
  impl_->log->append(now_text() + " " + line + "\n");
}

void RunFolder::scalar(const std::string& tag, int64_t step, double value) { scalars(step, {{tag, value}}); }

void RunFolder::scalars(int64_t step, const EventValues& values) {
  impl_->check_started(path_);
  impl_->events->scalars(step, values);
}

void RunFolder::histogram(const std::string& tag, int64_t step, const std::vector<double>& values) {
  impl_->check_started(path_);
  impl_->events->histogram(tag, step, values);
}

void RunFolder::image(const std::string& tag, int64_t step, int64_t height, int64_t width, const std::string& png) {
  impl_->check_started(path_);
  impl_->events->image(tag, step, height, width, png);
}

bool RunFolder::holds_events(const std::string& tag) const { return impl_->kept_tags.contains(tag); }

void RunFolder::text(const std::string& tag, int64_t step, const std::string& markdown) {
  impl_->check_started(path_);
  impl_->events->text(tag, step, markdown);
}

void LossHash::add(float loss) { state_ = XXH64(&loss, sizeof loss, state_); }
void LossHash::restore(const std::string& hex) { state_ = std::strtoull(hex.c_str(), nullptr, 16); }
std::string LossHash::hex() const { return fmt::format("{:016x}", state_); }

}  // namespace sindri::app
