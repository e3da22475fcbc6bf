// The line that a progress keeps redrawing at the bottom of a terminal, and its peace with all else that is written there. Not for what it says
// (sindri/app/progress.h).
#pragma once

#include <mutex>

namespace sindri {

/// Who draws the line.
class LiveLine {
 public:
  virtual ~LiveLine() = default;
  /// Takes the line off the screen, so that another can write in its place. Called with terminal_mutex() held.
  virtual void hide_line() noexcept = 0;
};

/// Held while something is written to the terminal: a log line, the live line.
std::mutex& terminal_mutex();
/// With terminal_mutex() held: the line that is to be hidden before anything is written; null where there is none.
LiveLine* live_line();
void set_live_line(LiveLine* line);

}  // namespace sindri
