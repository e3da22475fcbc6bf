// Log filter (SINDRI_LOG) and writer. Writes directly to stderr: a logger with its own threads or globals would outlive
// the library when it is unloaded.
#include "sindri/core/log.h"
#include "src/core/live_line.h"
#include "src/core/runtime_state.h"

#include <sys/time.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace sindri::log {

namespace {

std::optional<Level> parse_level(std::string_view s) {
  if (s == "debug") return Level::kDebug;
  if (s == "info") return Level::kInfo;
  if (s == "warn" || s == "warning") return Level::kWarn;
  if (s == "error") return Level::kError;
  if (s == "off") return Level::kOff;
  return std::nullopt;
}

struct Filter {
  Level base = Level::kWarn;
  std::map<std::string, Level, std::less<>> topics;
  std::string unknown;  // the first part that does not name a level
  Filter() {
    const char* env = std::getenv("SINDRI_LOG");
    std::string_view rest = env ? env : "";
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view item = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
      const size_t eq = item.find('=');
      const std::optional<Level> level = parse_level(eq == std::string_view::npos ? item : item.substr(eq + 1));
      if (!level && unknown.empty()) unknown = item;
      if (eq == std::string_view::npos) base = level.value_or(base);
      else topics.emplace(item.substr(0, eq), level.value_or(base));
    }
  }
};
const Filter& filter() {
  static const Filter f;
  return f;
}

}  // namespace

std::string unknown_level() { return filter().unknown; }

bool enabled(Level level, const char* topic) {
  const auto it = filter().topics.find(std::string_view(topic));
  return level >= (it == filter().topics.end() ? filter().base : it->second);
}

void write(Level level, const char* topic, const std::string& message) {
  if (!enabled(level, topic)) return;
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  timeval tv{};
  gettimeofday(&tv, nullptr);
  tm t{};
  localtime_r(&tv.tv_sec, &t);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%H:%M:%S", &t);
  const std::string* const name = t_place.runtime->name.get();
  const std::string who = name != nullptr ? "[" + *name + "] " : "";
  const std::lock_guard lock(terminal_mutex());
  if (LiveLine* const line = live_line()) line->hide_line();
  std::fprintf(stderr, "[%s.%03ld] [%s] %s[%s] %s\n", stamp, static_cast<long>(tv.tv_usec / 1000), kNames[static_cast<int>(level)], who.c_str(), topic,
               message.c_str());
}

}  // namespace sindri::log
