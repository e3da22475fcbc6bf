// See signals.h. Handlers only make async-signal-safe calls.
#include "src/app/signals.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>

namespace sindri::app {

namespace {

std::atomic<int> g_signal{0};
std::atomic<int> g_grace_ms{0};

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
std::mutex g_mutex;  // guards the following variables
int g_guards = 0;
std::array<struct sigaction, kSignals.size()> g_old = {};  // before the first guard

int code_of(int number) { return number == SIGUSR1 ? SIGTERM : number; }

void arm(int milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = milliseconds % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void on_signal(int number) {
  int none = 0;
  if (!g_signal.compare_exchange_strong(none, code_of(number))) return;  // shells send SIGHUP more than once
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  if (g_grace_ms > 0) arm(g_grace_ms);
}

void on_alarm(int) {
  constexpr char kText[] = "no step ended within dist.term_grace after the signal: stopped without saving\n";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0) {}  // a failure cannot be reported
  _exit(128 + g_signal);
}

}  // namespace

SignalGuard::SignalGuard(double grace_seconds) {
  const std::lock_guard lock(g_mutex);
  if (g_guards++ > 0) return;
  g_signal = 0;
  g_grace_ms = static_cast<int>(std::lround(std::min(grace_seconds, 1e6) * 1000));
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = kSignals[i] == SIGALRM ? on_alarm : on_signal;
    action.sa_flags = SA_RESTART;  // does not interrupt writes
    sigemptyset(&action.sa_mask);
    if (kSignals[i] == SIGALRM && g_grace_ms == 0) continue;
    sigaction(kSignals[i], &action, &g_old[i]);
    if (kSignals[i] == SIGHUP && g_old[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &g_old[i], nullptr);
  }
}

SignalGuard::~SignalGuard() {
  const std::lock_guard lock(g_mutex);
  if (--g_guards > 0) return;
  disarm();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] != SIGALRM || g_grace_ms > 0) sigaction(kSignals[i], &g_old[i], nullptr);
  }
}

int SignalGuard::received() { return g_signal; }

void SignalGuard::stop(int signal) {
  int none = 0;
  g_signal.compare_exchange_strong(none, code_of(signal));
}

void SignalGuard::disarm() {
  if (g_grace_ms > 0) arm(0);
}

}  // namespace sindri::app
