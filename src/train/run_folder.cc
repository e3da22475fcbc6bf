// See run_folder.h.
#include "sindri/train/run_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/train/atomic_file.h"
#include "src/train/event_file.h"

namespace sindri::train {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kFolderFix = "set train.run_dir to a folder you may write to";

[[noreturn]] void folder_error(const std::string& action, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} the run folder: {}", action, std::strerror(error)), path, kFolderFix);
}

// Appends whole lines; each is one write(), so that only a kill inside it leaves half of one.
class LineFile {
 public:
  LineFile(std::string path, const char* what) : path_(std::move(path)), what_(what) {
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0) throw_io_error("open", what_, path_, errno);
    cut_half_line();
  }
  ~LineFile() { close(fd_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  void line(std::string text) {
    text += '\n';
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = write(fd_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw_io_error("write", what_, path_, n < 0 ? errno : EIO);
      done += static_cast<size_t>(n);
    }
  }

 private:
  // A process that was killed where a line crosses a page has left its first part, to which the next line must not be joined.
  void cut_half_line() const {
    const off_t end = lseek(fd_, 0, SEEK_END);
    off_t keep = end;
    while (keep > 0) {
      std::array<char, 4096> block;
      const off_t from = std::max<off_t>(0, keep - static_cast<off_t>(block.size()));
      const ssize_t n = pread(fd_, block.data(), static_cast<size_t>(keep - from), from);
      if (n != keep - from) return;
      const size_t newline = std::string_view(block.data(), static_cast<size_t>(n)).rfind('\n');
      keep = newline == std::string_view::npos ? from : from + static_cast<off_t>(newline) + 1;
      if (newline != std::string_view::npos) break;
    }
    if (keep < end && ftruncate(fd_, keep) != 0) log::warn("train", fmt::format("{} ends in half a line: {}", path_, std::strerror(errno)));
  }

  std::string path_;
  const char* what_;
  int fd_ = -1;
};

ordered_json number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  if (v == std::floor(v) && std::abs(v) < 1e15) return static_cast<int64_t>(v);
  return v;
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(std::time(nullptr))); }
double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// runs/<name>-NNN: mkdir decides between two processes that want the same number.
std::string create_numbered(const std::string& name) {
  std::error_code error;
  fs::create_directories("runs", error);
  if (error) folder_error("create", "runs", error.value());
  for (int n = 1; n < 100000; ++n) {
    const std::string path = fmt::format("runs/{}-{:03}", name, n);
    if (mkdir(path.c_str(), 0755) == 0) return path;
    if (errno != EEXIST) folder_error("create", path, errno);
  }
  throw IoError("all run numbers are taken", "runs/" + name + "-99999", "delete old runs or set train.run_dir");
}

// Metric names become column names; what would need quoting becomes '_', so that reading back is splitting at commas.
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
  std::unique_ptr<LineFile> metrics, log;
  std::unique_ptr<EventFile> events;
  std::vector<std::string> columns;  // of metrics.csv, without epoch
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> rows;  // (epoch, values) of this process and those read back

  ~Impl() {
    if (lock >= 0) close(lock);  // releases the flock
  }
  void read_csv(const std::string& path);
  std::string csv() const;
};

