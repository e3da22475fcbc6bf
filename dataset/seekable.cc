// The store of seekable JPEG files: workers take files from a list and rewrite them one by one. A file gets its name only after its data is on disk. A second
// list records the source of each file.
#include "sindri/dataset/seekable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <thread>
#include <vector>

#include "dataset/codec/jpeg.h"
#include "dataset/codec/jpeg_segments.h"
#include "dataset/engine.h"
#include "dataset/source.h"
#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "src/core/descriptor.h"

namespace sindri::dataset {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWho = "prepare_seekable";
constexpr const char* kList = ".seekable.jsonl";  // in the store: the origin of each of its files

std::vector<fs::path> files_below(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw IoError(fmt::format("{} is not a folder", folder.string()), kWho, "give the folder of the images");
  std::vector<fs::path> out;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) out.push_back(fs::relative(it->path(), folder));
  }
  if (error) throw IoError(fmt::format("cannot list {}: {}", folder.string(), error.message()), kWho, "check the folder's permissions");
  return out;
}

[[noreturn]] void io_error(const char* action, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} {}: {}", action, path, std::strerror(error)), kWho, "check the disk and the folder's permissions");
}

// "NAME.tmp.PID.NUMBER" of a process that has ended.
bool is_left_over(const fs::path& file) {
  static const std::regex form(R"(.+\.tmp\.(\d{1,9})\.\d+)");
  const std::string name = file.filename().string();
  std::smatch m;
  if (name.find(".tmp.") == std::string::npos || !std::regex_match(name, m, form)) return false;
  return kill(static_cast<pid_t>(std::stol(m[1])), 0) != 0 && errno == ESRCH;
}

// The source file that a file of the store was made from.
struct Origin {
  int64_t source_bytes = 0, source_time = 0, bytes = 0;  // times in nanoseconds
  uint64_t source_hash = 0;
};

