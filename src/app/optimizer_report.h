// The report on the optimizer at the end of a run: the times of its kinds of steps, and the optimizer's own report. Not for other verbs.
#pragma once

#include <string>
#include <vector>

#include "src/app/session.h"

namespace sindri::app {

/// Times steps by the optimizer's variant (Optimizer::variant). Null if it has only one.
std::shared_ptr<train::Callback> make_step_forms(Session* s);
/// Records what the optimizer and the algorithms measure (Optimizer::measures, BoostAlgorithm::measures).
std::shared_ptr<train::Callback> make_measures(Session* s);
/// Plots the measures of the whole run, earlier processes included, to RUN/measures.png. Returns the file, or "" if there are none. Throws IoError.
std::string write_measures_plot(const Session& s);
/// Returns "220 steps: 10 that refresh of 11.2 ms, 210 that reuse of 3.1 ms", then Optimizer::report(). Empty if there is nothing to report.
std::vector<std::string> optimizer_lines(const Session& s);

}  // namespace sindri::app
