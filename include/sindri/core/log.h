// Log lines on stderr, filtered by level and topic: SINDRI_LOG=info,dispatch=debug,graph=debug (default: warn).
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri::log {

/// Severity of a log line; kOff as a filter suppresses all lines.
enum class Level { kDebug, kInfo, kWarn, kError, kOff };

/// Whether a line of this level and topic would be written. Check it before composing an expensive message.
SINDRI_API bool enabled(Level level, const char* topic);
/// The first part of SINDRI_LOG that does not name a level; empty if all do.
SINDRI_API std::string unknown_level();
/// Writes "[time] [level] [topic] message" to stderr; in a named runtime "[time] [level] [name] [topic] message". Thread-safe;
/// never throws.
SINDRI_API void write(Level level, const char* topic, const std::string& message);
/// write() at one level.
inline void debug(const char* topic, const std::string& m) { write(Level::kDebug, topic, m); }
inline void info(const char* topic, const std::string& m) { write(Level::kInfo, topic, m); }
inline void warn(const char* topic, const std::string& m) { write(Level::kWarn, topic, m); }
inline void error(const char* topic, const std::string& m) { write(Level::kError, topic, m); }

}  // namespace sindri::log