// A continued run keeps its earlier rows.
void RunFolder::Impl::read_csv(const std::string& path) {
  if (!fs::exists(path)) return;
  const std::string text = read_small_file(path, int64_t{64} << 20, "metrics.csv");
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
  std::error_code error;
  if (path.empty()) {
    path_ = create_numbered(name);
  } else {
    path_ = path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
    fs::create_directories(path_, error);
    if (error) folder_error("create", path_, error.value());
    if (!fs::is_directory(path_)) folder_error("create", path_, ENOTDIR);
  }
  impl_->lock = open(file("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (impl_->lock < 0) folder_error("write to", path_, errno);
  if (flock(impl_->lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) folder_error("lock", path_, errno);
    throw IoError(ErrorCode::kRunFolderBusy, "another process is writing to the run folder", path_,
                  "wait for it, stop it, or set train.run_dir to another folder");
  }
  fs::create_directories(checkpoints(), error);
  if (error) folder_error("write to", checkpoints(), error.value());
  remove_leftovers(path_);
  remove_leftovers(checkpoints());
  std::error_code missing;
  continued_ = fs::file_size(file("metrics.jsonl"), missing) > 0 && !missing;
  impl_->metrics = std::make_unique<LineFile>(file("metrics.jsonl"), "metrics file");
  impl_->log = std::make_unique<LineFile>(file("log.txt"), "log file");
  impl_->read_csv(file("metrics.csv"));
  impl_->events = std::make_unique<EventFile>(path_);
}

RunFolder::~RunFolder() = default;

void RunFolder::write_settings(const Settings& settings) { write_file_atomically(file("config.resolved.yaml"), settings.to_yaml(), "settings file"); }

void RunFolder::write_environment(const std::string& command_line) {
  utsname u{};
  uname(&u);
  ordered_json j = {{"time", now_text()},       {"program", "sindri"},
                    {"host", u.nodename},       {"kernel", u.release},
                    {"machine", u.machine},     {"compiler", __VERSION__},
                    {"build", build_flags()},   {"cpu_isa", cpu_isa_name(cpu_isa())},
                    {"threads", num_threads()}, {"device_target", context().device_target}};
  if (!command_line.empty()) j["command"] = command_line;
  ordered_json variables = ordered_json::object();
  std::vector<std::string> sorted;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) sorted.emplace_back(*p);
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& v : sorted) {
    if (v.starts_with("SINDRI_") || v.starts_with("OMP_")) variables[v.substr(0, v.find('='))] = v.substr(v.find('=') + 1);
  }
  j["variables"] = variables;
  write_file_atomically(file("env.json"), j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n", "env.json");
}

void RunFolder::write_repro(const ReproInfo& info, const Settings& settings) {
  ordered_json seeds = ordered_json::object();
  for (const auto& [name, seed] : info.seeds) seeds[name] = seed;
  const ordered_json j = {{"seeds", seeds},
                          {"revision", info.revision},
                          {"build", build_flags()},
                          {"compiler", __VERSION__},
                          {"cpu_isa", cpu_isa_name(cpu_isa())},
                          {"threads", num_threads()},
                          {"strict", strict_mode()},
                          {"world_size", info.world_size},
                          {"data_fingerprint", info.data_fingerprint},
                          {"settings_hash", settings.hash()},
                          {"loss_bits_hash", info.loss_bits_hash},
                          {"kernel_choices", info.kernel_choices}};
  write_file_atomically(file("repro.json"), j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n", "repro.json");
}

std::map<std::string, std::string> RunFolder::recorded_kernel_choices() const {
  std::ifstream f(file("repro.json"));
  if (!f) return {};
  try {
    const nlohmann::json j = nlohmann::json::parse(f);
    const auto compare = [&](const char* what, const nlohmann::json& now) {
      if (const nlohmann::json before = j.value(what, now); before != now)
        log::warn("train",
                  fmt::format("{} was {} in the run that is resumed and is {} now: bits will differ from those of a run in one piece", what, before.dump(),
                              now.dump()));
    };
    compare("strict", strict_mode());
    if (!strict_mode()) compare("threads", num_threads());
    compare("cpu_isa", cpu_isa_name(cpu_isa()));
    return j.value("kernel_choices", std::map<std::string, std::string>());
  } catch (const nlohmann::json::exception& e) {
    log::warn("train", fmt::format("{} cannot be read, kernels are chosen anew: {}", file("repro.json"), e.what()));
    return {};
  }
}

void RunFolder::event(const std::string& kind, int64_t epoch, int64_t step, const EventValues& values) {
  ordered_json j = {{"event", kind}, {"time", std::round(now_seconds() * 1000) / 1000}, {"epoch", epoch}, {"step", step}};
  for (const auto& [name, v] : values) j[name] = number(v);
  impl_->metrics->line(j.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void RunFolder::epoch_row(int64_t epoch, const EventValues& values) {
  std::map<std::string, std::string> row;
  for (const auto& [raw_name, v] : values) {
    const std::string name = column_name(raw_name);
    if (std::find(impl_->columns.begin(), impl_->columns.end(), name) == impl_->columns.end()) impl_->columns.push_back(name);
    row[name] = fmt::format("{}", v);
  }
  // A resumed run repeats the epoch it was stopped in: the later row stands.
  const std::string key = std::to_string(epoch);
  std::erase_if(impl_->rows, [&](const auto& r) { return r.first == key; });
  impl_->rows.emplace_back(key, std::move(row));
  write_file_atomically(file("metrics.csv"), impl_->csv(), "metrics.csv");
}

void RunFolder::log(const std::string& line) { impl_->log->line(now_text() + " " + line); }

void RunFolder::scalar(const std::string& tag, int64_t step, double value) { impl_->events->scalar(tag, step, value); }

void LossHash::add(float loss) { state_ = XXH64(&loss, sizeof loss, state_); }
std::string LossHash::hex() const { return fmt::format("{:016x}", state_); }

}  // namespace sindri::train
