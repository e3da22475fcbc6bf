// See group.h.
#include "src/app/group.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/app/settings_dist.h"
#include "src/comm/nccl.h"
#include "src/train/first_rank.h"

namespace sindri::app {

namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// Returns the settings that must be equal on all ranks, one per line. Excludes those by which each rank finds its device, its folder and the other ranks.
std::string shared_settings(const Settings& s) {
  std::string out;
  for (const SettingSpec& spec : Settings::schema()) {
    const std::string name = spec.name;
    if (name == "device_id" || name == "data.workers" || name == "data.path" || name == "train.run_dir" || name == "dist.rank_table" ||
        name == "dist.interface" || name == "dist.job_id")
      continue;
    out += fmt::format("{}: {}\n", name, s.value_text(name));
  }
  return out;
}

}  // namespace

Group::Group(const Settings& settings) {
  if (settings.get_string("dist.parallel_mode") == "stand_alone") return;
  world_ = comm::initialized() ? &comm::world() : &comm::init(comm_options(settings));
  if (several()) train::check_same_on_all(*world_, "settings", shared_settings(settings));
}

Device Group::device(Device asked, const Settings& settings) const {
  const bool free = asked.kind == Device::kCuda || settings.get_string("device_target").empty();
  const Device own = several() && free ? comm::device_of(*world_) : Device{};
  return own.is_cpu() ? asked : own;
}

std::string Group::label() const { return fmt::format("[{}/{} {}]", rank(), size(), host_name()); }

std::string Group::text() const {
  if (!several()) return "1 rank";
  const int hosts = world_->host_count();
  return fmt::format("{} ranks on {} host{} ({})", size(), hosts, hosts == 1 ? "" : "s", world_->backend());
}

std::string Group::from_first(const char* what, const std::function<std::string()>& f) const {
  return several() ? train::from_first_rank(*world_, what, f) : f();
}

int Group::any_signal(int mine) const {
  if (!several()) return mine;
  for (const std::string& text : world_->all_gather_text(mine == 0 ? "" : std::to_string(mine), {"signals"})) {
    if (!text.empty()) return std::stoi(text);
  }
  return 0;
}

void Group::tell(const std::exception& e) const noexcept {
  if (!several() || dynamic_cast<const CommError*>(&e) != nullptr) return;
  try {
    const auto* known = dynamic_cast<const Error*>(&e);
    if (known != nullptr && known->code() == ErrorCode::kNonFinite) return;  // all ranks have the same loss, and each reports it
    const bool data = known != nullptr && known->exit_code() == 3;
    comm::abort(known != nullptr ? known->what() : e.what(), data ? ErrorCode::kRankData : ErrorCode::kPeerLost);
  } catch (const std::exception& other) { log::warn("comm", fmt::format("the other ranks could not be notified: {}", other.what())); }
}

RankLog::RankLog(const Group& group, const std::string& folder) : label_(group.label()) {
  const std::string name = fmt::format("log_{}.txt", group.rank());
  std::error_code error;
  path_ = std::filesystem::is_directory(folder, error) ? folder + "/" + name : name;
}

void RankLog::open() {
  try {
    file_ = std::make_unique<train::AppendFile>(path_, "log file");
    file_->append(std::exchange(before_, {}));
  } catch (const IoError& e) { log::warn("train", fmt::format("{}; this rank writes no log", e.what())); }
}

void RankLog::line(const std::string& text) {
  const std::string whole = fmt::format("{} {:%Y-%m-%dT%H:%M:%S} {}\n", label_, fmt::localtime(std::time(nullptr)), text);
  if (file_ != nullptr) file_->append(whole);
  else before_ += whole;
}

Parts parts_of(const Group& group, int64_t virtual_ranks) {
  const int64_t n = group.size(), v = virtual_ranks == 0 ? n : virtual_ranks;
  if (v % n != 0)
    throw CommError(ErrorCode::kLayout, fmt::format("{} virtual ranks cannot be divided evenly among {} ranks", v, n), "dist.virtual_ranks",
                    fmt::format("use a number of ranks that divides {}, or dist.virtual_ranks={}", v, (v / n + 1) * n));
  const int64_t each = v / n;
  return {.virtual_ranks = v, .first = group.rank() * each, .count = each, .rank = group.rank(), .ranks = n};
}

}  // namespace sindri::app
