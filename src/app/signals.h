// What a signal does to a training: it ends behind a step, with everything saved.
#pragma once

namespace sindri::app {

/// While one lives, SIGINT, SIGTERM, SIGUSR1 and SIGHUP (the terminal was closed) set a flag that the loop reads after each step; a second SIGINT or
/// SIGTERM ends the process at once. SIGHUP stays ignored where it was: nohup asks for that. Several at a time, of ranks that are threads, are as one.
class SignalGuard {
 public:
  /// grace_seconds > 0: unless disarm() is called so long after the first signal, the process ends with its code, without saving.
  explicit SignalGuard(double grace_seconds = 0);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// The first one since the guard was made; SIGUSR1, which batch systems send ahead of time, counts as SIGTERM. 0: none.
  static int received();
  /// As if the process had been sent it; for what asks for the same end in another way.
  static void stop(int signal);
  /// The end is under way.
  static void disarm();
};

}  // namespace sindri::app
