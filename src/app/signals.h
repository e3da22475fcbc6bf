// How a signal ends a run: after a step, with everything saved.
#pragma once

namespace sindri::app {

/// While a guard exists, SIGINT, SIGTERM, SIGUSR1 and SIGHUP (the terminal was closed) set a flag that the loop reads after each step. A second SIGINT or
/// SIGTERM ends the process at once. SIGHUP stays ignored if it already was, as nohup requests. Several guards at a time, of ranks that are threads, act as
/// one.
class SignalGuard {
 public:
  /// grace_seconds > 0: unless disarm() is called within this time after the first signal, the process ends with its code, without saving.
  explicit SignalGuard(double grace_seconds = 0);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Returns the first signal since the guard was made; SIGUSR1, which batch systems send ahead of time, counts as SIGTERM. 0: none.
  static int received();
  /// Acts as if the process had received the signal; for other ways to request a stop.
  static void stop(int signal);
  /// Cancels the grace period: the run is ending.
  static void disarm();
};

}  // namespace sindri::app
