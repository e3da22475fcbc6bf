// The call log: comm_<rank>.json of each rank, and `sindri comm-trace`, which compares a folder of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "sindri/comm/trace.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "src/comm/watch.h"
#include "src/core/descriptor.h"

namespace sindri::comm {

namespace {

using Json = nlohmann::json;

std::mutex g_mutex;
std::string& folder_setting() {
  static std::string folder;
  return folder;
}

std::filesystem::path log_folder(const std::string& job_id) {
  if (const char* const given = std::getenv("SINDRI_COMM_LOG_DIR"); given != nullptr && given[0] != '\0') return given;
  const std::lock_guard lock(g_mutex);
  if (!folder_setting().empty()) return folder_setting();
  std::error_code ignored;
  return std::filesystem::temp_directory_path(ignored) / ("sindri-comm-" + job_id.substr(0, 12));
}

// Job ids come from settings, so they must not become paths.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  return out;
}

struct Entry {
  std::string text, group;
  int64_t number = 0;
  std::set<int> members;  // empty: all
  bool done = false;
};

struct RankLog {
  std::string host, file, job;
  int64_t pid = 0, step = 0;
  double written = 0;  // seconds since the epoch
  std::string phase, failure;
  int64_t total = 0;  // calls entered
  std::vector<Entry> calls;
};

struct TraceLogs {
  int size = 0;
  std::map<int, RankLog> ranks;
  std::vector<std::string> notes;
};

void read_log(const std::filesystem::path& file, TraceLogs* logs) {
  std::ifstream in(file);
  Json j = Json::parse(in, nullptr, false);
  try {
    RankLog r;
    r.file = file.filename().string();
    r.host = j.at("host").get<std::string>();
    r.job = j.at("job").get<std::string>();
    r.written = j.at("written").get<double>();
    r.pid = j.at("pid").get<int64_t>();
    r.step = j.at("step").get<int64_t>();
    r.phase = j.at("phase").get<std::string>();
    r.failure = j.at("failure").get<std::string>();
    r.total = j.at("calls_entered").get<int64_t>();
    for (const Json& c : j.at("calls")) {
      Entry e{c.at("call").get<std::string>(), c.at("group").get<std::string>(), c.at("number").get<int64_t>(), {}, c.at("state").get<std::string>() == "done"};
      for (const Json& m : c.at("members")) e.members.insert(m.get<int>());
      r.calls.push_back(std::move(e));
    }
    logs->size = std::max(logs->size, j.at("size").get<int>());
    logs->ranks[j.at("rank").get<int>()] = std::move(r);
  } catch (const Json::exception&) { logs->notes.push_back(fmt::format("{} is not a complete call log; it is skipped", file.filename().string())); }
}

// Calls of one communicator happen in the same order on all members: its k-th call on one member is its k-th call on
// another. If a ring no longer holds the first calls, calls are matched by number, from the lowest number that every
// ring still holds. Numbers agree between ranks if all calls are the world's.
std::vector<const Entry*> of_group(const RankLog& log, const std::string& group) {
  std::vector<const Entry*> out;
  for (const Entry& e : log.calls)
    if (e.group == group) out.push_back(&e);
  return out;
}

struct Gap {
  double order = 0;  // call number on the rank that made the call
  std::string text;
};

std::string doing(int rank, const RankLog& log) {
  const std::string at = log.calls.empty() ? "before its first call"
      : log.calls.back().done              ? fmt::format("after call {} {}", log.calls.back().number, log.calls.back().text)
                                           : fmt::format("in call {} {}", log.calls.back().number, log.calls.back().text);
  return fmt::format("rank {} ({}, pid {}) is {}; step {}{}", rank, log.host, log.pid, at, log.step, log.phase.empty() ? "" : ", phase " + log.phase);
}

// Returns the first call of a communicator that some member did not make, or made with other arguments.
std::optional<Gap> first_gap(const TraceLogs& logs, const std::string& group, const std::vector<int>& members) {
  std::map<int, std::vector<const Entry*>> calls;
  bool whole = true;  // every ring still has its first call
  for (const int r : members) {
    const auto it = logs.ranks.find(r);
    if (it == logs.ranks.end()) continue;
    calls[r] = of_group(it->second, group);
    whole = whole && (it->second.calls.empty() || it->second.calls.front().number == 1);
  }
  // By position if all rings are complete, otherwise by call number.
  std::map<int64_t, std::map<int, const Entry*>> table;
  int64_t from = 0;
  for (const auto& [r, list] : calls) {
    for (size_t i = 0; i < list.size(); ++i) table[whole ? static_cast<int64_t>(i) : list[i]->number][r] = list[i];
    if (!whole && !list.empty()) from = std::max(from, list.front()->number);
  }
  for (const auto& [place, row] : table) {
    if (place < from) continue;
    std::vector<std::string> absent;
    for (const auto& [r, list] : calls)
      if (row.count(r) == 0) absent.push_back(std::to_string(r));
    const auto& [first_rank, first] = *row.begin();
    for (const auto& [r, e] : row)
      if (e->text != first->text)
        return Gap{static_cast<double>(first->number),
                   fmt::format("call {} of '{}' differs: rank {} made {}, rank {} made {}", first->number, group, first_rank, first->text, r, e->text)};
    if (absent.empty()) continue;
    std::vector<std::string> lines = {fmt::format("the first call that some rank did not enter: call {} {} of '{}'", first->number, first->text, group)};
    for (const auto& [r, e] : row) lines.push_back(fmt::format("  entered by rank {}{}", r, e->done ? "" : ", which waits in it"));
    for (const std::string& r : absent) lines.push_back("  not entered: " + doing(std::stoi(r), logs.ranks.at(std::stoi(r))));
    return Gap{static_cast<double>(first->number), fmt::format("{}", fmt::join(lines, "\n"))};
  }
  return {};
}

// A folder may hold logs of earlier jobs. Keeps only those of the same job as the log written last.
void keep_newest_job(TraceLogs* logs) {
  const auto newest =
      std::max_element(logs->ranks.begin(), logs->ranks.end(), [](const auto& a, const auto& b) { return a.second.written < b.second.written; });
  if (newest == logs->ranks.end()) return;
  const std::string job = newest->second.job;
  std::erase_if(logs->ranks, [&](const auto& entry) {
    if (entry.second.job == job) return false;
    logs->notes.push_back(fmt::format("{} belongs to another job; it is skipped", entry.second.file));
    return true;
  });
}

Json json_of(const CallRecord& r, const std::string& text) {
  return {{"number", r.number}, {"call", text},         {"group", r.group}, {"members", r.members},
          {"bytes", r.bytes},   {"entered", r.entered}, {"left", r.left},   {"state", r.left > 0 ? "done" : "running"}};
}

}  // namespace

