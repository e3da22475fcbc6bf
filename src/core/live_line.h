// The progress line at the bottom of a terminal, and its coordination with other output. sindri/app/progress.h defines its text.
#pragma once

#include <mutex>

namespace sindri {

/// The owner of the line.
class LiveLine {
 public:
  virtual ~LiveLine() = default;
  /// Clears the line from the screen so that other text can take its place. Called with terminal_mutex() held.
  virtual void hide_line() noexcept = 0;
};

/// Held while anything is written to the terminal: a log line, the live line.
std::mutex& terminal_mutex();
/// Returns the line that must be hidden before anything is written; null if there is none. Call with terminal_mutex() held.
LiveLine* live_line();
void set_live_line(LiveLine* line);

}  // namespace sindri
