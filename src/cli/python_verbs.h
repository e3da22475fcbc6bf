// The verbs that are written in Python (python/sindri/tools). Their flags are listed here for help, man pages and completion; Python runs the verbs.
#pragma once

#include <CLI/CLI.hpp>

class PythonVerbs {
 public:
  void add_to(CLI::App* app);
  /// Returns whether the command line is one of them, other than a request for help.
  static bool meant(int argc, char** argv);
  /// Replaces the process by the Python that runs the verb. Throws SettingsError if there is none.
  [[noreturn]] static void become(int argc, char** argv);
};