void set_call_log_folder(const std::string& folder) {
  const std::lock_guard lock(g_mutex);
  folder_setting() = folder;
}

std::string write_call_log(const Session& session, const std::string& job_id) {
  const std::filesystem::path folder = log_folder(plain(job_id));
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::shared_ptr<const CommError> failure = session.failure();
  Json j = {{"rank", session.identity.rank},
            {"size", session.identity.size},
            {"host", host},
            {"pid", getpid()},
            {"job", job_id},
            {"written", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()},
            {"step", session.step.load()},
            {"phase", session.phase.load()},
            {"failure", failure == nullptr ? "" : failure->what()},
            {"calls_entered", session.call_number.load()},
            {"calls", Json::array()}};
  for (const CallRecord& r : session.calls()) j["calls"].push_back(json_of(r, call_text(r.kind, r.what, r.index, r.bytes)));
  const std::filesystem::path file = folder / fmt::format("comm_{}.json", session.identity.rank);
  const int rc = write_text_file(file.string(), j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (rc == 0) return file.string();
  log::warn("comm", fmt::format("the call log {} cannot be written: {}", file.string(), std::generic_category().message(rc)));
  return "";
}

std::string trace_report(const std::string& folder) {
  TraceLogs logs;
  std::error_code problem;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("comm_") && name.ends_with(".json")) files.push_back(entry.path());
  }
  if (problem)
    throw IoError(fmt::format("the folder '{}' cannot be read: {}", folder, problem.message()), "comm-trace", "name the folder with comm_<rank>.json");
  std::sort(files.begin(), files.end());
  for (const auto& file : files) read_log(file, &logs);
  keep_newest_job(&logs);
  if (logs.ranks.empty())
    throw IoError(fmt::format("no call log (comm_<rank>.json) in '{}'", folder), "comm-trace",
                  "ranks write them to SINDRI_COMM_LOG_DIR when a job fails, or on SIGUSR2");
  std::vector<std::string> lines = {fmt::format("call logs of {} of {} ranks", logs.ranks.size(), logs.size)};
  for (const std::string& note : logs.notes) lines.push_back(note);
  std::map<std::string, std::set<int>> groups;
  for (const auto& [r, log] : logs.ranks)
    for (const Entry& e : log.calls) groups[e.group].insert(e.members.begin(), e.members.end());
  std::optional<Gap> first;
  for (auto& [group, members] : groups) {
    if (members.empty())
      for (int r = 0; r < logs.size; ++r) members.insert(r);
    std::optional<Gap> gap = first_gap(logs, group, {members.begin(), members.end()});
    if (gap && (!first || gap->order < first->order)) first = gap;
  }
  lines.push_back(first ? first->text : "these ranks entered the same calls");
  if (!first) {
    std::map<std::string, std::vector<int>> waiting;  // call, ranks
    for (const auto& [r, log] : logs.ranks)
      if (!log.calls.empty() && !log.calls.back().done) waiting[fmt::format("{} {}", log.calls.back().number, log.calls.back().text)].push_back(r);
    for (const auto& [call, ranks] : waiting) lines.push_back(fmt::format("rank {} waited in call {}", fmt::join(ranks, ", "), call));
  }
  std::vector<int> absent;
  for (int r = 0; r < logs.size; ++r)
    if (logs.ranks.count(r) == 0) absent.push_back(r);
  if (!absent.empty()) lines.push_back(fmt::format("no log of rank {}: it died, or its folder is on another host", fmt::join(absent, ", ")));
  std::set<std::string> failures;
  for (const auto& [r, log] : logs.ranks)
    if (!log.failure.empty() && failures.insert(log.failure).second && failures.size() <= 3)
      lines.push_back(fmt::format("rank {} ended with: {}", r, log.failure));
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace sindri::comm
