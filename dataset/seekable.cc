// The store of seekable JPEG files: a list of files, workers that rewrite them one by one, each complete before it has its name.
#include "sindri/dataset/seekable.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "dataset/codec/jpeg.h"
#include "dataset/codec/jpeg_segments.h"
#include "dataset/engine.h"
#include "dataset/source.h"
#include "sindri/core/runtime.h"

namespace sindri::dataset {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_below(const fs::path& source) {
  std::error_code error;
  if (!fs::is_directory(source, error))
    throw IoError(fmt::format("{} is not a folder", source.string()), "prepare_seekable", "give the folder of the pictures");
  std::vector<fs::path> out;
  for (fs::recursive_directory_iterator it(source, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) out.push_back(fs::relative(it->path(), source));
  }
  if (error) throw IoError(fmt::format("cannot list {}: {}", source.string(), error.message()), "prepare_seekable");
  return out;
}

class Store {
 public:
  Store(fs::path source, fs::path destination) : source_(std::move(source)), destination_(std::move(destination)), files_(files_below(source_)) {
    for (const fs::path& f : files_) {
      std::error_code error;
      fs::create_directories((destination_ / f).parent_path(), error);
      if (error) throw IoError(fmt::format("cannot make the folder {}: {}", (destination_ / f).parent_path().string(), error.message()), "prepare_seekable");
    }
  }

  SeekableReport run(int workers) {
    std::vector<std::thread> threads;
    for (int i = 1; i < workers; ++i) threads.emplace_back(in_this_runtime([this] { work(); }));
    work();
    for (auto& t : threads) t.join();
    if (failure_) std::rethrow_exception(failure_);
    report_.files = static_cast<int64_t>(files_.size());
    return report_;
  }

 private:
  void work() {
    Scratch scratch;
    SeekableReport mine;
    try {
      for (size_t i; !failed_ && (i = next_.fetch_add(1)) < files_.size();) one(files_[i], scratch, mine);
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

  void one(const fs::path& file, Scratch& scratch, SeekableReport& mine) const {
    const fs::path from = source_ / file, to = destination_ / file;
    std::error_code error;
    const auto written = fs::last_write_time(to, error);
    if (!error && written >= fs::last_write_time(from, error) && !error) {
      ++mine.kept;
      return;
    }
    scratch.arena.reset();
    const Value bytes = read_file(from.string(), scratch);
    std::vector<uint8_t> made;
    if (JpegDecoder::is_jpeg(bytes.data, bytes.nbytes())) {
      try {
        made = make_seekable(bytes.data, static_cast<size_t>(bytes.nbytes()));
      } catch (const BadSample&) {
        // Copied: whoever reads it says what is wrong, by its policy for bad samples.
      }
    }
    mine.bytes_in += bytes.nbytes();
    mine.bytes_out += made.empty() ? bytes.nbytes() : static_cast<int64_t>(made.size());
    ++(made.empty() ? mine.unsuited : mine.rewritten);
    if (made.empty()) write_plain_file(to.string(), bytes.data, bytes.nbytes(), "prepare_seekable");
    else write_plain_file(to.string(), made.data(), static_cast<int64_t>(made.size()), "prepare_seekable");
  }

  fs::path source_, destination_;
  std::vector<fs::path> files_;
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