// The list of a store. A line is appended once its file is on disk under its name. If a name has several lines, the last one counts.
class OriginList {
 public:
  explicit OriginList(const fs::path& store) : path_((store / kList).string()) {
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
      try {  // ignore a line truncated by a kill or a power failure
        const Origin o{j.at("source_bytes"), j.at("source_time"), j.at("bytes"), j.at("source_hash")};
        known_[j.at("file")] = o;
      } catch (const nlohmann::json::exception&) {}
    }
    fd_ = open_file(path_, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd_ < 0) io_error("write", path_, errno);
    append("\n");  // ends a truncated line
  }
  ~OriginList() { close(fd_); }
  OriginList(const OriginList&) = delete;
  OriginList& operator=(const OriginList&) = delete;

  const Origin* find(const std::string& file) const {
    const auto it = known_.find(file);
    return it == known_.end() ? nullptr : &it->second;
  }
  static std::string line(const std::string& file, const Origin& o) {
    const nlohmann::json j = {
        {"file", file}, {"source_bytes", o.source_bytes}, {"source_time", o.source_time}, {"source_hash", o.source_hash}, {"bytes", o.bytes}};
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  void append(const std::string& lines) {
    if (write(fd_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) io_error("write", path_, errno);
  }

 private:
  std::string path_;
  std::map<std::string, Origin> known_;
  int fd_ = -1;
};

// A worker's files that do not have their names yet. They get them once all their bytes are on disk, so that after a power failure a file is complete
// or absent. Many files share one sync, which has to wait for the disk.
class Batch {
 public:
  Batch(const fs::path& store, OriginList& list) : store_(store), list_(list) {}
  ~Batch() {
    for (const Waiting& w : waiting_) unlink(w.temporary.c_str());
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void add(const fs::path& file, const uint8_t* data, size_t bytes, Origin origin) {
    static std::atomic<uint64_t> count{0};
    const std::string to = (store_ / file).string();
    const std::string temporary = fmt::format("{}.tmp.{}.{}", to, getpid(), count.fetch_add(1));
    const int fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0) io_error("create", temporary, errno);
    origin.bytes = static_cast<int64_t>(bytes);
    waiting_.push_back({temporary, to, OriginList::line(file.string(), origin)});
    int error = 0;
    while (bytes > 0 && error == 0) {
      const ssize_t n = write(fd, data, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) error = n < 0 ? errno : EIO;
      else data += n, bytes -= static_cast<size_t>(n), held_ += static_cast<size_t>(n);
    }
    if (close(fd) != 0 && error == 0) error = errno;  // network file systems may report failed writes here
    if (error != 0) io_error("write", to, error);
    if (waiting_.size() >= kMost || held_ >= kMostBytes) finish();
  }
  void finish() {
    if (waiting_.empty()) return;
    sync();
    std::string lines;
    for (const Waiting& w : waiting_) {
      if (std::rename(w.temporary.c_str(), w.path.c_str()) != 0) io_error("rename", w.path, errno);
      lines += w.line;
    }
    waiting_.clear();
    held_ = 0;
    sync();
    list_.append(lines);
  }

 private:
  void sync() const {
    const int folder = open_file(store_.string(), O_RDONLY | O_DIRECTORY);
    const bool done = folder >= 0 && syncfs(folder) == 0;
    const int error = errno;
    if (folder >= 0) close(folder);
    if (!done) io_error("write to", store_.string(), error);
  }
  static constexpr size_t kMost = 512, kMostBytes = size_t{256} << 20;
  struct Waiting {
    std::string temporary, path, line;
  };
  const fs::path& store_;
  OriginList& list_;
  std::vector<Waiting> waiting_;
  size_t held_ = 0;
};

class Store {
 public:
  Store(fs::path source, fs::path destination) : source_(std::move(source)), destination_(std::move(destination)), files_(files_below(source_)) {
    make_folder(destination_);
    for (const fs::path& f : files_) make_folder((destination_ / f).parent_path());
    look_for_others();
    list_.emplace(destination_);
  }

  SeekableReport run(int workers) {
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i) threads.emplace_back(in_this_runtime([this] { work(); }));
    for (auto& t : threads) t.join();
    if (failure_) std::rethrow_exception(failure_);
    report_.files = static_cast<int64_t>(files_.size());
    if (report_.orphaned > 0)
      log::warn("dataset", fmt::format("{} files in {} have no source any more, the first is {}", report_.orphaned, destination_.string(), first_orphan_));
    return report_;
  }

 private:
  static void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw IoError(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()), kWho, "check the disk and the folder's permissions");
  }

  // Removes temporary files that killed processes left. Files whose source is gone are kept and counted.
  void look_for_others() {
    const std::set<fs::path> wanted(files_.begin(), files_.end());
    for (const fs::path& f : files_below(destination_)) {
      if (f == kList || wanted.contains(f)) continue;
      if (is_left_over(f)) {
        unlink((destination_ / f).c_str());
      } else if (f.filename().string().find(".tmp.") == std::string::npos) {
        if (report_.orphaned++ == 0) first_orphan_ = f.string();
      }
    }
  }

  void work() {
    Scratch scratch;
    SeekableReport mine;
    try {
      Batch batch(destination_, *list_);
      for (size_t i; !failed_ && (i = next_.fetch_add(1)) < files_.size();) one(files_[i], scratch, mine, batch);
      batch.finish();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
    const std::lock_guard lock(mutex_);
    report_.rewritten += mine.rewritten;
    report_.unsuited += mine.unsuited;
    report_.kept += mine.kept;
    report_.bytes_in += mine.bytes_in;
    report_.bytes_out += mine.bytes_out;
  }

  void one(const fs::path& file, Scratch& scratch, SeekableReport& mine, Batch& batch) const {
    const std::string from = (source_ / file).string(), to = (destination_ / file).string();
    struct stat now {
    }, made_before{};
    if (stat(from.c_str(), &now) != 0) io_error("stat", from, errno);
    Origin origin{.source_bytes = now.st_size, .source_time = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
    const Origin* before = list_->find(file.string());
    if (before != nullptr && (before->source_bytes != origin.source_bytes || stat(to.c_str(), &made_before) != 0 || made_before.st_size != before->bytes))
      before = nullptr;
    if (before != nullptr && before->source_time == origin.source_time) {
      ++mine.kept;
      return;
    }
    scratch.arena.reset();
    const Value bytes = read_file(from, scratch);
    origin.source_bytes = bytes.nbytes();
    origin.source_hash = XXH3_64bits(bytes.data, static_cast<size_t>(bytes.nbytes()));
    if (before != nullptr && before->source_hash == origin.source_hash) {  // same contents with another time: the source was copied
      ++mine.kept;
      return;
    }
    std::vector<uint8_t> made;
    if (JpegDecoder::is_jpeg(bytes.data, bytes.nbytes())) {
      try {
        made = make_seekable(bytes.data, static_cast<size_t>(bytes.nbytes()));
      } catch (const BadSample&) {
        // Copied unchanged: readers report the error by their policy for bad samples.
      }
    }
    mine.bytes_in += bytes.nbytes();
    mine.bytes_out += made.empty() ? bytes.nbytes() : static_cast<int64_t>(made.size());
    ++(made.empty() ? mine.unsuited : mine.rewritten);
    if (made.empty()) batch.add(file, bytes.data, static_cast<size_t>(bytes.nbytes()), origin);
    else batch.add(file, made.data(), made.size(), origin);
  }

  fs::path source_, destination_;
  std::vector<fs::path> files_;
  std::optional<OriginList> list_;
  std::string first_orphan_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  SeekableReport report_;
};

bool is_inside(const fs::path& inner, const fs::path& outer) {
  const fs::path relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

SeekableReport prepare_seekable(const std::string& source, const std::string& destination, int workers) {
  if (workers < 0) throw ValueError(fmt::format("prepare_seekable: workers must not be negative, got {}", workers));
  std::error_code error;
  const fs::path from = fs::weakly_canonical(source, error), to = fs::weakly_canonical(destination, error);
  if (is_inside(to, from) || is_inside(from, to))
    throw ValueError(fmt::format("{} and {} lie inside each other", source, destination), "prepare_seekable", "give a folder elsewhere for the result");
  return Store(from, to).run(worker_count(workers));
}

}  // namespace sindri::dataset
